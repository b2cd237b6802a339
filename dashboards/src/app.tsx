// The shell: who is there, where one is, how it looks.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get, isVouchedFor, issuerOf, keepToken, signInUrl, signOut, token } from "./api";
import { AccessPage } from "./access_page";
import { AuditPage } from "./audit_page";
import { CampaignPage } from "./campaign_page";
import { CampaignsPage } from "./campaigns_page";
import { ComparePage } from "./compare_page";
import { DriftPage } from "./drift_page";
import { EstimatePage } from "./estimate_page";
import { ExplainPage } from "./explain_page";
import icon from "./favicon.svg";
import { FeedbackPage } from "./feedback_page";
import { FleetPage } from "./fleet_page";
import { CopyText, useRoute } from "./here";
import { ModelPage } from "./model_page";
import { OverviewPage } from "./overview_page";
import { report } from "./report";
import { mayAct } from "./roles";
import { RolloutPage } from "./rollout_page";
import { takeToken } from "./route";
import { ServerBanner } from "./server_banner";
import { Who, type Identity } from "./who";
import { applyTheme, chosenTheme, setTheme, type Theme } from "./theme";
import "./style.css";

const all: [path: string, text: string][] = [["", "Overview"], ["fleet", "Fleet"], ["campaigns", "Campaigns"], ["models", "Models"], ["explain", "Explain"], ["compare", "Compare"], ["rollout", "Roll-out"], ["drift", "Drift"], ["feedback", "Feedback"]];
// What administrators alone may read.
const forAdmins: [path: string, text: string][] = [["access", "Access"], ["audit", "Audit"]];
// A report has those pages alone that it holds answers for.
const shared = report ? all.filter(([path]) => path in report!.answers && path !== "explain") : all;

function Login({ why, enter }: { why: string; enter: () => void }) {
  const [problem, setProblem] = useState(why);
  const [trying, setTrying] = useState(false);
  const [issuer, setIssuer] = useState("");
  useEffect(() => { void issuerOf(document.baseURI).then(setIssuer); }, []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const field = new FormData(event.currentTarget as HTMLFormElement).get("token");
    keepToken(String(field).trim());
    setTrying(true);
    try {
      await get("whoami");
      enter();
    } catch (error) {
      keepToken("");
      setProblem((error as Error).message);
      setTrying(false);
    }
  };
  return (
    <main class="login">
      <form onSubmit={submit}>
        <h1>Stripline</h1>
        {issuer !== "" && <p><a class="sign-in" href={signInUrl(document.baseURI)} onClick={() => keepToken("")}>Sign in with {new URL(issuer).host}</a></p>}
        <label for="token">Token</label>
        <input id="token" name="token" type="password" autocomplete="current-password" required autofocus aria-describedby="login-help" />
        {problem !== "" && <p class="problem" role="alert">{problem}</p>}
        <button type="submit" disabled={trying}>{trying ? "Checking…" : "Log in"}</button>
        <div id="login-help">
          <p>An administrator creates a token that can read everything:</p>
          <pre>stripline token create --role viewer NAME</pre>
          <p>On a server that was started with <code>--dev</code>, the token is in a file of the user who started it:</p>
          <pre>cat ~/.local/state/stripline/dev-*.token</pre>
          <p>The token is kept until this tab is closed, and sent to this server only.</p>
        </div>
      </form>
    </main>
  );
}

function ThemeChoice() {
  const [theme, set] = useState<Theme>(chosenTheme());
  return (
    <label class="choice">
      <span class="hidden">Colours</span>
      <select value={theme} onChange={(event) => { setTheme(event.currentTarget.value as Theme); set(event.currentTarget.value as Theme); }}>
        <option value="system">System colours</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}

function App() {
  const route = useRoute();
  const [who, setWho] = useState<Identity | null | undefined>(report ? { name: "", role: "VIEWER" } : undefined);
  const [why, setWhy] = useState("");
  const look = () => get<Identity>("whoami").then(setWho, (error) => {
    setWhy(error.status === 401 && token() === "" ? "" : error.message);
    setWho(null);
  });
  useEffect(() => {
    if (report) return;
    look();
    const leave = () => { setWhy(token() === "" ? "The session has ended." : "The token is no longer accepted."); setWho(null); };
    window.addEventListener("unauthenticated", leave);
    return () => window.removeEventListener("unauthenticated", leave);
  }, []);
  const [place = "", name] = route.path;
  const places = who && !report && mayAct(who.role, "ADMIN") ? [...shared, ...forAdmins] : shared;
  const title = places.find(([path]) => path === place)?.[1] ?? "Stripline";
  useEffect(() => { document.title = `${name ?? title} · Stripline`; }, [title, name]);
  if (who === undefined) return <p class="first-paint">Loading…</p>;
  if (who === null) return <Login why={why} enter={look} />;
  return (
    <Who.Provider value={who}>
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById("content")?.focus(); }}>Skip to the content</a>
      <header class="top">
        <a class="brand" href={report ? `#${report.start}` : "#/"}><img src={icon} alt="" width="24" height="24" />Stripline</a>
        <nav aria-label="Pages">
          {places.map(([path, text]) => <a key={path} href={`#/${path}`} aria-current={path === place ? "page" : undefined}>{text}</a>)}
        </nav>
        <div class="tools">
          <CopyText text={location.href}>Copy link</CopyText>
          <ThemeChoice />
          {report ? <span class="who">Report on {report.title}, {report.made.slice(0, 16).replace("T", " ")} UTC</span>
            : <span class="who" title={`role: ${who.role.toLowerCase()}`}>{who.name.replace("users/", "")}</span>}
          {!report && token() !== "" && <button type="button" onClick={() => { keepToken(""); setWhy(""); setWho(null); }}>Log out</button>}
          {!report && token() === "" && isVouchedFor(who.name) && <button type="button" onClick={() => { void signOut(document.baseURI).finally(() => { setWhy(""); setWho(null); }); }}>Sign out</button>}
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <ServerBanner />
        {place === "" && <OverviewPage />}
        {place === "fleet" && <FleetPage query={route.query} />}
        {place === "campaigns" && (name === "estimate" ? <EstimatePage query={route.query} /> : name ? <CampaignPage key={name} name={name} query={route.query} /> : <CampaignsPage query={route.query} />)}
        {place === "explain" && <ExplainPage path={route.path.slice(1)} query={route.query} />}
        {place === "compare" && <ComparePage path={route.path.slice(1)} query={route.query} />}
        {place === "rollout" && <RolloutPage query={route.query} />}
        {place === "drift" && <DriftPage path={route.path.slice(1)} query={route.query} />}
        {place === "feedback" && <FeedbackPage path={route.path.slice(1)} query={route.query} />}
        {place === "models" && <ModelPage key={name} name={name} query={route.query} />}
        {place === "access" && places !== shared && <AccessPage query={route.query} />}
        {place === "audit" && places !== shared && <AuditPage query={route.query} />}
        {!places.some(([path]) => path === place) && <p class="state empty">This page does not exist. <a href="#/">Go to the overview</a></p>}
      </main>
    </Who.Provider>
  );
}

const { token: given, rest } = takeToken(location.hash);
if (given !== "") {
  keepToken(given);
  history.replaceState(null, "", rest);
}
if (report && ["", "#", "#/"].includes(location.hash)) history.replaceState(null, "", `#${report.start}`);
applyTheme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);
const root = document.getElementById("app")!;
root.replaceChildren();
render(<App />, root);

// The page of access: the tokens of users with their roles, and the tokens by which nodes are enrolled.
import { useContext, useState } from "preact/hooks";
import { get, post } from "./api";
import { Empty, Show, useData } from "./data";
import { Badge, choose, Choice, CopyText, Sorted, type Column } from "./here";
import { format } from "./route";
import { stateOf, usersOf, type User } from "./tokens";
import type { Token } from "./types";
import { ago, count, short } from "./units";
import { Action, Who } from "./who";

const kinds = { valid: "good", ending: "warn", ended: "plain" } as const;
const roleText = (role: string) => (role === "AGENT" ? "enrols nodes" : role.toLowerCase());

function columns(again: () => void): Column<Token>[] {
  return [
    { name: "token", key: (one) => one.name, cell: (one) => <code>{short(one.name)}</code> },
    { name: "for", key: (one) => one.subject, cell: (one) => one.subject || "any node" },
    { name: "role", key: (one) => one.role, cell: (one) => roleText(one.role) },
    { name: "state", key: (one) => stateOf(one, Date.now()).text, cell: (one) => { const { kind, text } = stateOf(one, Date.now()); return <Badge kind={kinds[kind]}>{text}</Badge>; } },
    { name: "ends", key: (one) => Date.parse(one.end_time || one.expire_time), cell: (one) => (one.end_time || one.expire_time).slice(0, 10), right: true },
    { name: "created", key: (one) => -Date.parse(one.create_time), cell: (one) => ago(one.create_time, Date.now()), right: true },
    { name: "used", key: (one) => one.last_used_time ?? "", cell: (one) => (one.role === "AGENT" ? `${one.uses ?? (one.used_by ? 1 : 0)} of ${one.count || 1}${one.used_by ? `, last by ${short(one.used_by)}` : ""}` : one.last_used_time ? ago(one.last_used_time, Date.now()) : "–") },
    { name: "revocation", key: (one) => one.name, cell: (one) => (stateOf(one, Date.now()).kind === "ended" ? "" : <Action text="Revoke" role="ADMIN" question={`Token ${short(one.name)} of ${one.subject || "any node"} is no longer accepted. This cannot be undone.`} act={() => post(`${one.name}/revoke`)} done={again} />) },
  ];
}

const userColumns: Column<User>[] = [
  { name: "user", key: (one) => one.name, cell: (one) => one.name },
  { name: "role", key: (one) => one.role, cell: (one) => <Badge kind={one.role === "" ? "plain" : "busy"}>{one.role === "" ? "no access" : one.role.toLowerCase()}</Badge> },
  { name: "tokens", key: (one) => one.valid, cell: (one) => `${one.valid} valid of ${one.tokens}`, right: true },
  { name: "until", key: (one) => one.until, cell: (one) => one.until.slice(0, 10) || "–", right: true },
  { name: "changes", key: (one) => one.name, cell: (one) => <a href={format({ path: ["audit"], query: { q: `users/${one.name}` } })}>in the audit trail</a> },
];

// The text of a token is sent once: it stays on the page until it is hidden.
function Make({ again }: { again: () => void }) {
  const [role, setRole] = useState("VIEWER");
  const [made, setMade] = useState<{ token: Token; text: string } | undefined>();
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    try {
      setMade(await post("tokens", { role, subject: String(form.get("subject")).trim(), valid_s: Number(form.get("days") || 0) * 86400, ...(role === "AGENT" && Number(form.get("count") || 1) > 1 ? { count: Number(form.get("count")) } : {}) }));
      setProblem("");
      again();
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
  };
  if (made) {
    return (
      <div class="action" role="status">
        <p><strong>The token of {made.token.subject || "a node"}</strong>, {roleText(made.token.role)}, until {made.token.expire_time.slice(0, 10)}. The server keeps only its hash and cannot show it again: hand it over now.</p>
        <div class="copied"><pre>{made.text}</pre><CopyText text={made.text}>Copy</CopyText></div>
        <div class="buttons"><button type="button" onClick={() => setMade(undefined)}>Hide the token</button></div>
      </div>
    );
  }
  return (
    <form class="action" onSubmit={submit} aria-label="Create a token">
      <label class="choice"><span>Role</span>
        <select value={role} onChange={(event) => setRole(event.currentTarget.value)}>
          {[["VIEWER", "viewer: reads everything"], ["OPERATOR", "operator: starts campaigns"], ["PUBLISHER", "publisher: labels models"], ["ADMIN", "admin: manages tokens"], ["AGENT", "node: enrols nodes"]].map(([value, text]) => <option key={value} value={value} selected={value === role}>{text}</option>)}
        </select>
      </label>
      <label class="choice"><span>{role === "AGENT" ? "Node (empty: any)" : "User"}</span><input name="subject" required={role !== "AGENT"} placeholder={role === "AGENT" ? "rack1-*" : "alice"} /></label>
      {role === "AGENT" && <label class="choice"><span>Enrolments</span><input name="count" type="number" min="1" max="10000" placeholder="1" /></label>}
      <label class="choice"><span>Valid for (days)</span><input name="days" type="number" min="1" max="3650" placeholder={role === "AGENT" ? "1" : "90"} /></label>
      {problem !== "" && <p class="problem" role="alert">{problem}</p>}
      <div class="buttons"><button type="submit" disabled={busy}>Create a token</button></div>
    </form>
  );
}

export function AccessPage({ query }: { query: Record<string, string> }) {
  const tokens = useData("tokens", async (signal) => (await get<{ tokens: Token[] }>("tokens", signal)).tokens ?? [], 15);
  const { name: me } = useContext(Who);
  const { q = "", state = "" } = query;
  return (
    <>
      <h1>Access</h1>
      <p class="lead">You are {short(me)}. Each role includes those before it: viewer, operator, publisher, admin.</p>
      <Make again={tokens.again} />
      <Show of={tokens} what="The tokens">
        {(all) => {
          const users = usersOf(all, Date.now());
          const shown = all.filter((one) => (state === "" || stateOf(one, Date.now()).kind === state) && `${one.name} ${one.subject} ${one.role} ${one.used_by}`.toLowerCase().includes(q.toLowerCase()));
          const soon = all.filter((one) => stateOf(one, Date.now()).kind === "ending");
          return (
            <>
              {soon.length > 0 && <div class="state stale"><strong>{count(soon.length, "token")} will end within 30 days.</strong> <span>{soon.slice(0, 5).map((one) => `${one.subject || "a node's"} on ${one.expire_time.slice(0, 10)}`).join(", ")}</span></div>}
              <h2>Users</h2>
              {users.length === 0 ? <Empty>No user has a token: this server admits everyone who can reach it, or who has the token of the user who started it.</Empty> : <Sorted rows={users} columns={userColumns} caption="Users" id={(one) => one.name} start="user" />}
              <h2>Tokens</h2>
              <div class="filters">
                <label class="choice"><span>Find</span><input type="search" value={q} placeholder="user, node, role" onInput={(event) => choose({ q: event.currentTarget.value })} /></label>
                <Choice label="State" name="state" value={state} options={[["", "all"], ["valid", "valid"], ["ending", "will end soon"], ["ended", "ended"]]} />
              </div>
              {shown.length === 0 ? <Empty>No token matches.</Empty> : <Sorted rows={shown} columns={columns(tokens.again)} caption="Tokens" id={(one) => one.name} start="for" />}
            </>
          );
        }}
      </Show>
    </>
  );
}

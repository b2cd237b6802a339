// Versions of a model: which there are, what is known against them, and what publishers do with one.
import { get, post } from "./api";
import { Show, useData } from "./data";
import { Badge, Facts } from "./here";
import { report } from "./report";
import type { Gate, LabelMove, Model, ModelVersion } from "./types";
import { ago, count, percent, short } from "./units";
import { nameOf } from "./version_name";
import { VersionBadges } from "./versions";
import { Action } from "./who";

const kMostVersions = 12;
const kMostMoves = 8;

/** The choice of a version, newest first, and why the one that is shown may not be trusted. */
export function Versions({ model, all, shown }: { model: Model; all: ModelVersion[]; shown: ModelVersion }) {
  const name = short(model.name);
  const before = all[all.indexOf(shown) + 1];
  const settings = shown.validation?.settings;
  return (
    <>
      {shown.withdrawn !== "" && <div class="state bad"><strong>Withdrawn:</strong> <span>{shown.withdrawn}</span></div>}
      {shown.stale && <div class="state bad"><strong>Stale:</strong> <span>{shown.stale}</span> {!settings && <a href={`#/drift/${nameOf(shown.name)}`}>Its sentinels</a>}</div>}
      {shown.provisional !== "" && <div class="state stale"><strong>Provisional:</strong> <span>{shown.provisional}</span></div>}
      {before && !settings && <p class="quiet"><a href={`#/compare/${name}@${short(before.name)}/${name}@${short(shown.name)}`}>Compare with the previous version</a></p>}
      <ul class="versions" aria-label="Versions">
        {all.slice(0, kMostVersions).map((one) => (
          <li key={one.name} aria-current={one === shown ? "true" : undefined}>
            <a href={`#/models/${name}?version=${short(one.name)}`}>{short(one.name) === "file" ? "this file" : `version ${short(one.name)}`}</a>{" "}
            {!report && one.name === model.latest_version && <Badge kind="plain">latest</Badge>}
            <VersionBadges of={one} />
            <span class="quiet"> {ago(one.create_time, Date.now())}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Judged({ of }: { of: ModelVersion }) {
  const judged = of.validation;
  if (!judged) return <p>This version has not been validated. <code>stripline model validate {nameOf(of.name)} --campaign C</code> judges it by a campaign that it was not fitted to.</p>;
  if (judged.settings) {
    return (
      <Facts of={[
        ["validated in the target", judged.settings.validated ? "yes" : "no"],
        ["read by the target", judged.settings.probe_factor > 0 ? `yes: a probe took ${judged.settings.probe_factor.toFixed(2)} times as long` : "not shown"],
        ["compared with the default", `${percent(Math.abs(judged.over_untuned), 2)} ${judged.over_untuned > 0 ? "more" : "less"} time on average, over ${count(Number(judged.compared), "comparison")}${Number(judged.losses) > 0 ? `; significantly slower in ${count(Number(judged.losses), "comparison")}, in the worst by ${percent(judged.worst_loss_share, 2)}: ${judged.worst_loss}` : ""}`],
        ["verdict", of.failed ? `failed: ${of.failed}` : of.unjudged ? `not judged: ${of.unjudged}` : "passed"],
      ]} />
    );
  }
  return (
    <Facts of={[
      ["judged by", judged.campaigns.length === 0 ? "points that its own campaign held out from the fit" : judged.campaigns.map((name, index) => <>{index > 0 && ", "}<a href={`#/${name}`}>{short(name)}</a></>)],
      ["when", `${judged.time.slice(0, 16).replace("T", " ")} UTC`],
      ["error of predicted times", Number(judged.points) === 0 ? "not judged" : `mean ${percent(judged.mean_error, 2)}, largest ${percent(judged.largest_error, 2)}, over ${count(Number(judged.points), "size")}`],
      ...(judged.times ?? []).map((one): [string, string] => [`error of times, ${one.kind}`, `mean ${percent(one.mean_error, 2)}, over ${count(Number(one.points), "time")}`]),
      ["regret of choices", Number(judged.choices) === 0 ? "not judged" : `mean ${percent(judged.mean_regret, 2)}, largest ${percent(judged.worst_regret, 2)}, over ${count(Number(judged.choices), "choice")}`],
      ...(judged.kinds ?? []).map((one): [string, string] => [`regret of choices, ${one.kind}`, `mean ${percent(one.mean_regret, 2)}, largest ${percent(one.worst_regret, 2)}, over ${count(Number(one.choices), "choice")}`]),
      ["compared with no model", Number(judged.compared ?? 0) === 0 ? "not judged" : `${percent(Math.abs(judged.over_untuned), 2)} ${judged.over_untuned > 0 ? "more" : "less"} time on average, over ${count(Number(judged.compared), "choice")}${Number(judged.losses) > 0 ? `; significantly slower in ${count(Number(judged.losses), "choice")}, in the worst by ${percent(judged.worst_loss_share, 2)}: ${judged.worst_loss}` : ""}`],
      ...(of.failed ? [["verdict", `failed: ${of.failed}`] as [string, string]] : of.unjudged ? [["verdict", `not judged: ${of.unjudged}`] as [string, string]] : [["verdict", "passed"] as [string, string]]),
    ]} />
  );
}

function Passes({ label, refusal, has }: { label: string; refusal: string | null; has: boolean }) {
  return (
    <p>
      {has ? <Badge kind="good">{label}</Badge> : refusal === null ? <Badge kind="busy">may become {label}</Badge> : <Badge kind="warn">not {label}</Badge>}
      {has ? (label === "stable" ? "Production uses it." : "Some nodes try it.") : refusal ?? (label === "stable" ? "Production would use it." : "Some nodes would try it first.")}
    </p>
  );
}

function Buttons({ of, gate, done }: { of: ModelVersion; gate: Gate; done: () => void }) {
  const name = nameOf(of.name);
  const promote = (label: "canary" | "stable") => post(`${of.name}/promote`, { label });
  const back = (label: string) => post(`models/${of.name.split("/")[1]}/labels/${label}/rollback`);
  return (
    <div class="actions">
      {gate.canary === null && of.labels.length === 0 && <Action text="Try it on some nodes" role="PUBLISHER" question={`${name} becomes canary: one in ten nodes is offered it.`} act={() => promote("canary")} done={done} />}
      {gate.stable === null && !of.labels.includes("stable") && <Action text="Make it stable" role="PUBLISHER" question={`All nodes that can open its network are offered ${name}.`} act={() => promote("stable")} done={done} />}
      {of.labels.map((label) => <Action key={label} text={`Roll back ${label}`} role="PUBLISHER" question={`${name} loses the label ${label}; nodes are offered the previous version.`} act={() => back(label)} done={done} />)}
      <Action text="Validate" role="PUBLISHER" question={`${name} is judged by a campaign that it was not fitted to; the result applies from then on.`}
        about={{ label: "Campaign", hint: "c12", required: true }} act={(campaign) => post(`${of.name}/validate`, { campaigns: [`campaigns/${short(campaign)}`] })} done={done} />
      {of.withdrawn === "" && (
        <Action text="Withdraw" role="PUBLISHER" question={`${name} is no longer used, nor counted as the latest. Its file is kept; this cannot be undone.`}
          about={{ label: "Why", hint: "e.g. another switch", required: true }} act={(reason) => post(`${of.name}/withdraw`, { reason })} done={done} />
      )}
    </div>
  );
}

function Moves({ of }: { of: LabelMove[] }) {
  return (
    <ol class="events">
      {[...of].reverse().sort((a, b) => b.time.localeCompare(a.time)).slice(0, kMostMoves).map((one) => (
        <li key={`${one.label} ${one.version} ${one.time}`}>
          <time dateTime={one.time}>{one.time.slice(0, 19).replace("T", " ")}</time> {nameOf(one.version)} became {one.label}, by {short(one.actor)}{one.nodes.length > 0 && `, on ${count(one.nodes.length, "node")}: ${one.nodes.slice(0, 6).map(short).join(", ")}${one.nodes.length > 6 ? " …" : ""}`}
        </li>
      ))}
    </ol>
  );
}

/** Whether production may have this version, by what, and who has said so. */
export function Publishing({ of, again }: { of: ModelVersion; again: () => void }) {
  const model = `models/${of.name.split("/")[1]}`;
  const state = useData(`${of.name}/publishing`, async (signal) => ({
    gate: await get<Gate>(`${of.name}/gate`, signal),
    moves: (await get<{ moves: LabelMove[] }>(`${model}/labels`, signal)).moves,
  }), 15);
  const done = () => { state.again(); again(); };
  return (
    <section class="figure" aria-labelledby="publishing-title" id="publishing">
      <header>
        <div><h2 id="publishing-title">Production</h2><p>Whether production may use this version: its results on points that it was not fitted to, and the gate that a label must pass.</p></div>
        <div class="tools"><a href="#/rollout">Roll-out</a><a href={`#/drift/${nameOf(of.name)}`}>Drift</a></div>
      </header>
      <Show of={state} what="Labels and gate">
        {({ gate, moves }) => (
          <>
            <Passes label="canary" refusal={gate.canary} has={of.labels.includes("canary")} />
            <Passes label="stable" refusal={gate.stable} has={of.labels.includes("stable")} />
            <Buttons of={of} gate={gate} done={done} />
            <h3>Validation</h3>
            <Judged of={of} />
            {of.findings.length > 0 && (
              <>
                <h3>Findings of the fit</h3>
                <ul class="findings">{of.findings.map((one) => <li key={`${one.kind} ${one.subject} ${one.message}`}><Badge kind="plain">{one.kind.toLowerCase().replaceAll("_", " ")}</Badge>{one.message}</li>)}</ul>
              </>
            )}
            {moves.length > 0 && <><h3>History of labels</h3><Moves of={moves} /></>}
          </>
        )}
      </Show>
    </section>
  );
}

// The machines: what they are, what they do, and which are kept from runs.
import { activities, activityOf, activityText } from "./activity";
import { getAll, post } from "./api";
import { Empty, Show, useData } from "./data";
import { FleetHistory } from "./fleet_history";
import { Badge, choose, Choice, Contents, Facts, Sorted, State, type Column } from "./here";
import type { Node } from "./types";
import { ago, bytes, count, short } from "./units";
import { nameOf } from "./version_name";
import { Action } from "./who";

function matches(node: Node, text: string, state: string): boolean {
  const held = node.hold !== undefined && node.hold !== null;
  if (state === "quarantined" ? node.quarantine === "" : state === "held" ? !held : state !== "" && activityOf(node) !== state) return false;
  if (text === "") return true;
  const facts = Object.values(node.fingerprint).join(" ");
  return `${node.name} ${node.cluster} ${facts} ${node.fabrics.join(" ")}`.toLowerCase().includes(text.toLowerCase());
}

const columns: Column<Node>[] = [
  { name: "node", key: (node) => short(node.name), cell: (node) => <a href={`#/fleet?node=${short(node.name)}`}>{short(node.name)}</a> },
  { name: "state", key: activityOf, cell: (node) => <><State of={activityOf(node)} />{node.quarantine !== "" && <Badge kind="bad" title={node.quarantine}>quarantined</Badge>}{node.hold && <Badge kind="warn" title={node.hold.reason}>held</Badge>}</> },
  { name: "working on", key: (node) => node.assignment, cell: (node) => { const [, campaign, , run] = node.assignment.split("/"); return campaign ? <a href={`#/campaigns/${campaign}`}>{campaign}, run {run}</a> : activityOf(node) === "INSTALLING" ? "settings of another runtime" : "–"; } },
  { name: "processor", key: (node) => node.fingerprint["cpu.model"] ?? "", cell: (node) => node.fingerprint["cpu.model"] ?? "–" },
  { name: "cores", key: (node) => Number(node.fingerprint["cpu.cores"] ?? 0), cell: (node) => node.fingerprint["cpu.cores"] ?? "–", right: true },
  { name: "memory", key: (node) => Number(node.fingerprint.memory_bytes ?? 0), cell: (node) => bytes(Number(node.fingerprint.memory_bytes)), right: true },
  { name: "agent", key: (node) => node.agent_version, cell: (node) => node.agent_version },
  { name: "last heard", key: (node) => -Date.parse(node.last_seen_time), cell: (node) => ago(node.last_seen_time, Date.now()), right: true },
];

// More rows than these push what is below them out of sight.
const kFew = 8;

const why = { label: "Why", hint: "e.g. a new NIC" };

function Detail({ node, again }: { node: Node; again: () => void }) {
  const name = short(node.name);
  return (
    <section class="figure" aria-labelledby="node-title">
      <header><h2 id="node-title">{short(node.name)} <State of={activityOf(node)} /></h2><div class="tools"><button type="button" onClick={() => choose({ node: "" })}>Close</button></div></header>
      <div class="actions">
        {node.state === "OFFLINE" && <Action text="Remove it" role="ADMIN" question={`The server forgets ${name}. If its agent connects again, it counts as a new node.`} act={() => post(`${node.name}/remove`)} done={() => { choose({ node: "" }); again(); }} />}
        {node.hold ? <Action text="Uncordon" question={`${name} gets runs again.`} act={() => post(`${node.name}/uncordon`)} done={again} /> : (
          <>
            <Action text="Cordon" question={`${name} gets no new runs; its current run continues.`} about={why} act={(reason) => post(`${node.name}/cordon`, { reason })} done={again} />
            <Action text="Drain" question={`${name} gets no new runs; its current run is ended now and repeated on other nodes.`} about={why} act={(reason) => post(`${node.name}/drain`, { reason, time_limit_s: 0 })} done={again} />
          </>
        )}
      </div>
      {node.quarantine !== "" && <div class="state bad"><strong>Quarantined:</strong> {node.quarantine}</div>}
      {node.hold && <div class="state stale"><strong>Held</strong> by {short(node.hold.actor)}, {ago(node.hold.time, Date.now())}{node.hold.reason && `: ${node.hold.reason}`}</div>}
      <Facts of={[["fabrics", node.fabrics.join(", ")], ["experiments", count(node.experiments.length, "experiment")], ["agent", node.agent_version],
        ["models", node.models?.length ? node.models.map((one, index) => <>{index > 0 && ", "}<a href="#/rollout">{nameOf(one.version)}</a> {one.state.toLowerCase()}{one.reason && `: ${one.reason}`}</>) : "no version is labelled for its fabrics"]]} />
      <h3>Fingerprint</h3>
      <Facts of={Object.entries(node.fingerprint).sort().map(([field, value]) => [field, value])} />
    </section>
  );
}

export function FleetPage({ query }: { query: Record<string, string> }) {
  const nodes = useData("nodes", (signal) => getAll<Node>("nodes", "nodes", signal), 5);
  const { q = "", state = "", node = "", hours = "" } = query;
  return (
    <>
      <h1>Fleet</h1>
      <Show of={nodes} what="The nodes">
        {(all) => {
          if (all.length === 0) return <Empty>No agent has ever connected. Start one on each node: <code>stripline-agent --server HOST:PORT</code>, the first time with <code>--enroll FILE</code></Empty>;
          const number = (one: string) => all.filter((each) => matches(each, "", one)).length;
          const shown = all.filter((each) => matches(each, q, state));
          const detail = all.find((each) => short(each.name) === node);
          return (
            <>
              <p class="lead">{count(all.length, "node")}: {activityText(all)}.</p>
              <div class="filters">
                <label class="choice"><span>Find</span><input type="search" value={q} placeholder="name, processor, fabric" onInput={(event) => choose({ q: event.currentTarget.value })} /></label>
                <Choice label="State" name="state" value={state} options={[["", "all"], ...activities.map((one): [string, string] => [one, `${one.toLowerCase()} (${number(one)})`]), ["quarantined", `quarantined (${number("quarantined")})`], ["held", `held (${number("held")})`]]} />
              </div>
              {shown.length > kFew && <Contents of={[["history", "what ran where"]]} />}
              {detail && <Detail key={detail.name} node={detail} again={nodes.again} />}
              {shown.length === 0 ? <Empty>No node matches. <button type="button" onClick={() => choose({ q: "", state: "" })}>Show all</button></Empty>
                : <Sorted rows={shown} columns={columns} caption="Nodes" id={(one) => one.name} most={100} start="node" />}
              {shown.length > 0 && <FleetHistory nodes={(detail ? [detail] : shown).map((one) => one.name)} all={!detail && shown.length === all.length} hours={hours} />}
            </>
          );
        }}
      </Show>
    </>
  );
}

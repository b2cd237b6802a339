// All campaigns, the newest first.
import { getAll } from "./api";
import { Empty, Show, useData } from "./data";
import { Choice, Progress, Sorted, State, type Column } from "./here";
import type { Campaign } from "./types";
import { ago, count, doneShare, duration, fabricText, short } from "./units";

const columns: Column<Campaign>[] = [
  { name: "campaign", key: (one) => short(one.name), cell: (one) => <a href={`#/campaigns/${short(one.name)}`}>{short(one.name)}</a> },
  { name: "state", key: (one) => one.state, cell: (one) => <State of={one.state} /> },
  { name: "fabric", key: (one) => one.spec.fabric, cell: (one) => <span title={one.spec.fabric}>{fabricText(one.spec.fabric)}</span> },
  { name: "effort", key: (one) => one.spec.effort, cell: (one) => one.spec.effort.toLowerCase() },
  { name: "nodes × ranks", key: (one) => one.spec.ranks, cell: (one) => `${one.spec.nodes} × ${one.spec.ranks}`, right: true },
  { name: "done", key: (one) => doneShare(one), cell: (one) => <Progress share={doneShare(one)} label={`share of ${short(one.name)} that is done`} />, right: true },
  { name: "runs", key: (one) => one.runs_done, cell: (one) => `${one.runs_done} of ${one.runs_total}`, right: true },
  { name: "left", key: (one) => one.seconds_left, cell: (one) => (one.state === "RUNNING" && one.seconds_left >= 0 ? duration(one.seconds_left) : "–"), right: true },
  { name: "model", key: (one) => one.model_version, cell: (one) => { const [, model, , version] = one.model_version.split("/"); return model ? <a href={`#/models/${model}?version=${version}`}>{model}@{version}</a> : "–"; } },
  { name: "created", key: (one) => -Date.parse(one.create_time), cell: (one) => ago(one.create_time, Date.now()), right: true },
];

export function CampaignsPage({ query }: { query: Record<string, string> }) {
  const campaigns = useData("campaigns", (signal) => getAll<Campaign>("campaigns", "campaigns", signal), 3);
  const { state = "" } = query;
  return (
    <>
      <h1>Campaigns</h1>
      <Show of={campaigns} what="The campaigns">
        {(all) => {
          if (all.length === 0) return <Empty>Nothing has been measured yet. Start: <code>stripline campaign run --fabric tcp</code>, or <a href="#/campaigns/estimate">look what it would take</a>.</Empty>;
          const states = [...new Set(all.map((one) => one.state))];
          const shown = all.filter((one) => state === "" || one.state === state);
          return (
            <>
              <p class="lead">{count(all.length, "campaign")}, {all.filter((one) => ["RUNNING", "DRAINING", "FITTING"].includes(one.state)).length} under way.</p>
              <div class="filters">
                <Choice label="State" name="state" value={state} options={[["", "all"], ...states.map((one): [string, string] => [one, `${one.toLowerCase()} (${all.filter((each) => each.state === one).length})`])]} />
                <a href="#/campaigns/estimate">Estimate one</a>
                {all.length > 1 && <a href="#/compare/campaigns">Compare two</a>}
              </div>
              {shown.length === 0 ? <Empty>No campaign is in that state.</Empty> : <Sorted rows={shown} columns={columns} caption="Campaigns" id={(one) => one.name} most={100} />}
            </>
          );
        }}
      </Show>
    </>
  );
}

// The runs of a campaign: where each was, how it went, and how long it took.
import { get } from "./api";
import { Empty, Show, useData } from "./data";
import { Figure } from "./figure";
import { Sorted, State, type Column } from "./here";
import type { Run } from "./types";
import { count, duration, short } from "./units";

function columns(at: string): Column<Run>[] {
  return [
    { name: "run", key: (run) => Number(short(run.name)), cell: (run) => (short(run.name) === at ? <strong aria-current="true">▸ {short(run.name)}</strong> : short(run.name)), right: true },
    { name: "state", key: (run) => run.state, cell: (run) => <State of={run.state} /> },
    { name: "nodes", key: (run) => run.nodes.join(), cell: (run) => (run.nodes.length === 0 ? "–" : run.nodes.map((node, index) => <>{index > 0 && ", "}<a href={`#/fleet?node=${short(node)}`}>{short(node)}</a></>)) },
    { name: "points", key: (run) => run.points_done, cell: (run) => `${run.points_done.toLocaleString("en")} of ${run.points_total.toLocaleString("en")}`, right: true },
    { name: "duration", key: (run) => run.duration_s, cell: (run) => (run.duration_s > 0 ? duration(run.duration_s) : "–"), right: true },
    { name: "failed attempts", key: (run) => run.failures, cell: (run) => run.failures, right: true },
    { name: "message", key: (run) => run.message, cell: (run) => run.message },
  ];
}

export function CampaignRuns({ campaign, over, at }: { campaign: string; over: boolean; at: string }) {
  const runs = useData(`campaigns/${campaign}/runs`, async (signal) => (await get<{ runs: Run[] }>(`campaigns/${campaign}/runs`, signal)).runs, over ? 0 : 5);
  const all = runs.data ?? [];
  return (
    <Figure id="runs" title="Runs" about={`${count(all.length, "run")}: the unit of replication, each with fresh ranks.`} picture={false}
      table={() => ({ columns: ["run", "state", "nodes", "points_done", "points_total", "duration_s", "failures", "message"], rows: all.map((run) => [short(run.name), run.state, run.nodes.map(short).join(" "), run.points_done, run.points_total, run.duration_s, run.failures, run.message]) })}>
      <Show of={runs} what="The runs">
        {(shown) => (shown.length === 0 ? <Empty>No run is planned yet.</Empty> : <Sorted rows={shown} columns={columns(at)} caption="Runs" id={(run) => run.name} most={50} start="run" />)}
      </Show>
    </Figure>
  );
}

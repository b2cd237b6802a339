// Two campaigns, point by point: where one was faster, where they are as good as equal, and where nothing
// can be said.
import { useMemo } from "preact/hooks";
import { get } from "./api";
import { useCampaigns } from "./campaign_list";
import { changesBySize, experimentsBySize, pointName, pointsChosen, pointVerdicts, tally, type CampaignComparison, type ComparedPoint } from "./campaign_comparison";
import { Changes, kMostRows } from "./changes";
import { ManyCampaigns } from "./compare_many";
import { Curves } from "./curves";
import { Empty, Show, useData } from "./data";
import { Figure } from "./figure";
import { Badge, Choice, CopyText, Select, Sorted, type Column } from "./here";
import { format } from "./route";
import type { Campaign } from "./types";
import { count, fabricText, percent, seconds, short } from "./units";

const kinds: Record<string, "good" | "bad" | "warn" | "plain"> = { FASTER: "good", SLOWER: "bad", INCOMPARABLE: "warn" };
const kMostCurves = 10;

const worded = (value: number | undefined) => (value === undefined ? "–" : seconds(value));
const ratioText = (of: ComparedPoint) => (of.ratio === undefined ? "–" : `${of.ratio.toFixed(3)}${of.low === undefined ? "" : ` [${of.low.toFixed(3)}, ${of.high!.toFixed(3)}]`}`);

function saidOf(of: ComparedPoint): string {
  return `${worded(of.baseline_median)} to ${worded(of.candidate_median)}, B/A ${ratioText(of)}, ${of.verdict.toLowerCase()}${of.why === "" ? "" : ` (${of.why})`}, by ${of.baseline_runs} and ${of.candidate_runs} runs`;
}

const columns: Column<ComparedPoint>[] = [
  { name: "point", key: pointName, cell: pointName },
  { name: "verdict", key: (one) => pointVerdicts.indexOf(one.verdict), cell: (one) => <Badge kind={kinds[one.verdict] ?? "plain"} title={one.why}>{one.verdict.toLowerCase()}</Badge> },
  { name: "A", key: (one) => one.baseline_median ?? -1, cell: (one) => worded(one.baseline_median), right: true },
  { name: "B", key: (one) => one.candidate_median ?? -1, cell: (one) => worded(one.candidate_median), right: true },
  { name: "B/A", key: (one) => one.ratio ?? -1, cell: (one) => ratioText(one), right: true },
  { name: "detectable from", key: (one) => one.detectable ?? -1, cell: (one) => (one.detectable === undefined ? "–" : percent(one.detectable, 2)), right: true },
  { name: "runs", key: (one) => Math.min(one.baseline_runs, one.candidate_runs), cell: (one) => `${one.baseline_runs}, ${one.candidate_runs}`, right: true },
];

const tableOf = (rows: ComparedPoint[]) => ({
  columns: ["experiment", "variant", "params", "verdict", "why", "a_s", "b_s", "ratio", "ratio_low", "ratio_high", "p_value", "detectable", "a_runs", "b_runs"],
  rows: rows.map((one) => [one.experiment, one.variant, Object.entries(one.params).sort().map(([name, value]) => `${name}=${value}`).join(" "), one.verdict, one.why,
    one.baseline_median ?? null, one.candidate_median ?? null, one.ratio ?? null, one.low ?? null, one.high ?? null, one.p_value, one.detectable ?? null, one.baseline_runs, one.candidate_runs]),
});

function BySize({ points, experiment }: { points: ComparedPoint[]; experiment: string }) {
  const sized = useMemo(() => experimentsBySize(points), [points]);
  // Usually the one that says most of a network.
  const usual = sized.includes("micro.latency") ? "micro.latency" : sized[0];
  const shown = sized.includes(experiment) ? experiment : usual;
  const all = useMemo(() => (shown === undefined ? [] : changesBySize(points, shown)), [points, shown]);
  const curves = useMemo(() => all.slice(0, kMostCurves), [all]);
  if (curves.length === 0) return null;
  return (
    <Figure id="by-size" title={`Change by size: ${shown}`}
      about={`Time in B relative to A, minus one, with 95 % intervals; zero: no change.${all.length > kMostCurves ? ` The picture has the first ${kMostCurves} of ${all.length} kinds of points, the table all.` : ""}`}
      table={() => ({ columns: ["points", "bytes", "change", "low", "high"], rows: all.flatMap((curve) => curve.x.map((size, index) => [curve.label, size, curve.y[index], curve.low![index], curve.high![index]])) })}>
      <Curves label={`Change by size of ${shown}`} curves={curves} format={(value) => `${value > 0 ? "+" : ""}${percent(value, 3)}`} logY={false} zero />
    </Figure>
  );
}

function Compared({ of, names, query }: { of: CampaignComparison; names: [string, string]; query: Record<string, string> }) {
  const { verdict = "", experiment = "" } = query;
  const counts = useMemo(() => tally(of.points), [of]);
  const experiments = useMemo(() => [...new Set(of.points.map((one) => one.experiment))].sort(), [of]);
  const rows = useMemo(() => pointsChosen(of.points, experiment, verdict), [of, experiment, verdict]);
  const known = pointVerdicts.filter((one) => counts[one]);
  const differ = (counts.FASTER ?? 0) + (counts.SLOWER ?? 0);
  const line = `stripline campaign compare ${names.join(" ")}${query.margin ? ` --margin ${query.margin}` : ""}`;
  if (of.points.length === 0) return <Empty>Neither campaign has measured a point.</Empty>;
  return (
    <>
      <p class="lead">{known.map((one) => <Badge key={one} kind={kinds[one] ?? "plain"}>{counts[one].toLocaleString("en")} {one.toLowerCase()}</Badge>)} of {count(of.points.length, "point")}, B compared with A.</p>
      {of.differences.length > 0 && (
        <section class="figure" aria-labelledby="requests-differ">
          <header><h2 id="requests-differ">The requests differ</h2></header>
          <table>
            <thead><tr><th scope="col">field</th><th scope="col">A</th><th scope="col">B</th></tr></thead>
            <tbody>{of.differences.map((one) => <tr key={one.field}><td>{one.field}</td><td>{one.baseline || "–"}</td><td>{one.candidate || "–"}</td></tr>)}</tbody>
          </table>
        </section>
      )}
      <div class="filters">
        <Choice label="Experiment" name="experiment" value={experiment} options={[["", "all"], ...experiments.map((one): [string, string] => [one, one])]} />
        <Choice label="Show" name="verdict" value={verdict} options={[["", `all that differ (${differ.toLocaleString("en")})`], ...known.map((one): [string, string] => [one, `${one.toLowerCase()} (${counts[one].toLocaleString("en")})`])]} />
      </div>
      <BySize points={of.points} experiment={experiment} />
      <Figure id="points" title="Points" about={`Ratio of the time in B to that in A, with its 95 % interval. The false discovery rate is at most 5 %.${rows.length > kMostRows ? ` The picture has the ${kMostRows} largest changes, the table all.` : ""}`} table={() => tableOf(rows)}>
        {rows.length === 0 ? <Empty>{verdict === "" ? "No point differs beyond its interval." : "No point has this verdict."}</Empty>
          : <Changes label="Changes of points" of={rows.filter((one) => one.ratio !== undefined).slice(0, kMostRows).map((one) => ({
            name: pointName(one), verdict: one.verdict, change: one.ratio === undefined ? null : one.ratio - 1,
            change_ci: one.low === undefined || one.high === undefined ? undefined : [one.low - 1, one.high - 1], said: saidOf(one) }))} />}
      </Figure>
      {rows.length > 0 && <Sorted rows={rows} columns={columns} caption="Points" id={pointName} most={50} />}
      <h3>The same from a shell</h3>
      <div class="copied"><pre>{line}</pre><CopyText text={line}>Copy</CopyText></div>
    </>
  );
}

function Both({ a, b, query }: { a: Campaign; b: Campaign; query: Record<string, string> }) {
  const path = `${a.name}/compare?${new URLSearchParams({ with: b.name, ...(query.margin ? { margin: query.margin } : {}) })}`;
  const comparison = useData(path, (signal) => get<CampaignComparison>(path, signal));
  return <Show of={comparison} what="The comparison">{(of) => <Compared of={of} names={[short(a.name), short(b.name)]} query={query} />}</Show>;
}

const margins: [value: string, text: string][] = [["0.01", "1 %"], ["0.02", "2 %"], ["", "5 %"], ["0.1", "10 %"]];

export function CampaignsCompared({ path, query }: { path: string[]; query: Record<string, string> }) {
  const campaigns = useCampaigns();
  const waiting = campaigns.data !== undefined && !campaigns.complete && path.some((name) => !campaigns.data!.some((one) => short(one.name) === name));
  return (
    <Show of={waiting ? { again: campaigns.again } : campaigns} what="The campaigns">
      {(all) => {
        const named = (name: string | undefined) => all.find((one) => short(one.name) === name);
        // Usually the newest of a network against the one before it there; a name alone is B's.
        const [first, second] = path.length === 1 ? [undefined, path[0]] : path;
        const b = named(second) ?? all[0];
        const a = named(first) ?? (b && (all.find((one) => one !== b && one.spec.fabric === b.spec.fabric) ?? all.find((one) => one !== b)));
        if (!b) return <Empty>There is no campaign yet. Start one: <code>stripline campaign run --fabric tcp</code></Empty>;
        if (!a) return <Empty>There is only one campaign. <code>stripline campaign run</code> starts another one to compare it with.</Empty>;
        const missing = path.find((name) => !named(name));
        if (!missing && path.length > 2) return <ManyCampaigns all={all} chosen={path.map((name) => named(name)!)} query={query} />;
        if (missing) return <Empty>There is no campaign {missing}. <a href="#/compare/campaigns">Compare others</a></Empty>;
        const go = (first: Campaign, second: Campaign) => { location.hash = format({ path: ["compare", "campaigns", short(first.name), short(second.name)], query }); };
        const options = all.map((one): [string, string] => [short(one.name), `${short(one.name)}: ${fabricText(one.spec.fabric)}, ${one.spec.effort.toLowerCase()}`]);
        return (
          <>
            <div class="filters">
              <Select label="A, the baseline" value={short(a.name)} options={options} set={(name) => go(named(name)!, b)} />
              <Select label="B" value={short(b.name)} options={options} set={(name) => go(a, named(name)!)} />
              <button type="button" onClick={() => go(b, a)}>Swap</button>
              {all.length > 2 && <a href={format({ path: ["compare", "campaigns", short(a.name), short(b.name), short(all.find((one) => one !== a && one !== b)!.name)], query: {} })}>Add a third</a>}
              <Choice label="Equivalent within" name="margin" value={query.margin ?? ""} options={margins} />
            </div>
            <Both key={`${a.name} ${b.name}`} a={a} b={b} query={query} />
          </>
        );
      }}
    </Show>
  );
}

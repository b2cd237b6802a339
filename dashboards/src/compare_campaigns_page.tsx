// Two campaigns, point by point: where one was faster, where they are as good as equal, and where nothing
// can be said.
import { useMemo } from "preact/hooks";
import { get } from "./api";
import { useCampaigns } from "./campaign_list";
import { changesBySize, experimentOf, experimentsBySize, paramsOf, pointName, pointsChosen, pointVerdicts, sizeOf, tally, variantOf, verdictOf, whyOf, type CampaignComparison } from "./campaign_comparison";
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

const worded = (value: number | null) => (value === null ? "–" : seconds(value));

function ratioText(of: CampaignComparison, point: number): string {
  const [ratio, low, high] = [of.ratio[point], of.low[point], of.high[point]];
  if (ratio === null) return "–";
  return `${ratio.toFixed(3)}${low === null || high === null ? "" : ` [${low.toFixed(3)}, ${high.toFixed(3)}]`}`;
}

function saidOf(of: CampaignComparison, point: number): string {
  const why = whyOf(of, point);
  return `${worded(of.baseline_median[point])} to ${worded(of.candidate_median[point])}, B/A ${ratioText(of, point)}, ${verdictOf(of, point).toLowerCase()}${why === "" ? "" : ` (${why})`}, by ${of.baseline_runs[point]} and ${of.candidate_runs[point]} runs`;
}

const columnsOf = (of: CampaignComparison): Column<number>[] => [
  { name: "point", key: (one) => pointName(of, one), cell: (one) => pointName(of, one) },
  { name: "verdict", key: (one) => pointVerdicts.indexOf(verdictOf(of, one)), cell: (one) => <Badge kind={kinds[verdictOf(of, one)] ?? "plain"} title={whyOf(of, one)}>{verdictOf(of, one).toLowerCase()}</Badge> },
  { name: "A", key: (one) => of.baseline_median[one] ?? -1, cell: (one) => worded(of.baseline_median[one]), right: true },
  { name: "B", key: (one) => of.candidate_median[one] ?? -1, cell: (one) => worded(of.candidate_median[one]), right: true },
  { name: "B/A", key: (one) => of.ratio[one] ?? -1, cell: (one) => ratioText(of, one), right: true },
  { name: "detectable from", key: (one) => of.detectable[one] ?? -1, cell: (one) => (of.detectable[one] === null ? "–" : percent(of.detectable[one], 2)), right: true },
  { name: "runs", key: (one) => Math.min(of.baseline_runs[one], of.candidate_runs[one]), cell: (one) => `${of.baseline_runs[one]}, ${of.candidate_runs[one]}`, right: true },
];

const tableOf = (of: CampaignComparison, rows: number[]) => ({
  columns: ["experiment", "variant", "params", "verdict", "why", "a_s", "b_s", "ratio", "ratio_low", "ratio_high", "p_value", "detectable", "a_runs", "b_runs"],
  rows: rows.map((one) => [experimentOf(of, one), variantOf(of, one), paramsOf(of, one).map(([name, value]) => `${name}=${value}`).join(" "), verdictOf(of, one), whyOf(of, one),
    of.baseline_median[one], of.candidate_median[one], of.ratio[one], of.low[one], of.high[one], of.p_value[one], of.detectable[one], of.baseline_runs[one], of.candidate_runs[one]]),
});

function BySize({ of, experiment }: { of: CampaignComparison; experiment: string }) {
  const sized = useMemo(() => experimentsBySize(of), [of]);
  // Usually the one that says most of a network.
  const usual = sized.includes("micro.latency") ? "micro.latency" : sized[0];
  const shown = sized.includes(experiment) ? experiment : usual;
  const all = useMemo(() => (shown === undefined ? [] : changesBySize(of, shown)), [of, shown]);
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
  const counts = useMemo(() => tally(of), [of]);
  const experiments = useMemo(() => of.experiment.values.map(String).sort(), [of]);
  const rows = useMemo(() => pointsChosen(of, experiment, verdict), [of, experiment, verdict]);
  const columns = useMemo(() => columnsOf(of), [of]);
  const known = pointVerdicts.filter((one) => counts[one]);
  const differ = (counts.FASTER ?? 0) + (counts.SLOWER ?? 0);
  const line = `stripline campaign compare ${names.join(" ")}${query.margin ? ` --margin ${query.margin}` : ""}`;
  if (sizeOf(of) === 0) return <Empty>Neither campaign has measured a point.</Empty>;
  return (
    <>
      <p class="lead">{known.map((one) => <Badge key={one} kind={kinds[one] ?? "plain"}>{counts[one].toLocaleString("en")} {one.toLowerCase()}</Badge>)} of {count(sizeOf(of), "point")}, B compared with A.</p>
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
      <BySize of={of} experiment={experiment} />
      <Figure id="points" title="Points" about={`Ratio of the time in B to that in A, with its 95 % interval. The false discovery rate is at most 5 %.${rows.length > kMostRows ? ` The picture has the ${kMostRows} largest changes, the table all.` : ""}`} table={() => tableOf(of, rows)}>
        {rows.length === 0 ? <Empty>{verdict === "" ? "No point differs beyond its interval." : "No point has this verdict."}</Empty>
          : <Changes label="Changes of points" of={rows.filter((one) => of.ratio[one] !== null).slice(0, kMostRows).map((one) => ({
            name: pointName(of, one), verdict: verdictOf(of, one), change: of.ratio[one]! - 1,
            change_ci: of.low[one] === null || of.high[one] === null ? undefined : [of.low[one] - 1, of.high[one] - 1], said: saidOf(of, one) }))} />}
      </Figure>
      {rows.length > 0 && <Sorted rows={rows} columns={columns} caption="Points" id={String} most={50} />}
      <h3>The same from a shell</h3>
      <div class="copied"><pre>{line}</pre><CopyText text={line}>Copy</CopyText></div>
    </>
  );
}

function Both({ a, b, query }: { a: Campaign; b: Campaign; query: Record<string, string> }) {
  const path = `${a.name}/compare/columns?${new URLSearchParams({ with: b.name, ...(query.margin ? { margin: query.margin } : {}) })}`;
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

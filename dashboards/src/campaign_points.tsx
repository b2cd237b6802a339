// The measurements of a campaign: times as curves, the widths of their intervals, and the samples of one point.
import { useMemo } from "preact/hooks";
import { get } from "./api";
import { Curves } from "./curves";
import { Empty, Show, useData } from "./data";
import { Figure } from "./figure";
import { choose, Choice } from "./here";
import { factorsOf, index } from "./plane";
import { columnsOf, columnsOfPoints, pointOf, sizeOf, summaryOfPoints, type PointColumns } from "./point_columns";
import { PointDetail } from "./point_detail";
import { factorText, Plane } from "./points_plane";
import { report } from "./report";
import type { ColumnsAnswer, ExperimentSummary, Point } from "./types";
import { count, seconds } from "./units";
import { axesOf, chosenOf, curvesOf, kMostCurves, kVariant, othersOf, valuesOf } from "./values";

// This many points are asked for less often.
const kMany = 20_000;
const kOftenSeconds = 3;
const kRareSeconds = 15;

/** What is known of the points of an experiment. */
export async function experimentPoints(campaign: string, experiment: string, signal: AbortSignal): Promise<PointColumns> {
  if (report) return columnsOfPoints((await get<{ points: Point[] }>(`campaigns/${campaign}/points`, signal)).points, experiment);
  return columnsOf(await get<ColumnsAnswer>(`campaigns/${campaign}/points/columns?experiment=${encodeURIComponent(experiment)}`, signal));
}

export async function experimentsOf(campaign: string, signal: AbortSignal): Promise<ExperimentSummary[]> {
  if (report) return summaryOfPoints((await get<{ points: Point[] }>(`campaigns/${campaign}/points`, signal)).points);
  return (await get<{ experiments: ExperimentSummary[] }>(`campaigns/${campaign}/points/summary`, signal)).experiments;
}

/** The one that says most of a network, of those that have a value if any has. */
export function usualOf(all: ExperimentSummary[]): string {
  const measured = all.filter((one) => one.measured > 0);
  const some = measured.length > 0 ? measured : all;
  return (some.find((one) => one.experiment === "micro.latency") ?? some[0]).experiment;
}

const byText = (name: string) => (name === kVariant ? "variant" : name.replaceAll("_", " "));

/** Measured times as curves; the address may say over what and by what. `pick`: a click on a value. */
export function Values({ of, over, query, pick }: { of: PointColumns; over: boolean; query: Record<string, string>; pick?: (index: number) => void }) {
  const chosen = useMemo(() => chosenOf(of, query), [of, query]);
  const label = (value: string, factor: string) => (factor === kVariant ? value : `${byText(factor)} ${factorText(Number.isNaN(Number(value)) ? value : Number(value), factor)}`);
  const curves = useMemo(() => (chosen ? curvesOf(of, chosen, label) : []), [of, chosen]);
  const shown = useMemo(() => curves.slice(0, kMostCurves), [curves]);
  const xText = useMemo(() => (!chosen || chosen.x.includes("bytes") ? undefined : (value: number) => String(Number(value.toPrecision(4)))), [chosen?.x]);
  if (!chosen) return null;
  const axes = axesOf(of);
  const others = othersOf(of, chosen.x);
  const choices = (
    <>
      {axes.length > 1 && <Choice label="across" name="vx" value={chosen.x} options={axes.map((one) => [one, byText(one)])} />}
      {others.length > 1 && <Choice label="a curve for each" name="by" value={chosen.by} options={others.map((one) => [one, byText(one)])} />}
      {Object.entries(chosen.fixed).map(([name, value]) => <Choice key={name} label={byText(name)} name={`at.${name}`} value={value} options={valuesOf(of, name).map((one) => [one, label(one, name).replace(`${byText(name)} `, "")])} />)}
    </>
  );
  return (
    <Figure id="values" title={`Times: ${of.experiment}`} choices={choices}
      about={`Medians over ${over ? "" : "finished "}runs with their 95 % intervals.${curves.length > kMostCurves ? ` The first ${kMostCurves} of ${curves.length} curves; the table has all.` : ""}`}
      table={() => ({ columns: ["curve", chosen.x, "median_s", "low_s", "high_s"], rows: curves.flatMap((curve) => curve.x.map((at, index) => [curve.label, at, curve.y[index], curve.low![index], curve.high![index]])) })}>
      {shown.length === 0 ? <Empty>{over ? "No run has measured these." : "No run that measures these has finished yet."}</Empty>
        : <Curves label={`Times of ${of.experiment} by ${byText(chosen.x)}`} curves={shown} format={seconds} xText={xText} pick={pick && ((curve, place) => pick(shown[curve].at[place]))} />}
    </Figure>
  );
}

function Widths({ of, over, query, pick }: { of: PointColumns; over: boolean; query: Record<string, string>; pick: (index: number) => void }) {
  const graded = useMemo(() => index(of, over), [of, over]);
  const factors = useMemo(() => factorsOf(graded), [graded]);
  const x = factors.includes(query.x) ? query.x : factors.includes("bytes") ? "bytes" : factors[0] ?? "";
  const y = query.y === "none" ? "" : factors.includes(query.y) && query.y !== x ? query.y : factors.find((factor) => factor !== x) ?? "";
  const table = () => ({
    columns: ["experiment", "variant", ...factors, "median_s", "low_s", "high_s", "runs", "samples", "failed"],
    rows: Array.from({ length: sizeOf(of) }, (_, place) => {
      const point = pointOf(of, place);
      return [point.experiment, point.variant, ...factors.map((factor) => point.params[factor] ?? null), point.median, point.low, point.high, point.runs, point.samples, point.failed];
    }),
  });
  const choices = factors.length > 1 && (
    <>
      <Choice label="across" name="x" value={x} options={factors.map((one) => [one, one])} />
      <Choice label="down" name="y" value={y === "" ? "none" : y} options={[["none", "variant only"], ...factors.filter((one) => one !== x).map((one): [string, string] => [one, one])]} />
    </>
  );
  return (
    <Figure id="points" title={`Width of the intervals: ${of.experiment}`} about="Half-width of the 95 % confidence interval over runs, relative to the median." choices={choices} table={table}>
      <Plane points={of} of={graded} xFactor={x} yFactor={y} over={over} pick={pick} />
    </Figure>
  );
}

export function CampaignPoints({ campaign, over, query }: { campaign: string; over: boolean; query: Record<string, string> }) {
  const summary = useData(`campaigns/${campaign}/points/summary`, (signal) => experimentsOf(campaign, signal), over ? 0 : kOftenSeconds);
  const all = summary.data;
  const experiment = !all || all.length === 0 ? null : all.find((one) => one.experiment === query.experiment)?.experiment ?? usualOf(all);
  const many = (all?.find((one) => one.experiment === experiment)?.points ?? 0) > kMany;
  const points = useData(experiment === null ? null : `campaigns/${campaign}/points/columns?experiment=${experiment}`,
    (signal) => experimentPoints(campaign, experiment!, signal), over ? 0 : many ? kRareSeconds : kOftenSeconds);
  const pick = (place: number) => choose({ point: String(points.data!.place[place]) });
  const place = points.data?.place.indexOf(Number(query.point || NaN)) ?? -1;
  return (
    <Show of={summary} what="The points">
      {(experiments) => (experiments.length === 0 ? <Empty>No point is planned yet.</Empty> : (
        <>
          <div class="filters">
            <Choice label="Experiment" name="experiment" value={experiment!} options={experiments.map((one) => [one.experiment, `${one.experiment} (${one.measured.toLocaleString("en")} of ${count(one.points, "point")})`])} />
          </div>
          <Show of={points} what={`The points of ${experiment}`}>
            {(of) => (
              <>
                <Values of={of} over={over} query={query} pick={pick} />
                {place >= 0 && <PointDetail key={query.point} campaign={campaign} of={pointOf(of, place)} place={of.place[place]} over={over} />}
                <Widths of={of} over={over} query={query} pick={pick} />
              </>
            )}
          </Show>
        </>
      ))}
    </Show>
  );
}

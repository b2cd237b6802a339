// Two campaigns beside each other, point by point, as the server compares them: pure. Verdicts are its
// own; here they are only counted, chosen from and placed. Points are numbers, the places in columns,
// as there may be hundreds of thousands.
import type { Curve } from "./curves";
import type { PlacedValues } from "./types";
import { bytes } from "./units";

/** The columns of `compare/columns`: a row for each point; null where it does not have the value. */
export interface CampaignComparison {
  experiment: PlacedValues;
  variant: PlacedValues;
  params: Record<string, PlacedValues>;
  verdict: PlacedValues;
  why: PlacedValues;
  baseline_runs: number[];
  candidate_runs: number[];
  baseline_median: (number | null)[];
  candidate_median: (number | null)[];
  /** Candidate over baseline, with its 95 % interval. */
  ratio: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
  p_value: number[];
  /** By what part of A it would have to differ for such runs to show it in four of five cases. */
  detectable: (number | null)[];
  differences: { field: string; baseline: string; candidate: string }[];
}

/** What differs before what does not, and what is not known. */
export const pointVerdicts = ["SLOWER", "FASTER", "INCONCLUSIVE", "EQUIVALENT", "INCOMPARABLE"];

export const sizeOf = (of: CampaignComparison) => of.verdict.of.length;

const textAt = (column: PlacedValues, point: number) => String(column.values[column.of[point]]);
export const verdictOf = (of: CampaignComparison, point: number) => textAt(of.verdict, point);
export const whyOf = (of: CampaignComparison, point: number) => textAt(of.why, point);
export const experimentOf = (of: CampaignComparison, point: number) => textAt(of.experiment, point);
export const variantOf = (of: CampaignComparison, point: number) => textAt(of.variant, point);

/** The parameters that a point has, in the order of their names. */
export function paramsOf(of: CampaignComparison, point: number): [name: string, value: string][] {
  return Object.entries(of.params).sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, column]): [string, string][] => (column.of[point] < 0 ? [] : [[name, textAt(column, point)]]));
}

const valueText = (name: string, value: string) => (name.includes("bytes") && Number.isFinite(Number(value)) ? bytes(Number(value)) : value);
const paramText = ([name, value]: [string, string]) => `, ${name} ${valueText(name, value)}`;

/** "micro.latency get, bytes 4 KiB, window 8". */
export function pointName(of: CampaignComparison, point: number): string {
  return `${experimentOf(of, point)} ${variantOf(of, point)}${paramsOf(of, point).map(paramText).join("")}`;
}

export function tally(of: CampaignComparison): Record<string, number> {
  const counts = of.verdict.values.map(() => 0);
  for (const place of of.verdict.of) ++counts[place];
  return Object.fromEntries(of.verdict.values.map((verdict, place) => [verdict, counts[place]]));
}

/** Of this experiment (empty: any) and verdict (empty: those that differ), the largest change first. */
export function pointsChosen(of: CampaignComparison, experiment: string, verdict: string): number[] {
  const isChosen = of.verdict.values.map((one) => (verdict === "" ? one === "FASTER" || one === "SLOWER" : one === verdict));
  const only = experiment === "" ? -1 : of.experiment.values.indexOf(experiment);
  const points: number[] = [];
  for (let point = 0; point < sizeOf(of); ++point) {
    if (isChosen[of.verdict.of[point]] && (experiment === "" || of.experiment.of[point] === only)) points.push(point);
  }
  const change = Float64Array.from(of.ratio, (ratio) => (ratio === null ? -1 : Math.abs(Math.log(ratio))));
  return points.sort((a, b) => change[b] - change[a]);
}

/** Those of which both have something by size, as points of this experiment (-1: of any) with their sizes. */
function sized(of: CampaignComparison, experiment: number, each: (point: number, size: number) => void): void {
  const column = of.params.bytes;
  if (!column) return;
  const sizes = column.values.map(Number);
  for (let point = 0; point < sizeOf(of); ++point) {
    if (of.ratio[point] === null || (experiment >= 0 && of.experiment.of[point] !== experiment)) continue;
    const size = column.of[point] < 0 ? 0 : sizes[column.of[point]];
    if (size > 0) each(point, size);
  }
}

/** The experiments of which both have something by size. */
export function experimentsBySize(of: CampaignComparison): string[] {
  const found = new Set<number>();
  sized(of, -1, (point) => found.add(of.experiment.of[point]));
  return [...found].map((place) => String(of.experiment.values[place])).sort();
}

/** How much an experiment's points changed, by size: a curve for each variant and its other parameters. */
export function changesBySize(of: CampaignComparison, experiment: string): Curve[] {
  const others = Object.entries(of.params).filter(([name]) => name !== "bytes").map(([, column]) => column);
  const curves = new Map<string, { size: number; point: number }[]>();
  const place = of.experiment.values.indexOf(experiment);
  if (place < 0) return [];
  sized(of, place, (point, size) => {
    let key = `${of.variant.of[point]}`;
    for (const column of others) key += `,${column.of[point]}`;
    const same = curves.get(key);
    if (same) same.push({ size, point });
    else curves.set(key, [{ size, point }]);
  });
  const labelOf = (point: number) => `${variantOf(of, point)}${paramsOf(of, point).filter(([name]) => name !== "bytes").map(paramText).join("")}`;
  const labelled = [...curves.values()].map((points): [string, { size: number; point: number }[]] => [labelOf(points[0].point), points]);
  return labelled.sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true })).map(([label, points], index) => {
    const ordered = points.sort((a, b) => a.size - b.size);
    const less = (column: (number | null)[]) => ordered.map(({ point }) => (column[point] === null ? null : column[point] - 1));
    return { label, colour: `c${1 + (index % 10)}`, points: true, x: ordered.map((one) => one.size), y: less(of.ratio), low: less(of.low), high: less(of.high) };
  });
}

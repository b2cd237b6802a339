// Two campaigns beside each other, point by point, as the server compares them: pure. Verdicts are its
// own; here they are only counted, chosen from and placed.
import type { Curve } from "./curves";
import { bytes } from "./units";

/** `ComparedPoint`: what is not known is not there. */
export interface ComparedPoint {
  experiment: string;
  variant: string;
  params: Record<string, string>;
  verdict: string;
  why: string;
  baseline_runs: number;
  candidate_runs: number;
  baseline_median?: number;
  candidate_median?: number;
  /** Candidate over baseline, with its 95 % interval. */
  ratio?: number;
  low?: number;
  high?: number;
  p_value: number;
  /** By what part of A it would have to differ for such runs to show it in four of five cases. */
  detectable?: number;
}
export interface CampaignComparison { points: ComparedPoint[]; differences: { field: string; baseline: string; candidate: string }[] }

/** What differs before what does not, and what is not known. */
export const pointVerdicts = ["SLOWER", "FASTER", "INCONCLUSIVE", "EQUIVALENT", "INCOMPARABLE"];

const valueText = (name: string, value: string) => (name.includes("bytes") && Number.isFinite(Number(value)) ? bytes(Number(value)) : value);

/** "micro.latency get, bytes 4 KiB, window 8". */
export function pointName(of: ComparedPoint): string {
  const params = Object.entries(of.params).sort().map(([name, value]) => `, ${name} ${valueText(name, value)}`);
  return `${of.experiment} ${of.variant}${params.join("")}`;
}

export function tally(points: ComparedPoint[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verdict } of points) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

/** Of this experiment (empty: any) and verdict (empty: those that differ), the largest change first. */
export function pointsChosen(points: ComparedPoint[], experiment: string, verdict: string): ComparedPoint[] {
  return points
    .filter((one) => (experiment === "" || one.experiment === experiment) && (verdict === "" ? one.verdict === "FASTER" || one.verdict === "SLOWER" : one.verdict === verdict))
    .map((one) => ({ one, size: one.ratio === undefined ? -1 : Math.abs(Math.log(one.ratio)) }))
    .sort((a, b) => b.size - a.size)
    .map(({ one }) => one);
}

/** The experiments of which both have something by size. */
export function experimentsBySize(points: ComparedPoint[]): string[] {
  return [...new Set(points.filter((one) => one.ratio !== undefined && Number(one.params.bytes) > 0).map((one) => one.experiment))].sort();
}

/** How much an experiment's points changed, by size: a curve for each variant and its other parameters. */
export function changesBySize(points: ComparedPoint[], experiment: string): Curve[] {
  const curves = new Map<string, ComparedPoint[]>();
  for (const one of points) {
    if (one.experiment !== experiment || one.ratio === undefined || !(Number(one.params.bytes) > 0)) continue;
    const others = Object.entries(one.params).filter(([name]) => name !== "bytes").sort().map(([name, value]) => `, ${name} ${valueText(name, value)}`);
    const label = `${one.variant}${others.join("")}`;
    const same = curves.get(label);
    if (same) same.push(one);
    else curves.set(label, [one]);
  }
  return [...curves].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true })).map(([label, of], index) => {
    const ordered = of.sort((a, b) => Number(a.params.bytes) - Number(b.params.bytes));
    return {
      label, colour: `c${1 + (index % 10)}`, points: true, x: ordered.map((one) => Number(one.params.bytes)), y: ordered.map((one) => one.ratio! - 1),
      low: ordered.map((one) => (one.low === undefined ? null : one.low - 1)), high: ordered.map((one) => (one.high === undefined ? null : one.high - 1)),
    };
  });
}

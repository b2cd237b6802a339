// Two versions beside each other, as the server compares them: pure. Verdicts are its own; here they
// are only chosen from, ordered and placed.
import type { Axis, DecisionTable } from "./explain_form";

export interface Side { value: number; ci: [number, number]; runs: number; at_least: boolean }
export interface ComparedParameter { name: string; unit: string; a: Side | null; b: Side | null; verdict: string; change: number | null; change_ci?: [number, number] }
export interface ComparedDecision { command: string; asked: Record<string, string>; a: string; b: string; a_predicted_s: number; b_predicted_s: number; disagreement: "tie" | "doubt" | "change" }
export interface Comparison {
  facts: { field: string; a: string; b: string }[];
  parameters: ComparedParameter[];
  verdicts: Record<string, number>;
  tables: { command: string; asked: number; differ: number; doubts: number; ties: number }[];
  decisions: ComparedDecision[];
}

/** What differs before what does not, and what is not known. */
export const verdicts = ["SLOWER", "FASTER", "LARGER", "SMALLER", "INCONCLUSIVE", "EQUIVALENT", "INCOMPARABLE"];

/** Of this verdict, or those that differ; the largest change first. */
export function chosen(parameters: ComparedParameter[], verdict: string): ComparedParameter[] {
  const differs = (one: ComparedParameter) => ["SLOWER", "FASTER", "LARGER", "SMALLER"].includes(one.verdict);
  return parameters.filter((one) => (verdict === "" ? differs(one) : one.verdict === verdict))
    .sort((a, b) => Math.abs(b.change ?? 0) - Math.abs(a.change ?? 0));
}

/** Scales of relative changes: how many times as much their ends are, and where they are marked. */
const scales: { most: number; ticks: number[] }[] = [
  { most: 1.25, ticks: [-0.2, -0.1, 0, 0.1, 0.25] },
  { most: 2, ticks: [-0.5, -0.25, 0, 0.5, 1] },
  { most: 8, ticks: [-0.875, -0.75, -0.5, 0, 1, 3, 7] },
];

/** The finest scale that holds all of these, or the widest. */
export function scaleOf(changes: number[]): { most: number; ticks: number[] } {
  const within = (most: number) => changes.every((one) => one <= most - 1 && one >= 1 / most - 1);
  return scales.find(({ most }) => within(most)) ?? scales[scales.length - 1];
}

/** A relative change on a scale where doubling and halving are as far from zero: -1 to 1 are 1/most to most times. */
export function placeOf(change: number, most = 8): number {
  return Math.max(-1, Math.min(1, Math.log(Math.max(1e-9, 1 + change)) / Math.log(most)));
}

/** The decisions of a table that differ, by their place on its map, for one value of each choice. */
export function differing(decisions: ComparedDecision[], table: DecisionTable, choices: Record<string, string>): Map<string, ComparedDecision> {
  const place = (axis: Axis, asked: Record<string, string>) => axis.values.indexOf(asked[axis.option]);
  const cells = new Map<string, ComparedDecision>();
  for (const one of decisions) {
    if (one.command !== table.command || table.choices.some(({ option }) => one.asked[option] !== choices[option])) continue;
    cells.set(`${place(table.x, one.asked)}/${place(table.y, one.asked)}`, one);
  }
  return cells;
}

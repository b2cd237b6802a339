// A decision with its reasons, as `stripline explain --json` prints it, and what of it is drawn: pure.

export interface Alternative { text: string; predicted_s: number; low_s?: number; high_s?: number }
export interface Explanation {
  why: string;
  plan: { text: string; reason: string; predicted_s: number; baseline_s?: number; gain_low?: number };
  minimum_gain?: number;
  alternatives?: Alternative[];
  pruned?: { text: string; bound_s: number }[];
  sensitivities?: { source: string; of_baseline: boolean; gain_loss: number }[];
}

export interface Row { text: string; at_s: number; low_s?: number; high_s?: number; kind: "taken" | "baseline" | "other" | "bound" }

/** The fastest first; what is taken and the baseline are among those that are shown. */
export function rowsOf({ plan, alternatives = [], pruned = [] }: Explanation): Row[] {
  const rows = alternatives.map((one, index): Row => ({
    text: one.text, at_s: one.predicted_s, low_s: one.low_s === undefined ? undefined : Math.min(one.low_s, one.high_s!), high_s: one.low_s === undefined ? undefined : Math.max(one.low_s, one.high_s!),
    kind: one.text === plan.text ? "taken" : index === 0 && plan.baseline_s !== undefined ? "baseline" : "other",
  }));
  const bounds = new Map<string, Row>();
  for (const one of pruned) {
    const known = bounds.get(one.text);
    if (!known || one.bound_s < known.at_s) bounds.set(one.text, { text: one.text, at_s: one.bound_s, kind: "bound" });
  }
  return [...rows, ...bounds.values()].sort((a, b) => a.at_s - b.at_s);
}

// What production runs saw of a version, summed up by place: pure.

/** Executions of one decision at one place, of all ranks of a run; seconds are means of one, 0 where not known. */
export interface FeedbackPlace {
  place: string;
  what: string;
  choice: string;
  ranks: number;
  executions: string;
  as_chosen: string;
  predicted_s: number;
  measured_s: number;
  simple: string;
  simple_s: number;
  demoted_ranks: number;
}
export interface Feedback {
  version: string;
  time: string;
  sender: string;
  program: string;
  fabric: string;
  ranks: number;
  elapsed_s: number;
  places: FeedbackPlace[];
  places_left_out: string;
}

/** One decision at one place of a program, over all runs. */
export interface PlaceGain {
  program: string;
  place: string;
  what: string;
  choice: string;
  runs: number;
  executions: number;
  as_chosen: number;
  predicted_s: number | null;
  measured_s: number | null;
  simple_s: number | null;
  /** By how much less time the decision takes than the baseline; null: one of them was not measured. */
  gain: number | null;
  /** Of the executions as chosen, in all; below zero: lost. */
  saved_s: number;
  /** Runs in which the guard gave it up. */
  demoted: number;
}

// A mean of means, each with its number of executions.
class Mean {
  private sum = 0;
  private weight = 0;
  add(value: number, weight: number): void {
    if (value <= 0 || weight <= 0) return;
    this.sum += value * weight;
    this.weight += weight;
  }
  get value(): number | null { return this.weight > 0 ? this.sum / this.weight : null; }
}

/** Those first that change the most, for better or worse. */
export function gainsByPlace(feedback: Feedback[]): PlaceGain[] {
  const groups = new Map<string, { program: string; all: FeedbackPlace[] }>();
  for (const { program, places } of feedback) {
    for (const one of places) {
      const key = JSON.stringify([program, one.place, one.what, one.choice]);
      const group = groups.get(key) ?? { program, all: [] };
      group.all.push(one);
      groups.set(key, group);
    }
  }
  return [...groups.values()].map(({ program, all }): PlaceGain => {
    const [predicted, measured, simple] = [new Mean(), new Mean(), new Mean()];
    for (const one of all) {
      predicted.add(one.predicted_s, Number(one.as_chosen));
      measured.add(one.measured_s, Number(one.as_chosen));
      simple.add(one.simple_s, Number(one.simple));
    }
    const sum = (field: "executions" | "as_chosen") => all.reduce((total, one) => total + Number(one[field]), 0);
    const known = measured.value !== null && simple.value !== null;
    return {
      program, place: all[0].place, what: all[0].what, choice: all[0].choice, runs: all.length, executions: sum("executions"), as_chosen: sum("as_chosen"),
      predicted_s: predicted.value, measured_s: measured.value, simple_s: simple.value,
      gain: known ? 1 - measured.value! / simple.value! : null, saved_s: known ? (simple.value! - measured.value!) * sum("as_chosen") : 0,
      demoted: all.filter((one) => one.demoted_ranks > 0).length,
    };
  }).sort((a, b) => Math.abs(b.saved_s) - Math.abs(a.saved_s) || b.executions - a.executions);
}

export interface Sum { places: number; compared: number; better: number; saved_s: number; demoted: number }

export function summedUp(places: PlaceGain[]): Sum {
  const compared = places.filter((one) => one.gain !== null);
  return {
    places: places.length, compared: compared.length, better: compared.filter((one) => one.gain! > 0).length,
    saved_s: compared.reduce((total, one) => total + one.saved_s, 0), demoted: places.filter((one) => one.demoted > 0).length,
  };
}

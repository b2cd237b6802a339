// How much a model gains, in few numbers, each the lower end of its interval: what is sure. Pure.
import type { ModelFile } from "./model_file";
import type { Decision, Decisions, ModelVersion, Parameter } from "./types";

/** Of the cases asked about: how many gain surely, and by how much less time those take at least. */
export interface Gained { asked: number; tuned: number; median: number; most: number }
export interface Gains {
  /** Kinds of loops, as predicted. */
  loops: Gained | null;
  /** Of an operation the ranges of sizes and ranks that the model has a rule for. */
  measured: ({ what: string } & Gained)[];
}

/** Why nothing is claimed of a version, gravest first; null: what it gains may be shown. */
export function silence(version: ModelVersion): string | null {
  if (version.withdrawn) return `Withdrawn: ${version.withdrawn}.`;
  if (version.failed) return `Validation failed: ${version.failed}.`;
  if (version.lost) return `Runs lost time with it: ${version.lost}.`;
  if (version.stale) return `Stale: ${version.stale}.`;
  if (version.state === "FITTED" && !version.unjudged) return "Not validated, so no gain is shown.";
  if (version.unjudged) return `Not judged, so no gain is shown: ${version.unjudged}.`;
  return null;
}

/** Loops through remote data, of many sizes and computations. */
export const loopQuestion = `bytes=${[64, 256, 1024, 4096, 16384].map((kib) => `${kib}KiB`).join(",")}&compute=20us,200us,2ms,20ms`;

/** The lower end of a parameter's interval; null: that is no gain. */
export function sureGain(parameter: unknown): number | null {
  const low = (parameter as Parameter | undefined)?.ci[0];
  return typeof low === "number" && low > 0 ? low : null;
}

/** By how much less time a decision takes than the baseline, at least; 0: that is not sure, or nothing may be claimed of the version. */
export function claimedGain(decision: Decision, silent: string | null): number {
  return silent === null && decision.baseline_s > 0 ? Math.max(0, decision.gain_low) : 0;
}

function gainedOf(asked: number, gains: number[]): Gained {
  const sorted = [...gains].sort((a, b) => a - b);
  return { asked, tuned: sorted.length, median: sorted[Math.floor(sorted.length / 2)] ?? 0, most: sorted[sorted.length - 1] ?? 0 };
}

export function gainsOf(file: ModelFile, loops: Decisions | null): Gains {
  const measured: Gains["measured"] = [];
  const add = (what: string, all: unknown[]) => {
    const gained = gainedOf(all.length, all.map(sureGain).filter((one) => one !== null));
    if (gained.tuned > 0) measured.push({ what, ...gained });
  };
  const operations = new Map<string, unknown[]>();
  for (const rule of file.collective?.rules ?? []) operations.set(rule.operation, [...(operations.get(rule.operation) ?? []), rule.gain]);
  for (const [operation, all] of operations) add(operation.replaceAll("_", " "), all);
  const single = (file.rma ?? {}) as Record<string, Record<string, unknown>>;
  for (const [name, text] of [["put_combining", "small puts that are combined"], ["buffered_put", "buffered puts"], ["atomic", "atomic operations as messages"]] as const) {
    add(text, [single[name]?.gain]);
  }
  measured.sort((a, b) => b.median - a.median);
  if (!loops) return { loops: null, measured };
  const tuned = loops.decisions.filter((one) => one.reason === "tuned" && one.baseline_s > 0);
  return { loops: gainedOf(loops.decisions.length, tuned.map((one) => one.gain_low)), measured };
}

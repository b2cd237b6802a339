// How much a model gains, in few numbers: pure.
import type { ModelFile } from "./model_file";
import type { Decisions, ModelVersion, Parameter } from "./types";

export interface Gains {
  /** Of the loops asked about: how many are tuned, and by how much less time those take at least. */
  loops: { asked: number; tuned: number; median: number; most: number } | null;
  measured: { what: string; gain: number }[];
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

function gain(parameter: unknown): number | null {
  const value = (parameter as Parameter | undefined)?.value;
  return typeof value === "number" && value > 0 ? value : null;
}

export function gainsOf(file: ModelFile, loops: Decisions | null): Gains {
  const measured: Gains["measured"] = [];
  const best = new Map<string, number>();
  for (const rule of file.collective?.rules ?? []) {
    const gained = gain(rule.gain);
    if (gained !== null) best.set(rule.operation, Math.max(gained, best.get(rule.operation) ?? 0));
  }
  for (const [operation, gained] of best) measured.push({ what: `${operation.replaceAll("_", " ")}, at best`, gain: gained });
  const single = (file.rma ?? {}) as Record<string, Record<string, unknown>>;
  for (const [name, text] of [["put_combining", "small puts that are combined"], ["buffered_put", "buffered puts"], ["atomic", "atomic operations as messages"]] as const) {
    const gained = gain(single[name]?.gain);
    if (gained !== null) measured.push({ what: text, gain: gained });
  }
  measured.sort((a, b) => b.gain - a.gain);
  if (!loops) return { loops: null, measured };
  const tuned = loops.decisions.filter((one) => one.reason === "tuned" && one.baseline_s > 0)
    .map((one) => one.gain_low).sort((a, b) => a - b);
  return {
    loops: { asked: loops.decisions.length, tuned: tuned.length, median: tuned[Math.floor(tuned.length / 2)] ?? 0, most: tuned[tuned.length - 1] ?? 0 },
    measured,
  };
}

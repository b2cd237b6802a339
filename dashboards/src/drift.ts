// Sentinels of a version over time: pure.
import type { Expected, Moment } from "./scale";
import type { ModelVersion } from "./types";
import { bytes, count, percent } from "./units";

export interface Sentinel {
  operation: string;
  bytes: number;
  predicted_s: number;
  low_s: number;
  high_s: number;
  measured_s: number;
  measured_low_s: number | null;
  measured_high_s: number | null;
  outside: boolean;
}
export interface SentinelCheck { campaign: string; time: string; points: number; outside: number; ratio: number; off: boolean; sentinels: Sentinel[] }
/** `/sentinels` of a version, the oldest check first. */
export interface SentinelHistory { tolerance: number; checks: SentinelCheck[] }

export interface Verdict { kind: "good" | "warn" | "bad" | "none"; title: string; text: string }

/** Whether a version still holds, as far as it was checked. */
export function verdict(version: ModelVersion, { checks }: SentinelHistory): Verdict {
  const last = checks[checks.length - 1];
  if (version.stale !== "") return { kind: "bad", title: "Stale:", text: `${version.stale}.` };
  if (!last) return { kind: "none", title: "Never checked:", text: "nothing has been measured since it was fitted." };
  const text = `${last.outside} of ${count(last.points, "sentinel")} outside the predicted range; the median of the times is ${percent(last.ratio)} of the predicted.`;
  if (last.off) return { kind: "warn", title: "The last check was off:", text: `${text} A second one in a row makes the version stale.` };
  return { kind: "good", title: "Valid:", text };
}

export const placeOf = (one: Sentinel) => `${one.operation}/${one.bytes}`;
export const placeText = (one: Sentinel) => `${one.operation} of ${bytes(one.bytes)}`;

/** One of each sentinel that any check has, gets first, small ones first. */
export function places({ checks }: SentinelHistory): Sentinel[] {
  const found = new Map(checks.flatMap((check) => check.sentinels.map((one): [string, Sentinel] => [placeOf(one), one])));
  return [...found.values()].sort((a, b) => a.operation.localeCompare(b.operation) || a.bytes - b.bytes);
}

export interface Course {
  moments: (Moment & { check: SentinelCheck })[];
  /** What is predicted, by the intervals of parameters; absent where all sentinels are summed up. */
  expected?: Expected;
}

/** One sentinel over time in seconds; of no such place, the median of measured over predicted times. */
export function course(history: SentinelHistory, place: string): Course {
  const one = places(history).find((each) => placeOf(each) === place);
  if (!one) {
    return { moments: history.checks.map((check) => ({ at: Date.parse(check.time), value: check.ratio, low: null, high: null, miss: check.off, check })) };
  }
  const moments = history.checks.flatMap((check) => check.sentinels.filter((each) => placeOf(each) === place)
    .map((each) => ({ at: Date.parse(check.time), value: each.measured_s, low: each.measured_low_s, high: each.measured_high_s, miss: each.outside, check })));
  return { moments, expected: { value: one.predicted_s, low: one.low_s, high: one.high_s } };
}

// Where samples stand on an axis of times: pure.

import { ticksOf } from "./scale";

/** A row shows this many dots at most. */
export const kMostDots = 400;

export interface Axis { place: (value: number) => number; ticks: number[] }

/** From 0 to 1; logarithmic where the largest value is more than ten times the smallest. */
export function axisOf(values: number[]): Axis {
  const known = values.filter((value) => Number.isFinite(value));
  if (known.length === 0) return { place: () => 0, ticks: [] };
  let [low, high] = [Infinity, -Infinity];
  for (const value of known) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low === high) return { place: () => 0.5, ticks: [low] };
  if (low > 0 && high / low > 10) {
    const [from, to] = [Math.log10(low), Math.log10(high)];
    const ticks = [];
    for (let power = Math.ceil(from); power <= to; ++power) ticks.push(10 ** power);
    return { place: (value) => (Math.log10(value) - from) / (to - from), ticks };
  }
  return { place: (value) => (value - low) / (high - low), ticks: ticksOf(low, high) };
}

/** This many of the values, by their ranks, the smallest and the largest among them. */
export function spread(values: number[], most: number): number[] {
  if (values.length <= most) return values;
  const sorted = [...values].sort((a, b) => a - b);
  return Array.from({ length: most }, (_, index) => sorted[Math.round((index * (sorted.length - 1)) / (most - 1))]);
}

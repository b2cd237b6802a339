// The points of a campaign on a plane of two factors: pure.
import type { Point } from "./types";

/** Half the interval over the median; null without an interval. */
export function width(point: Point): number | null {
  if (point.median === null || point.low === null || point.high === null || point.median === 0) return null;
  return (point.high - point.low) / 2 / Math.abs(point.median);
}

export type Grade = "tight" | "fair" | "wide" | "none" | "failed";
export const grades: Grade[] = ["tight", "fair", "wide", "none", "failed"];
export const gradeTexts: Record<Grade, string> = {
  tight: "± 5 % or less", fair: "± 5 to 15 %", wide: "wider than ± 15 %", none: "fewer than two runs", failed: "no valid sample",
};

export function grade(point: Point): Grade {
  const known = width(point);
  if (point.median === null) return point.failed > 0 ? "failed" : "none";
  if (known === null) return "none";
  return known <= 0.05 ? "tight" : known <= 0.15 ? "fair" : "wide";
}

/** The values of a factor among these points, in order. */
export function valuesOf(points: Point[], factor: string): (number | string)[] {
  const all = new Set<number | string>();
  for (const point of points) if (factor in point.params) all.add(point.params[factor]);
  return [...all].sort((a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))));
}

/** Factors that have more than one value, those with most first. */
export function factorsOf(points: Point[]): string[] {
  const names = new Set(points.flatMap((point) => Object.keys(point.params)));
  return [...names].map((name): [string, number] => [name, valuesOf(points, name).length])
    .filter(([, values]) => values > 1).sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

/** How many points of each grade there are. */
export function tally(points: Point[]): Record<Grade, number> {
  const counts: Record<Grade, number> = { tight: 0, fair: 0, wide: 0, none: 0, failed: 0 };
  for (const point of points) ++counts[grade(point)];
  return counts;
}

/** Where points stand: columns by one factor, rows by variant and, if it is named, another factor. */
export interface Layout {
  xs: (number | string)[];
  ys: string[];
  column: Int32Array;  // of each point
  row: Int32Array;
  at: Int32Array;  // the point in a cell, by row * columns + column; -1: none
}

/** `name` is how a row's factor is read. A cell with several points holds the last. */
export function layout(points: Point[], xFactor: string, yFactor: string, name: (value: number | string) => string): Layout {
  const xs = valuesOf(points, xFactor);
  const columnOf = new Map(xs.map((value, index) => [value, index]));
  const rows = new Map<string, Map<number | string, number>>();
  const ys: string[] = [];
  const variants = [...new Set(points.map((point) => point.variant))].sort();
  const values = yFactor === "" ? [""] : valuesOf(points, yFactor);
  for (const variant of variants) rows.set(variant, new Map());
  const column = new Int32Array(points.length);
  const valueOf = (point: Point) => (yFactor === "" ? "" : point.params[yFactor] ?? "");
  // Only rows that have a point, in order.
  const seen = new Map(variants.map((variant) => [variant, new Set<number | string>()]));
  for (const point of points) seen.get(point.variant)!.add(valueOf(point));
  for (const variant of variants) {
    for (const value of [...values, ""]) {
      if (!seen.get(variant)!.has(value) || rows.get(variant)!.has(value)) continue;
      rows.get(variant)!.set(value, ys.length);
      ys.push(value === "" ? variant : `${variant} · ${name(value)}`);
    }
  }
  const row = new Int32Array(points.length);
  const at = new Int32Array(xs.length * ys.length).fill(-1);
  points.forEach((point, index) => {
    column[index] = columnOf.get(point.params[xFactor]) ?? 0;
    row[index] = rows.get(point.variant)!.get(valueOf(point))!;
    at[row[index] * xs.length + column[index]] = index;
  });
  return { xs, ys, column, row, at };
}

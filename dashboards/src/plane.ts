// The points of a campaign on a plane of two factors: pure.
import { sizeOf, type Column, type PointColumns } from "./point_columns";
import type { Point } from "./types";

/** Half the interval over the median; null without an interval. */
export function width(point: Pick<Point, "median" | "low" | "high">): number | null {
  if (point.median === null || point.low === null || point.high === null || point.median === 0) return null;
  return (point.high - point.low) / 2 / Math.abs(point.median);
}

export type Grade = "tight" | "fair" | "wide" | "once" | "waiting" | "left" | "failed";
export const grades: Grade[] = ["tight", "fair", "wide", "once", "waiting", "left", "failed"];
export const gradeTexts: Record<Grade, string> = {
  tight: "± 5 % or less", fair: "± 5 to 15 %", wide: "wider than ± 15 %", once: "one run, so no interval",
  waiting: "not measured yet", left: "in no run: not planned, or out of time", failed: "no valid sample",
};

/** `over`: the campaign has ended, so what no run has measured is not going to be. */
export function grade(point: Pick<Point, "median" | "low" | "high" | "failed">, over: boolean): Grade {
  const known = width(point);
  if (point.median === null) return point.failed > 0 ? "failed" : over ? "left" : "waiting";
  if (known === null) return "once";
  return known <= 0.05 ? "tight" : known <= 0.15 ? "fair" : "wide";
}

export const gradeIndex = Object.fromEntries(grades.map((one, index) => [one, index])) as Record<Grade, number>;

/** What is worked out of points once, so that choosing what is seen of a hundred thousand costs little. */
export interface Index {
  variant: Column<string>;
  factors: Map<string, Column<number | string>>;
  grade: Uint8Array;  // of each point, its place in `grades`
  counts: Record<Grade, number>;
}

export function index(points: PointColumns, over: boolean): Index {
  const size = sizeOf(points);
  const graded = new Uint8Array(size);
  const tally = new Array<number>(grades.length).fill(0);
  const { median, low, high, failed } = points;
  for (let i = 0; i < size; ++i) {
    graded[i] = gradeIndex[grade({ median: median[i], low: low[i], high: high[i], failed: failed[i] }, over)];
    ++tally[graded[i]];
  }
  return {
    variant: points.variant, factors: points.factors, grade: graded,
    counts: Object.fromEntries(grades.map((one, place) => [one, tally[place]])) as Record<Grade, number>,
  };
}

/** Factors that have more than one value, those with most first. */
export function factorsOf(of: Index): string[] {
  return [...of.factors].filter(([, factor]) => factor.values.length > 1)
    .sort(([, a], [, b]) => b.values.length - a.values.length).map(([name]) => name);
}

/** Where points stand: columns by one factor, rows by variant and, if it is named, another factor. */
export interface Layout {
  xs: (number | string)[];
  ys: string[];
  at: Int32Array;  // the point in a cell, by row * columns + column; -1: none
}

/** `name` is how a row's factor is read. A cell with several points holds the last. */
export function layout(of: Index, xFactor: string, yFactor: string, name: (value: number | string) => string): Layout {
  const { variant } = of;
  const x = of.factors.get(xFactor);
  const y = of.factors.get(yFactor);
  const size = variant.of.length;
  const xs = x?.values ?? [];
  // The last row of a variant is that of points without the factor.
  const span = (y?.values.length ?? 0) + 1;
  const place = (i: number) => variant.of[i] * span + (y && y.of[i] >= 0 ? y.of[i] : span - 1);
  const rows = new Int32Array(variant.values.length * span).fill(-1);
  for (let i = 0; i < size; ++i) rows[place(i)] = 0;
  const ys: string[] = [];
  for (let row = 0; row < rows.length; ++row) {
    if (rows[row] < 0) continue;
    rows[row] = ys.length;
    const [of_variant, value] = [variant.values[Math.floor(row / span)], row % span];
    ys.push(value === span - 1 ? of_variant : `${of_variant} · ${name(y!.values[value])}`);
  }
  const columns = Math.max(1, xs.length);
  const at = new Int32Array(columns * ys.length).fill(-1);
  for (let i = 0; i < size; ++i) at[rows[place(i)] * columns + (x ? Math.max(0, x.of[i]) : 0)] = i;
  return { xs, ys, at };
}

/** A colour as a pixel of ImageData on a machine whose bytes are in this order: little-endian. */
export function pixel(hex: string): number {
  const rgb = Number.parseInt(hex.slice(1), 16);
  return (0xff000000 | ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}

/**
 * Paints the cells into an image of `width` pixels, from `left` on: filled by their grade's colour,
 * those of `outlined` grades with an edge alone, where there is room.
 */
export function paint(image: Uint32Array, width: number, placed: Layout, graded: Uint8Array, colours: Uint32Array, outlined: boolean[], left: number, stepX: number, stepY: number): void {
  const columns = Math.max(1, placed.xs.length);
  const gap = (step: number) => (step >= 4 ? Math.min(2, Math.round(step / 8) + 1) : 0);
  const [gapX, gapY] = [gap(stepX), gap(stepY)];
  for (let row = 0; row < placed.ys.length; ++row) {
    const y0 = Math.round(row * stepY);
    const y1 = Math.max(y0 + 1, Math.round((row + 1) * stepY) - gapY);
    for (let column = 0; column < columns; ++column) {
      const point = placed.at[row * columns + column];
      if (point < 0) continue;
      const x0 = left + Math.round(column * stepX);
      const x1 = Math.max(x0 + 1, left + Math.round((column + 1) * stepX) - gapX);
      const colour = colours[graded[point]];
      const hollow = outlined[graded[point]] && x1 - x0 > 3 && y1 - y0 > 3;
      for (let y = y0; y < y1; ++y) {
        const from = y * width;
        if (!hollow || y === y0 || y === y1 - 1) image.fill(colour, from + x0, from + x1);
        else image[from + x0] = image[from + x1 - 1] = colour;
      }
    }
  }
}

// The measured values of an experiment as curves over one of its factors: pure.
import type { Curve } from "./curves";
import { sizeOf, type Column, type PointColumns } from "./point_columns";

/** What "by variant" is called among the names of factors. */
export const kVariant = "variant";
/** This many curves can be distinguished by their colours. */
export const kMostCurves = 10;

/** Factors that values may be drawn over: numbers, of which there are several; "bytes" first, then those with most. */
export function axesOf(of: PointColumns): string[] {
  return [...of.factors].filter(([, factor]) => factor.values.length > 1 && factor.values.every((value) => typeof value === "number" && value >= 0))
    .sort(([a, x], [b, y]) => Number(b === "bytes") - Number(a === "bytes") || y.values.length - x.values.length).map(([name]) => name);
}

const columnOf = (of: PointColumns, name: string): Column<number | string> | undefined => (name === kVariant ? of.variant : of.factors.get(name));

/** What else distinguishes points, besides the axis: there is a curve for each value of one of these, and one value of each of the others. */
export function othersOf(of: PointColumns, x: string): string[] {
  const several = [...of.factors].filter(([name, factor]) => name !== x && (factor.values.length > 1 || factor.of.includes(-1)))
    .sort(([, a], [, b]) => b.values.length - a.values.length).map(([name]) => name);
  return of.variant.values.length > 1 || several.length === 0 ? [kVariant, ...several] : several;
}

export interface Chosen { x: string; by: string; fixed: Record<string, string> }

/** What points that lack a factor have of it. */
export const kWithout = "–";

/** The values of a factor that points have which agree with what is fixed so far. */
export function valuesOf(of: PointColumns, name: string): string[] {
  const column = columnOf(of, name)!;
  const values = column.values.map(String);
  return name !== kVariant && column.of.includes(-1) ? [...values, kWithout] : values;
}

function valueAt(column: Column<number | string>, index: number): string {
  const place = column.of[index];
  return place < 0 ? kWithout : String(column.values[place]);
}

/**
 * What is shown unless something else is chosen: curves by variant, and of every other factor the value that
 * the first point with a value has which agrees with the choices before it, so that something is seen.
 */
export function chosenOf(of: PointColumns, query: Record<string, string>): Chosen | null {
  const axes = axesOf(of);
  if (axes.length === 0) return null;
  const x = axes.includes(query.vx) ? query.vx : axes[0];
  const others = othersOf(of, x);
  const by = others.includes(query.by) ? query.by : others[0];
  const fixed: Record<string, string> = {};
  let candidates = Array.from({ length: sizeOf(of) }, (_, index) => index);
  for (const name of others.filter((one) => one !== by)) {
    const column = columnOf(of, name)!;
    const said = query[`at.${name}`];
    fixed[name] = said !== undefined && valuesOf(of, name).includes(said) ? said
      : valueAt(column, candidates.find((index) => of.median[index] !== null) ?? candidates[0] ?? 0);
    candidates = candidates.filter((index) => valueAt(column, index) === fixed[name]);
  }
  return { x, by, fixed };
}

/** Curves with, for each of their values, the place of its point in the columns. */
export interface ValueCurve extends Curve { at: number[] }

export function curvesOf(of: PointColumns, { x, by, fixed }: Chosen, label: (value: string, factor: string) => string = (value) => value): ValueCurve[] {
  const across = of.factors.get(x)!;
  const apart = columnOf(of, by)!;
  const held = Object.entries(fixed).map(([name, value]) => ({ column: columnOf(of, name)!, value }));
  const found = new Map<string, { size: number; index: number }[]>();
  for (let index = 0; index < sizeOf(of); ++index) {
    if (across.of[index] < 0 || of.median[index] === null || held.some(({ column, value }) => valueAt(column, index) !== value)) continue;
    const name = valueAt(apart, index);
    const one = { size: across.values[across.of[index]] as number, index };
    const same = found.get(name);
    if (same) same.push(one);
    else found.set(name, [one]);
  }
  // In the order of the values, not of their coming, so that colours stay while a campaign runs.
  return valuesOf(of, by).flatMap((name, place): ValueCurve[] => {
    const points = found.get(name)?.sort((a, b) => a.size - b.size);
    if (!points) return [];
    const pick = (values: (number | null)[]) => points.map(({ index }) => values[index]);
    return [{
      label: label(name, by), colour: `c${1 + (place % kMostCurves)}`, x: points.map((one) => one.size), at: points.map((one) => one.index),
      y: pick(of.median), low: pick(of.low), high: pick(of.high), joined: true, points: true,
    }];
  });
}

// The points of an experiment as columns, so that hundreds of thousands of them cost little: pure.
import type { ColumnsAnswer, ExperimentSummary, PlacedValues, Point } from "./types";

/** A column of many points: which of a few values each has. */
export interface Column<Value> {
  values: Value[];  // in order
  of: Int32Array;  // of each point, its place in `values`; -1: none
}

export interface PointColumns {
  experiment: string;
  place: number[];
  variant: Column<string>;
  factors: Map<string, Column<number | string>>;
  runs: number[];
  samples: number[];
  failed: number[];
  median: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}

/** What distinguishes the points of several campaigns. */
export const kCampaign = "campaign";

export const sizeOf = (of: PointColumns) => of.median.length;

function ordered(a: number | string, b: number | string): number {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

// The values in the order of their coming become those in their own.
function column<Value extends number | string>({ values, of }: PlacedValues): Column<Value> {
  const sorted = values.map((value, place) => ({ value: value as Value, place })).sort((a, b) => ordered(a.value, b.value));
  const place = new Int32Array(values.length);
  sorted.forEach((one, at) => { place[one.place] = at; });
  return { values: sorted.map((one) => one.value), of: Int32Array.from(of, (at) => (at < 0 ? -1 : place[at])) };
}

export function columnsOf(answer: ColumnsAnswer): PointColumns {
  const { variant, params, ...rest } = answer;
  return { ...rest, variant: column<string>(variant), factors: new Map(Object.entries(params).map(([name, one]) => [name, column(one)])) };
}

class Placing {
  private places = new Map<number | string, number>();
  readonly of: number[];
  constructor(size: number) { this.of = new Array<number>(size).fill(-1); }
  add(index: number, value: number | string): void {
    let place = this.places.get(value);
    if (place === undefined) this.places.set(value, place = this.places.size);
    this.of[index] = place;
  }
  done(): PlacedValues { return { values: [...this.places.keys()], of: this.of }; }
}

/** The same of points one by one, as reports have them: those of an experiment. Their place is that among all. */
export function columnsOfPoints(all: Point[], experiment: string): PointColumns {
  const place = all.flatMap((point, index) => (point.experiment === experiment ? [index] : []));
  const points = place.map((index) => all[index]);
  const variant = new Placing(points.length);
  const params = new Map<string, Placing>();
  points.forEach((point, index) => {
    variant.add(index, point.variant);
    for (const name in point.params) {
      let factor = params.get(name);
      if (!factor) params.set(name, factor = new Placing(points.length));
      factor.add(index, point.params[name]);
    }
  });
  return columnsOf({
    experiment, place, variant: variant.done(), params: Object.fromEntries([...params].map(([name, one]) => [name, one.done()])),
    runs: points.map((one) => one.runs), samples: points.map((one) => one.samples), failed: points.map((one) => one.failed),
    median: points.map((one) => one.median), low: points.map((one) => one.low), high: points.map((one) => one.high),
  });
}

/** One experiment of several campaigns, whose names are one more factor. Their places are left out. */
export function joined(all: [campaign: string, of: PointColumns][]): PointColumns {
  const points = all.flatMap(([campaign, of]) => Array.from({ length: sizeOf(of) }, (_, index) => {
    const point = pointOf(of, index);
    return { ...point, params: { ...point.params, [kCampaign]: campaign } };
  }));
  return columnsOfPoints(points, all[0][1].experiment);
}

export function summaryOfPoints(all: Point[]): ExperimentSummary[] {
  const counted = new Map<string, ExperimentSummary>();
  for (const { experiment, median, failed } of all) {
    const one = counted.get(experiment) ?? { experiment, points: 0, measured: 0, failed: 0 };
    counted.set(experiment, one);
    ++one.points;
    if (median !== null) ++one.measured;
    else if (failed > 0) ++one.failed;
  }
  return [...counted.values()].sort((a, b) => a.experiment.localeCompare(b.experiment));
}

/** One of them. */
export function pointOf(of: PointColumns, index: number): Point {
  const params: Point["params"] = {};
  for (const [name, factor] of of.factors) if (factor.of[index] >= 0) params[name] = factor.values[factor.of[index]];
  return {
    experiment: of.experiment, variant: of.variant.values[of.variant.of[index]], params, runs: of.runs[index], samples: of.samples[index],
    failed: of.failed[index], median: of.median[index], low: of.low[index], high: of.high[index],
  };
}

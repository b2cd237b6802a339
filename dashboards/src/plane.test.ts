import assert from "node:assert/strict";
import { test } from "node:test";
import { factorsOf, grade, layout, tally, valuesOf, width } from "./plane";
import type { Point } from "./types";

const point = (bytes: number, median: number | null, low: number | null = null, high: number | null = null, failed = 0): Point => ({ experiment: "micro.latency", variant: "get", params: { bytes, mode: "x" }, runs: 2, samples: 4, failed, median, low, high });

test("points are graded by their interval", () => {
  assert.equal(width(point(8, 10, 9, 11)), 0.1);
  assert.equal(grade(point(8, 10, 9.8, 10.2)), "tight");
  assert.equal(grade(point(8, 10, 9, 11)), "fair");
  assert.equal(grade(point(8, 10, 5, 15)), "wide");
  assert.equal(grade(point(8, 10)), "none");
  assert.equal(grade(point(8, null, null, null, 2)), "failed");
  assert.equal(grade(point(8, 0, 0, 1)), "none");
});

test("factors with one value span no plane; sizes are in order of number", () => {
  const points = [point(1024, 1), point(8, 1), point(64, 1)];
  assert.deepEqual(factorsOf(points), ["bytes"]);
  assert.deepEqual(valuesOf(points, "bytes"), [8, 64, 1024]);
});

test("every point of many is counted once, quickly", () => {
  const many = Array.from({ length: 100_000 }, (_, i) => point(i, 10, 9.9, 10.1));
  assert.deepEqual(tally(many), { tight: 100_000, fair: 0, wide: 0, none: 0, failed: 0 });
});

test("points stand by two factors and their variant, rows without points are left out", () => {
  const points = [
    { ...point(8, 1), params: { bytes: 8, window: 1 } }, { ...point(64, 1), params: { bytes: 64, window: 16 } },
    { ...point(8, 1), variant: "put", params: { bytes: 8, window: 2 } }, { ...point(8, 1), variant: "am", params: { bytes: 8 } },
  ] as Point[];
  const placed = layout(points, "bytes", "window", String);
  assert.deepEqual(placed.xs, [8, 64]);
  assert.deepEqual(placed.ys, ["am", "get · 1", "get · 16", "put · 2"]);
  assert.deepEqual([...placed.row], [1, 2, 3, 0]);
  assert.deepEqual([...placed.at], [3, -1, 0, -1, -1, 1, 2, -1]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { factorsOf, grade, grades, index as indexOf, layout, paint, pixel, width } from "./plane";
import { columnsOfPoints } from "./point_columns";
import type { Point } from "./types";

const point = (bytes: number, median: number | null, low: number | null = null, high: number | null = null, failed = 0): Point => ({ experiment: "micro.latency", variant: "get", params: { bytes, mode: "x" }, runs: 2, samples: 4, failed, median, low, high });

const index = (points: Point[], over = false) => indexOf(columnsOfPoints(points, "micro.latency"), over);

test("points are graded by their interval", () => {
  assert.equal(width(point(8, 10, 9, 11)), 0.1);
  assert.equal(grade(point(8, 10, 9.8, 10.2), false), "tight");
  assert.equal(grade(point(8, 10, 9, 11), false), "fair");
  assert.equal(grade(point(8, 10, 5, 15), false), "wide");
  assert.equal(grade(point(8, 10), false), "once");
  assert.equal(grade(point(8, null, null, null, 2), false), "failed");
  assert.equal(grade(point(8, null), false), "waiting");
  assert.equal(grade(point(8, null), true), "left", "a plan may leave points out: that is no lack of runs");
  assert.equal(grade(point(8, 0, 0, 1), false), "once");
});

test("factors with one value span no plane; sizes are in order of number", () => {
  const of = index([point(1024, 1), point(8, 1), point(64, 1)]);
  assert.deepEqual(factorsOf(of), ["bytes"]);
  assert.deepEqual(of.factors.get("bytes")!.values, [8, 64, 1024]);
  assert.deepEqual([...of.factors.get("bytes")!.of], [2, 0, 1]);
});

test("every point of many is counted once", () => {
  const many = Array.from({ length: 100_000 }, (_, i) => point(i, 10, 9.9, 10.1));
  assert.deepEqual(index(many).counts, { tight: 100_000, fair: 0, wide: 0, once: 0, waiting: 0, left: 0, failed: 0 });
});

test("points stand by two factors and their variant, rows without points are left out", () => {
  const points = [
    { ...point(8, 1), params: { bytes: 8, window: 1 } }, { ...point(64, 1), params: { bytes: 64, window: 16 } },
    { ...point(8, 1), variant: "put", params: { bytes: 8, window: 2 } }, { ...point(8, 1), variant: "am", params: { bytes: 8 } },
  ] as Point[];
  const placed = layout(index(points), "bytes", "window", String);
  assert.deepEqual(placed.xs, [8, 64]);
  assert.deepEqual(placed.ys, ["am", "get · 1", "get · 16", "put · 2"]);
  assert.deepEqual([...placed.at], [3, -1, 0, -1, -1, 1, 2, -1]);
  assert.deepEqual(layout(index(points), "bytes", "", String).ys, ["am", "get", "put"]);
  assert.deepEqual(layout(index([]), "bytes", "", String), { xs: [], ys: [], at: new Int32Array(0) });
});

test("cells are painted where their point is graded, also where they are smaller than a pixel", () => {
  assert.equal(pixel("#010203"), 0xff030201);
  const placed = layout(index([point(8, 10, 9.9, 10.1), point(64, 10)]), "bytes", "", String);
  const colours = Uint32Array.from(grades, (_, place) => place + 1);
  const outlined = grades.map((one) => one === "once");
  const image = new Uint32Array(22 * 10);
  paint(image, 22, placed, index([point(8, 10, 9.9, 10.1), point(64, 10)]).grade, colours, outlined, 2, 10, 10);
  const at = (x: number, y: number) => image[y * 22 + x];
  assert.deepEqual([at(1, 3), at(2, 3), at(5, 3), at(10, 3)], [0, 1, 1, 0], "filled, with a gap behind");
  assert.deepEqual([at(12, 3), at(15, 3), at(15, 0)], [4, 0, 4], "an edge alone");
  const small = new Uint32Array(2);
  paint(small, 2, placed, Uint8Array.of(0, 3), colours, outlined, 0, 0.4, 0.4);
  assert.equal(small[0], 4, "the last one is on top");
});

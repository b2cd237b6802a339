import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsOfPoints } from "./point_columns";
import type { Point } from "./types";
import { axesOf, chosenOf, curvesOf, kWithout, othersOf, valuesOf } from "./values";

const point = (variant: string, params: Point["params"], median: number | null = 1e-6): Point => ({ experiment: "e", variant, params, runs: 2, samples: 4, failed: 0, median, low: median, high: median });
const of = (points: Point[]) => columnsOfPoints(points, "e");

test("values are drawn over sizes, a curve for each variant, measured ones alone", () => {
  const points = of([point("put", { bytes: 64 }, 2), point("put", { bytes: 8 }, 1), point("get", { bytes: 8 }, 3), point("get", { bytes: 64 }, null)]);
  const chosen = chosenOf(points, {})!;
  assert.deepEqual(chosen, { x: "bytes", by: "variant", fixed: {} });
  assert.deepEqual(curvesOf(points, chosen).map(({ label, x, y, at }) => ({ label, x, y, at })), [
    { label: "get", x: [8], y: [3], at: [2] }, { label: "put", x: [8, 64], y: [1, 2], at: [1, 0] }]);
});

test("of other factors one value is held: that of the first point with a value, or the one chosen", () => {
  const points = of([1, 16].flatMap((window) => ["put", "get"].flatMap((variant) => [8, 64].map((bytes) => point(variant, { bytes, window }, window === 1 ? null : 1)))));
  assert.deepEqual(axesOf(points), ["bytes", "window"]);
  assert.deepEqual(othersOf(points, "bytes"), ["variant", "window"]);
  assert.deepEqual(chosenOf(points, {})!.fixed, { window: "16" }, "so that something is seen");
  assert.deepEqual(chosenOf(points, { "at.window": "1" })!.fixed, { window: "1" });
  assert.deepEqual(chosenOf(points, { "at.window": "7" })!.fixed, { window: "16" }, "a link to what is not there");
  const by = chosenOf(points, { by: "window", vx: "bytes" })!;
  assert.deepEqual([by.by, by.fixed], ["window", { variant: "put" }]);
  assert.deepEqual(curvesOf(points, by, (value, factor) => `${factor} ${value}`).map((one) => one.label), ["window 16"]);
  assert.equal(curvesOf(points, by)[0].colour, "c2", "a value keeps its colour while others are not measured yet");
});

test("points that lack a factor are distinguished from those that have it", () => {
  const points = of([point("put", { bytes: 8 }), point("put", { bytes: 8, mode: "x" }), point("put", { bytes: 64, mode: "x" })]);
  assert.deepEqual(valuesOf(points, "mode"), ["x", kWithout]);
  const chosen = chosenOf(points, {})!;
  assert.deepEqual([chosen.by, chosen.fixed], ["mode", {}], "there is one variant, so curves are by what differs");
  assert.deepEqual(curvesOf(points, chosen).map((one) => [one.label, one.x]), [["x", [8, 64]], [kWithout, [8]]]);
});

test("what has no number to be drawn over has no curves", () => {
  assert.equal(chosenOf(of([point("a", { kind: "x" }), point("a", { kind: "y" })]), {}), null);
});

test("a quarter of a million points are placed in less than a blink", () => {
  const points = of(Array.from({ length: 250_000 }, (_, i) => point(["put", "get"][i % 2], { bytes: 8 * (1 + (i >> 1) % 250), window: 1 + Math.floor(i / 500) })));
  const curves = curvesOf(points, chosenOf(points, {})!);
  assert.deepEqual(curves.map((one) => one.x.length), [250, 250]);
});

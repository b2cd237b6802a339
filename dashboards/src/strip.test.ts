import assert from "node:assert/strict";
import { test } from "node:test";
import { axisOf, spread } from "./strip";

test("samples stand between the smallest and the largest", () => {
  const axis = axisOf([2, 4, 3]);
  assert.deepEqual([2, 3, 4].map(axis.place), [0, 0.5, 1]);
  assert.ok(axis.ticks.length > 1);
  assert.deepEqual([axisOf([5, 5]).place(5), axisOf([]).ticks.length], [0.5, 0]);
});

test("an outlier does not press the others into one place", () => {
  const axis = axisOf([1e-6, 2e-6, 1e-3]);
  assert.ok(axis.place(2e-6) > 0.09);
  assert.deepEqual(axis.ticks.map((tick) => Number(tick.toPrecision(3))), [1e-6, 1e-5, 1e-4, 1e-3]);
});

test("of very many samples some are drawn, the ends among them", () => {
  const some = spread(Array.from({ length: 10_000 }, (_, i) => (i * 7919) % 10_000), 100);
  assert.deepEqual([some.length, some[0], some[99]], [100, 0, 9999]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { clipped } from "./robust";

test("an outlier does not flatten the others, and is counted", () => {
  const of = clipped([0.01, -0.02, 0.015, -0.01, 0.02, 260]);
  assert.equal(of.outside, 1);
  assert.equal(of.high, 0.02);
  assert.equal(of.low, -0.02);
});

test("what is wide without an outlier is shown whole", () => {
  assert.deepEqual(clipped([0.5, -0.4, 0.9]), { low: -0.4, high: 0.9, outside: 0 });
  assert.deepEqual(clipped([]), { low: 0, high: 0, outside: 0 });
  assert.deepEqual(clipped([0, 0, 0.3]), { low: 0, high: 0.3, outside: 0 });
});

test("one whisker has some room, not all of it", () => {
  const of = clipped([0.01, -0.01], [0.012, 300, null]);
  assert.equal(of.high, 0.02);
  assert.equal(of.outside, 0);
});

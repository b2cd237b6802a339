import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf, type Explanation } from "./explanation";

const loop: Explanation = {
  why: "", plan: { text: "B", reason: "tuned", predicted_s: 2, baseline_s: 4, gain_low: 0.4 },
  alternatives: [{ text: "one piece", predicted_s: 4, low_s: 3, high_s: 5 }, { text: "A", predicted_s: 3 }, { text: "B", predicted_s: 2, low_s: 2.2, high_s: 1.9 }],
  pruned: [{ text: "C", bound_s: 9 }, { text: "C", bound_s: 2.5 }],
};

test("what was considered and what was not are in one order, what reads alike once", () => {
  assert.deepEqual(rowsOf(loop).map((row) => `${row.text} ${row.at_s} ${row.kind}`), ["B 2 taken", "C 2.5 bound", "A 3 other", "one piece 4 baseline"]);
});

test("an interval has its ends in order, whichever parameter made it", () => {
  const [taken] = rowsOf(loop);
  assert.deepEqual([taken.low_s, taken.high_s], [1.9, 2.2]);
});

test("without a baseline none of the alternatives is one; without a model there are none", () => {
  const { baseline_s: _, ...plan } = loop.plan;
  assert.ok(rowsOf({ ...loop, plan }).every((row) => row.kind !== "baseline"));
  assert.deepEqual(rowsOf({ why: "", plan }), []);
});

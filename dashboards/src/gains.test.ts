import assert from "node:assert/strict";
import { test } from "node:test";
import { gainsOf } from "./gains";
import type { ModelFile } from "./model_file";
import type { Decision } from "./types";

const decision = (reason: string, predicted_s: number, baseline_s = 1): Decision => ({ values: [], plan: {}, reason, predicted_s, baseline_s, gain_low: 0, next_s: null });

test("only loops that are tuned count, and all that were asked are said", () => {
  const gains = gainsOf({} as ModelFile, { options: [], decisions: [decision("tuned", 0.5), decision("tuned", 0.8), decision("tuned", 0.7), decision("below_margin", 0.99)] });
  assert.deepEqual(gains.loops, { asked: 4, tuned: 3, median: 1 - 0.7, most: 0.5 });
  assert.deepEqual(gainsOf({} as ModelFile, { options: [], decisions: [decision("no_model", 0)] }).loops, { asked: 1, tuned: 0, median: 0, most: 0 });
});

test("measured gains come largest first, of an operation the largest", () => {
  const file = { collective: { rules: [{ operation: "scan", gain: { value: 0.1 } }, { operation: "scan", gain: { value: 0.3 } }, { operation: "reduce" }] }, rma: { put_combining: { gain: { value: 0.25 } } } } as unknown as ModelFile;
  assert.deepEqual(gainsOf(file, null), { loops: null, measured: [{ what: "scan, at best", gain: 0.3 }, { what: "small puts that travel together", gain: 0.25 }] });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { gainsOf, silence } from "./gains";
import type { ModelFile } from "./model_file";
import type { Decision, ModelVersion } from "./types";

const decision = (reason: string, predicted_s: number, baseline_s = 1): Decision => ({ values: [], plan: {}, reason, predicted_s, baseline_s, gain_low: (1 - predicted_s) / 2, next_s: null });

test("only loops that are tuned count, by what is sure, and all that were asked are said", () => {
  const gains = gainsOf({} as ModelFile, { options: [], decisions: [decision("tuned", 0.5), decision("tuned", 0.8), decision("tuned", 0.7), decision("below_margin", 0.99)] });
  assert.deepEqual(gains.loops, { asked: 4, tuned: 3, median: (1 - 0.7) / 2, most: 0.25 });
  assert.deepEqual(gainsOf({} as ModelFile, { options: [], decisions: [decision("no_model", 0)] }).loops, { asked: 1, tuned: 0, median: 0, most: 0 });
});

test("measured gains come largest first, of an operation the largest", () => {
  const file = { collective: { rules: [{ operation: "scan", gain: { value: 0.1 } }, { operation: "scan", gain: { value: 0.3 } }, { operation: "reduce" }] }, rma: { put_combining: { gain: { value: 0.25 } } } } as unknown as ModelFile;
  assert.deepEqual(gainsOf(file, null), { loops: null, measured: [{ what: "scan, at best", gain: 0.3 }, { what: "small puts that are combined", gain: 0.25 }] });
});

test("nothing is claimed of a version that failed, lost, is stale or was not judged", () => {
  const version = (more: Partial<ModelVersion>) => ({ withdrawn: "", failed: "", lost: "", stale: "", unjudged: "", ...more } as ModelVersion);
  assert.equal(silence(version({})), null);
  assert.match(silence(version({ failed: "the mean error is 567 %" }))!, /Validation failed: the mean error is 567 %/);
  assert.match(silence(version({ lost: "2 places", stale: "runs" }))!, /lost time/);
  assert.match(silence(version({ stale: "twice off" }))!, /Stale/);
  assert.match(silence(version({ unjudged: "0 decisions" }))!, /Not judged/);
  assert.match(silence(version({ state: "FITTED" }))!, /Not validated/);
  assert.equal(silence(version({ state: "VALIDATED" })), null);
});

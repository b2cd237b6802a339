import assert from "node:assert/strict";
import { test } from "node:test";
import { claimedGain, gainsOf, silence } from "./gains";
import type { ModelFile } from "./model_file";
import type { Decision, ModelVersion } from "./types";

const decision = (reason: string, predicted_s: number, baseline_s = 1): Decision => ({ values: [], plan: {}, reason, predicted_s, baseline_s, gain_low: (1 - predicted_s) / 2, next_s: null });

test("only loops that are tuned count, by what is sure, and all that were asked are said", () => {
  const gains = gainsOf({} as ModelFile, { options: [], decisions: [decision("tuned", 0.5), decision("tuned", 0.8), decision("tuned", 0.7), decision("below_margin", 0.99)] });
  assert.deepEqual(gains.loops, { asked: 4, tuned: 3, median: (1 - 0.7) / 2, most: 0.25 });
  assert.deepEqual(gainsOf({} as ModelFile, { options: [], decisions: [decision("no_model", 0)] }).loops, { asked: 1, tuned: 0, median: 0, most: 0 });
});

test("measured gains are the lower ends of their intervals, of an operation over all its rules, the largest first", () => {
  const gain = (low: number) => ({ value: low + 0.2, ci: [low, low + 0.4] });
  const file = {
    collective: { rules: [{ operation: "all_reduce", gain: gain(0.1) }, { operation: "all_reduce", gain: gain(0.3) }, { operation: "all_reduce", gain: gain(-0.1) }, { operation: "all_reduce" }, { operation: "reduce" }] },
    rma: { put_combining: { gain: gain(0.25) }, atomic: { gain: gain(0) } },
  } as unknown as ModelFile;
  assert.deepEqual(gainsOf(file, null), { loops: null, measured: [
    { what: "all reduce", asked: 4, tuned: 2, median: 0.3, most: 0.3 },
    { what: "small puts that are combined", asked: 1, tuned: 1, median: 0.25, most: 0.25 },
  ] });
});

test("of a decision the sure gain is claimed, of a version that is silent none", () => {
  assert.equal(claimedGain(decision("tuned", 0.5), null), 0.25);
  assert.equal(claimedGain(decision("tuned", 0.5), "Stale: twice off."), 0);
  assert.equal(claimedGain(decision("below_margin", 1.1), null), 0);
  assert.equal(claimedGain(decision("tuned", 0.5, 0), null), 0, "there is no baseline");
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

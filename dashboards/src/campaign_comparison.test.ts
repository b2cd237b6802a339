import assert from "node:assert/strict";
import { test } from "node:test";
import { changesBySize, experimentsBySize, pointName, pointsChosen, tally, type ComparedPoint } from "./campaign_comparison";

const point = (variant: string, params: Record<string, string>, verdict: string, ratio?: number): ComparedPoint =>
  ({ experiment: "micro.latency", variant, params, verdict, why: "", baseline_runs: 6, candidate_runs: 6, ratio, low: ratio && ratio * 0.9, high: ratio && ratio * 1.1, p_value: 0.5 });
const all = [
  point("get", { bytes: "4096" }, "SLOWER", 1.2), point("get", { bytes: "8" }, "EQUIVALENT", 1), point("put", { bytes: "8" }, "FASTER", 0.5),
  point("put", { window: "2" }, "INCOMPARABLE"), { ...point("ring", { bytes: "8" }, "INCOMPARABLE"), experiment: "micro.collective" },
];

test("a point is named by all that makes it another", () => {
  assert.equal(pointName(point("get", { window: "8", bytes: "4096" }, "SLOWER")), "micro.latency get, bytes 4 KiB, window 8");
});

test("what differs comes first, half and twice alike, unless another verdict is chosen", () => {
  assert.deepEqual(pointsChosen(all, "", "").map((one) => one.ratio), [0.5, 1.2]);
  assert.deepEqual(pointsChosen(all, "micro.collective", "INCOMPARABLE").map((one) => one.variant), ["ring"]);
  assert.deepEqual(pointsChosen(all, "micro.collective", ""), []);
  assert.deepEqual(tally(all), { SLOWER: 1, EQUIVALENT: 1, FASTER: 1, INCOMPARABLE: 2 });
});

test("changes by size are in the order of the sizes, without what has none", () => {
  assert.deepEqual(experimentsBySize(all), ["micro.latency"]);
  const [get, put, ...rest] = changesBySize(all, "micro.latency");
  assert.deepEqual([get.label, get.x], ["get", [8, 4096]]);
  assert.ok(Math.abs(get.y[1]! - 0.2) < 1e-12 && Math.abs(get.low![1]! - 0.08) < 1e-12);
  assert.deepEqual([put.label, put.x, rest.length], ["put", [8], 0]);
});

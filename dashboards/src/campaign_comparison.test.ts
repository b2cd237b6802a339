import assert from "node:assert/strict";
import { test } from "node:test";
import { changesBySize, experimentsBySize, pointName, pointsChosen, tally, type CampaignComparison } from "./campaign_comparison";
import type { PlacedValues } from "./types";

interface One { experiment: string; variant: string; params: Record<string, string>; verdict: string; ratio?: number }

function placed(all: (string | undefined)[]): PlacedValues {
  const values = [...new Set(all.filter((one) => one !== undefined))];
  return { values, of: all.map((one) => (one === undefined ? -1 : values.indexOf(one))) };
}

// As the server answers.
function columns(all: One[]): CampaignComparison {
  const names = [...new Set(all.flatMap((one) => Object.keys(one.params)))];
  const ratio = all.map((one) => one.ratio ?? null);
  const times = (by: number) => ratio.map((one) => one && one * by);
  return {
    experiment: placed(all.map((one) => one.experiment)), variant: placed(all.map((one) => one.variant)),
    params: Object.fromEntries(names.map((name) => [name, placed(all.map((one) => one.params[name]))])),
    verdict: placed(all.map((one) => one.verdict)), why: placed(all.map(() => "")),
    baseline_runs: all.map(() => 6), candidate_runs: all.map(() => 6), baseline_median: times(1e-6), candidate_median: times(1e-6),
    ratio, low: times(0.9), high: times(1.1), p_value: all.map(() => 0.5), detectable: times(0.1), differences: [],
  };
}

const point = (variant: string, params: Record<string, string>, verdict: string, ratio?: number): One => ({ experiment: "micro.latency", variant, params, verdict, ratio });
const all = columns([
  point("get", { bytes: "4096" }, "SLOWER", 1.2), point("get", { bytes: "8" }, "EQUIVALENT", 1), point("put", { bytes: "8" }, "FASTER", 0.5),
  point("put", { window: "2" }, "INCOMPARABLE"), { ...point("ring", { bytes: "8" }, "INCOMPARABLE"), experiment: "micro.collective" },
]);

test("a point is named by all that makes it another", () => {
  assert.equal(pointName(columns([point("get", { window: "8", bytes: "4096" }, "SLOWER")]), 0), "micro.latency get, bytes 4 KiB, window 8");
  assert.equal(pointName(all, 3), "micro.latency put, window 2");
});

test("what differs comes first, half and twice alike, unless another verdict is chosen", () => {
  assert.deepEqual(pointsChosen(all, "", "").map((one) => all.ratio[one]), [0.5, 1.2]);
  assert.deepEqual(pointsChosen(all, "micro.collective", "INCOMPARABLE"), [4]);
  assert.deepEqual(pointsChosen(all, "micro.collective", ""), []);
  assert.deepEqual(pointsChosen(all, "micro.absent", "INCOMPARABLE"), []);
  assert.deepEqual(tally(all), { SLOWER: 1, EQUIVALENT: 1, FASTER: 1, INCOMPARABLE: 2 });
});

test("changes by size are in the order of the sizes, without what has none", () => {
  assert.deepEqual(experimentsBySize(all), ["micro.latency"]);
  assert.deepEqual(experimentsBySize(columns([point("put", { window: "2" }, "SLOWER", 2)])), []);
  const [get, put, ...rest] = changesBySize(all, "micro.latency");
  assert.deepEqual([get.label, get.x], ["get", [8, 4096]]);
  assert.ok(Math.abs(get.y[1]! - 0.2) < 1e-12 && Math.abs(get.low![1]! - 0.08) < 1e-12);
  assert.deepEqual([put.label, put.x, rest.length], ["put", [8], 0]);
  assert.deepEqual(changesBySize(all, "micro.absent"), []);
});

test("a curve is of one variant with one value of each other parameter", () => {
  const of = columns([
    point("get", { bytes: "16", window: "1" }, "SLOWER", 2), point("get", { bytes: "8", window: "1" }, "SLOWER", 3), point("get", { bytes: "8", window: "2" }, "SLOWER", 4),
    point("get", { bytes: "8" }, "SLOWER", 5), point("put", { bytes: "8", window: "2" }, "SLOWER", 6), point("get", { bytes: "8", mode: "a" }, "SLOWER", 7),
  ]);
  assert.deepEqual(changesBySize(of, "micro.latency").map((one) => [one.label, one.x, one.y]), [
    ["get", [8], [4]], ["get, mode a", [8], [6]], ["get, window 1", [8, 16], [2, 1]], ["get, window 2", [8], [3]], ["put, window 2", [8], [5]],
  ]);
});

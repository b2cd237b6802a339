import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsOf, columnsOfPoints, joined, kCampaign, pointOf, sizeOf, summaryOfPoints } from "./point_columns";
import type { Point } from "./types";

const point = (experiment: string, variant: string, params: Point["params"], median: number | null = 1): Point => ({ experiment, variant, params, runs: median === null ? 0 : 2, samples: 4, failed: 0, median, low: median, high: median });
const all = [point("b", "put", { bytes: 1024, mode: "x" }), point("a", "get", { bytes: 8 }), point("b", "get", { bytes: 8 }, null), point("b", "put", { bytes: 64, mode: "y" })];

test("what a server sends as columns and what a report has point by point are the same", () => {
  const sent = columnsOf({
    experiment: "b", place: [0, 2, 3], variant: { values: ["put", "get"], of: [0, 1, 0] },
    params: { bytes: { values: [1024, 8, 64], of: [0, 1, 2] }, mode: { values: ["x", "y"], of: [0, -1, 1] } },
    runs: [2, 0, 2], samples: [4, 4, 4], failed: [0, 0, 0], median: [1, null, 1], low: [1, null, 1], high: [1, null, 1],
  });
  assert.deepEqual(columnsOfPoints(all, "b"), sent);
  assert.equal(sizeOf(sent), 3);
  assert.deepEqual(sent.factors.get("bytes")!.values, [8, 64, 1024]);
  assert.deepEqual([0, 1, 2].map((index) => pointOf(sent, index)), [all[0], all[2], all[3]]);
});

test("several campaigns become one table, with their names as a factor", () => {
  const of = joined([["c1", columnsOfPoints(all, "b")], ["c2", columnsOfPoints(all.slice(0, 1), "b")]]);
  assert.equal(sizeOf(of), 4);
  assert.deepEqual(of.factors.get(kCampaign)!.values, ["c1", "c2"]);
  assert.deepEqual(pointOf(of, 3).params, { bytes: 1024, mode: "x", campaign: "c2" });
});

test("experiments are summed up", () => {
  assert.deepEqual(summaryOfPoints([...all, { ...point("a", "get", {}, null), failed: 2 }]), [
    { experiment: "a", points: 2, measured: 1, failed: 1 }, { experiment: "b", points: 3, measured: 2, failed: 0 }]);
});

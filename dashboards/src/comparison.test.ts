import assert from "node:assert/strict";
import { test } from "node:test";
import { chosen, differing, placeOf, scaleOf, type ComparedDecision, type ComparedParameter } from "./comparison";

const parameter = (name: string, verdict: string, change: number | null): ComparedParameter => ({ name, unit: "s", a: null, b: null, verdict, change });

test("what differs is shown, the largest change first, unless another verdict is chosen", () => {
  const all = [parameter("a", "FASTER", -0.1), parameter("b", "EQUIVALENT", 0), parameter("c", "SLOWER", 0.5), parameter("d", "INCOMPARABLE", null)];
  assert.deepEqual(chosen(all, "").map((one) => one.name), ["c", "a"]);
  assert.deepEqual(chosen(all, "INCOMPARABLE").map((one) => one.name), ["d"]);
});

test("twice and half stand as far from no change", () => {
  assert.equal(placeOf(0), 0);
  assert.equal(placeOf(1), -placeOf(-0.5));
  assert.equal(placeOf(99), 1);
  assert.equal(placeOf(-2), -1);
  assert.ok(Math.abs(placeOf(0.25, 1.25) - 1) < 1e-12);
});

test("small changes have a finer scale, which holds all of them", () => {
  assert.equal(scaleOf([0.05, -0.1]).most, 1.25);
  assert.equal(scaleOf([0.05, -0.3]).most, 2);
  assert.equal(scaleOf([20, -0.3]).most, 8);
  for (const change of [0.01, 0.9, 7]) {
    const { most, ticks } = scaleOf([change]);
    assert.ok(ticks.every((tick) => Math.abs(Math.log(1 + tick)) <= Math.log(most) + 1e-12));
  }
});

test("decisions that differ stand at their place on the map of their choice", () => {
  const table = { command: "loop", x: { option: "bytes", values: ["4", "8"] }, y: { option: "compute", values: ["1s", "2s"] }, choices: [{ option: "direction", values: ["get", "put"] }] };
  const one = (bytes: string, direction: string): ComparedDecision => ({ command: "loop", asked: { bytes, compute: "2s", direction }, a: "x", b: "y", a_predicted_s: 1, b_predicted_s: 2, disagreement: "change" });
  const cells = differing([one("8", "get"), one("4", "put"), { ...one("8", "get"), command: "call" }], table, { direction: "get" });
  assert.deepEqual([...cells.keys()], ["1/1"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { breakPoints, parameters, relativeWidth, segmentAt, sizes, time, type OperationModel } from "./model_file";

const p = (value: number, low: number, high: number, unit = "s") => ({ value, ci: [low, high] as [number, number], unit, runs: 12, samples: 100, method: "t" });
const get: OperationModel = {
  segments: [
    { from_bytes: 8, to_bytes: 1024, o_base_s: p(1e-6, 0.9e-6, 1.1e-6), L_s: p(5e-6, 4e-6, 6e-6), G_s_per_byte: p(1e-9, 1e-9, 1e-9, "s/B"), g_s: p(2e-6, 2e-6, 2e-6) },
    { from_bytes: 1024, to_bytes: 1 << 20, L_s: p(9e-6, 9e-6, 9e-6), r_per_byte_s: p(1e-9, -1e-9, 2e-9, "s/B") },
  ],
};

test("one operation takes o + 2 L + G S + r, a message one L", () => {
  assert.ok(Math.abs(time(get, "get", "blocking", 100) - 11.1e-6) < 1e-12);
  assert.ok(Math.abs(time(get, "am", "blocking", 100) - 6.1e-6) < 1e-12);
});

test("a stream is as slow as its processor or its network", () => {
  assert.ok(Math.abs(time(get, "get", "stream", 100) - 2.1e-6) < 1e-12);
});

test("the band has all parameters at one end, none below zero", () => {
  assert.ok(Math.abs(time(get, "get", "blocking", 100, "low") - 9e-6) < 1e-12);
  assert.ok(Math.abs(time(get, "get", "blocking", 2000, "low") - 18e-6) < 1e-12);
});

test("segments serve what lies beyond them", () => {
  assert.equal(segmentAt(get, 1).from_bytes, 8);
  assert.equal(segmentAt(get, 1024).from_bytes, 1024);
  assert.equal(segmentAt(get, 1 << 30).from_bytes, 1024);
  assert.deepEqual(breakPoints(get), [1024]);
});

test("curves have a point on either side of a break", () => {
  const all = sizes(8, 4096, [1024]);
  assert.ok(all.includes(1023) && all.includes(1024));
  assert.deepEqual([all[0], all[all.length - 1]], [8, 4096]);
  assert.deepEqual(all, [...all].sort((a, b) => a - b));
});

test("parameters are named by where they are", () => {
  const found = parameters({ network: { "inter-node": { get } }, name: "x" });
  assert.ok(found.some((one) => one.name === "network.inter-node.get.segments[1024].L_s"));
  assert.equal(found.length, 6);
});

test("relative widths", () => {
  assert.equal(relativeWidth(p(2, 1, 3)), 0.5);
  assert.equal(relativeWidth(p(0, 0, 0)), 0);
  assert.equal(relativeWidth(p(0, 0, 1)), Infinity);
});

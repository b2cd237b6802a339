import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, bytes, count, doneShare, duration, fabricText, half, percent, quantity, seconds, short } from "./units";

test("seconds choose their unit, also just below the next", () => {
  assert.equal(seconds(1.2345e-6), "1.23 µs");
  assert.equal(seconds(9.999e-4), "1 ms");
  assert.equal(seconds(4.56e-8), "45.6 ns");
  assert.equal(seconds(2), "2 s");
  assert.equal(seconds(0), "0 s");
  assert.equal(seconds(-3e-6), "\u22123 µs");
  assert.equal(seconds(NaN), "–");
});

test("bytes are powers of 1024", () => {
  assert.equal(bytes(8), "8 B");
  assert.equal(bytes(4096), "4 KiB");
  assert.equal(bytes(1.5 * 1024 * 1024), "1.5 MiB");
});

test("parameters show their unit", () => {
  assert.equal(quantity(1.26e-9, "s/B"), "1.26 ns/B");
  assert.equal(quantity(4.29e-11, "s/B"), "42.9 ps/B");
  assert.equal(quantity(0, "s/B"), "0 s/B");
  assert.equal(quantity(64, "1"), "64");
});

test("shares, times and counts", () => {
  assert.equal(percent(0.1234), "12.3 %");
  assert.equal(half(0.043), "± 4.3 %");
  assert.equal(half(1), "± 100 %");
  assert.equal(half(51), "wider than ± 100 %");
  assert.equal(duration(59.6), "1:00 min");
  assert.equal(duration(3725), "1:02 h");
  assert.equal(ago("2026-01-01T00:00:00Z", Date.parse("2026-01-01T00:00:42Z")), "42 s ago");
  assert.equal(ago("", 0), "never");
  assert.equal(count(1, "node"), "1 node");
  assert.equal(count(1200, "node"), "1,200 nodes");
  assert.equal(short("models/tcp/versions/3"), "3");
});

test("of a network in a file the file is named", () => {
  assert.equal(fabricText("emulated:/home/eve/networks/switch.json"), "emulated:…/switch.json");
  assert.deepEqual(["tcp", "emulated:modern-rdma", "verbs;ofi_rxm"].map(fabricText), ["tcp", "emulated:modern-rdma", "verbs;ofi_rxm"]);
});

test("runs of few points count as much as others", () => {
  assert.equal(doneShare({ points_done: 262, points_total: 5051, runs_done: 4, runs_total: 8 }), 0.5);
  assert.equal(doneShare({ points_done: 14, points_total: 20, runs_done: 1, runs_total: 2 }), 0.7);
  assert.equal(doneShare({ points_done: 0, points_total: 0, runs_done: 0, runs_total: 0 }), 0);
});

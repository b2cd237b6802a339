import assert from "node:assert/strict";
import { test } from "node:test";
import { holdsSettings, planeOf, ratioOf, readByTarget, rejectedOf, rulesOf, type ExportCell, type ExportRecord } from "./settings";

const cell = (bytes: number, chosen: string, more: Partial<ExportCell> = {}): ExportCell => ({ collective: "bcast", ranks: 4, bytes, chosen, outcome: "", ...more });
const record = (more: Partial<ExportRecord>) => ({ ranks: [4], cells: [], checks: [], rejected: [], ...more } as unknown as ExportRecord);

test("a ratio is the validation's where there is one", () => {
  const searched = cell(8, "binomial", { ratio: 0.5, ratio_low: 0.4, ratio_high: 0.6 });
  const check = { operation: "bcast", ranks: 4, bytes: 8, stage: "fitted", ratio: 0.7, lower: 0.65, upper: 0.75 };
  assert.deepEqual(ratioOf(record({}), searched), { value: 0.5, low: 0.4, high: 0.6 });
  assert.deepEqual(ratioOf(record({ checks: [check] as never }), searched), { value: 0.7, low: 0.65, high: 0.75 });
  assert.deepEqual(ratioOf(record({ checks: [{ ...check, stage: "held_out" }] as never }), searched)!.value, 0.5);
  assert.equal(ratioOf(record({}), cell(8, "default", { ratio: 1 })), null);
});

test("neighbouring sizes with one choice are a rule", () => {
  const cells = [cell(8, "binomial", { ratio: 0.5 }), cell(64, "binomial", { ratio: 0.5, ratio_low: 0.3, ratio_high: 0.6 }), cell(512, "default"), cell(4096, "binomial")];
  assert.deepEqual(rulesOf(record({ cells })), [
    { collective: "bcast", ranks: 4, from: 8, to: 64, chosen: "binomial", ratio: { value: 0.5, low: 0.3, high: 0.6 } },
    { collective: "bcast", ranks: 4, from: 4096, to: 4096, chosen: "binomial", ratio: null },
  ]);
  assert.deepEqual(planeOf(record({ cells }), 4).sizes, [8, 64, 512, 4096]);
  assert.deepEqual(planeOf(record({ cells }), 2).operations, []);
});

test("what was left out for one reason is said once", () => {
  const one = { collective: "bcast", ranks: 4, bytes: 8, candidate: "chain", reason: "hung for 5 s" };
  assert.deepEqual(rejectedOf(record({ rejected: [one, { ...one, bytes: 64 }, { ...one, reason: "exited with code 9" }] })), [
    { candidate: "chain", collective: "bcast", reason: "hung for 5 s", cells: 2 },
    { candidate: "chain", collective: "bcast", reason: "exited with code 9", cells: 1 },
  ]);
});

test("what is exported is read where every mechanism was seen to act", () => {
  const rules = { factor: 4, candidate: "linear", collective: "bcast", ranks: 4 };
  const knobs = { factor: 2, setting: { name: "a", value: "1" }, operation: "latency", collective: "bcast", ranks: 2 };
  assert.equal(readByTarget(record({ proofs: [rules, knobs] })), "yes: a probe (linear for bcast) took 4.00 times as long, and a probe (a=1 for latency) took 2.00 times as long");
  assert.equal(readByTarget(record({ proofs: [rules, { ...knobs, factor: null }] })), "not shown");
  assert.equal(readByTarget(record({})), "not shown");
});

test("fabrics of settings are known by their names", () => {
  assert.ok(holdsSettings("target:openmpi"));
  assert.ok(!holdsSettings("tune:openmpi") && !holdsSettings("tcp"));
});

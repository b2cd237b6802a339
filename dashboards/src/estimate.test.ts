import assert from "node:assert/strict";
import { test } from "node:test";
import { budgetsAround, commandOf, queryOf, specOf, wrongField, type Spec } from "./estimate";

const asked = { fabric: "tcp", effort: "full", width: "2.5", time_budget_s: "90", experiments: "micro.latency, micro.vis" };

test("what is asked for is the message's spec, and the rest is left to the server", () => {
  assert.deepEqual(specOf(asked), { fabric: "tcp", effort: "FULL", width: 0.025, time_budget_s: 90, experiments: ["micro.latency", "micro.vis"] });
  assert.deepEqual(specOf({ fabric: "shm", ranks: "" }), { fabric: "shm", effort: "BUDGETED" });
});

test("a campaign is asked for again as it was", () => {
  const spec: Spec = { fabric: "tcp", effort: "FULL", nodes: 2, ranks: 4, runs: 0, time_budget_s: 300, node_budget_s: 0, width: 0.02, experiments: [] };
  const query = queryOf(spec);
  assert.equal(query.width, "2");
  assert.deepEqual(specOf(query), { fabric: "tcp", effort: "FULL", nodes: 2, ranks: 4, time_budget_s: 300, width: 0.02 });
});

test("the command says the same", () => {
  assert.equal(commandOf(asked, "estimate"), "stripline campaign estimate --fabric tcp --effort full --time-budget 90 --width 2.5% --experiment micro.latency --experiment micro.vis");
  assert.equal(commandOf({ fabric: "shm" }, "run"), "stripline campaign run --fabric shm");
});

test("what is no number is told", () => {
  assert.equal(wrongField({ ranks: "many" }), "Ranks");
  assert.equal(wrongField({ ranks: "-1" }), "Ranks");
  assert.equal(wrongField(asked), "");
});

test("budgets around one are whole seconds, each once", () => {
  assert.deepEqual(budgetsAround(60), [15, 30, 60, 120, 240]);
  assert.deepEqual(budgetsAround(1), [1, 2, 4]);
});

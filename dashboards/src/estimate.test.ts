import assert from "node:assert/strict";
import { test } from "node:test";
import { budgetsAround, commandOf, fieldsOf, queryOf, specOf, wrongField } from "./estimate";

const asked = { fabric: "tcp", effort: "full", width: "2.5", time_budget_s: "90", experiments: "micro.latency, micro.vis" };

test("what is asked for is the message's spec, and the rest is left to the server", () => {
  assert.deepEqual(specOf(asked), { fabric: "tcp", effort: "FULL", width: 0.025, time_budget_s: 90, experiments: ["micro.latency", "micro.vis"] });
  assert.deepEqual(specOf({ fabric: "shm", ranks: "" }), { fabric: "shm", effort: "BUDGETED" });
});

test("a campaign is asked for again as it was", () => {
  const spec = { fabric: "tcp", effort: "FULL", nodes: 2, ranks: 4, runs: 0, time_budget_s: 300, node_budget_s: 0, width: 0.02, experiments: [] };
  const query = queryOf(spec);
  assert.equal(query.width, "2");
  assert.deepEqual(specOf(query), { fabric: "tcp", effort: "FULL", nodes: 2, ranks: 4, time_budget_s: 300, width: 0.02 });
});

test("the command says the same", () => {
  assert.equal(commandOf(asked, "estimate"), "stripline campaign estimate --fabric tcp --effort full --time-budget 90 --width 2.5% --experiment micro.latency --experiment micro.vis");
  assert.equal(commandOf({ fabric: "shm" }, "run"), "stripline campaign run --fabric shm");
});

test("a campaign that tunes another runtime has fields of its own", () => {
  const query = { fabric: "tune:openmpi", tune_ranks: "2,4", commutative_only: "true", accept_untried: "", nodes: "2", time_budget_s: "600" };
  assert.deepEqual(specOf(query), { fabric: "tune:openmpi", effort: "BUDGETED", tune_ranks: "2,4", commutative_only: true, time_budget_s: 600 });
  assert.equal(commandOf(query, "run"), "stripline campaign run --target openmpi --time-budget 600 --tune-ranks 2,4 --commutative-only");
  assert.equal(wrongField({ fabric: "tune:openmpi", nodes: "many" }), "");
  // As the server answers it.
  const spec = { fabric: "tune:openmpi", effort: "FULL", nodes: 1, ranks: 1, runs: 1, time_budget_s: 375, node_budget_s: 0, width: 0, experiments: ["target.tune"], tune_ranks: "2,3", tune_path: "tcp", commutative_only: false, accept_untried: true };
  assert.deepEqual(specOf(queryOf(spec)), { fabric: "tune:openmpi", effort: "FULL", time_budget_s: 375, tune_ranks: "2,3", tune_path: "tcp", accept_untried: true });
  assert.ok(fieldsOf("tcp").every(({ name }) => !name.startsWith("tune_")));
});

test("what is not a number is reported", () => {
  assert.equal(wrongField({ ranks: "many" }), "Ranks");
  assert.equal(wrongField({ ranks: "-1" }), "Ranks");
  assert.equal(wrongField(asked), "");
});

test("budgets around one are whole seconds, each once", () => {
  assert.deepEqual(budgetsAround(60), [15, 30, 60, 120, 240]);
  assert.deepEqual(budgetsAround(1), [1, 2, 4]);
});

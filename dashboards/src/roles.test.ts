import assert from "node:assert/strict";
import { test } from "node:test";
import { mayAct } from "./roles";

const roles = ["ROLE_UNSPECIFIED", "AGENT", "VIEWER", "OPERATOR", "PUBLISHER", "ADMIN"];

test("those with the role and those above may act, others see no buttons", () => {
  assert.deepEqual(roles.map((one) => mayAct(one, "OPERATOR")), [false, false, false, true, true, true]);
  assert.deepEqual(roles.map((one) => mayAct(one, "PUBLISHER")), [false, false, false, false, true, true]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { mayOperate } from "./roles";

test("operators and those above may act, others see no buttons", () => {
  assert.deepEqual(["ROLE_UNSPECIFIED", "AGENT", "VIEWER", "OPERATOR", "PUBLISHER", "ADMIN"].map(mayOperate), [false, false, false, true, true, true]);
});

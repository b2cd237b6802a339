import assert from "node:assert/strict";
import { test } from "node:test";
import { mayAct, notTheirs } from "./roles";

const roles = ["ROLE_UNSPECIFIED", "AGENT", "VIEWER", "OPERATOR", "PUBLISHER", "ADMIN"];

test("those with the role and those above may act, others see no buttons", () => {
  assert.deepEqual(roles.map((one) => mayAct(one, "OPERATOR")), [false, false, false, true, true, true]);
  assert.deepEqual(roles.map((one) => mayAct(one, "PUBLISHER")), [false, false, false, false, true, true]);
});

test("operators change their own campaigns, publishers everybody's, and others read whose it is", () => {
  const eve = (role: string) => ({ name: "users/eve", role });
  const of = (owner?: string) => ({ name: "campaigns/c7", owner });
  assert.equal(notTheirs(eve("OPERATOR"), of("users/eve")), "");
  for (const role of ["PUBLISHER", "ADMIN"]) {
    for (const owner of ["users/bob", "server", "", undefined]) assert.equal(notTheirs(eve(role), of(owner)), "");
  }
  assert.match(notTheirs(eve("OPERATOR"), of("users/bob")), /^c7 belongs to bob\. .* by bob, a publisher or an administrator\.$/);
  assert.match(notTheirs(eve("OPERATOR"), of("server")), /^c7 is the server's own\. .* by a publisher or an administrator\.$/);
  assert.match(notTheirs(eve("OPERATOR"), of()), /^c7 has no recorded owner\. /);
  assert.notEqual(notTheirs({ name: "", role: "OPERATOR" }, of("")), "");
});

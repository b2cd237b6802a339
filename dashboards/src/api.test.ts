import assert from "node:assert/strict";
import { test } from "node:test";
import { apiBase, isVouchedFor, signInUrl, withoutTurns } from "./api";

test("the data are beside the pages, also where a proxy has them below a path", () => {
  assert.equal(apiBase("https://h:7413/#/models"), "https://h:7413/api/v1/");
  assert.equal(apiBase("https://h/tools/stripline/#/campaigns/c1?x=1"), "https://h/tools/stripline/api/v1/");
  assert.equal(apiBase("https://h/tools/stripline/?a=b#/"), "https://h/tools/stripline/api/v1/");
});

test("people sign in beside the pages, too", () => {
  assert.equal(signInUrl("https://h:7413/#/models"), "https://h:7413/login");
  assert.equal(signInUrl("https://h/tools/stripline/?a=b#/"), "https://h/tools/stripline/login");
});

test("those whom an issuer vouches for have names of their own", () => {
  assert.ok(isVouchedFor("users/oidc:alice"));
  assert.ok(!isVouchedFor("users/oidc"));
  assert.ok(!isVouchedFor("users/alice"));
});

test("text that turns its neighbours round is shown as it was written", () => {
  const said = { reason: "ok \u202egnp.exe\u2069 \u200f", name: "h\u00e4user" };
  const shown = { reason: "ok \\u202egnp.exe\\u2069 \\u200f", name: "h\u00e4user" };
  assert.deepEqual(JSON.parse(withoutTurns(JSON.stringify(said))), shown);
  const escaped = JSON.stringify(said).replace(/[^\x20-\x7e]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
  assert.deepEqual(JSON.parse(withoutTurns(escaped)), shown);
  // A text that names one already stays.
  assert.deepEqual(JSON.parse(withoutTurns(JSON.stringify(shown))), shown);
});

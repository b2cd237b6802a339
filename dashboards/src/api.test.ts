import assert from "node:assert/strict";
import { test } from "node:test";
import { apiBase, isVouchedFor, signInUrl } from "./api";

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

import assert from "node:assert/strict";
import { test } from "node:test";
import { format, parse, takeToken } from "./route";

test("a route survives being written and read", () => {
  const route = { path: ["models", "a b/c"], query: { op: "get", q: "x=1&y" } };
  assert.deepEqual(parse(format(route)), route);
  assert.deepEqual(parse(""), { path: [], query: {} });
});

test("what is not chosen is not in the address", () => {
  assert.equal(format({ path: ["fleet"], query: { state: "" } }), "#/fleet");
});

test("a token leaves the address", () => {
  assert.deepEqual(takeToken("#/fleet?token=stripline-dev.abc&q=n1"), { token: "stripline-dev.abc", rest: "#/fleet?q=n1" });
});

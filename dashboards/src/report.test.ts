import assert from "node:assert/strict";
import { test } from "node:test";
import { keyOf, report } from "./report";

test("an answer is found in whatever order its options are asked", () => {
  assert.equal(keyOf("models/m/versions/1/decisions/loop?direction=get&bytes=4KiB%2C8KiB"), "models/m/versions/1/decisions/loop?bytes=4KiB,8KiB&direction=get");
  assert.equal(keyOf("models?page_size=1000&page_token="), "models");
  assert.equal(keyOf("campaigns/c1/events?cursor=0"), "campaigns/c1/events");
  assert.equal(keyOf("explain"), "explain");
});

test("a page of a server has nothing with it", () => assert.equal(report, null));

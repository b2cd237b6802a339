import assert from "node:assert/strict";
import { test } from "node:test";
import { labelsFrom, mentions, merged } from "./campaign_list";
import type { Campaign } from "./types";

const campaign = (number: number, more: Partial<Campaign> = {}): Campaign => ({ name: `campaigns/c${number}`, spec: { fabric: "tcp", effort: "FULL", experiments: [] } as unknown as Campaign["spec"], state: "SUCCEEDED", message: "", model_version: "", ...more } as Campaign);
const names = (all: Campaign[]) => all.map((one) => one.name.slice(10)).join();

test("the newest page replaces what was known of the newest, and the older ones stay", () => {
  const known = [5, 4, 3, 2, 1].map((number) => campaign(number));
  const now = merged(known, [campaign(6), campaign(5, { state: "FAILED" }), campaign(4)], false);
  assert.equal(names(now), "c6,c5,c4,c3,c2,c1");
  assert.equal(now[1].state, "FAILED");
  assert.equal(names(merged(known, [campaign(5), campaign(3)], false)), "c5,c3,c2,c1", "c4 was deleted");
  assert.equal(names(merged(known, [campaign(5)], true)), "c5", "there are no others any more");
  assert.equal(names(merged([campaign(10), campaign(9)], [campaign(10)], false)), "c10,c9", "by number, not by letter");
});

test("campaigns are found by what is said of them", () => {
  const one = campaign(7, { labels: ["nightly"], owner: "users/alice", model_version: "models/tcp/versions/3" });
  for (const text of ["c7", "TCP", "night", "alice full", "tcp/versions/3", " "]) assert.ok(mentions(one, text), text);
  assert.ok(!mentions(one, "alice budgeted"));
});

test("labels are read as people write them", () => {
  assert.deepEqual(labelsFrom("  Nightly, switch-7 nightly "), ["nightly", "switch-7"]);
  assert.deepEqual(labelsFrom(""), []);
});

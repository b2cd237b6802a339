import assert from "node:assert/strict";
import { test } from "node:test";
import { activityOf, activityText } from "./activity";

const node = (state: string, assignment = "") => ({ state, assignment });

test("a busy node measures its assignment, or installs settings", () => {
  assert.equal(activityOf(node("BUSY", "campaigns/c1/runs/2")), "MEASURING");
  assert.equal(activityOf(node("BUSY")), "INSTALLING");
  assert.equal(activityOf(node("IDLE")), "IDLE");
  assert.equal(activityOf(node("OFFLINE")), "OFFLINE");
});

test("a fleet is summed up by what its nodes do", () => {
  assert.equal(activityText([node("IDLE"), node("BUSY", "campaigns/c1/runs/2")]), "1 idle, 1 measuring, 0 offline");
  assert.equal(activityText([node("BUSY"), node("OFFLINE")]), "0 idle, 0 measuring, 1 installing, 1 offline");
  assert.match(activityText(Array.from({ length: 1000 }, () => node("IDLE"))), /^1,000 idle/);
});

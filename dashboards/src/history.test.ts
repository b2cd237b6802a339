import assert from "node:assert/strict";
import { test } from "node:test";
import { goneFrom, historyPath, itemsOf, movedTo, tableOf, type FleetHistory } from "./history";

const at = (minute: number) => `2026-06-01T12:${String(minute).padStart(2, "0")}:00.000Z`;
const history: FleetHistory = {
  start_time: at(0), end_time: at(40), truncated: false,
  runs: [
    { name: "campaigns/c7/runs/1", nodes: ["nodes/b", "nodes/a"], start_time: "2026-06-01T11:50:00.000Z", end_time: at(10), outcome: "LOST", message: "a rank died" },
    { name: "campaigns/c7/runs/2", nodes: ["nodes/b"], start_time: at(20), end_time: "", outcome: "IN_PROGRESS", message: "" },
  ],
  events: [
    { kind: "DRAINED", node: "nodes/a", time: at(30), actor: "users/eve", message: "a new NIC" },
    { kind: "REMOVED", node: "nodes/z", time: at(5), actor: "", message: "" },
    { kind: "TURNED_OFF", node: "nodes/a", time: at(4), actor: "", message: "" },
  ],
};

test("each node has its runs and events in order of time", () => {
  const items = itemsOf(history, ["nodes/a", "nodes/b", "nodes/c"]);
  assert.deepEqual(items.map(({ row, from, to, kind }) => [row, from, to, kind]), [
    [0, 0, 0.25, "LOST"], [0, 0.1, 0.1, "TURNED_OFF"], [0, 0.75, 0.75, "DRAINED"], [1, 0, 0.25, "LOST"], [1, 0.5, 1, "IN_PROGRESS"]]);
  assert.deepEqual(items.map((one) => one.campaign), ["c7", undefined, undefined, "c7", "c7"]);
  assert.equal(items[0].text, "a, 2026-06-01 11:50:00, 20:00 min: c7, run 1, lost: a rank died");
  assert.equal(items[1].text, "a, 2026-06-01 12:04:00: turned off", "what later servers tell is named, too");
  assert.equal(items[2].text, "a, 2026-06-01 12:30:00: drained by eve: a new NIC");
  assert.equal(items[4].text, "b, since 2026-06-01 12:20:00: c7, run 2, in progress");
});

test("nodes that are not there any more have a history, too", () => {
  assert.deepEqual(goneFrom(history, ["nodes/a"]), ["nodes/b", "nodes/z"]);
});

test("arrow keys go along a row, and to the next one that has something", () => {
  const items = itemsOf(history, ["nodes/a", "nodes/c", "nodes/b"]);
  assert.equal(movedTo(items, -1, "ArrowRight"), 0);
  assert.equal(movedTo(items, 4, "ArrowRight"), 4);
  assert.equal(movedTo(items, 0, "ArrowLeft"), 0);
  assert.equal(movedTo(items, 1, "ArrowDown"), 3);
  assert.equal(movedTo(items, 4, "ArrowUp"), 0);
  assert.equal(movedTo(items, 4, "ArrowDown"), 4);
  assert.equal(movedTo(items, -1, "ArrowDown"), 0);
  assert.equal(movedTo(items, 1, "Enter"), undefined);
});

test("the table has the same", () => {
  const { columns, rows } = tableOf(history, ["nodes/a"]);
  assert.equal(columns.length, 5);
  assert.deepEqual(rows.map((row) => [row[0], row[3], row[4]]), [
    ["a", "campaigns/c7/runs/1", "lost: a rank died"], ["a", "turned off", ""], ["a", "drained", "users/eve: a new NIC"]]);
});

test("the usual time is the server's, others are asked for", () => {
  assert.equal(historyPath("", 0), "history");
  assert.equal(historyPath("1", Date.parse(at(30))), "history?from=2026-06-01T11:30:00.000Z");
});

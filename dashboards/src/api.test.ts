import assert from "node:assert/strict";
import { test } from "node:test";
import { splitEvents } from "./api";

test("whole events are told, what is cut off waits", () => {
  const { events, rest } = splitEvents('id: 3\nevent: campaign\ndata: {"a":1}\n\n: still here\n\nid: 4\nevent: ca');
  assert.deepEqual(events, [{ event: "campaign", id: "3", data: '{"a":1}' }]);
  assert.equal(rest, "id: 4\nevent: ca");
  assert.deepEqual(splitEvents(rest + 'mpaign\ndata: {}\n\n').events.map((one) => one.id), ["4"]);
});

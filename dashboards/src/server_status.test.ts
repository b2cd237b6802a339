import assert from "node:assert/strict";
import { test } from "node:test";
import { bannerOf, type ServerStatus } from "./server_status";

const well: ServerStatus = { storage_failure: "", storage_failing_since: "", notices: [] };
const notice = (message: string) => ({ kind: "ADMIN_TOKEN", subject: "", message, time: "2030-01-01T00:00:00.000Z" });

test("a server that is well says nothing", () => {
  assert.deepEqual(bannerOf(well), []);
});

test("that nothing can be stored comes first", () => {
  const lines = bannerOf({ storage_failure: "disk full", storage_failing_since: "2030-01-01T10:20:30.000Z", notices: [notice("your token ends in 2 days")] });
  assert.deepEqual(lines, [
    { grade: "bad", text: "The server has been unable to store anything since 2030-01-01 10:20:30 UTC: disk full. Campaigns are suspended until it can." },
    { grade: "stale", text: "Your token ends in 2 days." },
  ]);
});

test("of many notices some are shown", () => {
  const lines = bannerOf({ ...well, notices: Array.from({ length: 9 }, (_, i) => notice(`the certificate of nodes/n${i} has ended`)) });
  assert.equal(lines.length, 4);
  assert.equal(lines[3]?.text, "6 more tokens or certificates end soon: stripline nodes lists them.");
});

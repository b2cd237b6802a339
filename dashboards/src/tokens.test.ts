import assert from "node:assert/strict";
import { test } from "node:test";
import { stateOf, usersOf } from "./tokens";
import type { Token } from "./types";

const now = Date.parse("2026-06-01T00:00:00Z");
const token = (more: Partial<Token>): Token => ({ name: "tokens/0123456789abcdef", role: "VIEWER", subject: "alice", create_time: "2026-01-01T00:00:00Z", expire_time: "2026-12-01T00:00:00Z", end_time: "", used_by: "", ...more });

test("a token is valid, about to end, or ended, and says by what", () => {
  assert.deepEqual(stateOf(token({}), now), { kind: "valid", text: "valid" });
  assert.deepEqual(stateOf(token({ expire_time: "2026-06-11T00:00:00Z" }), now), { kind: "ending", text: "ends in 10 days" });
  assert.deepEqual(stateOf(token({ expire_time: "2026-06-02T00:00:00Z", role: "AGENT" }), now).kind, "valid", "short-lived by intent");
  assert.deepEqual(stateOf(token({ expire_time: "2026-05-01T00:00:00Z" }), now), { kind: "ended", text: "expired" });
  assert.deepEqual(stateOf(token({ end_time: "2026-05-01T00:00:00Z" }), now).text, "revoked");
  assert.deepEqual(stateOf(token({ role: "AGENT", end_time: "2026-05-01T00:00:00Z", used_by: "nodes/a" }), now).text, "used up");
  assert.deepEqual(stateOf(token({ role: "AGENT", end_time: "2026-05-01T00:00:00Z", used_by: "nodes/a", count: 8, uses: 3 }), now).text, "revoked");
});

test("a user has the strongest role of the tokens that are valid", () => {
  const users = usersOf([token({}), token({ role: "ADMIN", end_time: "2026-05-01T00:00:00Z" }), token({ role: "OPERATOR", expire_time: "2026-07-01T00:00:00Z" }), token({ role: "AGENT", subject: "node-a" }), token({ subject: "bob", expire_time: "2026-05-01T00:00:00Z" })], now);
  assert.deepEqual(users, [{ name: "alice", role: "OPERATOR", tokens: 3, valid: 2, until: "2026-12-01T00:00:00Z" }, { name: "bob", role: "", tokens: 1, valid: 0, until: "" }]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { attention } from "./attention";
import type { Campaign, Model, ModelVersion, Node } from "./types";

const now = Date.parse("2026-06-01T00:00:00Z");
const node = (name: string, more: Partial<Node> = {}): Node => ({ name: `nodes/${name}`, state: "IDLE", agent_version: "0.1.0", fingerprint: {}, fabrics: [], experiments: [], last_seen_time: "", assignment: "", quarantine: "", models: [], ...more });
const campaign = (more: Partial<Campaign>): Campaign => ({ name: "campaigns/c1", spec: { fabric: "tcp" } as Campaign["spec"], state: "SUCCEEDED", message: "why", create_time: "2026-05-31T23:00:00Z", update_time: "2026-05-31T23:30:00Z", points_done: 0, points_total: 0, runs_done: 0, runs_total: 0, seconds_left: 0, model_version: "", samples: "0", advised_budget_s: 0, stop_reason: "", width: 0, node_s: 0, ...more });
const tuned = (version: Partial<ModelVersion>, latest = "models/tcp/versions/1") => ({ model: { name: "models/tcp", fabric: "tcp", latest_version: latest, create_time: "", unreadable: "" } as Model, versions: [{ name: "models/tcp/versions/1", provisional: "", withdrawn: "", stale: "", state: "PUBLISHED", labels: ["stable"], checks: [], create_time: "2026-05-30T00:00:00Z", ...version } as ModelVersion] });

test("a healthy fleet needs nothing", () => {
  assert.deepEqual(attention([node("a"), node("b")], [campaign({})], [tuned({})], now), []);
});

test("a model that the server cannot read is reported, and nothing else of it", () => {
  const one = tuned({}, "");
  const notices = attention([], [], [{ model: { ...one.model, unreadable: "move 1 of the label stable" }, versions: [] }], now);
  assert.deepEqual(notices.map((notice) => notice.grade), ["bad"]);
  assert.match(notices[0].text, /move 1 of the label stable/);
});

test("what is worst comes first, with what to do", () => {
  const notices = attention([node("a"), node("b", { state: "OFFLINE" }), node("c", { quarantine: "3 runs failed" })], [campaign({ state: "FAILED" })], [tuned({ provisional: "one host" })], now);
  assert.deepEqual(notices.map((one) => one.grade), ["bad", "bad", "warn", "warn"]);
  assert.match(notices[0].text, /c is quarantined: 3 runs failed/);
  assert.equal(notices[1].todo, "why");
  assert.ok(notices.every((one) => one.link.startsWith("#/") && one.todo !== ""));
});

test("a fleet without any connection is one notice, not a thousand", () => {
  const gone = Array.from({ length: 1000 }, (_, i) => node(`n${i}`, { state: "OFFLINE" }));
  assert.equal(attention(gone, [], [], now).length, 1);
  assert.equal(attention([], [], [], now).length, 0);
});

test("models without a version in force, old ones, campaigns that wait", () => {
  assert.match(attention([], [], [tuned({}, "")], now)[0].text, /withdrawn/);
  assert.match(attention([], [], [tuned({ create_time: "2026-01-01T00:00:00Z" })], now)[0].text, /fitted 151 days ago/);
  assert.match(attention([], [campaign({ state: "QUEUED" })], [], now)[0].text, /has been waiting for 1 h/);
  assert.match(attention([], [campaign({ state: "RUNNING", advised_budget_s: 300 })], [], now)[0].todo, /5:00 min/);
});

test("a campaign that ended wider than it was asked to is not a plain success", () => {
  const spec = { fabric: "tcp", width: 0.05 } as Campaign["spec"];
  assert.match(attention([], [campaign({ spec, width: 0.21 })], [], now)[0].text, /ended with intervals of ± 21 %; ± 5 % was requested/);
  assert.equal(attention([], [campaign({ spec, width: 0.052 })], [], now).length, 0);
  assert.equal(attention([], [campaign({ spec, width: 0.21, update_time: "2026-05-01T00:00:00Z" })], [], now).length, 0, "long ago");
});

test("versions that do not hold any more, and those that nodes reject", () => {
  const off = { campaign: "campaigns/c2", time: "", points: "4", outside: "3", ratio: 2, bursts: "0", bursts_outside: "0", shapes: "0", shapes_outside: "0" };
  assert.deepEqual(attention([], [], [tuned({ stale: "twice off", state: "STALE" })], now).map((one) => [one.grade, one.link]), [["bad", "#/drift/tcp@1"]]);
  assert.deepEqual(attention([], [], [tuned({ stale: "twice off", labels: [] })], now).map((one) => one.grade), ["warn"]);
  assert.match(attention([], [], [tuned({ checks: [off] })], now)[0].text, /tcp@1 was off/);
  assert.equal(attention([], [], [tuned({ checks: [{ ...off, outside: "2" }] })], now).length, 0);
  assert.match(attention([], [], [tuned({ checks: [{ ...off, outside: "0", bursts: "4", bursts_outside: "4" }] })], now)[0].text, /tcp@1 was off/);
  const rejecting = ["a", "b", "c"].map((name) => node(name, { models: [{ version: "models/tcp/versions/1", label: "stable", fabric: "tcp", state: "REJECTED", reason: "another CPU", time: "" }] }));
  const [rejected, ...others] = attention(rejecting, [], [tuned({})], now);
  assert.equal(rejected.text, "tcp@1 (stable) was rejected by 3 nodes: another CPU.");
  assert.match(rejected.todo, /keep another version/);
  assert.equal(others.length, 0);
});

test("a version that no node is offered is worth a note", () => {
  assert.deepEqual(attention([], [], [tuned({ state: "VALIDATED", labels: [] })], now).map((one) => one.grade), ["note"]);
});

test("what runs lost comes first of all, until another version is stable", () => {
  const lost = tuned({ lost: "2 places lost time", stale: "runs lost time with it", state: "STALE", labels: [] });
  const all = attention([node("a", { quarantine: "3 runs failed" })], [], [lost], now);
  assert.match(all[0].text, /Runs lost time with tcp@1: 2 places/);
  assert.match(all[1].text, /quarantined/);
  const newer = { ...lost, versions: [{ ...tuned({}).versions[0], name: "models/tcp/versions/2" }, ...lost.versions] };
  assert.doesNotMatch(attention([], [], [{ ...newer, model: { ...newer.model, latest_version: "models/tcp/versions/2" } }], now).map((one) => one.text).join(), /lost/);
});

test("a version that failed its validation, or that nothing has judged, is reported", () => {
  const [failed] = attention([], [], [tuned({ failed: "the mean error is 567 %", state: "FAILED", labels: [] })], now);
  assert.equal(failed.grade, "bad");
  assert.match(failed.text, /567 %/);
  const [unjudged] = attention([], [], [tuned({ unjudged: "0 decisions were measured", state: "FITTED", labels: [] })], now);
  assert.equal(unjudged.grade, "warn");
  assert.match(unjudged.text, /not judged/);
});

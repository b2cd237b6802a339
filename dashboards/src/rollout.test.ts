import assert from "node:assert/strict";
import { test } from "node:test";
import { audience, offersOf, rollouts } from "./rollout";
import type { ModelVersion, Node, NodeModel } from "./types";

const version = (name: string, ...labels: string[]) => ({ name, labels }) as ModelVersion;
const node = (name: string, ...models: [version: string, label: string, state: string, reason?: string][]) =>
  ({ name: `nodes/${name}`, models: models.map(([of, label, state, reason = ""]): NodeModel => ({ version: of, label, fabric: "tcp", state, reason, time: "" })) }) as Node;
const [tcp2, tcp3, shm1] = ["models/tcp/versions/2", "models/tcp/versions/3", "models/shm/versions/1"];

test("canaries come before the rest, with what their nodes answered", () => {
  const offers = offersOf([node("a", [tcp3, "canary", "REJECTED", "hash"]), node("b", [tcp3, "canary", "APPLIED"], [shm1, "stable", "PENDING"]), node("c", [tcp2, "stable", "APPLIED"])]);
  const all = rollouts([version(tcp3, "canary"), version(tcp2, "stable"), version("models/tcp/versions/1"), version(shm1, "stable")], offers);
  assert.deepEqual(all.map((one) => [one.version.name, one.label]), [[shm1, "stable"], [tcp3, "canary"], [tcp2, "stable"]]);
  assert.deepEqual(all[1].counts, { APPLIED: 1, PENDING: 0, REJECTED: 1 });
  assert.deepEqual(all[1].reasons, [{ reason: "hash", nodes: ["a"] }]);
  assert.equal(all[0].counts.PENDING, 1);
});

test("a version that no node is to have is there, too, and reasons are summed up", () => {
  assert.deepEqual(rollouts([version(tcp2, "stable")], [])[0].offers, []);
  const many = Array.from({ length: 1000 }, (_, i) => node(`n${i}`, [tcp2, "stable", "REJECTED", i < 10 ? "rare" : "common"]));
  assert.deepEqual(rollouts([version(tcp2, "stable")], offersOf(many))[0].reasons.map((one) => [one.reason, one.nodes.length]), [["common", 990], ["rare", 10]]);
});

test("what has become stable is not tried any more, also where it is still labelled canary", () => {
  const all = rollouts([version(tcp3, "canary", "stable"), version(tcp2)], offersOf([node("a", [tcp3, "canary", "APPLIED"]), node("b", [tcp3, "stable", "APPLIED"])]));
  assert.deepEqual(all.map((one) => [one.version.name, one.label, one.offers.length]), [[tcp3, "stable", 2]]);
  assert.equal(audience(all[0], all), "Offered to 2 nodes: all that can open its network.");
});

test("it is said who is to have a version, or why that is no node", () => {
  const said = (versions: ModelVersion[], nodes: Node[]) => {
    const all = rollouts(versions, offersOf(nodes));
    return all.map((one) => audience(one, all));
  };
  const both = [version(tcp3, "canary"), version(tcp2, "stable")];
  const [a, b] = [node("a", [tcp3, "canary", "APPLIED"]), node("b", [tcp2, "stable", "APPLIED"])];
  assert.deepEqual(said(both, [a, b]), ["Offered first to a.", "Offered to 1 node: all but those of the canary."]);
  assert.deepEqual(said(both, [a]), ["Offered first to a.", "Offered to no node: all are offered the canary."]);
  assert.match(said(both, [b])[0], /^Offered to no node: another version has been labelled since/);
  assert.match(said(both, []).join(" "), /^Offered to no node: none is known .* Offered to no node: none is known /);
});

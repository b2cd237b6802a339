// The versions that nodes are offered, and what the nodes have answered: pure.
import type { ModelVersion, Node, NodeModel } from "./types";
import { count, short } from "./units";

export const answers = ["APPLIED", "PENDING", "REJECTED"] as const;
export type AnswerState = (typeof answers)[number];

export interface Offered { node: string; model: NodeModel }
/** A version by a label, with the nodes that are offered it. */
export interface Rollout {
  version: ModelVersion;
  label: string;
  offers: Offered[];
  counts: Record<AnswerState, number>;
  /** Why nodes have rejected it, the commonest reason first. */
  reasons: { reason: string; nodes: string[] }[];
}

/** Every offer of a version to a node. */
export function offersOf(nodes: Node[]): Offered[] {
  return nodes.flatMap((node) => (node.models ?? []).map((model) => ({ node: short(node.name), model })));
}

function reasonsOf(offers: Offered[]): Rollout["reasons"] {
  const by = new Map<string, string[]>();
  for (const { node, model } of offers) {
    if (model.state === "REJECTED") by.set(model.reason, [...(by.get(model.reason) ?? []), node]);
  }
  return [...by].map(([reason, nodes]) => ({ reason, nodes })).sort((a, b) => b.nodes.length - a.nodes.length);
}

/**
 * All labelled versions, those of a model together, its canary before the stable one; also those that no node is offered. What is
 * stable is there once, with all its nodes: it has been tried, whatever else it is labelled.
 */
export function rollouts(versions: ModelVersion[], offers: Offered[]): Rollout[] {
  const by = new Map<string, Offered[]>();
  for (const one of offers) {
    const key = `${one.model.version} ${one.model.label}`;
    if (!by.has(key)) by.set(key, []);
    by.get(key)!.push(one);
  }
  const model = (one: Rollout) => one.version.name.split("/")[1];
  return versions.flatMap((version) => (version.labels.includes("stable") ? ["stable"] : version.labels).map((label): Rollout => {
    const some = (label === "stable" ? version.labels : [label]).flatMap((each) => by.get(`${version.name} ${each}`) ?? []);
    const counts = { APPLIED: 0, PENDING: 0, REJECTED: 0 };
    for (const { model: { state } } of some) ++counts[state as AnswerState];
    return { version, label, offers: some, counts, reasons: reasonsOf(some) };
  })).sort((a, b) => model(a).localeCompare(model(b)) || a.label.localeCompare(b.label));
}

/** The nodes that are offered it, in words; also why there are none. `all`: the other versions that are being rolled out, too. */
export function audience(of: Rollout, all: Rollout[]): string {
  const model = (one: Rollout) => one.version.name.split("/")[1];
  const others = all.filter((one) => one !== of && model(one) === model(of) && one.offers.length > 0);
  if (of.label === "canary") {
    if (of.offers.length > 0) return `Offered first to ${some(of.offers.map((one) => one.node))}.`;
    return others.length > 0 ? "Offered to no node: another version has been labelled since, or its nodes are gone." : "Offered to no node: none is known that can open its network.";
  }
  if (of.offers.length > 0) return `Offered to ${count(of.offers.length, "node")}: all ${others.length > 0 ? "but those of the canary" : "that can open its network"}.`;
  return others.length > 0 ? "Offered to no node: all are offered the canary." : "Offered to no node: none is known that can open its network.";
}

/** The first of many names. */
export const some = (names: string[]): string => (names.length <= 5 ? names.join(", ") : `${names.slice(0, 4).join(", ")} and ${(names.length - 4).toLocaleString("en")} more`);

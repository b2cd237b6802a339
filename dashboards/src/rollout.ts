// Which node is to have which version, and what nodes have answered: pure.
import type { ModelVersion, Node, NodeModel } from "./types";
import { short } from "./units";

export const answers = ["APPLIED", "PENDING", "REJECTED"] as const;
export type AnswerState = (typeof answers)[number];

export interface Offered { node: string; model: NodeModel }
/** A version by a label, with the nodes that are to have it. */
export interface Rollout {
  version: ModelVersion;
  label: string;
  offers: Offered[];
  counts: Record<AnswerState, number>;
  /** Why nodes have rejected it, the commonest reason first. */
  reasons: { reason: string; nodes: string[] }[];
}

/** Everything that a node is to have, a row each. */
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

/** All labelled versions, those of a model together, its canary before the rest; also those that no node is to have. */
export function rollouts(versions: ModelVersion[], offers: Offered[]): Rollout[] {
  const by = new Map<string, Offered[]>();
  for (const one of offers) {
    const key = `${one.model.version} ${one.model.label}`;
    if (!by.has(key)) by.set(key, []);
    by.get(key)!.push(one);
  }
  const model = (one: Rollout) => one.version.name.split("/")[1];
  return versions.flatMap((version) => version.labels.map((label): Rollout => {
    const some = by.get(`${version.name} ${label}`) ?? [];
    const counts = { APPLIED: 0, PENDING: 0, REJECTED: 0 };
    for (const { model: { state } } of some) ++counts[state as AnswerState];
    return { version, label, offers: some, counts, reasons: reasonsOf(some) };
  })).sort((a, b) => model(a).localeCompare(model(b)) || a.label.localeCompare(b.label));
}

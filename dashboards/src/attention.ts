// What needs attention, the gravest first: pure, so that it can be tested.
import { offersOf, rollouts } from "./rollout";
import type { Campaign, ModelVersion, Node } from "./types";
import { ago, count, duration, half, short } from "./units";
import { nameOf } from "./version_name";
import type { TunedModel } from "./versions";

export interface Notice { grade: "bad" | "warn" | "note"; text: string; todo: string; link: string }

const day_ms = 86_400_000;

export function attention(nodes: Node[], campaigns: Campaign[], models: TunedModel[], now: number): Notice[] {
  const losses: Notice[] = [];
  const notices: Notice[] = [];
  const add = (grade: Notice["grade"], text: string, todo: string, link: string) => notices.push({ grade, text, todo, link });

  const offline = nodes.filter((node) => node.state === "OFFLINE");
  if (nodes.length > 0 && offline.length === nodes.length) {
    add("bad", "No node is connected.", "Start agents: stripline-agent --server HOST:PORT, the first time with --enroll FILE", "#/fleet?state=OFFLINE");
  } else if (offline.length > 0) {
    add("warn", `${count(offline.length, "node")} offline: ${named(offline.map((node) => short(node.name)))}.`, "If they are gone for good: stripline node remove NAME", "#/fleet?state=OFFLINE");
  }
  const quarantined = nodes.filter((node) => node.quarantine !== "");
  for (const node of quarantined.slice(0, 3)) {
    add("bad", `${short(node.name)} is quarantined: ${node.quarantine}.`, "Check its agent's log; the server tries the node again automatically.", `#/fleet?q=${short(node.name)}`);
  }
  if (quarantined.length > 3) add("bad", `${quarantined.length - 3} more nodes are quarantined.`, "See the list of nodes.", "#/fleet?state=quarantined");
  const versions = new Set(nodes.filter((node) => node.state !== "OFFLINE").map((node) => node.agent_version));
  if (versions.size > 1) add("note", `Agents run ${count(versions.size, "version")}: ${[...versions].sort().join(", ")}.`, "Campaigns use nodes whose experiments have the same versions.", "#/fleet");

  for (const campaign of campaigns) {
    const name = short(campaign.name);
    const link = `#/campaigns/${name}`;
    if (campaign.state === "FAILED" && now - Date.parse(campaign.update_time) < 7 * day_ms) {
      add("bad", `Campaign ${name} (${campaign.spec.fabric}) failed ${ago(campaign.update_time, now)}.`, campaign.message, link);
    } else if (campaign.state === "QUEUED" && now - Date.parse(campaign.create_time) > 60_000) {
      add("warn", `Campaign ${name} has been waiting for ${ago(campaign.create_time, now).replace(" ago", "")}.`, campaign.message, link);
    } else if (tooWide(campaign) && now - Date.parse(campaign.update_time) < 7 * day_ms) {
      add("warn", `Campaign ${name} (${campaign.spec.fabric}) ended with intervals of ${half(campaign.width)}; ${half(campaign.spec.width)} was requested.`, "A longer time budget, or fewer experiments, would reach the requested width.", link);
    } else if (campaign.state === "RUNNING" && campaign.advised_budget_s > 0) {
      add("warn", `Campaign ${name} will not end within its budget.`, `It needs about ${duration(campaign.advised_budget_s)} of measuring.`, link);
    }
  }

  for (const { model, versions: all } of models) {
    const name = short(model.name);
    const link = `#/models/${name}`;
    const latest = all.find((version) => version.name === model.latest_version);
    const inUse = all.filter((version) => version.labels.length > 0);
    if (model.unreadable) {
      add("bad", `The server cannot read its data of model ${name}: ${model.unreadable}.`, `Nodes are offered no model of the fabric ${model.fabric} until the database is restored from a backup.`, link);
      continue;
    }
    // First of all, as production suffers it. Once another version is stable, it is history.
    const stable = all.find((version) => version.labels.includes("stable"));
    for (const version of all.filter((one) => one.lost && (!stable || number(stable) <= number(one)))) {
      losses.push({ grade: "bad", text: `Runs lost time with ${nameOf(version.name)}: ${version.lost}.`, todo: stable === version ? "Its label was withdrawn where that was seen: measure there again." : "Its label was withdrawn: measure again.", link: `#/feedback/${nameOf(version.name)}` });
    }
    for (const version of inUse.filter((one) => one.stale !== "")) {
      add("bad", `${nameOf(version.name)}, which is ${version.labels.join(" and ")}, is stale: ${version.stale}.`, "Look at its sentinels, roll it back, and measure again.", `#/drift/${nameOf(version.name)}`);
    }
    for (const version of inUse.filter((one) => one.stale === "" && isOff(one))) {
      add("warn", `${nameOf(version.name)} was off in its last check.`, "A second check in a row that is off makes it stale: check it again soon.", `#/drift/${nameOf(version.name)}`);
    }
    if (!latest) {
      add("bad", `Every version of model ${name} is withdrawn.`, "Production that asks for it gets none: run a campaign.", link);
    } else if (latest.failed) {
      add("bad", `Model ${name} has no version that passed its validation: ${latest.failed}.`, "The latest version is sent only to those who ask for its number: look at what differs, and measure again.", link);
    } else if (latest.stale !== "" && latest.labels.length === 0) {
      add("warn", `The latest version of model ${name} is stale: ${latest.stale}.`, "Networks change: measure again.", `#/drift/${nameOf(latest.name)}`);
    } else if (latest.unjudged) {
      add("warn", `The latest version of model ${name} was not judged: ${latest.unjudged}.`, "It does not become stable automatically: a campaign with a longer time budget judges it.", link);
    } else if (latest.provisional !== "") {
      add("warn", `The latest version of model ${name} is provisional: ${latest.provisional}.`, "Production uses it only while there is no other version; a campaign without this flaw replaces it.", link);
    } else if (now - Date.parse(latest.create_time) > 90 * day_ms) {
      add("note", `Model ${name} was fitted ${ago(latest.create_time, now)}.`, "Networks change: measure again.", link);
    } else if (latest.state === "VALIDATED" && !inUse.some((one) => one.labels.includes("stable"))) {
      add("note", `No version of model ${name} is stable, so nodes are offered none.`, `${nameOf(latest.name)} is validated: try it on some nodes.`, link);
    }
  }
  for (const { version, label, reasons } of rollouts(models.flatMap((one) => one.versions), offersOf(nodes))) {
    for (const one of reasons.slice(0, 2)) {
      add("bad", `${nameOf(version.name)} (${label}) was rejected by ${one.nodes.length === 1 ? one.nodes[0] : count(one.nodes.length, "node")}: ${one.reason}.`, label === "canary" ? "It does not become stable while a node rejects it." : "These nodes keep another version, or none, until what the reason names is fixed.", "#/rollout?answer=REJECTED");
    }
  }
  const grades = ["bad", "warn", "note"];
  return [...losses, ...notices.sort((a, b) => grades.indexOf(a.grade) - grades.indexOf(b.grade))];
}

/** It has succeeded without reaching the requested width, by more than a rounding error. */
export function tooWide({ state, width, spec }: Campaign): boolean {
  return state === "SUCCEEDED" && spec.width > 0 && width > 1.1 * spec.width;
}

const number = (version: ModelVersion) => Number(short(version.name));

// As the server judges a check: most of its sentinels of some kind are outside.
function isOff({ checks }: ModelVersion): boolean {
  const last = checks[checks.length - 1];
  const most = (outside?: string, points?: string) => 2 * Number(outside ?? 0) > Number(points ?? 0);
  return last !== undefined && (most(last.outside, last.points) || most(last.bursts_outside, last.bursts) || most(last.shapes_outside, last.shapes));
}

function named(names: string[]): string {
  return names.length <= 4 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}

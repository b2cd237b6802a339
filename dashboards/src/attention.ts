// What needs attention, the gravest first: pure, so that it can be tested.
import type { Campaign, Model, ModelVersion, Node } from "./types";
import { ago, count, duration, short } from "./units";

export interface Notice { grade: "bad" | "warn" | "note"; text: string; todo: string; link: string }

/** Models with their versions, the newest first. */
export interface TunedModel { model: Model; versions: ModelVersion[] }

const day_ms = 86_400_000;

export function attention(nodes: Node[], campaigns: Campaign[], models: TunedModel[], now: number): Notice[] {
  const notices: Notice[] = [];
  const add = (grade: Notice["grade"], text: string, todo: string, link: string) => notices.push({ grade, text, todo, link });

  const offline = nodes.filter((node) => node.state === "OFFLINE");
  if (nodes.length > 0 && offline.length === nodes.length) {
    add("bad", "No node is connected.", "Start agents: stripline-agent --server HOST:PORT", "#/fleet?state=OFFLINE");
  } else if (offline.length > 0) {
    add("warn", `${count(offline.length, "node")} offline: ${named(offline.map((node) => short(node.name)))}.`, "If they are gone for good: stripline node remove NAME", "#/fleet?state=OFFLINE");
  }
  const quarantined = nodes.filter((node) => node.quarantine !== "");
  for (const node of quarantined.slice(0, 3)) {
    add("bad", `${short(node.name)} is quarantined: ${node.quarantine}.`, "Look at its agent's log; it is tried again by itself.", `#/fleet?q=${short(node.name)}`);
  }
  if (quarantined.length > 3) add("bad", `${quarantined.length - 3} more nodes are quarantined.`, "See the fleet.", "#/fleet?state=quarantined");
  const versions = new Set(nodes.filter((node) => node.state !== "OFFLINE").map((node) => node.agent_version));
  if (versions.size > 1) add("note", `Agents run ${count(versions.size, "version")}: ${[...versions].sort().join(", ")}.`, "Campaigns take nodes whose experiments agree.", "#/fleet");

  for (const campaign of campaigns) {
    const name = short(campaign.name);
    const link = `#/campaigns/${name}`;
    if (campaign.state === "FAILED" && now - Date.parse(campaign.update_time) < 7 * day_ms) {
      add("bad", `Campaign ${name} (${campaign.spec.fabric}) failed ${ago(campaign.update_time, now)}.`, campaign.message, link);
    } else if (campaign.state === "QUEUED" && now - Date.parse(campaign.create_time) > 60_000) {
      add("warn", `Campaign ${name} waits since ${ago(campaign.create_time, now).replace(" ago", "")}.`, campaign.message, link);
    } else if (campaign.state === "RUNNING" && campaign.advised_budget_s > 0) {
      add("warn", `Campaign ${name} will not end within its time budget.`, `A budget of ${duration(campaign.advised_budget_s)} would do.`, link);
    }
  }

  for (const { model, versions: all } of models) {
    const name = short(model.name);
    const link = `#/models/${name}`;
    const latest = all.find((version) => version.name === model.latest_version);
    if (!latest) {
      add("bad", `Every version of model ${name} is withdrawn.`, "Production that asks for it gets none: run a campaign.", link);
    } else if (latest.provisional !== "") {
      add("warn", `Model ${name} is provisional: ${latest.provisional}.`, "Production takes it only while there is no other; a campaign without that flaw makes a better one.", link);
    } else if (now - Date.parse(latest.create_time) > 90 * day_ms) {
      add("note", `Model ${name} was fitted ${ago(latest.create_time, now)}.`, "Networks change: measure again.", link);
    }
  }
  const grades = ["bad", "warn", "note"];
  return notices.sort((a, b) => grades.indexOf(a.grade) - grades.indexOf(b.grade));
}

function named(names: string[]): string {
  return names.length <= 4 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}

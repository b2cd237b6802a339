// A campaign that may be run: what is asked for, as the address holds it, and what comes of it: pure.

import rows from "./campaign_fields.json";

export interface Spec {
  fabric: string;
  effort: string;
  nodes: number;
  ranks: number;
  runs: number;
  time_budget_s: number;
  width: number;
  experiments: string[];
  [field: string]: string | number | string[];
}

/** `CampaignEstimate`. */
export interface Estimate {
  spec: Spec;
  points: number;
  runs: number;
  points_total: string;
  seconds: number;
  node_s: number;
  stop_reason: string;
  /** 0: none is known. */
  width: number;
  based_on: string;
  risks: { kind: string; message: string }[];
}

/** A field of the form. `factor`: of what people type to what the message holds. */
export interface Field { name: string; option: string; unit: "text" | "number" | "names"; factor: number; label: string; hint: string; help: string }

/** By the table of optimizer/campaign/spec.cc: `scripts/check.sh schema` writes the file. */
export const fields = rows as Field[];

const names = (text: string) => text.split(",").map((one) => one.trim()).filter(Boolean);

/** The message's spec; what is not said is left to the server. */
export function specOf(query: Record<string, string>): Partial<Spec> {
  const spec: Record<string, unknown> = { fabric: query.fabric ?? "", effort: (query.effort ?? "budgeted").toUpperCase() };
  for (const { name, unit, factor } of fields) {
    const text = query[name] ?? "";
    if (text === "") continue;
    if (unit === "names") spec[name] = names(text);
    else spec[name] = Number((Number(text) * factor).toPrecision(12));
  }
  return spec;
}

/** A field of an address that is no number where one is needed; "": none. */
export function wrongField(query: Record<string, string>): string {
  return fields.find(({ name, unit }) => unit === "number" && !(Number(query[name] ?? 0) >= 0))?.label ?? "";
}

/** What of a campaign an address says to ask for one like it. */
export function queryOf(spec: Spec): Record<string, string> {
  const query: Record<string, string> = { fabric: spec.fabric, effort: spec.effort.toLowerCase() };
  for (const { name, unit, factor } of fields) {
    const value = spec[name];
    if (unit === "names") query[name] = (value as string[]).join(",");
    else if (value) query[name] = String(Number(((value as number) / factor).toPrecision(12)));
  }
  return query;
}

/** The command that runs it, or with "estimate" asks the same. */
export function commandOf(query: Record<string, string>, command: "run" | "estimate"): string {
  const said = [`stripline campaign ${command} --fabric ${query.fabric}`];
  if ((query.effort ?? "budgeted") !== "budgeted") said.push(`--effort ${query.effort}`);
  for (const { name, option, unit, factor } of fields) {
    const text = query[name] ?? "";
    if (text === "") continue;
    if (unit === "names") said.push(...names(text).map((one) => `${option} ${one}`));
    else said.push(`${option} ${text}${factor === 0.01 ? "%" : ""}`);
  }
  return said.join(" ");
}

const kBudgets = [1 / 4, 1 / 2, 1, 2, 4];

/** Budgets below and above the one that was asked for, which is in the middle, in whole seconds. */
export function budgetsAround(time_budget_s: number): number[] {
  return [...new Set(kBudgets.map((part) => Math.max(1, Math.round(part * time_budget_s))))];
}

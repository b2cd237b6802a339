// The spec of a campaign, as the address of its page holds it, and the estimate that the server makes of it: pure.

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
export interface Field { name: string; option: string; unit: "text" | "number" | "names" | "flag"; factor: number; label: string; hint: string; help: string }

/** By the table of optimizer/campaign/spec.cc: `scripts/check.sh schema` writes the file. */
export const fields = rows as Field[];

const kTunes = "tune:";
const kOfTuning = ["tune_ranks", "tune_path", "commutative_only", "accept_untried"];
const kOfMeasuring = ["nodes", "ranks", "runs", "width", "experiments"];

/** Whether a campaign over this fabric tunes another runtime. */
export const tunes = (fabric: string) => fabric.startsWith(kTunes);

/** Those that a campaign over this fabric has. */
export const fieldsOf = (fabric: string): Field[] => fields.filter(({ name }) => !(tunes(fabric) ? kOfMeasuring : kOfTuning).includes(name));

const names = (text: string) => text.split(",").map((one) => one.trim()).filter(Boolean);

/** The message's spec; what is not said is left to the server. */
export function specOf(query: Record<string, string>): Partial<Spec> & Record<string, unknown> {
  const spec: Partial<Spec> & Record<string, unknown> = { fabric: query.fabric ?? "", effort: (query.effort ?? "budgeted").toUpperCase() };
  for (const { name, unit, factor } of fieldsOf(query.fabric ?? "")) {
    const text = query[name] ?? "";
    if (text === "") continue;
    if (unit === "names") spec[name] = names(text);
    else if (unit === "text") spec[name] = text;
    else if (unit === "flag") spec[name] = text === "true";
    else spec[name] = Number((Number(text) * factor).toPrecision(12));
  }
  return spec;
}

/** The label of the first field that must be a number and is not; "": there is none. */
export function wrongField(query: Record<string, string>): string {
  return fieldsOf(query.fabric ?? "").find(({ name, unit }) => unit === "number" && !(Number(query[name] ?? 0) >= 0))?.label ?? "";
}

/** The part of an address that asks for a campaign like this one. */
export function queryOf(spec: { fabric: string; effort: string }): Record<string, string> {
  const query: Record<string, string> = { fabric: spec.fabric, effort: spec.effort.toLowerCase() };
  const said = spec as unknown as Record<string, string | number | boolean | string[] | undefined>;
  for (const { name, unit, factor } of fieldsOf(spec.fabric)) {
    const value = said[name];
    if (unit === "names") query[name] = (value as string[]).join(",");
    else if (value) query[name] = unit === "number" ? String(Number(((value as number) / factor).toPrecision(12))) : String(value);
  }
  return query;
}

/** The command that runs it, or with "estimate" asks the same. */
export function commandOf(query: Record<string, string>, command: "run" | "estimate"): string {
  const fabric = query.fabric ?? "";
  const said = [`stripline campaign ${command} ${tunes(fabric) ? `--target ${fabric.slice(kTunes.length)}` : `--fabric ${fabric}`}`];
  if (!tunes(fabric) && (query.effort ?? "budgeted") !== "budgeted") said.push(`--effort ${query.effort}`);
  for (const { name, option, unit, factor } of fieldsOf(fabric)) {
    const text = query[name] ?? "";
    if (text === "") continue;
    if (unit === "names") said.push(...names(text).map((one) => `${option} ${one}`));
    else said.push(unit === "flag" ? option : `${option} ${text}${factor === 0.01 ? "%" : ""}`);
  }
  return said.join(" ");
}

const kBudgets = [1 / 4, 1 / 2, 1, 2, 4];

/** Budgets below and above the one that was asked for, which is in the middle, in whole seconds. */
export function budgetsAround(time_budget_s: number): number[] {
  return [...new Set(kBudgets.map((part) => Math.max(1, Math.round(part * time_budget_s))))];
}

// A campaign that may be run: what is asked for, as the address holds it, and what comes of it: pure.

export interface Spec {
  fabric: string;
  effort: string;
  nodes: number;
  ranks: number;
  runs: number;
  time_budget_s: number;
  node_budget_s: number;
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
export interface Field { name: keyof Spec; option: string; unit: "text" | "number" | "names"; factor: number; label: string; hint: string; help: string }

export const fields: Field[] = [
  { name: "nodes", option: "--nodes", unit: "number", factor: 1, label: "Nodes", hint: "2", help: "In the group." },
  { name: "ranks", option: "--ranks", unit: "number", factor: 1, label: "Ranks", hint: "2", help: "In all, dealt to the nodes in turn." },
  { name: "time_budget_s", option: "--time-budget", unit: "number", factor: 1, label: "Time budget, s", hint: "60 budgeted, 300 full", help: "Limit of the measuring." },
  { name: "node_budget_s", option: "--node-budget", unit: "number", factor: 1, label: "Node budget, node-seconds", hint: "none", help: "The same by the nodes of a group." },
  { name: "width", option: "--width", unit: "number", factor: 0.01, label: "Width, %", hint: "5 budgeted, 2 full", help: "Measure until medians are known within this." },
  { name: "runs", option: "--runs", unit: "number", factor: 1, label: "Runs", hint: "8 budgeted, 12 full", help: "Of fresh processes; an interval needs 6." },
  { name: "experiments", option: "--experiment", unit: "names", factor: 1, label: "Experiments", hint: "all that feed the model", help: "Names, with commas between them." },
];

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
  for (const { name, option, unit } of fields) {
    const text = query[name] ?? "";
    if (text === "") continue;
    if (unit === "names") said.push(...names(text).map((one) => `${option} ${one}`));
    else said.push(`${option} ${text}${name === "width" ? "%" : ""}`);
  }
  return said.join(" ");
}

const kBudgets = [1 / 4, 1 / 2, 1, 2, 4];

/** Budgets below and above the one that was asked for, which is in the middle, in whole seconds. */
export function budgetsAround(time_budget_s: number): number[] {
  return [...new Set(kBudgets.map((part) => Math.max(1, Math.round(part * time_budget_s))))];
}

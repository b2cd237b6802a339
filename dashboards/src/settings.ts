// Settings of another runtime, as a version holds them (a packed export): pure.

/** `stripline export pack` writes it; the record as far as pages read it. */
export interface PackedExport { record: ExportRecord; files: Record<string, string> }

export interface ExportCell {
  collective: string;
  ranks: number;
  ranks_per_node: number;
  bytes: number;
  chosen: string;
  outcome: string;
  /** Time over that of the default, by the search; none where it was not compared. */
  ratio?: number | null;
  ratio_low?: number | null;
  ratio_high?: number | null;
}

export interface ExportKnob { name: string; value: string; outcome: string; ratio: number | null; ratio_low: number | null; ratio_high: number | null; failure: string }

export interface ExportCheck { operation: string; ranks: number; bytes: number; type: string; in_place: boolean; stage: string; verdict: string; ratio: number | null; lower: number | null; upper: number | null; pairs: number }

/** A choice for a number of ranks that was not measured, as those on both sides agree. */
export interface ExportPrediction { collective: string; ranks: number; first_bytes: number; last_bytes: number; chosen: string }

/** That the target reads what is exported: rules by an alternative, settings by a value of a knob. */
export interface ExportProof { factor: number | null; candidate?: string; setting?: { name: string; value: string }; operation?: string; collective: string; ranks: number }

export interface ExportRecord {
  target: string;
  version: string;
  path: string;
  ranks: number[];
  processors: number;
  host: string;
  kernel: string;
  user: string;
  time: string;
  margin: number;
  validated: boolean;
  cells: ExportCell[];
  knobs: ExportKnob[];
  settings?: Record<string, string>;
  predicted?: ExportPrediction[];
  rejected: { collective: string; ranks: number; bytes: number; candidate: string; reason: string }[];
  stages: { stage: string; passed: boolean; verdict: string }[];
  checks: ExportCheck[];
  proofs?: ExportProof[];
}

/** Whether versions of a model of this fabric are settings of another runtime. */
export const holdsSettings = (fabric: string) => fabric.startsWith("target:");

export interface Ratio { value: number; low: number; high: number }

/** What a cell takes of the default's time: by its validation, which chose nothing, else by the search. */
export function ratioOf(record: ExportRecord, cell: ExportCell): Ratio | null {
  if (cell.chosen === "default") return null;
  const check = record.checks.find((one) => one.stage === "fitted" && one.operation === cell.collective && one.ranks === cell.ranks && one.bytes === cell.bytes);
  const [value, low, high] = check ? [check.ratio, check.lower, check.upper] : [cell.ratio, cell.ratio_low, cell.ratio_high];
  return typeof value === "number" ? { value, low: low ?? value, high: high ?? value } : null;
}

/** The cells of a number of ranks as a plane: operations by size. */
export function planeOf(record: ExportRecord, ranks: number): { operations: string[]; sizes: number[]; at: (operation: string, bytes: number) => ExportCell | undefined } {
  const cells = record.cells.filter((one) => one.ranks === ranks);
  const byKey = new Map(cells.map((one) => [`${one.collective}/${one.bytes}`, one]));
  return {
    operations: [...new Set(cells.map((one) => one.collective))],
    sizes: [...new Set(cells.map((one) => one.bytes))].sort((a, b) => a - b),
    at: (operation, bytes) => byKey.get(`${operation}/${bytes}`),
  };
}

export interface RuleOf { collective: string; ranks: number; from: number; to: number; chosen: string; ratio: Ratio | null }

/** Neighbouring sizes with one choice that departs are a rule; its ratio is the geometric mean, with the ends of all intervals. */
export function rulesOf(record: ExportRecord): RuleOf[] {
  const rules: RuleOf[] = [];
  for (const ranks of record.ranks) {
    const { operations, sizes, at } = planeOf(record, ranks);
    for (const collective of operations) {
      let ratios: Ratio[] = [];
      let open: RuleOf | null = null;
      for (const bytes of sizes) {
        const cell = at(collective, bytes);
        if (!cell) continue;
        if (!open || cell.chosen !== open.chosen) {
          ratios = [];
          open = cell.chosen === "default" ? null : { collective, ranks, from: bytes, to: bytes, chosen: cell.chosen, ratio: null };
          if (open) rules.push(open);
        }
        if (!open) continue;
        open.to = bytes;
        const ratio = ratioOf(record, cell);
        if (ratio) ratios.push(ratio);
        if (ratios.length > 0) {
          const mean = Math.exp(ratios.reduce((sum, one) => sum + Math.log(one.value), 0) / ratios.length);
          open.ratio = { value: mean, low: Math.min(...ratios.map((one) => one.low)), high: Math.max(...ratios.map((one) => one.high)) };
        }
      }
    }
  }
  return rules;
}

/** Whether probes have shown that the target reads what is exported: one of each mechanism. */
export function readByTarget(record: ExportRecord): string {
  const proofs = record.proofs ?? [];
  if (proofs.length === 0 || proofs.some((one) => typeof one.factor !== "number")) return "not shown";
  const probes = proofs.map((one) => `a probe (${one.setting ? `${one.setting.name}=${one.setting.value} for ${one.operation}` : `${one.candidate} for ${one.collective}`}) took ${one.factor!.toFixed(2)} times as long`);
  return `yes: ${probes.join(", and ")}`;
}

/** Alternatives that were left out, those with one reason together. */
export function rejectedOf(record: ExportRecord): { candidate: string; collective: string; reason: string; cells: number }[] {
  const found = new Map<string, { candidate: string; collective: string; reason: string; cells: number }>();
  for (const { candidate, collective, reason } of record.rejected) {
    const key = [collective, candidate, reason].join("\n");
    const one = found.get(key) ?? { candidate, collective, reason, cells: 0 };
    found.set(key, { ...one, cells: one.cells + 1 });
  }
  return [...found.values()];
}

// A tuned model's file (docs/model-file.md) as the pages need it: what an operation takes by size,
// with the band of its parameters' intervals; where segments begin; all parameters as a list.
import type { Parameter } from "./types";

export type Operation = "put" | "get" | "am";
export type Quantity = "blocking" | "stream" | "issue";

export interface Segment { from_bytes: number; to_bytes: number; [name: string]: number | Parameter }
export interface OperationModel { segments: Segment[]; queue_depth?: Parameter }
export interface Rule {
  operation: string; algorithm: string; min_ranks: number; max_ranks: number;
  from_bytes: number; to_bytes: number; bytes: number; time_s: Parameter; gain?: Parameter;
}
export interface ModelFile {
  name: string;
  provenance: { campaigns: string[]; sample_sha256: string; fitter_version: string; fitted_at: string; provisional?: string };
  fingerprint: Record<string, { value: string; match: "hard" | "soft" | "ignore" }>;
  domain: { min_ranks: number; max_ranks: number; min_bytes: number; max_bytes: number };
  network: Record<string, Partial<Record<Operation, OperationModel>>>;
  collective?: { rules: Rule[] };
  [section: string]: unknown;
}

type End = "value" | "low" | "high";

function parameter(segment: Segment, name: string, end: End): number {
  const found = segment[name] as Parameter | undefined;
  if (!found) return 0;
  return end === "value" ? found.value : Math.max(0, found.ci[end === "low" ? 0 : 1]);
}

/** The segment that serves a size: the first also smaller ones, the last also larger ones. */
export function segmentAt(model: OperationModel, size: number): Segment {
  return model.segments.find((one) => size < one.to_bytes) ?? model.segments[model.segments.length - 1];
}

/** Seconds, as docs/measurement.md has them; `end`: with all parameters at that end of their intervals. */
export function time(model: OperationModel, operation: Operation, quantity: Quantity, size: number, end: End = "value"): number {
  const segment = segmentAt(model, size);
  const of = (name: string) => parameter(segment, name, end);
  const o = of("o_base_s") + of("o_per_byte_s") * size;
  const r = of("r_base_s") + of("r_per_byte_s") * size;
  const wire = of("G_s_per_byte") * size;
  if (quantity === "issue") return o;
  if (quantity === "stream") return Math.max(o + r, of("g_s") + wire);
  return o + (operation === "am" ? 1 : 2) * of("L_s") + wire + r;
}

/** Sizes at which another segment begins. */
export function breakPoints(model: OperationModel): number[] {
  return model.segments.slice(1).map((segment) => segment.from_bytes);
}

/** Sizes for a curve: four to a doubling, and both sides of each break point. */
export function sizes(least: number, most: number, breaks: number[]): number[] {
  const all = new Set<number>([least, most]);
  for (let k = Math.ceil(4 * Math.log2(least)); k <= 4 * Math.log2(most); ++k) all.add(Math.round(2 ** (k / 4)));
  for (const at of breaks) {
    if (at > least && at < most) all.add(at - 1).add(at);
  }
  return [...all].filter((size) => size >= least && size <= most).sort((a, b) => a - b);
}

export interface NamedParameter { name: string; parameter: Parameter }

function isParameter(value: unknown): value is Parameter {
  return typeof value === "object" && value !== null && "ci" in value && "value" in value;
}

function label(item: unknown, index: number): string {
  if (typeof item !== "object" || item === null) return String(index);
  const one = item as Record<string, unknown>;
  const parts = ["operation", "algorithm", "from_bytes", "bytes", "region_bytes", "regions", "span_bytes", "nodes", "distance"]
    .filter((key) => typeof one[key] === "string" || typeof one[key] === "number")
    .map((key) => `${one[key]}`);
  return parts.length > 0 ? parts.join("/") : String(index);
}

/** All parameters below a value, by the path of their names. */
export function parameters(value: unknown, path = ""): NamedParameter[] {
  if (isParameter(value)) return [{ name: path, parameter: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => parameters(item, `${path}[${label(item, index)}]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => parameters(inner, path === "" ? key : `${path}.${key}`));
}

/** Half the interval over the value; infinite for a value of zero with an interval. */
export function relativeWidth(parameter: Parameter): number {
  const half = (parameter.ci[1] - parameter.ci[0]) / 2;
  return half === 0 ? 0 : half / parameter.value;
}

// The messages of /api/v1 (proto/stripline/v1) as far as the pages read them. 64-bit integers come
// as text.

export interface Hold { reason: string; actor: string; time: string; deadline?: string }

export interface Node {
  name: string;
  state: "IDLE" | "BUSY" | "OFFLINE" | string;
  agent_version: string;
  fingerprint: Record<string, string>;
  fabrics: string[];
  experiments: string[];
  last_seen_time: string;
  assignment: string;
  quarantine: string;
  cluster?: string;
  hold?: Hold;
  models: NodeModel[];
}

/** A model that a node is to have. */
export interface NodeModel {
  version: string;
  label: string;
  fabric: string;
  state: "PENDING" | "APPLIED" | "REJECTED" | string;
  reason: string;
  time: string;
}

export interface CampaignSpec {
  fabric: string;
  clock: string;
  nodes: number;
  ranks: number;
  effort: string;
  experiments: string[];
  runs: number;
  time_budget_s: number;
  model: string;
  cluster?: string;
  width: number;
  node_budget_s: number;
}

export interface Campaign {
  name: string;
  spec: CampaignSpec;
  state: "QUEUED" | "RUNNING" | "PAUSED" | "DRAINING" | "FITTING" | "SUCCEEDED" | "FAILED" | "CANCELLED" | string;
  message: string;
  create_time: string;
  update_time: string;
  points_done: number;
  points_total: number;
  runs_done: number;
  runs_total: number;
  seconds_left: number;
  model_version: string;
  samples: string;
  advised_budget_s: number;
  stop_reason: string;
  /** Relative half-width of the intervals of nearly all points; 0: none is known yet. */
  width: number;
  node_s: number;
  /** What people call it. */
  labels?: string[];
  /** "users/alice"; empty: that was not recorded. */
  owner?: string;
}

export interface CampaignEvent { cursor: string; time: string; message: string; campaign: Campaign }

export interface Point {
  experiment: string;
  variant: string;
  params: Record<string, number | string>;
  runs: number;
  samples: number;
  failed: number;
  median: number | null;
  low: number | null;
  high: number | null;
}

/** The points of one experiment (`points/columns`): a row for each point, a column for each member; columns of few values by their places. */
export interface ColumnsAnswer {
  experiment: string;
  place: number[];
  variant: PlacedValues;
  params: Record<string, PlacedValues>;
  runs: number[];
  samples: number[];
  failed: number[];
  median: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}
/** `of`: of each point, the place of its value in `values`; -1: it has none. */
export interface PlacedValues { values: (number | string)[]; of: number[] }

/** What is known of an experiment's points, counted (`points/summary`). */
export interface ExperimentSummary { experiment: string; points: number; measured: number; failed: number }

/** A run of a campaign. */
export interface Run {
  name: string;
  state: "PENDING" | "ACTIVE" | "FINISHED" | "FAILED" | "CANCELLED" | string;
  failures: number;
  nodes: string[];
  points_done: number;
  points_total: number;
  duration_s: number;
  message: string;
}

/** What each run has said of a point, sample by sample. */
export interface PointSamples {
  place: number;
  experiment: string;
  variant: string;
  params: Record<string, number | string>;
  runs: { run: string; node: string; orphan: boolean; verified: boolean; median: number | null; values: number[] }[];
}

export interface Model { name: string; fabric: string; latest_version: string; create_time: string; unreadable: string }

export interface ModelVersion {
  name: string;
  sha256: string;
  campaigns: string[];
  create_time: string;
  size_bytes: string;
  summary: string;
  provisional: string;
  withdrawn: string;
  state: "FITTED" | "FAILED" | "VALIDATED" | "PUBLISHED" | "STALE" | "DEPRECATED" | string;
  labels: string[];
  validation?: Validation;
  findings: Finding[];
  stale: string;
  checks: Check[];
  /** What failed in its validation; empty: nothing did. */
  failed: string;
  /** What its validation lacks; empty: it was judged. */
  unjudged: string;
  /** What runs with it lost against running without a model; empty: nothing. */
  lost: string;
}

/** How a version does on points that it was not fitted to. */
export interface Validation {
  time: string;
  campaigns: string[];
  points: string;
  mean_error: number;
  largest_error: number;
  /** The predicted times, by kind: "size of get", "burst of put". */
  times: { kind: string; points: string; mean_error: number }[];
  choices: string;
  mean_regret: number;
  worst_regret: number;
  missed: string;
  kinds: { kind: string; choices: string; mean_regret: number; worst_regret: number }[];
  /** Choices that were held against no model: what they take more, as a share (below zero: less). */
  compared: string;
  over_untuned: number;
  over_untuned_low: number;
  losses: string;
  worst_loss: string;
  worst_loss_share: number;
  /** Of settings of another runtime, which are judged in it: beside its default ones in place of no model. */
  settings?: { validated: boolean; probe_factor: number };
}

export interface Finding { kind: string; subject: string; value: number; message: string }

/** Sentinels by one campaign, counted; `/sentinels` has them all. */
export interface Check { campaign: string; time: string; points: string; outside: string; ratio: number; bursts: string; bursts_outside: string; shapes: string; shapes_outside: string }

/** A label that has come to name a version. */
export interface LabelMove { label: string; version: string; actor: string; time: string; nodes: string[] }

/** Why a label would not name a version; null: it would. */
export type Gate = Record<"canary" | "stable", string | null>;

export interface Decision {
  values: string[];
  plan: Record<string, unknown>;
  text: string;
  reason: string;
  predicted_s: number;
  baseline_s: number;
  gain_low: number;
  next_s: number | null;
}
export interface Decisions { options: string[]; decisions: Decision[] }

/** A parameter of a model file (docs/model-file.md). */
export interface Parameter {
  value: number;
  unit: string;
  ci: [number, number];
  runs: number;
  samples: number;
  method: string;
  at_least?: boolean;
}

/** A token, without its secret. */
export interface Token {
  name: string;
  role: "AGENT" | "VIEWER" | "OPERATOR" | "PUBLISHER" | "ADMIN" | string;
  /** The user's name, or which nodes it enrols; empty: any. */
  subject: string;
  create_time: string;
  expire_time: string;
  /** When it was revoked or used up; empty: it was not. */
  end_time: string;
  used_by: string;
  /** Enrolments that it is for, and that it was used for. */
  count?: number;
  uses?: number;
  last_used_time?: string;
}

export interface AuditEvent { time: string; actor: string; action: string; object: string }

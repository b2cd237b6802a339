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
}

export interface Campaign {
  name: string;
  spec: CampaignSpec;
  state: "QUEUED" | "RUNNING" | "FITTING" | "SUCCEEDED" | "FAILED" | "CANCELLED" | string;
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

export interface Model { name: string; fabric: string; latest_version: string; create_time: string }

export interface ModelVersion {
  name: string;
  sha256: string;
  campaigns: string[];
  create_time: string;
  size_bytes: string;
  summary: string;
  provisional: string;
  withdrawn: string;
}

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

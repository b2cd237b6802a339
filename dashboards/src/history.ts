// What ran on which nodes when, and what happened to these: pure.
import type { Table } from "./table";
import { duration, short } from "./units";

export interface PastRun {
  name: string;
  nodes: string[];
  start_time: string;
  /** Empty: it was in progress at the end of the time that was asked for. */
  end_time: string;
  outcome: "IN_PROGRESS" | "FINISHED" | "LOST" | "FAILED" | "CANCELLED" | string;
  message: string;
}
export interface NodeEvent { kind: string; node: string; time: string; actor: string; message: string }
export interface FleetHistory { start_time: string; end_time: string; runs: PastRun[]; events: NodeEvent[]; truncated: boolean }

/** Where the history of the last `hours` is; "": the usual ones, which the server knows. */
export function historyPath(hours: string, now: number): string {
  return hours === "" ? "history" : `history?from=${new Date(now - Number(hours) * 3_600_000).toISOString()}`;
}

/** Marks of events: what each is called, and its shape around the origin. */
const shapes = { up: "M0 -6l6 10h-12z", down: "M0 6l6 -10h-12z", square: "M-4.5 -4.5h9v9h-9z", diamond: "M0 -6.5l6.5 6.5l-6.5 6.5l-6.5 -6.5z", cross: "M-6 -4l2 -2l4 4l4 -4l2 2l-4 4l4 4l-2 2l-4 -4l-4 4l-2 -2l4 -4z" };
export const marks: Record<string, { text: string; shape: string; bad?: boolean }> = {
  CONNECTED: { text: "connected", shape: shapes.up },
  ENROLLED: { text: "enrolled", shape: shapes.up },
  CERTIFICATE_RENEWED: { text: "certificate renewed", shape: shapes.up },
  LAST_HEARD: { text: "last heard", shape: shapes.down, bad: true },
  REMOVED: { text: "removed", shape: shapes.down },
  CORDONED: { text: "cordoned", shape: shapes.square },
  DRAINED: { text: "drained", shape: shapes.square },
  UNCORDONED: { text: "uncordoned", shape: shapes.up },
  MODEL_APPLIED: { text: "model applied", shape: shapes.diamond },
  MODEL_REJECTED: { text: "model rejected", shape: shapes.diamond, bad: true },
  REVOKED: { text: "revoked", shape: shapes.cross, bad: true },
};
export const markOf = (kind: string) => marks[kind] ?? { text: kind.toLowerCase().replaceAll("_", " "), shape: shapes.diamond };

/** A bar or a mark in the row of a node; places are shares of the time that is shown. */
export interface Item { node: string; row: number; from: number; to: number; text: string; kind: string; campaign?: string }

const timeOf = (time: string) => time.slice(0, 19).replace("T", " ");
const outcomeText = (run: PastRun) => `${run.outcome.toLowerCase().replaceAll("_", " ")}${run.message === "" ? "" : `: ${run.message}`}`;

function runText(run: PastRun): string {
  const [, campaign, , number] = run.name.split("/");
  const took = run.end_time === "" ? `since ${timeOf(run.start_time)}` : `${timeOf(run.start_time)}, ${duration((Date.parse(run.end_time) - Date.parse(run.start_time)) / 1000)}`;
  return `${took}: ${campaign}, run ${number}, ${outcomeText(run)}`;
}

function eventText({ kind, time, actor, message }: NodeEvent): string {
  return `${timeOf(time)}: ${markOf(kind).text}${actor === "" ? "" : ` by ${short(actor)}`}${message === "" ? "" : `: ${message}`}`;
}

/** What is in the rows of these nodes, row by row, and in order of time within each. */
export function itemsOf(history: FleetHistory, nodes: string[]): Item[] {
  const [start, end] = [Date.parse(history.start_time), Date.parse(history.end_time)];
  const share = (time: string) => Math.min(1, Math.max(0, (Date.parse(time) - start) / (end - start)));
  const rows = new Map(nodes.map((node, row) => [node, row]));
  const items = [
    ...history.runs.flatMap((run) => run.nodes.map((node) => ({ node, from: share(run.start_time), to: run.end_time === "" ? 1 : share(run.end_time), text: runText(run), kind: run.outcome, campaign: run.name.split("/")[1] }))),
    ...history.events.map((event) => ({ node: event.node, from: share(event.time), to: share(event.time), text: eventText(event), kind: event.kind })),
  ];
  return items.filter(({ node }) => rows.has(node)).map((item) => ({ ...item, row: rows.get(item.node)!, text: `${short(item.node)}, ${item.text}` }))
    .sort((a, b) => a.row - b.row || a.from - b.from);
}

/** Nodes that have a history, and are not there any more. */
export function goneFrom(history: FleetHistory, nodes: string[]): string[] {
  const known = new Set(nodes);
  return [...new Set([...history.runs.flatMap((run) => run.nodes), ...history.events.map((event) => event.node)])].filter((node) => !known.has(node)).sort();
}

/** Which item an arrow key leads to: the one beside it, or the first of the row above or below; undefined: no such key. */
export function movedTo(items: Item[], at: number, key: string): number | undefined {
  const beside = { ArrowLeft: at - 1, ArrowRight: at + 1 }[key];
  if (beside !== undefined) return Math.max(0, Math.min(items.length - 1, beside));
  if (key !== "ArrowUp" && key !== "ArrowDown") return undefined;
  const row = items[at]?.row ?? -1;
  const rows = items.map((item) => item.row).filter((one) => (key === "ArrowUp" ? one < row : one > row));
  return rows.length === 0 ? Math.max(0, at) : items.findIndex((item) => item.row === (key === "ArrowUp" ? Math.max(...rows) : Math.min(...rows)));
}

export function tableOf(history: FleetHistory, nodes: string[]): Table {
  const shown = new Set(nodes);
  const runs = history.runs.flatMap((run) => run.nodes.map((node) => [short(node), run.start_time, run.end_time, run.name, outcomeText(run)]));
  const events = history.events.map(({ node, time, kind, actor, message }) => [short(node), time, time, markOf(kind).text, [actor, message].filter((one) => one !== "").join(": ")]);
  return { columns: ["node", "start", "end", "what", "about"], rows: [...runs, ...events].filter(([node]) => shown.has(`nodes/${node}`)).sort((a, b) => (a[1] < b[1] ? -1 : 1)) };
}

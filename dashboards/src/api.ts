// Asking /api/v1 (docs/http.md), or what a report has with it.
import { keyOf, report } from "./report";

const kToken = "stripline.token";

export class ApiError extends Error {
  constructor(readonly status: number, readonly reason: string, message: string) {
    super(message);
  }
}

export function token(): string {
  return sessionStorage.getItem(kToken) ?? "";
}

/** Kept until the browser's tab is closed; empty: forgotten. */
export function keepToken(text: string): void {
  if (text === "") sessionStorage.removeItem(kToken);
  else sessionStorage.setItem(kToken, text);
}

async function request(path: string, signal?: AbortSignal, body?: object): Promise<Response> {
  const shown = token();
  const headers: Record<string, string> = shown === "" ? {} : { Authorization: `Bearer ${shown}` };
  if (body) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(`/api/v1/${path}`, { method: body ? "POST" : "GET", headers, signal, body: body && JSON.stringify(body) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "UNREACHABLE", "The server does not answer. Is it running, and is this machine connected to it?");
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new ApiError(response.status, problem.reason ?? "", problem.message ?? `The server answered ${response.status}.`);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  if (report) {
    const answer = report.answers[keyOf(path)];
    if (answer === undefined) throw new ApiError(404, "NOT_HERE", "This report does not hold it; a server would.");
    return answer as T;
  }
  return (await request(path, signal)).json() as Promise<T>;
}

/** Changes something, if the caller's role may. */
export async function post<T>(path: string, body: object = {}): Promise<T> {
  return (await request(path, undefined, body)).json() as Promise<T>;
}

/** All pages of a list. `field`: the member of the answer that holds its items. */
export async function getAll<T>(path: string, field: string, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  let page = "";
  do {
    const answer = await get<Record<string, unknown>>(`${path}?page_size=1000&page_token=${encodeURIComponent(page)}`, signal);
    items.push(...((answer[field] as T[]) ?? []));
    page = (answer.next_page_token as string) ?? "";
  } while (page !== "");
  return items;
}

export interface ServerEvent { event: string; id: string; data: string }

/** Splits what has come of an event stream into whole events and the rest. */
export function splitEvents(text: string): { events: ServerEvent[]; rest: string } {
  const blocks = text.split("\n\n");
  const rest = blocks.pop() ?? "";
  const events = blocks.flatMap((block) => {
    const one: ServerEvent = { event: "", id: "", data: "" };
    for (const line of block.split("\n")) {
      const [, name, value] = /^(event|id|data): (.*)$/.exec(line) ?? [];
      if (name) one[name as keyof ServerEvent] = value ?? "";
    }
    return one.event === "" ? [] : [one];
  });
  return { events, rest };
}

/** Calls `tell` for each event, until the stream ends. Streams need a header, which EventSource cannot send. */
export async function follow(path: string, signal: AbortSignal, tell: (event: ServerEvent) => void): Promise<void> {
  if (report) {
    for (const one of await get<{ cursor: string }[]>(path)) tell({ event: "campaign", id: one.cursor, data: JSON.stringify(one) });
    return tell({ event: "end", id: "", data: "" });
  }
  const response = await request(path, signal);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const { events, rest } = splitEvents(text + value);
    text = rest;
    events.forEach(tell);
  }
}

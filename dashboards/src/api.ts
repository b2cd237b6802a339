// Asking /api/v1 (docs/http.md), or what a report has with it.
import { keyOf, report } from "./report";

const kToken = "stripline.token";

/** Where /api/v1 is for a page of this address: beside it, so that a proxy may have both below a path of its own. */
export function apiBase(page: string): string {
  return new URL("api/v1/", page).href;
}

/** Where people sign in by the issuer of the server, for a page of this address: beside it, too. */
export function signInUrl(page: string): string {
  return new URL("login", page).href;
}

/** The issuer that vouches for people; "": there is none, and tokens alone let them in. */
export async function issuerOf(page: string): Promise<string> {
  try {
    const response = await fetch(`${signInUrl(page)}/about`);
    return response.ok ? ((await response.json()).issuer ?? "") : "";
  } catch {
    return "";
  }
}

/** Ends the session of this browser. */
export async function signOut(page: string): Promise<void> {
  await fetch(`${signInUrl(page)}/out`, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
}

/** Whether a person of this name came in by the issuer. */
export const isVouchedFor = (name: string): boolean => name.startsWith("users/oidc:");

export const base = typeof document === "undefined" || report ? "" : apiBase(document.baseURI);

export class ApiError extends Error {
  /** `wait_s`: the server asks to be left alone for this long. */
  constructor(readonly status: number, readonly reason: string, message: string, readonly wait_s = 0) {
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

// Marks, embeddings, overrides and isolates of bidirectional text, as they are and as JSON may escape them.
const kTurns = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|(?<!\\)(?:\\\\)*\\u(?:061c|200[ef]|202[a-e]|206[6-9])/gi;

/** JSON whose texts name the marks that turn the direction of text (U+202E and its like) instead of holding them: what a node or a user wrote does not reorder what stands beside it. */
export function withoutTurns(json: string): string {
  return json.replace(kTurns, (found) => (found.length === 1 ? `\\\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}` : `${found.slice(0, -5)}\\${found.slice(-5)}`));
}

async function request(path: string, signal?: AbortSignal, body?: object): Promise<Response> {
  const shown = token();
  const headers: Record<string, string> = shown === "" ? {} : { Authorization: `Bearer ${shown}` };
  if (body) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(`${base}${path}`, { method: body ? "POST" : "GET", headers, signal, body: body && JSON.stringify(body) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "UNREACHABLE", "The server does not answer. Is it running, and is this machine connected to it?");
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new ApiError(response.status, problem.reason ?? "", problem.message ?? `The server answered ${response.status}.`, Number(response.headers.get("Retry-After") ?? 0));
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  if (report) {
    const answer = report.answers[keyOf(path)];
    if (answer === undefined) throw new ApiError(404, "NOT_HERE", "This report does not contain it; the server has it.");
    return answer as T;
  }
  return JSON.parse(withoutTurns(await (await request(path, signal)).text())) as T;
}

/** Changes something, if the caller's role may. */
export async function post<T>(path: string, body: object = {}): Promise<T> {
  return JSON.parse(withoutTurns(await (await request(path, undefined, body)).text())) as T;
}

/** One page of a list, and what asks for the next; empty: there is none. `field`: the member of the answer that holds its items. */
export async function getPage<T>(path: string, field: string, size: number, after = "", signal?: AbortSignal): Promise<{ items: T[]; next: string }> {
  const answer = await get<Record<string, unknown>>(`${path}?page_size=${size}&page_token=${encodeURIComponent(after)}`, signal);
  return { items: (answer[field] as T[]) ?? [], next: (answer.next_page_token as string) ?? "" };
}

/** All pages of a list. */
export async function getAll<T>(path: string, field: string, signal?: AbortSignal, after = ""): Promise<T[]> {
  const items: T[] = [];
  let page = after;
  do {
    const answer = await getPage<T>(path, field, 1000, page, signal);
    items.push(...answer.items);
    page = answer.next;
  } while (page !== "");
  return items;
}

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
    if (answer === undefined) throw new ApiError(404, "NOT_HERE", "This report does not hold it; a server would.");
    return answer as T;
  }
  return (await request(path, signal)).json() as Promise<T>;
}

/** Changes something, if the caller's role may. */
export async function post<T>(path: string, body: object = {}): Promise<T> {
  return (await request(path, undefined, body)).json() as Promise<T>;
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

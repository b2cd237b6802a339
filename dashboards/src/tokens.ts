// Tokens and the users who have them: pure.
import type { Token } from "./types";

const day_ms = 86_400_000;
/** Who has a token that ends within this time is to know. */
export const kSoon_ms = 30 * day_ms;
const kUserRoles = ["VIEWER", "OPERATOR", "PUBLISHER", "ADMIN"];

export interface TokenState { kind: "valid" | "ending" | "ended"; text: string }

/** What it is now. Those that enrol nodes are short-lived by intent: nothing is said of their end. */
export function stateOf(token: Token, now: number): TokenState {
  if (token.end_time) return { kind: "ended", text: token.used_by && (token.uses ?? 1) >= (token.count ?? 1) ? "used up" : "revoked" };
  const left = Date.parse(token.expire_time) - now;
  if (left <= 0) return { kind: "ended", text: "expired" };
  if (token.role !== "AGENT" && left < kSoon_ms) return { kind: "ending", text: `ends in ${Math.max(1, Math.round(left / day_ms))} days` };
  return { kind: "valid", text: "valid" };
}

/** `role`: the strongest of the tokens that are valid; empty: no one lets the user in. `until`: the last of them ends then. */
export interface User { name: string; role: string; tokens: number; valid: number; until: string }

export function usersOf(tokens: Token[], now: number): User[] {
  const users = new Map<string, User>();
  for (const token of tokens) {
    if (!kUserRoles.includes(token.role)) continue;
    const user = users.get(token.subject) ?? { name: token.subject, role: "", tokens: 0, valid: 0, until: "" };
    users.set(token.subject, user);
    ++user.tokens;
    if (stateOf(token, now).kind === "ended") continue;
    ++user.valid;
    if (kUserRoles.indexOf(token.role) > kUserRoles.indexOf(user.role)) user.role = token.role;
    if (user.until === "" || Date.parse(token.expire_time) > Date.parse(user.until)) user.until = token.expire_time;
  }
  return [...users.values()].sort((a, b) => a.name.localeCompare(b.name));
}

// Roles as `WhoAmIResponse` names them (proto/stripline/v1/access.proto), each with those before it.
import { short } from "./units";

const users = ["VIEWER", "OPERATOR", "PUBLISHER", "ADMIN"] as const;

export type Needed = "OPERATOR" | "PUBLISHER" | "ADMIN";

/** Whether somebody with this role may do what needs another. */
export function mayAct(role: string, needed: Needed): boolean {
  return users.findIndex((one) => one === role) >= users.indexOf(needed);
}

/** Why somebody may not change a campaign, though operators change theirs; empty: they may. */
export function notTheirs(who: { name: string; role: string }, campaign: { name: string; owner?: string }): string {
  const { owner = "" } = campaign;
  if (mayAct(who.role, "PUBLISHER") || (owner !== "" && owner === who.name)) return "";
  const own = owner === "server";
  const whose = own ? "is the server's own" : owner === "" ? "has no recorded owner" : `belongs to ${short(owner)}`;
  const others = own || owner === "" ? "" : `${short(owner)}, `;
  return `${short(campaign.name)} ${whose}. Operators change only their own campaigns: this one is changed by ${others}a publisher or an administrator.`;
}

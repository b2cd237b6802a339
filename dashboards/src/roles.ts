// Roles as `WhoAmIResponse` names them (proto/stripline/v1/access.proto), each with those before it.
const users = ["VIEWER", "OPERATOR", "PUBLISHER", "ADMIN"] as const;

export type Needed = "OPERATOR" | "PUBLISHER" | "ADMIN";

/** Whether somebody with this role may do what needs another. */
export function mayAct(role: string, needed: Needed): boolean {
  return users.findIndex((one) => one === role) >= users.indexOf(needed);
}

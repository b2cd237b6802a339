// Roles as `WhoAmIResponse` names them (proto/stripline/v1/access.proto), each with those before it.
const users = ["VIEWER", "OPERATOR", "PUBLISHER", "ADMIN"];

export function mayOperate(role: string): boolean {
  return users.indexOf(role) >= users.indexOf("OPERATOR");
}

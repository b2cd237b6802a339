// Where one is, as the address after '#': "#/models/tcp?op=get". All parameters of a page are in
// it, so that a link restores the view.

export interface Route { path: string[]; query: Record<string, string> }

export function parse(hash: string): Route {
  const text = hash.replace(/^#\/?/, "");
  const [path, query] = text.split("?", 2);
  return {
    path: (path ?? "").split("/").filter(Boolean).map(decodeURIComponent),
    query: Object.fromEntries(new URLSearchParams(query ?? "")),
  };
}

export function format(route: Route): string {
  const query = new URLSearchParams(Object.entries(route.query).filter(([, value]) => value !== ""));
  const path = route.path.map((part) => encodeURIComponent(part).replaceAll("%40", "@")).join("/");
  return `#/${path}${query.size > 0 ? `?${query}` : ""}`;
}

/** A token that came with the address, and the address without it, which may be kept. */
export function takeToken(hash: string): { token: string; rest: string } {
  const route = parse(hash);
  const { token = "", ...query } = route.query;
  return { token, rest: format({ ...route, query }) };
}

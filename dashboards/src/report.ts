// A page in one file has what it shows with it (`stripline report`): answers of /api/v1 by what was
// asked, in place of a server.

export interface Report { title: string; made: string; start: string; answers: Record<string, unknown> }

function read(): Report | null {
  const element = typeof document === "undefined" ? null : document.getElementById("report");
  return element ? (JSON.parse(element.textContent!) as Report) : null;
}

/** What this page has with it; null: it is a server's. */
export const report = read();

/** What an answer is found by: options in the order of their names, those of lists' pages left out. */
export function keyOf(path: string): string {
  const [place, query = ""] = path.split("?", 2);
  const options = [...new URLSearchParams(query)].filter(([name]) => !["page_size", "page_token", "cursor"].includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}=${value}`);
  return options.length === 0 ? place : `${place}?${options.join("&")}`;
}

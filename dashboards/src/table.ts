// What a picture shows, as rows: for CSV, and for people who read tables instead.

export interface Table { columns: string[]; rows: (string | number | null)[][] }

function cell(value: string | number | null): string {
  if (value === null) return "";
  const text = String(value);
  // A leading sign of a formula would be run by spreadsheets.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** RFC 4180. */
export function csv(table: Table): string {
  return [table.columns, ...table.rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
}

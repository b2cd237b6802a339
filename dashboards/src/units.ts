// Quantities as people read them. SI units come in, text goes out.

const minus = "\u2212";

function significant(value: number, digits: number): string {
  const text = Number(value.toPrecision(digits));
  return String(text).replace("-", minus);
}

/** "1.23 µs", "45.6 ns", "3.4 ms", "43 ps", "0 s". */
export function seconds(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  for (const [unit, factor] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9], ["ps", 1e-12]] as const) {
    if (size >= factor * 0.9995) return `${significant(value / factor, digits)} ${unit}`;
  }
  return `${significant(value / 1e-15, digits)} fs`;
}

/** "512 B", "4 KiB", "1.5 MiB". */
export function bytes(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return `${significant(value, 4)} ${units[unit]}`;
}

/** "12.3 %". */
export function percent(part: number, digits = 3): string {
  return Number.isFinite(part) ? `${significant(part * 100, digits)} %` : "–";
}

/** Half of an interval as a share of what it is about: "± 4 %". Beyond ± 100 % the figure means nothing. */
export function half(width: number): string {
  return width > 1 ? "wider than ± 100 %" : `± ${percent(width, 2)}`;
}

/** A parameter's value in its unit: "s", "s/B" or "1". */
export function quantity(value: number, unit: string): string {
  if (unit === "s") return seconds(value);
  if (unit === "s/B") return value === 0 ? "0 s/B" : `${seconds(value)}/B`;
  return significant(value, 4);
}

/** "58 s", "3:05 min", "1:02 h": for waiting people. */
export function duration(value: number): string {
  const whole = Math.max(0, Math.round(value));
  const two = (number: number) => String(number).padStart(2, "0");
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}:${two(whole % 60)} min`;
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)} h`;
}

/** "12 s ago", "3 h ago", "5 days ago". */
export function ago(time: string, now: number): string {
  const s = (now - Date.parse(time)) / 1000;
  if (!Number.isFinite(s)) return "never";
  if (s < 5) return "now";
  if (s < 60) return `${Math.round(s)} s ago`;
  if (s < 3600) return `${Math.round(s / 60)} min ago`;
  if (s < 2 * 86400) return `${Math.round(s / 3600)} h ago`;
  return `${Math.round(s / 86400)} days ago`;
}

/** How much of a campaign's measuring is done, from 0 to 1: of points or of runs, the larger share, as runs to come may measure fewer points than planned. */
export function doneShare(of: { points_done: number; points_total: number; runs_done: number; runs_total: number }): number {
  const share = (done: number, total: number) => (total > 0 ? Math.min(1, done / total) : 0);
  return Math.max(share(of.points_done, of.points_total), share(of.runs_done, of.runs_total));
}

/** "1 node", "3 nodes". */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** The last part of a resource's name: "models/tcp" to "tcp". */
export function short(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** A network's name where there is little room: of a file in a folder, the file alone. */
export function fabricText(name: string): string {
  return name.replace(/^([^/]*:)\/.*\/([^/]+)$/, "$1…/$2");
}

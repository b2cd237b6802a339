// Axes that an outlier does not flatten: pure.

/** Values that an axis shows are within this many times what half of them are within. */
const kReach = 8;

export interface Clipped { low: number; high: number; outside: number }

function medianOf(sorted: number[]): number {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Where an axis of these values begins and ends: it holds zero and all of them, unless a few are so far
 * from the others that these could not be distinguished; then it ends before them, and `outside` counts
 * them. Ends of intervals (`whiskers`) have room as far as the axis goes anyway, and half as far again.
 */
export function clipped(values: (number | null)[], whiskers: (number | null)[] = []): Clipped {
  const known = values.filter((one): one is number => one !== null && Number.isFinite(one));
  if (known.length === 0) return { low: 0, high: 0, outside: 0 };
  const reach = kReach * medianOf(known.map(Math.abs).sort((a, b) => a - b));
  const kept = reach > 0 ? known.filter((one) => Math.abs(one) <= reach) : known;
  let [low, high] = [Math.min(0, ...kept), Math.max(0, ...kept)];
  const room = 0.5 * (high - low);
  for (const end of whiskers) {
    if (end === null || !Number.isFinite(end)) continue;
    low = Math.min(low, Math.max(end, Math.min(0, ...kept) - room));
    high = Math.max(high, Math.min(end, Math.max(0, ...kept) + room));
  }
  return { low, high, outside: known.length - kept.length };
}

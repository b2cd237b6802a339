// Values over time and their axes: pure.
import type { CampaignEvent } from "./types";

/** A value at a time (milliseconds since 1970), with its interval; misses are shown apart. */
export interface Moment { at: number; value: number; low: number | null; high: number | null; miss: boolean }
export interface Expected { value: number; low: number; high: number }

/** Round values between two, about five. */
export function ticksOf(low: number, high: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / 5;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * size).find((one) => one >= rough * 0.9999)!;
  const ticks = [];
  for (let at = Math.ceil(low / step); at * step <= high * (1 + 1e-9); ++at) ticks.push(at * step);
  return ticks;
}

/** What an axis reaches from and to, so that all of these have room; not below zero. */
export function rangeOf(values: number[]): [low: number, high: number] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const pad = (most - least || Math.abs(most) || 1) * 0.12;
  return [Math.max(0, least - pad), most + pad];
}

/** The text of a time on an axis of `span_ms` milliseconds, in UTC. */
export function timeText(at: number, span_ms: number): string {
  const text = new Date(at).toISOString();
  if (span_ms > 3 * 86_400_000) return text.slice(0, 10);
  return span_ms > 3_600_000 ? `${text.slice(5, 10)} ${text.slice(11, 16)}` : text.slice(11, 19);
}

/** The width of intervals that a campaign's events tell, where it has changed. */
export function shrinking(events: CampaignEvent[]): Moment[] {
  const moments: Moment[] = [];
  for (const { time, campaign } of events) {
    if (campaign.width > 0 && campaign.width !== moments[moments.length - 1]?.value) {
      moments.push({ at: Date.parse(time), value: campaign.width, low: null, high: null, miss: false });
    }
  }
  return moments;
}

// The campaigns that a server has, of which there may be thousands: the newest are there at once, the others follow, and only
// what may have changed is asked for again. Pure but for useCampaigns().
import { useEffect, useRef, useState } from "preact/hooks";
import { getAll, getPage } from "./api";
import { useData, type Loaded } from "./data";
import { report } from "./report";
import type { Campaign } from "./types";

const kFirst = 100;
// Older ones that have not ended are asked for with all others.
const kAllAgain_ms = 60_000;

const numberOf = (campaign: Campaign) => Number(campaign.name.slice(campaign.name.lastIndexOf("c") + 1));

/** The known campaigns, updated by the newest page: those that belong on it and are missing there have been deleted. */
export function merged(known: Campaign[], newest: Campaign[], isAll: boolean): Campaign[] {
  if (isAll || newest.length === 0) return newest;
  const oldest = numberOf(newest[newest.length - 1]);
  return [...newest, ...known.filter((one) => numberOf(one) < oldest)];
}

/** Whether a text is in a campaign's name, fabric, labels, owner, model or message. */
export function mentions(campaign: Campaign, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const said = [campaign.name, campaign.spec.fabric, campaign.spec.effort, campaign.spec.cluster ?? "", campaign.model_version, campaign.message, campaign.owner ?? "", ...(campaign.labels ?? []), ...campaign.spec.experiments].join(" ").toLowerCase();
  return words.every((word) => said.includes(word));
}

/** Labels as people write them, with spaces or commas between them, each once. */
export function labelsFrom(text: string): string[] {
  return [...new Set(text.toLowerCase().split(/[\s,]+/).filter(Boolean))];
}

export interface Campaigns extends Loaded<Campaign[]> { complete: boolean }

export function useCampaigns(everySeconds = 0): Campaigns {
  const all = useRef<{ campaigns: Campaign[]; complete: boolean; at: number }>({ campaigns: [], complete: false, at: 0 });
  const [, redraw] = useState(0);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const loaded = useData("campaigns", async (signal) => {
    const { items, next } = await getPage<Campaign>("campaigns", "campaigns", kFirst, "", signal);
    const before = all.current;
    const complete = next === "";
    before.campaigns = merged(before.campaigns, items, complete);
    if (complete) before.complete = true;
    if (!complete && !report && Date.now() - before.at > kAllAgain_ms) {
      before.at = Date.now();
      // Until they come the newest are shown.
      getAll<Campaign>("campaigns", "campaigns", stop.current.signal, next).then((others) => {
        all.current = { campaigns: merged(others, all.current.campaigns.slice(0, kFirst), false), complete: true, at: before.at };
        redraw((number) => number + 1);
      }, () => { before.at = 0; });
    }
    return before.campaigns;
  }, everySeconds);
  return { ...loaded, data: loaded.data && all.current.campaigns, complete: all.current.complete };
}

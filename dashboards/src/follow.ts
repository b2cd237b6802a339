// Following a campaign: by the stream that all tabs share, by one of this page's own now and then where browsers have no
// shared workers, or by what a report has with it.
import { base, get, token } from "./api";
import { report } from "./report";
import { kRepeat_ms, openByFetch, openByTurns, StreamHub, type Follow, type News } from "./stream_hub";
import type { CampaignEvent } from "./types";

interface Link { follow: (follow: Follow, tell: (news: News) => void) => void; leave: (id: string) => void }

let link: Link | undefined;

function byWorker(): Link {
  const { port } = new SharedWorker(new URL("events.js", document.baseURI), { type: "module", name: "stripline" });
  const listeners = new Map<string, (news: News) => void>();
  port.onmessage = ({ data }: MessageEvent<News>) => listeners.get(data.id)?.(data);
  const leave = (id: string) => {
    listeners.delete(id);
    port.postMessage({ leave: id });
  };
  window.addEventListener("pagehide", () => [...listeners.keys()].forEach((id) => port.postMessage({ leave: id })));
  return { follow: (follow, tell) => { listeners.set(follow.id, tell); port.postMessage({ follow }); }, leave };
}

function shared(): Link {
  if (link) return link;
  if (typeof SharedWorker !== "undefined") return link = byWorker();
  const hub = new StreamHub(openByTurns(openByFetch));
  return link = { follow: (follow, tell) => hub.follow(follow, tell), leave: (id) => hub.leave(id) };
}

let number = 0;
const tab = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;

/** Calls `tell` for each event of a campaign from the first on, until `signal`. A stream that breaks is reported as "broken", and opened again. */
export function followCampaign(campaign: string, signal: AbortSignal, tell: (news: News) => void): void {
  if (report) {
    get<CampaignEvent[]>(`campaigns/${campaign}/events`).then((all) => {
      for (const one of all) tell({ id: "", event: "campaign", cursor: one.cursor, data: JSON.stringify(one) });
      tell({ id: "", event: "end", cursor: "", data: "" });
    }, (error: Error) => tell({ id: "", event: "broken", cursor: "", data: error.message }));
    return;
  }
  const follow: Follow = { id: `${tab}-${++number}`, base, token: token(), campaign, cursor: "0" };
  const heard = (news: News) => {
    if (news.event === "campaign") follow.cursor = news.cursor;
    if (news.event === "end" || news.status === 404) clearInterval(timer);
    if (news.status === 401) window.dispatchEvent(new Event("unauthenticated"));
    if (!signal.aborted) tell(news);
  };
  const { follow: begin, leave } = shared();
  const timer = window.setInterval(() => begin(follow, heard), kRepeat_ms);
  begin(follow, heard);
  // A page that is shown again out of the browser's memory had left.
  const back = () => begin(follow, heard);
  window.addEventListener("pageshow", back);
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    window.removeEventListener("pageshow", back);
    leave(follow.id);
  });
}

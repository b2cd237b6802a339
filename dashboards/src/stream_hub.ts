// What happens to campaigns, for all tabs of a browser by one stream: browsers open few connections to a server
// by HTTP/1.1, and a stream for each tab would use them up. Knows no worker and no page: pure but for the clock.

/** A campaign that a tab follows, from an event on. The same `id` again says that the tab is still there. */
export interface Follow { id: string; base: string; token: string; campaign: string; cursor: string }

/** What a tab receives: an event ("campaign", "end", "refused"), or why there is none for now. */
export interface News { id: string; event: string; cursor: string; data: string; status?: number }

/** One connection for several campaigns; it ends when all of them have, or when it is broken. */
export type Open = (base: string, token: string, campaigns: string, signal: AbortSignal, tell: (event: ServerEvent) => void) => Promise<void>;

export interface ServerEvent { event: string; id: string; data: string }

/** Splits what has come of an event stream into whole events and the rest. */
export function splitEvents(text: string): { events: ServerEvent[]; rest: string } {
  const blocks = text.split("\n\n");
  const rest = blocks.pop() ?? "";
  const events = blocks.flatMap((block) => {
    const one: ServerEvent = { event: "", id: "", data: "" };
    for (const line of block.split("\n")) {
      const [, name, value] = /^(event|id|data): (.*)$/.exec(line) ?? [];
      if (name) one[name as keyof ServerEvent] = value ?? "";
    }
    return one.event === "" ? [] : [one];
  });
  return { events, rest };
}

/** The campaign that an event is of: "c12". */
export function campaignOf(event: ServerEvent): string {
  const said = JSON.parse(event.data);
  const name: string = event.event === "campaign" ? said.campaign.name : said;
  return lastPart(name);
}

const lastPart = (name: string) => name.slice(name.lastIndexOf("/") + 1);

/** The server does not open a stream, and says why. `missing`: the campaign that it does not have, "c12". */
export class StreamRefused extends Error {
  constructor(readonly status: number, message: string, readonly missing = "") { super(message); }
}

/** A connection by fetch, as streams need a header, which EventSource cannot send. */
export const openByFetch: Open = async (base, token, campaigns, signal, tell) => {
  const response = await fetch(`${base}events?after=${campaigns}`, { headers: token === "" ? {} : { Authorization: `Bearer ${token}` }, signal });
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    const missing = response.status === 404 ? lastPart(problem.metadata?.name ?? "") : "";
    throw new StreamRefused(response.status, problem.message ?? `The server answered ${response.status}.`, missing);
  }
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const { events, rest } = splitEvents(text + value);
    text = rest;
    events.forEach(tell);
  }
};

// A connection that is not always open ends when it has been silent for this long, and is opened again later.
const kSilence_ms = 3000;
const kBetweenTurns_ms = 6000;

/** For browsers without a worker that tabs share: each tab opens connections of its own, and a browser only six to a server. They take turns. */
export const openByTurns = (open: Open, clock: Clock = realClock): Open => async (base, token, campaigns, signal, tell) => {
  const cursors = new Map(campaigns.split(",").map((one) => one.split(":") as [string, string]));
  while (!signal.aborted && cursors.size > 0) {
    const turn = new AbortController();
    const end = () => turn.abort();
    signal.addEventListener("abort", end);
    let cancel = clock.later(end, kSilence_ms);
    try {
      await open(base, token, [...cursors].map((one) => one.join(":")).join(), turn.signal, (event) => {
        cancel();
        cancel = clock.later(end, kSilence_ms);
        if (event.event === "campaign") cursors.set(campaignOf(event), event.id);
        if (event.event === "end") cursors.delete(campaignOf(event));
        tell(event);
      });
    } catch (error) {
      if (!turn.signal.aborted) throw error;
    } finally {
      cancel();
      signal.removeEventListener("abort", end);
    }
    if (signal.aborted || cursors.size === 0) return;
    await new Promise<void>((next) => {
      const leave = () => { stop(); next(); };
      const stop = clock.later(() => { signal.removeEventListener("abort", leave); next(); }, kBetweenTurns_ms);
      signal.addEventListener("abort", leave);
    });
  }
};

interface Reader extends Follow { tell: (news: News) => void; heard_ms: number }

/** A stream follows this many campaigns at most. */
export const kMostFollowed = 32;
/** Tabs repeat what they follow this often; browsers let those that are hidden do so once a minute at least. */
export const kRepeat_ms = 20_000;
const kForgotten_ms = 150_000;
const kRetry_ms = 2000;
// Tabs that are opened together are asked for together.
const kGather_ms = 50;

/** Time as the hub sees it. `later` returns what takes its call back. */
export interface Clock { now: () => number; later: (act: () => void, ms: number) => () => void }
const realClock: Clock = { now: () => Date.now(), later: (act, ms) => { const timer = setTimeout(act, ms); return () => clearTimeout(timer); } };

interface Stream {
  stop: AbortController;
  cancel: () => void;  // a change that is about to be made
  /** Of each campaign of an open connection, the last event that has come; null: none is open. */
  at: Map<string, number> | null;
}

/** Readers with the same server and token share a connection. */
export class StreamHub {
  private readers = new Map<string, Reader>();
  private streams = new Map<string, Stream>();

  constructor(private open: Open, private clock: Clock = realClock) {}

  follow(follow: Follow, tell: (news: News) => void): void {
    const known = this.readers.get(follow.id);
    if (known) {
      known.heard_ms = this.clock.now();
      return;
    }
    const followed = new Set(this.of(keyOf(follow)).map((one) => one.campaign)).add(follow.campaign);
    if (followed.size > kMostFollowed) {
      tell({ id: follow.id, event: "broken", cursor: follow.cursor, data: `This browser follows ${kMostFollowed} campaigns already: close some of their tabs.` });
      return;
    }
    this.readers.set(follow.id, { ...follow, tell, heard_ms: this.clock.now() });
    this.change(keyOf(follow), kGather_ms);
  }

  leave(id: string): void {
    const reader = this.readers.get(id);
    if (!reader) return;
    this.readers.delete(id);
    this.change(keyOf(reader), kGather_ms);
  }

  /** Forgets readers that have not said for long that they are there: a tab may end without a word. */
  sweep(): void {
    for (const [id, reader] of [...this.readers]) if (this.clock.now() - reader.heard_ms > kForgotten_ms) this.leave(id);
  }

  private of(key: string): Reader[] {
    return [...this.readers.values()].filter((reader) => keyOf(reader) === key);
  }

  private change(key: string, after_ms: number): void {
    const stream = this.streams.get(key) ?? { stop: new AbortController(), cancel: () => {}, at: null };
    this.streams.set(key, stream);
    stream.cancel();
    stream.cancel = this.clock.later(() => this.connect(key, stream), after_ms);
  }

  // Opens the connection that the readers need who are there now, unless it is open.
  private connect(key: string, stream: Stream): void {
    const wanted = cursorsOf(this.of(key));
    const { at } = stream;
    if (at && wanted.size > 0 && at.size === wanted.size && [...wanted].every(([campaign, cursor]) => cursor >= (at.get(campaign) ?? Infinity))) return;
    stream.stop.abort();
    if (wanted.size === 0) {
      this.streams.delete(key);
      return;
    }
    stream.stop = new AbortController();
    stream.at = wanted;
    void this.read(key, stream, stream.stop.signal);
  }

  private async read(key: string, stream: Stream, signal: AbortSignal): Promise<void> {
    const [{ base, token }] = this.of(key);
    const campaigns = [...stream.at!].sort().map(([name, cursor]) => `${name}:${cursor}`).join();
    let why: { status: number; message: string } = { status: 0, message: "The stream of events has ended." };
    try {
      await this.open(base, token, campaigns, signal, (event) => { if (!signal.aborted) this.heard(key, stream, event); });
    } catch (error) {
      why = error instanceof StreamRefused ? error : { status: 0, message: "The server does not answer. Is it running, and is this machine connected to it?" };
    }
    if (signal.aborted) return;
    stream.at = null;
    // A campaign that is not there must not keep the others from being followed.
    const missing = why instanceof StreamRefused ? why.missing : "";
    for (const one of this.of(key).filter((reader) => missing === "" || reader.campaign === missing)) {
      if (missing !== "") this.readers.delete(one.id);
      one.tell({ id: one.id, event: "broken", cursor: String(one.cursor), data: why.message, status: why.status });
    }
    this.change(key, missing === "" ? kRetry_ms : kGather_ms);
  }

  private heard(key: string, stream: Stream, event: ServerEvent): void {
    if (event.event !== "campaign" && event.event !== "end") return;
    const campaign = campaignOf(event);
    if (event.event === "campaign") stream.at?.set(campaign, Number(event.id));
    for (const one of this.of(key).filter((reader) => reader.campaign === campaign)) {
      if (event.event === "end") {
        this.readers.delete(one.id);
        stream.at?.delete(campaign);
        if (this.of(key).length === 0) this.change(key, kGather_ms);
      } else {
        // Another tab may have asked for older events.
        if (Number(event.id) <= Number(one.cursor)) continue;
        one.cursor = event.id;
      }
      one.tell({ id: one.id, event: event.event, cursor: event.id, data: event.data });
    }
  }
}

const keyOf = (follow: Follow) => `${follow.base} ${follow.token}`;

/** Of each campaign the oldest event that a reader has seen. */
export function cursorsOf(readers: Follow[]): Map<string, number> {
  const cursors = new Map<string, number>();
  for (const { campaign, cursor } of readers) cursors.set(campaign, Math.min(Number(cursor), cursors.get(campaign) ?? Infinity));
  return cursors;
}

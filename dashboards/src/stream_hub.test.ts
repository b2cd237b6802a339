import assert from "node:assert/strict";
import { test } from "node:test";
import { campaignOf, openByTurns, splitEvents, StreamHub, StreamRefused, type News, type Open, type ServerEvent } from "./stream_hub";

const event = (campaign: string, id: number): ServerEvent => ({ event: "campaign", id: String(id), data: JSON.stringify({ campaign: { name: `campaigns/${campaign}` } }) });
const end = (campaign: string): ServerEvent => ({ event: "end", id: "", data: JSON.stringify(`campaigns/${campaign}`) });

// Time that passes only in wait().
function clock() {
  let now = 0;
  let due: { at: number; act: () => void }[] = [];
  const settled = () => new Promise((done) => setImmediate(done));
  return {
    now: () => now,
    later: (act: () => void, ms: number) => {
      const one = { at: now + ms, act };
      due.push(one);
      return () => { due = due.filter((other) => other !== one); };
    },
    async wait(ms: number) {
      await settled();
      now += ms;
      const ready = due.filter((one) => one.at <= now);
      due = due.filter((one) => one.at > now);
      ready.forEach((one) => one.act());
      await settled();
    },
  };
}

// Connections as a server sees them.
function server() {
  const opened: { campaigns: string; token: string; signal: AbortSignal; tell: (event: ServerEvent) => void; close: (error?: Error) => void }[] = [];
  const open: Open = (_, token, campaigns, signal, tell) => new Promise((done, failed) => {
    opened.push({ campaigns, token, signal, tell, close: (error) => (error ? failed(error) : done()) });
    signal.addEventListener("abort", () => done());
  });
  return { opened, open, live: () => opened.filter((one) => !one.signal.aborted) };
}

const follow = (id: string, campaign: string, cursor = "0", token = "t") => ({ id, base: "http://h/api/v1/", token, campaign, cursor });

test("whole events are passed on, what is cut off waits", () => {
  const { events, rest } = splitEvents('id: 3\nevent: campaign\ndata: {"a":1}\n\n: still here\n\nid: 4\nevent: ca');
  assert.deepEqual(events, [{ event: "campaign", id: "3", data: '{"a":1}' }]);
  assert.equal(rest, "id: 4\nevent: ca");
  assert.deepEqual(splitEvents(rest + 'mpaign\ndata: {}\n\n').events.map((one) => one.id), ["4"]);
  assert.equal(campaignOf(event("c12", 1)), "c12");
});

test("seven tabs share one connection, and each hears of its own campaign", async () => {
  const { open, opened, live } = server();
  const time = clock();
  const hub = new StreamHub(open, time);
  const heard = new Map<string, News[]>();
  for (let i = 1; i <= 7; ++i) {
    heard.set(`tab${i}`, []);
    hub.follow(follow(`tab${i}`, `c${i}`), (news) => heard.get(`tab${i}`)!.push(news));
  }
  await time.wait(80);
  assert.equal(opened.length, 1);
  assert.equal(opened[0].campaigns, "c1:0,c2:0,c3:0,c4:0,c5:0,c6:0,c7:0");
  opened[0].tell(event("c3", 9));
  assert.deepEqual([...heard.values()].map((all) => all.length), [0, 0, 1, 0, 0, 0, 0]);
  hub.follow(follow("other", "c1", "0", "another token"), () => {});
  await time.wait(80);
  assert.equal(live().length, 2, "rights are not shared");
});

test("a tab that comes later hears all, the others nothing twice", async () => {
  const { open, opened, live } = server();
  const time = clock();
  const hub = new StreamHub(open, time);
  const [first, second]: News[][] = [[], []];
  hub.follow(follow("a", "c1"), (news) => first.push(news));
  await time.wait(80);
  opened[0].tell(event("c1", 5));
  hub.follow(follow("b", "c1"), (news) => second.push(news));
  await time.wait(80);
  assert.equal(live().length, 1);
  assert.equal(opened[1].campaigns, "c1:0");
  opened[1].tell(event("c1", 5));
  opened[1].tell(event("c1", 6));
  assert.deepEqual([first.map((one) => one.cursor), second.map((one) => one.cursor)], [["5", "6"], ["5", "6"]]);
  hub.leave("b");
  await time.wait(80);
  assert.equal(opened.length, 2, "the connection that is open serves who is left");
});

test("an end is passed on, and its campaign is not asked for again", async () => {
  const { open, opened } = server();
  const time = clock();
  const hub = new StreamHub(open, time);
  const heard: News[] = [];
  hub.follow(follow("a", "c1"), (news) => heard.push(news));
  await time.wait(80);
  opened[0].tell(end("c1"));
  await time.wait(80);
  assert.ok(opened[0].signal.aborted, "a connection that no tab needs is closed");
  assert.deepEqual(heard.map((one) => one.event), ["end"]);
  hub.follow(follow("b", "c2"), () => {});
  await time.wait(80);
  assert.equal(opened[1].campaigns, "c2:0");
});

test("a broken connection is reported, and goes on from the last event", async () => {
  const { open, opened } = server();
  const time = clock();
  const hub = new StreamHub(open, time);
  const heard: News[] = [];
  hub.follow(follow("a", "c1"), (news) => heard.push(news));
  await time.wait(80);
  opened[0].tell(event("c1", 5));
  opened[0].close(new StreamRefused(429, "too many"));
  await time.wait(2200);
  assert.deepEqual(heard.map((one) => [one.event, one.status, one.event === "broken" ? one.data : ""]), [["campaign", undefined, ""], ["broken", 429, "too many"]]);
  assert.equal(opened[1].campaigns, "c1:5");
});

test("a campaign that is not there does not keep others from being followed", async () => {
  const { open, opened } = server();
  const time = clock();
  const hub = new StreamHub(open, time);
  const [gone, there]: News[][] = [[], []];
  hub.follow(follow("a", "c9"), (news) => gone.push(news));
  hub.follow(follow("b", "c1"), (news) => there.push(news));
  await time.wait(80);
  opened[0].close(new StreamRefused(404, "there is no campaigns/c9", "c9"));
  await time.wait(80);
  assert.deepEqual(gone.map((one) => [one.event, one.status]), [["broken", 404]]);
  assert.equal(opened.length, 2);
  assert.equal(opened[1].campaigns, "c1:0");
  opened[1].tell(event("c1", 5));
  assert.deepEqual(there.map((one) => one.cursor), ["5"]);
});

test("tabs that have gone without a word are forgotten", async () => {
  const { open, live } = server();
  const time = clock();
  const hub = new StreamHub(open, time);
  hub.follow(follow("a", "c1"), () => {});
  hub.follow(follow("b", "c2"), () => {});
  await time.wait(80);
  await time.wait(100_000);
  hub.follow(follow("b", "c2"), () => {});
  await time.wait(100_000);
  hub.sweep();
  await time.wait(80);
  assert.deepEqual(live().map((one) => one.campaigns), ["c2:0"]);
  await time.wait(200_000);
  hub.sweep();
  await time.wait(80);
  assert.equal(live().length, 0);
});

test("more campaigns than a stream follows are refused with a reason", async () => {
  const { open, opened } = server();
  const time = clock();
  const hub = new StreamHub(open, time);
  const heard: News[] = [];
  for (let i = 1; i <= 33; ++i) hub.follow(follow(`t${i}`, `c${i}`), (news) => heard.push(news));
  await time.wait(80);
  assert.equal(opened[0].campaigns.split(",").length, 32);
  assert.match(heard[0].data, /close some/);
});

test("without a shared worker a connection is open for a moment now and then, and goes on where it was", async () => {
  const { open, opened, live } = server();
  const time = clock();
  const heard: string[] = [];
  let ended = false;
  const stop = new AbortController();
  void openByTurns(open, time)("http://h/api/v1/", "t", "c1:0,c2:3", stop.signal, (one) => heard.push(`${one.event} ${one.id}`)).then(() => { ended = true; });
  await time.wait(0);
  assert.deepEqual(opened.map((one) => one.campaigns), ["c1:0,c2:3"]);
  await time.wait(2900);
  opened[0].tell(event("c1", 5));
  await time.wait(2900);
  assert.equal(live().length, 1, "it still speaks");
  await time.wait(200);
  assert.equal(live().length, 0, "other tabs have their turns");
  await time.wait(6000);
  assert.deepEqual(opened.map((one) => one.campaigns), ["c1:0,c2:3", "c1:5,c2:3"]);
  opened[1].tell(end("c1"));
  await time.wait(3000);
  await time.wait(6000);
  assert.equal(opened[2].campaigns, "c2:3");
  opened[2].tell(end("c2"));
  opened[2].close();
  await time.wait(0);
  assert.ok(ended, "all have ended");
  assert.deepEqual(heard, ["campaign 5", "end ", "end "]);
});

test("without a shared worker what the server refuses is passed on, and who leaves is not connected again", async () => {
  const { open, opened } = server();
  const time = clock();
  let why: unknown;
  const refused = openByTurns(open, time)("", "t", "c1:0", new AbortController().signal, () => {}).catch((error) => { why = error; });
  opened[0].close(new StreamRefused(404, "there is no campaign c1", "c1"));
  await refused;
  assert.ok(why instanceof StreamRefused);
  const stop = new AbortController();
  const left = openByTurns(open, time)("", "t", "c1:0", stop.signal, () => {});
  await time.wait(3000);
  stop.abort();
  await left;
  await time.wait(60_000);
  assert.equal(opened.length, 2);
});

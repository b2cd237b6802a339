// One campaign, live: how far it is, what each point says so far, what happened.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { follow, get, post } from "./api";
import { Empty, Show, useData } from "./data";
import { queryOf } from "./estimate";
import { Figure } from "./figure";
import { Choice, Facts, Progress, State } from "./here";
import { factorsOf, gradeIndex, grades, gradeTexts, index, layout, paint, pixel, width, type Index } from "./plane";
import { report } from "./report";
import { format } from "./route";
import { shrinking } from "./scale";
import { colour, useTheme } from "./theme";
import { Timeline } from "./timeline";
import type { Campaign, CampaignEvent, Point } from "./types";
import { ago, bytes, count, doneShare, duration, half, percent, seconds } from "./units";
import { Action } from "./who";

const over = (campaign: Campaign) => ["SUCCEEDED", "FAILED", "CANCELLED"].includes(campaign.state);
const kMostEvents = 500;
// From this number of points on they are asked for less often.
const kMany = 20_000;
const kRareSeconds = 15;

/** Events as they come; a broken stream goes on from the last one. */
function useEvents(name: string, round: number): { events: CampaignEvent[]; live: boolean; problem: string } {
  const [state, setState] = useState<{ events: CampaignEvent[]; live: boolean; problem: string }>({ events: [], live: false, problem: "" });
  useEffect(() => {
    setState({ events: [], live: false, problem: "" });
    const stop = new AbortController();
    let cursor = "0";
    let timer = 0;
    let fresh: CampaignEvent[] = [];
    // A page of past events is one change, not a thousand.
    const flush = () => {
      const batch = fresh;
      fresh = [];
      if (batch.length > 0) setState((before) => ({ events: [...before.events, ...batch].slice(-kMostEvents), live: true, problem: "" }));
    };
    const run = async () => {
      let ended = false;
      try {
        await follow(`campaigns/${name}/events?cursor=${cursor}`, stop.signal, ({ event, id, data }) => {
          if (event === "end") ended = true;
          if (event !== "campaign") return;
          cursor = id;
          if (fresh.push(JSON.parse(data)) === 1) setTimeout(flush, 50);
        });
        flush();
        setState((before) => ({ ...before, live: false }));
      } catch (error) {
        if (stop.signal.aborted) return;
        setState((before) => ({ ...before, live: false, problem: (error as Error).message }));
      }
      if (!ended && !stop.signal.aborted) timer = window.setTimeout(run, 2000);
    };
    run();
    return () => { stop.abort(); window.clearTimeout(timer); };
  }, [name, round]);
  return state;
}

const gradeColours: Record<string, string> = { tight: "good", fair: "c2", wide: "bad", none: "muted", failed: "text" };
const label = (value: number | string, factor: string) => (typeof value === "number" && factor.includes("bytes") ? bytes(value) : String(value));

function describe(point: Point): string {
  const params = Object.entries(point.params).map(([name, value]) => `${name} ${label(value, name)}`).join(", ");
  const known = width(point);
  const value = point.median === null ? (point.failed > 0 ? "no valid sample" : "not measured yet") : seconds(point.median);
  return `${point.variant}, ${params}: ${value}${known === null ? "" : `, ${half(known)}`} (${count(point.runs, "run")}, ${count(point.samples, "sample")})`;
}

const outlined = grades.map((one) => one === "none" || one === "failed");
const kBelow = 46;

// Pixels, as there may be a hundred thousand points.
function Plane({ points, of, xFactor, yFactor }: { points: Point[]; of: Index; xFactor: string; yFactor: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const [at, setAt] = useState<Point | undefined>();
  const placed = useMemo(() => layout(of, xFactor, yFactor, (value) => label(value, yFactor)), [of, xFactor, yFactor]);
  const left = 190;
  const height = Math.min(640, Math.max(120, placed.ys.length * 26 + kBelow));
  const [size, setSize] = useState(800);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setSize(entry.contentRect.width));
    watch.observe(canvas.current!.parentElement!);
    return () => watch.disconnect();
  }, []);
  const stepX = (size - left - 10) / Math.max(1, placed.xs.length);
  const stepY = (height - kBelow) / Math.max(1, placed.ys.length);
  useEffect(() => {
    const context = canvas.current!.getContext("2d")!;
    const ratio = devicePixelRatio;
    const [wide, high] = [Math.round(size * ratio), Math.round(height * ratio)];
    canvas.current!.width = wide;
    canvas.current!.height = high;
    const image = context.createImageData(wide, high);
    const colours = Uint32Array.from(grades, (one) => pixel(colour(gradeColours[one])));
    paint(new Uint32Array(image.data.buffer), wide, placed, of.grade, colours, outlined, Math.round(left * ratio), stepX * ratio, stepY * ratio);
    context.putImageData(image, 0, 0);
    context.scale(ratio, ratio);
    context.fillStyle = colour("text");
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    const everyY = Math.ceil(16 / stepY);
    for (let row = 0; row < placed.ys.length; row += everyY) context.fillText(placed.ys[row], left - 8, Math.max(7, (row + 0.5) * stepY), left - 12);
    context.textAlign = "center";
    const everyX = Math.ceil(64 / stepX);
    for (let column = 0; column < placed.xs.length; column += everyX) context.fillText(label(placed.xs[column], xFactor), left + (column + 0.5) * stepX, height - 32);
    context.fillText(xFactor, (left + size) / 2, height - 10);
  }, [placed, of, size, height, theme]);
  const pointAt = (column: number, row: number): Point | undefined =>
    (column >= 0 && column < placed.xs.length && row >= 0 && row < placed.ys.length ? points[placed.at[row * placed.xs.length + column]] : undefined);
  const place = useRef<[number, number]>([0, 0]);
  const move = (event: KeyboardEvent) => {
    const by = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as Record<string, [number, number]>)[event.key];
    if (!by) return;
    event.preventDefault();
    place.current = [Math.min(placed.xs.length - 1, Math.max(0, place.current[0] + by[0])), Math.min(placed.ys.length - 1, Math.max(0, place.current[1] + by[1]))];
    setAt(pointAt(...place.current));
  };
  return (
    <div class="plot">
      <ul class="legend">{grades.map((one) => <li key={one}><i style={{ background: outlined[gradeIndex[one]] ? "none" : `var(--${gradeColours[one]})`, borderColor: `var(--${gradeColours[one]})` }} />{gradeTexts[one]}: {of.counts[one].toLocaleString("en")}</li>)}</ul>
      <div class="canvas">
        <canvas ref={canvas} style={{ width: "100%", height }} role="img" tabIndex={0} onKeyDown={move}
          aria-label={`Points by ${xFactor}: how wide their intervals are. Arrow keys read them; the button Table shows all.`}
          onMouseMove={(event) => setAt(pointAt(Math.floor((event.offsetX - left) / stepX), Math.floor(event.offsetY / stepY)))} />
      </div>
      <output aria-live="polite">{at ? describe(at) : "Move over the picture, or use the arrow keys, to read values."}</output>
    </div>
  );
}

function Points({ all, query }: { all: Point[]; query: Record<string, string> }) {
  const experiments = useMemo(() => [...new Set(all.map((point) => point.experiment))].sort(), [all]);
  // Usually the one that says most of a network.
  const usual = experiments.includes("micro.latency") ? "micro.latency" : experiments[0];
  const experiment = experiments.includes(query.experiment) ? query.experiment : usual;
  const points = useMemo(() => all.filter((point) => point.experiment === experiment), [all, experiment]);
  const of = useMemo(() => index(points), [points]);
  const factors = useMemo(() => factorsOf(of), [of]);
  const x = factors.includes(query.x) ? query.x : factors.includes("bytes") ? "bytes" : factors[0] ?? "";
  const y = query.y === "none" ? "" : factors.includes(query.y) && query.y !== x ? query.y : factors.find((factor) => factor !== x) ?? "";
  const table = () => ({
    columns: ["experiment", "variant", ...factors, "median_s", "low_s", "high_s", "runs", "samples", "failed"],
    rows: points.map((point) => [point.experiment, point.variant, ...factors.map((factor) => point.params[factor] ?? null), point.median, point.low, point.high, point.runs, point.samples, point.failed]),
  });
  const choices = (
    <>
      <Choice label="Experiment" name="experiment" value={experiment} options={experiments.map((one) => [one, one])} />
      {factors.length > 1 && <Choice label="across" name="x" value={x} options={factors.map((one) => [one, one])} />}
      {factors.length > 1 && <Choice label="down" name="y" value={y === "" ? "none" : y} options={[["none", "variant alone"], ...factors.filter((one) => one !== x).map((one): [string, string] => [one, one])]} />}
    </>
  );
  return (
    <Figure id="points" title="Points" about="How well each point is known: the 95 % interval over runs, as a share of the median." choices={choices} table={table}>
      <Plane points={points} of={of} xFactor={x} yFactor={y} />
    </Figure>
  );
}

const stopTexts: Record<string, string> = {
  CONVERGED: "as the intervals were narrow enough", MAX_RUNS: "with the last of its runs", TIME_BUDGET: "at its limit of time",
  NODE_BUDGET: "at its limit of node time", CANCELLED: "as it was cancelled",
};

// How the intervals have become narrower, by what events tell.
function Width({ events, enough }: { events: CampaignEvent[]; enough: number }) {
  const moments = useMemo(() => shrinking(events), [events]);
  if (moments.length < 2) return null;
  return (
    <Figure id="width" title="How well points are known" about="Half of the 95 % interval of nearly every point (19 of 20) is this share of its median at most, run after run."
      table={() => ({ columns: ["time", "width"], rows: moments.map((one) => [new Date(one.at).toISOString(), one.value]) })}>
      <Timeline label="Width of intervals over time" moments={moments} usual={enough > 0 ? { value: enough, text: "narrow enough" } : undefined} xName="time (UTC)" format={(value) => percent(value, 2)}
        say={(index) => `${new Date(moments[index].at).toISOString().slice(11, 19)}: ${half(moments[index].value)}`} />
    </Figure>
  );
}

function Head({ of }: { of: Campaign }) {
  const [, model, , version] = of.model_version.split("/");
  return (
    <>
      {of.state === "FAILED" && <div class="state bad" role="alert"><strong>It failed:</strong> <span>{of.message}</span></div>}
      {of.state === "RUNNING" && of.advised_budget_s > 0 && <div class="state stale"><strong>Its budget will not do.</strong> <span>{duration(of.advised_budget_s)} of measuring would.</span></div>}
      <div class="tiles">
        <div class="tile"><b><Progress share={doneShare(of)} label="share of the measuring that is done" /></b><span>{of.points_done.toLocaleString("en")} points, of at most {of.points_total.toLocaleString("en")} of all runs together</span></div>
        <div class="tile"><b>{of.runs_done} of {of.runs_total}</b><span>runs</span></div>
        <div class="tile"><b>{of.width > 0 ? half(of.width) : "–"}</b><span>{of.spec.width > 0 ? `width; ${half(of.spec.width)} is enough` : "width of nearly all intervals"}</span></div>
        <div class="tile"><b>{Number(of.samples).toLocaleString("en")}</b><span>samples stored</span></div>
        <div class="tile"><b>{over(of) ? "–" : of.seconds_left < 0 ? "unknown" : duration(of.seconds_left)}</b><span>left</span></div>
        <div class="tile"><b>{model ? <a href={`#/models/${model}?version=${version}`}>{model}@{version}</a> : "–"}</b><span>model</span></div>
      </div>
      {of.message !== "" && of.state !== "FAILED" && <p class="lead">{of.message}</p>}
      <Facts of={[
        ["fabric", of.spec.fabric], ["clock", of.spec.clock], ["nodes × ranks", `${of.spec.nodes} × ${of.spec.ranks}`],
        ["effort", of.spec.effort.toLowerCase()], ["time budget", duration(of.spec.time_budget_s)],
        ["cost", `${duration(of.node_s)} of nodes${of.spec.node_budget_s > 0 ? `, of at most ${duration(of.spec.node_budget_s)}` : ""}`],
        ["measuring ended", stopTexts[of.stop_reason] ?? "not yet"],
        ["experiments", of.spec.experiments.length === 0 ? "all that feed the model" : of.spec.experiments.join(", ")],
        ["created", `${of.create_time.slice(0, 16).replace("T", " ")} UTC (${ago(of.create_time, Date.now())})`],
      ]} />
    </>
  );
}

export function CampaignPage({ name, query }: { name: string; query: Record<string, string> }) {
  // Its events are read from the beginning when it has been tried again.
  const [round, setRound] = useState(0);
  const { events, live, problem } = useEvents(name, round);
  const newest = events[events.length - 1]?.campaign;
  const done = newest !== undefined && over(newest);
  const campaign = useData(`campaigns/${name}`, (signal) => get<Campaign>(`campaigns/${name}`, signal), done ? 0 : 5);
  const [many, setMany] = useState(false);
  const points = useData(`campaigns/${name}/points`, (signal) => get<{ points: Point[] }>(`campaigns/${name}/points`, signal), done ? 0 : many ? kRareSeconds : 3);
  useEffect(() => setMany((points.data?.points.length ?? 0) > kMany), [points.data]);
  return (
    <>
      <h1>Campaign {name} {newest && <State of={newest.state} />} {live && !done && <span class="live" role="status">live</span>}</h1>
      {campaign.data && !over(campaign.data) && !done && (
        <div class="actions">
          {["QUEUED", "RUNNING"].includes(campaign.data.state) && (
            <Action text="Pause it" question={`No run of ${name} starts until it is resumed; one that is under way goes on to its end.`}
              act={() => post(`campaigns/${name}/pause`)} done={campaign.again} />
          )}
          {campaign.data.state === "PAUSED" && (
            <Action text="Resume it" question={`Runs of ${name} start again.`} act={() => post(`campaigns/${name}/resume`)} done={campaign.again} />
          )}
          {["RUNNING", "PAUSED"].includes(campaign.data.state) && (
            <Action text="Drain it" question={`A run of ${name} that is under way ends and counts; then it is cancelled. No model is made.`}
              act={() => post(`campaigns/${name}/cancel`, { drain: true })} done={campaign.again} />
          )}
          <Action text="Cancel it" question={`No run of ${name} starts any more, and running ones stop. Its samples stay; no model is made.`}
            act={() => post(`campaigns/${name}/cancel`)} done={campaign.again} />
        </div>
      )}
      {campaign.data && over(campaign.data) && !report && (
        <div class="actions">
          {["FAILED", "CANCELLED"].includes(campaign.data.state) && (
            <Action text="Retry it" question={`${name} goes on: its finished runs count, the others are made again, and a model is fitted.`}
              act={() => post(`campaigns/${name}/retry`)} done={() => { campaign.again(); setRound(round + 1); }} />
          )}
          <Action text="Delete it" question={`${name} is forgotten with its ${count(Number(campaign.data.samples), "sample")}, for good. It is refused while a version of a model was fitted to it.`}
            act={() => post(`campaigns/${name}/delete`)} done={() => { location.hash = "#/campaigns"; }} />
        </div>
      )}
      {problem !== "" && !live && !done && campaign.error === undefined && <div class="state stale" role="status"><strong>Not live:</strong> <span>{problem} It is tried again.</span></div>}
      {campaign.data && !report && (
        <p class="quiet"><a href={`#/compare/campaigns/${name}`}>Compare it</a> with another; <a href={format({ path: ["campaigns", "estimate"], query: queryOf(campaign.data.spec) })}>estimate</a> one like it.</p>
      )}
      <Show of={campaign} what="The campaign">{(one) => <Head of={newest && newest.update_time >= one.update_time ? newest : one} />}</Show>
      <Show of={points} what="The points">{({ points: all }) => (all.length === 0 ? <Empty>No sample has come yet.</Empty> : <Points all={all} query={query} />)}</Show>
      <Width events={events} enough={newest?.spec.width ?? 0} />
      <section class="figure" aria-labelledby="events-title">
        <header><div><h2 id="events-title">Events</h2><p>The newest first{events.length === kMostEvents ? `, the last ${kMostEvents}` : ""}.</p></div></header>
        {events.length === 0 ? <Empty>Nothing has happened yet.</Empty> : (
          <ol class="events scroll tall" tabIndex={0} aria-label="Events">
            {[...events].reverse().map((event) => <li key={event.cursor}><time dateTime={event.time}>{event.time.slice(0, 19).replace("T", " ")}</time> {event.message}</li>)}
          </ol>
        )}
      </section>
    </>
  );
}

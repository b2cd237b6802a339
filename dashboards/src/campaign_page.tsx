// One campaign, live: its progress, its points so far, its events.
import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import { get, post } from "./api";
import { tooWide } from "./attention";
import { Labels } from "./campaign_labels";
import { CampaignPoints } from "./campaign_points";
import { CampaignRuns } from "./campaign_runs";
import { Empty, Show, useData } from "./data";
import { queryOf } from "./estimate";
import { Figure } from "./figure";
import { followCampaign } from "./follow";
import { Facts, Progress, State } from "./here";
import { report } from "./report";
import { mayAct, notTheirs } from "./roles";
import { format } from "./route";
import { shrinking } from "./scale";
import { Timeline } from "./timeline";
import type { Campaign, CampaignEvent } from "./types";
import { ago, count, doneShare, duration, half, percent, short } from "./units";
import { Action, Denied, Who } from "./who";

const over = (campaign: Campaign) => ["SUCCEEDED", "FAILED", "CANCELLED"].includes(campaign.state);
const kMostEvents = 500;

interface Events { events: CampaignEvent[]; live: boolean; problem: string }
const none: Events = { events: [], live: false, problem: "" };

/** Events as they arrive; a broken stream is resumed after the last one. */
function useEvents(name: string, round: number): Events {
  const [state, setState] = useState<Events>(none);
  useEffect(() => {
    setState(none);
    const stop = new AbortController();
    let fresh: CampaignEvent[] = [];
    // A page of past events is one change, not a thousand.
    const flush = () => {
      const batch = fresh;
      fresh = [];
      if (batch.length > 0 && !stop.signal.aborted) setState((before) => ({ events: [...before.events, ...batch].slice(-kMostEvents), live: true, problem: "" }));
    };
    followCampaign(name, stop.signal, ({ event, data }) => {
      if (event === "campaign") {
        if (fresh.push(JSON.parse(data)) === 1) setTimeout(flush, 50);
        return;
      }
      flush();
      setState((before) => ({ ...before, live: false, problem: event === "broken" ? data : "" }));
    });
    return () => stop.abort();
  }, [name, round]);
  return state;
}

const stopTexts: Record<string, string> = {
  CONVERGED: "when the intervals were narrow enough", MAX_RUNS: "after its last run", TIME_BUDGET: "at its time limit",
  NODE_BUDGET: "at its limit of node time", CANCELLED: "when it was cancelled",
};

// How the intervals have become narrower, by what events tell.
function Width({ events, enough }: { events: CampaignEvent[]; enough: number }) {
  const moments = useMemo(() => shrinking(events), [events]);
  if (moments.length < 2) return null;
  return (
    <Figure id="width" title="Width of the intervals over time" about="Half-width of the 95 % confidence interval relative to the median, after each run: 19 of 20 points have at most this."
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
      {of.state === "FAILED" && <div class="state bad" role="alert"><strong>Failed:</strong> <span>{of.message}</span></div>}
      {of.state === "RUNNING" && of.advised_budget_s > 0 && <div class="state stale"><strong>The time budget is too short.</strong> <span>About {duration(of.advised_budget_s)} of measuring is needed.</span></div>}
      {tooWide(of) && <div class="state stale"><strong>Less precise than requested:</strong> <span>intervals of {half(of.width)} instead of {half(of.spec.width)}.</span></div>}
      <div class="tiles">
        <div class="tile"><b><Progress share={doneShare(of)} label="progress of the measurements" /></b><span>{of.points_done.toLocaleString("en")} points measured, of at most {of.points_total.toLocaleString("en")} over all runs</span></div>
        <div class="tile"><b>{of.runs_done} of {of.runs_total}</b><span>runs</span></div>
        <div class="tile"><b>{of.width > 0 ? half(of.width) : "–"}</b><span>{of.spec.width > 0 ? `interval width; ${half(of.spec.width)} requested` : "interval width (19 of 20 points)"}</span></div>
        <div class="tile"><b>{Number(of.samples).toLocaleString("en")}</b><span>samples stored</span></div>
        <div class="tile"><b>{over(of) ? "–" : of.seconds_left < 0 ? "unknown" : duration(of.seconds_left)}</b><span>time left</span></div>
        <div class="tile"><b>{model ? <a href={`#/models/${model}?version=${version}`}>{model}@{version}</a> : "–"}</b><span>model</span></div>
      </div>
      {of.message !== "" && of.state !== "FAILED" && <p class="lead">{of.message}</p>}
      <Facts of={[
        ["owner", of.owner ? <a href={format({ path: ["campaigns"], query: { owner: of.owner } })}>{short(of.owner)}</a> : "not recorded"],
        ["fabric", of.spec.fabric], ["clock", of.spec.clock], ["nodes × ranks", `${of.spec.nodes} × ${of.spec.ranks}`],
        ["effort", of.spec.effort.toLowerCase()], ["time budget", duration(of.spec.time_budget_s)],
        ["cost", `${duration(of.node_s)} of node time${of.spec.node_budget_s > 0 ? `, of at most ${duration(of.spec.node_budget_s)}` : ""}`],
        ["measuring ended", stopTexts[of.stop_reason] ?? "not yet"],
        ["experiments", of.spec.experiments.length === 0 ? "all that the model is fitted to" : of.spec.experiments.join(", ")],
        ["created", `${of.create_time.slice(0, 16).replace("T", " ")} UTC (${ago(of.create_time, Date.now())})`],
      ]} />
    </>
  );
}

export function CampaignPage({ name, query }: { name: string; query: Record<string, string> }) {
  // The events are read from the beginning once more when the campaign has been retried.
  const [round, setRound] = useState(0);
  const { events, live, problem } = useEvents(name, round);
  const newest = events[events.length - 1]?.campaign;
  const done = newest !== undefined && over(newest);
  const campaign = useData(`campaigns/${name}`, (signal) => get<Campaign>(`campaigns/${name}`, signal), done ? 0 : 5);
  const who = useContext(Who);
  const denied = campaign.data ? notTheirs(who, campaign.data) : "";
  return (
    <Denied.Provider value={denied}>
      <h1>Campaign {name} {newest && <State of={newest.state} />} {live && !done && <span class="live" role="status">live</span>}</h1>
      {campaign.data && !over(campaign.data) && !done && (
        <div class="actions">
          {["QUEUED", "RUNNING"].includes(campaign.data.state) && (
            <Action text="Pause it" question={`No run of ${name} starts until the campaign is resumed; runs in progress finish.`}
              act={() => post(`campaigns/${name}/pause`)} done={campaign.again} />
          )}
          {campaign.data.state === "PAUSED" && (
            <Action text="Resume it" question={`Runs of ${name} start again.`} act={() => post(`campaigns/${name}/resume`)} done={campaign.again} />
          )}
          {["RUNNING", "PAUSED"].includes(campaign.data.state) && (
            <Action text="Drain it" question={`Runs of ${name} in progress finish and count; then the campaign is cancelled. No model is fitted.`}
              act={() => post(`campaigns/${name}/cancel`, { drain: true })} done={campaign.again} />
          )}
          <Action text="Cancel it" question={`No further run of ${name} starts, and runs in progress stop. Samples are kept; no model is fitted.`}
            act={() => post(`campaigns/${name}/cancel`)} done={campaign.again} />
        </div>
      )}
      {campaign.data && over(campaign.data) && !report && (
        <div class="actions">
          {["FAILED", "CANCELLED"].includes(campaign.data.state) && (
            <Action text="Retry it" question={`${name} continues: finished runs count, the others are repeated, and a model is fitted.`}
              act={() => post(`campaigns/${name}/retry`)} done={() => { campaign.again(); setRound(round + 1); }} />
          )}
          <Action text="Delete it" question={`${name} and its ${count(Number(campaign.data.samples), "sample")} are deleted for good. The server refuses if a version of a model was fitted to them.`}
            act={() => post(`campaigns/${name}/delete`)} done={() => { location.hash = "#/campaigns"; }} />
        </div>
      )}
      {problem !== "" && !live && !done && campaign.error === undefined && <div class="state stale" role="status"><strong>Not live:</strong> <span>{problem} The page connects again.</span></div>}
      {campaign.data && !report && (
        <p class="quiet"><a href={`#/compare/campaigns/${name}`}>Compare it</a> with another campaign; <a href={format({ path: ["campaigns", "estimate"], query: queryOf(campaign.data.spec) })}>estimate</a> a similar one.</p>
      )}
      {campaign.data && !report && <Labels of={campaign.data} done={campaign.again} />}
      {denied !== "" && !report && mayAct(who.role, "OPERATOR") && <p class="quiet">{denied}</p>}
      <Show of={campaign} what="The campaign">{(one) => <Head of={newest && newest.update_time >= one.update_time ? newest : one} />}</Show>
      <CampaignPoints campaign={name} over={done || (campaign.data !== undefined && over(campaign.data))} query={query} />
      <Width events={events} enough={newest?.spec.width ?? 0} />
      {!report && <CampaignRuns campaign={name} over={done || (campaign.data !== undefined && over(campaign.data))} at={query.run ?? ""} />}
      <section class="figure" aria-labelledby="events-title">
        <header><div><h2 id="events-title">Events</h2><p>{events.length === kMostEvents ? `The ${kMostEvents} most recent, newest` : "Newest"} first.</p></div></header>
        {events.length === 0 ? <Empty>There are no events yet.</Empty> : (
          <ol class="events scroll tall" tabIndex={0} aria-label="Events">
            {[...events].reverse().map((event) => <li key={event.cursor}><time dateTime={event.time}>{event.time.slice(0, 19).replace("T", " ")}</time> {event.message}</li>)}
          </ol>
        )}
      </section>
    </Denied.Provider>
  );
}

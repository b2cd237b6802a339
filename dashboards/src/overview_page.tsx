// The page that opens first: what is tuned, how much it gains, what needs attention.
import { useMemo } from "preact/hooks";
import { activityText } from "./activity";
import { get, getAll } from "./api";
import { useCampaigns } from "./campaign_list";
import { attention } from "./attention";
import { Empty, Show, useData } from "./data";
import { gainsOf, loopQuestion, silence, type Gains } from "./gains";
import { Badge, Progress, State } from "./here";
import type { ModelFile } from "./model_file";
import { offersOf } from "./rollout";
import type { Decisions, ModelVersion, Node } from "./types";
import { ago, count, doneShare, duration, fabricText, percent, short } from "./units";
import { tunedModels, VersionBadges, type TunedModel } from "./versions";

function useGains(version: string): ReturnType<typeof useData<Gains>> {
  return useData(version === "" ? null : version, async (signal) => {
    const file = await get<ModelFile>(`${version}/file`, signal);
    const loops = await get<Decisions>(`${version}/decisions/loop?${loopQuestion}`, signal).catch(() => null);
    return gainsOf(file, loops);
  });
}

// What a version gains: in loops by its model, in other things as measured. Of one that was withdrawn, has failed, is stale, was
// not judged, or with which runs lost time, only that is shown: the gains that it predicts are not credible.
function Gain({ of }: { of?: ModelVersion }) {
  const why = of ? silence(of) : null;
  const judged = of?.validation;
  const gains = useGains(of && why === null && !judged?.settings ? of.name : "");
  if (!of) return null;
  if (why !== null) return <p class="quiet">{why}</p>;
  if (judged?.settings) return <ul class="gains"><li><b>{percent(Math.max(0, -judged.over_untuned), 2)}</b> less time in the target on average, over {count(Number(judged.compared), "comparison")} with its default settings</li></ul>;
  if (gains.error) return <span class="quiet">{gains.error.message}</span>;
  if (!gains.data) return <span class="quiet">…</span>;
  const { loops, measured } = gains.data;
  return (
    <ul class="gains">
      {loops && (loops.tuned === 0
        ? <li class="quiet">predicted: strips are faster for none of {loops.asked} kinds of loops</li>
        : <li>predicted: at least <b>{percent(loops.median, 2)}</b> less time (median) in {loops.tuned} of {loops.asked} kinds of loops; at least {percent(loops.most, 2)} in the best one</li>)}
      {measured.slice(0, 3).map((one) => <li key={one.what}>measured: at least <b>{percent(one.median, 2)}</b> less time {one.asked === 1 ? `for ${one.what}`
        : `(median) for ${one.what} in ${one.tuned} of ${one.asked} ranges of sizes and ranks; at least ${percent(one.most, 2)} in the best one`}</li>)}
      {!loops && measured.length === 0 && <li class="quiet">its campaign measured nothing that a model decides about</li>}
    </ul>
  );
}

// What production uses: the stable version where there is one.
function Tuned({ models, nodes }: { models: TunedModel[]; nodes: Node[] }) {
  const offers = useMemo(() => offersOf(nodes), [nodes]);
  return (
    <div class="cards">
      {models.map(({ model, versions }) => {
        const name = short(model.name);
        const used = versions.find((version) => version.labels.includes("stable")) ?? versions.find((version) => version.name === model.latest_version);
        const has = offers.filter((one) => one.model.version === used?.name);
        const applied = has.filter((one) => one.model.state === "APPLIED").length;
        return (
          <article class="card" key={model.name} aria-labelledby={`model-${name}`}>
            <h3 id={`model-${name}`}><a href={`#/models/${name}`}>{name}</a> {used ? <VersionBadges of={used} /> : <Badge kind="bad">withdrawn</Badge>}</h3>
            <p class="quiet"><span title={model.fabric}>{fabricText(model.fabric)}</span>{used && ` · version ${short(used.name)} of ${versions.length} · fitted ${ago(used.create_time, Date.now())}`}{has.length > 0 && <> · <a href="#/rollout">on {applied} of {count(has.length, "node")}</a></>}</p>
            <Gain of={used} />
          </article>
        );
      })}
    </div>
  );
}

export function OverviewPage() {
  const nodes = useData("overview/nodes", (signal) => getAll<Node>("nodes", "nodes", signal), 10);
  const campaigns = useCampaigns(5);
  const models = useData("overview/models", tunedModels, 15);
  const notices = useMemo(
    () => (nodes.data && campaigns.data && models.data ? attention(nodes.data, campaigns.data, models.data, Date.now()) : undefined),
    [nodes.data, campaigns.data, models.data]);
  const again = () => [nodes, campaigns, models].forEach((one) => one.again());
  const active = campaigns.data?.filter((one) => ["QUEUED", "RUNNING", "PAUSED", "DRAINING", "FITTING"].includes(one.state)) ?? [];
  return (
    <>
      <h1 class="hidden">Overview</h1>
      <div class="columns">
        <section aria-labelledby="tuned">
          <h2 id="tuned">Tuned models and their gains</h2>
          <Show of={models} what="The models">
            {(all) => (all.length === 0
              ? <Empty>No model yet. With two agents connected, <a href="#/campaigns/estimate">start a campaign</a>, or from a shell: <code>stripline campaign run --fabric tcp</code></Empty>
              : <Tuned models={all} nodes={nodes.data ?? []} />)}
          </Show>
          <p class="quiet note">Lower ends of the intervals of the gains. Predicted: over the baseline, which fetches everything first, for loops through 64 KiB to 16 MiB of remote data that compute for 20 µs to 20 ms; only of models that passed validation on data they were not fitted to. Measured: over the default, in the campaign that the model was fitted to.</p>
        </section>
        <section aria-labelledby="attention">
          <h2 id="attention">What needs attention</h2>
          {notices === undefined ? <Show of={{ error: nodes.error ?? campaigns.error ?? models.error, again }} what="The state">{() => null}</Show>
            : notices.length === 0 && nodes.data?.length === 0 ? <Empty>No agent has ever connected. Start one on each node: <code>stripline-agent --server HOST:PORT</code>, the first time with <code>--enroll FILE</code></Empty>
            : notices.length === 0 ? <div class="state good"><strong>Nothing.</strong> All nodes are connected, and no model in use has a problem.</div>
              : <ul class="notices">{notices.map((one) => <li key={one.text} class={one.grade}><a href={one.link}>{one.text}</a><span>{one.todo}</span></li>)}</ul>}
          <h2>Active campaigns</h2>
          <Show of={campaigns} what="The campaigns">
            {() => (active.length === 0 ? <p class="quiet">None.</p> : (
              <ul class="active">{active.map((one) => (
                <li key={one.name}><a href={`#/campaigns/${short(one.name)}`}>{short(one.name)}</a> {fabricText(one.spec.fabric)} <State of={one.state} /> <Progress share={doneShare(one)} label={`progress of ${short(one.name)}`} /> {one.seconds_left >= 0 && <span class="nowrap">{duration(one.seconds_left)} left</span>}</li>
              ))}</ul>
            ))}
          </Show>
          <h2>Fleet</h2>
          <Show of={nodes} what="The nodes">
            {(all) => (
              <p><a href="#/fleet">{count(all.length, "node")}</a>: {activityText(all)}</p>
            )}
          </Show>
        </section>
      </div>
    </>
  );
}

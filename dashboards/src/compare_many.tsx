// More than two campaigns: each against the first, and their times over each other.
import { useMemo } from "preact/hooks";
import { get } from "./api";
import { experimentPoints, experimentsOf, usualOf, Values } from "./campaign_points";
import { pointVerdicts, tally, type CampaignComparison } from "./campaign_comparison";
import { Empty, Show, useData } from "./data";
import { Figure } from "./figure";
import { Choice, Select, State } from "./here";
import { joined, kCampaign } from "./point_columns";
import { format } from "./route";
import type { Campaign } from "./types";
import { ago, fabricText, short } from "./units";

/** The server compares two at a time, and each of these takes it a while. */
const kMost = 6;

interface Against { of: Campaign; counts: Record<string, number> }

// One after another: a server makes few comparisons at a time.
async function against(baseline: Campaign, others: Campaign[], margin: string, signal: AbortSignal): Promise<Against[]> {
  const all: Against[] = [];
  for (const of of others) {
    const compared = await get<CampaignComparison>(`${baseline.name}/compare/columns?${new URLSearchParams({ with: of.name, ...(margin ? { margin } : {}) })}`, signal);
    all.push({ of, counts: tally(compared) });
  }
  return all;
}

function Counts({ baseline, others, margin }: { baseline: Campaign; others: Campaign[]; margin: string }) {
  const compared = useData(`many ${[baseline, ...others].map((one) => one.name).join()} ${margin}`, (signal) => against(baseline, others, margin, signal));
  const rows = compared.data ?? [];
  return (
    <Figure id="against" title={`Against ${short(baseline.name)}`} picture={false} about="Number of points of each campaign that are slower or faster than in the baseline, inconclusive, or equivalent."
      table={() => ({ columns: ["campaign", ...pointVerdicts.map((one) => one.toLowerCase())], rows: rows.map(({ of, counts }) => [short(of.name), ...pointVerdicts.map((one) => counts[one] ?? 0)]) })}>
      <Show of={compared} what="The comparisons">
        {(all) => (
          <div class="scroll" tabIndex={0} role="region" aria-label="Verdicts by campaign">
            <table>
              <thead><tr><th scope="col">campaign</th>{pointVerdicts.map((one) => <th key={one} scope="col" class="right">{one.toLowerCase()}</th>)}<th scope="col">in detail</th></tr></thead>
              <tbody>{all.map(({ of, counts }) => (
                <tr key={of.name}><td><a href={`#/campaigns/${short(of.name)}`}>{short(of.name)}</a></td>{pointVerdicts.map((one) => <td key={one} class="right">{(counts[one] ?? 0).toLocaleString("en")}</td>)}
                  <td><a href={format({ path: ["compare", "campaigns", short(baseline.name), short(of.name)], query: margin ? { margin } : {} })}>point by point</a></td></tr>
              ))}</tbody>
            </table>
          </div>
        )}
      </Show>
    </Figure>
  );
}

function Overlay({ chosen, query }: { chosen: Campaign[]; query: Record<string, string> }) {
  const names = chosen.map((one) => short(one.name));
  const experiments = useData(`experiments of ${names.join()}`, (signal) => experimentsOf(names[0], signal));
  const all = experiments.data ?? [];
  const experiment = all.length === 0 ? null : all.find((one) => one.experiment === query.experiment)?.experiment ?? usualOf(all);
  const points = useData(experiment === null ? null : `${experiment} of ${names.join()}`, (signal) => Promise.all(names.map((name) => experimentPoints(name, experiment!, signal))));
  const of = useMemo(() => (points.data ? joined(points.data.map((one, index) => [names[index], one])) : undefined), [points.data]);
  return (
    <Show of={experiments} what="The experiments">
      {(known) => (known.length === 0 ? <Empty>The baseline has measured nothing.</Empty> : (
        <>
          <div class="filters"><Choice label="Experiment" name="experiment" value={experiment!} options={known.map((one) => [one.experiment, one.experiment])} /></div>
          <Show of={points} what="The points">{() => of && <Values of={of} over={true} query={{ by: kCampaign, ...query }} />}</Show>
        </>
      ))}
    </Show>
  );
}

export function ManyCampaigns({ all, chosen, query }: { all: Campaign[]; chosen: Campaign[]; query: Record<string, string> }) {
  const shown = chosen.slice(0, kMost);
  const go = (to: Campaign[]) => { location.hash = format({ path: ["compare", "campaigns", ...to.map((one) => short(one.name))], query }); };
  const options = all.map((one): [string, string] => [short(one.name), `${short(one.name)}: ${fabricText(one.spec.fabric)}, ${one.spec.effort.toLowerCase()}`]);
  const free = all.find((one) => !shown.includes(one));
  const named = (name: string) => all.find((one) => short(one.name) === name)!;
  return (
    <>
      <div class="filters">
        {shown.map((one, index) => <Select key={index} label={index === 0 ? "Baseline" : `Campaign ${index + 1}`} value={short(one.name)} options={options} set={(name) => go(shown.map((each, place) => (place === index ? named(name) : each)))} />)}
        {free && shown.length < kMost && <button type="button" onClick={() => go([...shown, free])}>Add one</button>}
        <button type="button" onClick={() => go(shown.slice(0, -1))}>Remove the last</button>
        <Choice label="Equivalent within" name="margin" value={query.margin ?? ""} options={[["0.01", "1 %"], ["0.02", "2 %"], ["", "5 %"], ["0.1", "10 %"]]} />
      </div>
      {chosen.length > kMost && <p class="quiet">Only the first {kMost} of {chosen.length} campaigns are compared.</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label="The campaigns">
        <table>
          <thead><tr>{["campaign", "state", "fabric", "effort", "nodes × ranks", "runs", "created"].map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
          <tbody>{shown.map((one) => (
            <tr key={one.name}><td>{short(one.name)}</td><td><State of={one.state} /></td><td>{fabricText(one.spec.fabric)}</td><td>{one.spec.effort.toLowerCase()}</td><td>{one.spec.nodes} × {one.spec.ranks}</td><td>{one.runs_done}</td><td>{ago(one.create_time, Date.now())}</td></tr>
          ))}</tbody>
        </table>
      </div>
      <Overlay key={shown.map((one) => one.name).join()} chosen={shown} query={query} />
      <Counts baseline={shown[0]} others={shown.slice(1)} margin={query.margin ?? ""} />
    </>
  );
}

// All campaigns, the newest first: found, started, and taken in from where they were measured without a server.
import { useContext } from "preact/hooks";
import { LabelBadges } from "./campaign_labels";
import { mentions, useCampaigns } from "./campaign_list";
import { Empty, Show } from "./data";
import { choose, Choice, Progress, Sorted, State, type Column } from "./here";
import { ImportResults } from "./import_results";
import { report } from "./report";
import { format } from "./route";
import type { Campaign } from "./types";
import { ago, count, doneShare, duration, fabricText, short } from "./units";
import { Who } from "./who";

const columns: Column<Campaign>[] = [
  { name: "campaign", key: (one) => short(one.name), cell: (one) => <><a href={`#/campaigns/${short(one.name)}`}>{short(one.name)}</a> <LabelBadges of={one.labels} /></> },
  { name: "state", key: (one) => one.state, cell: (one) => <State of={one.state} /> },
  { name: "fabric", key: (one) => one.spec.fabric, cell: (one) => <span title={one.spec.fabric}>{fabricText(one.spec.fabric)}</span> },
  { name: "effort", key: (one) => one.spec.effort, cell: (one) => one.spec.effort.toLowerCase() },
  { name: "nodes × ranks", key: (one) => one.spec.ranks, cell: (one) => `${one.spec.nodes} × ${one.spec.ranks}`, right: true },
  { name: "done", key: (one) => doneShare(one), cell: (one) => <Progress share={doneShare(one)} label={`progress of ${short(one.name)}`} />, right: true },
  { name: "runs", key: (one) => one.runs_done, cell: (one) => `${one.runs_done} of ${one.runs_total}`, right: true },
  { name: "left", key: (one) => one.seconds_left, cell: (one) => (one.state === "RUNNING" && one.seconds_left >= 0 ? duration(one.seconds_left) : "–"), right: true },
  { name: "model", key: (one) => one.model_version, cell: (one) => { const [, model, , version] = one.model_version.split("/"); return model ? <a href={`#/models/${model}?version=${version}`}>{model}@{version}</a> : "–"; } },
  { name: "owner", key: (one) => one.owner ?? "", cell: (one) => (one.owner ? short(one.owner) : "–") },
  { name: "created", key: (one) => -Date.parse(one.create_time), cell: (one) => ago(one.create_time, Date.now()), right: true },
];

export function CampaignsPage({ query }: { query: Record<string, string> }) {
  const campaigns = useCampaigns(3);
  const { name: me } = useContext(Who);
  const { state = "", q = "", owner = "", compare = "" } = query;
  const picked = compare.split(",").filter(Boolean);
  const pick = (name: string) => choose({ compare: (picked.includes(name) ? picked.filter((one) => one !== name) : [...picked, name]).join() });
  const choosing: Column<Campaign> = { name: "compare", key: (one) => Number(picked.includes(short(one.name))), cell: (one) => <input type="checkbox" aria-label={`Compare ${short(one.name)}`} checked={picked.includes(short(one.name))} onChange={() => pick(short(one.name))} /> };
  return (
    <>
      <h1>Campaigns</h1>
      <Show of={campaigns} what="The campaigns">
        {(all) => {
          if (all.length === 0) return <><Empty>There is no campaign yet. <a href="#/campaigns/estimate">Start one here</a>, or from a shell: <code>stripline campaign run --fabric tcp</code></Empty>{!report && <ImportResults done={campaigns.again} />}</>;
          const states = [...new Set(all.map((one) => one.state))];
          const owners = [...new Set(all.flatMap((one) => (one.owner ? [one.owner] : [])))].sort();
          const shown = all.filter((one) => (state === "" || one.state === state) && (owner === "" || one.owner === owner) && (q === "" || mentions(one, q)));
          return (
            <>
              <p class="lead">{count(all.length, "campaign")}{campaigns.complete ? "" : " so far, others are being loaded"}, {all.filter((one) => ["RUNNING", "DRAINING", "FITTING"].includes(one.state)).length} active.</p>
              <div class="filters">
                <label class="choice"><span>Find</span><input type="search" value={q} placeholder="name, label, fabric, model, owner" onInput={(event) => choose({ q: event.currentTarget.value })} /></label>
                <Choice label="State" name="state" value={state} options={[["", "all"], ...states.map((one): [string, string] => [one, `${one.toLowerCase()} (${all.filter((each) => each.state === one).length})`])]} />
                {(owners.length > 0 || owner !== "") && <Choice label="Owner" name="owner" value={owner} options={[["", "all"], ...(owners.includes(me) ? [[me, "mine"] as [string, string]] : []), ...[...new Set([...owners, ...(owner === "" ? [] : [owner])])].filter((one) => one !== me).map((one): [string, string] => [one, short(one)])]} />}
                {!report && <a href="#/campaigns/estimate">Start or estimate a campaign</a>}
                {!report && picked.length >= 2 ? <a class="button" href={format({ path: ["compare", "campaigns", ...picked], query: {} })}>Compare these {picked.length}</a> : all.length > 1 && <a href="#/compare/campaigns">Compare</a>}
              </div>
              {!report && <ImportResults done={campaigns.again} />}
              {shown.length === 0 ? <Empty>No campaign matches{campaigns.complete ? "" : " among those loaded so far"}. <button type="button" onClick={() => choose({ q: "", state: "", owner: "" })}>Show all</button></Empty> : <Sorted rows={shown} columns={report || all.length < 2 ? columns : [choosing, ...columns]} caption="Campaigns" id={(one) => one.name} most={100} />}
            </>
          );
        }}
      </Show>
    </>
  );
}

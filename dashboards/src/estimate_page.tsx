// What a campaign would take and reach before it is run, and what other budgets would bring.
import { useMemo, useState } from "preact/hooks";
import { getAll, post } from "./api";
import { labelsFrom } from "./campaign_list";
import { Empty, Show, useData } from "./data";
import { budgetsAround, commandOf, fieldsOf, specOf, tunes, wrongField, type Estimate } from "./estimate";
import { Figure } from "./figure";
import { choose, CopyText } from "./here";
import { holdsSettings } from "./settings";
import type { Campaign, Node } from "./types";
import { count, duration, fabricText, half, short } from "./units";
import { Action } from "./who";

const endTexts: Record<string, string> = {
  CONVERGED: "when intervals are narrow enough", MAX_RUNS: "after its last run", TIME_BUDGET: "at its time limit", NODE_BUDGET: "at its limit of node time",
};
const widthText = (width: number) => (width > 0 ? half(width) : "width not known");
const ask = (query: Record<string, string>) => post<Estimate>("campaigns/estimate", { spec: specOf(query) });

interface Budgeted { budget_s: number; estimate: Estimate }

// One after another: each is planned as a campaign is, of which a server plans few at a time.
async function askEach(budgets: number[], query: Record<string, string>): Promise<Budgeted[]> {
  const all: Budgeted[] = [];
  for (const budget_s of budgets) all.push({ budget_s, estimate: await ask({ ...query, time_budget_s: String(budget_s) }) });
  return all;
}

const kRow = 30;
const kNames = 150;
const kPlot = 380;
const kWidth = 840;

// A bar for each budget: the width that it would reach.
function Budgets({ of, asked }: { of: Budgeted[]; asked: number }) {
  const [at, setAt] = useState(-1);
  const most = Math.max(...of.map((one) => one.estimate.width), 1e-9);
  const height = of.length * kRow + 8;
  const move = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(of.length - 1, at + by)));
  };
  const read = of[at];
  return (
    <div class="plot">
      <ul class="legend"><li><i style={{ background: "var(--c1)" }} />interval width (19 of 20 points)</li><li><i style={{ background: "var(--c2)" }} />with the requested budget</li></ul>
      <svg class="picture" viewBox={`0 0 ${kWidth} ${height}`} role="application" tabindex={0} onKeyDown={move}
        aria-label="Interval width by time budget. Arrow keys read values; the button Table shows all.">
        {of.map(({ budget_s, estimate }, index) => {
          const y = index * kRow;
          return (
            <g key={budget_s} class={`row${index === at ? " at" : ""}`} onMouseEnter={() => setAt(index)}>
              <rect x={0} y={y} width={kWidth} height={kRow} class="hit" />
              <text x={kNames - 12} y={y + 20} text-anchor="end">{duration(budget_s)}</text>
              <rect x={kNames} y={y + 6} width={Math.max(2, (estimate.width / most) * kPlot)} height={kRow - 12} rx={2} style={{ fill: `var(--${budget_s === asked ? "c2" : "c1"})` }} />
              <text x={kNames + (estimate.width / most) * kPlot + 10} y={y + 20}>{widthText(estimate.width)}, {count(estimate.runs, "run")}, {duration(estimate.node_s)} of node time</text>
            </g>
          );
        })}
      </svg>
      <output aria-live="polite">
        {read ? `${duration(read.budget_s)}: ${widthText(read.estimate.width)}, ${count(Number(read.estimate.points_total), "point")} in ${count(read.estimate.runs, "run")}, ends ${endTexts[read.estimate.stop_reason] ?? read.estimate.stop_reason}${read.estimate.risks.length > 0 ? `; ${read.estimate.risks.map((one) => one.message).join("; ")}` : ""}`
          : "Move over the picture, or use the arrow keys, to read values."}
      </output>
    </div>
  );
}

// The same campaign with other limits of time.
function OtherBudgets({ of, query }: { of: Estimate; query: Record<string, string> }) {
  const asked = of.spec.time_budget_s;
  const budgets = budgetsAround(asked);
  const others = useData(`budgets ${JSON.stringify(specOf(query))}`, () => askEach(budgets, query));
  return (
    <Figure id="budgets" title="Other time budgets" about="Interval width that 19 of 20 points would reach, relative to their medians, by time budget. Lower is better; where it exceeds the requested width, the budget is too short."
      table={() => ({
        columns: ["time_budget_s", "width", "runs", "points", "seconds", "node_s", "stop_reason", "risks"],
        rows: (others.data ?? []).map(({ budget_s, estimate }) => [budget_s, estimate.width, estimate.runs, Number(estimate.points_total), estimate.seconds, estimate.node_s, estimate.stop_reason, estimate.risks.map((one) => one.kind).join(" ")]),
      })}>
      <Show of={others} what="The estimates for other budgets">{(all) => <Budgets of={all} asked={Math.round(asked)} />}</Show>
    </Figure>
  );
}

// One request for each question, however often its button is pressed: the server starts the campaign once.
function Start({ query }: { query: Record<string, string> }) {
  const request = useMemo(() => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 12)}`, [JSON.stringify(specOf(query))]);
  return (
    <Action text="Start it" question={`A campaign on ${query.fabric} is created; it begins to measure as soon as nodes are free.`}
      about={{ label: "Labels", hint: "none", value: "" }}
      act={async (said) => {
        const { name } = await post<Campaign>("campaigns", { spec: specOf(query), request_id: request });
        const labels = labelsFrom(said);
        if (labels.length > 0) await post(`${name}/label`, { labels });
        location.hash = `#/campaigns/${short(name)}`;
      }} done={() => {}} />
  );
}

function Answer({ query }: { query: Record<string, string> }) {
  const wrong = wrongField(query);
  const ready = (query.fabric ?? "") !== "" && wrong === "";
  const estimate = useData(ready ? `estimate ${JSON.stringify(specOf(query))}` : null, () => ask(query));
  if (wrong !== "") return <div class="state bad" role="alert"><strong>{wrong}</strong> must be a number.</div>;
  if (!ready) return <Empty>Choose a fabric to see an estimate.</Empty>;
  const line = commandOf(query, "run");
  return (
    <>
      <Show of={estimate} what="The estimate">
        {(of) => (
          <>
            <div class="tiles">
              <div class="tile"><b>{duration(of.seconds)}</b><span>of measuring</span></div>
              <div class="tile"><b>{duration(of.node_s)}</b><span>of node time, on {count(of.spec.nodes, "node")}</span></div>
              <div class="tile"><b>{Number(of.points_total).toLocaleString("en")}</b><span>points in all: {count(of.runs, "run")} of up to {count(of.points, "point")}</span></div>
              <div class="tile"><b>{widthText(of.width)}</b><span>{of.spec.width > 0 ? `interval width; ${half(of.spec.width)} requested` : "interval width (19 of 20 points)"}</span></div>
            </div>
            <p class="lead">
              It ends {endTexts[of.stop_reason] ?? of.stop_reason}. {of.based_on === "" ? "There is no similar campaign: every point is assumed to take as long as the plan allows." : <>The estimate is derived from the pace and the intervals of <a href={`#/campaigns/${short(of.based_on)}`}>{short(of.based_on)}</a>, the most recent similar campaign.</>}
            </p>
            {of.risks.length === 0 ? <div class="state good">No risk was found.</div>
              : <ul class="notices" aria-label="Risks">{of.risks.map((one) => <li key={`${one.kind} ${one.message}`} class={one.kind === "NO_RESULT" ? "bad" : "warn"}><b>{one.kind.toLowerCase().replaceAll("_", " ")}</b> <span>{one.message}</span></li>)}</ul>}
            {!tunes(of.spec.fabric) && <OtherBudgets of={of} query={query} />}
          </>
        )}
      </Show>
      <h2>Start</h2>
      <div class="actions">
        <Start query={query} />
      </div>
      <p class="quiet">The same from a shell:</p>
      <div class="copied"><pre>{line}</pre><CopyText text={line}>Copy</CopyText></div>
    </>
  );
}

export function EstimatePage({ query }: { query: Record<string, string> }) {
  const nodes = useData("nodes", (signal) => getAll<Node>("nodes", "nodes", signal));
  return (
    <>
      <h1>Start or estimate a campaign</h1>
      <p class="lead">How long a campaign would take, how narrow its intervals would become, and what its risks are. No campaign starts until you confirm.</p>
      <Show of={nodes} what="The nodes">
        {(all) => {
          const fabrics = [...new Set(all.flatMap((one) => one.fabrics))].filter((one) => !holdsSettings(one)).sort();
          if (fabrics.length === 0) return <Empty>No agent has ever connected, so there is nothing to measure. Start one on each node: <code>stripline-agent --server HOST:PORT</code>, the first time with <code>--enroll FILE</code></Empty>;
          const asked: Record<string, string> = { ...query, fabric: query.fabric ?? fabrics[0] };
          return (
            <div class="asked">
              <form class="figure question" aria-label="The campaign" onSubmit={(event) => event.preventDefault()}>
                <div class="field">
                  <label for="field-fabric">Fabric</label>
                  <select id="field-fabric" value={asked.fabric} onChange={(event) => choose({ fabric: event.currentTarget.value })}>
                    {[...new Set([...fabrics, asked.fabric])].map((one) => <option key={one} value={one} selected={one === asked.fabric}>{fabricText(one)}</option>)}
                  </select>
                </div>
                {!tunes(asked.fabric) && (
                  <div class="field">
                    <label for="field-effort">Effort</label>
                    <select id="field-effort" value={asked.effort ?? "budgeted"} onChange={(event) => choose({ effort: event.currentTarget.value })}>
                      {[["budgeted", "budgeted: about a minute"], ["full", "full: all of the grids"]].map(([value, text]) => <option key={value} value={value} selected={value === (asked.effort ?? "budgeted")}>{text}</option>)}
                    </select>
                  </div>
                )}
                {fieldsOf(asked.fabric).map(({ name, label, hint, help, unit }) => {
                  const common = { id: `field-${name}`, "aria-describedby": `field-${name}-help` };
                  return (
                    <div class="field" key={name}>
                      <label for={`field-${name}`}>{label}</label>
                      {unit === "flag" ? <input {...common} type="checkbox" checked={query[name] === "true"} onChange={(event) => choose({ [name]: event.currentTarget.checked ? "true" : "" })} />
                        : <input {...common} type="text" inputMode={unit === "number" ? "decimal" : "text"} value={query[name] ?? ""} placeholder={hint} onChange={(event) => choose({ [name]: event.currentTarget.value.trim() })} />}
                      <p id={`field-${name}-help`}>{help}</p>
                    </div>
                  );
                })}
              </form>
              <section class="figure" aria-label="The estimate"><Answer query={asked} /></section>
            </div>
          );
        }}
      </Show>
    </>
  );
}

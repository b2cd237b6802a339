// Which node has which version: versions that nodes are offered, canaries before stable ones.
import { useMemo, useState } from "preact/hooks";
import { get, getAll, post } from "./api";
import { Empty, Show, useData } from "./data";
import { Figure } from "./figure";
import { Badge, Choice, choose, Sorted, type Column } from "./here";
import { answers, audience, offersOf, rollouts, some, type AnswerState, type Offered, type Rollout } from "./rollout";
import type { Gate, Node } from "./types";
import { ago, count, fabricText, short } from "./units";
import { nameOf } from "./version_name";
import { allVersions, VersionBadges } from "./versions";
import { Action } from "./who";

const words: Record<AnswerState, string> = { APPLIED: "applied", PENDING: "no answer yet", REJECTED: "rejected" };
const kinds: Record<AnswerState, "good" | "warn" | "bad"> = { APPLIED: "good", PENDING: "warn", REJECTED: "bad" };
const modelOf = (one: Rollout) => one.version.name.split("/")[1];

const kWidth = 900;
const kNames = 230;
const kRow = 34;

// A bar for each labelled version: the number of nodes by their answer.
function Bars({ of }: { of: Rollout[] }) {
  const parts = of.flatMap((one, row) => answers.filter((state) => one.counts[state] > 0).map((state) => ({ one, row, state })));
  const [at, setAt] = useState(-1);
  const most = Math.max(1, ...of.map((one) => one.offers.length));
  const width = (number: number) => (number / most) * (kWidth - kNames - 90);
  const move = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(parts.length - 1, at + by)));
  };
  const said = parts[at];
  return (
    <div class="plot">
      <ul class="legend">{answers.map((state) => <li key={state}><i style={{ background: `var(--${kinds[state]})` }} />{words[state]}</li>)}</ul>
      <svg class="picture" viewBox={`0 0 ${kWidth} ${of.length * kRow + 6}`} role="application" tabindex={0} onKeyDown={move}
        aria-label="Nodes by version and answer. Arrow keys read them; the button Table shows all nodes.">
        {of.map((one, row) => {
          let left = kNames;
          return (
            <g key={`${one.version.name} ${one.label}`}>
              <text x={4} y={row * kRow + 21}>{nameOf(one.version.name)}, {one.label}</text>
              {answers.map((state) => {
                const begin = left;
                left += width(one.counts[state]);
                const index = parts.findIndex((part) => part.one === one && part.state === state);
                return index < 0 ? null : (
                  <g key={state} onMouseEnter={() => setAt(index)}>
                    <rect x={begin} y={row * kRow + 5} width={Math.max(2, left - begin - 1)} height={kRow - 10} rx={3} style={{ fill: `var(--${kinds[state]})`, opacity: state === "PENDING" ? 0.55 : 0.9 }} />
                    {index === at && <rect x={begin} y={row * kRow + 5} width={Math.max(2, left - begin - 1)} height={kRow - 10} rx={3} class="cursor" />}
                  </g>
                );
              })}
              <text x={left + 8} y={row * kRow + 21}>{count(one.offers.length, "node")}</text>
            </g>
          );
        })}
      </svg>
      <output aria-live="polite">{said
        ? `${nameOf(said.one.version.name)}, ${said.one.label}: ${words[said.state]} by ${count(said.one.counts[said.state], "node")}: ${some(said.one.offers.filter((each) => each.model.state === said.state).map((each) => each.node))}`
        : "Move over the picture, or use the arrow keys, to read values."}</output>
    </div>
  );
}

// One step of a rollout: the canary, or the stable version.
function Step({ of, all, again }: { of: Rollout; all: Rollout[]; again: () => void }) {
  const gate = useData(of.label === "canary" ? `${of.version.name}/gate` : null, (signal) => get<Gate>(`${of.version.name}/gate`, signal), 10);
  const name = nameOf(of.version.name);
  const changed = () => { gate.again(); again(); };
  const alreadySaid = of.reasons.some((one) => gate.data?.stable?.endsWith(one.reason));
  return (
    <li class="card" aria-label={`${name}, ${of.label}`}>
      <h3><a href={`#/models/${modelOf(of)}?version=${short(of.version.name)}`}>{name}</a> <VersionBadges of={of.version} /></h3>
      <p>{audience(of, all)}{" "}
        {answers.filter((state) => of.counts[state] > 0).map((state) => <Badge key={state} kind={kinds[state]}>{of.counts[state]} {words[state]}</Badge>)}</p>
      {of.reasons.slice(0, 4).map((one) => <p key={one.reason} class="problem"><strong>{count(one.nodes.length, "node")} rejected it</strong> ({some(one.nodes)}): {one.reason}</p>)}
      {of.label === "canary" && gate.data && (
        <>
          {gate.data.stable === null ? <p class="fine">It can become stable.</p>
            : <p><strong>It cannot become stable{alreadySaid ? "." : ":"}</strong> {!alreadySaid && gate.data.stable}</p>}
          <div class="actions">
            {gate.data.stable === null && <Action text="Make it stable" role="PUBLISHER" question={`All nodes that can open ${of.offers[0]?.model.fabric ?? "its network"} are offered ${name}.`} act={() => post(`${of.version.name}/promote`, { label: "stable" })} done={changed} />}
            <Action text="End the trial" role="PUBLISHER" question={`${name} loses the label canary; its nodes are offered the previous canary, or the stable version.`} act={() => post(`models/${modelOf(of)}/labels/canary/rollback`)} done={changed} />
          </div>
        </>
      )}
      {of.label === "stable" && (
        <div class="actions">
          <Action text="Roll back" role="PUBLISHER" question={`${name} loses the label stable; nodes are offered the previous stable version.`} act={() => post(`models/${modelOf(of)}/labels/stable/rollback`)} done={changed} />
        </div>
      )}
    </li>
  );
}

const columns: Column<Offered>[] = [
  { name: "node", key: (one) => one.node, cell: (one) => <a href={`#/fleet?node=${one.node}`}>{one.node}</a> },
  { name: "network", key: (one) => one.model.fabric, cell: (one) => <span class="nowrap" title={one.model.fabric}>{fabricText(one.model.fabric)}</span> },
  { name: "version", key: (one) => one.model.version, cell: (one) => <a href={`#/models/${one.model.version.split("/")[1]}?version=${short(one.model.version)}`}>{nameOf(one.model.version)}</a> },
  { name: "label", key: (one) => one.model.label, cell: (one) => one.model.label },
  { name: "answer", key: (one) => one.model.state, cell: (one) => <Badge kind={kinds[one.model.state as AnswerState]}>{words[one.model.state as AnswerState] ?? one.model.state}</Badge> },
  { name: "since", key: (one) => (one.model.time === "" ? 0 : -Date.parse(one.model.time)), cell: (one) => (one.model.time === "" ? "–" : ago(one.model.time, Date.now())), right: true },
  { name: "reason", key: (one) => one.model.reason, cell: (one) => one.model.reason || "–" },
];

function Everything({ all, offers, query, again }: { all: Rollout[]; offers: Offered[]; query: Record<string, string>; again: () => void }) {
  const { q = "", answer = "", model = "" } = query;
  const models = [...new Set(all.map(modelOf))];
  const shown = all.filter((one) => model === "" || modelOf(one) === model);
  const of = (state: string) => offers.filter((one) => (model === "" || one.model.version.startsWith(`models/${model}/`)) && (state === "" || one.model.state === state) && (q === "" || one.node.includes(q)));
  const rows = useMemo(() => of(answer), [offers, answer, model, q]);
  return (
    <>
      <p class="lead">{count(all.length, "labelled version")}, offered to nodes {count(of("").length, "time")}: {of("APPLIED").length.toLocaleString("en")} applied, {of("REJECTED").length.toLocaleString("en")} rejected, {of("PENDING").length.toLocaleString("en")} not answered yet.</p>
      {models.length > 1 && <div class="filters"><Choice label="Model" name="model" value={model} options={[["", "all"], ...models.map((one): [string, string] => [one, one])]} /></div>}
      {models.filter((one) => model === "" || one === model).map((one) => {
        const steps = all.filter((each) => modelOf(each) === one);
        return (
          <section key={one} aria-labelledby={`rollout-${one}`}>
            <h2 id={`rollout-${one}`}>{one}</h2>
            <ol class="steps">{steps.map((step) => <Step key={step.label} of={step} all={all} again={again} />)}</ol>
          </section>
        );
      })}
      <Figure id="rollout" title="Versions on nodes" about="Nodes by the version that they are offered, and by their answer."
        table={() => ({ columns: ["node", "network", "version", "label", "answer", "time", "reason"], rows: rows.map(({ node, model: has }) => [node, has.fabric, nameOf(has.version), has.label, has.state, has.time, has.reason]) })}>
        <Bars of={shown} />
      </Figure>
      <div class="filters">
        <label class="choice"><span>Find</span><input type="search" value={q} placeholder="a node" onInput={(event) => choose({ q: event.currentTarget.value })} /></label>
        <Choice label="Answer" name="answer" value={answer} options={[["", "all"], ...answers.map((one): [string, string] => [one, words[one]])]} />
      </div>
      {rows.length === 0 ? <Empty>{offers.length === 0 ? "No node that installs models of these networks is connected." : <>No node matches. <button type="button" onClick={() => choose({ q: "", answer: "", model: "" })}>Show all</button></>}</Empty>
        : <Sorted rows={rows} columns={columns} caption="Nodes and their models" id={(one) => `${one.node} ${one.model.version}`} most={100} start="node" />}
    </>
  );
}

export function RolloutPage({ query }: { query: Record<string, string> }) {
  const data = useData("rollout", async (signal) => {
    const [versions, nodes] = await Promise.all([allVersions(signal), getAll<Node>("nodes", "nodes", signal)]);
    const offers = offersOf(nodes);
    return { any: versions.length > 0, offers, all: rollouts(versions, offers) };
  }, 5);
  return (
    <>
      <h1>Roll-out</h1>
      <Show of={data} what="The roll-out">
        {({ any, offers, all }) => (
          !any ? <Empty>No model yet. A campaign makes one: <code>stripline campaign run --fabric tcp</code></Empty>
            : all.length === 0 ? <Empty>No version has a label, so nodes are offered none. Label one on the page of its model, or from a shell: <code>stripline model promote NAME@VERSION --label canary</code></Empty>
              : <Everything all={all} offers={offers} query={query} again={data.again} />
        )}
      </Show>
    </>
  );
}

// What ran on each node over the last hours, and what happened to it: a row a node.
import { useMemo, useState } from "preact/hooks";
import { get } from "./api";
import { Show, useData } from "./data";
import { Figure } from "./figure";
import { Choice } from "./here";
import { goneFrom, historyPath, itemsOf, markOf, movedTo, tableOf, type FleetHistory as History } from "./history";
import { timeText } from "./scale";
import { count, short } from "./units";

const kRow = 22;
const kNames = 140;
const kWidth = 960;
const kRight = 12;
const kRows = 16;
const kEmpty: History = { start_time: "", end_time: "", runs: [], events: [], truncated: false };
const kOutcomes: [outcome: string, text: string][] = [["FINISHED", "finished"], ["IN_PROGRESS", "in progress"], ["LOST", "lost: it is measured again"], ["FAILED", "failed"], ["CANCELLED", "cancelled"]];

function Picture({ history, nodes }: { history: History; nodes: string[] }) {
  const [at, setAt] = useState(-1);
  const items = useMemo(() => itemsOf(history, nodes), [history, nodes]);
  const [start, end] = [Date.parse(history.start_time), Date.parse(history.end_time)];
  const x = (share: number) => kNames + share * (kWidth - kNames - kRight);
  const height = nodes.length * kRow + 28;
  const kinds = [...new Set(items.filter((one) => !one.campaign).map((one) => one.kind))];
  const keyed = (event: KeyboardEvent) => {
    const to = movedTo(items, at, event.key);
    if (to === undefined && (event.key !== "Enter" || !items[at]?.campaign)) return;
    event.preventDefault();
    if (to === undefined) location.hash = `#/campaigns/${items[at].campaign}`;
    else setAt(to);
  };
  return (
    <div class="plot">
      <ul class="legend">
        {kOutcomes.filter(([outcome]) => items.some((one) => one.kind === outcome)).map(([outcome, text]) => <li key={outcome}><i class={`ran ${outcome.toLowerCase()}`} />{text}</li>)}
        {kinds.map((kind) => <li key={kind}><svg viewBox="-7 -7 14 14" aria-hidden="true"><path d={markOf(kind).shape} class={`mark${markOf(kind).bad ? " bad" : ""}`} /></svg> {markOf(kind).text}</li>)}
      </ul>
      <svg class="picture timeline" viewBox={`0 0 ${kWidth} ${height}`} role="application" tabindex={0} onKeyDown={keyed}
        aria-label="What ran on each node, and what happened to it. Arrow keys read it, Enter opens a campaign; the button Table shows all.">
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <g key={share}>
            <line x1={x(share)} x2={x(share)} y1={0} y2={height - 24} class="grid" />
            <text x={x(share)} y={height - 8} text-anchor={share === 0 ? "start" : share === 1 ? "end" : "middle"}>{timeText(start + share * (end - start), end - start)}</text>
          </g>
        ))}
        {nodes.map((node, row) => <text key={node} x={0} y={row * kRow + 15}>{short(node).length > 20 ? `${short(node).slice(0, 19)}…` : short(node)}</text>)}
        {items.map(({ row, from, to, kind, campaign, text }, index) => (campaign ? (
          <a key={index} href={`#/campaigns/${campaign}`} tabindex={-1} aria-label={text} class={`ran ${kind.toLowerCase()}${index === at ? " at" : ""}`} onMouseEnter={() => setAt(index)}>
            <rect x={x(from)} y={row * kRow + 4} width={Math.max(2, x(to) - x(from))} height={kRow - 8} />
            {x(to) - x(from) > 9 * campaign.length && <text x={x(from) + 4} y={row * kRow + 15} class="on-bar">{campaign}</text>}
          </a>
        ) : (
          <path key={index} d={markOf(kind).shape} transform={`translate(${x(from)} ${row * kRow + kRow / 2})`} class={`mark${markOf(kind).bad ? " bad" : ""}${index === at ? " at" : ""}`} onMouseEnter={() => setAt(index)} />
        )))}
      </svg>
      <output aria-live="polite">{items[at]?.text ?? (items.length === 0 ? "Nothing ran on these nodes, and nothing happened to them." : "Move over the picture, or use the arrow keys, to read it; click a bar to open its campaign.")}</output>
    </div>
  );
}

/** `nodes`: full names of those that are looked at; `all`: no other ones are known. */
export function FleetHistory({ nodes, all, hours }: { nodes: string[]; all: boolean; hours: string }) {
  const history = useData(`history ${hours}`, (signal) => get<History>(historyPath(hours, Date.now()), signal), 15);
  const [most, setMost] = useState(kRows);
  const names = nodes.join();
  const rows = useMemo(() => [...[...nodes].sort((a, b) => a.localeCompare(b, "en", { numeric: true })), ...(all && history.data ? goneFrom(history.data, nodes) : [])], [names, all, history.data]);
  const shown = useMemo(() => rows.slice(0, most), [rows, most]);
  return (
    <Figure id="history" title="What ran where" about="Runs of campaigns on each node, and what happened to it, by the server's clock (UTC)."
      choices={<Choice label="The last" name="hours" value={hours} options={[["1", "hour"], ["", "6 hours"], ["24", "day"], ["168", "week"]]} />}
      table={() => tableOf(history.data ?? kEmpty, rows)}>
      <Show of={history} what="The history">
        {(of) => (
          <>
            {of.truncated && <p class="quiet">There was more than can be shown at once: the oldest is left out.</p>}
            <Picture history={of} nodes={shown} />
            {rows.length > most && <button type="button" class="more" onClick={() => setMost(most + kRows)}>Show {Math.min(kRows, rows.length - most)} more of {count(rows.length - most, "node")}</button>}
          </>
        )}
      </Show>
    </Figure>
  );
}

// One point of a campaign: its samples by run, and the runs that they are of.
import { useMemo, useState } from "preact/hooks";
import { get } from "./api";
import { Empty, Show, useData } from "./data";
import { Figure } from "./figure";
import { choose } from "./here";
import { describe } from "./points_plane";
import { report } from "./report";
import { axisOf, kMostDots, spread } from "./strip";
import type { Point, PointSamples } from "./types";
import { count, seconds, short } from "./units";

const kWidth = 760;
const kLeft = 130;
const kRow = 26;

// A row for each run: its samples as dots, its median as a line; values across, logarithmic where they differ much.
function Strips({ of }: { of: PointSamples["runs"] }) {
  const [at, setAt] = useState(-1);
  const axis = useMemo(() => axisOf(of.flatMap((run) => run.values)), [of]);
  const x = (value: number) => kLeft + 8 + axis.place(value) * (kWidth - kLeft - 24);
  const height = of.length * kRow + 30;
  const move = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(of.length - 1, at + by)));
  };
  const read = of[at];
  return (
    <div class="plot">
      <ul class="legend"><li><i class="dot" style={{ background: "var(--c1)" }} />a sample</li><li><i style={{ background: "var(--c2)", width: ".2rem" }} />the run's median</li>{of.some((run) => run.orphan) && <li><i class="dot" style={{ background: "var(--muted)" }} />of an abandoned attempt, not counted</li>}</ul>
      <svg class="picture strips" viewBox={`0 0 ${kWidth} ${height}`} role="application" tabindex={0} onKeyDown={move} aria-label="Samples by run. Arrow keys read runs; the button Table shows all.">
        {axis.ticks.map((tick) => (
          <g key={tick}>
            <line x1={x(tick)} x2={x(tick)} y1={0} y2={height - 24} class="grid" />
            <text x={x(tick)} y={height - 8} text-anchor="middle" class="axis">{seconds(tick)}</text>
          </g>
        ))}
        {of.map((run, row) => (
          <g key={`${run.run} ${run.orphan} ${row}`} class={`row${row === at ? " at" : ""}${run.orphan ? " orphan" : ""}`} onMouseEnter={() => setAt(row)}>
            <rect x={0} y={row * kRow} width={kWidth} height={kRow} class="hit" />
            <text x={kLeft - 8} y={row * kRow + 17} text-anchor="end">run {short(run.run)}{run.node !== "" && ` · ${short(run.node)}`}</text>
            {spread(run.values, kMostDots).map((value, index) => <circle key={index} cx={x(value)} cy={row * kRow + 13 + ((index * 7) % 11) - 5} r={2.5} class="sample" />)}
            {run.median !== null && <line x1={x(run.median)} x2={x(run.median)} y1={row * kRow + 3} y2={row * kRow + kRow - 3} class="median" />}
          </g>
        ))}
      </svg>
      <output aria-live="polite">{read ? `Run ${short(read.run)}${read.node !== "" ? `, sampled on ${short(read.node)}` : ""}: ${read.median === null ? "no valid sample" : `median ${seconds(read.median)}`} of ${count(read.values.length, "sample")}${read.verified ? "" : ", not verified"}` : "Move over the picture, or use the arrow keys, to read values."}</output>
    </div>
  );
}

export function PointDetail({ campaign, of, place, over }: { campaign: string; of: Point; place: number; over: boolean }) {
  const path = `campaigns/${campaign}/points/${place}`;
  // Again when another run has measured it.
  const samples = useData(report ? null : `${path} after ${of.runs + of.failed}`, (signal) => get<PointSamples>(path, signal));
  return (
    <Figure id="point" title="Samples of a point" about={describe(of, over)} choices={<button type="button" onClick={() => choose({ point: "" })}>Close</button>}
      table={() => ({ columns: ["run", "node", "orphan", "verified", "value_s"], rows: (samples.data?.runs ?? []).flatMap((run) => run.values.map((value) => [short(run.run), short(run.node), String(run.orphan), String(run.verified), value])) })}>
      {report ? <Empty>A report contains no samples; the server has them.</Empty> : (
        <Show of={samples} what="The samples">
          {({ runs }) => (runs.length === 0 ? <Empty>No run has sent a sample of this point.</Empty> : (
            <>
              <Strips of={runs} />
              <p class="quiet">Runs: {[...new Set(runs.map((run) => short(run.run)))].map((run, index) => <>{index > 0 && ", "}<a href={`#runs`} onClick={(event) => { event.preventDefault(); choose({ run }); document.getElementById("runs")?.scrollIntoView(); }}>{run}</a></>)}</p>
            </>
          ))}
        </Show>
      )}
    </Figure>
  );
}

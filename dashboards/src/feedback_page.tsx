// Gains of a version in production, place by place, as runs have reported them.
import { useMemo, useState } from "preact/hooks";
import { getAll } from "./api";
import { Empty, Show, useData } from "./data";
import { gainsByPlace, summedUp, type Feedback, type PlaceGain } from "./feedback";
import { Figure } from "./figure";
import { Badge, Choice, Sorted, type Column } from "./here";
import { ticksOf } from "./scale";
import type { ModelVersion } from "./types";
import { ago, count, percent, seconds, short } from "./units";
import { nameOf } from "./version_name";
import { VersionPage } from "./versions";

const worded = (value: number | null) => (value === null ? "–" : seconds(value));
const kRow = 26;
const kNames = 380;
const kWidth = 900;
const kPlot = 400;
const kMostRows = 40;

// A bar for each place: less time to the right, more to the left.
function Gains({ of, programs }: { of: PlaceGain[]; programs: number }) {
  const [at, setAt] = useState(-1);
  const shown = of.filter((one) => one.gain !== null).slice(0, kMostRows);
  if (shown.length === 0) return <Empty>No decision has been compared with the baseline yet, so no gain is known: guards compare the two from time to time.</Empty>;
  const low = Math.max(-1, Math.min(0, ...shown.map((one) => one.gain!)));
  const high = Math.max(0.05, ...shown.map((one) => one.gain!));
  const x = (gain: number) => kNames + ((Math.max(low, gain) - low) / (high - low)) * kPlot;
  const height = shown.length * kRow + 34;
  const move = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(shown.length - 1, at + by)));
  };
  const said = shown[at];
  return (
    <div class="plot">
      <ul class="legend"><li><i style={{ background: "var(--good)" }} />less time than the baseline</li><li><i style={{ background: "var(--bad)" }} />more time</li></ul>
      <svg class="picture" viewBox={`0 0 ${kWidth} ${height}`} role="application" tabindex={0} onKeyDown={move}
        aria-label="Gains by place of a program. Arrow keys read them; the button Table shows all.">
        {ticksOf(low, high).map((tick) => (
          <g key={tick}>
            <line x1={x(tick)} x2={x(tick)} y1={0} y2={height - 28} class={tick === 0 ? "zero" : "grid"} />
            <text x={x(tick)} y={height - 12} text-anchor="middle" class="axis">{percent(tick, 2)}</text>
          </g>
        ))}
        {shown.map((one, index) => {
          const y = index * kRow;
          const name = `${programs > 1 ? `${one.program}: ` : ""}${one.place} ${one.what}`;
          return (
            <g key={`${one.program} ${name} ${one.choice}`} class={`row${index === at ? " at" : ""}`} onMouseEnter={() => setAt(index)}>
              <rect x={0} y={y} width={kWidth} height={kRow} class="hit" />
              <text x={4} y={y + 18}>{name.length > 52 ? `…${name.slice(-51)}` : name}</text>
              <rect x={Math.min(x(0), x(one.gain!))} y={y + 5} width={Math.max(1, Math.abs(x(one.gain!) - x(0)))} height={kRow - 10} rx={2} style={{ fill: `var(--${one.gain! >= 0 ? "good" : "bad"})` }} />
              <text x={kNames + kPlot + 12} y={y + 18}>{one.saved_s >= 0 ? "saved " : "lost "}{seconds(Math.abs(one.saved_s))}</text>
            </g>
          );
        })}
      </svg>
      <output aria-live="polite">{said
        ? `${said.program}, ${said.place}, ${said.what}: ${said.choice}: ${worded(said.measured_s)}, ${worded(said.simple_s)} by the baseline (${percent(said.gain!)} less), predicted ${worded(said.predicted_s)}, ${count(said.executions, "execution")} in ${count(said.runs, "run")}${said.demoted > 0 ? `, given up in ${said.demoted}` : ""}`
        : "Move over the picture, or use the arrow keys, to read values."}</output>
    </div>
  );
}

const columns: Column<PlaceGain>[] = [
  { name: "program", key: (one) => one.program, cell: (one) => one.program || "–" },
  { name: "place", key: (one) => one.place, cell: (one) => <code>{one.place}</code> },
  { name: "what", key: (one) => one.what, cell: (one) => one.what },
  { name: "decision", key: (one) => one.choice, cell: (one) => <>{one.choice} {one.demoted > 0 && <Badge kind="warn" title="The guard measured that it was slower than the baseline">given up in {count(one.demoted, "run")}</Badge>}</> },
  { name: "executions", key: (one) => one.executions, cell: (one) => one.executions.toLocaleString("en"), right: true },
  { name: "predicted", key: (one) => one.predicted_s ?? 0, cell: (one) => worded(one.predicted_s), right: true },
  { name: "measured", key: (one) => one.measured_s ?? 0, cell: (one) => worded(one.measured_s), right: true },
  { name: "baseline", key: (one) => one.simple_s ?? 0, cell: (one) => worded(one.simple_s), right: true },
  { name: "gain", key: (one) => one.gain ?? -9, cell: (one) => (one.gain === null ? "–" : percent(one.gain)), right: true },
];

const runColumns: Column<Feedback>[] = [
  { name: "received", key: (one) => -Date.parse(one.time), cell: (one) => ago(one.time, Date.now()) },
  { name: "program", key: (one) => one.program, cell: (one) => one.program || "–" },
  { name: "network", key: (one) => one.fabric, cell: (one) => one.fabric },
  { name: "ranks", key: (one) => one.ranks, cell: (one) => one.ranks, right: true },
  { name: "duration", key: (one) => one.elapsed_s, cell: (one) => seconds(one.elapsed_s), right: true },
  { name: "places", key: (one) => one.places.length, cell: (one) => `${one.places.length}${Number(one.places_left_out) > 0 ? ` of ${one.places.length + Number(one.places_left_out)}` : ""}`, right: true },
  { name: "sent by", key: (one) => one.sender, cell: (one) => short(one.sender) },
];

function Reported({ all, query }: { all: Feedback[]; query: Record<string, string> }) {
  const programs = [...new Set(all.map((one) => one.program))].sort();
  const program = programs.includes(query.program) ? query.program : "";
  const runs = useMemo(() => all.filter((one) => program === "" || one.program === program), [all, program]);
  const places = useMemo(() => gainsByPlace(runs), [runs]);
  const sum = summedUp(places);
  return (
    <>
      <p class="lead">
        {count(runs.length, "run")} reported {count(sum.places, "decision")} at their places. {sum.compared === 0 ? "None has been compared with the baseline, so no gain is known yet." : `Of ${sum.compared.toLocaleString("en")} that were compared with the baseline, ${sum.better.toLocaleString("en")} took less time; ${seconds(Math.abs(sum.saved_s))} ${sum.saved_s >= 0 ? "saved" : "lost"} in all.`}{" "}
        {sum.demoted > 0 && `Guards gave up ${count(sum.demoted, "decision")} and returned to the baseline.`}
      </p>
      {programs.length > 1 && <div class="filters"><Choice label="Program" name="program" value={program} options={[["", "all"], ...programs.map((one): [string, string] => [one, one])]} /></div>}
      <Figure id="gains" title="Gains by place" about={`Share of the baseline's time that an execution saves, as guards have compared the two, and the time saved in all. The largest changes first${places.length > kMostRows ? `: ${kMostRows} in the picture, all in the table` : ""}.`}
        table={() => ({
          columns: ["program", "place", "what", "choice", "runs", "executions", "as_chosen", "predicted_s", "measured_s", "simple_s", "gain", "saved_s", "demoted_runs"],
          rows: places.map((one) => [one.program, one.place, one.what, one.choice, one.runs, one.executions, one.as_chosen, one.predicted_s, one.measured_s, one.simple_s, one.gain, one.saved_s, one.demoted]),
        })}>
        <Gains of={places} programs={program === "" ? programs.length : 1} />
      </Figure>
      <h2>Places</h2>
      <Sorted rows={places} columns={columns} caption="Places" id={(one) => `${one.program} ${one.place} ${one.what} ${one.choice}`} most={100} />
      <h2>Runs</h2>
      <Sorted rows={runs} columns={runColumns} caption="Runs" id={(one) => `${one.time} ${one.program} ${one.sender} ${one.elapsed_s}`} most={50} />
    </>
  );
}

function OneVersion({ version, query }: { version: ModelVersion; query: Record<string, string> }) {
  const feedback = useData(`${version.name}/feedback`, (signal) => getAll<Feedback>(`${version.name}/feedback`, "feedback", signal), 60);
  return (
    <Show of={feedback} what="What runs have reported">
      {(all) => (all.length === 0
        ? <Empty>No run has reported on {nameOf(version.name)} yet. Runs report with <code>stripline run --report agent</code>, or write a file for <code>stripline feedback send FILE</code></Empty>
        : <Reported all={all} query={query} />)}
    </Show>
  );
}

export function FeedbackPage({ path, query }: { path: string[]; query: Record<string, string> }) {
  return (
    <VersionPage title="Feedback" place="feedback" path={path}>
      {(version) => <OneVersion key={version.name} version={version} query={query} />}
    </VersionPage>
  );
}

// What the planners decide by a model: loops by data and computation, calls by regions. Each cell
// can be explained, with what `stripline explain --json` says.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { get } from "./api";
import { Show, useData } from "./data";
import { Figure } from "./figure";
import { choose, Choice, Facts } from "./here";
import { DecisionMap, type Cell } from "./map";
import type { Decision, Decisions } from "./types";
import { bytes, percent, seconds } from "./units";

const kib = (power: number) => (power < 10 ? `${2 ** power}` : power < 20 ? `${2 ** (power - 10)}KiB` : `${2 ** (power - 20)}MiB`);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

const loopBytes = range(12, 26).map(kib);
const loopTimes = ["2us", "5us", "10us", "20us", "50us", "100us", "200us", "500us", "1ms", "2ms", "5ms", "10ms"];
const callRegions = range(1, 13).map((power) => String(2 ** power));
const callBytes = range(3, 15).map(kib);

const reasons: Record<string, string> = {
  tuned: "tuned", no_faster_plan: "nothing is faster", below_margin: "the gain is not reliably above the margin",
  no_model: "the model does not say", tied: "two ways are equal", own_memory: "own memory", guarded: "the baseline, as the guard wants it", forced: "as asked",
};

interface Explanation {
  why: string;
  plan: Record<string, unknown>;
  alternatives?: ({ predicted_s: number; low_s?: number; high_s?: number } & Record<string, unknown>)[];
  [name: string]: unknown;
}

function wayOf(row: Record<string, unknown>): string {
  const name = String(row.method ?? row.schedule ?? "");
  const size = Number(row.strip_bytes ?? row.chunk_bytes ?? 0);
  const window = Number(row.window ?? row.burst ?? 0);
  return [name.replaceAll("_", " "), size > 0 && name !== "vectorised" ? `of ${bytes(size)}` : "", window > 1 ? `${window} under way` : ""].filter(Boolean).join(", ");
}

function Explain({ version, command, question, asked }: { version: string; command: string; question: string; asked: string }) {
  const path = `${version}/explain/${command}?${question}`;
  const explanation = useData(path, (signal) => get<Explanation>(path, signal));
  return (
    <aside class="explain" aria-label="Explanation">
      <header><h4>{asked}</h4><button type="button" onClick={() => choose({ [command]: "" })}>Close</button></header>
      <Show of={explanation} what="The explanation">
        {({ why, plan, alternatives = [], ...rest }) => {
          const ordered = [...alternatives].sort((a, b) => a.predicted_s - b.predicted_s);
          const most = Math.max(...ordered.map((one) => one.high_s ?? one.predicted_s), Number.MIN_VALUE);
          return (
            <>
              <p><b>{wayOf(plan) || String(plan.reason)}</b>: {why}.</p>
              {ordered.length > 0 && (
                <table>
                  <caption>Alternatives, the fastest first</caption>
                  <thead><tr><th scope="col">way</th><th scope="col" class="right">predicted</th><th scope="col">95 % interval</th></tr></thead>
                  <tbody>
                    {ordered.map((one, index) => (
                      <tr key={index}>
                        <td>{wayOf(one)}</td>
                        <td class="right">{seconds(one.predicted_s)}</td>
                        <td>
                          <svg viewBox="0 0 200 14" width="200" height="14" role="img" aria-label={one.low_s === undefined ? "no interval" : `${seconds(one.low_s)} to ${seconds(one.high_s!)}`}>
                            <rect x="0" y="4" width={(200 * one.predicted_s) / most} height="6" class="bar" />
                            {one.low_s !== undefined && <line x1={(200 * one.low_s) / most} x2={Math.max((200 * one.low_s) / most + 1, (200 * one.high_s!) / most)} y1="7" y2="7" class="interval" />}
                          </svg>
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              )}
              {Number(rest.minimum_gain) > 0 && <Facts of={[["margin that a gain must exceed", percent(Number(rest.minimum_gain))]]} />}
            </>
          );
        }}
      </Show>
    </aside>
  );
}

interface MapProps {
  version: string;
  command: "loop" | "call";
  title: string;
  about: string;
  xName: string;
  yName: string;
  xOption: string;
  yOption: string;
  x: string[];
  y: string[];
  fixed: Record<string, string>;
  choices: ComponentChildren;
  cellOf: (one: Decision, xText: string, yText: string) => Cell;
  picked: string;
}

function Decided(props: MapProps) {
  const { version, command, x, y, xOption, yOption, fixed, cellOf } = props;
  const question = new URLSearchParams({ ...fixed, [xOption]: x.join(","), [yOption]: y.join(",") }).toString();
  const path = `${version}/decisions/${command}?${question}`;
  const table = useData(path, (signal) => get<Decisions>(path, signal));
  const cells = useMemo(() => {
    const places = new Map<string, Cell>();
    const { options, decisions } = table.data ?? { options: [], decisions: [] };
    const [atX, atY] = [options.indexOf(xOption), options.indexOf(yOption)];
    for (const one of decisions) {
      const [xText, yText] = [one.values[atX], one.values[atY]];
      places.set(`${x.indexOf(xText)}/${y.indexOf(yText)}`, cellOf(one, xText, yText));
    }
    return places;
  }, [table.data, cellOf]);
  const kinds = useMemo(() => [...new Set([...cells.values()].map((cell) => cell.kind))].sort(), [cells]);
  const [pickedX, pickedY] = props.picked.split("/").map(Number);
  const picked: [number, number] | undefined = props.picked !== "" && cells.has(props.picked) ? [pickedX, pickedY] : undefined;
  return (
    <Figure id={command} title={props.title} about={props.about} choices={props.choices}
      table={() => ({
        columns: [...(table.data?.options ?? []), "way", "reason", "predicted_s", "baseline_s", "gain_low", "next_s"],
        rows: (table.data?.decisions ?? []).map((one) => [...one.values, wayOf(one.plan), one.reason, one.predicted_s, one.baseline_s, one.gain_low, one.next_s]),
      })}>
      <Show of={table} what="The decisions">
        {() => (
          <>
            <DecisionMap label={props.title} xName={props.xName} yName={props.yName} x={x} y={y} kinds={kinds}
              cell={(column, row) => cells.get(`${column}/${row}`)} picked={picked}
              pick={(column, row) => choose({ [command]: `${column}/${row}` })} />
            {picked && <Explain version={version} command={command} asked={`${x[picked[0]]}, ${y[picked[1]]}`}
              question={new URLSearchParams({ ...fixed, [xOption]: x[picked[0]], [yOption]: y[picked[1]] }).toString()} />}
          </>
        )}
      </Show>
    </Figure>
  );
}

function loopCell(one: Decision, data: string, compute: string): Cell {
  const gain = one.baseline_s > 0 ? 1 - one.predicted_s / one.baseline_s : 0;
  const schedule = String(one.plan.schedule ?? "");
  const kind = schedule === "vectorised" || schedule === "" ? "fetch everything first" : `strips, schedule ${schedule}`;
  return {
    kind,
    // The stronger, the more it gains.
    shade: schedule === "vectorised" ? 0.55 : 0.5 + Math.min(0.5, gain),
    close: one.next_s !== null && one.next_s / one.predicted_s < 1.05 && one.reason !== "tuned",
    text: `${data} of remote data, ${compute} of computation: ${wayOf(one.plan)}, ${seconds(one.predicted_s)}${gain > 0 ? `, ${percent(gain, 2)} less than fetching everything first` : ""} (${reasons[one.reason] ?? one.reason})`,
  };
}

function callCell(one: Decision, size: string, regions: string): Cell {
  return {
    kind: String(one.plan.method ?? "unknown").replaceAll("_", " "),
    shade: 0.85,
    close: one.plan.uncertain === true || (one.next_s !== null && one.next_s / one.predicted_s < 1.05),
    text: `${regions} regions of ${size} B: ${wayOf(one.plan)}, ${seconds(one.predicted_s)}${one.next_s === null ? "" : `; the next, ${seconds(one.next_s)}`} (${reasons[one.reason] ?? one.reason})`.replace(/iB B:/, "iB:"),
  };
}

const direction = (name: string, value: string) => <Choice label="Direction" name={name} value={value} options={[["get", "get"], ["put", "put"]]} />;

export function LoopMap({ version, query }: { version: string; query: Record<string, string> }) {
  const way = query.loops === "put" ? "put" : "get";
  return (
    <Decided version={version} command="loop" title="Loops through remote data" picked={query.loop ?? ""}
      about="Whether a loop is cut into strips, whose transfers hide behind its computation. The stronger the colour, the larger the predicted gain."
      xName="remote data of the loop [B]" yName="computation of the loop" xOption="bytes" yOption="compute" x={loopBytes} y={loopTimes}
      fixed={{ direction: way }} cellOf={loopCell} choices={direction("loops", way)} />
  );
}

export function CallMap({ version, query }: { version: string; query: Record<string, string> }) {
  const way = query.calls === "put" ? "put" : "get";
  const compute = ["light", "heavy"].includes(query.class) ? query.class : "communication_only";
  return (
    <Decided version={version} command="call" title="Transfers of many regions" picked={query.call ?? ""}
      about="Which method a put or get of many regions takes. Hatched: the measurements do not tell the best two apart, or they are within 5 %."
      xName="bytes of a region [B]" yName="regions" xOption="region-bytes" yOption="regions" x={callBytes} y={callRegions}
      fixed={{ direction: way, class: compute }} cellOf={callCell}
      choices={<>{direction("calls", way)}<Choice label="The program meanwhile" name="class" value={compute} options={[["communication_only", "waits"], ["light", "computes lightly"], ["heavy", "computes heavily"]]} /></>} />
  );
}

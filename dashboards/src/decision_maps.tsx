// What the planners decide by a model: loops by data and computation, calls by regions. Each cell
// can be explained, by what `stripline explain --json` prints.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { get } from "./api";
import { Show, useData } from "./data";
import { Figure } from "./figure";
import { Explained } from "./explained";
import type { Explanation } from "./explanation";
import { commandLine, type Command, type Questions } from "./explain_form";
import { choose, Choice, Facts } from "./here";
import { DecisionMap, type Cell } from "./map";
import { claimedGain } from "./gains";
import { report } from "./report";
import { format } from "./route";
import type { Decision, Decisions } from "./types";
import { percent, seconds } from "./units";

const reasons: Record<string, string> = {
  tuned: "tuned", no_faster_plan: "no plan is faster", below_margin: "the gain is not reliably above the margin",
  no_model: "the model lacks the parameters", tied: "two plans are equally fast", own_memory: "own memory", guarded: "the baseline, by decision of the guard", forced: "as requested",
};

function Reasons({ version, command, question }: { version: string; command: Command; question: Record<string, string> }) {
  const path = `${version}/explain/${command.command}?${new URLSearchParams(question)}`;
  const explanation = useData(path, (signal) => get<Explanation>(path, signal));
  return <Show of={explanation} what="The explanation">{(of) => <Explained of={of} baseline={command.baseline} />}</Show>;
}

// A cell that was picked. A report contains no planners: it shows the command that asks them.
function Explain({ version, command, question, row }: { version: string; command: Command; question: Record<string, string>; row: Decision | undefined }) {
  const [, model, , number] = version.split("/");
  const named = number === "file" ? `${model}.stripline.json` : `${model}@${number}`;
  return (
    <aside class="explain" aria-label={`Explanation of one ${command.command}`}>
      <header>
        <h3>{Object.entries(question).map(([option, value]) => `${option.replaceAll("-", " ")} ${value.replaceAll("_", " ")}`).join(", ")}</h3>
        <div class="tools">
          {!report && <a href={format({ path: ["explain", named, command.command], query: question })}>Change the question</a>}
          <button type="button" onClick={() => choose({ [command.command]: "" })}>Close</button>
        </div>
      </header>
      {!report ? <Reasons version={version} command={command} question={question} /> : row && (
        <>
          <p class="decision"><b>{row.text}</b></p>
          <Facts of={[
            ["because", reasons[row.reason] ?? row.reason], ["predicted", seconds(row.predicted_s, 4)],
            ...(row.baseline_s > 0 ? [[command.baseline ?? "the baseline", seconds(row.baseline_s, 4)]] as [string, string][] : []),
            ...(row.next_s === null ? [] : [["the next best", seconds(row.next_s, 4)]] as [string, string][]),
          ]} />
          <p>All alternatives: <code>{commandLine(command, named, question)}</code></p>
        </>
      )}
    </aside>
  );
}

interface MapProps {
  version: string;
  command: "loop" | "call";
  questions: Questions;
  title: string;
  about: string;
  xName: string;
  yName: string;
  fixed: Record<string, string>;
  choices: ComponentChildren;
  cellOf: (one: Decision, xText: string, yText: string, silent: string | null) => Cell;
  silent: string | null;
  picked: string;
}

function Decided(props: MapProps) {
  const { version, command, questions, fixed, cellOf, silent } = props;
  const { x: { option: xOption, values: x }, y: { option: yOption, values: y } } = questions.tables.find((one) => one.command === command)!;
  const described = questions.commands.find((one) => one.command === command)!;
  const question = new URLSearchParams({ ...fixed, [xOption]: x.join(","), [yOption]: y.join(",") }).toString();
  const path = `${version}/decisions/${command}?${question}`;
  const table = useData(path, (signal) => get<Decisions>(path, signal));
  const [cells, rows] = useMemo(() => {
    const places = new Map<string, Cell>();
    const decided = new Map<string, Decision>();
    const { options, decisions } = table.data ?? { options: [], decisions: [] };
    const [atX, atY] = [options.indexOf(xOption), options.indexOf(yOption)];
    for (const one of decisions) {
      const [xText, yText] = [one.values[atX], one.values[atY]];
      const place = `${x.indexOf(xText)}/${y.indexOf(yText)}`;
      places.set(place, cellOf(one, xText, yText, silent));
      decided.set(place, one);
    }
    return [places, decided] as const;
  }, [table.data, cellOf, silent]);
  const kinds = useMemo(() => [...new Set([...cells.values()].map((cell) => cell.kind))].sort(), [cells]);
  const [pickedX, pickedY] = props.picked.split("/").map(Number);
  const picked: [number, number] | undefined = props.picked !== "" && cells.has(props.picked) ? [pickedX, pickedY] : undefined;
  return (
    <Figure id={command} title={props.title} about={props.about} choices={props.choices}
      table={() => ({
        columns: [...(table.data?.options ?? []), "decision", "reason", "predicted_s", "baseline_s", "gain_low", "next_s"],
        rows: (table.data?.decisions ?? []).map((one) => [...one.values, one.text, one.reason, one.predicted_s, one.baseline_s, one.gain_low, one.next_s]),
      })}>
      <Show of={table} what="The decisions">
        {() => (
          <>
            <DecisionMap label={props.title} xName={props.xName} yName={props.yName} x={x} y={y} kinds={kinds}
              cell={(column, row) => cells.get(`${column}/${row}`)} picked={picked}
              pick={(column, row) => choose({ [command]: `${column}/${row}` })} />
            {picked && <Explain version={version} command={described} row={rows.get(props.picked)} question={{ ...fixed, [xOption]: x[picked[0]], [yOption]: y[picked[1]] }} />}
          </>
        )}
      </Show>
    </Figure>
  );
}

function loopCell(one: Decision, data: string, compute: string, silent: string | null): Cell {
  const gain = claimedGain(one, silent);
  const schedule = String(one.plan.schedule ?? "");
  const kind = schedule === "vectorised" || schedule === "" ? "fetch everything first" : `strips, schedule ${schedule}`;
  return {
    kind,
    // The stronger, the more it gains surely.
    shade: schedule === "vectorised" ? 0.55 : 0.5 + Math.min(0.5, gain),
    close: one.next_s !== null && one.next_s / one.predicted_s < 1.05 && one.reason !== "tuned",
    text: `${data} of remote data, ${compute} of computation: ${one.text}, ${seconds(one.predicted_s)}${gain > 0 ? `, at least ${percent(gain, 2)} less than fetching everything first` : ""} (${reasons[one.reason] ?? one.reason})`,
  };
}

function callCell(one: Decision, size: string, regions: string): Cell {
  return {
    kind: String(one.plan.method ?? "unknown").replaceAll("_", " "),
    shade: 0.85,
    close: one.plan.uncertain === true || (one.next_s !== null && one.next_s / one.predicted_s < 1.05),
    text: `${regions} regions of ${size} B: ${one.text}, ${seconds(one.predicted_s)}${one.next_s === null ? "" : `; the next best, ${seconds(one.next_s)}`} (${reasons[one.reason] ?? one.reason})`.replace(/iB B:/, "iB:"),
  };
}

const direction = (name: string, value: string) => <Choice label="Direction" name={name} value={value} options={[["get", "get"], ["put", "put"]]} />;

/** `silent`: why nothing may be claimed of the version; null: its gains are shown. */
interface Props { version: string; silent: string | null; questions: Questions; query: Record<string, string> }

export function LoopMap({ version, silent, questions, query }: Props) {
  const transfer = query.loops === "put" ? "put" : "get";
  return (
    <Decided version={version} silent={silent} questions={questions} command="loop" title="Loops through remote data" picked={query.loop ?? ""}
      about="Whether a loop is cut into strips, whose transfers overlap with its computation. The stronger the colour, the larger the gain, by the lower end of its interval."
      xName="remote data of the loop [B]" yName="computation of the loop"
      fixed={{ direction: transfer }} cellOf={loopCell} choices={direction("loops", transfer)} />
  );
}

export function CallMap({ version, silent, questions, query }: Props) {
  const transfer = query.calls === "put" ? "put" : "get";
  const compute = ["light", "heavy"].includes(query.class) ? query.class : "communication_only";
  return (
    <Decided version={version} silent={silent} questions={questions} command="call" title="Transfers of many regions" picked={query.call ?? ""}
      about="Which method a put or get of many regions uses. Hatched: the measurements do not distinguish the two best methods, or these are within 5 %."
      xName="bytes of a region [B]" yName="regions"
      fixed={{ direction: transfer, class: compute }} cellOf={callCell}
      choices={<>{direction("calls", transfer)}<Choice label="During the transfer the program" name="class" value={compute} options={[["communication_only", "waits"], ["light", "computes lightly"], ["heavy", "computes heavily"]]} /></>} />
  );
}

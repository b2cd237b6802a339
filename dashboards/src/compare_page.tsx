// Two versions, of one model or of two: what differs beyond the intervals, curves over each other,
// decisions that differ. Two campaigns are in a file of their own.
import { useMemo } from "preact/hooks";
import { get } from "./api";
import { Changes, kMostRows } from "./changes";
import { CampaignsCompared } from "./compare_campaigns_page";
import { chosen, differing, verdicts, type Comparison, type Side } from "./comparison";
import { Curves, type Curve } from "./curves";
import { Empty, Show, useData } from "./data";
import type { DecisionTable, Questions } from "./explain_form";
import { Figure } from "./figure";
import { Badge, Choice, choose } from "./here";
import { DecisionMap, type Cell } from "./map";
import { breakPoints, sizes, time, type ModelFile, type Operation } from "./model_file";
import { report } from "./report";
import { format } from "./route";
import type { ModelVersion } from "./types";
import { count, quantity, seconds } from "./units";
import { nameOf } from "./version_name";
import { useVersions, VersionChoice } from "./versions";

const verdictKinds: Record<string, "good" | "bad" | "warn" | "plain"> = { FASTER: "good", SLOWER: "bad", LARGER: "warn", SMALLER: "warn" };
const lower = (verdict: string) => verdict.toLowerCase();
const worded = (side: Side | null, unit: string) => (side === null ? "–" : `${side.at_least ? "≥ " : ""}${quantity(side.value, unit)} [${quantity(side.ci[0], unit)}, ${quantity(side.ci[1], unit)}]`);

function Parameters({ of, query }: { of: Comparison; query: Record<string, string> }) {
  const { verdict = "" } = query;
  const rows = useMemo(() => chosen(of.parameters, verdict), [of, verdict]);
  const differ = chosen(of.parameters, "").length;
  const known = verdicts.filter((one) => of.verdicts[one]);
  return (
    <Figure id="parameters" title="Parameters"
      about={`Ratio of the value in B to that in A, with its 95 % interval. Equivalent: within 2 % by two one-sided tests. The false discovery rate is at most 5 %.${rows.length > kMostRows ? ` The picture has the ${kMostRows} largest changes, the table all.` : ""}`}
      choices={<Choice label="Show" name="verdict" value={verdict} options={[["", `all that differ (${differ})`], ...known.map((one): [string, string] => [one, `${lower(one)} (${of.verdicts[one]})`])]} />}
      table={() => ({
        columns: ["parameter", "unit", "a", "a_low", "a_high", "b", "b_low", "b_high", "change", "change_low", "change_high", "verdict"],
        rows: rows.map((one) => [one.name, one.unit, one.a?.value ?? null, one.a?.ci[0] ?? null, one.a?.ci[1] ?? null, one.b?.value ?? null, one.b?.ci[0] ?? null, one.b?.ci[1] ?? null, one.change, one.change_ci?.[0] ?? null, one.change_ci?.[1] ?? null, one.verdict]),
      })}>
      {rows.length === 0 ? <Empty>No parameter differs beyond its interval.</Empty> : <Changes label="Changes of parameters" of={rows.map((one) => ({ ...one, said: `${worded(one.a, one.unit)} to ${worded(one.b, one.unit)}, ${lower(one.verdict)}` }))} />}
    </Figure>
  );
}

const operations: Operation[] = ["put", "get", "am"];
const colours = ["c1", "c2"];

// The curves of both over each other; only operations that both have on the path.
function Overlay({ a, b, names, query }: { a: ModelFile; b: ModelFile; names: [string, string]; query: Record<string, string> }) {
  const paths = Object.keys(a.network).filter((path) => b.network[path]);
  const path = paths.includes(query.path) ? query.path : paths[0];
  const both = operations.filter((one) => a.network[path]?.[one] && b.network[path]?.[one]);
  const operation = both.includes(query.op as Operation) ? (query.op as Operation) : both.includes("get") ? "get" : both[0];
  const curves = useMemo(() => (operation === undefined ? [] : [a, b].map((file, side): Curve => {
    const model = file.network[path]![operation]!;
    const at = sizes(file.domain.min_bytes, file.domain.max_bytes, breakPoints(model));
    const values = (end?: "low" | "high") => at.map((size) => time(model, operation, "blocking", size, end) || null);
    return { label: `${"AB"[side]}: ${names[side]}`, colour: colours[side], dashed: side === 1, x: at, y: values(), low: values("low"), high: values("high") };
  })), [a, b, path, operation, names.join()]);
  if (curves.length === 0) return <Empty>The two versions have no path between ranks in common.</Empty>;
  return (
    <Figure id="curves" title="Time by size" about={`One ${operation === "am" ? "message" : `blocking ${operation}`}, in both versions. Bands: all parameters at the ends of their 95 % intervals.`}
      choices={<>
        {paths.length > 1 && <Choice label="Path" name="path" value={path} options={paths.map((one) => [one, one])} />}
        {both.length > 1 && <Choice label="Operation" name="op" value={operation} options={both.map((one) => [one, one === "am" ? "message (am)" : one])} />}
      </>}
      table={() => ({ columns: ["version", "bytes", "value_s", "low_s", "high_s"], rows: curves.flatMap((curve) => curve.x.map((size, index) => [curve.label, size, curve.y[index], curve.low![index], curve.high![index]])) })}>
      <Curves label={`Time by size of ${operation} on ${path}`} curves={curves} format={seconds} />
    </Figure>
  );
}

function Decisions({ of, table, query }: { of: Comparison; table: DecisionTable; query: Record<string, string> }) {
  const choices = Object.fromEntries(table.choices.map(({ option, values }) => [option, values.includes(query[option]) ? query[option] : values[0]]));
  const cells = useMemo(() => differing(of.decisions, table, choices), [of, table, Object.values(choices).join()]);
  const { asked, differ, doubts, ties } = of.tables.find((one) => one.command === table.command) ?? { asked: 0, differ: 0, doubts: 0, ties: 0 };
  const picked = query[table.command] ?? "";
  const cell = (column: number, row: number): Cell => {
    const one = cells.get(`${column}/${row}`);
    const where = `${table.x.option.replaceAll("-", " ")} ${table.x.values[column]}, ${table.y.option} ${table.y.values[row]}`;
    if (!one) return { kind: "same decision", shade: 1, close: false, text: `${where}: both decide the same` };
    const kind = one.disagreement === "tie" ? "a tie" : "different decisions";
    const doubt = { tie: "a tie, ", doubt: "one of them in doubt, ", change: "" }[one.disagreement];
    return { kind, shade: 1, close: false, text: `${where}: ${doubt}A ${one.a}, ${seconds(one.a_predicted_s)}; B ${one.b}, ${seconds(one.b_predicted_s)}` };
  };
  const [column, row] = picked.split("/").map(Number);
  const one = cells.get(picked);
  return (
    <Figure id={table.command} title={`Decisions: ${table.command}`} about={asked === 0 ? "One of the two models cannot decide these requests." : `${differ} of ${asked} common requests are decided differently. For ${doubts} more one model is certain and the other in doubt, and ${ties} are ties: different plans that take equally long as far as either model knows.`}
      choices={table.choices.map(({ option, values }) => <Choice key={option} label={option} name={option} value={choices[option]} options={values.map((value) => [value, value.replaceAll("_", " ")])} />)}
      table={() => ({ columns: ["asked", "a", "a_predicted_s", "b", "b_predicted_s"], rows: of.decisions.filter((each) => each.command === table.command).map((each) => [Object.entries(each.asked).map(([option, value]) => `${option}=${value}`).join(" "), each.a, each.a_predicted_s, each.b, each.b_predicted_s]) })}>
      {asked > 0 && <DecisionMap label={`Decisions of ${table.command} that differ`} xName={table.x.option.replaceAll("-", " ")} yName={table.y.option} x={table.x.values} y={table.y.values} kinds={["same decision", "different decisions", "a tie"]} hatched={false} colours={["grid", "c2", "c3"]} picking="select"
        cell={cell} pick={(x, y) => choose({ [table.command]: `${x}/${y}` })} picked={picked === "" ? undefined : [column, row]} />}
      {one && (
        <table>
          <caption class="hidden">Both decisions</caption>
          <thead><tr><th scope="col">version</th><th scope="col">decision</th><th scope="col" class="right">predicted</th></tr></thead>
          <tbody><tr><td>A</td><td>{one.a}</td><td class="right">{seconds(one.a_predicted_s)}</td></tr><tr><td>B</td><td>{one.b}</td><td class="right">{seconds(one.b_predicted_s)}</td></tr></tbody>
        </table>
      )}
    </Figure>
  );
}

function Both({ a, b, query }: { a: ModelVersion; b: ModelVersion; query: Record<string, string> }) {
  const path = `${a.name}/compare?with=${encodeURIComponent(b.name)}`;
  const comparison = useData(path, (signal) => get<Comparison>(path, signal));
  const files = useData(`files of ${path}`, (signal) => Promise.all([get<ModelFile>(`${a.name}/file`, signal), get<ModelFile>(`${b.name}/file`, signal)]));
  const questions = useData("explain", (signal) => get<Questions>("explain", signal));
  const names: [string, string] = [nameOf(a.name), nameOf(b.name)];
  return (
    <Show of={comparison} what="The comparison">
      {(of) => (
        <>
          <p class="lead">{verdicts.filter((one) => of.verdicts[one]).map((one) => <Badge key={one} kind={verdictKinds[one] ?? "plain"}>{of.verdicts[one]} {lower(one)}</Badge>)} of {count(of.parameters.length, "parameter")}, B compared with A.</p>
          <p class="quiet">From a shell: <code>stripline model diff {names.join(" ")}</code></p>
          {of.facts.length > 0 && (
            <section class="figure" aria-labelledby="machines">
              <header><h2 id="machines">The machines differ</h2></header>
              <table>
                <thead><tr><th scope="col">field</th><th scope="col">A</th><th scope="col">B</th></tr></thead>
                <tbody>{of.facts.map((fact) => <tr key={fact.field}><td>{fact.field}</td><td>{fact.a || "–"}</td><td>{fact.b || "–"}</td></tr>)}</tbody>
              </table>
            </section>
          )}
          <Parameters of={of} query={query} />
          <Show of={files} what="The model files">{([of_a, of_b]) => <Overlay a={of_a} b={of_b} names={names} query={query} />}</Show>
          <Show of={questions} what="The questions">{({ tables }) => <>{tables.map((table) => <Decisions key={table.command} of={of} table={table} query={query} />)}</>}</Show>
        </>
      )}
    </Show>
  );
}

function VersionsCompared({ path, query }: { path: string[]; query: Record<string, string> }) {
  const models = useVersions();
  return (
    <>
      <Show of={models} what="The models">
        {(all) => {
          const id = (one: ModelVersion) => nameOf(one.name);
          const named = (name: string | undefined) => all.find((one) => id(one) === name);
          // Usually the last version against the one before it; else against another model's.
          const b = named(path[1]) ?? all[0];
          const a = named(path[0]) ?? (b && (all.find((one) => one !== b && one.name.split("/")[1] === b.name.split("/")[1]) ?? all.find((one) => one !== b)));
          if (!b) return <Empty>No model yet. A campaign makes one: <code>stripline campaign run --fabric tcp</code></Empty>;
          if (!a) return <Empty>There is only one version. <code>stripline campaign run</code> makes another one to compare it with.</Empty>;
          const go = (first: string, second: string) => { location.hash = format({ path: ["compare", first, second], query: {} }); };
          return (
            <>
              <div class="filters">
                <VersionChoice label="A, the baseline" all={all} value={a} set={(value) => go(value, id(b))} />
                <VersionChoice label="B" all={all} value={b} set={(value) => go(id(a), value)} />
                <button type="button" onClick={() => go(id(b), id(a))}>Swap</button>
              </div>
              <Both key={`${a.name} ${b.name}`} a={a} b={b} query={query} />
            </>
          );
        }}
      </Show>
    </>
  );
}

export function ComparePage({ path, query }: { path: string[]; query: Record<string, string> }) {
  const campaigns = path[0] === "campaigns";
  return (
    <>
      <h1>Compare</h1>
      {!report && (
        <nav class="kinds" aria-label="What is compared">
          <a href="#/compare" aria-current={campaigns ? undefined : "page"}>Versions of models</a>
          <a href="#/compare/campaigns" aria-current={campaigns ? "page" : undefined}>Campaigns</a>
        </nav>
      )}
      {campaigns ? <CampaignsCompared path={path.slice(1)} query={query} /> : <VersionsCompared path={path} query={query} />}
    </>
  );
}

// One version of settings of another runtime: its gains by cell, what was tried, and the files.
import { get } from "./api";
import { Empty, Show, useData } from "./data";
import { Figure } from "./figure";
import { Badge, Choice, Contents, Facts, Sorted, type Column } from "./here";
import { DecisionMap, type Cell } from "./map";
import { Publishing, Versions } from "./model_versions";
import { report } from "./report";
import { planeOf, ratioOf, readByTarget, rejectedOf, rulesOf, type ExportCheck, type ExportKnob, type ExportRecord, type PackedExport, type Ratio, type RuleOf } from "./settings";
import type { Model, ModelVersion } from "./types";
import { bytes, count, percent, short } from "./units";
import { nameOf } from "./version_name";

const kKinds = ["departs from the default", "the default"];
const of = (ratio: Ratio | null) => (ratio ? `${percent(ratio.value, 2)} of the default's time (${percent(ratio.low, 2)} to ${percent(ratio.high, 2)})` : "not compared");

function Gains({ record, query }: { record: ExportRecord; query: Record<string, string> }) {
  const ranks = record.ranks.includes(Number(query.ranks)) ? Number(query.ranks) : record.ranks[0];
  const { operations, sizes, at } = planeOf(record, ranks);
  if (operations.length === 0) return null;
  const cell = (x: number, y: number): Cell | undefined => {
    const one = at(operations[y], sizes[x]);
    if (!one) return undefined;
    const ratio = ratioOf(record, one);
    const departs = one.chosen !== "default";
    const text = `${one.collective} of ${count(ranks, "rank")}, ${bytes(one.bytes)}: ${departs ? `${one.chosen}, ${of(ratio)}` : `the default (${one.outcome})`}`;
    return { kind: kKinds[departs ? 0 : 1], text, close: false, shade: departs ? Math.min(1, 0.4 + (ratio ? Math.max(0, 1 - ratio.value) : 0)) : 0.25 };
  };
  return (
    <Figure id="gains" title="Gains by cell" about="Choice in each cell, which is an operation and a size; the darker, the more time it saves over the default."
      choices={record.ranks.length > 1 && <Choice label="Ranks" name="ranks" value={String(ranks)} options={record.ranks.map((one) => [String(one), String(one)])} />}
      table={() => ({ columns: ["operation", "ranks", "bytes", "choice", "outcome", "ratio", "low", "high"], rows: record.cells.map((one) => { const ratio = ratioOf(record, one); return [one.collective, one.ranks, one.bytes, one.chosen, one.outcome, ratio?.value ?? null, ratio?.low ?? null, ratio?.high ?? null]; }) })}>
      <DecisionMap label="Choices by operation and size" xName="bytes" yName="operation" x={sizes.map((one) => bytes(one))} y={operations} cell={cell} kinds={kKinds} hatched={false} colours={["c1", "c4"]} pick={() => undefined} picking="see" />
    </Figure>
  );
}

const ruleColumns: Column<RuleOf>[] = [
  { name: "operation", key: (one) => one.collective, cell: (one) => one.collective },
  { name: "ranks", key: (one) => one.ranks, cell: (one) => one.ranks, right: true },
  { name: "sizes", key: (one) => one.from, cell: (one) => (one.from === one.to ? bytes(one.from) : `${bytes(one.from)} to ${bytes(one.to)}`), right: true },
  { name: "rule", key: (one) => one.chosen, cell: (one) => <>Use <code>{one.chosen}</code>: it takes {of(one.ratio)}.</> },
];

const knobColumns: Column<ExportKnob>[] = [
  { name: "knob", key: (one) => one.name, cell: (one) => <code>{one.name}</code> },
  { name: "value", key: (one) => one.value, cell: (one) => one.value },
  { name: "time relative to the default", key: (one) => one.ratio ?? 1, cell: (one) => (one.ratio === null ? "–" : `${percent(one.ratio, 3)} (${percent(one.ratio_low ?? one.ratio, 3)} to ${percent(one.ratio_high ?? one.ratio, 3)})`), right: true },
  { name: "result", key: (one) => one.failure || one.outcome, cell: (one) => one.failure || one.outcome },
];

const checkColumns: Column<ExportCheck>[] = [
  { name: "stage", key: (one) => one.stage, cell: (one) => one.stage.replaceAll("_", " ") },
  { name: "operation", key: (one) => one.operation, cell: (one) => `${one.operation}${one.in_place ? ", in place" : ""}` },
  { name: "ranks", key: (one) => one.ranks, cell: (one) => one.ranks, right: true },
  { name: "bytes", key: (one) => one.bytes, cell: (one) => bytes(one.bytes), right: true },
  { name: "type", key: (one) => one.type, cell: (one) => one.type },
  { name: "time relative to the default", key: (one) => one.ratio ?? 1, cell: (one) => (one.ratio === null ? "–" : percent(one.ratio, 3)), right: true },
  { name: "verdict", key: (one) => one.verdict, cell: (one) => <Badge kind={one.verdict === "INFERIOR" ? "bad" : one.verdict === "NON_INFERIOR" ? "good" : "plain"}>{one.verdict === "INFERIOR" ? "slower" : one.verdict === "NON_INFERIOR" ? "not slower" : "inconclusive"}</Badge> },
];

function Tried({ record }: { record: ExportRecord }) {
  const rejected = rejectedOf(record);
  return (
    <section class="figure" aria-labelledby="tried-title" id="tried">
      <header><div><h2 id="tried-title">What was tried</h2><p>Effects of the knobs, and alternatives that were rejected, with the reason.</p></div></header>
      {record.knobs.length > 0 && <Sorted rows={record.knobs} columns={knobColumns} caption="Knobs" id={(one) => `${one.name}=${one.value}`} />}
      {rejected.length > 0 ? <ul>{rejected.map((one) => <li key={`${one.collective}/${one.candidate}/${one.reason}`}><code>{one.candidate}</code> of {one.collective}: {one.reason}, in {count(one.cells, "cell")}</li>)}</ul> : <p>No alternative hung, aborted or gave wrong data.</p>}
    </section>
  );
}

function Validated({ record }: { record: ExportRecord }) {
  return (
    <section class="figure" aria-labelledby="validated-title" id="validated">
      <header><div><h2 id="validated-title">Validation in the target</h2><p>Fresh launches with the files and without them, alternating.</p></div></header>
      <Facts of={[
        ...record.stages.map((one): [string, string] => [one.stage.replaceAll("_", " "), `${one.passed ? "passed" : "failed"}: ${one.verdict}`]),
        ["read by the target", readByTarget(record)],
      ]} />
      <Sorted rows={record.checks} columns={checkColumns} caption="Comparisons" id={(one) => [one.stage, one.operation, one.ranks, one.bytes, one.type, one.in_place].join("/")} most={50} />
    </section>
  );
}

function Content({ packed, version, query, again }: { packed: PackedExport; version: ModelVersion; query: Record<string, string>; again: () => void }) {
  const { record, files } = packed;
  const rules = rulesOf(record);
  return (
    <>
      <Contents of={[...(report ? [] : [["publishing", "Production"] as [string, string]]), ["gains", "Gains by cell"], ["rules", "Rules"], ["tried", "What was tried"], ["validated", "Validation"], ["files", "Files"]]} />
      {!report && <Publishing of={version} again={again} />}
      <Facts of={[
        ["target", `${record.target} ${record.version}`],
        ["for", `${record.ranks.join(", ")} ranks${record.cells[0]?.ranks_per_node === 1 ? ", each as on a node of its own" : " on one node"}, path ${record.path}`],
        ["tuned", <>on {record.host} ({count(record.processors, "processor")}, Linux {record.kernel}), {record.time}{version.campaigns.map((name) => <>, <a href={`#/${name}`}>{short(name)}</a></>)}</>],
        ["fetch it", <code>stripline model fetch {nameOf(version.name)}</code>],
      ]} />
      <Gains record={record} query={query} />
      <section class="figure" aria-labelledby="rules-title" id="rules">
        <header><div><h2 id="rules-title">Rules</h2><p>What the files contain, a sentence for each rule. Everything else keeps the default.</p></div></header>
        {Object.keys(record.settings ?? {}).length > 0 && <ul>{Object.entries(record.settings!).map(([name, value]) => <li key={name}><code>{name} = {value}</code> for all operations.</li>)}</ul>}
        {(record.predicted ?? []).length > 0 && <ul>{record.predicted!.map((one) => <li key={`${one.collective}/${one.ranks}/${one.first_bytes}`}>{one.collective} of {count(one.ranks, "rank")} uses <code>{one.chosen}</code> for {one.first_bytes === one.last_bytes ? bytes(one.first_bytes) : `${bytes(one.first_bytes)} to ${bytes(one.last_bytes)}`}: predicted, as the numbers of ranks on both sides agree.</li>)}</ul>}
        {rules.length > 0 ? <Sorted rows={rules} columns={ruleColumns} caption="Rules" id={(one) => [one.collective, one.ranks, one.from].join("/")} /> : <p>No operation has a rule of its own.</p>}
      </section>
      <Tried record={record} />
      <Validated record={record} />
      <section class="figure" aria-labelledby="files-title" id="files">
        <header><div><h2 id="files-title">Files</h2><p>As they are installed; the first refers to the other by its installed path.</p></div></header>
        {Object.entries(files).map(([name, text]) => <div key={name}><h3>{name}</h3><pre class="scroll" tabIndex={0} role="region" aria-label={name}>{text}</pre></div>)}
      </section>
    </>
  );
}

/** In place of a model's pages where its fabric is target:TARGET. */
export function SettingsVersions({ model, versions, query, again }: { model: Model; versions: ModelVersion[]; query: Record<string, string>; again: () => void }) {
  const version = versions.find((one) => short(one.name) === query.version) ?? versions.find((one) => one.name === model.latest_version) ?? versions[0];
  const file = useData(version?.name ?? null, (signal) => get<PackedExport>(`${version!.name}/file`, signal));
  if (!version) return <Empty>There is no version of these settings.</Empty>;
  return (
    <>
      <Versions model={model} all={versions} shown={version} />
      <Show of={file} what="The settings">{(packed) => <Content packed={packed} version={version} query={query} again={again} />}</Show>
    </>
  );
}

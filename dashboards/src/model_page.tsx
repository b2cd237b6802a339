// One model: its network parameters, how precise they are, and the decisions that follow from them.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { get, getAll } from "./api";
import { experimentPoints } from "./campaign_points";
import { Curves, type Curve } from "./curves";
import { Empty, Show, useData } from "./data";
import { CallMap, LoopMap } from "./decision_maps";
import type { Questions } from "./explain_form";
import { Figure } from "./figure";
import { Forest } from "./forest";
import { silence, sureGain } from "./gains";
import { Badge, Choice, Contents, Facts, Sorted, type Column } from "./here";
import { breakPoints, parameters, relativeWidth, sizes, time, type ModelFile, type Operation, type Quantity, type Rule } from "./model_file";
import { Publishing, Versions } from "./model_versions";
import { pointOf, sizeOf } from "./point_columns";
import { report } from "./report";
import { holdsSettings } from "./settings";
import { SettingsVersions } from "./settings_page";
import type { Model, ModelVersion, Point } from "./types";
import { ago, bytes, count, fabricText, percent, seconds, short } from "./units";
import { tunedModels, VersionBadges, type TunedModel } from "./versions";

const quantityTexts: Record<Quantity, string> = {
  blocking: "one blocking operation: o + 2L + G·S + r (a message: o + L + G·S + r)",
  stream: "one operation of a long stream: max(o + r, g + G·S)",
  issue: "the processor's time to issue an operation: o",
};

const kNoPoints: Point[] = [];

function useSamples(file: ModelFile | undefined): { points: Point[]; coming: boolean } {
  const campaign = file?.provenance.campaigns[0];
  const points = useData(campaign ? `${campaign}/points/of-model` : null, async (signal) => (
    await Promise.all(["micro.latency", "micro.node_latency"].map(async (experiment) => {
      const of = await experimentPoints(short(campaign!), experiment, signal);
      return Array.from({ length: sizeOf(of) }, (_, index) => pointOf(of, index));
    }))).flat());
  return { points: points.data ?? kNoPoints, coming: campaign !== undefined && !points.data && !points.error };
}

// Samples of what the curve shows exist for single operations through the fabric.
function samplesOf(points: Point[], path: string, operation: Operation): Point[] {
  const experiment = path === "inter-node" ? "micro.latency" : "micro.node_latency";
  const sameNode = path === "intra-node-cma" ? "cma" : "mapped";
  return points.filter((point) => point.experiment === experiment && point.variant === operation && point.median !== null && (path === "inter-node" || point.params.same_node === sameNode))
    .sort((a, b) => Number(a.params.bytes) - Number(b.params.bytes));
}

function NetworkFigures({ file, query, points, coming }: { file: ModelFile; query: Record<string, string>; points: Point[]; coming: boolean }) {
  const paths = Object.keys(file.network);
  const path = paths.includes(query.path) ? query.path : paths[0];
  const operations = (["put", "get", "am"] as Operation[]).filter((one) => file.network[path]?.[one]);
  const chosen = query.quantity as Quantity;
  const quantityShown: Quantity = chosen in quantityTexts ? chosen : "blocking";
  const only = operations.includes(query.op as Operation) ? [query.op as Operation] : operations;
  const curves = useMemo(() => {
    const colours: Record<Operation, string> = { put: "c1", get: "c2", am: "c3" };
    return only.flatMap((operation): Curve[] => {
      const model = file.network[path]![operation]!;
      const samples = quantityShown === "blocking" ? samplesOf(points, path, operation) : [];
      const at = [...new Set([...sizes(file.domain.min_bytes, file.domain.max_bytes, breakPoints(model)), ...samples.map((one) => Number(one.params.bytes))])].sort((a, b) => a - b);
      const values = (end?: "low" | "high") => at.map((size) => time(model, operation, quantityShown, size, end) || null);
      const line: Curve = { label: operation, colour: colours[operation], x: at, y: values(), low: values("low"), high: values("high") };
      return samples.length === 0 ? [line] : [line, { label: `${operation}, measured`, colour: colours[operation], points: true, x: samples.map((one) => Number(one.params.bytes)), y: samples.map((one) => one.median), low: samples.map((one) => one.low), high: samples.map((one) => one.high) }];
    });
  }, [file, path, quantityShown, only.join(), points]);
  const marks = useMemo(() => {
    const operationsAt = new Map<number, Operation[]>();
    for (const operation of only) {
      for (const at of breakPoints(file.network[path]![operation]!)) operationsAt.set(at, [...(operationsAt.get(at) ?? []), operation]);
    }
    return [...operationsAt].map(([at, all]) => ({ at, text: `${all.join(", ")}: ${bytes(at)}` }));
  }, [file, path, only.join()]);
  const residuals = useMemo(() => only.flatMap((operation): Curve[] => {
    const model = file.network[path]![operation]!;
    const samples = samplesOf(points, path, operation);
    if (samples.length === 0) return [];
    const relative = (one: Point, value: number | null) => (value === null ? null : value / time(model, operation, "blocking", Number(one.params.bytes)) - 1);
    return [{ label: operation, colour: ({ put: "c1", get: "c2", am: "c3" } as const)[operation], points: true, x: samples.map((one) => Number(one.params.bytes)), y: samples.map((one) => relative(one, one.median)), low: samples.map((one) => relative(one, one.low)), high: samples.map((one) => relative(one, one.high)) }];
  }), [file, path, only.join(), points]);
  const table = (of: Curve[]) => ({ columns: ["curve", "bytes", "value", "low", "high"], rows: of.flatMap((curve) => curve.x.map((size, index) => [curve.label, size, curve.y[index], curve.low?.[index] ?? null, curve.high?.[index] ?? null])) });
  if (!path || operations.length === 0) return <Empty>The model describes no path between ranks: its campaign measured no transfers.</Empty>;
  return (
    <>
      <Figure id="network" title="Time by size" table={() => table(curves)}
        about={<>{quantityTexts[quantityShown]}. Bands: all parameters at the ends of their 95 % intervals. Dots: medians over runs.</>}
        choices={<>
          {paths.length > 1 && <Choice label="Path" name="path" value={path} options={paths.map((one) => [one, one])} />}
          <Choice label="Operation" name="op" value={query.op ?? ""} options={[["", "all"], ...operations.map((one): [string, string] => [one, one === "am" ? "message (am)" : one])]} />
          <Choice label="Show" name="quantity" value={quantityShown} options={[["blocking", "one operation"], ["stream", "a stream"], ["issue", "issuing"]]} />
        </>}>
        <Curves label={`Time by size on ${path}`} curves={curves} marks={marks} format={seconds} />
        {marks.length > 0 && <p class="quiet">Break points, where the network changes its protocol: {marks.map((one) => one.text).join("; ")}.</p>}
      </Figure>
      {coming && <section class="figure coming" id="residuals" aria-label="Residuals"><div class="state loading" role="status" aria-label="Loading the samples"><i /><i /><i /></div></section>}
      {residuals.length > 0 && (
        <Figure id="residuals" title="Residuals" about="Measured over modelled time of one operation, minus one: what the model does not explain." table={() => table(residuals)}>
          <Curves label="Residuals by size" curves={residuals} format={(value) => percent(value, 2)} logY={false} zero height={220} />
        </Figure>
      )}
    </>
  );
}

function Intervals({ file, query }: { file: ModelFile; query: Record<string, string> }) {
  // As people read about them; then whatever else has parameters.
  const known = ["network", "compute", "strip", "pack", "vis", "update", "shared_update", "bulk", "collective", "rma", "service_levels"];
  const others = Object.keys(file).filter((name) => !known.includes(name) && parameters(file[name]).length > 0);
  const sections = [...known, ...others].filter((name) => file[name] !== undefined);
  const section = sections.includes(query.section) ? query.section : sections[0];
  const all = useMemo(() => parameters(file[section]), [file, section]);
  const shown = useMemo(() => (all.length <= 40 ? all : [...all].sort((a, b) => relativeWidth(b.parameter) - relativeWidth(a.parameter)).slice(0, 40)), [all]);
  return (
    <Figure id="intervals" title="Precision of the parameters"
      about={`95 % intervals relative to the values${all.length > shown.length ? `, the 40 widest of ${all.length}; the table has all` : ""}. Intervals wider than ± 25 % are marked.`}
      choices={<Choice label="Section" name="section" value={section} options={sections.map((one) => [one, `${one.replaceAll("_", " ")} (${parameters(file[one]).length})`])} />}
      table={() => ({ columns: ["parameter", "value", "low", "high", "unit", "runs", "samples", "method"], rows: all.map(({ name, parameter }) => [name, parameter.value, ...parameter.ci, parameter.unit, parameter.runs, parameter.samples, parameter.method]) })}>
      <Forest of={shown} />
    </Figure>
  );
}

function Provenance({ file, version }: { file: ModelFile; version: ModelVersion }) {
  const matches = { hard: "must match", soft: "warning if it differs", ignore: "for information" };
  return (
    <section class="figure" aria-labelledby="provenance-title" id="provenance">
      <header><div><h2 id="provenance-title">Provenance</h2><p>What was measured, on which machine, and which machines may load the model.</p></div></header>
      {version.summary !== "" && <p>{version.summary}</p>}
      <Facts of={[
        ["campaigns", file.provenance.campaigns.map((name, index) => <>{index > 0 && ", "}{!report || name in report.answers ? <a href={`#/${name}`}>{short(name)}</a> : short(name)}</>)],
        ["fitted", `${file.provenance.fitted_at} by ${file.provenance.fitter_version}`],
        ["sha256", <code>{version.sha256}</code>],
        ["samples", <code>{file.provenance.sample_sha256.slice(0, 16)}…</code>],
        ["measured with", `${file.domain.min_ranks === file.domain.max_ranks ? count(file.domain.max_ranks, "rank") : `${file.domain.min_ranks} to ${file.domain.max_ranks} ranks`}, ${bytes(file.domain.min_bytes)} to ${bytes(file.domain.max_bytes)}`],
        ...(short(version.name) === "file" ? [] : [["fetch it", <code>stripline model fetch {file.name}@{short(version.name)}</code>] as [string, ComponentChildren]]),
      ]} />
      <h3>Fingerprint</h3>
      <Facts of={Object.entries(file.fingerprint).map(([field, fact]) => [field, <>{fact.value} <span class="quiet">{matches[fact.match]}</span></>])} />
    </section>
  );
}

function OneModel({ model, versions, query, again }: { model: Model; versions: ModelVersion[]; query: Record<string, string>; again: () => void }) {
  const version = versions.find((one) => short(one.name) === query.version) ?? versions.find((one) => one.name === model.latest_version) ?? versions[0];
  const file = useData(version?.name ?? null, (signal) => get<ModelFile>(`${version!.name}/file`, signal));
  const { points, coming } = useSamples(file.data);
  const questions = useData("explain", (signal) => get<Questions>("explain", signal));
  if (!version) return <Empty>This model has no version.</Empty>;
  const silent = silence(version);
  return (
    <>
      <Versions model={model} all={versions} shown={version} />
      <Show of={file} what="The model file">
        {(content) => (
          <>
            <Contents of={[...(report ? [] : [["publishing", "Production"] as [string, string]]), ["network", "Time by size"], ["residuals", "Residuals"], ["loop", "Loops"], ["call", "Transfers of many regions"],
              ...(content.collective?.rules.length ? [["collectives", "Collectives"] as [string, string]] : []), ["intervals", "Parameters"], ["provenance", "Provenance"]]} />
            {!report && <Publishing of={version} again={again} />}
            <NetworkFigures file={content} query={query} points={points} coming={coming} />
            <Show of={questions} what="What may be asked">
              {(all) => (
                <>
                  {silent !== null && <p class="state stale">{silent} The maps show what it decides, not what that gains.</p>}
                  <LoopMap version={version.name} silent={silent} questions={all} query={query} />
                  <CallMap version={version.name} silent={silent} questions={all} query={query} />
                </>
              )}
            </Show>
            {content.collective && content.collective.rules.length > 0 && (
              <Figure id="collectives" title="Collectives by size" about="Which algorithm a collective uses at each size. Pale: the default. The other bars name the share of the default's time that they save at least, as measured."
                table={() => ({ columns: ["operation", "min_ranks", "max_ranks", "from_bytes", "to_bytes", "algorithm", "time_s", "gain", "gain_low", "gain_high"], rows: content.collective!.rules.map((rule) => [rule.operation, rule.min_ranks, rule.max_ranks, rule.from_bytes, rule.to_bytes, rule.algorithm, rule.time_s.value, rule.gain?.value ?? null, rule.gain?.ci[0] ?? null, rule.gain?.ci[1] ?? null]) })}>
                <Collectives rules={content.collective.rules} silent={silent} />
              </Figure>
            )}
            <Intervals file={content} query={query} />
            <Provenance file={content} version={version} />
          </>
        )}
      </Show>
    </>
  );
}

// A bar for each rule along the sizes that it holds for.
function Collectives({ rules, silent }: { rules: Rule[]; silent: string | null }) {
  const gainText = (rule: Rule) => {
    if (!rule.gain) return ", the default";
    const sure = sureGain(rule.gain);
    return silent !== null ? "" : sure === null ? ", which gains nothing surely" : `, at least ${percent(sure, 2)} less than the default`;
  };
  const operations = [...new Set(rules.map((rule) => rule.operation))];
  const algorithms = [...new Set(rules.map((rule) => rule.algorithm))];
  const width = 760;
  const left = 110;
  const most = 24;
  const x = (size: number) => left + ((width - left - 30) * Math.min(most, Math.max(0, Math.log2(Math.max(1, size))))) / most;
  return (
    <div class="plot">
      <ul class="legend">{algorithms.map((one, index) => <li key={one}><i style={{ background: `var(--c${(index % 10) + 1})` }} />{one.replaceAll("_", " ")}</li>)}</ul>
      <svg class="picture" viewBox={`0 0 ${width} ${operations.length * 30 + 30}`} role="img" tabindex={0} aria-label="Algorithms of collectives by size; the button Table shows all values">
        {operations.map((operation, row) => (
          <g key={operation}>
            <text x={left - 8} y={row * 30 + 19} text-anchor="end">{operation.replaceAll("_", " ")}</text>
            {rules.filter((rule) => rule.operation === operation).map((rule) => (
              <g key={`${rule.min_ranks}/${rule.from_bytes}`}>
              <rect x={x(rule.from_bytes)} y={row * 30 + 4} width={Math.max(1, x(rule.to_bytes) - x(rule.from_bytes) - 1)} height={22}
                style={{ fill: `var(--c${(algorithms.indexOf(rule.algorithm) % 10) + 1})`, opacity: rule.gain ? 1 : 0.4 }}>
                <title>{`${operation}, ${bytes(rule.from_bytes)} to ${bytes(rule.to_bytes)}: ${rule.algorithm}, ${seconds(rule.time_s.value)} at ${bytes(rule.bytes)}${gainText(rule)}`}</title>
              </rect>
              {silent === null && sureGain(rule.gain) !== null && <text x={(x(rule.from_bytes) + x(rule.to_bytes)) / 2} y={row * 30 + 19} text-anchor="middle" class="on-bar">−{percent(sureGain(rule.gain)!, 2)}</text>}
              </g>
            ))}
          </g>
        ))}
        {[0, 4, 8, 12, 16, 20, 24].map((power) => <text key={power} x={x(2 ** power)} y={operations.length * 30 + 20} text-anchor="middle">{bytes(2 ** power)}</text>)}
      </svg>
    </div>
  );
}

const labelColumn = (label: string): Column<TunedModel> => {
  const named = ({ versions }: TunedModel) => versions.find((one) => one.labels?.includes(label));
  return {
    name: label, right: true, key: (one) => Number(short(named(one)?.name ?? "")),
    cell: (one) => { const version = named(one); return version ? <a href={`#/models/${short(one.model.name)}?version=${short(version.name)}`}>version {short(version.name)}</a> : "–"; },
  };
};

const modelColumns: Column<TunedModel>[] = [
  { name: "model", key: ({ model }) => short(model.name), cell: ({ model }) => <a href={`#/models/${short(model.name)}`}>{short(model.name)}</a> },
  { name: "fabric", key: ({ model }) => model.fabric, cell: ({ model }) => <span title={model.fabric}>{fabricText(model.fabric)}</span> },
  labelColumn("stable"),
  labelColumn("canary"),
  { name: "latest", key: ({ model }) => Number(short(model.latest_version)), cell: ({ model }) => (model.latest_version === "" ? <Badge kind="bad">all withdrawn</Badge> : `version ${short(model.latest_version)}`), right: true },
  { name: "state", key: ({ model, versions }) => versions.find((one) => one.name === model.latest_version)?.state ?? "", cell: ({ model, versions }) => { const latest = versions.find((one) => one.name === model.latest_version); return latest ? <VersionBadges of={latest} /> : "–"; } },
  { name: "created", key: ({ model }) => -Date.parse(model.create_time), cell: ({ model }) => ago(model.create_time, Date.now()), right: true },
];

export function ModelPage({ name, query }: { name?: string; query: Record<string, string> }) {
  const models = useData(name ? null : "models", tunedModels, 10);
  const model = useData(name ? `models/${name}` : null, async (signal) => ({
    model: await get<Model>(`models/${name}`, signal),
    versions: await getAll<ModelVersion>(`models/${name}/versions`, "versions", signal),
  }), 15);
  if (!name) {
    return (
      <>
        <h1>Models</h1>
        <Show of={models} what="The models">
          {(all) => (all.length === 0 ? <Empty>No model yet. A campaign makes one: <code>stripline campaign run --fabric tcp</code></Empty> : <Sorted rows={all} columns={modelColumns} caption="Models" id={(one) => one.model.name} />)}
        </Show>
      </>
    );
  }
  return (
    <Show of={model} what="The model">
      {(of) => (
        <>
          <h1>{name} <span class="quiet">{of.model.fabric}</span></h1>
          {holdsSettings(of.model.fabric) ? <SettingsVersions {...of} query={query} again={model.again} /> : <OneModel {...of} query={query} again={model.again} />}
        </>
      )}
    </Show>
  );
}

// Any decision of any mechanism: a form of what the server says may be asked, and the answer.
import { useState } from "preact/hooks";
import { get, getAll } from "./api";
import { Empty, Show, useData } from "./data";
import { Explained } from "./explained";
import type { Explanation } from "./explanation";
import { askedOf, commandLine, usualText, type Asked, type Command, type Option, type Questions } from "./explain_form";
import { choose, CopyText, Select } from "./here";
import type { ModelFile } from "./model_file";
import { format } from "./route";
import type { Model, ModelVersion } from "./types";
import { short } from "./units";

const hints: Partial<Record<Option["unit"], string>> = { bytes: "e.g. 64KiB", seconds: "e.g. 400us", numbers: "e.g. 0,1,2" };

// One option: what it is, and a control of its kind. `change` is called when it has been changed, not at each key.
function Field({ of, value, change }: { of: Option; value: string; change: (value: string) => void }) {
  const id = `option-${of.name}`;
  const label = of.option.startsWith("-") ? of.option : of.name;
  const usual = usualText(of);
  const common = { id, "aria-describedby": `${id}-help`, required: of.required };
  return (
    <div class="field">
      <label for={id}><code>{label}</code>{of.required && <span class="quiet"> required</span>}</label>
      {of.unit === "flag" ? <input {...common} type="checkbox" checked={value === "true"} onChange={(event) => change(event.currentTarget.checked ? "true" : "")} />
        : of.unit === "choice" ? (
          <select {...common} value={value || usual} onChange={(event) => change(event.currentTarget.value === usual ? "" : event.currentTarget.value)}>
            {of.choices.map((one) => <option key={one} value={one} selected={one === (value || usual)}>{one.replaceAll("_", " ")}</option>)}
          </select>
        ) : of.unit === "text" ? <textarea {...common} rows={6} spellcheck={false} value={value} onChange={(event) => change(event.currentTarget.value)} />
          : of.unit === "number" ? <input {...common} type="number" min={of.least} max={of.most ?? undefined} value={value} placeholder={usual} onChange={(event) => change(event.currentTarget.value)} />
            : <input {...common} type="text" value={value} placeholder={usual || hints[of.unit]} onChange={(event) => change(event.currentTarget.value.trim())} />}
      <p id={`${id}-help`}>{of.help}</p>
    </div>
  );
}

function Fields({ of, asked, change }: { of: Option[]; asked: Asked; change: (name: string, value: string) => void }) {
  return <div class="fields">{of.map((one) => <Field key={one.name} of={one} value={asked[one.name] ?? ""} change={(value) => change(one.name, value)} />)}</div>;
}

function Form({ command, asked, paths, change }: { command: Command; asked: Asked; paths: string[]; change: (name: string, value: string) => void }) {
  const kinds: [title: string, options: Option[]][] = [
    ["Optional", command.options.filter((one) => !one.required && !one.surroundings)],
    ["Surroundings", command.options.filter((one) => one.surroundings)],
  ];
  return (
    <form class="question" aria-label={`What is asked of a ${command.command}`} onSubmit={(event) => event.preventDefault()}>
      {command.takes_path && paths.length > 1 && <Select label="Path" value={asked.path ?? paths[0]} options={paths.map((one) => [one, one])} set={(value) => change("path", value)} />}
      <Fields of={command.options.filter((one) => one.required)} asked={asked} change={change} />
      {kinds.map(([title, options]) => options.length > 0 && (
        <details key={title} open={options.some((one) => (asked[one.name] ?? "") !== "")}>
          <summary>{title}</summary>
          <Fields of={options} asked={asked} change={change} />
        </details>
      ))}
    </form>
  );
}

function Answer({ command, model, version, asked }: { command: Command; model: string; version: string; asked: Asked }) {
  const missing = command.options.filter((one) => one.required && !asked[one.name]);
  const path = `models/${model}/versions/${version}/explain/${command.command}?${new URLSearchParams(asked)}`;
  const explanation = useData(missing.length > 0 ? null : path, (signal) => get<Explanation>(path, signal));
  const line = commandLine(command, `${model}@${version}`, asked);
  if (missing.length > 0) return <Empty><code>{missing[0].option}</code> is required.</Empty>;
  return (
    <>
      <Show of={explanation} what="The decision">{(of) => <Explained of={of} baseline={command.baseline} />}</Show>
      <h2>The same from a shell</h2>
      <div class="copied"><pre>{line}</pre><CopyText text={line}>Copy</CopyText></div>
    </>
  );
}

export function ExplainPage({ path, query }: { path: string[]; query: Record<string, string> }) {
  const [named = "", of = ""] = path;
  const [wantedModel, wantedVersion = ""] = named.split("@");
  const questions = useData("explain", (signal) => get<Questions>("explain", signal));
  const models = useData("explain/models", (signal) => getAll<Model>("models", "models", signal));
  const model = models.data?.find((one) => short(one.name) === wantedModel) ?? models.data?.find((one) => one.latest_version !== "") ?? models.data?.[0];
  const versions = useData(model ? `${model.name}/versions` : null, (signal) => getAll<ModelVersion>(`${model!.name}/versions`, "versions", signal));
  const version = versions.data?.find((one) => short(one.name) === wantedVersion) ?? versions.data?.find((one) => one.name === model?.latest_version) ?? versions.data?.[0];
  const file = useData(version ? `${version.name}/file` : null, (signal) => get<ModelFile>(`${version!.name}/file`, signal));
  // Fields are reset for another question, also of the same command.
  const [round, setRound] = useState(0);
  const command = questions.data?.commands.find((one) => one.command === of) ?? questions.data?.commands[0];
  const go = (to: string, asks: Asked = {}) => { location.hash = format({ path: ["explain", ...to.split("/")], query: asks }); };
  return (
    <>
      <h1>Explain a decision</h1>
      <p class="lead">What the planners of the runtime decide by a model, and why: every alternative with its predicted time, and the margin that a gain must exceed.</p>
      <Show of={questions} what="The questions">
        {({ commands }) => (
          <Show of={models} what="The models">
            {(all) => (all.length === 0 ? <Empty>No model yet; decisions need one. A campaign makes one: <code>stripline campaign run --fabric tcp</code></Empty> : (
              <Show of={versions} what="The versions">
                {(each) => {
                  if (!version || !model || !command) return <Empty>This model has no version.</Empty>;
                  const asked = askedOf(command, query);
                  const name = `${short(model.name)}@${short(version.name)}`;
                  return (
                    <>
                      <div class="filters">
                        <Select label="Model" value={short(model.name)} options={all.map((one) => [short(one.name), `${short(one.name)} (${one.fabric})`])} set={(value) => go(`${value}/${command.command}`, asked)} />
                        <Select label="Version" value={short(version.name)} options={each.map((one) => [short(one.name), `${short(one.name)}${one.withdrawn ? ", withdrawn" : ""}`])} set={(value) => go(`${short(model.name)}@${value}/${command.command}`, asked)} />
                        <Select label="Decision" value={command.command} options={commands.map((one) => [one.command, one.command])} set={(value) => { setRound(round + 1); go(`${name}/${value}`); }} />
                        <button type="button" onClick={() => { setRound(round + 1); go(`${name}/${command.command}`); }}>Example</button>
                        <span class="quiet">{command.help}</span>
                      </div>
                      <div class="asked">
                        <section class="figure" aria-label="The question">
                          <Form key={`${command.command}/${round}`} command={command} asked={asked} paths={Object.keys(file.data?.network ?? {})}
                            change={(option, value) => { if (path.length < 2) go(`${name}/${command.command}`, { ...asked, [option]: value }); else choose({ ...asked, [option]: value }); }} />
                        </section>
                        <section class="figure" aria-label="The answer"><Answer command={command} model={short(model.name)} version={short(version.name)} asked={asked} /></section>
                      </div>
                    </>
                  );
                }}
              </Show>
            ))}
          </Show>
        )}
      </Show>
    </>
  );
}

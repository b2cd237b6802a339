// Versions of models: names, states, labels, and the choice of one.
import type { ComponentChildren } from "preact";
import { getAll } from "./api";
import { Empty, Show, useData, type Loaded } from "./data";
import { Badge, Select } from "./here";
import { format } from "./route";
import type { Model, ModelVersion } from "./types";
import { short } from "./units";
import { nameOf } from "./version_name";

/** A model with its versions, the newest first. */
export interface TunedModel { model: Model; versions: ModelVersion[] }

export async function tunedModels(signal: AbortSignal): Promise<TunedModel[]> {
  const models = await getAll<Model>("models", "models", signal);
  // Where something of a model cannot be read, a list of its versions may be refused.
  const versionsOf = async (model: Model) => (model.unreadable ? [] : getAll<ModelVersion>(`${model.name}/versions`, "versions", signal));
  return Promise.all(models.map(async (model) => ({ model, versions: await versionsOf(model) })));
}

export async function allVersions(signal: AbortSignal): Promise<ModelVersion[]> {
  return (await tunedModels(signal)).flatMap((one) => one.versions);
}

/** Those that predict and decide: settings of another runtime do not. */
export function useVersions(everySeconds = 0): Loaded<ModelVersion[]> {
  return useData("all/versions", async (signal) => (await allVersions(signal)).filter((one) => !one.validation?.settings), everySeconds);
}

const kinds: Record<string, "good" | "warn" | "bad" | "busy" | "plain"> = { FITTED: "plain", FAILED: "bad", VALIDATED: "busy", PUBLISHED: "good", STALE: "bad", DEPRECATED: "bad" };

/** What a version is now, by a word each. */
export function VersionBadges({ of }: { of: ModelVersion }) {
  return (
    <>
      {of.labels?.map((label) => <Badge key={label} kind={label === "stable" ? "good" : "busy"}>{label}</Badge>)}
      {of.state && !(of.state === "PUBLISHED" && of.labels.length > 0) && <Badge kind={kinds[of.state] ?? "plain"} title={of.withdrawn || of.stale || of.failed}>{of.state === "DEPRECATED" ? "withdrawn" : of.state.toLowerCase()}</Badge>}
      {of.unjudged && <Badge kind="warn" title={of.unjudged}>not judged</Badge>}
      {of.lost && <Badge kind="bad" title={of.lost}>lost</Badge>}
      {of.provisional !== "" && <Badge kind="warn" title={of.provisional}>provisional</Badge>}
    </>
  );
}

export function VersionChoice({ label, all, value, set }: { label: string; all: ModelVersion[]; value: ModelVersion; set: (name: string) => void }) {
  const notes = (one: ModelVersion) => [...one.labels, one.withdrawn && "withdrawn", one.stale && "stale", one.provisional && "provisional"].filter(Boolean).map((note) => `, ${note}`).join("");
  return <Select label={label} value={nameOf(value.name)} options={all.map((one) => [nameOf(one.name), `${nameOf(one.name)}${notes(one)}`])} set={set} />;
}

/** A page about one version, which is in its address: what production uses, until another is chosen. */
export function VersionPage({ title, place, path, children }: { title: string; place: string; path: string[]; children: (version: ModelVersion, again: () => void) => ComponentChildren }) {
  const versions = useVersions(15);
  return (
    <>
      <h1>{title}</h1>
      <Show of={versions} what="The models">
        {(all) => {
          const version = all.find((one) => nameOf(one.name) === path[0]) ?? all.find((one) => one.labels.includes("stable")) ?? all[0];
          if (!version) return <Empty>No model yet. A campaign makes one: <code>stripline campaign run --fabric tcp</code></Empty>;
          if (path[0] && nameOf(version.name) !== path[0]) return <Empty>There is no version {path[0]}. <a href={`#/${place}`}>Show another</a></Empty>;
          return (
            <>
              <div class="filters">
                <VersionChoice label="Version" all={all} value={version} set={(name) => { location.hash = format({ path: [place, name], query: {} }); }} />
                <span><VersionBadges of={version} /></span>
                <a href={`#/models/${version.name.split("/")[1]}?version=${short(version.name)}`}>The model</a>
              </div>
              {children(version, versions.again)}
            </>
          );
        }}
      </Show>
    </>
  );
}

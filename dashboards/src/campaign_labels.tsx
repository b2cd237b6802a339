// What people call a campaign: seen by all, changed by those who may change it.
import { post } from "./api";
import { Badge } from "./here";
import { labelsFrom } from "./campaign_list";
import { format } from "./route";
import type { Campaign } from "./types";
import { Action } from "./who";

export function LabelBadges({ of }: { of: string[] | undefined }) {
  return <>{(of ?? []).map((label) => <a key={label} class="plain" href={format({ path: ["campaigns"], query: { q: label } })}><Badge kind="plain">{label}</Badge></a>)}</>;
}

export function Labels({ of, done }: { of: Campaign; done: () => void }) {
  const labels = of.labels ?? [];
  return (
    <div class="actions">
      {labels.length > 0 && <span><LabelBadges of={labels} /></span>}
      <Action text={labels.length > 0 ? "Change its labels" : "Label it"} question="Campaigns can be found by their labels: lower-case letters, digits, '.', '_' and '-', separated by spaces. An empty field removes all labels."
        about={{ label: "Labels", hint: "nightly switch-7", value: labels.join(" ") }} act={(said) => post(`${of.name}/label`, { labels: labelsFrom(said) })} done={done} />
    </div>
  );
}

// The audit trail, newest first, a page at a time.
import { useState } from "preact/hooks";
import { getPage } from "./api";
import { Empty, Show, useData } from "./data";
import { Figure } from "./figure";
import { choose } from "./here";
import type { AuditEvent } from "./types";
import { ago, count } from "./units";

const kAtOnce = 200;

// Where a name leads to, if there is a page of it.
function Thing({ name }: { name: string }) {
  const [kind, of, , number] = name.split("/");
  if (kind === "campaigns") return <a href={`#/campaigns/${of}`}>{of}</a>;
  if (kind === "nodes") return <a href={`#/fleet?node=${encodeURIComponent(of)}`}>{of}</a>;
  if (kind === "models") return <a href={number ? `#/models/${of}?version=${number}` : `#/models/${of}`}>{number ? `${of}@${number}` : of}</a>;
  return <>{name}</>;
}

export function AuditPage({ query }: { query: Record<string, string> }) {
  const { q = "" } = query;
  const [older, setOlder] = useState<{ items: AuditEvent[]; next: string | null; problem: string }>({ items: [], next: null, problem: "" });
  const newest = useData("audit", (signal) => getPage<AuditEvent>("audit", "events", kAtOnce, "", signal), older.items.length > 0 ? 0 : 15);
  const more = async (after: string) => {
    try {
      const page = await getPage<AuditEvent>("audit", "events", 1000, after);
      setOlder((before) => ({ items: [...before.items, ...page.items], next: page.next, problem: "" }));
    } catch (error) {
      setOlder((before) => ({ ...before, problem: (error as Error).message }));
    }
  };
  return (
    <>
      <h1>Audit</h1>
      <Show of={newest} what="The audit trail">
        {({ items, next }) => {
          const all = [...items, ...older.items];
          const after = older.next ?? next;
          const shown = all.filter((one) => q.toLowerCase().split(/\s+/).every((word) => `${one.time} ${one.actor} ${one.action} ${one.object}`.toLowerCase().includes(word)));
          return (
            <>
              <div class="filters"><label class="choice"><span>Find</span><input type="search" value={q} placeholder="user, action, object, time" onInput={(event) => choose({ q: event.currentTarget.value })} /></label></div>
              <Figure id="audit" title="Changes" picture={false} about={`${shown.length.toLocaleString("en")} of ${count(all.length, "change")}${after === "" ? "" : " loaded so far"}, newest first.`}
                table={() => ({ columns: ["time", "actor", "action", "object"], rows: shown.map((one) => [one.time, one.actor, one.action, one.object]) })}>
                {shown.length === 0 ? <Empty>No loaded change matches.</Empty> : (
                  <div class="scroll" tabIndex={0} role="region" aria-label="Changes, as a table">
                    <table>
                      <caption class="hidden">Changes</caption>
                      <thead><tr>{["time (UTC)", "user", "action", "object"].map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
                      <tbody>{shown.map((one, index) => (
                        <tr key={`${one.time} ${index}`}><td class="nowrap"><time dateTime={one.time} title={ago(one.time, Date.now())}>{one.time.slice(0, 19).replace("T", " ")}</time></td><td>{one.actor}</td><td>{one.action}</td><td><Thing name={one.object} /></td></tr>
                      ))}</tbody>
                    </table>
                  </div>
                )}
              </Figure>
              {older.problem !== "" && <div class="state bad" role="alert">{older.problem}</div>}
              {after !== "" && <button type="button" class="more" onClick={() => more(after)}>Load older changes</button>}
            </>
          );
        }}
      </Show>
    </>
  );
}

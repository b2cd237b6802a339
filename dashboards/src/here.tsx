// The route as a hook, and the small parts that all pages are made of.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { format, parse, type Route } from "./route";

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const look = () => setRoute(parse(location.hash));
    window.addEventListener("hashchange", look);
    return () => window.removeEventListener("hashchange", look);
  }, []);
  return route;
}

/** Changes what is chosen on this page; the address contains it, the browser's history does not. */
export function choose(change: Record<string, string>): void {
  const route = parse(location.hash);
  history.replaceState(null, "", format({ ...route, query: { ...route.query, ...change } }));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

export function Badge({ kind, children, title }: { kind: "good" | "warn" | "bad" | "busy" | "plain"; children: ComponentChildren; title?: string }) {
  return <span class={`badge ${kind}`} title={title}>{children}</span>;
}

const stateKinds: Record<string, "good" | "warn" | "bad" | "busy" | "plain"> = {
  IDLE: "good", MEASURING: "busy", INSTALLING: "busy", OFFLINE: "bad", QUEUED: "warn", RUNNING: "busy", FITTING: "busy",
  PAUSED: "warn", DRAINING: "warn", SUCCEEDED: "good", FAILED: "bad", CANCELLED: "plain",
  PENDING: "plain", ACTIVE: "busy", FINISHED: "good",
};

export function State({ of }: { of: string }) {
  return <Badge kind={stateKinds[of] ?? "plain"}>{of.toLowerCase()}</Badge>;
}

/** A choice of a few. */
export function Select({ label, value, options, set }: { label: string; value: string; options: [value: string, text: string][]; set: (value: string) => void }) {
  return (
    <label class="choice">
      <span>{label}</span>
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map(([one, text]) => <option key={one} value={one} selected={one === value}>{text}</option>)}
      </select>
    </label>
  );
}

/** The same, whose place in the address is `name`. */
export function Choice({ name, ...rest }: { label: string; name: string; value: string; options: [value: string, text: string][] }) {
  return <Select {...rest} set={(value) => choose({ [name]: value })} />;
}

export function CopyText({ text, children }: { text: string; children: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    // Browsers give no clipboard to pages by plain HTTP from other machines: there the text is shown, to be copied by hand.
    if (navigator.clipboard) await navigator.clipboard.writeText(text).catch(() => prompt("Copy", text));
    else prompt("Copy", text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return <button type="button" onClick={copy}>{copied ? "Copied" : children}</button>;
}

/** `share` from 0 to 1, rounded down: 100 % is shown only when all is done. */
export function Progress({ share, label }: { share: number; label: string }) {
  return (
    <span class="progress">
      <progress value={share} max={1} aria-label={label} />
      <span>{Math.floor(100 * share + 1e-9)} %</span>
    </span>
  );
}

/** What is on a long page, by the ids of its parts. The address is the page's own, so that it keeps what is chosen. */
export function Contents({ of }: { of: [id: string, text: string][] }) {
  const go = (event: MouseEvent, id: string) => {
    event.preventDefault();
    const part = document.getElementById(id);
    if (!part) return;
    part.tabIndex = -1;
    part.scrollIntoView();
    part.focus({ preventScroll: true });
  };
  return <nav class="contents" aria-label="On this page"><span class="quiet">On this page:</span>{of.map(([id, text]) => <a key={id} href={location.hash} onClick={(event) => go(event, id)}>{text}</a>)}</nav>;
}

export function Facts({ of }: { of: [name: string, value: ComponentChildren][] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

/** A table whose columns sort; cells that are numbers stand to the right. */
export interface Column<T> { name: string; cell: (row: T) => ComponentChildren; key: (row: T) => string | number; right?: boolean }

export function Sorted<T>({ rows, columns, caption, id, most = 200, start = "" }: { rows: T[]; columns: Column<T>[]; caption: string; id: (row: T) => string; most?: number; start?: string }) {
  const [sort, setSort] = useState(start);
  const [shown, setShown] = useState(most);
  const down = sort.startsWith("-");
  const column = columns.find((one) => one.name === sort.replace(/^-/, ""));
  const ordered = column ? [...rows].sort((a, b) => {
    const [x, y] = [column.key(a), column.key(b)];
    const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return down ? -order : order;
  }) : rows;
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${caption}, as a table`}>
        <table>
          <caption class="hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map((one) => (
                <th key={one.name} scope="col" class={one.right ? "right" : ""} aria-sort={one === column ? (down ? "descending" : "ascending") : "none"}>
                  <button type="button" onClick={() => setSort(sort === one.name ? `-${one.name}` : one.name)}>
                    {one.name}<span aria-hidden="true">{one === column ? (down ? " ▼" : " ▲") : ""}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {ordered.slice(0, shown).map((row) => (
              <tr key={id(row)}>{columns.map((one) => <td key={one.name} class={one.right ? "right" : ""}>{one.cell(row)}</td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
      {ordered.length > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + most)}>
          Show {Math.min(most, ordered.length - shown)} more of {(ordered.length - shown).toLocaleString("en")}
        </button>
      )}
    </>
  );
}

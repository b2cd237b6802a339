// The frame of every picture: what it shows, its choices, its export, and the same as a table.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { csv, type Table } from "./table";

function save(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// A drawing stands alone only with the styles that it has here.
const kStyles = ["fill", "stroke", "stroke-width", "stroke-dasharray", "paint-order", "opacity", "font-size", "font-family", "font-weight", "text-anchor"];

function standalone(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [svg, ...svg.querySelectorAll<SVGElement>("*")];
  [copy, ...copy.querySelectorAll<SVGElement>("*")].forEach((element, index) => {
    const style = getComputedStyle(from[index]);
    for (const name of kStyles) element.style.setProperty(name, style.getPropertyValue(name));
  });
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.style.background = getComputedStyle(document.body).backgroundColor;
  return new XMLSerializer().serializeToString(copy);
}

function exportPicture(name: string, frame: HTMLElement): void {
  const svg = frame.querySelector<SVGSVGElement>("svg.picture");
  if (svg) return save(`${name}.svg`, new Blob([standalone(svg)], { type: "image/svg+xml" }));
  const canvas = frame.querySelector("canvas");
  if (!canvas) return;
  const solid = document.createElement("canvas");
  solid.width = canvas.width;
  solid.height = canvas.height;
  const context = solid.getContext("2d")!;
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, solid.width, solid.height);
  context.drawImage(canvas, 0, 0);
  solid.toBlob((blob) => blob && save(`${name}.png`, blob));
}

interface FigureProps {
  id: string;
  title: string;
  about: ComponentChildren;
  choices?: ComponentChildren;
  table: () => Table;
  picture?: boolean;  // what it frames is a picture, unless it is said not to be one: then it is a table anyway
  children: ComponentChildren;
}

export function Figure({ id, title, about, choices, table, picture = true, children }: FigureProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [asTable, setAsTable] = useState(false);
  // In place of a picture there may be a sentence.
  const [drawn, setDrawn] = useState(true);
  useEffect(() => setDrawn(frame.current!.querySelector("svg.picture, canvas") !== null));
  return (
    <section class="figure" aria-labelledby={`${id}-title`} id={id}>
      <header>
        <div>
          <h2 id={`${id}-title`}>{title}</h2>
          <p>{about}</p>
        </div>
        <div class="tools">
          {choices}
          {picture && <button type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>Table</button>}
          {picture && <button type="button" onClick={() => exportPicture(id, frame.current!)} disabled={asTable || !drawn}>Image</button>}
          <button type="button" onClick={() => save(`${id}.csv`, new Blob([csv(table())], { type: "text/csv" }))}>CSV</button>
        </div>
      </header>
      <div ref={frame}>{asTable ? <Rows of={table()} caption={title} /> : children}</div>
    </section>
  );
}

const kMostRows = 500;

function Rows({ of, caption }: { of: Table; caption: string }) {
  return (
    <div class="scroll tall" tabIndex={0} role="region" aria-label={`${caption}, as a table`}>
      <table>
        <caption class={of.rows.length > kMostRows ? "" : "hidden"}>{caption}{of.rows.length > kMostRows && `: the first ${kMostRows} of ${of.rows.length} rows; CSV has all`}</caption>
        <thead><tr>{of.columns.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
        <tbody>
          {of.rows.slice(0, kMostRows).map((row, index) => (
            <tr key={index}>{row.map((value, column) => <td key={column} class={typeof value === "number" ? "right" : ""}>{typeof value === "number" ? Number(value.toPrecision(5)) : value ?? ""}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

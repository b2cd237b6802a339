// How much things changed from A to B, each with its interval, beneath one another on a scale of ratios.
import { useState } from "preact/hooks";
import { placeOf, scaleOf } from "./comparison";
import { Empty } from "./data";
import { percent } from "./units";

export interface Change {
  name: string;
  verdict: string;
  /** Relative; null: one side does not have it. */
  change: number | null;
  change_ci?: [number, number];
  /** What is read of it after its name. */
  said: string;
}

const kRow = 24;
const kNames = 400;
const kPlot = 300;
const kWidth = 840;
const kLongest = 62;

// Where it is some times as much, or a whole part of it, that; else the change.
function tickText(change: number): string {
  const [times, part] = [1 + change, 1 / (1 + change)];
  if (Number.isInteger(times)) return `×${times}`;
  return Number.isInteger(part) ? `1/${part}` : `${change > 0 ? "+" : ""}${percent(change)}`;
}

/** The others are in the table. */
export const kMostRows = 40;

export function Changes({ of, label }: { of: Change[]; label: string }) {
  const [at, setAt] = useState(-1);
  const shown = of.filter((one) => one.change !== null).slice(0, kMostRows);
  const { most, ticks } = scaleOf(shown.flatMap((one) => [one.change!, ...(one.change_ci ?? [])]));
  const x = (change: number) => kNames + kPlot / 2 + placeOf(change, most) * (kPlot / 2 - 10);
  const height = shown.length * kRow + 30;
  const read = shown[at];
  const move = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(shown.length - 1, at + by)));
  };
  if (shown.length === 0) return <Empty>Nothing has a value on both sides; the table shows all.</Empty>;
  return (
    <div class="plot">
      <svg class="picture changes" viewBox={`0 0 ${kWidth} ${height}`} role="application" tabindex={0} onKeyDown={move}
        aria-label={`${label} with their intervals. Arrow keys read them; the button Table shows all.`}>
        {ticks.map((change) => (
          <g key={change}>
            <line x1={x(change)} x2={x(change)} y1={0} y2={height - 24} class={change === 0 ? "zero" : "grid"} />
            <text x={x(change)} y={height - 8} text-anchor="middle" class="axis">{tickText(change)}</text>
          </g>
        ))}
        {shown.map((one, index) => {
          const y = index * kRow + 16;
          const change = one.change!;
          const [low, high] = one.change_ci ?? [change, change];
          return (
            <g key={one.name} class={`row ${one.verdict.toLowerCase()}${index === at ? " at" : ""}`} onMouseEnter={() => setAt(index)}>
              <rect x={0} y={y - 16} width={kWidth} height={kRow} class="hit" />
              <text x={4} y={y}>{one.name.length > kLongest ? `…${one.name.slice(1 - kLongest)}` : one.name}</text>
              <line x1={x(low)} x2={Math.max(x(high), x(low) + 1)} y1={y - 4} y2={y - 4} class="interval" />
              {Math.abs(placeOf(change, most)) === 1 ? <path d={`M${x(change) + 6 * Math.sign(change)} ${y - 4}l${-8 * Math.sign(change)} -5v10z`} class="value" /> : <circle cx={x(change)} cy={y - 4} r={4} class="value" />}
              <text x={kNames + kPlot + 8} y={y}>{change > 0 ? "+" : ""}{percent(change)}</text>
            </g>
          );
        })}
      </svg>
      <output aria-live="polite">{read ? `${read.name}: ${read.said}` : "Move over the picture, or use the arrow keys, to read values."}</output>
    </div>
  );
}

// A plane of decisions: a cell for each combination of two sizes, coloured by what is done there,
// hatched where the next best method is nearly as fast.
import { useMemo, useState } from "preact/hooks";

export interface Cell { kind: string; text: string; close: boolean; shade: number }
interface Props {
  label: string;
  xName: string;
  yName: string;
  x: string[];
  y: string[];
  cell: (x: number, y: number) => Cell | undefined;
  kinds: string[];
  pick: (x: number, y: number) => void;
  picked?: [number, number];
  hatched?: boolean;  // close calls are distinguished
  colours?: string[];  // of the style sheet, by kind
  picking?: string;  // what a click does
}

const kWidth = 760;
const kRow = 26;
const kLeft = 92;
const kTop = 8;
const kColours = ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"];

export function DecisionMap({ label, xName, yName, x, y, cell, kinds, pick, picked, hatched = true, colours = kColours, picking = "explain" }: Props) {
  const [at, setAt] = useState<[number, number] | undefined>(picked);
  const height = kTop + kRow * y.length + 52;
  const step = (kWidth - kLeft - 8) / x.length;
  const cells = useMemo(() => y.flatMap((_, row) => x.map((__, column) => ({ column, row, one: cell(column, row) }))), [x, y, cell]);
  const said = at && cell(at[0], at[1]);
  const move = (event: KeyboardEvent) => {
    const by = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] } as Record<string, [number, number]>)[event.key];
    if (by) {
      event.preventDefault();
      const [column, row] = at ?? [0, 0];
      setAt([Math.min(x.length - 1, Math.max(0, column + by[0])), Math.min(y.length - 1, Math.max(0, row + by[1]))]);
    } else if (at && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      pick(...at);
    }
  };
  const top = (row: number) => kTop + kRow * (y.length - 1 - row);
  return (
    <div class="plot">
      <ul class="legend">
        {kinds.map((kind, index) => <li key={kind}><i style={{ background: `var(--${colours[index % colours.length]})` }} />{kind}</li>)}
        {hatched && <li><i class="hatch" />next best within 5 %</li>}
      </ul>
      <svg class="picture" viewBox={`0 0 ${kWidth} ${height}`} role="application" tabindex={0} onKeyDown={move}
        aria-label={`${label}. Arrow keys move, Enter is a click; the button Table shows all.`}>
        <defs>
          <pattern id="hatching" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <line x1="0" y1="0" x2="0" y2="6" class="hatch-line" />
          </pattern>
        </defs>
        {cells.map(({ column, row, one }) => one && (
          <g key={`${column}/${row}`} onMouseEnter={() => setAt([column, row])} onClick={() => pick(column, row)} class="cell">
            <rect x={kLeft + step * column} y={top(row)} width={step - 1} height={kRow - 1}
              style={{ fill: `var(--${colours[kinds.indexOf(one.kind) % colours.length]})`, opacity: one.shade }} />
            {one.close && <rect x={kLeft + step * column} y={top(row)} width={step - 1} height={kRow - 1} fill="url(#hatching)" />}
          </g>
        ))}
        {[at, picked].map((place, index) => place && (
          <rect key={index} class={index === 0 ? "cursor" : "picked"} x={kLeft + step * place[0] - 1} y={top(place[1]) - 1} width={step + 1} height={kRow + 1} />
        ))}
        {x.map((text, column) => (column % Math.ceil(x.length / 13) === 0) && (
          <text key={text} x={kLeft + step * (column + 0.5)} y={kTop + kRow * y.length + 16} text-anchor="middle">{text}</text>
        ))}
        {y.map((text, row) => <text key={text} x={kLeft - 8} y={top(row) + 17} text-anchor="end">{text}</text>)}
        <text x={(kLeft + kWidth) / 2} y={height - 8} text-anchor="middle" class="axis">{xName}</text>
        <text x={14} y={kTop + (kRow * y.length) / 2} text-anchor="middle" class="axis" transform={`rotate(-90 14 ${kTop + (kRow * y.length) / 2})`}>{yName}</text>
      </svg>
      <output aria-live="polite">{said ? said.text : `Move over the picture, or use the arrow keys, to read values; click to ${picking} one.`}</output>
    </div>
  );
}

// Intervals of parameters beneath one another, each relative to its value: how well each is known.
import { useState } from "preact/hooks";
import { relativeWidth, type NamedParameter } from "./model_file";
import { half, quantity } from "./units";

const kRow = 22;
const kNames = 330;
const kPlot = 330;
const kWidth = 840;
// Wider intervals end in an arrow.
const kMost = 1;

export function Forest({ of }: { of: NamedParameter[] }) {
  const [at, setAt] = useState(-1);
  const height = of.length * kRow + 40;
  const x = (relative: number) => kNames + kPlot / 2 + (Math.max(-kMost, Math.min(kMost, relative)) / kMost) * (kPlot / 2 - 12);
  const said = of[at];
  const move = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(of.length - 1, at + by)));
  };
  return (
    <div class="plot">
      <svg class="picture" viewBox={`0 0 ${kWidth} ${height}`} role="application" tabindex={0} onKeyDown={move}
        aria-label="Intervals of parameters relative to their values. Arrow keys read them; the button Table shows all.">
        {[-1, -0.5, 0, 0.5, 1].map((tick) => (
          <g key={tick}>
            <line x1={x(tick)} x2={x(tick)} y1={4} y2={height - 30} class={tick === 0 ? "zero" : "grid"} />
            <text x={x(tick)} y={height - 12} text-anchor="middle">{tick === 0 ? "value" : `${tick > 0 ? "+" : "−"}${Math.abs(tick * 100)} %`}</text>
          </g>
        ))}
        {of.map(({ name, parameter }, index) => {
          const y = index * kRow + 18;
          const { value, ci } = parameter;
          const [low, high] = value === 0 ? [ci[0] < 0 ? -9 : 0, ci[1] > 0 ? 9 : 0] : [ci[0] / value - 1, ci[1] / value - 1];
          const wide = relativeWidth(parameter) > 0.25;
          return (
            <g key={name} onMouseEnter={() => setAt(index)} class={`row${index === at ? " at" : ""}${wide ? " wide" : ""}`}>
              <rect x={0} y={y - 15} width={kWidth} height={kRow} class="hit" />
              <text x={4} y={y}>{name.length > 52 ? `…${name.slice(-51)}` : name}</text>
              <line x1={x(low)} x2={x(high)} y1={y - 4} y2={y - 4} class="interval" />
              {low < -kMost && <path d={`M${x(-1)} ${y - 4}l7 -4v8z`} class="arrow" />}
              {high > kMost && <path d={`M${x(1)} ${y - 4}l-7 -4v8z`} class="arrow" />}
              <circle cx={x(0)} cy={y - 4} r={4} class="value" />
              <text x={kNames + kPlot + 12} y={y}>{parameter.at_least ? "≥ " : ""}{quantity(value, parameter.unit)}</text>
            </g>
          );
        })}
      </svg>
      <output aria-live="polite">
        {said
          ? `${said.name}: ${said.parameter.at_least ? "at least " : ""}${quantity(said.parameter.value, said.parameter.unit)} [${quantity(said.parameter.ci[0], said.parameter.unit)}, ${quantity(said.parameter.ci[1], said.parameter.unit)}], ${Number.isFinite(relativeWidth(said.parameter)) ? `${half(relativeWidth(said.parameter))}, ` : ""}${said.parameter.runs} runs, ${said.parameter.samples} samples, ${said.parameter.method}`
          : "Move over the picture, or use the arrow keys, to read values."}
      </output>
    </div>
  );
}

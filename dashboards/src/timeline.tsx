// Values over time, with what was expected of them.
import { useState } from "preact/hooks";
import { rangeOf, ticksOf, timeText, type Expected, type Moment } from "./scale";

interface Props {
  label: string;
  moments: Moment[];
  expected?: Expected;
  /** Beyond the interval, as a share of it, nothing is missed yet. */
  tolerance?: number;
  /** A line without an interval. */
  usual?: { value: number; text: string };
  /** What a miss is called. */
  missed?: string;
  xName: string;
  format: (value: number) => string;
  say: (index: number) => string;
  /** A click shows more of a moment. */
  pick?: (index: number) => void;
  picked?: number;
}

const kWidth = 900;
const kHeight = 300;
const kLeft = 82;
const kRight = 16;
const kTop = 12;
const kBottom = 44;

export function Timeline({ label, moments, expected, tolerance = 0, usual, missed, xName, format, say, pick, picked }: Props) {
  const [at, setAt] = useState<number | undefined>(picked);
  const bounds = expected && { low: expected.low * (1 - tolerance), high: expected.high * (1 + tolerance) };
  const [bottom, top] = rangeOf([...moments.flatMap((one) => [one.value, one.low ?? one.value, one.high ?? one.value]), ...(bounds ? [bounds.low, bounds.high] : []), ...(usual ? [usual.value] : [])]);
  const [first, last] = [moments[0].at, moments[moments.length - 1].at];
  const x = (time: number) => (last === first ? (kLeft + kWidth - kRight) / 2 : kLeft + 14 + ((time - first) / (last - first)) * (kWidth - kLeft - kRight - 28));
  const y = (value: number) => kTop + (1 - (value - bottom) / (top - bottom)) * (kHeight - kTop - kBottom);
  const times = last === first ? [first] : [0, 0.25, 0.5, 0.75, 1].map((part) => first + part * (last - first));
  const line = expected?.value ?? usual?.value;
  const move = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      setAt(at === undefined ? (by > 0 ? 0 : moments.length - 1) : Math.min(moments.length - 1, Math.max(0, at + by)));
    } else if (pick && at !== undefined && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      pick(at);
    }
  };
  const band = (low: number, high: number, kind: string) => <rect x={kLeft} width={kWidth - kLeft - kRight} y={y(high)} height={Math.max(1, y(low) - y(high))} class={kind} />;
  return (
    <div class="plot">
      <ul class="legend">
        <li><i class="dot" style={{ background: "var(--c1)" }} />measured</li>
        {missed && <li><i class="dot" style={{ background: "var(--bad)" }} />{missed}</li>}
        {expected && <li><i class="expected" />predicted</li>}
        {expected && tolerance > 0 && <li><i class="tolerated" />tolerated</li>}
        {usual && <li><i class="usual" />{usual.text}</li>}
      </ul>
      <svg class="picture timeline" viewBox={`0 0 ${kWidth} ${kHeight}`} role="application" tabindex={0} onKeyDown={move}
        aria-label={`${label}. Arrow keys read values${pick ? ", Enter shows more" : ""}; the button Table shows all.`}>
        {bounds && band(bounds.low, bounds.high, "tolerated")}
        {expected && band(expected.low, expected.high, "expected")}
        {ticksOf(bottom, top).map((tick) => (
          <g key={tick}>
            <line x1={kLeft} x2={kWidth - kRight} y1={y(tick)} y2={y(tick)} class="grid" />
            <text x={kLeft - 8} y={y(tick) + 4} text-anchor="end">{format(tick)}</text>
          </g>
        ))}
        {line !== undefined && <line x1={kLeft} x2={kWidth - kRight} y1={y(line)} y2={y(line)} class="usual" />}
        <polyline points={moments.map((one) => `${x(one.at)},${y(one.value)}`).join(" ")} class="path" />
        {moments.map((one, index) => (
          <g key={index} class={`moment${one.miss ? " miss" : ""}${index === at ? " at" : ""}${pick ? " cell" : ""}`} onMouseEnter={() => setAt(index)} onClick={() => pick?.(index)}>
            <circle cx={x(one.at)} cy={y(one.value)} r={14} class="hit" />
            {one.low !== null && one.high !== null && <line x1={x(one.at)} x2={x(one.at)} y1={y(one.low)} y2={y(one.high)} class="whisker" />}
            <circle cx={x(one.at)} cy={y(one.value)} r={index === picked ? 7 : 5} class="value" />
          </g>
        ))}
        {times.map((time, index) => (
          <text key={time} x={x(time)} y={kHeight - kBottom + 20} text-anchor={times.length === 1 ? "middle" : index === 0 ? "start" : index === times.length - 1 ? "end" : "middle"}>{timeText(time, last - first)}</text>
        ))}
        <text x={(kLeft + kWidth) / 2} y={kHeight - 6} text-anchor="middle" class="axis">{xName}</text>
      </svg>
      <output aria-live="polite">{at !== undefined && moments[at] ? say(at) : `Move over the picture, or use the arrow keys, to read values${pick ? "; click to see more" : ""}.`}</output>
    </div>
  );
}

// Curves with bands and samples over sizes or another number: uPlot.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { clipped } from "./robust";
import { colour, useTheme } from "./theme";
import { bytes, count } from "./units";

export interface Curve {
  label: string;
  colour: string;  // of the style sheet
  x: number[];
  y: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
  dashed?: boolean;
  points?: boolean;  // samples with their intervals, not a line
  joined?: boolean;  // samples with a line between them
}

interface Props {
  label: string;
  curves: Curve[];
  marks?: { at: number; text: string }[];
  format: (value: number) => string;
  xText?: (value: number) => string;  // values of the axis across, which is in bytes unless it is said
  logY?: boolean;
  zero?: boolean;  // a line at zero, and an axis that outliers do not flatten
  height?: number;
  pick?: (curve: number, index: number) => void;  // a click, or Enter, shows more of the nearest value
}

const kHeight = 340;

// All curves over the sizes of any of them.
function aligned(curves: Curve[]): uPlot.AlignedData {
  const x = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
  const place = new Map(x.map((size, index) => [size, index]));
  const spread = (curve: Curve, values?: (number | null)[]) => {
    const row: (number | null)[] = new Array(x.length).fill(null);
    curve.x.forEach((size, index) => { row[place.get(size)!] = values?.[index] ?? null; });
    return row;
  };
  return [x, ...curves.flatMap((curve) => [spread(curve, curve.y), spread(curve, curve.low), spread(curve, curve.high)])] as uPlot.AlignedData;
}

// Room for the line at zero and for all values but outliers.
function aroundZero(curves: Curve[]): { range: [number, number]; outside: number } {
  const { low, high, outside } = clipped(curves.flatMap((one) => one.y), curves.flatMap((one) => [...(one.low ?? []), ...(one.high ?? [])]));
  const margin = 0.06 * (high - low) || 1;
  return { range: [low - margin, high + margin], outside };
}

// Intervals of samples, and where segments begin.
function drawExtras(plot: uPlot, curves: Curve[], marks: Props["marks"], zero: boolean): void {
  const context = plot.ctx;
  const { left, top, width, height } = plot.bbox;
  const ratio = devicePixelRatio;
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.lineWidth = ratio;
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  context.textAlign = "left";
  for (const mark of marks ?? []) {
    const x = plot.valToPos(mark.at, "x", true);
    context.strokeStyle = context.fillStyle = colour("muted");
    context.setLineDash([4 * ratio, 4 * ratio]);
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, top + height);
    context.stroke();
    context.setLineDash([]);
    context.fillText(mark.text, x + 4 * ratio, top + 14 * ratio);
  }
  if (zero) {
    const y = plot.valToPos(0, "y", true);
    context.strokeStyle = colour("muted");
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(left + width, y);
    context.stroke();
  }
  for (const curve of curves.filter((one) => one.points)) {
    context.strokeStyle = colour(curve.colour);
    curve.x.forEach((size, index) => {
      const [low, high] = [curve.low?.[index], curve.high?.[index]];
      if (low == null || high == null) return;
      const x = plot.valToPos(size, "x", true);
      context.beginPath();
      context.moveTo(x, plot.valToPos(low, "y", true));
      context.lineTo(x, plot.valToPos(high, "y", true));
      context.stroke();
    });
  }
  context.restore();
}

// Finds the value at the cursor that is nearest to it: the number of its curve, and its index in that curve.
function nearest(plot: uPlot, curves: Curve[]): [curve: number, index: number] | null {
  const { idx, top } = plot.cursor;
  if (idx == null) return null;
  const size = plot.data[0][idx];
  let best: [number, number] | null = null;
  let least = Infinity;
  curves.forEach((curve, number) => {
    const index = curve.x.indexOf(size);
    const value = index < 0 ? null : curve.y[index];
    if (value == null) return;
    const away = Math.abs(plot.valToPos(value, "y") - (top ?? 0));
    if (away < least) [least, best] = [away, [number, index]];
  });
  return best;
}

export function Curves({ label, curves, marks, format, xText, logY = true, zero = false, height = kHeight, pick }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  // Where the cursor is stays when values come that are drawn again.
  const cursor = useRef<{ left: number; top: number } | undefined>(undefined);
  const picking = useRef(pick);
  picking.current = pick;
  const readout = useRef<HTMLOutputElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const theme = useTheme();
  useEffect(() => {
    const data = aligned(curves);
    const { range } = aroundZero(curves);
    const axis = { stroke: colour("text"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid") }, font: "12px system-ui, sans-serif" };
    const series: uPlot.Series[] = [{}];
    const bands: uPlot.Band[] = [];
    for (const curve of curves) {
      const line = colour(curve.colour);
      const at = series.length;
      series.push(curve.joined
        ? { label: curve.label, stroke: line, width: 2, spanGaps: true, points: { show: true, size: 6, fill: colour("surface"), stroke: line, width: 2 } }
        : curve.points ? { label: curve.label, stroke: line, paths: () => null, points: { show: true, size: 7, fill: colour("surface"), stroke: line, width: 2 } }
        : { label: curve.label, stroke: line, width: 2, dash: curve.dashed ? [8, 6] : undefined, spanGaps: true, points: { show: false } });
      const edge: uPlot.Series = curve.points ? { show: true, paths: () => null, points: { show: false } } : { stroke: "transparent", spanGaps: true, points: { show: false } };
      series.push(edge, { ...edge });
      if (curve.high && !curve.points) bands.push({ series: [at + 2, at + 1], fill: line + "2e" });
    }
    const say = (made: uPlot) => {
      const index = made.cursor.idx;
      if (!readout.current) return;
      if (index == null) {
        readout.current.textContent = `Move over the picture, or use the arrow keys, to read values${picking.current ? "; click to see its samples" : ""}.`;
        return;
      }
      const parts = curves.flatMap((curve, number) => {
        const value = data[1 + 3 * number][index];
        if (value == null) return [];
        const [low, high] = [data[2 + 3 * number][index], data[3 + 3 * number][index]];
        return [`${curve.label} ${format(value)}${low != null && high != null ? ` [${format(low)}, ${format(high)}]` : ""}`];
      });
      readout.current.textContent = `${(xText ?? bytes)(data[0][index])}: ${parts.join("; ")}`;
    };
    // A logarithm of zero is no place on an axis.
    const logX = data[0][0] > 0 && (xText === undefined || data[0][data[0].length - 1] / data[0][0] >= 8);
    const acrossText = xText
      ? (splits: number[]) => splits.map((value) => (value === null ? "" : xText(value)))
      : (splits: number[]) => splits.map((size) => (size !== null && (!logX || Math.log2(size) % 2 === 0) ? bytes(size) : ""));
    const made = new uPlot({
      width: frame.current!.clientWidth,
      height,
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false }, points: { size: 8 } },
      scales: { x: logX ? { time: false, distr: 3, log: 2 } : { time: false }, y: logY ? { distr: 3, log: 10 } : zero ? { range: () => range } : {} },
      axes: [
        { ...axis, values: (_, splits) => acrossText(splits) },
        { ...axis, size: 74, values: (_, splits) => splits.map((value) => (value === null || (logY && Math.abs(Math.log10(value) - Math.round(Math.log10(value))) > 1e-9) ? "" : format(value))) },
      ],
      series,
      bands,
      hooks: { setCursor: [say], draw: [(drawn) => drawExtras(drawn, curves, marks, zero)] },
    }, data, frame.current!);
    plot.current = made;
    say(made);
    if (cursor.current) made.setCursor(cursor.current);
    let pressed = 0;
    made.over.addEventListener("pointerdown", (event) => { pressed = event.clientX; });
    made.over.addEventListener("click", (event) => {
      const found = picking.current && Math.abs(event.clientX - pressed) < 4 ? nearest(made, curves) : null;
      if (found) picking.current!(...found);
    });
    const watch = new ResizeObserver(([entry]) => { if (entry.contentRect.width > 0) made.setSize({ width: entry.contentRect.width, height }); });
    watch.observe(frame.current!);
    return () => {
      watch.disconnect();
      const { left, top } = made.cursor;
      cursor.current = left != null && left >= 0 ? { left, top: top ?? 0 } : undefined;
      made.destroy();
    };
  }, [curves, marks, theme, logY, height]);

  const step = (event: KeyboardEvent) => {
    const made = plot.current;
    if (made && picking.current && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      const found = nearest(made, curves);
      if (found) picking.current(...found);
      return;
    }
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!made || by === undefined) return;
    event.preventDefault();
    const x = made.data[0];
    const index = Math.min(x.length - 1, Math.max(0, (made.cursor.idx ?? (by > 0 ? -1 : x.length)) + by));
    made.setCursor({ left: made.valToPos(x[index], "x"), top: 10 });
  };
  const outside = zero ? aroundZero(curves).outside : 0;
  return (
    <div class="plot">
      <ul class="legend">
        {curves.map((curve) => <li key={curve.label}><i style={{ background: `var(--${curve.colour})` }} class={curve.points ? "dot" : ""} />{curve.label}</li>)}
      </ul>
      <div ref={frame} class="canvas" tabIndex={0} role="img" aria-label={`${label}. Arrow keys read values${pick ? ", Enter shows the samples of one" : ""}; the button Table shows all.`} onKeyDown={step} />
      {outside > 0 && <p class="quiet">{count(outside, "value")} far beyond the others {outside === 1 ? "is" : "are"} not in the picture; the table has all.</p>}
      <output ref={readout} aria-live="polite" />
    </div>
  );
}

// Points on a plane of two factors, by how well each is known: pixels, as there may be hundreds of thousands.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { grade, gradeIndex, grades, gradeTexts, layout, paint, pixel, width, type Index } from "./plane";
import { pointOf, sizeOf, type PointColumns } from "./point_columns";
import { colour, useTheme } from "./theme";
import type { Point } from "./types";
import { bytes, count, half, seconds } from "./units";

const gradeColours: Record<string, string> = { tight: "good", fair: "c2", wide: "bad", once: "c1", waiting: "muted", left: "grid", failed: "text" };
/** A value of a factor as it is read. */
export const factorText = (value: number | string, factor: string) => (typeof value === "number" && factor.includes("bytes") ? bytes(value) : String(value));

/** A point in a line. `over`: nothing more is going to be measured. */
export function describe(point: Point, over: boolean): string {
  const params = Object.entries(point.params).map(([name, value]) => `${name} ${factorText(value, name)}`).join(", ");
  const known = width(point);
  const value = point.median === null ? gradeTexts[grade(point, over)] : seconds(point.median);
  return `${point.variant}, ${params}: ${value}${known === null ? "" : `, ${half(known)}`} (${count(point.runs, "run")}, ${count(point.samples, "sample")})`;
}

const outlined = grades.map((one) => one === "waiting" || one === "failed");
const kBelow = 46;
const kLeft = 190;
// The names of rows take at most this share of the width.
const kLeftShare = 0.36;

// The end of a name says most of it: its beginning is cut where there is no room.
function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let from = 1;
  while (from < text.length - 1 && context.measureText(`…${text.slice(from)}`).width > room) ++from;
  return `…${text.slice(from)}`;
}

/** `pick`: a click, or Enter, shows more of the point at this place of `points`. */
export function Plane({ points, of, xFactor, yFactor, over, pick }: { points: PointColumns; of: Index; xFactor: string; yFactor: string; over: boolean; pick: (index: number) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const [at, setAt] = useState(-1);
  const placed = useMemo(() => layout(of, xFactor, yFactor, (value) => factorText(value, yFactor)), [of, xFactor, yFactor]);
  const height = Math.min(640, Math.max(120, placed.ys.length * 26 + kBelow));
  const [size, setSize] = useState(800);
  const left = Math.min(kLeft, Math.round(size * kLeftShare));
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setSize(entry.contentRect.width));
    watch.observe(canvas.current!.parentElement!);
    return () => watch.disconnect();
  }, []);
  const stepX = (size - left - 10) / Math.max(1, placed.xs.length);
  const stepY = (height - kBelow) / Math.max(1, placed.ys.length);
  useEffect(() => {
    const context = canvas.current!.getContext("2d")!;
    const ratio = devicePixelRatio;
    const [wide, high] = [Math.round(size * ratio), Math.round(height * ratio)];
    canvas.current!.width = wide;
    canvas.current!.height = high;
    // It may have no width for a moment, as when a page is printed.
    if (wide < 1 || high < 1) return;
    const image = context.createImageData(wide, high);
    const colours = Uint32Array.from(grades, (one) => pixel(colour(gradeColours[one])));
    paint(new Uint32Array(image.data.buffer), wide, placed, of.grade, colours, outlined, Math.round(left * ratio), stepX * ratio, stepY * ratio);
    context.putImageData(image, 0, 0);
    context.scale(ratio, ratio);
    context.fillStyle = colour("text");
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    const everyY = Math.ceil(16 / stepY);
    for (let row = 0; row < placed.ys.length; row += everyY) context.fillText(fitted(context, placed.ys[row], left - 12), left - 8, Math.max(7, (row + 0.5) * stepY));
    context.textAlign = "center";
    const everyX = Math.ceil(64 / stepX);
    for (let column = 0; column < placed.xs.length; column += everyX) context.fillText(factorText(placed.xs[column], xFactor), left + (column + 0.5) * stepX, height - 32);
    context.fillText(xFactor, (left + size) / 2, height - 10);
  }, [placed, of, size, height, theme]);
  const pointAt = (column: number, row: number): number =>
    (column >= 0 && column < placed.xs.length && row >= 0 && row < placed.ys.length ? placed.at[row * placed.xs.length + column] : -1);
  const under = (event: MouseEvent) => pointAt(Math.floor((event.offsetX - left) / stepX), Math.floor(event.offsetY / stepY));
  const place = useRef<[number, number]>([0, 0]);
  const move = (event: KeyboardEvent) => {
    const by = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as Record<string, [number, number]>)[event.key];
    if (at >= 0 && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      pick(at);
    }
    if (!by) return;
    event.preventDefault();
    place.current = [Math.min(placed.xs.length - 1, Math.max(0, place.current[0] + by[0])), Math.min(placed.ys.length - 1, Math.max(0, place.current[1] + by[1]))];
    setAt(pointAt(...place.current));
  };
  return (
    <div class="plot">
      <ul class="legend">{grades.filter((one) => of.counts[one] > 0).map((one) => <li key={one}><i style={{ background: outlined[gradeIndex[one]] ? "none" : `var(--${gradeColours[one]})`, borderColor: `var(--${gradeColours[one]})` }} />{gradeTexts[one]}: {of.counts[one].toLocaleString("en")}</li>)}</ul>
      <div class="canvas">
        <canvas ref={canvas} style={{ width: "100%", height }} role="img" tabIndex={0} onKeyDown={move}
          aria-label={`Points by ${xFactor}: how wide their intervals are. Arrow keys read them, Enter shows the samples of one; the button Table shows all.`}
          onMouseMove={(event) => setAt(under(event))} onClick={(event) => { const found = under(event); if (found >= 0) pick(found); }} />
      </div>
      <output aria-live="polite">{at >= 0 && at < sizeOf(points) ? describe(pointOf(points, at), over) : "Move over the picture, or use the arrow keys, to read values; click to see samples."}</output>
    </div>
  );
}

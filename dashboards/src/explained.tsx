// One decision: what was considered, what each would take, and why one is taken. The same for every
// mechanism.
import { useMemo, useState } from "preact/hooks";
import { rowsOf, type Explanation, type Row } from "./explanation";
import { Figure } from "./figure";
import { Facts } from "./here";
import { percent, seconds } from "./units";

const kMostRows = 16;
const kWidth = 760;
const kRow = 38;
const kRight = 190;

const kindTexts = { taken: "taken", baseline: "the baseline", other: "considered", bound: "pruned: takes at least this long" };

function Picture({ rows, margin_s }: { rows: Row[]; margin_s?: number }) {
  const [at, setAt] = useState(-1);
  const shown = rows.filter((row, index) => index < kMostRows || row.kind === "taken" || row.kind === "baseline");
  const most = Math.max(...shown.map((row) => row.high_s ?? row.at_s), Number.MIN_VALUE);
  const x = (value: number) => (value / most) * (kWidth - kRight);
  const height = shown.length * kRow + (margin_s === undefined ? 6 : 24);
  const said = shown[at];
  const move = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(shown.length - 1, at + by)));
  };
  const kinds = (["taken", "baseline", "other", "bound"] as const).filter((kind) => shown.some((row) => row.kind === kind));
  return (
    <div class="plot">
      <ul class="legend">{kinds.map((kind) => <li key={kind}><i class={`plan ${kind}`} />{kindTexts[kind]}</li>)}{margin_s !== undefined && <li><i class="plan margin" />a plan must take less than this</li>}</ul>
      <svg class="picture alternatives" viewBox={`0 0 ${kWidth} ${height}`} role="application" tabindex={0} onKeyDown={move}
        aria-label="Predicted times of what was considered, with their intervals. Arrow keys read them; the button Table shows all.">
        {shown.map((row, index) => {
          const y = index * kRow;
          return (
            <g key={index} class={`row${index === at ? " at" : ""}`} onMouseEnter={() => setAt(index)}>
              <rect x={0} y={y} width={kWidth} height={kRow} class="hit" />
              <rect x={0} y={y + 19} width={Math.max(1, x(row.at_s))} height={12} class={`plan ${row.kind}`} />
              {row.low_s !== undefined && (
                <path class="whisker" d={`M${x(row.low_s)} ${y + 20}v10M${x(row.low_s)} ${y + 25}H${Math.max(x(row.low_s) + 1, x(row.high_s!))}M${Math.max(x(row.low_s) + 1, x(row.high_s!))} ${y + 20}v10`} />
              )}
            </g>
          );
        })}
        {margin_s !== undefined && <line class="margin" x1={x(margin_s)} x2={x(margin_s)} y1={0} y2={shown.length * kRow + 4} />}
        {shown.map((row, index) => (
          <g key={index} class={`over ${row.kind}`}>
            <text x={2} y={index * kRow + 14}>{row.text.length > 112 ? `${row.text.slice(0, 111)}…` : row.text}</text>
            <text x={Math.max(x(row.at_s), x(row.high_s ?? 0)) + 8} y={index * kRow + 29}>{row.kind === "bound" ? "≥ " : ""}{seconds(row.at_s, 4)}</text>
          </g>
        ))}
        {margin_s !== undefined && <text x={x(margin_s)} y={height - 5} text-anchor={x(margin_s) > 120 ? "middle" : "start"} class="axis">{seconds(margin_s, 4)}: the margin</text>}
      </svg>
      {rows.length > shown.length && <p class="quiet">{rows.length - shown.length} more, up to {seconds(rows[rows.length - 1].at_s)}, are in the table.</p>}
      <output aria-live="polite">
        {said
          ? `${said.text}: ${said.kind === "bound" ? "at least " : ""}${seconds(said.at_s, 4)}${said.low_s === undefined ? "" : ` [${seconds(said.low_s, 4)}, ${seconds(said.high_s!, 4)}]`}, ${kindTexts[said.kind].split(":")[0]}`
          : "Move over the picture, or use the arrow keys, to read values."}
      </output>
    </div>
  );
}

// What is sure comes first.
function gainText(gain: number, low: number): string {
  if (gain <= 0) return "none";
  return `${low > 0 ? `at least ${percent(low)}` : "none that is sure"}; ${percent(gain)} by the values of the model's parameters`;
}

export function Explained({ of, baseline }: { of: Explanation; baseline: string | null }) {
  const rows = useMemo(() => rowsOf(of), [of]);
  const { plan, minimum_gain: minimum = 0, sensitivities = [] } = of;
  const compared = plan.baseline_s !== undefined && plan.baseline_s > 0;
  const gain = compared ? 1 - plan.predicted_s / plan.baseline_s! : 0;
  const risks = sensitivities.filter((one) => one.gain_loss > 0).sort((a, b) => b.gain_loss - a.gain_loss);
  return (
    <>
      <p class="decision"><b>{plan.text}</b></p>
      <p>{of.why}.</p>
      {rows.length > 0 && (
        <>
          <Facts of={[
            ["predicted", seconds(plan.predicted_s, 4)],
            ...(compared ? [[`${baseline ?? "the baseline"}`, seconds(plan.baseline_s!, 4)], ["gain", gainText(gain, plan.gain_low ?? 0)], ["margin that a gain must exceed", percent(minimum)]] as [string, string][] : []),
          ]} />
          <Figure id="alternatives" title="Alternatives, the fastest first" about="Predicted times. Whiskers: all parameters at the ends of their 95 % intervals."
            table={() => ({ columns: ["alternative", "predicted_s", "low_s", "high_s", "kind"], rows: rows.map((row) => [row.text, row.at_s, row.low_s ?? null, row.high_s ?? null, kindTexts[row.kind].split(":")[0]]) })}>
            <Picture rows={rows} margin_s={compared && minimum > 0 ? plan.baseline_s! * (1 - minimum) : undefined} />
          </Figure>
        </>
      )}
      {risks.length > 0 && (
        <details>
          <summary>How much of the gain errors of the model's parameters may cost</summary>
          <Facts of={risks.map((one) => [`${one.source}${one.of_baseline ? ", of the baseline" : ""}`, percent(one.gain_loss)])} />
        </details>
      )}
    </>
  );
}

// The page that shows whether a version is still valid: its sentinels over time, and those of one check by size.
import { useMemo } from "preact/hooks";
import { get, post } from "./api";
import { Curves, type Curve } from "./curves";
import { Empty, Show, useData } from "./data";
import { course, placeOf, places, placeText, verdict, type Course as CourseOf, type SentinelCheck, type SentinelHistory } from "./drift";
import { Figure } from "./figure";
import { Badge, choose, Choice, Sorted, type Column } from "./here";
import { Timeline } from "./timeline";
import type { ModelVersion } from "./types";
import { ago, count, percent, seconds, short } from "./units";
import { nameOf } from "./version_name";
import { VersionPage } from "./versions";
import { Action } from "./who";

const campaignLink = (check: SentinelCheck) => <a href={`#/${check.campaign}`}>{short(check.campaign)}</a>;

function Course({ history, query, chosen }: { history: SentinelHistory; query: Record<string, string>; chosen: number }) {
  const all = useMemo(() => places(history), [history]);
  const place = all.some((one) => placeOf(one) === query.sentinel) ? query.sentinel : "";
  const of = useMemo(() => course(history, place), [history, place]);
  const value = place === "" ? (one: number) => percent(one, 3) : seconds;
  const worded = ({ check, value: measured, low, high, miss }: CourseOf["moments"][number]) => {
    const where = `${check.time.slice(0, 16).replace("T", " ")}, ${short(check.campaign)}`;
    if (place === "") return `${where}: ${value(measured)} of the predicted, ${check.outside} of ${check.points} outside${miss ? ": off" : ""}`;
    return `${where}: ${value(measured)}${low !== null && high !== null ? ` [${value(low)}, ${value(high)}]` : ""}, ${miss ? "outside" : "within tolerance"}`;
  };
  const table = () => ({
    columns: ["time", "campaign", "operation", "bytes", "measured_s", "measured_low_s", "measured_high_s", "predicted_s", "low_s", "high_s", "outside"],
    rows: history.checks.flatMap((check) => check.sentinels.filter((one) => place === "" || placeOf(one) === place)
      .map((one) => [check.time, check.campaign, one.operation, one.bytes, one.measured_s, one.measured_low_s, one.measured_high_s, one.predicted_s, one.low_s, one.high_s, one.outside ? "outside" : ""])),
  });
  return (
    <Figure id="course" title="Sentinels over time"
      about={place === "" ? "The median of measured over predicted times, by check. A check is off if most of its sentinels are outside." : `One sentinel: what each check measured, with its interval over runs, and what the version predicts. ${percent(history.tolerance)} beyond that is tolerated, as networks vary from day to day.`}
      choices={<Choice label="Sentinel" name="sentinel" value={place} options={[["", "all of them"], ...all.map((one): [string, string] => [placeOf(one), placeText(one)])]} />}
      table={table}>
      <Timeline label={place === "" ? "Measured over predicted times, by check" : "A sentinel over time"} moments={of.moments} expected={of.expected} tolerance={history.tolerance}
        usual={of.expected ? undefined : { value: 1, text: "as predicted" }} missed={of.expected ? "outside" : "off: most are outside"} xName="time of the check (UTC)" format={value}
        picked={of.moments.findIndex((one) => one.check === history.checks[chosen])}
        pick={(index) => choose({ check: short(of.moments[index].check.campaign) })}
        say={(index) => worded(of.moments[index])} />
    </Figure>
  );
}

function BySize({ check, query }: { check: SentinelCheck; query: Record<string, string> }) {
  const operations = [...new Set(check.sentinels.map((one) => one.operation))].sort();
  const operation = operations.includes(query.op) ? query.op : operations[0];
  const curves = useMemo((): Curve[] => {
    const of = check.sentinels.filter((one) => one.operation === operation).sort((a, b) => a.bytes - b.bytes);
    const measured = (label: string, colour: string, outside: boolean): Curve[] => {
      const some = of.filter((one) => one.outside === outside);
      return some.length === 0 ? [] : [{ label, colour, points: true, x: some.map((one) => one.bytes), y: some.map((one) => one.measured_s), low: some.map((one) => one.measured_low_s), high: some.map((one) => one.measured_high_s) }];
    };
    return [
      { label: "predicted", colour: "muted", x: of.map((one) => one.bytes), y: of.map((one) => one.predicted_s), low: of.map((one) => one.low_s), high: of.map((one) => one.high_s) },
      ...measured("measured", "c1", false), ...measured("outside", "bad", true),
    ];
  }, [check, operation]);
  return (
    <Figure id="check" title={`The check by ${short(check.campaign)}`}
      about={<>{check.time.slice(0, 16).replace("T", " ")} UTC, {campaignLink(check)}: {check.outside} of {count(check.points, "sentinel")} outside. The band is what the version predicts, by the 95 % intervals of its parameters.</>}
      choices={operations.length > 1 && <Choice label="Operation" name="op" value={operation} options={operations.map((one) => [one, one])} />}
      table={() => ({ columns: ["operation", "bytes", "measured_s", "measured_low_s", "measured_high_s", "predicted_s", "low_s", "high_s", "outside"], rows: check.sentinels.map((one) => [one.operation, one.bytes, one.measured_s, one.measured_low_s, one.measured_high_s, one.predicted_s, one.low_s, one.high_s, one.outside ? "outside" : ""]) })}>
      {check.sentinels.length === 0 ? <Empty>The samples of this check are no longer stored: its campaign is too old, or was deleted.</Empty>
        : <Curves label={`Sentinels of ${operation} by size`} curves={curves} format={seconds} />}
    </Figure>
  );
}

const columns: Column<SentinelCheck>[] = [
  { name: "time (UTC)", key: (one) => one.time, cell: (one) => one.time.slice(0, 19).replace("T", " ") },
  { name: "campaign", key: (one) => short(one.campaign), cell: campaignLink },
  { name: "outside", key: (one) => one.outside / Math.max(1, one.points), cell: (one) => `${one.outside} of ${one.points}`, right: true },
  { name: "measured / predicted", key: (one) => one.ratio, cell: (one) => percent(one.ratio), right: true },
  { name: "verdict", key: (one) => Number(one.off), cell: (one) => (one.off ? <Badge kind="bad">off</Badge> : <Badge kind="good">passed</Badge>) },
  { name: "sentinels", key: (one) => one.time, cell: (one) => <button type="button" onClick={() => choose({ check: short(one.campaign) })} aria-label={`Show the check by ${short(one.campaign)}`}>Show</button> },
];

function OneVersion({ version, query, again }: { version: ModelVersion; query: Record<string, string>; again: () => void }) {
  const history = useData(`${version.name}/sentinels`, (signal) => get<SentinelHistory>(`${version.name}/sentinels`, signal), 15);
  const changed = () => { history.again(); again(); };
  const name = nameOf(version.name);
  return (
    <Show of={history} what="The sentinels">
      {(of) => {
        const { kind, title, text } = verdict(version, of);
        const found = of.checks.findIndex((one) => short(one.campaign) === query.check);
        const chosen = found >= 0 ? found : of.checks.length - 1;
        const last = of.checks[of.checks.length - 1];
        return (
          <>
            <div class={`state ${{ good: "good", warn: "stale", bad: "bad", none: "empty" }[kind]}`}><strong>{title}</strong> <span>{text}</span>{last && <span>Checked {ago(last.time, Date.now())}.</span>}</div>
            {of.checks.length === 0 && <p>The server measures sentinels, blocking gets and puts of all sizes, bursts of them and transfers of many regions, and validates settings of other runtimes again, automatically (<code>--sentinel-interval</code>). To check at once: <code>stripline model check {name}</code></p>}
            <div class="actions">
              <Action text="Check it" role="PUBLISHER" question={`Compares what a campaign has measured with what ${name} predicts. Two checks in a row that are off make it stale.`}
                about={{ label: "Campaign", hint: "c12", required: true }} act={(campaign) => post(`${version.name}/check`, { campaign: `campaigns/${short(campaign)}` })} done={changed} />
              {version.labels.includes("stable") && version.stale !== "" && (
                <Action text="Roll back" role="PUBLISHER" question="The label stable returns to the previous version, which nodes are then offered." act={() => post(`models/${version.name.split("/")[1]}/labels/stable/rollback`)} done={changed} />
              )}
            </div>
            {of.checks.length > 0 && (
              <>
                <Course history={of} query={query} chosen={chosen} />
                <BySize check={of.checks[chosen]} query={query} />
                <h2>Checks</h2>
                <Sorted rows={[...of.checks].reverse()} columns={columns} caption="Checks" id={(one) => one.campaign} />
              </>
            )}
          </>
        );
      }}
    </Show>
  );
}

export function DriftPage({ path, query }: { path: string[]; query: Record<string, string> }) {
  return (
    <VersionPage title="Drift" place="drift" path={path}>
      {(version, again) => <OneVersion key={version.name} version={version} query={query} again={again} />}
    </VersionPage>
  );
}

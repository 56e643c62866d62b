// SPDX-License-Identifier: Apache-2.0
// Shows the hottest workloads, containers, processes or functions, with their verdicts.
import { useMemo, useState } from "preact/hooks";
import { baseName } from "../../../flame/colors.js";
import { formatCount, formatDuration, formatNumber, formatShare, formatValue } from "../../../flame/format.js";
import { DOMAIN_ORDER, DomainBar, HottestCell, useDiagnosis, VerdictCell } from "../parts/diagnosed";
import { SeriesChart } from "../parts/series_chart";
import { Spark } from "../parts/spark";
import { letterOf, Symbol } from "../parts/symbol";
import { Traces } from "../parts/traces";
import { scopeOf, Link } from "../shell/top_bar";
import { ask, type ContainerRow, type Diagnosis, type FunctionRow, type SeriesReply, type TopReply } from "../state/api";
import { changed, go, hrefOf, questionOf } from "../state/address";
import { exactly } from "../state/graph_query";
import { changeOver, containerRows, workloadRows, type Kind, type Row } from "../state/hotspot_rows";
import { cell } from "../state/markdown";
import { formatSelector, joined, parseSelector } from "../state/selector";
import { gridOf, stepOf, unitOf } from "../state/series";
import { clockText, rangeOf } from "../state/time";
import { useAnswer } from "../state/use_answer";
import { Choice, copy, Segment } from "../ui/controls";
import { Icon } from "../ui/icon";
import { Panel, Skeleton, Strip } from "../ui/states";
import { useCaptures, type PageProps } from "./explore";

const KINDS: readonly (readonly [Kind, string])[] = [["workloads", "Workloads"], ["containers", "Containers"], ["processes", "Processes"], ["functions", "Functions"], ["traces", "Traces"]];
const COUNTS: readonly (readonly [string, string])[] = [["10", "Top 10"], ["25", "Top 25"], ["50", "Top 50"]];

function counted(count: number, what: string): string {
  return `${formatCount(count)} ${what}${count === 1 ? "" : what.endsWith("s") ? "es" : "s"}`;
}

/** A row's selector and what the page's own one says besides. */
function within(params: URLSearchParams, selector: string): string {
  const [page, row] = [parseSelector(params.get("q") ?? ""), parseSelector(selector)];
  return page && row ? formatSelector(new Map([...page, ...row])) : joined(params.get("q") ?? "", selector);
}

function Answer({ series, rows, named, type, turn, params }: { series: SeriesReply; rows: Row[]; named: Row[]; type: string; turn: number; params: URLSearchParams }) {
  const grid = useMemo(() => gridOf(series), [series]);
  const whole = useMemo(() => grid.map((_, i) => rows.reduce((total, row) => total + (row.trend[i] ?? 0), 0)), [grid, rows]);
  const marks = useCaptures(params, turn);
  const total = rows.reduce((all, row) => all + row.cores, 0);
  const change = changeOver(grid, named);
  const unit = unitOf(type, series.unit);
  const asked = params.get("q") ?? "";
  const diagnosis = useDiagnosis(params, asked, turn).data;
  return (
    <section class="panel pulse" aria-label="The whole scope">
      <div class="answer">
        <div class="value" data-testid="total">{formatNumber(series.unit === "nanoseconds" ? total : whole[whole.length - 1] ?? 0)} <small>{unit}</small></div>
        {change
          ? <p>{change.cores > 0 ? "Up" : "Down"} <b>{formatNumber(Math.abs(change.cores))} {unit}</b> since {clockText(change.sinceMs)}.<br />Most of it is <b>{change.mostly}</b>.</p>
          : <p>Steady over this time.</p>}
      </div>
      <div><SeriesChart label={`The whole scope over time, in ${unit}`} height={112} timesMs={grid} fromMs={series.from_ms} toMs={series.to_ms} marks={marks}
        lines={[{ name: "all", token: "--series-1", values: whole }]} /></div>
      <div><Domains diagnosis={diagnosis} total={total} unit={series.unit === "nanoseconds" ? unit : ""} /></div>
    </section>
  );
}

function Domains({ diagnosis, total, unit }: { diagnosis: Diagnosis | null; total: number; unit: string }) {
  return (
    <div class="domains">
      {DOMAIN_ORDER.map((name) => {
        const percent = diagnosis?.verdict.domains[name];
        return (
          <>
            <span class={`sw ${letterOf(name)}`} aria-hidden="true" /><span>{name.charAt(0).toUpperCase() + name.slice(1)}</span>
            <b>{percent === undefined ? "–" : formatShare(percent, 100)}</b>
            <i>{percent === undefined || unit === "" ? "" : `${formatNumber((total * percent) / 100)} ${unit.split(" ")[0]}`}</i>
          </>
        );
      })}
    </div>
  );
}

function HotRow({ row, place, params, turn, most, type, onDiagnosis }: {
  row: Row; place: number; params: URLSearchParams; turn: number; most: number; type: string; onDiagnosis(key: string, diagnosis: Diagnosis): void;
}) {
  const selector = within(params, row.selector);
  const { data: diagnosis, error } = useDiagnosis(params, selector, turn);
  if (diagnosis) onDiagnosis(row.key, diagnosis);
  const hottest = row.hottest ?? (diagnosis?.verdict.hottest ? { name: diagnosis.verdict.hottest.function, module: diagnosis.verdict.hottest.module, percent: diagnosis.verdict.hottest.percent } : null);
  const to = changed(scopeOf(params), { q: selector });
  return (
    <tr data-testid="hot-row">
      <td class="num faint">{place}</td>
      <td><Link class="two rowlink" href={hrefOf("explore", to)}><span class="who">{row.title}</span><span class="sub">{row.context}</span></Link></td>
      <td><div class="sharecell"><span class="big">{formatShare(row.share, 100)}</span><span class="meter" aria-hidden="true"><span style={{ width: `${(100 * row.share) / most}%` }} /></span></div></td>
      <td class="num">{type === "cpu" ? formatNumber(row.cores) : formatValue(row.value, type === "memory" ? "bytes" : "nanoseconds")}</td>
      <td class="trend"><Spark values={row.trend} /></td>
      <td class="fn">{hottest ? <HottestCell {...hottest} {...(diagnosis ? { domain: domainOfModule(diagnosis, hottest.module) } : {})} /> : <span class="faint">{error ? "–" : "…"}</span>}</td>
      <td class="where">{diagnosis ? <DomainBar domains={diagnosis.verdict.domains} /> : <span class="faint">{error ? "–" : "…"}</span>}</td>
      <td class="verdict">{diagnosis ? <VerdictCell diagnosis={diagnosis} /> : <span class="faint" title={error?.message ?? ""}>{error ? "not known" : "…"}</span>}</td>
    </tr>
  );
}

/** The domain of the hottest function: kernel by its module, else what leads among the others. */
function domainOfModule(diagnosis: Diagnosis, module: string): string {
  if (module.startsWith("[kernel")) return "kernel";
  if (module === "") return "unknown";
  if (/\.so(\.|$)/.test(module)) return "library";
  return diagnosis.verdict.domain === "kernel" || diagnosis.verdict.domain === "library" ? "application" : diagnosis.verdict.domain;
}

function markdownOf(rows: Row[], known: Map<string, Diagnosis>, title: string): string {
  const lines = rows.map((row, i) => {
    const diagnosis = known.get(row.key);
    const verdict = diagnosis ? diagnosis.findings[0]?.cause ?? diagnosis.verdict.rule : "";
    const hottest = row.hottest?.name ?? diagnosis?.verdict.hottest?.function ?? "";
    return `| ${i + 1} | ${cell(row.title)} | ${cell(row.context)} | ${formatShare(row.share, 100)} | ${formatNumber(row.cores)} | ${cell(hottest)} | ${cell(verdict)} |`;
  });
  return [`**${cell(title)}**`, "", "| # | what | where | share | cores | hottest function | verdict |", "| ---: | --- | --- | ---: | ---: | --- | --- |", ...lines, ""].join("\n");
}

export function HotspotsPage({ params, turn }: PageProps) {
  const asked = params.get("tab") as Kind | null;
  const count = Number(params.get("n") || "10");
  const type = params.get("type") || "cpu";
  const [filter, setFilter] = useState("");
  const [known] = useState(() => new Map<string, Diagnosis>());
  const { fromMs, toMs } = rangeOf(params);
  const scope = questionOf(params);
  const step = `${stepOf(fromMs, toMs)}s`;
  const workloadQuery = changed(scope, { by: "namespace,workload", step });
  const workloads = useAnswer(`workloads ${workloadQuery}`, (signal) => ask<SeriesReply>("series", workloadQuery, signal), turn);
  // A machine without Kubernetes has no workloads: its containers are shown first.
  const hasWorkloads = workloads.data === null || workloads.data.series.some((one) => one.labels.workload);
  const kind: Kind = asked ?? (hasWorkloads ? "workloads" : "containers");
  const topQuery = changed(scope, { by: kind === "workloads" ? "containers" : kind, k: String(Math.max(count, 50)) });
  const top = useAnswer(`top ${topQuery}`, (signal) => ask<TopReply<ContainerRow & FunctionRow>>("top", topQuery, signal), turn);
  const seriesQuery = changed(scope, { by: "namespace,pod,container", step });
  const series = useAnswer(kind === "containers" ? `series ${seriesQuery}` : null, (signal) => ask<SeriesReply>("series", seriesQuery, signal), turn);
  // While another tab's answer is on its way, the last one is of other rows.
  const topIsOf = kind === "workloads" ? "containers" : kind;
  const observed = top.data?.observed_seconds ?? 0;
  const scopeRows = useMemo(() => (workloads.data ? workloadRows(workloads.data, observed) : []), [workloads.data, observed]);
  const rows = useMemo(() => {
    if (kind === "workloads") return scopeRows;
    return top.data && top.data.by === kind ? containerRows(top.data, series.data) : [];
  }, [kind, scopeRows, top.data, series.data]);
  const wanted = filter.toLowerCase();
  const shown = rows.filter((row) => `${row.title} ${row.context}`.toLowerCase().includes(wanted));
  const pods = shown.filter((row) => !row.host).slice(0, count);
  const host = shown.filter((row) => row.host).slice(0, Math.max(3, pods.length === 0 ? count : 3));
  const most = Math.max(...shown.slice(0, 1).map((row) => row.share), 1e-9);
  const hot = (row: Row, i: number) => <HotRow key={row.key} row={row} place={i + 1} params={params} turn={turn} most={most} type={type} onDiagnosis={(key, diagnosis) => known.set(key, diagnosis)} />;
  const hostShare = rows.filter((row) => row.host).reduce((sum, row) => sum + row.share, 0);
  return (
    <>
      {workloads.data && workloads.data.series.length > 0 && <Answer series={workloads.data} rows={scopeRows} named={kind === "containers" && series.data && rows.length > 0 ? rows : scopeRows} type={type} turn={turn} params={params} />}
      {top.data && top.data.skipped > 0 && <Strip tone="warn" icon="warn"><span><b>{top.data.skipped} profiles could not be read</b> and are not in the numbers.</span></Strip>}
      <section class="panel" aria-label="Hotspots" data-testid="hotspots" aria-busy={top.loading || workloads.loading}>
        <div class="bar">
          <h1 class="unseen">Hotspots</h1>
          <Segment label="Rows" value={kind} options={KINDS} onPick={(next) => go({ tab: next })} />
          <span class="grow" />
          {top.data && <span class="faint nowrap">{counted(top.data.total_rows, ({ functions: "function", processes: "process", traces: "trace" } as Record<string, string>)[kind] ?? "container")} · {formatDuration(observed)} of {formatDuration((toMs - fromMs) / 1000)} covered</span>}
          <label class="field" style={{ width: "200px" }}><Icon name="funnel" /><input data-search placeholder="Filter rows" aria-label="Filter rows" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} /></label>
          <Choice name="Rows" value={String(count)} options={COUNTS} right onPick={(next) => go({ n: next === "10" ? null : next })} />
          <button type="button" class="btn" onClick={() => void copy(markdownOf([...pods, ...host], known, `Hotspots, ${type}${params.get("q") ?? ""}`), "Table")}><Icon name="copy" /><span class="only-mid">Copy as Markdown</span></button>
        </div>
        <Panel answer={top} params={params}>
          {(data) => (data.by !== topIsOf ? <Skeleton /> : kind === "functions" ? <Functions rows={data.rows} filter={wanted} count={count} params={params} />
            : kind === "traces" ? <Traces rows={data.rows} filter={wanted} count={count} params={params} /> : data.rows.length === 0 ? <p class="status">Nothing was recorded.</p> : (
            <table class="table tall">
              <thead><tr><th scope="col" class="num">#</th><th scope="col">{KINDS.find(([one]) => one === kind)![1].replace(/(es|s)$/, "")}</th><th scope="col" aria-sort="descending">Share</th>
                <th scope="col" class="num">{type === "cpu" ? "Cores" : "Value"}</th><th scope="col" class="trend">Trend</th><th scope="col">Hottest function</th><th scope="col">Where the time is</th><th scope="col">Verdict</th></tr></thead>
              <tbody>
                {pods.map(hot)}
                {host.length > 0 && pods.length > 0 && <tr class="grouprow"><td /><td colSpan={7}>Host processes<span>outside of pods · {formatShare(hostShare, 100)}</span></td></tr>}
                {host.map(hot)}
              </tbody>
            </table>
          ))}
        </Panel>
      </section>
    </>
  );
}

function Functions({ rows, filter, count, params }: { rows: FunctionRow[]; filter: string; count: number; params: URLSearchParams }) {
  const shown = rows.filter((row) => row.function.toLowerCase().includes(filter)).slice(0, count);
  return (
    <table class="table tall wrap" data-testid="hot-functions">
      <thead><tr><th scope="col" class="num">#</th><th scope="col">Function</th><th scope="col" class="num">Self</th><th scope="col" class="num">Total</th><th scope="col">Where it runs</th></tr></thead>
      <tbody>
        {shown.map((row, i) => (
          <tr key={`${row.function} ${row.module}`}>
            <td class="num faint">{i + 1}</td>
            <td><Link class="two rowlink" href={hrefOf("explore", changed(scopeOf(params), { s: exactly(row.function) }))}><span class="who"><Symbol name={row.function} /></span><span class="sub">{baseName(row.module)}</span></Link></td>
            <td class="num">{formatShare(row.self_percent, 100)}</td>
            <td class="num">{formatShare(row.total_percent, 100)}</td>
            <td class="faint">{row.containers.slice(0, 3).join(", ")}{row.containers.length > 3 ? ` and ${row.containers.length - 3 + (row.more_containers ?? 0)} more` : ""}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from "preact/hooks";
import { formatDuration, formatNumber, formatValue } from "../../../flame/format.js";
import { Facts } from "../parts/facts";
import { GraphPanel } from "../parts/graph_panel";
import { Report, WhyButton } from "../parts/report";
import { SeriesChart, type Mark } from "../parts/series_chart";
import { ask, askExactly, type FlameData, type ProfilesReply, type SeriesReply } from "../state/api";
import { go, questionOf } from "../state/address";
import { flameQuery } from "../state/graph_query";
import { joined, narrowed } from "../state/selector";
import { linesOf, stepOf, unitOf } from "../state/series";
import { isoOf, rangeOf, rangeText } from "../state/time";
import { useAnswer } from "../state/use_answer";
import { Choice } from "../ui/controls";
import { Icon } from "../ui/icon";
import { NoData, Panel, Strip } from "../ui/states";

export interface PageProps { params: URLSearchParams; turn: number }

const BY: readonly (readonly [string, string])[] = [["none", "nothing"], ["namespace", "Namespace"], ["workload", "Workload"], ["pod", "Pod"],
  ["container", "Container"], ["node", "Node"]];
const TITLES: Record<string, string> = { cpu: "CPU", offcpu: "Off-CPU", memory: "Memory", lock: "Lock" };

/** Captures of the range, as flags of its charts. */
export function useCaptures(params: URLSearchParams, turn: number): Mark[] {
  const query = questionOf(params);
  query.set("q", joined(params.get("q") ?? "", '{capture!=""}'));
  query.set("stored", "true");
  const { data } = useAnswer(`captures ${query}`, (signal) => ask<ProfilesReply>("profiles", query, signal), turn);
  return useMemo(() => {
    const marks = new Map<string, Mark>();
    for (const row of data?.rows ?? []) if (row.capture) marks.set(row.capture, { ms: row.start_ms, text: row.capture });
    return Array.from(marks.values());
  }, [data]);
}

/** The range that was brushed: exact to 20 ms, unlike the chart's. */
function brushOf(params: URLSearchParams) {
  const [from, to] = [params.get("bfrom"), params.get("bto")];
  return from && to ? { fromMs: Number(from), toMs: Number(to) } : null;
}

function SeriesPanel({ params, turn }: PageProps) {
  const by = params.get("by") || "pod";
  const { fromMs, toMs } = rangeOf(params);
  const query = questionOf(params);
  query.set("by", by === "none" ? "type" : by);
  query.set("step", `${stepOf(fromMs, toMs)}s`);
  const answer = useAnswer(`series ${query}`, (signal) => ask<SeriesReply>("series", query, signal), turn);
  const marks = useCaptures(params, turn);
  const brush = brushOf(params);
  const [hovered, setHovered] = useState<number | null>(null);
  const type = params.get("type") || "cpu";
  const lines = useMemo(() => answer.data && linesOf(answer.data, (labels) => (by === "none" ? "all" : labels[by] === "-" ? "(host)" : labels[by] || "(none)")), [answer.data, by]);
  return (
    <section class="panel" aria-label="Time series">
      <header>
        <h1>{TITLES[type] ?? type}</h1><span class="faint">{unitOf(type, answer.data?.unit ?? "")}, by</span>
        <Choice name="Group by" value={by} options={BY} small onPick={(next) => go({ by: next === "pod" ? null : next })} />
        <span class="grow" />
        <span class="faint nowrap">Drag to choose a range. Double-click to clear it.</span>
        {marks.length > 0 && <span class="tag line"><Icon name="flag" />{marks.length} {marks.length === 1 ? "capture" : "captures"}</span>}
        {brush && <span class="chip on" data-testid="range"><b>Range</b> {rangeText(brush.fromMs, brush.toMs)}
          <button type="button" aria-label="Clear the range" onClick={() => go({ bfrom: null, bto: null, z: null })}><Icon name="x" /></button></span>}
      </header>
      <Panel answer={answer} params={params}>
        {(reply) => lines && (lines.timesMs.length === 0 ? <p class="status">No window was recorded in this time.</p> : (
          <div class="series">
            <SeriesChart label={`${TITLES[type] ?? type} by ${by}, in ${unitOf(type, reply.unit)}`} timesMs={lines.timesMs} lines={lines.lines} height={150}
              fromMs={reply.from_ms} toMs={reply.to_ms} marks={marks} brush={brush} onHover={setHovered}
              onBrush={(range) => go({ bfrom: range ? String(range.fromMs) : null, bto: range ? String(range.toMs) : null, z: null })} />
            <ul class="list">
              {lines.lines.map((line) => (
                <li key={line.name}>
                  <span class="sw" style={{ background: `var(${line.token})` }} />
                  {line.labels && by !== "none"
                    ? <button type="button" title={`Only ${line.name}`} onClick={() => go({ q: narrowed(params.get("q") ?? "", { [by]: line.labels![by] ?? "" }), z: null })}>{line.name}</button>
                    : <span>{line.name}</span>}
                  <span class="num">{formatNumber(hovered === null ? line.mean : line.values[hovered] ?? 0)}</span>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </Panel>
    </section>
  );
}

/** The parameters with the brushed range in place of the chart's, and as exact as the data are. */
export function brushed(params: URLSearchParams): URLSearchParams {
  const brush = brushOf(params);
  const query = flameQuery(params);
  if (brush) {
    query.set("from", isoOf(brush.fromMs));
    query.set("to", isoOf(brush.toMs));
    query.set("exact", "true");
  }
  return query;
}

export function PartStrips({ data }: { data: FlameData & { isCoarse?: boolean } }) {
  return (
    <>
      {data.isCoarse && <Strip tone="info" icon="info"><span>These windows do not tell when within them: they count whole.</span></Strip>}
      {data.skipped > 0 && <Strip tone="warn" icon="warn"><span><b>{data.skipped} profiles could not be read</b> and are not in the numbers. The server's log names the first.</span></Strip>}
      {data.max_hidden ? <Strip tone="warn" icon="warn"><span><b>Too much to hold it all:</b> bars of up to {formatValue(data.max_hidden, data.unit)} may be missing; they are in "other".</span></Strip> : null}
    </>
  );
}

export function ExplorePage({ params, turn }: PageProps) {
  const flame = brushed(params);
  const whole = useAnswer(`flame ${flame}`, (signal) => askExactly(flame, signal), turn);
  return (
    <>
      <SeriesPanel params={params} turn={turn} />
      {whole.data && <PartStrips data={whole.data} />}
      <Report params={params} flame={flame} {...(brushOf(params) ?? rangeOf(params))} turn={turn} />
      <section class="panel result" aria-label="Profile" aria-busy={whole.loading} data-testid="result">
        <Panel answer={whole} params={params}>
          {(data) => (data.total === 0 ? <NoData params={params} /> :
            <>
              <div class="bar"><Facts data={data} params={params} /><span class="grow" /><WhyButton params={params} />
                <span class="faint nowrap">{rangeText(data.from_ms, data.to_ms)}, {formatDuration((data.to_ms - data.from_ms) / 1000)}</span></div>
              <GraphPanel data={data} params={params} flame={flame} />
            </>
          )}
        </Panel>
      </section>
    </>
  );
}

// SPDX-License-Identifier: Apache-2.0
// Two sides and what is more or less in B than in A. The address has A's as q2, from2 and to2.
import { useMemo } from "preact/hooks";
import { changeOf, kindOf, KIND } from "../../../flame/colors.js";
import { formatNumber, formatPoints, formatValue } from "../../../flame/format.js";
import { buildModel, sumFunctions } from "../../../flame/model.js";
import { GraphPanel } from "../parts/graph_panel";
import { Report, WhyButton } from "../parts/report";
import { SeriesChart } from "../parts/series_chart";
import { TimePicker } from "../shell/time_picker";
import { ask, askExactly, type FlameData, type SeriesReply } from "../state/api";
import { changed, go, questionOf } from "../state/address";
import { flameQuery } from "../state/graph_query";
import { gridOf, scaleOf, stepOf, unitOf, valuesOn } from "../state/series";
import { isoOf, parseDuration, rangeOf, rangeText } from "../state/time";
import { useAnswer } from "../state/use_answer";
import { Choice, IconButton, Menu, Segment } from "../ui/controls";
import { Panel } from "../ui/states";
import { PartStrips, type PageProps } from "./explore";

const BEFORE: readonly (readonly [string, string])[] = [["1h", "1 hour before"], ["1d", "1 day before"], ["1w", "1 week before"]];
const THRESHOLDS: readonly (readonly [string, string])[] = [["0", "all"], ["0.1", "≥ 0.1 points"], ["0.5", "≥ 0.5 points"], ["2", "≥ 2 points"]];

/** A's own parameters; without a time of its own it is the hour before B. */
export function baseOf(params: URLSearchParams): URLSearchParams {
  const b = rangeOf(params);
  const length = b.toMs - b.fromMs;
  const from = params.get("from2");
  const to = params.get("to2");
  const range = from || to ? rangeOf(new URLSearchParams({ from: from ?? "", to: to ?? "" })) : { fromMs: b.fromMs - 3600e3, toMs: b.toMs - 3600e3 };
  // One end alone: as long as B.
  const fromMs = from || !to ? range.fromMs : range.toMs - length;
  const toMs = to || !from ? range.toMs : range.fromMs + length;
  return changed(questionOf(params), { q: params.has("q2") ? params.get("q2") : params.get("q"), from: isoOf(fromMs), to: isoOf(toMs) });
}

function shift(params: URLSearchParams, before: string) {
  const { fromMs, toMs } = rangeOf(params);
  const ms = parseDuration(before)!;
  go({ from2: isoOf(fromMs - ms), to2: isoOf(toMs - ms), from: isoOf(fromMs), to: isoOf(toMs), z: null });
}

function SideChart({ side, question, params, turn }: { side: "a" | "b"; question: URLSearchParams; params: URLSearchParams; turn: number }) {
  const range = rangeOf(question);
  const length = range.toMs - range.fromMs;
  // The chart shows half as much again on both sides of the range.
  const [fromMs, toMs] = [range.fromMs - length / 2, Math.min(range.toMs + length / 2, Math.max(Date.now(), range.toMs))];
  const wide = changed(question, { from: isoOf(fromMs), to: isoOf(toMs), by: "type", step: `${stepOf(fromMs, toMs)}s` });
  const answer = useAnswer(`side ${wide}`, (signal) => ask<SeriesReply>("series", wide, signal), turn);
  const reply = answer.data;
  const grid = reply ? gridOf(reply) : [];
  const values = reply?.series[0] ? valuesOn(grid, reply.series[0], scaleOf(reply)) : grid.map(() => 0);
  const inside = values.filter((_, i) => grid[i]! >= range.fromMs && grid[i]! < range.toMs);
  const mean = inside.reduce((sum, value) => sum + value, 0) / Math.max(inside.length, 1);
  const suffix = side === "a" ? "2" : "";
  const selector = question.get("q") ?? "";
  return (
    <section class={`panel side side-${side}`} aria-label={`Side ${side.toUpperCase()}`}>
      <header><span class="letter">{side.toUpperCase()}</span><strong>{side === "a" ? "Base" : "Comparison"}</strong>
        <code class="clip grow" title={selector}>{selector || "{}"}</code>
        {side === "a" && <Menu name="Selector of A" label="Scope">{(close) => <SelectorForm value={params.get("q2") ?? ""} close={close} />}</Menu>}
        <TimePicker params={changed(params, side === "a" && !params.has("from2") ? { from2: question.get("from"), to2: question.get("to") } : {})} suffix={suffix} /></header>
      <div class="inner">
        <div class="lead"><b>{formatNumber(mean)}</b>{reply ? unitOf(reply.type, reply.unit) : ""}<span class="sub">{rangeText(range.fromMs, range.toMs)}</span></div>
        <SeriesChart label={`Side ${side.toUpperCase()} over time`} height={92} timesMs={grid} fromMs={fromMs} toMs={toMs} side={side} brush={range}
          lines={[{ name: side.toUpperCase(), token: `--side-${side}`, values }]}
          onBrush={(next) => next && go({ [`from${suffix}`]: isoOf(next.fromMs), [`to${suffix}`]: isoOf(next.toMs), z: null })} />
      </div>
    </section>
  );
}

function SelectorForm({ value, close }: { value: string; close(): void }) {
  return (
    <form class="form" onSubmit={(event) => {
      event.preventDefault();
      const text = new FormData(event.currentTarget).get("q2");
      close();
      go({ q2: typeof text === "string" ? text.trim() : null, z: null });
    }}>
      <label>Selector of A; empty: as B<span class="field"><input name="q2" class="mono" aria-label="Selector of A" spellcheck={false} defaultValue={value} placeholder='{pod="web-0"}' /></span></label>
      <button class="btn">Compare</button>
    </form>
  );
}

function Headline({ data, normalize }: { data: FlameData; normalize: boolean }) {
  const found = useMemo(() => {
    const model = buildModel(data, { normalize });
    const rows = sumFunctions(model).filter((row) => kindOf(data, row.name) < KIND.total).map((row) => ({ name: data.names[row.name]!, ...changeOf(row.selfA, row.self, model.wholeA || model.wholeB) }));
    rows.sort((a, b) => Math.abs(b.points) - Math.abs(a.points));
    return { rows: rows.slice(0, 3).filter((row) => row.strength > 0), model };
  }, [data, normalize]);
  const { model } = found;
  const perSecond = (value: number, seconds: number | undefined) => (data.unit === "nanoseconds" && seconds ? value / 1e9 / seconds : value);
  const a = perSecond(data.base_total ?? 0, data.base_observed_seconds);
  const b = perSecond(data.total, data.observed_seconds);
  const isCores = data.value === "cpu" && data.unit === "nanoseconds";
  const by = b - a;
  const tone = Math.abs(by) < 0.005 * Math.max(a, b) ? "" : by > 0 ? "more" : "less";
  return (
    <div class="headline" data-testid="headline">
      <span class={`big ${tone}`}>{tone === "" ? "No change" : `${by > 0 ? "+" : "−"}${isCores ? `${formatNumber(Math.abs(by))} cores` : formatValue(Math.abs(data.total - (data.base_total ?? 0)), data.unit)}`}</span>
      <p>{isCores && <>from <b>{formatNumber(a)}</b> to <b>{formatNumber(b)}</b> cores{a > 0 ? ` (${formatPoints((100 * by) / a)} %)` : ""}. </>}
        {found.rows.length === 0 ? "No function changed by a tenth of a point." : <>Most changed: {found.rows.map((row, i) => <>{i > 0 && ", "}<code>{row.name.slice(0, 80)}</code> {formatPoints(row.points)}</>)} points of {normalize ? "the share" : "A"}.</>}
        {model.wholeA === 0 && " A has no samples: all is new."}{model.wholeB === 0 && " B has no samples: all is gone."}</p>
      <span class="grow" />
      <div class="scale" aria-label="Colours: points of A">
        {(["less-4", "less-3", "less-2", "less-1", "same", "more-1", "more-2", "more-3", "more-4"] as const).map((step, i) => (
          <span key={step}>{["≤ −5", "−2", "−0.5", "−0.1", "0", "+0.1", "+0.5", "+2", "≥ +5"][i]}<i class={step} /></span>))}
      </div>
    </div>
  );
}

export function DiffPage({ params, turn }: PageProps) {
  const base = baseOf(params);
  const query = flameQuery(params);
  const b = rangeOf(params);
  query.set("from", isoOf(b.fromMs));
  query.set("to", isoOf(b.toMs));
  query.set("base-from", base.get("from")!);
  query.set("base-to", base.get("to")!);
  if (params.has("q2")) query.set("base-q", base.get("q") ?? "{}");
  for (const [own, name] of [["ob", "offsets"], ["oa", "base-offsets"]] as const) if (params.get(own)) query.set(name, params.get(own)!);
  // Whole windows at both ends would change a comparison of minutes, but hardly one of hours.
  if (b.toMs - b.fromMs <= 3600e3) query.set("exact", "true");
  // A relative time moves on with each refresh, not with each drawing.
  const key = changed(query, b.preset ? { from: null, to: null, "base-from": params.get("from2"), "base-to": params.get("to2") } : {});
  const answer = useAnswer(`diff ${b.preset} ${key}`, (signal) => askExactly(query, signal), turn);
  const normalize = params.get("norm") === "1";
  return (
    <>
      <h1 class="unseen">Difference</h1>
      <div class="sides">
        <SideChart side="a" question={base} params={params} turn={turn} />
        <IconButton icon="swap" label="Swap A and B" onClick={() => go({ q: base.get("q"), from: base.get("from"), to: base.get("to"), q2: params.get("q"), from2: isoOf(b.fromMs), to2: isoOf(b.toMs), ob: params.get("oa"), oa: params.get("ob"), z: null })} />
        <SideChart side="b" question={changed(questionOf(params), { from: isoOf(b.fromMs), to: isoOf(b.toMs) })} params={params} turn={turn} />
      </div>
      {answer.data && <PartStrips data={answer.data} />}
      <Report params={params} flame={query} fromMs={b.fromMs} toMs={b.toMs} turn={turn} />
      <section class="panel result" aria-label="Difference" data-testid="result" aria-busy={answer.loading}>
        <Panel answer={answer} params={params}>
          {(data) => (
            <>
              <Headline data={data} normalize={normalize} />
              <GraphPanel data={data} params={params} flame={query} bar={<>
                <Choice name="A is" value="" options={[["", "Compare with"], ...BEFORE]} right onPick={(before) => before && shift(params, before)} />
                <Segment label="Values" value={normalize ? "1" : "0"} options={[["0", "absolute"], ["1", "normalized"]]} onPick={(next) => go({ norm: next === "1" ? "1" : null })} />
                <WhyButton params={params} />
                <Choice name="Changes" value={params.get("thr") || "0"} options={THRESHOLDS} right onPick={(next) => go({ thr: next === "0" ? null : next })} />
              </>} />
            </>
          )}
        </Panel>
      </section>
    </>
  );
}

// SPDX-License-Identifier: Apache-2.0
// When, within seconds: any rectangle of the map has its own flame graph.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Palette } from "../../../flame/colors.js";
import { formatCount, formatDuration, formatShare } from "../../../flame/format.js";
import { GraphPanel } from "../parts/graph_panel";
import { rampOf, scaleOf, type Cells, type Plot } from "../parts/heat_draw";
import { HeatMap } from "../parts/heat_map";
import { ask, type FlameData, type Heat } from "../state/api";
import { changed, go, questionOf } from "../state/address";
import { flameQuery } from "../state/graph_query";
import { cellsOf, chosenOf, samplesIn, textOf, type Chosen } from "../state/heat_cells";
import { joined, narrowed } from "../state/selector";
import { themeChanged } from "../state/theme";
import { isoOf, rangeText } from "../state/time";
import { useAnswer } from "../state/use_answer";
import { Choice, IconButton, Segment } from "../ui/controls";
import { Icon } from "../ui/icon";
import { Panel, Strip } from "../ui/states";
import type { PageProps } from "./explore";

const MAPS: readonly (readonly [string, string])[] = [["offset", "Offset"], ["pod", "Pods"], ["cpu", "CPUs"]];
const ROWS: readonly (readonly [string, string])[] = [["50", "50 × 20 ms"], ["25", "25 × 40 ms"], ["10", "10 × 100 ms"]];

/** The part of a question that a selection is. */
function selectedQuery(params: URLSearchParams, chosen: Chosen, heat: Heat): URLSearchParams {
  const query = flameQuery(params);
  query.set("from", isoOf(chosen.fromMs));
  query.set("to", isoOf(chosen.toMs));
  query.set("exact", "true");
  if (heat.row_ms > 0) {
    if (chosen.low > 0 || chosen.high < 1000) query.set("offsets", `${chosen.low}-${chosen.high}`);
  } else {
    const names = heat.rows.slice(chosen.low, chosen.high).filter((name) => name !== "other");
    const literal = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    query.set("q", names.length === 1 ? narrowed(params.get("q") ?? "", { [heat.by]: names[0]! })
      : joined(params.get("q") ?? "", `{${heat.by}=~${JSON.stringify(literal.join("|"))}}`));
  }
  return query;
}

function Ramp({ heat, scale }: { heat: Heat; scale: "linear" | "rank" }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const most = scaleOf(heat.cells, scale).most;
  useEffect(() => {
    const draw = () => {
      const element = canvas.current!;
      element.width = 256;
      element.height = 1;
      const context = element.getContext("2d")!;
      const image = context.createImageData(256, 1);
      new Uint32Array(image.data.buffer).set(rampOf(new Palette(element)));
      context.putImageData(image, 0, 0);
    };
    draw();
    themeChanged.addEventListener("change", draw);
    return () => themeChanged.removeEventListener("change", draw);
  }, []);
  return <span class="ramp"><span>0</span><canvas ref={canvas} role="img" aria-label={`Colour scale from 0 to ${most} samples`} /><span>{formatCount(most)} samples</span></span>;
}

function Selection({ params, chosen, base, heat, turn }: { params: URLSearchParams; chosen: Chosen; base: Chosen | null; heat: Heat; turn: number }) {
  const query = selectedQuery(params, chosen, heat);
  if (base) {
    const side = selectedQuery(params, base, heat);
    query.set("base-from", side.get("from")!);
    query.set("base-to", side.get("to")!);
    query.set("base-q", side.get("q") ?? "{}");
    if (side.has("offsets")) query.set("base-offsets", side.get("offsets")!);
  }
  const answer = useAnswer(`selection ${query}`, (signal) => ask<FlameData>("flame", query, signal), turn);
  const cells = cellsOf(chosen, heat);
  const sums = cells && samplesIn(cells, heat);
  const part = heat.row_ms > 0 ? (chosen.high - chosen.low) / 1000 : 0;
  return (
    <section class="panel result" aria-label="Flame graph of the selection" data-testid="result" aria-busy={answer.loading}>
      <div class="bar">
        <dl class="facts" data-testid="selection">
          <div><dd class="lead">{base ? "Selection against its baseline" : "Selection"}</dd></div>
          <div><dd>{rangeText(chosen.fromMs, chosen.toMs)}</dd>{heat.row_ms > 0 && <><dt>at offset</dt><dd>{chosen.low} – {chosen.high}&nbsp;ms</dd></>}</div>
          {sums && <div><dd>{formatCount(sums.samples)}</dd><dt>samples</dt></div>}
          {sums && part > 0 && part < 1 && <div><dd>{formatShare(sums.samples, sums.ofColumns)}</dd><dt>of the samples of these seconds, in</dt><dd>{formatShare(part, 1)}</dd><dt>of their time</dt></div>}
        </dl>
        <span class="grow" />
        {!base && <button type="button" class="btn" onClick={() => go({ bsel: `${Math.floor(heat.begin_ms)}-${heat.begin_ms + heat.columns * heat.column_ms}@0-${heat.row_ms > 0 ? 1000 : heat.rows.length}`, norm: "1" })}><Icon name="swap" />Compare with the whole</button>}
        {base && <button type="button" class="btn" onClick={() => go({ bsel: null, norm: null })}><Icon name="x" />Without the baseline</button>}
      </div>
      <Panel answer={answer} params={params}>{(data) => <GraphPanel data={data} params={params} flame={query} />}</Panel>
    </section>
  );
}

/** The map's own box: the canvas and what floats over it. */
function Map({ heat, params, chosen, base }: { heat: Heat; params: URLSearchParams; chosen: Chosen | null; base: Chosen | null }) {
  const [placed, setPlaced] = useState<Plot | null>(null);
  const scale = params.get("scale") === "rank" ? "rank" : "linear";
  const selection = cellsOf(chosen, heat);
  const sums = selection && samplesIn(selection, heat);
  const select = (cells: Cells, isBaseline: boolean) => go({ [isBaseline ? "bsel" : "sel"]: textOf(cells, heat), ...(isBaseline ? { norm: "1" } : {}), z: null });
  const place = (box: Plot | null) => setPlaced((last) => (JSON.stringify(last) === JSON.stringify(box) ? last : box));
  return (
    <div class="heatbox">
      <HeatMap heat={heat} scale={scale} selection={selection} baseline={cellsOf(base, heat)} onSelect={select} onPlaced={place} />
      {placed && chosen && sums && (
        <div class="sel" style={{ left: `${Math.min(placed.x + placed.width + 12, innerWidth - 360)}px`, top: `${Math.max(4, placed.y - 4)}px` }}>
          <span><b>{formatDuration((chosen.toMs - chosen.fromMs) / 1000)}{heat.row_ms > 0 ? ` × ${chosen.high - chosen.low} ms` : ""}</b> <span class="faint">· {formatCount(sums.samples)} samples</span></span>
          <button type="button" class="btn ghost small" onClick={() => go({ bsel: params.get("sel"), sel: null, norm: "1" })}>Make baseline</button>
          <IconButton icon="x" label="Clear the selection" onClick={() => go({ sel: null, z: null })} />
        </div>
      )}
    </div>
  );
}

export function HeatPage({ params, turn }: PageProps) {
  const by = params.get("map") || "offset";
  const paint = params.get("paint") ?? "";
  const [text, setText] = useState(paint);
  const query = changed(questionOf(params), { by: by === "offset" ? null : by, rows: by === "offset" ? params.get("rows") : null, paint });
  const answer = useAnswer(`heat ${query}`, (signal) => ask<Heat>("heat", query, signal), turn);
  const [chosen, base] = [chosenOf(params.get("sel") ?? ""), chosenOf(params.get("bsel") ?? "")];
  const heat = answer.data;
  const inMap = useMemo(() => (heat && chosen && (heat.row_ms > 0) === (by === "offset") ? chosen : null), [heat, params.get("sel"), by]);
  const scale = params.get("scale") === "rank" ? "rank" : "linear";
  return (
    <>
      <section class="panel" aria-label="Heat map" aria-busy={answer.loading} data-testid="heatmap">
        <div class="bar">
          <h1>{by === "offset" ? "Within the second" : "Over time"}</h1>
          <Segment label="Map" value={by} options={MAPS} onPick={(next) => go({ map: next === "offset" ? null : next, sel: null, bsel: null, z: null })} />
          {by === "offset" && <Choice name="Rows" before="Rows" value={params.get("rows") || "50"} options={ROWS} onPick={(next) => go({ rows: next === "50" ? null : next })} />}
          <Segment label="Colour scale" value={scale} options={[["linear", "Linear"], ["rank", "Rank"]]} onPick={(next) => go({ scale: next === "rank" ? next : null })} />
          <span class="grow" />
          <form onSubmit={(event) => { event.preventDefault(); go({ paint: text.trim() }); }}>
            <label class="field" style={{ width: "248px" }}><Icon name="search" /><input class="mono" data-search placeholder="Paint cells where … occurs" aria-label="Paint cells with a function" spellcheck={false} value={text}
              onInput={(event) => setText(event.currentTarget.value)} onBlur={() => text.trim() !== paint && go({ paint: text.trim() })} /></label>
          </form>
          {heat?.painted && <span class="faint" data-testid="painted">{formatShare(heat.painted_samples ?? 0, heat.samples)} of the samples</span>}
          {heat && <Ramp heat={heat} scale={scale} />}
        </div>
        <Panel answer={answer} params={params}>
          {(data) => (
            <>
              {data.untimed_samples > 0 && <Strip tone="info" icon="info"><span>{formatCount(data.untimed_samples)} samples are of windows that do not tell when within them; they are in no cell, and the time is hatched.</span></Strip>}
              {data.skipped > 0 && <Strip tone="warn" icon="warn"><span><b>{data.skipped} profiles could not be read</b> and are in no cell.</span></Strip>}
              <Map heat={data} params={params} chosen={inMap} base={base} />
              <p class="status">Click one cell · drag for a range · Shift and drag for a baseline · arrow keys move the selection</p>
            </>
          )}
        </Panel>
      </section>
      {heat && inMap && <Selection params={params} chosen={inMap} base={base} heat={heat} turn={turn} />}
    </>
  );
}

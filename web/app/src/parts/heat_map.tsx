// SPDX-License-Identifier: Apache-2.0
// The map and what is chosen on it: a click is a cell, a drag a rectangle, with Shift a baseline.
import { useEffect, useRef } from "preact/hooks";
import { Palette } from "../../../flame/colors.js";
import type { Heat } from "../state/api";
import { themeChanged } from "../state/theme";
import { clockText } from "../state/time";
import { boxOf, drawCells, drawGaps, drawSelection, drawSums, PAD, scaleOf, type Cells, type Plot } from "./heat_draw";

export interface HeatMapProps {
  heat: Heat;
  scale: "linear" | "rank";
  selection: Cells | null;
  baseline: Cells | null;
  onSelect(cells: Cells, isBaseline: boolean): void;
  onPlaced(box: Plot | null): void;
}

export function heatHeight(heat: Heat): number {
  const row = heat.row_ms > 0 ? Math.max(4, 200 / heat.rows.length) : 16;
  return Math.round(heat.rows.length * row);
}

function plotOf(canvas: HTMLCanvasElement, heat: Heat): Plot {
  return { x: PAD.left, y: PAD.top, width: Math.max(canvas.clientWidth - PAD.left - PAD.right, 10), height: heatHeight(heat) };
}

/** Numbers of rows: offsets by their steps, names as they are, as long as they fit. */
function rowTicks(heat: Heat): [number, string][] {
  if (heat.row_ms > 0) {
    return [0, 200, 400, 600, 800, 1000].map((ms) => [ms / heat.row_ms, ms === 0 ? "0 ms" : ms === 1000 ? "1 s" : String(ms)]);
  }
  return heat.rows.map((name, i) => [i + 0.5, name.length > 9 ? `…${name.slice(-8)}` : name]);
}

function drawAxes(context: CanvasRenderingContext2D, heat: Heat, plot: Plot, palette: Palette) {
  context.font = `11px ${palette.get("--font-ui")}`;
  context.textBaseline = "middle";
  context.fillStyle = palette.get("--ink-3");
  context.textAlign = "right";
  const row = plot.height / heat.rows.length;
  for (const [at, text] of rowTicks(heat)) {
    const y = plot.y + plot.height - at * row;
    context.fillText(text, plot.x - 9, y);
    context.fillRect(plot.x - 5, Math.round(y) - 0.5, 4, 1);
  }
  context.textAlign = "center";
  const span = heat.columns * heat.column_ms;
  const steps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400, 43_200, 86_400].map((seconds) => seconds * 1000);
  const step = steps.find((ms) => (ms / span) * plot.width >= 90) ?? steps[steps.length - 1]!;
  for (let ms = Math.ceil(heat.begin_ms / step) * step; ms <= heat.begin_ms + span; ms += step) {
    const x = plot.x + ((ms - heat.begin_ms) / span) * plot.width;
    context.fillText(clockText(ms, { seconds: step < 60_000 }).replace(/^\S+ /, ""), Math.min(x, plot.x + plot.width - 10), plot.y + plot.height + 14);
    context.fillRect(Math.round(x), plot.y + plot.height, 1, 4);
  }
}

function cellAt(event: PointerEvent, canvas: HTMLCanvasElement, heat: Heat): { col: number; row: number } {
  const plot = plotOf(canvas, heat);
  const rect = canvas.getBoundingClientRect();
  const clamp = (value: number, most: number) => Math.max(0, Math.min(most - 1, Math.floor(value)));
  return {
    col: clamp(((event.clientX - rect.left - plot.x) / plot.width) * heat.columns, heat.columns),
    row: clamp(heat.rows.length - ((event.clientY - rect.top - plot.y) / plot.height) * heat.rows.length, heat.rows.length),
  };
}

function spanned(a: { col: number; row: number }, b: { col: number; row: number }): Cells {
  return { col0: Math.min(a.col, b.col), col1: Math.max(a.col, b.col) + 1, row0: Math.min(a.row, b.row), row1: Math.max(a.row, b.row) + 1 };
}

export function HeatMap(props: HeatMapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const last = useRef(props);
  last.current = props;
  const dragged = useRef<{ from: { col: number; row: number }; cells: Cells; isBaseline: boolean } | null>(null);

  const paint = () => {
    const element = canvas.current;
    if (!element) return;
    const { heat, scale, selection, baseline } = last.current;
    const begin = performance.now();
    const ratio = devicePixelRatio || 1;
    const plot = plotOf(element, heat);
    const height = PAD.top + plot.height + PAD.bottom;
    element.style.height = `${height}px`;
    element.width = Math.round(element.clientWidth * ratio);
    element.height = Math.round(height * ratio);
    const context = element.getContext("2d")!;
    const palette = new Palette(element);
    drawCells(context, heat, plot, ratio, palette, scaleOf(heat.cells, scale));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawGaps(context, heat, plot, ratio, palette);
    drawAxes(context, heat, plot, palette);
    const dragging = dragged.current;
    const chosen = dragging && !dragging.isBaseline ? dragging.cells : selection;
    const base = dragging?.isBaseline ? dragging.cells : baseline;
    drawSums(context, heat, plot, palette, chosen);
    if (chosen) drawSelection(context, boxOf(chosen, heat, plot), plot, palette, "--brush-line");
    if (base) drawSelection(context, boxOf(base, heat, plot), null, palette, "--side-a");
    last.current.onPlaced(chosen && !dragging ? boxOf(chosen, heat, plot) : null);
    element.dataset.drawMs = (performance.now() - begin).toFixed(1);
  };

  useEffect(() => {
    const observer = new ResizeObserver(() => requestAnimationFrame(paint));
    observer.observe(canvas.current!);
    themeChanged.addEventListener("change", paint);
    return () => {
      observer.disconnect();
      themeChanged.removeEventListener("change", paint);
    };
  }, []);
  useEffect(paint, [props.heat, props.scale, JSON.stringify(props.selection), JSON.stringify(props.baseline)]);

  const onKey = (event: KeyboardEvent) => {
    const { heat, selection } = last.current;
    const moves: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const now = selection ?? { col0: Math.floor(heat.columns / 2), col1: Math.floor(heat.columns / 2) + 1, row0: 0, row1: 1 };
    const [dc, dr] = selection ? move : [0, 0];
    const grows = event.shiftKey;
    const next = { col0: now.col0 + (grows ? 0 : dc), col1: now.col1 + dc, row0: now.row0 + (grows ? 0 : dr), row1: now.row1 + dr };
    if (next.col0 < 0 || next.row0 < 0 || next.col1 > heat.columns || next.row1 > heat.rows.length || next.col1 <= next.col0 || next.row1 <= next.row0) return;
    last.current.onSelect(next, false);
  };
  const { heat } = props;
  return (
    <canvas ref={canvas} tabIndex={0} data-testid="heat" role="img"
      aria-label={`Samples by ${heat.row_ms > 0 ? "second and by offset within the second" : `time and ${heat.by}`}: ${heat.samples}. Arrow keys choose a cell, with Shift more of them.`}
      onKeyDown={onKey}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        const from = cellAt(event, event.currentTarget, heat);
        dragged.current = { from, cells: spanned(from, from), isBaseline: event.shiftKey };
        event.currentTarget.setPointerCapture(event.pointerId);
        paint();
      }}
      onPointerMove={(event) => {
        if (!dragged.current) return;
        dragged.current.cells = spanned(dragged.current.from, cellAt(event, event.currentTarget, heat));
        paint();
      }}
      onPointerUp={() => {
        const done = dragged.current;
        dragged.current = null;
        if (done) props.onSelect(done.cells, done.isBaseline);
      }}
      onPointerCancel={() => { dragged.current = null; paint(); }} />
  );
}

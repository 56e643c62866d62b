// SPDX-License-Identifier: Apache-2.0
// A chart of series, on which a range can be dragged out.
import { useEffect, useRef } from "preact/hooks";
import { Palette } from "../../../flame/colors.js";
import { themeChanged } from "../state/theme";
import { ChartDrawing } from "./chart_draw";

export interface Line { name: string; token: string; values: number[] }
export interface Mark { ms: number; text: string }
export interface Span { fromMs: number; toMs: number }
export interface ChartProps extends Span {
  label: string;
  timesMs: number[];
  lines: Line[];
  height: number;
  marks?: Mark[];
  brush?: Span | null;
  /** the side of a comparison: its colour and the way its lines lean */
  side?: "a" | "b";
  onBrush?(range: Span | null): void;
  /** the step under the pointer, or null */
  onHover?(at: number | null): void;
}

/** The step that a time lies in. */
function stepAt(timesMs: number[], ms: number): number | null {
  if (timesMs.length === 0 || ms < timesMs[0]!) return null;
  let low = 0;
  let high = timesMs.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (timesMs[middle]! <= ms) low = middle;
    else high = middle;
  }
  return low;
}

const LEAST_DRAG_PX = 3;

export function SeriesChart(props: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const last = useRef(props);
  last.current = props;
  const drawing = useRef<ChartDrawing | null>(null);
  const drag = useRef<{ beginX: number; beginMs: number; span: Span } | null>(null);
  const hover = useRef<number | null>(null);

  const paint = () => {
    const element = canvas.current;
    if (!element) return;
    const ratio = devicePixelRatio || 1;
    const width = element.clientWidth;
    element.width = Math.round(width * ratio);
    element.height = Math.round(last.current.height * ratio);
    const context = element.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const shown = drag.current ? { ...last.current, brush: drag.current.span } : last.current;
    drawing.current = new ChartDrawing(context, new Palette(element), shown, width);
    drawing.current.draw(hover.current);
  };
  useEffect(() => {
    const observer = new ResizeObserver(paint);
    observer.observe(canvas.current!);
    themeChanged.addEventListener("change", paint);
    return () => {
      observer.disconnect();
      themeChanged.removeEventListener("change", paint);
    };
  }, []);
  useEffect(paint, [props.timesMs, props.lines, props.fromMs, props.toMs, props.brush?.fromMs, props.brush?.toMs, props.marks]);

  const timeAt = (event: PointerEvent): number => {
    const area = drawing.current!.area;
    const x = event.clientX - canvas.current!.getBoundingClientRect().left - area.left;
    const { fromMs, toMs } = last.current;
    return Math.round(fromMs + Math.min(Math.max(x / area.width, 0), 1) * (toMs - fromMs));
  };
  const move = (event: PointerEvent) => {
    const ms = timeAt(event);
    if (drag.current) drag.current.span = { fromMs: Math.min(drag.current.beginMs, ms), toMs: Math.max(drag.current.beginMs, ms) };
    hover.current = ms;
    props.onHover?.(stepAt(props.timesMs, ms));
    paint();
  };
  return (
    <canvas ref={canvas} class="serieschart" role="img" aria-label={props.label} data-testid="chart"
      style={{ height: `${props.height}px`, cursor: props.onBrush ? "crosshair" : "default" }}
      onPointerDown={(event) => {
        if (!props.onBrush || event.button !== 0) return;
        const ms = timeAt(event);
        drag.current = { beginX: event.clientX, beginMs: ms, span: { fromMs: ms, toMs: ms } };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={move}
      onPointerUp={(event) => {
        const done = drag.current;
        drag.current = null;
        if (done && Math.abs(event.clientX - done.beginX) >= LEAST_DRAG_PX) props.onBrush?.(done.span);
        else paint();
      }}
      onPointerLeave={() => { hover.current = null; props.onHover?.(null); paint(); }}
      onDblClick={() => props.onBrush?.(null)} />
  );
}

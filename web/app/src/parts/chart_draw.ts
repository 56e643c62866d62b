// SPDX-License-Identifier: Apache-2.0
// Series as stacked areas over time.
import type { Palette } from "../../../flame/colors.js";
import { usesUtc } from "../state/time";
import type { ChartProps } from "./series_chart";

export const PAD = { left: 44, right: 10, top: 16, bottom: 20 };
export interface Area { left: number; top: number; width: number; height: number }

/** Ends of the axis: a one, two or five with zeros, three or so of them. */
function valueTicks(most: number, count: number): number[] {
  const rough = most / count;
  const size = 10 ** Math.floor(Math.log10(rough));
  const nice = [1, 2, 5, 10].map((factor) => factor * size).find((one) => one >= rough) ?? 10 * size;
  const step = nice > most ? nice / 2 : nice;
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
}

const STEPS_S = [1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800];

function timeTicks(fromMs: number, toMs: number, count: number): [number, string][] {
  const step = 1000 * (STEPS_S.find((seconds) => seconds * 1000 * count >= toMs - fromMs) ?? 604_800);
  const zone = usesUtc() ? { timeZone: "UTC" } : {};
  const text = step >= 86_400_000 ? new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short", ...zone })
    : new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", ...(step < 60_000 ? { second: "2-digit" as const } : {}), ...zone });
  const shift = usesUtc() ? 0 : new Date(fromMs).getTimezoneOffset() * 60_000;
  const ticks: [number, string][] = [];
  for (let ms = Math.ceil((fromMs - shift) / step) * step + shift; ms <= toMs; ms += step) ticks.push([ms, text.format(ms)]);
  return ticks;
}

export class ChartDrawing {
  readonly area: Area;
  readonly most: number;

  constructor(private readonly context: CanvasRenderingContext2D, private readonly palette: Palette, private readonly props: ChartProps, width: number) {
    this.area = { left: PAD.left, top: PAD.top, width: Math.max(width - PAD.left - PAD.right, 10), height: props.height - PAD.top - PAD.bottom };
    let most = 0;
    for (let i = 0; i < props.timesMs.length; i++) most = Math.max(most, props.lines.reduce((sum, line) => sum + line.values[i]!, 0));
    this.most = most > 0 ? most * 1.08 : 1;
  }

  x(ms: number): number {
    const { fromMs, toMs } = this.props;
    return this.area.left + ((ms - fromMs) / Math.max(toMs - fromMs, 1)) * this.area.width;
  }

  y(value: number): number {
    return this.area.top + this.area.height * (1 - value / this.most);
  }

  draw(hoverMs: number | null) {
    this.drawAxes();
    this.drawLines();
    if (this.props.brush) this.drawBrush(this.props.brush);
    for (const mark of this.props.marks ?? []) this.drawMark(mark.ms);
    if (hoverMs !== null) {
      this.context.fillStyle = this.palette.get("--line-control");
      this.context.fillRect(Math.round(this.x(hoverMs)), this.area.top, 1, this.area.height);
    }
  }

  private drawAxes() {
    const { context, palette, area, props } = this;
    context.font = `11px ${palette.get("--font-ui")}`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const tick of valueTicks(this.most, Math.max(2, Math.floor(area.height / 30)))) {
      const y = Math.round(this.y(tick));
      context.fillStyle = palette.get(tick === 0 ? "--line-strong" : "--line-soft");
      context.fillRect(area.left, y, area.width, 1);
      context.fillStyle = palette.get("--ink-3");
      context.fillText(Number(tick.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 6 }), area.left - 8, y);
    }
    context.textAlign = "center";
    for (const [ms, text] of timeTicks(props.fromMs, props.toMs, Math.max(2, Math.floor(area.width / 90)))) {
      const x = Math.round(this.x(ms));
      context.fillStyle = palette.get("--line-strong");
      context.fillRect(x, area.top + area.height, 1, 4);
      context.fillStyle = palette.get("--ink-3");
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(x, half), area.left + area.width + PAD.right - half), props.height - 7);
    }
  }

  private drawLines() {
    const { context, palette, props } = this;
    const xs = props.timesMs.map((ms) => this.x(ms));
    let below = props.timesMs.map(() => 0);
    context.save();
    context.beginPath();
    context.rect(this.area.left, 0, this.area.width, props.height);
    context.clip();
    context.lineJoin = "round";
    for (const line of props.lines) {
      const above = line.values.map((value, i) => below[i]! + value);
      const edge = () => {
        context.beginPath();
        above.forEach((value, i) => (i === 0 ? context.moveTo(xs[i]!, this.y(value)) : context.lineTo(xs[i]!, this.y(value))));
      };
      edge();
      for (let i = above.length - 1; i >= 0; i--) context.lineTo(xs[i]!, this.y(below[i]!));
      context.closePath();
      context.globalAlpha = 0.32;
      context.fillStyle = palette.get(line.token);
      context.fill();
      context.globalAlpha = 1;
      edge();
      context.strokeStyle = palette.get(line.token);
      context.lineWidth = 1.25;
      context.stroke();
      // One window alone is a point, not a line.
      if (above.length === 1) context.strokeRect(xs[0]! - 1, this.y(above[0]!) - 1, 2, 2);
      below = above;
    }
    context.restore();
  }

  private drawBrush({ fromMs, toMs }: { fromMs: number; toMs: number }) {
    const { context, palette, area, props } = this;
    const [left, right] = [Math.max(area.left, this.x(fromMs)), Math.min(area.left + area.width, this.x(toMs))];
    const color = palette.get(props.side ? `--side-${props.side}` : "--brush-line");
    context.fillStyle = palette.get("--veil");
    context.fillRect(area.left, area.top - 1, left - area.left, area.height + 1);
    context.fillRect(right, area.top - 1, area.left + area.width - right, area.height + 1);
    if (props.side) this.drawLean(left, right, color, props.side === "a");
    else {
      context.fillStyle = palette.get("--brush");
      context.fillRect(left, area.top, right - left, area.height);
    }
    context.fillStyle = color;
    context.fillRect(left, area.top + area.height - 0.5, right - left, 2);
    for (const x of [left, right - 1.5]) {
      context.fillRect(x, area.top, 1.5, area.height);
      context.beginPath();
      context.roundRect(x - 2.25, area.top + area.height / 2 - 10, 6, 20, 3);
      context.fill();
    }
  }

  /** Lines that lean to the left for A, to the right for B: sides are not told apart by colour alone. */
  private drawLean(left: number, right: number, color: string, toLeft: boolean) {
    const { context, area } = this;
    context.save();
    context.beginPath();
    context.rect(left, area.top, right - left, area.height);
    context.clip();
    context.strokeStyle = color;
    context.lineWidth = 1;
    context.globalAlpha = 0.3;
    const [top, bottom] = [area.top, area.top + area.height];
    for (let x = left - area.height; x < right + area.height; x += 7) {
      context.beginPath();
      context.moveTo(x, toLeft ? top : bottom);
      context.lineTo(x + area.height, toLeft ? bottom : top);
      context.stroke();
    }
    context.restore();
  }

  private drawMark(ms: number) {
    const { context, palette, area } = this;
    const x = Math.round(this.x(ms));
    if (x < area.left || x > area.left + area.width) return;
    context.fillStyle = context.strokeStyle = palette.get("--capture");
    context.lineWidth = 1;
    context.setLineDash([2, 2]);
    context.beginPath();
    context.moveTo(x + 0.5, 14);
    context.lineTo(x + 0.5, area.top + area.height);
    context.stroke();
    context.setLineDash([]);
    context.fillRect(x - 0.5, 2, 1.5, 12);
    context.beginPath();
    context.moveTo(x, 2);
    context.lineTo(x + 8, 5);
    context.lineTo(x, 8);
    context.fill();
  }
}

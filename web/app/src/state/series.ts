// SPDX-License-Identifier: Apache-2.0
// Series as the charts show them: on one grid of time, the largest by name and the rest as one.
import type { Series, SeriesReply } from "./api";
import type { Line } from "../parts/series_chart";

export const MOST_LINES = 8;

/** A step that makes at most some 120 points, of whole windows. */
export function stepOf(fromMs: number, toMs: number): number {
  const wanted = (toMs - fromMs) / 1000 / 120;
  return [10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400].find((step) => step >= wanted) ?? 86_400;
}

export function gridOf(reply: SeriesReply): number[] {
  const step = reply.step_seconds * 1000;
  const times = new Set<number>();
  for (const { points } of reply.series) for (const [ms] of points) times.add(ms);
  const every = Array.from(times).sort((a, b) => a - b);
  if (every.length === 0 || step <= 0) return [];
  // A step that the range covers in part looks like a fall.
  const whole = every.filter((ms) => ms >= reply.from_ms && ms + step <= reply.to_ms);
  const known = whole.length >= 2 ? whole : every;
  const grid = [];
  // Steps count from the first one that has a value: gaps are zeros, and are seen.
  for (let ms = known[0]!; ms <= known[known.length - 1]!; ms += step) grid.push(ms);
  return grid;
}

/** Values per second: cores where they are nanoseconds of CPU. */
export function valuesOn(grid: number[], one: Series, scale: number): number[] {
  const at = new Map(one.points);
  return grid.map((ms) => (at.get(ms) ?? 0) * scale);
}

export function scaleOf(reply: SeriesReply): number {
  const perSecond = 1 / Math.max(reply.step_seconds, 1e-9);
  return reply.unit === "nanoseconds" ? perSecond / 1e9 : perSecond;
}

export function unitOf(type: string, unit: string): string {
  if (type === "cpu") return "cores";
  if (unit === "nanoseconds") return "threads waiting";
  return unit === "bytes" ? "bytes a second" : `${unit} a second`;
}

export interface Lines { timesMs: number[]; lines: (Line & { labels: Record<string, string> | null; mean: number })[] }

/** The largest by their total; what is left becomes one line, the last. */
export function linesOf(reply: SeriesReply, nameOf: (labels: Record<string, string>) => string): Lines {
  const grid = gridOf(reply);
  const scale = scaleOf(reply);
  const largest = [...reply.series].sort((a, b) => b.total - a.total);
  const shown = largest.slice(0, MOST_LINES);
  const rest = largest.slice(MOST_LINES);
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
  const lines: Lines["lines"] = shown.map((one, i) => {
    const values = valuesOn(grid, one, scale);
    return { name: nameOf(one.labels), token: `--series-${i + 1}`, values, labels: one.labels, mean: mean(values) };
  });
  if (rest.length > 0) {
    const values = grid.map(() => 0);
    for (const one of rest) valuesOn(grid, one, scale).forEach((value, i) => (values[i]! += value));
    lines.push({ name: `${rest.length} more`, token: "--series-rest", values, labels: null, mean: mean(values) });
  }
  return { timesMs: grid, lines };
}

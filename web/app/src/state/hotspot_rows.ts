// SPDX-License-Identifier: Apache-2.0
// The rows of the home page, whatever they are of.
import type { ContainerRow, SeriesReply, TopReply } from "./api";
import { formatSelector } from "./selector";
import { gridOf, scaleOf, valuesOn } from "./series";

export type Kind = "workloads" | "containers" | "processes" | "functions" | "traces";

export interface Row {
  key: string;
  title: string;
  context: string;
  selector: string;
  host: boolean;
  share: number;
  cores: number;
  value: number;
  trend: number[];
  /** null: the diagnosis has it */
  hottest: { name: string; module: string; percent: number } | null;
}

/** Labels of a series that are the same thing as a row. */
const keyOf = (labels: Record<string, string | undefined>, names: string[]) => names.map((name) => labels[name] ?? "").join("\u0000");

function isHost(namespace: string): boolean {
  return namespace === "-" || namespace === "";
}

export function workloadRows(reply: SeriesReply, observedSeconds: number): Row[] {
  const grid = gridOf(reply);
  const whole = reply.series.reduce((sum, one) => sum + one.total, 0);
  const seconds = observedSeconds || (grid.length * reply.step_seconds) || 1;
  return reply.series.filter((one) => one.total > 0).map((one) => {
    const namespace = one.labels.namespace ?? "";
    const workload = one.labels.workload ?? "";
    const selector = new Map([["namespace", namespace], ["workload", workload]]);
    return {
      key: keyOf(one.labels, ["namespace", "workload"]),
      title: workload || (isHost(namespace) ? "Host processes" : "Pods without a workload"),
      context: isHost(namespace) ? "outside of pods" : namespace,
      selector: formatSelector(selector), host: isHost(namespace),
      share: whole > 0 ? (100 * one.total) / whole : 0, cores: one.total / 1e9 / seconds, value: one.total,
      trend: valuesOn(grid, one, scaleOf(reply)), hottest: null,
    };
  }).sort((a, b) => b.value - a.value);
}

export function containerRows(top: TopReply<ContainerRow>, series: SeriesReply | null): Row[] {
  const grid = series ? gridOf(series) : [];
  const names = ["namespace", "pod", "container"];
  const byKey = new Map((series?.series ?? []).map((one) => [keyOf(one.labels, names), one]));
  return top.rows.map((row) => {
    const labels = { namespace: row.namespace, pod: row.pod, container: row.container };
    const trend = byKey.get(keyOf(labels, names));
    const selector = new Map(Object.entries(labels));
    const stack = row.hottest?.stack ?? [];
    const isProcess = row.process !== undefined;
    if (isProcess && row.process) selector.set("comm", row.process);
    return {
      key: keyOf(labels, names) + (row.process ?? ""),
      title: isProcess ? row.process || "(not named)" : isHost(row.namespace) ? row.container : row.container,
      context: isHost(row.namespace) ? `host${isProcess ? ` · ${row.container}` : ""}` : `${row.namespace} · ${row.pod}${isProcess ? ` · ${row.container}` : ""}`,
      selector: formatSelector(isProcess ? new Map(Object.entries(labels)) : selector), host: isHost(row.namespace),
      share: row.share_percent, cores: row.cores, value: row.value,
      trend: trend && series && !isProcess ? valuesOn(grid, trend, scaleOf(series)) : [],
      hottest: row.hottest ? { name: row.hottest.function ?? stack[stack.length - 1] ?? "", module: row.hottest.module ?? "", percent: row.hottest.percent } : null,
    };
  });
}

/** Where the whole rose or fell most, if it did by a tenth: between its first and last quarter. */
export function changeOver(timesMs: number[], rows: { title: string; trend: number[] }[]): { cores: number; sinceMs: number; mostly: string } | null {
  const count = timesMs.length;
  if (count < 8) return null;
  // The last step may still be open.
  const end = count - 1;
  const quarter = Math.floor(end / 4);
  const sum = timesMs.map((_, i) => rows.reduce((total, row) => total + (row.trend[i] ?? 0), 0));
  const mean = (values: number[], from: number, to: number) => values.slice(from, to).reduce((a, b) => a + b, 0) / Math.max(to - from, 1);
  const [before, after] = [mean(sum, 0, quarter), mean(sum, end - quarter, end)];
  if (Math.abs(after - before) < Math.max(0.1 * Math.max(before, after), 0.01)) return null;
  const middle = (before + after) / 2;
  const at = sum.findIndex((value, i) => i >= quarter / 2 && (after > before ? value >= middle : value <= middle));
  const moved = rows.map((row) => ({ title: row.title, by: mean(row.trend, end - quarter, end) - mean(row.trend, 0, quarter) }));
  const most = moved.reduce((best, row) => ((row.by - best.by) * (after - before) > 0 ? row : best), { title: "", by: 0 });
  return { cores: after - before, sinceMs: timesMs[Math.max(at, 0)]!, mostly: most.title };
}

// SPDX-License-Identifier: Apache-2.0
// Keeps the cells chosen on a heat map in the address: times and rows, not columns, so that it holds
// when the map is of another range.
import type { Cells } from "../parts/heat_draw";
import type { Heat } from "./api";

/** "FROM-TO@ROW-ROW": milliseconds; rows as offsets in milliseconds, or as numbers of rows. */
export function textOf(cells: Cells, heat: Heat): string {
  const time = (column: number) => heat.begin_ms + column * heat.column_ms;
  const row = (at: number) => (heat.row_ms > 0 ? at * heat.row_ms : at);
  return `${time(cells.col0)}-${time(cells.col1)}@${row(cells.row0)}-${row(cells.row1)}`;
}

export interface Chosen { fromMs: number; toMs: number; low: number; high: number }

export function chosenOf(text: string): Chosen | null {
  const match = /^(\d+)-(\d+)@(\d+)-(\d+)$/.exec(text);
  if (!match) return null;
  const [fromMs, toMs, low, high] = match.slice(1).map(Number) as [number, number, number, number];
  return fromMs < toMs && low < high ? { fromMs, toMs, low, high } : null;
}

/** Its cells on this map; null where it lies outside. */
export function cellsOf(chosen: Chosen | null, heat: Heat): Cells | null {
  if (!chosen) return null;
  const column = (ms: number) => (ms - heat.begin_ms) / heat.column_ms;
  const row = (value: number) => (heat.row_ms > 0 ? value / heat.row_ms : value);
  const cells = {
    col0: Math.max(0, Math.floor(column(chosen.fromMs))), col1: Math.min(heat.columns, Math.ceil(column(chosen.toMs))),
    row0: Math.max(0, Math.floor(row(chosen.low))), row1: Math.min(heat.rows.length, Math.ceil(row(chosen.high))),
  };
  return cells.col0 < cells.col1 && cells.row0 < cells.row1 ? cells : null;
}

export function samplesIn(cells: Cells, heat: Heat): { samples: number; ofColumns: number } {
  let [samples, ofColumns] = [0, 0];
  const rows = heat.rows.length;
  for (let c = cells.col0; c < cells.col1; c++) {
    for (let r = 0; r < rows; r++) {
      const count = heat.cells[c * rows + r]!;
      ofColumns += count;
      if (r >= cells.row0 && r < cells.row1) samples += count;
    }
  }
  return { samples, ofColumns };
}

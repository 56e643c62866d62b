// SPDX-License-Identifier: Apache-2.0
// Cells as pixels. One image is filled for all of them: an hour has 180,000.
import { hatch } from "../../../flame/brush.js";
import type { Palette } from "../../../flame/colors.js";
import type { Heat } from "../state/api";

export interface Plot { x: number; y: number; width: number; height: number }
/** Columns and rows, the ends not included; row 0 is at the bottom. */
export interface Cells { col0: number; col1: number; row0: number; row1: number }

export const PAD = { left: 64, top: 40, right: 58, bottom: 22 };

function channels(hex: string): [number, number, number] {
  return [parseInt(hex.slice(1, 3), 16), parseInt(hex.slice(3, 5), 16), parseInt(hex.slice(5, 7), 16)];
}

const packed = ([red, green, blue]: number[]) => (255 << 24) | (blue! << 16) | (green! << 8) | red!;

/** The twelve heat tokens, mixed to 256 steps, as pixels. */
export function rampOf(palette: Palette): Uint32Array {
  const stops = Array.from({ length: 12 }, (_, i) => channels(palette.get(`--heat-${i}`)));
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * 11;
    const low = Math.min(10, Math.floor(place));
    return packed(stops[low]!.map((value, at) => Math.round(value + (stops[low + 1]![at]! - value) * (place - low)))) >>> 0;
  });
}

export interface Scale { step(count: number): number; most: number }

/** A step of the ramp for each count. By rank all counts that occur are equally far apart. */
export function scaleOf(cells: number[], kind: "linear" | "rank"): Scale {
  let most = 0;
  for (const count of cells) if (count > most) most = count;
  if (kind === "linear" || most === 0) return { most, step: (count) => (count === 0 ? 0 : Math.max(24, Math.round((255 * count) / most))) };
  const seen = Array.from(new Set(cells)).filter((count) => count > 0).sort((a, b) => a - b);
  const rank = new Map(seen.map((count, i) => [count, Math.round(24 + (231 * (i + 1)) / seen.length)]));
  return { most, step: (count) => (count === 0 ? 0 : (rank.get(count) ?? 255)) };
}

/** The first column and the one after the last of each pixel column. */
function columnsAt(x: number, width: number, columns: number): [number, number] {
  const first = Math.floor((x * columns) / width);
  return [first, Math.max(first + 1, Math.floor(((x + 1) * columns) / width))];
}

export function drawCells(context: CanvasRenderingContext2D, heat: Heat, plot: Plot, scale: number, palette: Palette, steps: Scale) {
  const [width, height] = [Math.round(plot.width * scale), Math.round(plot.height * scale)];
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const ramp = rampOf(palette);
  const rows = heat.rows.length;
  const match = packed(channels(palette.get("--frame-match"))) >>> 0;
  const gapX = width / heat.columns >= 3.2 * scale ? Math.round(scale) : 0;
  const gapY = height / rows >= 4 * scale ? Math.round(scale) : 0;
  const column = new Uint32Array(rows);
  for (let x = 0; x < width; x++) {
    const [first, end] = columnsAt(x, width, heat.columns);
    if (gapX > 0 && Math.floor(((x + gapX) * heat.columns) / width) !== first) continue;
    let known = false;
    for (let row = 0; row < rows; row++) {
      let count = 0;
      let painted = 0;
      for (let c = first; c < end; c++) {
        known ||= heat.known[c] === "t";
        count = Math.max(count, heat.cells[c * rows + row]!);
        if (heat.painted) painted = Math.max(painted, heat.painted[c * rows + row]!);
      }
      column[row] = painted > 0 ? match : ramp[steps.step(count)]!;
    }
    if (!known) continue;
    for (let y = 0; y < height; y++) {
      const row = rows - 1 - Math.floor((y * rows) / height);
      if (gapY > 0 && rows - 1 - Math.floor(((y + gapY) * rows) / height) !== row) continue;
      pixels[y * width + x] = column[row]!;
    }
  }
  context.putImageData(image, Math.round(plot.x * scale), Math.round(plot.y * scale));
}

/** Runs of columns that nothing, or nothing exact, is known of: they must not look idle. */
export function drawGaps(context: CanvasRenderingContext2D, heat: Heat, plot: Plot, scale: number, palette: Palette) {
  const cell = plot.width / heat.columns;
  context.fillStyle = hatch(context, scale, palette.get("--line-strong"));
  for (let c = 0; c < heat.columns; c++) {
    if (heat.known[c] === "t") continue;
    let end = c;
    while (end < heat.columns && heat.known[end] !== "t") end++;
    context.fillRect(Math.round(plot.x + c * cell), plot.y, Math.max(1, Math.round((end - c) * cell) - 1), plot.height);
    c = end;
  }
}

export function drawSums(context: CanvasRenderingContext2D, heat: Heat, plot: Plot, palette: Palette, inside: Cells | null) {
  const rows = heat.rows.length;
  const above = new Float64Array(heat.columns);
  const beside = new Float64Array(rows);
  for (let c = 0; c < heat.columns; c++) {
    for (let r = 0; r < rows; r++) {
      const count = heat.cells[c * rows + r]!;
      above[c]! += count;
      beside[r]! += count;
    }
  }
  const mostAbove = above.reduce((a, b) => Math.max(a, b), 1);
  const mostBeside = beside.reduce((a, b) => Math.max(a, b), 1);
  const cell = plot.width / heat.columns;
  for (let c = 0; c < heat.columns; c++) {
    const height = (above[c]! / mostAbove) * 28;
    context.fillStyle = palette.get(inside && c >= inside.col0 && c < inside.col1 ? "--brush-line" : "--n-6");
    context.fillRect(Math.round(plot.x + c * cell), plot.y - 6 - height, Math.max(1, Math.round(cell) - 1), height);
  }
  const row = plot.height / rows;
  for (let r = 0; r < rows; r++) {
    context.fillStyle = palette.get(inside && r >= inside.row0 && r < inside.row1 ? "--brush-line" : "--n-6");
    context.fillRect(plot.x + plot.width + 6, plot.y + (rows - 1 - r) * row, (beside[r]! / mostBeside) * 44, Math.max(1, row - 1));
  }
}

export function boxOf(cells: Cells, heat: Heat, plot: Plot): Plot {
  const [cell, row] = [plot.width / heat.columns, plot.height / heat.rows.length];
  const x = Math.round(plot.x + cells.col0 * cell);
  const y = plot.y + (heat.rows.length - cells.row1) * row;
  return { x, y, width: Math.max(3, Math.round(plot.x + cells.col1 * cell) - x), height: (cells.row1 - cells.row0) * row };
}

export function drawSelection(context: CanvasRenderingContext2D, box: Plot, plot: Plot | null, palette: Palette, token: string) {
  if (plot) {
    context.fillStyle = palette.get("--veil");
    context.fillRect(plot.x, plot.y, plot.width, box.y - plot.y);
    context.fillRect(plot.x, box.y + box.height, plot.width, plot.y + plot.height - box.y - box.height);
    context.fillRect(plot.x, box.y, box.x - plot.x, box.height);
    context.fillRect(box.x + box.width, box.y, plot.x + plot.width - box.x - box.width, box.height);
  }
  for (const [width, color] of [[4, "--surface"], [2, token]] as const) {
    context.strokeStyle = palette.get(color);
    context.lineWidth = width;
    context.strokeRect(box.x - 1.5, box.y - 1.5, box.width + 2, box.height + 2);
  }
}

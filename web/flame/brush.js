// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The marks that a bar has beside its colour.

const HATCH_PX = 5;

/**
 * Diagonal lines that run through neighbours.
 * @param {CanvasRenderingContext2D} context @param {number} scale device pixels a CSS pixel @param {string} color
 */
export function hatch(context, scale, color) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = Math.max(1, Math.round(HATCH_PX * scale));
  const pen = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
  pen.scale(tile.width / HATCH_PX, tile.height / HATCH_PX);
  pen.strokeStyle = color;
  pen.beginPath();
  for (const shift of [-HATCH_PX, 0, HATCH_PX]) {
    pen.moveTo(shift - 1, HATCH_PX + 1);
    pen.lineTo(shift + HATCH_PX + 1, -1);
  }
  pen.stroke();
  const pattern = /** @type {CanvasPattern} */ (context.createPattern(tile, "repeat"));
  pattern.setTransform(new DOMMatrix().scale(HATCH_PX / tile.width));
  return pattern;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{x: number, y: number, width: number, height: number}} box
 * @param {string} color @param {number[]} dash
 */
export function outline(context, { x, y, width, height }, color, dash) {
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.setLineDash(dash);
  context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  context.setLineDash([]);
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {boolean} up */
export function triangle(context, x, y, up) {
  const sign = up ? 1 : -1;
  context.beginPath();
  context.moveTo(x, y + 3 * sign);
  context.lineTo(x + 7, y + 3 * sign);
  context.lineTo(x + 3.5, y - 3 * sign);
  context.fill();
}

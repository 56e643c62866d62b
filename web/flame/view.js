// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The drawing: bars of a model on a canvas that is never larger than what is seen of it.
import { hatch, outline, triangle } from "./brush.js";
import { changeOf, domainOf, fillOf, kindOf, KIND, Palette } from "./colors.js";
import { formatPoints, formatShare } from "./format.js";
import { barAt, firstBarAfter } from "./model.js";
import { labelFor } from "./names.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Bar} Bar */

export const ROW_PX = 20;
const LABEL_MIN_PX = 26;
const SHARE_MIN_PX = 150;
const POINTS_MIN_PX = 130;
const ROUND_MIN_PX = 8;
const DETAIL_MIN_PX = 3;
const FONT_PX = 11;

/** One bar on its way to the canvas. @typedef {{name: number, x: number, y: number, width: number, depth: number, index: number}} Drawn */

export class FlameView {
  /**
   * @param {HTMLElement} box scrolls; holds the canvas, which sticks to its top, and the space of all rows
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLElement} space
   */
  constructor(box, canvas, space) {
    this.box = box;
    this.canvas = canvas;
    this.space = space;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.palette = new Palette(box);
    /** @type {Model | null} */
    this.model = null;
    /** @type {Bar} */
    this.zoom = { level: 0, index: 0 };
    /** @type {Bar} */
    this.current = { level: 0, index: 0 };
    /** @type {Uint8Array | null} */
    this.matched = null;
    /** @type {"module" | "domain"} */
    this.colorBy = "module";
    this.ofShown = false;
    this.detail = (/** @type {string} */ name) => name;
    this.rootAtBottom = false;
    this.charPx = 6.6;
    this.pending = false;
    /** @type {string[]} */
    this.fills = [];
    this.onDrawn = () => {};
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(box);
    this.onTheme = () => this.retheme();
    box.addEventListener("scroll", () => this.redraw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", this.onTheme);
  }

  destroy() {
    this.observer.disconnect();
    matchMedia("(prefers-color-scheme: dark)").removeEventListener("change", this.onTheme);
  }

  /** The page's colours changed. */
  retheme() {
    this.palette.refresh();
    this.refill();
  }

  /** @param {Model | null} model */
  setModel(model) {
    this.model = model;
    this.zoom = { level: 0, index: 0 };
    this.current = { level: 0, index: 0 };
    this.matched = null;
    this.refill();
    this.makeRoom();
  }

  /** The fill of each name, looked up once. */
  refill() {
    const data = this.model?.data;
    this.fills = data ? data.names.map((_, name) => this.palette.get(fillOf(data, name, this.colorBy))) : [];
    this.redraw();
  }

  /** @param {"module" | "domain"} by */
  setColor(by) {
    this.colorBy = by;
    this.refill();
  }

  /** @param {boolean} rootAtBottom */
  setOrientation(rootAtBottom) {
    this.rootAtBottom = rootAtBottom;
    this.makeRoom();
  }

  /** @param {Bar} bar */
  zoomTo(bar) {
    this.zoom = bar;
    this.select(bar);
  }

  /** @param {Bar} bar */
  select(bar) {
    this.current = bar;
    const top = this.rowTop(bar.level);
    const seen = this.canvas.clientHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    if (top + ROW_PX > this.box.scrollTop + seen) this.box.scrollTop = top + ROW_PX - seen;
    this.redraw();
  }

  levelCount() {
    return this.model ? this.model.levels.length : 0;
  }

  /** Value at the left and right edge. */
  range() {
    if (!this.model) return { from: 0, to: 1 };
    const level = this.model.levels[this.zoom.level];
    const from = level.x[this.zoom.index];
    return { from, to: from + Math.max(level.total[this.zoom.index], 1e-9) };
  }

  /** Of the whole drawing, not of what is seen. @param {number} level */
  rowTop(level) {
    const row = this.rootAtBottom ? this.levelCount() - 1 - level : level;
    return row * ROW_PX;
  }

  /** Gives the canvas the size of what is seen. */
  fit() {
    const height = this.levelCount() * ROW_PX;
    const seen = Math.min(this.box.clientHeight, Math.max(height, ROW_PX));
    const width = this.box.clientWidth;
    const scale = window.devicePixelRatio || 1;
    const pixels = [Math.round(width * scale), Math.round(seen * scale)];
    if (this.canvas.width === pixels[0] && this.canvas.height === pixels[1]) return;
    [this.canvas.width, this.canvas.height] = pixels;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${seen}px`;
    this.canvas.style.marginBottom = `${-seen}px`;  // the space below it begins at its top
  }

  /** Room for all rows to scroll through. */
  makeRoom() {
    this.fit();
    this.space.style.height = `${this.levelCount() * ROW_PX}px`;
    this.box.scrollTop = this.rootAtBottom ? this.box.scrollHeight : 0;
    this.redraw();
  }

  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  draw() {
    this.fit();
    const scale = window.devicePixelRatio || 1;
    const width = this.box.clientWidth;
    const context = this.context;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const height = this.canvas.height / scale;
    context.clearRect(0, 0, width, height);
    if (!this.model || this.model.levels.length === 0) return;
    this.font = `${FONT_PX}px ${this.palette.get("--font-mono")}`;
    context.font = this.font;
    context.textBaseline = "middle";
    this.charPx = context.measureText("M".repeat(20)).width / 20;
    this.lines = hatch(context, scale, this.palette.get(this.model.isDiff ? "--diff-kernel-hatch" : "--frame-kernel-hatch"));
    const top = this.box.scrollTop;
    for (let level = 0; level < this.levelCount(); level++) {
      const y = this.rowTop(level) - top;
      if (y > -ROW_PX && y < height) this.drawLevel(level, y, width);
    }
    this.drawCurrent(top);
    this.onDrawn();
  }

  /** @param {number} depth @param {number} y @param {number} width */
  drawLevel(depth, y, width) {
    const model = /** @type {Model} */ (this.model);
    const level = model.levels[depth];
    const { from, to } = this.range();
    const pxPerValue = width / (to - from);
    const context = this.context;
    let lastFill = "";
    let painted = -1;  // the last column that a narrow bar was painted in
    for (let i = firstBarAfter(level, from); i < level.count && level.x[i] < to; i++) {
      const left = Math.max(0, Math.round((level.x[i] - from) * pxPerValue));
      const right = Math.min(width, Math.round((level.x[i] + level.total[i] - from) * pxPerValue));
      if (right - left < 1) {
        // Too narrow for a column of its own: the first one of each column stands for the rest.
        if (left === painted || left >= width) continue;
        painted = left;
      }
      const box = right - left > 2 ? right - left - 1 : Math.max(1, right - left);
      if (box < DETAIL_MIN_PX) {
        // Most bars of a large graph are so narrow: their colour is all that there is of them.
        const fill = this.fillOf(level, i, depth);
        if (fill !== lastFill) context.fillStyle = lastFill = fill;
        context.fillRect(left, y, box, ROW_PX - 1);
        continue;
      }
      lastFill = "";
      this.drawBar({ name: level.name[i], x: left, y, width: box, depth, index: i });
    }
  }

  /** The colour alone. @param {import("./model.js").Level} level @param {number} index @param {number} depth */
  fillOf(level, index, depth) {
    const { palette, matched } = this;
    const name = level.name[index];
    if (depth < this.zoom.level) return palette.get("--frame-ancestor");
    if (matched !== null) return palette.get(matched[name] === 1 ? "--frame-match" : "--frame-dim");
    if (!level.a || !level.b) return this.fills[name];
    const { wholeA, wholeB } = /** @type {Model} */ (this.model);
    if (level.b[index] === 0 && level.a[index] > 0) return palette.get("--diff-gone-line");
    return palette.get(changeOf(level.a[index], level.b[index], wholeA || wholeB).token);
  }

  /** How a bar of a comparison changed. @param {Drawn} bar */
  changeAt(bar) {
    const model = /** @type {Model} */ (this.model);
    const level = model.levels[bar.depth];
    if (!level.a || !level.b) return null;
    const a = level.a[bar.index];
    const b = level.b[bar.index];
    return { ...changeOf(a, b, model.wholeA || model.wholeB), gone: b === 0 && a > 0, fresh: a === 0 && b > 0 };
  }

  /** @param {Drawn} bar */
  drawBar(bar) {
    const { context, palette } = this;
    const data = /** @type {Model} */ (this.model).data;
    const isAncestor = bar.depth < this.zoom.level;
    const isMatch = !isAncestor && this.matched !== null && this.matched[bar.name] === 1;
    const isDim = !isAncestor && this.matched !== null && !isMatch;
    const change = this.changeAt(bar);
    const plain = !isAncestor && !isMatch && !isDim;
    let fill = this.fills[bar.name];
    if (change) fill = palette.get(change.gone ? "--diff-gone" : change.token);
    if (isDim) fill = palette.get("--frame-dim");
    if (isMatch) fill = palette.get("--frame-match");
    if (isAncestor) fill = palette.get("--frame-ancestor");
    context.fillStyle = fill;
    const box = { x: bar.x, y: bar.y, width: bar.width, height: ROW_PX - 1 };
    if (bar.width < ROUND_MIN_PX) {
      context.fillRect(box.x, box.y, box.width, box.height);
    } else {
      context.beginPath();
      context.roundRect(box.x, box.y, box.width, box.height, 2);
      context.fill();
    }
    if (plain && !change?.gone && kindOf(data, bar.name) === KIND.kernel && this.lines) {
      context.fillStyle = this.lines;
      context.fillRect(box.x, box.y, box.width, box.height);
    }
    if (change && !isAncestor) this.outlineChange(box, change);
    else if (plain && box.width > 3 && kindOf(data, bar.name) < KIND.total && domainOf(data, bar.name) === "u") {
      outline(context, box, palette.get("--frame-unknown-line"), []);
    }
    if (isMatch && box.width > 3) {
      context.fillStyle = palette.get("--frame-match-line");
      context.fillRect(box.x, box.y + ROW_PX - 3, box.width, 2);
    }
    if (bar.width < LABEL_MIN_PX) return;
    const state = isAncestor ? "ancestor" : isDim ? "dim" : isMatch ? "match" : "";
    this.drawLabel(bar, state, change);
  }

  /** @param {{x: number, y: number, width: number, height: number}} box @param {{gone: boolean, fresh: boolean}} change */
  outlineChange(box, change) {
    if (change.gone && box.width > 3) outline(this.context, box, this.palette.get("--diff-gone-line"), [3, 2]);
    if (!change.fresh || box.width <= 5) return;
    const inner = { x: box.x + 1, y: box.y + 1, width: box.width - 2, height: box.height - 2 };
    outline(this.context, inner, this.palette.get("--diff-new-dot"), [1.5, 2]);
  }

  /** The share of a bar, where it says something new. @param {Drawn} bar @param {ReturnType<FlameView["changeAt"]>} change */
  noteOf(bar, change) {
    if (change) return change.strength > 0 && bar.width > POINTS_MIN_PX ? formatPoints(change.points) : "";
    if (bar.width <= SHARE_MIN_PX || bar.depth < this.zoom.level) return "";
    const { levels, whole } = /** @type {Model} */ (this.model);
    const level = levels[bar.depth];
    const total = level.total[bar.index];
    const parent = bar.depth > 0 ? levels[bar.depth - 1].total[level.parent[bar.index]] : 0;
    if (bar.depth > 0 && bar.depth !== this.zoom.level && total >= 0.97 * parent) return "";
    const { from, to } = this.range();
    return formatShare(total, this.ofShown ? to - from : whole);
  }

  /** @param {Drawn} bar @param {string} state @param {ReturnType<FlameView["changeAt"]>} change */
  drawLabel(bar, state, change) {
    const { context, palette } = this;
    const data = /** @type {Model} */ (this.model).data;
    const ink = change?.gone && state === "" ? "--ink-2" : state ? `--frame-${state}-ink` : "--frame-ink";
    const main = palette.get(ink);
    const soft = state || change?.gone ? main : palette.get("--frame-ink-2");
    const middle = bar.y + ROW_PX / 2;
    let x = bar.x + 5;
    let space = bar.width - 9;
    if (change && change.strength > 1 && bar.width > 44 && !change.gone) {
      context.fillStyle = main;
      triangle(context, x, middle - 0.5, change.points > 0);
      x += 10;
      space -= 10;
    }
    const note = this.noteOf(bar, change);
    if (note !== "") {
      context.fillStyle = soft;
      context.fillText(note, bar.x + bar.width - 5 - note.length * this.charPx, middle);
    }
    const room = Math.floor((space - (note === "" ? 0 : (note.length + 2) * this.charPx)) / this.charPx);
    const label = labelFor(this.detail(data.names[bar.name]), room);
    if (label.text === "") return;
    const inlined = kindOf(data, bar.name) === KIND.inlined;
    if (inlined) context.font = `italic ${this.font}`;
    if (label.prefix !== "") {
      context.fillStyle = soft;
      context.fillText(label.prefix, x, middle);
      x += context.measureText(label.prefix).width;
    }
    context.fillStyle = main;
    context.fillText(label.text, x, middle, Math.max(1, bar.x + bar.width - 4 - x));
    if (inlined) context.font = /** @type {string} */ (this.font);
  }

  /** @param {number} top */
  drawCurrent(top) {
    const rect = this.rectOf(this.current);
    if (!rect) return;
    this.context.strokeStyle = this.palette.get("--frame-current");
    this.context.lineWidth = 2;
    this.context.beginPath();
    this.context.roundRect(rect.x + 1, rect.y - top + 1, Math.max(1, rect.width - 3), ROW_PX - 3, 2);
    this.context.stroke();
  }

  /**
   * Where a bar is, in CSS pixels of the whole drawing; null when the zoom leaves it out.
   * @param {Bar} bar
   */
  rectOf(bar) {
    const level = this.model?.levels[bar.level];
    if (!level) return null;
    const { from, to } = this.range();
    const begin = level.x[bar.index];
    const end = begin + level.total[bar.index];
    if (end <= from || begin >= to) return null;
    const pxPerValue = this.box.clientWidth / (to - from);
    const x = Math.max(0, Math.round((begin - from) * pxPerValue));
    const right = Math.min(this.box.clientWidth, Math.round((end - from) * pxPerValue));
    return { x, y: this.rowTop(bar.level), width: Math.max(1, right - x), height: ROW_PX };
  }

  /**
   * The bar at a point of the canvas, in CSS pixels; null where there is none.
   * @param {number} x @param {number} y
   * @returns {Bar | null}
   */
  nodeAt(x, y) {
    if (!this.model) return null;
    const row = Math.floor((y + this.box.scrollTop) / ROW_PX);
    const level = this.rootAtBottom ? this.levelCount() - 1 - row : row;
    if (level < 0 || level >= this.levelCount()) return null;
    const { from, to } = this.range();
    const index = barAt(this.model.levels[level], from + ((to - from) * x) / this.box.clientWidth);
    return index < 0 ? null : { level, index };
  }
}

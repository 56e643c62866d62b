// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The drawing: bars of a model on a canvas that is never larger than what is seen of it.

const ROW_PX = 20;
const LABEL_MIN_PX = 20;
const FONT = "12px ui-monospace, Menlo, Consolas, monospace";
const INK = "#1a1a1a";
const MATCH_COLOR = "#ff9a3c";

class FlameView {
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
    /** @type {Model | null} */
    this.model = null;
    /** @type {Bar} */
    this.zoom = { level: 0, index: 0 };
    /** @type {Bar} */
    this.current = { level: 0, index: 0 };
    /** @type {Uint8Array | null} */
    this.matched = null;
    this.rootAtBottom = false;
    this.charPx = 7.2;
    this.pending = false;
    this.onDrawn = () => {};
    new ResizeObserver(() => this.redraw()).observe(box);
    box.addEventListener("scroll", () => this.redraw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  /** @param {Model | null} model */
  setModel(model) {
    this.model = model;
    this.zoom = { level: 0, index: 0 };
    this.current = { level: 0, index: 0 };
    this.matched = null;
    this.makeRoom();
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
    this.box.style.maxHeight = `${this.levelCount() * ROW_PX}px`;
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
    if (!this.model) return;
    context.font = FONT;
    context.textBaseline = "middle";
    this.charPx = context.measureText("M".repeat(10)).width / 10;
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
    let painted = -1;  // the last column that a narrow bar was painted in
    const alpha = depth < this.zoom.level ? 0.6 : 1;  // what the zoom hangs from stands back
    for (let i = firstBarAfter(level, from); i < level.count && level.x[i] < to; i++) {
      const left = Math.max(0, Math.round((level.x[i] - from) * pxPerValue));
      const right = Math.min(width, Math.round((level.x[i] + level.total[i] - from) * pxPerValue));
      if (right - left < 1) {
        // Too narrow for a column of its own: the first one of each column stands for the rest.
        if (left === painted || left >= width) continue;
        painted = left;
      }
      this.drawBar(model, level.name[i], left, y, Math.max(1, right - left), alpha);
    }
  }

  /**
   * @param {Model} model @param {number} name
   * @param {number} left @param {number} y @param {number} width @param {number} alpha
   */
  drawBar(model, name, left, y, width, alpha) {
    const context = this.context;
    const matched = this.matched !== null && this.matched[name] === 1;
    context.fillStyle = matched ? MATCH_COLOR : model.colors[name];
    context.globalAlpha = alpha;
    context.fillRect(left, y, width > 2 ? width - 1 : width, ROW_PX - 1);
    context.globalAlpha = 1;
    if (matched && width > 4) {  // not by colour alone
      context.fillStyle = INK;
      context.fillRect(left, y + ROW_PX - 3, width - 1, 2);
    }
    if (width <= LABEL_MIN_PX) return;
    const text = model.data.names[name] + KIND_MARKS[kindOf(model.data, name)];
    const label = cutMiddle(text, Math.floor((width - 7) / this.charPx));
    if (label === "") return;
    context.fillStyle = INK;
    context.fillText(label, left + 3, y + ROW_PX / 2);
  }

  /** @param {number} top */
  drawCurrent(top) {
    const rect = this.rectOf(this.current);
    if (!rect) return;
    this.context.strokeStyle = getComputedStyle(this.box).getPropertyValue("--ink");
    this.context.lineWidth = 2;
    this.context.strokeRect(rect.x + 1, rect.y - top + 1, Math.max(1, rect.width - 3), ROW_PX - 3);
  }

  /**
   * Where a bar is, in CSS pixels of the whole drawing; null when the zoom leaves it out.
   * @param {Bar} bar
   */
  rectOf(bar) {
    if (!this.model) return null;
    const level = this.model.levels[bar.level];
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

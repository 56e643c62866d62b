// SPDX-License-Identifier: Apache-2.0
// @ts-check
// One flame graph that answers to pointer and keys: in exported files and in the application. A screen
// reader sees a tree of one item, which is the current bar.
import { make } from "./dom.js";
import { matchNames, searchPattern, sumMatches } from "./model.js";
import { sentenceOf, tipOf } from "./tip.js";
import { FlameView } from "./view.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Bar} Bar */

/**
 * @typedef {object} GraphCallbacks
 * @property {(sentence: string) => void} [onMove] the current bar changed
 * @property {(zoom: Bar) => void} [onZoom]
 * @property {(bar: Bar, at: {x: number, y: number}) => void} [onMenu] asked for at a bar, at a place of the window
 * @property {(key: string, bar: Bar) => boolean} [onKey] another key; true: it was used
 * @property {() => void} [onDrawn]
 */

let graphs = 0;

export class FlameGraph {
  /** @param {HTMLElement} host becomes the graph @param {GraphCallbacks} [callbacks] */
  constructor(host, callbacks = {}) {
    this.host = host;
    this.callbacks = callbacks;
    const id = `graph-current-${++graphs}`;
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.item = make("div", { id, role: "treeitem", class: "unseen", "aria-selected": "true", "data-testid": "current" });
    this.tip = make("div", { class: "tip", role: "tooltip", hidden: "" });
    const space = make("div");
    host.classList.add("graph");
    for (const [name, value] of [["role", "tree"], ["tabindex", "0"], ["aria-activedescendant", id]]) host.setAttribute(name, value);
    host.replaceChildren(this.canvas, space, this.item);
    document.body.append(this.tip);
    this.view = new FlameView(host, this.canvas, space);
    this.view.onDrawn = () => callbacks.onDrawn?.();
    /** @type {Model | null} */
    this.model = null;
    /** @type {Bar[]} */
    this.hits = [];
    this.hit = -1;
    this.listen();
  }

  destroy() {
    this.view.destroy();
    this.tip.remove();
  }

  /** @param {Model | null} model */
  show(model) {
    this.model = model;
    this.hits = [];
    this.hit = -1;
    this.tip.hidden = true;
    this.view.setModel(model);
    if (model && model.levels.length > 0) this.moveTo(this.view.current);
  }

  /** @param {Bar} bar */
  moveTo(bar) {
    if (!this.model) return;
    this.view.select(bar);
    const level = this.model.levels[bar.level];
    let first = 0;
    let count = 1;
    if (bar.level > 0) {
      const above = this.model.levels[bar.level - 1];
      first = above.firstChild[level.parent[bar.index]];
      count = above.firstChild[level.parent[bar.index] + 1] - first;
    }
    const sentence = sentenceOf(this.model, bar, this.view.range());
    this.item.textContent = sentence;
    this.item.setAttribute("aria-level", String(bar.level + 1));
    this.item.setAttribute("aria-posinset", String(bar.index - first + 1));
    this.item.setAttribute("aria-setsize", String(count));
    this.callbacks.onMove?.(sentence);
  }

  /** @param {Bar} bar */
  zoomTo(bar) {
    this.view.zoomTo(bar);
    this.moveTo(bar);
    this.callbacks.onZoom?.(bar);
  }

  reset() {
    this.zoomTo({ level: 0, index: 0 });
  }

  zoomOut() {
    const { level, index } = this.view.zoom;
    if (!this.model || level === 0) return;
    this.zoomTo({ level: level - 1, index: this.model.levels[level].parent[index] });
  }

  flip() {
    this.view.setOrientation(!this.view.rootAtBottom);
    this.view.select(this.view.current);
  }

  /** The bars from the root to one. @param {Bar} bar @returns {Bar[]} */
  pathTo(bar) {
    const path = [bar];
    for (let { level, index } = bar; level > 0; level--) {
      index = /** @type {Model} */ (this.model).levels[level].parent[index];
      path.unshift({ level: level - 1, index });
    }
    return path;
  }

  /** @param {Bar} bar */
  nameOf(bar) {
    const { data, levels } = /** @type {Model} */ (this.model);
    return data.names[levels[bar.level].name[bar.index]];
  }

  /**
   * Marks what a regular expression matches.
   * @param {string} text "" marks nothing
   * @returns {{value: number, places: number, problem: string}}
   */
  search(text) {
    this.hits = [];
    this.hit = -1;
    this.view.matched = null;
    const found = { value: 0, places: 0, problem: "" };
    if (this.model && text !== "") {
      try {
        const matched = matchNames(this.model.data, searchPattern(text));
        const { value, bars } = sumMatches(this.model, matched);
        this.view.matched = matched;
        this.hits = bars;
        Object.assign(found, { value, places: bars.length });
      } catch (error) {
        found.problem = error instanceof Error ? error.message : String(error);
      }
    }
    this.view.redraw();
    return found;
  }

  /** @param {number} step 1 or -1 */
  goToHit(step) {
    if (this.hits.length === 0) return;
    this.hit = (this.hit + step + this.hits.length) % this.hits.length;
    const bar = this.hits[this.hit];
    if (this.view.rectOf(bar) === null) this.view.zoom = { level: 0, index: 0 };
    this.moveTo(bar);
  }

  /** @param {MouseEvent} event */
  barUnder(event) {
    const rect = this.canvas.getBoundingClientRect();
    return this.view.nodeAt(event.clientX - rect.left, event.clientY - rect.top);
  }

  /** @param {MouseEvent} event */
  showTip(event) {
    const bar = this.model && this.barUnder(event);
    this.tip.hidden = !bar;
    if (!bar || !this.model) return;
    /** @type {[string, string][]} */
    const keys = [["Enter", "zoom"], ["Esc", "out"]];
    if (this.callbacks.onMenu) keys.splice(1, 0, ["m", "menu"]);
    this.tip.replaceChildren(...tipOf(this.model, bar, keys));
    const left = Math.min(event.clientX + 12, innerWidth - this.tip.offsetWidth - 8);
    const below = event.clientY + 18;
    const fits = below + this.tip.offsetHeight < innerHeight;
    this.tip.style.left = `${Math.max(4, left)}px`;
    this.tip.style.top = `${fits ? below : Math.max(4, event.clientY - this.tip.offsetHeight - 10)}px`;
  }

  listen() {
    this.canvas.addEventListener("click", (event) => {
      const bar = this.barUnder(event);
      if (bar) this.zoomTo(bar);
    });
    this.canvas.addEventListener("mousemove", (event) => this.showTip(event));
    this.canvas.addEventListener("mouseleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("contextmenu", (event) => {
      const bar = this.barUnder(event);
      if (!bar || !this.callbacks.onMenu) return;
      event.preventDefault();
      this.tip.hidden = true;
      this.moveTo(bar);
      this.callbacks.onMenu(bar, { x: event.clientX, y: event.clientY });
    });
    this.host.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** The bar that an arrow leads to from the current one. @param {string} key @returns {Bar | null} */
  neighbour(key) {
    const { levels } = /** @type {Model} */ (this.model);
    const { level, index } = this.view.current;
    const towardsRoot = this.view.rootAtBottom ? "ArrowDown" : "ArrowUp";
    const here = levels[level];
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const next = index + (key === "ArrowLeft" ? -1 : 1);
      return next >= 0 && next < here.count ? { level, index: next } : null;
    }
    if (key === towardsRoot) return level > 0 ? { level: level - 1, index: here.parent[index] } : null;
    const first = here.firstChild[index];
    if (first === here.firstChild[index + 1]) return null;
    // The widest child: what one looks for is below it more often than not.
    let widest = first;
    for (let child = first; child < here.firstChild[index + 1]; child++) {
      if (levels[level + 1].total[child] > levels[level + 1].total[widest]) widest = child;
    }
    return { level: level + 1, index: widest };
  }

  openMenu() {
    const rect = this.view.rectOf(this.view.current);
    if (!rect || !this.callbacks.onMenu) return;
    const box = this.canvas.getBoundingClientRect();
    this.callbacks.onMenu(this.view.current,
      { x: box.left + rect.x + 12, y: box.top + rect.y - this.host.scrollTop + rect.height });
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (!this.model || event.ctrlKey || event.metaKey || event.altKey) return;
    const current = this.view.current;
    if (event.key.startsWith("Arrow")) {
      const bar = this.neighbour(event.key);
      if (bar && this.view.rectOf(bar) === null) this.view.zoom = { level: 0, index: 0 };
      if (bar) this.moveTo(bar);
    } else if (event.key === "Enter" || event.key === " " || event.key === "+") {
      this.zoomTo(current);
    } else if (event.key === "Escape" || event.key === "-") {
      this.tip.hidden = true;
      this.zoomOut();
    } else if (event.key === "0") {
      this.reset();
    } else if (event.key === "n" || event.key === "N") {
      this.goToHit(event.key === "n" ? 1 : -1);
    } else if (event.key === "m" && this.callbacks.onMenu) {
      this.openMenu();
    } else if (!this.callbacks.onKey?.(event.key, current)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

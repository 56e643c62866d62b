// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The page: one graph with its search, table and keys; in a server also the question to its API.
// Names are other people's: they reach the page as text nodes and on the canvas, never as markup.

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
function byId(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`no ${type.name} #${id}`);
  return element;
}

const TABLE_STEP = 50;

/** One graph and what can be done with it. */
class GraphPanel {
  constructor() {
    /** @type {Model | undefined} */
    this.model = undefined;
    this.result = byId("result", HTMLElement);
    this.graph = byId("graph", HTMLDivElement);
    this.canvas = byId("canvas", HTMLCanvasElement);
    this.currentItem = byId("current", HTMLDivElement);
    this.where = byId("where", HTMLParagraphElement);
    this.tip = byId("tip", HTMLDivElement);
    this.search = byId("search", HTMLInputElement);
    this.view = new FlameView(this.graph, this.canvas, byId("space", HTMLDivElement));
    this.view.setOrientation(document.documentElement.dataset.orientation === "flame");
    this.view.onDrawn = () => this.result.setAttribute("aria-busy", "false");
    /** @type {Bar[]} */
    this.hits = [];
    this.hit = -1;
    /** @type {FunctionSum[]} */
    this.sums = [];
    this.tableLength = TABLE_STEP;
    this.onSearch = (/** @type {string} */ _text) => {};
    this.listen();
  }

  /** @param {FlameData} data */
  show(data) {
    const model = buildModel(data);
    this.model = model;
    this.sums = sumFunctions(model);
    this.tableLength = TABLE_STEP;
    this.result.hidden = false;
    byId("functions", HTMLElement).hidden = false;
    this.result.setAttribute("aria-busy", "true");
    this.view.setModel(model);
    this.describe();
    this.applySearch();
    this.moveTo(this.view.current);
    this.fillTable();
  }

  clear() {
    this.model = undefined;
    this.result.hidden = true;
    byId("functions", HTMLElement).hidden = true;
    this.view.setModel(null);
  }

  describe() {
    const data = /** @type {Model} */ (this.model).data;
    const parts = [`${describeValue(data, data.total)} of ${data.type || data.value}`];
    if (data.from_ms > 0) {
      const time = (/** @type {number} */ ms) => new Date(ms).toISOString().replace(".000", "");
      parts.push(`${time(data.from_ms)} to ${time(data.to_ms)}`);
    }
    if (data.profiles > 1) parts.push(`${formatCount(data.profiles)} profiles`);
    if (data.skipped > 0) parts.push(`${formatCount(data.skipped)} that cannot be read left out`);
    if (data.cut_nodes > 0) {
      parts.push(`${formatCount(data.cut_nodes)} smaller bars shown as 'other'`);
    }
    if (data.max_hidden) {
      parts.push(`too much to hold it all: bars of up to ${formatValue(data.max_hidden, data.unit)} may be missing`);
    }
    byId("info", HTMLParagraphElement).textContent = parts.join(" · ");
  }

  /** Name, binary, value and shares of a bar, a line each. @param {Bar} bar */
  linesOf(bar) {
    const { data, levels } = /** @type {Model} */ (this.model);
    const level = levels[bar.level];
    const name = level.name[bar.index];
    const total = level.total[bar.index];
    const self = level.self[bar.index];
    const { from, to } = this.view.range();
    const from_where = [data.modules[data.name_modules[name]], KIND_WORDS[kindOf(data, name)]];
    const lines = [data.names[name]];
    if (from_where.some(Boolean)) lines.push(from_where.filter(Boolean).join(", "));
    lines.push(`total ${formatPercent(total, data.total)}, ${describeValue(data, total)}`);
    lines.push(`self ${formatPercent(self, data.total)}, ${describeValue(data, self)}`);
    if (this.view.zoom.level > 0 && bar.level >= this.view.zoom.level) {
      lines.push(`${formatPercent(total, to - from)} of what is zoomed to`);
    }
    return lines;
  }

  /** @param {Bar} bar */
  moveTo(bar) {
    if (!this.model) return;
    this.view.select(bar);
    const lines = this.linesOf(bar);
    const level = this.model.levels[bar.level];
    let first = 0;
    let count = 1;
    if (bar.level > 0) {
      const above = this.model.levels[bar.level - 1];
      first = above.firstChild[level.parent[bar.index]];
      count = above.firstChild[level.parent[bar.index] + 1] - first;
    }
    this.currentItem.textContent = lines.join(", ");
    this.currentItem.setAttribute("aria-level", String(bar.level + 1));
    this.currentItem.setAttribute("aria-posinset", String(bar.index - first + 1));
    this.currentItem.setAttribute("aria-setsize", String(count));
    this.where.textContent = lines.join(" · ");
  }

  /** @param {Bar} bar */
  zoomTo(bar) {
    this.view.zoomTo(bar);
    this.moveTo(bar);
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

  applySearch() {
    const status = byId("matches", HTMLSpanElement);
    this.hits = [];
    this.hit = -1;
    this.view.matched = null;
    status.textContent = "";
    if (this.model && this.search.value !== "") {
      try {
        const matched = matchNames(this.model.data, searchPattern(this.search.value));
        const { value, bars } = sumMatches(this.model, matched);
        this.view.matched = matched;
        this.hits = bars;
        const share = formatPercent(value, this.model.data.total);
        status.textContent = `${share}, ${describeValue(this.model.data, value)} in ${formatCount(bars.length)} places`;
      } catch (error) {
        status.textContent = `not a regular expression: ${error instanceof Error ? error.message : error}`;
      }
    }
    this.view.redraw();
  }

  /** @param {number} step */
  goToHit(step) {
    if (this.hits.length === 0) return;
    this.hit = (this.hit + step + this.hits.length) % this.hits.length;
    const bar = this.hits[this.hit];
    if (this.view.rectOf(bar) === null) this.view.zoom = { level: 0, index: 0 };
    this.moveTo(bar);
  }

  fillTable() {
    const { data } = /** @type {Model} */ (this.model);
    const sums = this.sums;
    const rows = sums.slice(0, this.tableLength).map(({ name, self, total }) => {
      const row = document.createElement("tr");
      const texts = [formatPercent(self, data.total), formatValue(self, data.unit),
        formatPercent(total, data.total), formatValue(total, data.unit)];
      for (const text of texts) row.insertCell().textContent = text;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = data.names[name] + KIND_MARKS[kindOf(data, name)];
      button.title = "Search for it";
      button.addEventListener("click", () => this.searchFor(data.names[name]));
      row.insertCell().append(button);
      row.insertCell().textContent = baseName(data.modules[data.name_modules[name]]);
      return row;
    });
    byId("rows", HTMLTableSectionElement).replaceChildren(...rows);
    byId("longer", HTMLButtonElement).hidden = sums.length <= this.tableLength;
  }

  /** @param {string} name */
  searchFor(name) {
    this.search.value = `^${name.replace(/[\\^$.*+?()[\]{}|/-]/g, (c) => (c === "-" ? "\\x2d" : `\\${c}`))}$`;
    this.applySearch();
    this.onSearch(this.search.value);
  }

  /** @param {MouseEvent} event */
  barUnder(event) {
    const rect = this.canvas.getBoundingClientRect();
    return this.view.nodeAt(event.clientX - rect.left, event.clientY - rect.top);
  }

  /** @param {MouseEvent} event */
  showTip(event) {
    const bar = this.barUnder(event);
    this.tip.hidden = bar === null;
    if (!bar) return;
    this.tip.textContent = this.linesOf(bar).join("\n");
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
    this.graph.addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.search.focus();
    });
    this.search.addEventListener("input", () => {
      this.applySearch();
      this.onSearch(this.search.value);
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.goToHit(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") this.graph.focus();
    });
    byId("next", HTMLButtonElement).addEventListener("click", () => this.goToHit(1));
    byId("previous", HTMLButtonElement).addEventListener("click", () => this.goToHit(-1));
    byId("reset", HTMLButtonElement).addEventListener("click", () => this.zoomTo({ level: 0, index: 0 }));
    byId("flip", HTMLButtonElement).addEventListener("click", () => this.flip());
    byId("longer", HTMLButtonElement).addEventListener("click", () => {
      this.tableLength *= 2;
      this.fillTable();
    });
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

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (!this.model || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow")) {
      const bar = this.neighbour(event.key);
      if (bar && this.view.rectOf(bar) === null) this.view.zoom = { level: 0, index: 0 };
      if (bar) this.moveTo(bar);
    } else if (event.key === "Enter" || event.key === " ") {
      this.zoomTo(this.view.current);
    } else if (event.key === "Escape") {
      this.zoomOut();
    } else if (event.key === "0") {
      this.zoomTo({ level: 0, index: 0 });
    } else if (event.key === "i") {
      this.flip();
    } else if (event.key === "n" || event.key === "N") {
      this.goToHit(event.key === "n" ? 1 : -1);
    } else {
      return;
    }
    event.preventDefault();
  }
}

/** @param {string} text */
function showMessage(text) {
  const message = byId("message", HTMLParagraphElement);
  message.textContent = text;
  message.hidden = text === "";
}

function start() {
  const panel = new GraphPanel();
  // For tests and for the curious.
  Object.assign(window, { firetowerFlame: panel.view });
  const embedded = byId("data", HTMLScriptElement).textContent || "";
  if (embedded === "") {
    new Questions(panel).start();
    return;
  }
  /** @type {FlameData} */
  const data = JSON.parse(embedded);
  if (data.total > 0) panel.show(data);
  else showMessage("Nothing was recorded: the profile is empty.");
}

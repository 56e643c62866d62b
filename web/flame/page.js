// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The page of an exported file: one graph with its search and table. Names are other people's: they
// reach the page as text nodes and on the canvas, never as markup.
import { baseName, wordOf } from "./colors.js";
import { byId, make } from "./dom.js";
import { formatCount, formatShare, formatValue } from "./format.js";
import { FlameGraph } from "./graph.js";
import { buildModel, exactly, sumFunctions } from "./model.js";
import { describeValue } from "./tip.js";

/** @typedef {import("./model.js").FlameData} FlameData */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").FunctionSum} FunctionSum */

const TABLE_STEP = 50;

class FilePage {
  constructor() {
    this.search = byId("search", HTMLInputElement);
    /** @type {FlameGraph} */
    this.graph = new FlameGraph(byId("graph", HTMLDivElement), {
      onMove: (sentence) => (byId("where", HTMLParagraphElement).textContent = sentence),
      onKey: (key) => {
        if (key === "i") this.graph.flip();
        return key === "i";
      },
      onDrawn: () => byId("result", HTMLElement).setAttribute("aria-busy", "false"),
    });
    this.graph.view.setOrientation(document.documentElement.dataset.orientation === "flame");
    /** @type {FunctionSum[]} */
    this.sums = [];
    this.tableLength = TABLE_STEP;
    this.listen();
  }

  /** @param {FlameData} data */
  show(data) {
    const model = buildModel(data);
    this.sums = sumFunctions(model);
    byId("result", HTMLElement).hidden = false;
    byId("functions", HTMLElement).hidden = false;
    this.graph.show(model);
    this.describe(model);
    this.fillTable(model);
  }

  /** @param {Model} model */
  describe(model) {
    const { data } = model;
    const parts = [`${describeValue(model, data.total)} of ${data.type || data.value}`];
    if (data.from_ms > 0) {
      const time = (/** @type {number} */ ms) => new Date(ms).toISOString().replace(".000", "");
      parts.push(`${time(data.from_ms)} to ${time(data.to_ms)}`);
    }
    if (data.profiles > 1) parts.push(`${formatCount(data.profiles)} profiles`);
    if (data.skipped > 0) parts.push(`${formatCount(data.skipped)} that cannot be read left out`);
    if (data.cut_nodes > 0) parts.push(`${formatCount(data.cut_nodes)} smaller bars shown as 'other'`);
    if (data.max_hidden) {
      parts.push(`too much to hold it all: bars of up to ${formatValue(data.max_hidden, data.unit)} may be missing`);
    }
    byId("info", HTMLParagraphElement).textContent = parts.join(" · ");
  }

  applySearch() {
    const status = byId("matches", HTMLSpanElement);
    const text = this.search.value;
    const { value, places, problem } = this.graph.search(text);
    const model = this.graph.model;
    if (problem !== "") status.textContent = `not a regular expression: ${problem}`;
    else if (text === "" || !model) status.textContent = "";
    else status.textContent = `${formatShare(value, model.whole)}, ${describeValue(model, value)} in ${formatCount(places)} places`;
  }

  /** @param {Model} model */
  fillTable(model) {
    const { data } = model;
    const rows = this.sums.slice(0, this.tableLength).map(({ name, self, total }) => {
      const button = make("button", { type: "button", title: "Search for it" }, data.names[name]);
      button.addEventListener("click", () => {
        this.search.value = exactly(data.names[name]);
        this.applySearch();
      });
      const texts = [formatShare(self, data.total), formatValue(self, data.unit),
        formatShare(total, data.total), formatValue(total, data.unit)];
      return make("tr", {}, ...texts.map((text) => make("td", {}, text)), make("td", {}, button),
        make("td", {}, [baseName(data.modules[data.name_modules[name]]), wordOf(data, name)].filter(Boolean).join(" · ")));
    });
    byId("rows", HTMLTableSectionElement).replaceChildren(...rows);
    byId("longer", HTMLButtonElement).hidden = this.sums.length <= this.tableLength;
  }

  listen() {
    document.addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLInputElement;
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.search.focus();
    });
    this.search.addEventListener("input", () => this.applySearch());
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.graph.goToHit(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") this.graph.host.focus();
    });
    const press = (/** @type {string} */ id, /** @type {() => void} */ act) =>
      byId(id, HTMLButtonElement).addEventListener("click", act);
    press("next", () => this.graph.goToHit(1));
    press("previous", () => this.graph.goToHit(-1));
    press("reset", () => this.graph.reset());
    press("flip", () => this.graph.flip());
    press("longer", () => {
      this.tableLength *= 2;
      if (this.graph.model) this.fillTable(this.graph.model);
    });
  }
}

const page = new FilePage();
// For tests and for the curious.
Object.assign(window, { __flame: page.graph.view });
/** @type {FlameData} */
const data = JSON.parse(byId("data", HTMLScriptElement).textContent || "{}");
if (data.total > 0) {
  page.show(data);
} else {
  const message = byId("message", HTMLParagraphElement);
  message.textContent = "Nothing was recorded: the profile is empty.";
  message.hidden = false;
}

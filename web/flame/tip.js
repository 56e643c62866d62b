// SPDX-License-Identifier: Apache-2.0
// @ts-check
// What is told about one bar: in the box beside the pointer and, as one sentence, to a screen reader.
import { baseName, changeOf, kindOf, KIND, wordOf } from "./colors.js";
import { make } from "./dom.js";
import { formatCores, formatPoints, formatShare, formatValue } from "./format.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Bar} Bar */

/** @param {Model} model @param {number} value */
function amountOf(model, value) {
  return formatCores(model.data, value) || formatValue(value, model.data.unit);
}

/**
 * The rows of the box: a name and one text for each column of `head`.
 * @param {Model} model @param {Bar} bar @returns {{head: string[], rows: string[][]}}
 */
function rowsOf(model, bar) {
  const { data } = model;
  const level = model.levels[bar.level];
  const at = bar.index;
  if (level.a && level.b && level.aSelf && level.bSelf) {
    const row = (/** @type {string} */ name, /** @type {number} */ a, /** @type {number} */ b) =>
      [name, formatValue(a, data.unit), formatValue(b, data.unit), formatPoints(changeOf(a, b, model.wholeA || model.wholeB).points)];
    return { head: ["A", "B", "points"],
      rows: [row("Total", level.a[at], level.b[at]), row("Self", level.aSelf[at], level.bSelf[at])] };
  }
  const row = (/** @type {string} */ name, /** @type {number} */ value) => {
    const cores = formatCores(data, value);
    return [name, formatShare(value, model.whole), formatValue(value, data.unit), ...(cores === "" ? [] : [cores])];
  };
  const rows = [row("Total", level.total[at]), row("Self", level.self[at])];
  return { head: ["share", data.value, ...(rows[0].length > 3 ? ["average"] : [])], rows };
}

/** @param {Model} model @param {Bar} bar */
function placeOf(model, bar) {
  const { data } = model;
  const name = model.levels[bar.level].name[bar.index];
  const kind = kindOf(data, name);
  if (kind === KIND.total) return { module: "", word: "" };
  if (kind === KIND.other) return { module: "", word: "bars that are too small to show" };
  const more = kind === KIND.jit ? ", compiled at run time" : kind === KIND.inlined ? ", inlined" : "";
  return { module: data.modules[data.name_modules[name]], word: wordOf(data, name) + more };
}

/** The whole of it as one line. @param {Model} model @param {Bar} bar @param {{from: number, to: number}} shown */
export function sentenceOf(model, bar, shown) {
  const { data, levels } = model;
  const level = levels[bar.level];
  const name = data.names[level.name[bar.index]];
  const { module, word } = placeOf(model, bar);
  const { head, rows } = rowsOf(model, bar);
  const values = rows.map(([title, ...texts]) =>
    `${title.toLowerCase()} ${texts.map((text, i) => (model.isDiff ? `${head[i]} ${text}` : text)).join(", ")}`);
  const parts = [name, [baseName(module), word].filter(Boolean).join(", "), ...values];
  if (!model.isDiff && shown.to - shown.from < model.whole) {
    parts.push(`${formatShare(level.total[bar.index], shown.to - shown.from)} of what is zoomed to`);
  }
  return parts.filter(Boolean).join(" · ");
}

/** @param {Model} model @param {Bar} bar @param {[string, string][]} keys @returns {Node[]} */
export function tipOf(model, bar, keys) {
  const { data, levels } = model;
  const name = data.names[levels[bar.level].name[bar.index]];
  const { module, word } = placeOf(model, bar);
  const where = make("dl", { class: "where" });
  if (module !== "") where.append(make("dt", {}, "in"), make("dd", {}, module));
  if (word !== "") where.append(make("dt", {}, "is"), make("dd", {}, word));
  const { head, rows } = rowsOf(model, bar);
  const table = make("table", {},
    make("thead", {}, make("tr", {}, make("td"), ...head.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...rows.map(([title, ...texts]) =>
      make("tr", {}, make("th", { scope: "row" }, title), ...texts.map((text) => make("td", {}, text))))));
  const parts = [make("div", {}, make("div", { class: "title" }, name), where), make("div", {}, table)];
  if (keys.length > 0) {
    parts.push(make("div", { class: "keys" },
      ...keys.map(([key, what]) => make("span", {}, make("span", { class: "key" }, key), what))));
  }
  return parts;
}

/** Text for one who wants to know of cores. @param {Model} model @param {number} value */
export function describeValue(model, value) {
  const text = formatValue(value, model.data.unit);
  const amount = amountOf(model, value);
  return amount === text ? text : `${text}, ${amount}`;
}

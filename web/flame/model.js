// SPDX-License-Identifier: Apache-2.0
// @ts-check
// What a flame graph says, without a page: bars by level, search, sums by function, texts.
"use strict";

/**
 * The answer of /api/v1/flame (docs/reference/http-api.md).
 * @typedef {object} FlameData
 * @property {string} title
 * @property {string} type
 * @property {string} value
 * @property {string} unit
 * @property {number} from_ms
 * @property {number} to_ms
 * @property {number} observed_seconds
 * @property {number} profiles
 * @property {number} skipped
 * @property {number} total
 * @property {number} cut_nodes
 * @property {number} [max_hidden]
 * @property {string[]} names
 * @property {string} kinds
 * @property {number[]} name_modules
 * @property {string[]} modules
 * @property {number[][]} levels
 */

/**
 * Bars of one depth from left to right, in the value's unit. The children of bar i are the bars
 * firstChild[i] to firstChild[i + 1] - 1 of the next level.
 * @typedef {object} Level
 * @property {number} count
 * @property {Float64Array} x
 * @property {Float64Array} total
 * @property {Float64Array} self
 * @property {Int32Array} name
 * @property {Int32Array} parent
 * @property {Int32Array} firstChild
 */

/** @typedef {{data: FlameData, levels: Level[], colors: string[]}} Model */
/** @typedef {{level: number, index: number}} Bar */
/** @typedef {{name: number, self: number, total: number}} FunctionSum */

const KIND = { user: 0, kernel: 1, jit: 2, inlined: 3, total: 4, other: 5 };
const KIND_MARKS = ["", " [k]", " [j]", " [i]", "", ""];
const KIND_WORDS = ["", "kernel", "JIT", "inlined", "", ""];

// 24 hues as light as each other, black is readable on them; profile/flame/flame.cc has the same.
const COLORS = [
  "#e59e9e", "#e5b09e", "#e5c19e", "#e5d39e", "#e5e59e", "#d3e59e", "#c1e59e", "#b0e59e",
  "#9ee59e", "#9ee5b0", "#9ee5c1", "#9ee5d3", "#9ee5e5", "#9ed3e5", "#9ec1e5", "#9eb0e5",
  "#9e9ee5", "#b09ee5", "#c19ee5", "#d39ee5", "#e59ee5", "#e59ed3", "#e59ec1", "#e59eb0",
];
const KERNEL_COLOR = "#b4bfd1";
const PLAIN_COLOR = "#d0d0d0";

/** @param {string} path */
function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

/**
 * The colour of everything of one binary; FNV-1a over the UTF-8 of the file's name.
 * @param {string} module
 * @param {number} kind
 */
function colorOf(module, kind) {
  if (kind === KIND.kernel) return KERNEL_COLOR;
  if (kind === KIND.total || kind === KIND.other) return PLAIN_COLOR;
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(baseName(module))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return COLORS[hash % COLORS.length];
}

/** @param {FlameData} data @param {number} name */
function kindOf(data, name) {
  return data.kinds.charCodeAt(name) - 48;
}

/**
 * Four numbers a bar (x as the distance from the end of the bar before, total, self, name) become
 * columns. A parent is found by the child's middle: sums beyond 2^53 are rounded.
 * @param {number[]} flat
 * @param {Level | undefined} above
 * @returns {Level}
 */
function decodeLevel(flat, above) {
  const count = Math.floor(flat.length / 4);
  const level = {
    count,
    x: new Float64Array(count),
    total: new Float64Array(count),
    self: new Float64Array(count),
    name: new Int32Array(count),
    parent: new Int32Array(count),
    firstChild: new Int32Array(count + 1),
  };
  let end = 0;
  let parent = 0;
  for (let i = 0; i < count; i++) {
    level.x[i] = end + flat[4 * i];
    level.total[i] = flat[4 * i + 1];
    level.self[i] = flat[4 * i + 2];
    level.name[i] = flat[4 * i + 3];
    end = level.x[i] + level.total[i];
    if (!above) continue;
    const middle = level.x[i] + level.total[i] / 2;
    while (parent + 1 < above.count && above.x[parent] + above.total[parent] <= middle) parent++;
    level.parent[i] = parent;
    above.firstChild[parent + 1]++;
  }
  if (above) {
    for (let i = 0; i < above.count; i++) above.firstChild[i + 1] += above.firstChild[i];
  }
  return level;
}

/** @param {FlameData} data @returns {Model} */
function buildModel(data) {
  /** @type {Level[]} */
  const levels = [];
  for (const flat of data.levels) levels.push(decodeLevel(flat, levels[levels.length - 1]));
  const colors = data.names.map((_, i) =>
    colorOf(data.modules[data.name_modules[i]], kindOf(data, i)));
  return { data, levels, colors };
}

/**
 * The first bar of a level that ends after the value `at`.
 * @param {Level} level
 * @param {number} at
 */
function firstBarAfter(level, at) {
  let low = 0;
  let high = level.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (level.x[middle] + level.total[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The bar of a level that covers the value `at`, or -1.
 * @param {Level} level
 * @param {number} at
 */
function barAt(level, at) {
  const index = firstBarAfter(level, at);
  return index < level.count && level.x[index] <= at ? index : -1;
}

/**
 * A regular expression; letters match both cases unless one of them is a capital.
 * @param {string} text
 * @returns {RegExp}
 */
function searchPattern(text) {
  return new RegExp(text, /\p{Lu}/u.test(text) ? "u" : "iu");
}

/**
 * Which names match; `total` and `other` are no functions.
 * @param {FlameData} data
 * @param {RegExp} pattern
 */
function matchNames(data, pattern) {
  const matched = new Uint8Array(data.names.length);
  for (let i = 0; i < matched.length; i++) {
    const kind = kindOf(data, i);
    if (kind === KIND.total || kind === KIND.other) continue;
    matched[i] = pattern.test(data.names[i]) ? 1 : 0;
  }
  return matched;
}

/**
 * The value of all stacks in which a name matches: a match below a match counts once.
 * @param {Model} model
 * @param {Uint8Array} matched
 * @returns {{value: number, bars: Bar[]}}
 */
function sumMatches(model, matched) {
  let value = 0;
  /** @type {Bar[]} */
  const bars = [];
  let covered = new Uint8Array(0);
  model.levels.forEach((level, depth) => {
    const here = new Uint8Array(level.count);
    for (let i = 0; i < level.count; i++) {
      const above = depth > 0 && covered[level.parent[i]] === 1;
      const hit = matched[level.name[i]] === 1;
      here[i] = above || hit ? 1 : 0;
      if (!hit) continue;
      bars.push({ level: depth, index: i });
      if (!above) value += level.total[i];
    }
    covered = here;
  });
  return { value, bars };
}

/**
 * Self and total of each name; a function that calls itself counts once. By self, falling.
 * @param {Model} model
 * @returns {FunctionSum[]}
 */
function sumFunctions(model) {
  const count = model.data.names.length;
  const self = new Float64Array(count);
  const total = new Float64Array(count);
  const open = new Int32Array(count);  // how often a name is on the way to where we are
  const cursor = [0];
  const end = [model.levels.length > 0 ? 1 : 0];
  let depth = 0;
  while (depth >= 0) {
    const index = cursor[depth];
    if (index === end[depth]) {
      depth--;
      if (depth >= 0) open[model.levels[depth].name[cursor[depth]++]]--;
      continue;
    }
    const level = model.levels[depth];
    const name = level.name[index];
    self[name] += level.self[index];
    if (open[name]++ === 0) total[name] += level.total[index];
    depth++;
    cursor[depth] = level.firstChild[index];
    end[depth] = level.firstChild[index + 1];
  }
  /** @type {FunctionSum[]} */
  const sums = [];
  for (let name = 0; name < count; name++) {
    if (kindOf(model.data, name) === KIND.total) continue;
    sums.push({ name, self: self[name], total: total[name] });
  }
  return sums.sort((a, b) => b.self - a.self || b.total - a.total || a.name - b.name);
}

/**
 * The first and last characters with "…" between, as in the SVG; "" below three.
 * @param {string} text
 * @param {number} room
 */
function cutMiddle(text, room) {
  if (room < 3) return "";
  if (text.length <= room) return text;
  const chars = Array.from(text);
  if (chars.length <= room) return text;
  const tail = Math.floor((room - 1) / 2);
  return chars.slice(0, room - 1 - tail).join("") + "…" + chars.slice(chars.length - tail).join("");
}

/** @param {number} count */
function formatCount(count) {
  return Math.round(count).toLocaleString("en-US");
}

/** @param {number} value @param {string} unit */
function formatValue(value, unit) {
  /** @type {[number, string][]} */
  const times = [[3600e9, "h"], [60e9, "m"], [1e9, "s"], [1e6, "ms"], [1e3, "us"]];
  /** @type {[number, string][]} */
  const sizes = [[2 ** 40, " TiB"], [2 ** 30, " GiB"], [2 ** 20, " MiB"], [2 ** 10, " KiB"]];
  const scales = unit === "nanoseconds" ? times : unit === "bytes" ? sizes : [];
  for (const [at, [size, suffix]] of scales.entries()) {
    // By what is shown: 999.96 ms are 1.0s.
    const shown = at + 1 < scales.length ? scales[at + 1][0] / 10 : 1;
    if (Math.abs(value) >= size - shown / 2) return (value / size).toFixed(1) + suffix;
  }
  if (unit === "nanoseconds") return `${value.toFixed(0)}ns`;
  return unit === "bytes" ? `${value.toFixed(0)} B` : formatCount(value);
}

/** @param {number} part @param {number} whole */
function formatPercent(part, whole) {
  const percent = whole > 0 ? (100 * part) / whole : 0;
  return `${percent.toFixed(percent >= 10 ? 1 : 2)} %`;
}

/**
 * Value, and where it is CPU time over a known time the cores that it is.
 * @param {FlameData} data
 * @param {number} value
 */
function describeValue(data, value) {
  const text = formatValue(value, data.unit);
  if (data.value !== "cpu" || data.unit !== "nanoseconds" || !(data.observed_seconds > 0)) return text;
  return `${text}, ${Number((value / 1e9 / data.observed_seconds).toPrecision(3))} cores`;
}

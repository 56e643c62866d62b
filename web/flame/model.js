// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Computes what a flame graph shows, without a page: bars by level, search, sums by function.
import { KIND, kindOf } from "./colors.js";

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
 * @property {string} [domains] a letter a name; not in files that were exported
 * @property {number} [base_total] of a comparison: the whole of what is compared with
 * @property {number} [base_observed_seconds]
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
 * @property {Float64Array} [a] of a comparison: the bar's total in the base
 * @property {Float64Array} [b] and on the other side
 * @property {Float64Array} [aSelf]
 * @property {Float64Array} [bSelf]
 */

/** @typedef {"a" | "b" | "both"} Widths the side whose values are a comparison's widths */

/** @typedef {{data: FlameData, levels: Level[], whole: number, isDiff: boolean, wholeA: number, wholeB: number}} Model */
/** @typedef {{level: number, index: number}} Bar */
/** @typedef {{name: number, self: number, total: number, selfA: number, totalA: number}} FunctionSum */

/** @param {number} count @returns {Level} */
function emptyLevel(count) {
  return {
    count,
    x: new Float64Array(count),
    total: new Float64Array(count),
    self: new Float64Array(count),
    name: new Int32Array(count),
    parent: new Int32Array(count),
    firstChild: new Int32Array(count + 1),
  };
}

/**
 * Links a level with the one above. A parent is found by the child's middle: sums beyond 2^53 are
 * rounded.
 * @param {Level} level @param {Level} above
 */
function link(level, above) {
  let parent = 0;
  for (let i = 0; i < level.count; i++) {
    const middle = level.x[i] + level.total[i] / 2;
    while (parent + 1 < above.count && above.x[parent] + above.total[parent] <= middle) parent++;
    level.parent[i] = parent;
    above.firstChild[parent + 1]++;
  }
  for (let i = 0; i < above.count; i++) above.firstChild[i + 1] += above.firstChild[i];
}

/**
 * Four numbers a bar (x as the distance from the end of the bar before, total, self, name) become
 * columns.
 * @param {number[]} flat @returns {Level}
 */
function decodeLevel(flat) {
  const level = emptyLevel(Math.floor(flat.length / 4));
  let end = 0;
  for (let i = 0; i < level.count; i++) {
    level.x[i] = end + flat[4 * i];
    level.total[i] = flat[4 * i + 1];
    level.self[i] = flat[4 * i + 2];
    level.name[i] = flat[4 * i + 3];
    end = level.x[i] + level.total[i];
  }
  return level;
}

/**
 * Seven numbers a bar: x, total and self of the base, the same of the other side, and the name. The
 * base's values are multiplied by `scale`.
 * @param {number[]} flat @param {number} scale @returns {{level: Level, xA: Float64Array, xB: Float64Array}}
 */
function decodePairs(flat, scale) {
  const count = Math.floor(flat.length / 7);
  const level = emptyLevel(count);
  const [a, b, aSelf, bSelf, xA, xB] = Array.from({ length: 6 }, () => new Float64Array(count));
  let endA = 0;
  let endB = 0;
  for (let i = 0; i < count; i++) {
    xA[i] = endA + flat[7 * i];
    endA = xA[i] + flat[7 * i + 1];
    xA[i] *= scale;
    a[i] = flat[7 * i + 1] * scale;
    aSelf[i] = flat[7 * i + 2] * scale;
    xB[i] = endB + flat[7 * i + 3];
    b[i] = flat[7 * i + 4];
    bSelf[i] = flat[7 * i + 5];
    endB = xB[i] + b[i];
    level.name[i] = flat[7 * i + 6];
  }
  return { level: { ...level, a, b, aSelf, bSelf }, xA, xB };
}

/** @param {Level} level @param {Float64Array} xA @param {Float64Array} xB @param {Widths} widths */
function widen(level, xA, xB, widths) {
  const { a, b, aSelf, bSelf } = level;
  if (!a || !b || !aSelf || !bSelf) return;
  for (let i = 0; i < level.count; i++) {
    const [shareA, shareB] = widths === "both" ? [0.5, 0.5] : widths === "a" ? [1, 0] : [0, 1];
    level.x[i] = xA[i] * shareA + xB[i] * shareB;
    level.total[i] = a[i] * shareA + b[i] * shareB;
    level.self[i] = aSelf[i] * shareA + bSelf[i] * shareB;
  }
}

/**
 * @param {FlameData} data
 * @param {{widths?: Widths, normalize?: boolean}} [options] of a comparison; `normalize` scales the base to the other side's total
 * @returns {Model}
 */
export function buildModel(data, options = {}) {
  const isDiff = data.base_total !== undefined;
  const wholeB = data.total;
  const base = data.base_total || 0;
  const scale = isDiff && options.normalize && base > 0 && wholeB > 0 ? wholeB / base : 1;
  /** @type {Level[]} */
  const levels = [];
  /** @type {[Float64Array, Float64Array][]} */
  const sides = [];
  for (const flat of data.levels) {
    const pairs = isDiff ? decodePairs(flat, scale) : null;
    const level = pairs ? pairs.level : decodeLevel(flat);
    if (pairs) {
      // Parents are found while every bar has a width.
      widen(level, pairs.xA, pairs.xB, "both");
      sides.push([pairs.xA, pairs.xB]);
    }
    if (levels.length > 0) link(level, levels[levels.length - 1]);
    levels.push(level);
  }
  sides.forEach(([xA, xB], at) => widen(levels[at], xA, xB, options.widths || "both"));
  return { data, levels, whole: levels.length > 0 ? levels[0].total[0] : 0, isDiff, wholeA: base * scale, wholeB };
}

/**
 * The first bar of a level that ends after the value `at`.
 * @param {Level} level
 * @param {number} at
 */
export function firstBarAfter(level, at) {
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
export function barAt(level, at) {
  const index = firstBarAfter(level, at);
  return index < level.count && level.x[index] <= at ? index : -1;
}

/**
 * A regular expression; letters match both cases unless one of them is a capital.
 * @param {string} text
 * @returns {RegExp}
 */
export function searchPattern(text) {
  return new RegExp(text, /\p{Lu}/u.test(text) ? "u" : "iu");
}

/**
 * A regular expression that matches a name as it stands, and nothing else; as RE2 and JavaScript read it.
 * @param {string} name
 */
export function exactly(name) {
  return `^${name.replace(/[\\^$.*+?()[\]{}|/-]/g, (c) => (c === "-" ? "\\x2d" : `\\${c}`))}$`;
}

/**
 * Which names match; `total` and `other` are no functions.
 * @param {FlameData} data
 * @param {RegExp} pattern
 */
export function matchNames(data, pattern) {
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
export function sumMatches(model, matched) {
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
 * Self and total of each name; a function that calls itself counts once. By self, falling. In a
 * comparison they are the other side's, and the base's stand beside them.
 * @param {Model} model
 * @returns {FunctionSum[]}
 */
export function sumFunctions(model) {
  const count = model.data.names.length;
  const self = new Float64Array(count);
  const total = new Float64Array(count);
  const selfA = new Float64Array(count);
  const totalA = new Float64Array(count);
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
    self[name] += (level.bSelf || level.self)[index];
    if (level.aSelf) selfA[name] += level.aSelf[index];
    if (open[name]++ === 0) {
      total[name] += (level.b || level.total)[index];
      if (level.a) totalA[name] += level.a[index];
    }
    depth++;
    cursor[depth] = level.firstChild[index];
    end[depth] = level.firstChild[index + 1];
  }
  /** @type {FunctionSum[]} */
  const sums = [];
  for (let name = 0; name < count; name++) {
    if (kindOf(model.data, name) === KIND.total) continue;
    sums.push({ name, self: self[name], total: total[name], selfA: selfA[name], totalA: totalA[name] });
  }
  return sums.sort((a, b) => b.self - a.self || b.total - a.total || a.name - b.name);
}

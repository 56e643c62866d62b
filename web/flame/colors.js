// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Tells whose code a bar is and how it is filled: the colours themselves are the tokens of web/tokens.css.

/** @typedef {import("./model.js").FlameData} FlameData */

export const KIND = { user: 0, kernel: 1, jit: 2, inlined: 3, total: 4, other: 5 };

/** The letters of `domains` in /api/v1/flame, with the names that tokens and readers have for them. */
export const DOMAINS = {
  a: { token: "app", word: "application" },
  r: { token: "runtime", word: "runtime" },
  l: { token: "lib", word: "library" },
  k: { token: "kernel", word: "kernel" },
  u: { token: "unknown", word: "unknown" },
};
/** @typedef {keyof typeof DOMAINS} Domain */

/** @param {FlameData} data @param {number} name */
export function kindOf(data, name) {
  return data.kinds.charCodeAt(name) - 48;
}

/**
 * Files that were exported have no domains: then privilege, and whether there is a name, must do.
 * @param {FlameData} data @param {number} name
 * @returns {Domain}
 */
export function domainOf(data, name) {
  const given = data.domains?.[name];
  if (given && given in DOMAINS) return /** @type {Domain} */ (given);
  if (kindOf(data, name) === KIND.kernel) return "k";
  return data.modules[data.name_modules[name]] === "" ? "u" : "a";
}

/** Whose code a name is, where that is known. @param {FlameData} data @param {number} name */
export function wordOf(data, name) {
  const domain = domainOf(data, name);
  return data.domains || domain === "k" || domain === "u" ? DOMAINS[domain].word : "";
}

/** @param {string} path */
export function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** FNV-1a over the UTF-8 of the file's name, which is the same in every image. @param {string} module */
export function hueOf(module) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(baseName(module))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash % 24;
}

/**
 * The token of a name's fill.
 * @param {FlameData} data @param {number} name @param {"module" | "domain"} by
 */
export function fillOf(data, name, by) {
  const kind = kindOf(data, name);
  if (kind === KIND.total || kind === KIND.other) return "--frame-root";
  const domain = domainOf(data, name);
  if (by === "domain" || domain === "k" || domain === "u") return `--frame-${DOMAINS[domain].token}`;
  return `--module-${hueOf(data.modules[data.name_modules[name]])}`;
}

/**
 * How much a bar changed: points of the whole base, and how strongly that is drawn, 0 to 4.
 * @param {number} a @param {number} b @param {number} whole
 */
export function changeOf(a, b, whole) {
  const points = whole > 0 ? ((b - a) / whole) * 100 : 0;
  const size = Math.abs(points);
  const strength = size < 0.1 ? 0 : size < 0.5 ? 1 : size < 2 ? 2 : size < 5 ? 3 : 4;
  return { points, strength, token: strength === 0 ? "--diff-same" : `--diff-${points < 0 ? "less" : "more"}-${strength}` };
}

/** The tokens of a page as its theme has them now. */
export class Palette {
  /** @param {Element} element any of the page */
  constructor(element) {
    this.element = element;
    /** @type {Map<string, string>} */
    this.known = new Map();
    this.style = getComputedStyle(element);
  }

  /** The theme changed. */
  refresh() {
    this.known.clear();
    this.style = getComputedStyle(this.element);
  }

  /** @param {string} token */
  get(token) {
    let value = this.known.get(token);
    if (value === undefined) {
      value = this.style.getPropertyValue(token).trim();
      this.known.set(token, value);
    }
    return value;
  }
}

// SPDX-License-Identifier: Apache-2.0
// @ts-check
// What of a function's name fits: packages go first, then types, then what stands in < >; what is left
// is cut at its end.

/** @typedef {{prefix: string, main: string, last: string}} NameParts */

/** @param {string} name @returns {string[]} at "::" outside of < > */
function scopesOf(name) {
  const parts = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < name.length; i++) {
    if (name[i] === "<") depth++;
    if (name[i] === ">" && depth > 0) depth--;
    if (depth > 0 || name[i] !== ":" || name[i + 1] !== ":") continue;
    parts.push(name.slice(start, i));
    start = i + 2;
    i++;
  }
  parts.push(name.slice(start));
  return parts;
}

/**
 * A package or namespace, what is left without it, and the function alone.
 * @param {string} name @returns {NameParts}
 */
export function splitName(name) {
  const whole = { prefix: "", main: name, last: name };
  if (name === "" || name.startsWith("[") || name.startsWith("*")) return whole;
  const split = (/** @type {string} */ main, /** @type {string} */ last) =>
    ({ prefix: name.slice(0, name.length - main.length), main, last: last || main });
  // Parameters may name any scope.
  const bare = name.includes("::") ? name.replace(/\(.*$/, "") : name;
  if (bare.includes("::")) {
    const scopes = scopesOf(bare);
    const kept = scopes.slice(-2).join("::").length + (name.length - bare.length);
    return split(name.slice(name.length - kept), scopes[scopes.length - 1]);
  }
  const tail = name.slice(name.lastIndexOf("/") + 1);
  // Go's import paths; in lower case without a path, too.
  if (tail !== name || tail.includes("(*") || /^[a-z0-9_]+\.[A-Za-z]\w*$/.test(tail)) {
    const main = tail.slice(tail.indexOf(".") + 1);
    return split(main, main.slice(main.lastIndexOf(".") + 1));
  }
  const words = name.split(".");
  const type = words.findIndex((word) => /^[A-Z]/.test(word));
  if (words.length > 2 && type > 0) return split(words.slice(type).join("."), words[words.length - 1]);
  return whole;
}

/**
 * The label of a bar with room for so many characters. Four letters or digits stand before the "…",
 * or there is none. A surrogate pair is not cut in two.
 * @param {string} name @param {number} room @returns {{prefix: string, text: string}}
 */
export function labelFor(name, room) {
  if (room < 1) return { prefix: "", text: "" };
  const { prefix, main, last } = splitName(name);
  if (prefix !== "" && prefix.length + main.length <= room) return { prefix, text: main };
  const short = last.replace(/<.*>/, "");
  for (const form of [main, main.replace(/<.*>/, ""), short]) {
    if (form !== "" && form.length <= room) return { prefix: "", text: form };
  }
  const cut = Array.from(short.slice(0, room + 1)).slice(0, room - 1).join("");
  return { prefix: "", text: cut.replace(/[^\p{L}\p{N}]/gu, "").length >= 4 ? `${cut}…` : "" };
}

// SPDX-License-Identifier: Apache-2.0
// The rules of web/flame, on graphs that are small enough to add up by hand.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const from = (name) => import(join(process.env.FIRETOWER_WEB_SOURCES, "flame", name));
const model = await from("model.js");
const { changeOf, domainOf, fillOf, hueOf } = await from("colors.js");
const { labelFor, splitName } = await from("names.js");
const format = await from("format.js");

// total 100: main 99 (serve 95 (encode 30, parse 60, itself 5), idle 4), start 1.
// Each level is x, total, self, name, of which x counts from the end of the bar before.
const shop = {
  title: "", type: "cpu", value: "cpu", unit: "nanoseconds", from_ms: 0, to_ms: 0,
  observed_seconds: 0, profiles: 1, skipped: 0, total: 100, cut_nodes: 0,
  names: ["total", "main", "start", "idle", "serve", "encode", "parse"],
  kinds: "4000001", name_modules: [0, 1, 1, 1, 1, 1, 2], modules: ["", "/bin/app", "[kernel.kallsyms]"],
  levels: [[0, 100, 0, 0], [0, 99, 0, 1, 0, 1, 1, 2], [0, 4, 4, 3, 0, 95, 5, 4],
    [4, 30, 30, 5, 0, 60, 60, 6]],
};

// main calls f calls g calls f: a function below itself.
const recursion = {
  ...shop, total: 10, names: ["total", "main", "f", "g"], kinds: "4000", name_modules: [0, 1, 1, 1],
  levels: [[0, 10, 0, 0], [0, 10, 1, 1], [0, 9, 2, 2], [0, 7, 3, 3], [0, 4, 4, 2]],
};

const plain = (/** @type {unknown} */ value) => JSON.parse(JSON.stringify(value));

test("levels become columns with their parents and children", () => {
  const { levels } = model.buildModel(shop);
  assert.deepEqual(Array.from(levels[2].x), [0, 4]);
  assert.deepEqual(Array.from(levels[3].x), [4, 34]);
  assert.deepEqual(Array.from(levels[3].parent), [1, 1]);
  assert.deepEqual(Array.from(levels[1].firstChild), [0, 2, 2]);
  assert.deepEqual(Array.from(levels[2].firstChild), [0, 0, 2]);
  assert.deepEqual(Array.from(levels[3].firstChild), [0, 0, 0]);
});

test("a point finds its bar, and a gap none", () => {
  const { levels } = model.buildModel(shop);
  assert.deepEqual([0, 3.9, 4, 33.9, 34, 93.9, 94].map((at) => model.barAt(levels[3], at)),
    [-1, -1, 0, 0, 1, 1, -1]);
  assert.deepEqual([0, 4, 34, 94].map((at) => model.firstBarAfter(levels[3], at)), [0, 0, 1, 2]);
});

test("sums beyond 2^53 still find their parents", () => {
  const unit = 2 ** 60;
  const scaled = { ...shop, total: 100 * unit,
    levels: shop.levels.map((level) => level.map((n, i) => (i % 4 === 3 ? n : n * unit))) };
  const { levels } = model.buildModel(scaled);
  assert.deepEqual(Array.from(levels[3].parent), [1, 1]);
});

test("a match below a match counts once", () => {
  const sum = (/** @type {string} */ text) => {
    const built = model.buildModel(shop);
    const { value, bars } = model.sumMatches(built, model.matchNames(shop, model.searchPattern(text)));
    return [value, bars.length];
  };
  assert.deepEqual(sum("serve|parse"), [95, 2]);
  assert.deepEqual(sum("parse|idle"), [64, 2]);
  assert.deepEqual(sum("^main$"), [99, 1]);
  assert.deepEqual(sum("total"), [0, 0]);
  assert.deepEqual(sum("PARSE"), [0, 0]);
  assert.deepEqual(sum("t"), [1, 1]);
  assert.throws(() => model.searchPattern("("));
  const built = model.buildModel(recursion);
  const matched = model.matchNames(recursion, model.searchPattern("^f$"));
  assert.equal(model.sumMatches(built, matched).value, 9);
});

test("a function below itself counts once in its total", () => {
  const sums = plain(model.sumFunctions(model.buildModel(recursion)));
  const a = { selfA: 0, totalA: 0 };
  assert.deepEqual(sums, [{ name: 2, self: 6, total: 9, ...a }, { name: 3, self: 3, total: 7, ...a },
    { name: 1, self: 1, total: 10, ...a }]);
});

test("a stack of 100,000 frames is summed without recursion", () => {
  const deep = { ...shop, total: 1, names: ["total", "f"], kinds: "40", name_modules: [0, 1],
    levels: [[0, 1, 0, 0], ...Array.from({ length: 100_000 }, (_, i) => [0, 1, i === 99_999 ? 1 : 0, 1])] };
  assert.deepEqual(plain(model.sumFunctions(model.buildModel(deep))), [{ name: 1, self: 1, total: 1, selfA: 0, totalA: 0 }]);
});

// The base: main 40 (serve 30, gone 10); the other side: main 60 (serve 50, fresh 10).
const pair = {
  ...shop, total: 60, base_total: 40, names: ["total", "main", "fresh", "gone", "serve"], kinds: "40000", name_modules: [0, 1, 1, 1, 1],
  levels: [[0, 40, 0, 0, 60, 0, 0], [0, 40, 0, 0, 60, 0, 1],
    [0, 0, 0, 0, 10, 10, 2, 0, 10, 10, 0, 0, 0, 3, 0, 30, 30, 0, 50, 50, 4]],
};

test("a comparison has both sides of each bar, in the widths that are asked for", () => {
  const level = (options) => model.buildModel(pair, options).levels[2];
  assert.deepEqual(Array.from(level({}).a), [0, 10, 30]);
  assert.deepEqual(Array.from(level({}).b), [10, 0, 50]);
  assert.deepEqual(Array.from(level({}).x), [0, 5, 10]);
  assert.deepEqual(Array.from(level({}).total), [5, 5, 40]);
  assert.deepEqual(Array.from(level({ widths: "a" }).total), [0, 10, 30]);
  assert.deepEqual(Array.from(level({ widths: "b" }).x), [0, 10, 10]);
  assert.deepEqual(Array.from(level({}).parent), [0, 0, 0]);
  const sums = plain(model.sumFunctions(model.buildModel(pair)));
  assert.deepEqual(sums.find((sum) => sum.name === 4), { name: 4, self: 50, total: 50, selfA: 30, totalA: 30 });
});

test("a base that is scaled to the other side's total compares shares", () => {
  const built = model.buildModel(pair, { normalize: true });
  assert.equal(built.wholeA, 60);
  assert.deepEqual(Array.from(built.levels[2].a), [0, 15, 45]);
});

test("changes are points of the base, in four steps", () => {
  assert.deepEqual(changeOf(30, 50, 40), { points: 50, strength: 4, token: "--diff-more-4" });
  assert.equal(changeOf(10, 9.7, 40).token, "--diff-less-2");
  assert.equal(changeOf(10, 10.02, 40).token, "--diff-same");
  assert.equal(changeOf(0, 1, 0).strength, 0);
});

test("a label steps down before it is cut, and is cut at its end", () => {
  const label = (name, room) => {
    const { prefix, text } = labelFor(name, room);
    return prefix + text;
  };
  const name = "search::PostingList::Intersect<search::BlockMax>";
  assert.equal(label(name, 48), name);
  assert.equal(label(name, 47), "PostingList::Intersect<search::BlockMax>");
  assert.equal(label(name, 22), "PostingList::Intersect");
  assert.equal(label(name, 9), "Intersect");
  assert.equal(label(name, 8), "Interse…");
  assert.equal(label(name, 4), "");
  assert.equal(label("github.com/google/btree.(*BTree).Ascend", 20), "(*BTree).Ascend");
  assert.equal(label("com.shop.checkout.PriceRules.evaluate", 20), "PriceRules.evaluate");
  assert.equal(label("runtime.scanobject", 10), "scanobject");
  assert.equal(label("f(std::string const&)", 60), "f(std::string const&)");
  assert.equal(label("[chromium]+0x1234", 6), "[chrom…".slice(0, 5) + "…");
  assert.deepEqual(splitName(""), { prefix: "", main: "", last: "" });
  for (let room = 0; room < 60; room++) {
    for (const one of [name, "😀😁😂🤣😃", "<<<::", "a::<b", "::", "<", "operator<", "x".repeat(65536)]) {
      assert.ok(label(one, room).length <= Math.max(room, 0), `${one.slice(0, 20)} in ${room}`);
    }
  }
});

test("values have their units, which do not break from them", () => {
  const plainSpaces = (text) => text.replace(/\u00a0/g, " ");
  const value = (...args) => plainSpaces(format.formatValue(...args));
  assert.equal(value(12_345_678_901, "nanoseconds"), "12.3 s");
  assert.equal(value(999_400_000, "nanoseconds"), "999 ms");
  assert.equal(value(999_960_000, "nanoseconds"), "1.00 s");
  assert.equal(value(1999, "nanoseconds"), "2.00 µs");
  assert.equal(value(310e9, "nanoseconds"), "5 min 10 s");
  assert.equal(value(2835e9, "nanoseconds"), "47 min 15 s");
  assert.equal(value(7200e9, "nanoseconds"), "2 h");
  assert.equal(value(421_888, "bytes"), "412 KiB");
  assert.equal(value(0, "bytes"), "0 B");
  assert.equal(value(1234, "count"), "1,234");
  const share = (...args) => plainSpaces(format.formatShare(...args));
  assert.deepEqual([share(1, 3), share(1, 3000), share(0, 0), share(0, 1)], ["33.3 %", "<0.1 %", "0.0 %", "0.0 %"]);
  assert.deepEqual([format.formatPoints(1.25), format.formatPoints(-3), format.formatPoints(0.01)], ["+1.3", "−3.0", "±0.0"]);
  assert.equal(plainSpaces(format.formatCores({ value: "cpu", unit: "nanoseconds", observed_seconds: 60 }, 58_980_000_000)), "0.983 cores");
  assert.equal(format.formatCores(shop, 1), "");
});

test("a binary has one colour, wherever it lies; the kernel and the unknown have theirs", () => {
  assert.equal(hueOf("/lib/libc.so.6"), hueOf("/usr/lib/libc.so.6"));
  assert.equal(hueOf("/bin/a"), 4);  // FNV-1a of "a" is 0xe40c292c
  assert.equal(fillOf(shop, 6, "module"), "--frame-kernel");
  assert.equal(fillOf(shop, 0, "module"), "--frame-root");
  assert.equal(domainOf(shop, 6), "k");
  const named = { ...shop, domains: "-arluaa" };
  assert.equal(fillOf(named, 2, "domain"), "--frame-runtime");
  assert.equal(fillOf(named, 4, "module"), "--frame-unknown");
});

test("the two dark blocks of the tokens say the same", () => {
  const css = readFileSync(join(process.env.FIRETOWER_WEB_SOURCES, "tokens.css"), "utf8");
  const tokens = (text) => [...text.matchAll(/^\s*(--[\w-]+: [^;]+);/gm)].map(([, token]) => token);
  const [bySystem, byChoice] = css.slice(css.indexOf("@media (prefers-color-scheme: dark)")).split(':root[data-theme="dark"]');
  assert.ok(tokens(bySystem).length > 100);
  assert.deepEqual(tokens(byChoice.slice(0, byChoice.indexOf("}"))), tokens(bySystem));
});

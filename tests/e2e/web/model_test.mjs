// SPDX-License-Identifier: Apache-2.0
// What web/flame/model.js says of graphs that are small enough to add up by hand.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import vm from "node:vm";

const names = ["buildModel", "barAt", "firstBarAfter", "searchPattern", "matchNames", "sumMatches",
  "sumFunctions", "cutMiddle", "formatValue", "formatPercent", "describeValue", "colorOf", "KIND"];
const source = readFileSync(join(process.env.FIRETOWER_WEB_SOURCES, "model.js"), "utf8");
const model = vm.runInNewContext(`${source}\n({${names.join(",")}})`, { TextEncoder });

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
  assert.deepEqual(sums, [{ name: 2, self: 6, total: 9 }, { name: 3, self: 3, total: 7 },
    { name: 1, self: 1, total: 10 }]);
});

test("a stack of 100,000 frames is summed without recursion", () => {
  const deep = { ...shop, total: 1, names: ["total", "f"], kinds: "40", name_modules: [0, 1],
    levels: [[0, 1, 0, 0], ...Array.from({ length: 100_000 }, (_, i) => [0, 1, i === 99_999 ? 1 : 0, 1])] };
  assert.deepEqual(plain(model.sumFunctions(model.buildModel(deep))), [{ name: 1, self: 1, total: 1 }]);
});

test("texts are cut in the middle, by whole characters", () => {
  assert.equal(model.cutMiddle("abcdefgh", 8), "abcdefgh");
  assert.equal(model.cutMiddle("abcdefgh", 7), "abc…fgh");
  assert.equal(model.cutMiddle("abcdefgh", 3), "a…h");
  assert.equal(model.cutMiddle("abcdefgh", 2), "");
  assert.equal(model.cutMiddle("😀😁😂🤣😃", 4), "😀😁…😃");
});

test("values have their units", () => {
  assert.equal(model.formatValue(12_345_678_901, "nanoseconds"), "12.3s");
  assert.equal(model.formatValue(999_949_999, "nanoseconds"), "999.9ms");
  assert.equal(model.formatValue(999_960_000, "nanoseconds"), "1.0s");
  assert.equal(model.formatValue(999.6, "nanoseconds"), "1.0us");
  assert.equal(model.formatValue(1_048_570, "bytes"), "1.0 MiB");
  assert.equal(model.formatValue(0, "bytes"), "0 B");
  assert.equal(model.formatValue(4_194_304, "bytes"), "4.0 MiB");
  assert.equal(model.formatValue(1234, "count"), "1,234");
  assert.equal(model.formatPercent(1, 3), "33.3 %");
  assert.equal(model.formatPercent(1, 300), "0.33 %");
  assert.equal(model.formatPercent(0, 0), "0.00 %");
  assert.equal(model.describeValue({ ...shop, observed_seconds: 60 }, 750_000_000), "750.0ms, 0.0125 cores");
  assert.equal(model.describeValue(shop, 750_000_000), "750.0ms");
});

test("a binary has one colour, wherever it lies", () => {
  assert.equal(model.colorOf("/lib/libc.so.6", 0), model.colorOf("/usr/lib/libc.so.6", 0));
  assert.notEqual(model.colorOf("/lib/libc.so.6", 0), model.colorOf("/lib/libc.so.6", 1));
});

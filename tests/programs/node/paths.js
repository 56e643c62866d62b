// SPDX-License-Identifier: Apache-2.0
/**
 * paths.js SECONDS [worker|loop]: a program in which every path ends in a function of its own.
 *
 * So the leaf of a stack tells the whole of it. Writes the functions below `turn` by leaf as JSON, a
 * line, and runs each path in turn, with what V8 puts between; if asked to, in a worker thread, or in
 * a loop that goes on until it is compiled while it runs.
 */
"use strict";

let sink = 1;

// Some microseconds of work that no compiler can fold away.
function spin(seed) {
  let x = seed | 1;
  for (let i = 0; i < 3000; i++) {
    x ^= x << 13;
    x ^= x >>> 7;
    x ^= x << 17;
  }
  return x;
}

function leafPlain() {
  sink += spin(sink);
}
function second() {
  leafPlain();
}
function plain() {
  second();
}

function leafRecursion() {
  sink += spin(sink);
}
function recurse(depth) {
  if (depth === 0) leafRecursion();
  else recurse(depth - 1);
}
function recursion() {
  recurse(7);
}

function leafRound() {
  sink += spin(sink);
}
function leafSquare() {
  sink += spin(sink);
}
class Round {
  areaOfRound() {
    leafRound();
  }
  get size() {
    leafGetter();
    return 1;
  }
}
class Square {
  areaOfSquare() {
    leafSquare();
  }
}
function leafGetter() {
  sink += spin(sink);
}
const round = new Round();
const square = new Square();
function shapes() {
  round.areaOfRound();
  square.areaOfSquare();
}
function getter() {
  sink += round.size;
}

function leafCompare() {
  sink += spin(sink);
}
function compare(a, b) {
  leafCompare();
  return a - b;
}
function sort() {
  [5, 3, 9, 1].sort(compare);
}

function leafArrow() {
  sink += spin(sink);
}
function arrow() {
  const run = () => leafArrow();
  run();
}

function leafMap() {
  sink += spin(sink);
}
function eachOfMap() {
  leafMap();
  return 1;
}
function map() {
  return [1, 2, 3].map(eachOfMap);
}

function leafReviver() {
  sink += spin(sink);
}
function reviver(_, value) {
  leafReviver();
  return value;
}
function parse() {
  return JSON.parse('{"a": 1}', reviver);
}

function leafReplace() {
  sink += spin(sink);
}
function replacer() {
  leafReplace();
  return "x";
}
function replace() {
  return "abc".replace(/b/, replacer);
}

function leafBound() {
  sink += spin(sink);
}
function target() {
  leafBound();
}
const boundTarget = target.bind(null);
function bound() {
  boundTarget();
}

function leafApply() {
  sink += spin(sink);
}
function applied() {
  leafApply();
}
function apply() {
  Reflect.apply(applied, null, []);
}

function leafProxy() {
  sink += spin(sink);
}
const proxy = new Proxy(
  {},
  {
    get: function trap() {
      leafProxy();
      return 1;
    },
  },
);
function throughProxy() {
  sink += proxy.anything;
}

function leafGenerator() {
  sink += spin(sink);
}
function* generator() {
  yield 1;
  leafGenerator();
  yield 2;
}
function generate() {
  for (const one of generator()) sink += one;
}

function leafConstructor() {
  sink += spin(sink);
}
class Made {
  constructor() {
    leafConstructor();
  }
}
class Derived extends Made {
  constructor() {
    super();
    this.x = 1;
  }
}
function construct() {
  return new Derived();
}

function leafFinally() {
  sink += spin(sink);
}
function thrower() {
  throw new Error("expected");
}
function catching() {
  try {
    thrower();
  } catch {
    leafFinally();
  }
}

// A loop that is compiled while it runs (on-stack replacement), and a call in it.
function leafLoop() {
  sink += spin(sink);
}
function loop() {
  for (let i = 0; i < 20; i++) leafLoop();
}

function leafMade() {
  sink += spin(sink);
}
const made = new Function("leaf", "return function madeAtRunTime() { leaf(); }")(leafMade);
function evaluated() {
  made();
}

// A name that is not of ASCII.
function leafÜmlaut() {
  sink += spin(sink);
}
function größe() {
  leafÜmlaut();
}
function wide() {
  größe();
}

const closures = { inner: null };
function leafClosure() {
  sink += spin(sink);
}
function closure() {
  const many = [1, 2];
  closures.inner = function inner() {
    leafClosure();
    return many;
  };
  closures.inner();
}

const PATHS = {
  leafPlain: ["plain", "second"],
  leafRecursion: ["recursion", "recurse*8"],
  leafRound: ["shapes", "areaOfRound"],
  leafSquare: ["shapes", "areaOfSquare"],
  leafGetter: ["getter", "get size"],
  leafCompare: ["sort", "compare"],
  leafArrow: ["arrow", "run"],
  leafMap: ["map", "eachOfMap"],
  leafReviver: ["parse", "reviver"],
  leafReplace: ["replace", "replacer"],
  leafBound: ["bound", "target"],
  leafApply: ["apply", "applied"],
  leafProxy: ["throughProxy", "trap"],
  leafGenerator: ["generate", "generator"],
  leafConstructor: ["construct", "Derived", "Made"],
  leafFinally: ["catching"],
  leafLoop: ["loop"],
  leafMade: ["evaluated", "madeAtRunTime"],
  leafÜmlaut: ["wide", "größe"],
  leafClosure: ["closure", "inner"],
};

function turn() {
  plain();
  recursion();
  shapes();
  getter();
  sort();
  arrow();
  map();
  parse();
  replace();
  bound();
  apply();
  throughProxy();
  generate();
  construct();
  catching();
  loop();
  evaluated();
  wide();
  closure();
}

const { isMainThread, Worker } = require("node:worker_threads");
const end = Date.now() + Number(process.argv[2]) * 1000;

// Runs one turn and asks the event loop for the next, as servers do.
function work() {
  turn();
  if (Date.now() < end) setImmediate(work);
}

function looping() {
  do turn();
  while (Date.now() < end);
}

if (isMainThread) process.stdout.write(`${JSON.stringify(PATHS)}\n`);
if (isMainThread && process.argv[3] === "worker") new Worker(__filename, { argv: process.argv.slice(2) });
else if (process.argv[3] === "loop") looping();
else work();

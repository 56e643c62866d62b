// SPDX-License-Identifier: Apache-2.0
/** deep.js DEPTH: computes for ever below so many calls of one function. */
"use strict";

let sink = 0;

function leaf() {
  for (;;) {
    for (let i = 0; i < 100000; i++) sink = (sink + i) | 0;
  }
}

// Compiled on its way down: first called until it is hot.
function down(depth, stay) {
  if (depth === 0) {
    if (stay) leaf();
    return 0;
  }
  return 1 + down(depth - 1, stay);
}

const depth = Number(process.argv[2]);
for (let i = 0; i < 20000; i++) sink += down(depth, false);
down(depth, true);

// SPDX-License-Identifier: Apache-2.0
// A place in a graph that outlives the data: 64 bits of the names from the root to it.
import type { Bar, Model } from "../../../flame/model.js";

function mix(hash: number, prime: number, value: number): number {
  return Math.imul(hash ^ value, prime) >>> 0;
}

/** Two hashes of 32 bits for each name. */
function nameHashes(model: Model): [Uint32Array, Uint32Array] {
  const count = model.data.names.length;
  const [low, high] = [new Uint32Array(count), new Uint32Array(count)];
  for (let i = 0; i < count; i++) {
    const name = model.data.names[i]!;
    let [a, b] = [0x811c9dc5, 0x9747b28c];
    for (let at = 0; at < name.length; at++) {
      a = mix(a, 0x01000193, name.charCodeAt(at));
      b = mix(b, 0x85ebca6b, name.charCodeAt(at));
    }
    low[i] = a;
    high[i] = b;
  }
  return [low, high];
}

const text = (a: number, b: number) => a.toString(16).padStart(8, "0") + b.toString(16).padStart(8, "0");

function* hashes(model: Model): Generator<{ bar: Bar; hash: string }> {
  const [low, high] = nameHashes(model);
  let above: [Uint32Array, Uint32Array] = [Uint32Array.of(0), Uint32Array.of(0)];
  for (const [depth, level] of model.levels.entries()) {
    const here: [Uint32Array, Uint32Array] = [new Uint32Array(level.count), new Uint32Array(level.count)];
    for (let i = 0; i < level.count; i++) {
      const parent = depth === 0 ? 0 : level.parent[i]!;
      here[0][i] = mix(above[0][parent]!, 0x01000193, low[level.name[i]!]!);
      here[1][i] = mix(above[1][parent]!, 0xc2b2ae35, high[level.name[i]!]!);
      yield { bar: { level: depth, index: i }, hash: text(here[0][i]!, here[1][i]!) };
    }
    above = here;
  }
}

export function hashOf(model: Model, bar: Bar): string {
  for (const { bar: one, hash } of hashes(model)) {
    if (one.level === bar.level && one.index === bar.index) return hash;
  }
  return "";
}

/** The bar of a hash, or null if this data has none. */
export function barOf(model: Model, wanted: string): Bar | null {
  for (const { bar, hash } of hashes(model)) {
    if (hash === wanted) return bar;
  }
  return null;
}

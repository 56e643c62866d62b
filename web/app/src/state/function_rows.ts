// SPDX-License-Identifier: Apache-2.0
// Functions as a table has them. The server's sums are exact; those of a graph lack what was cut from it.
import { domainOf, kindOf, KIND } from "../../../flame/colors.js";
import { sumFunctions, type Model } from "../../../flame/model.js";
import type { FunctionRow, TopReply } from "./api";

export interface Row { name: string; module: string; domain: string; self: number; total: number; selfA: number; totalA: number }

const keyOf = (name: string, module: string) => `${name}\u0000${module}`;

export function rowsOfModel(model: Model): Row[] {
  const { data } = model;
  return sumFunctions(model).map((sum) => ({
    name: data.names[sum.name]!, module: data.modules[data.name_modules[sum.name]!]!,
    domain: kindOf(data, sum.name) >= KIND.total ? "u" : domainOf(data, sum.name),
    self: sum.self, total: sum.total, selfA: sum.selfA, totalA: sum.totalA,
  }));
}

/** By privilege and file alone, for functions that the graph does not show. */
function domainOfModule(module: string): string {
  if (module.startsWith("[kernel")) return "k";
  if (module === "" || module === "[unknown]") return "u";
  return /\.so(\.|$)/.test(module) ? "l" : "a";
}

/** The server's functions; `base` has those of a comparison's A, whose values are scaled as the graph's. */
export function rowsOfTop(model: Model, top: TopReply<FunctionRow>, base: TopReply<FunctionRow> | null): Row[] {
  const { data } = model;
  const domains = new Map(data.names.map((name, i) => [keyOf(name, data.modules[data.name_modules[i]!]!), domainOf(data, i)]));
  const scale = base && base.total > 0 && data.base_total ? model.wholeA / data.base_total : 1;
  const rows = new Map<string, Row>();
  const rowOf = (row: FunctionRow): Row => {
    const key = keyOf(row.function, row.module);
    const known = rows.get(key) ?? { name: row.function, module: row.module, domain: domains.get(key) ?? domainOfModule(row.module), self: 0, total: 0, selfA: 0, totalA: 0 };
    rows.set(key, known);
    return known;
  };
  for (const row of top.rows) Object.assign(rowOf(row), { self: row.self, total: row.total });
  for (const row of base?.rows ?? []) Object.assign(rowOf(row), { selfA: row.self * scale, totalA: row.total * scale });
  return Array.from(rows.values());
}

// SPDX-License-Identifier: Apache-2.0
// Functions of a graph: the same numbers as text. Only the rows that are seen are made.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { baseName, changeOf } from "../../../flame/colors.js";
import { formatCores, formatPoints, formatShare, formatValue } from "../../../flame/format.js";
import { searchPattern, type Model } from "../../../flame/model.js";
import type { Row } from "../state/function_rows";
import { Icon } from "../ui/icon";
import { copy } from "../ui/controls";
import { Symbol } from "./symbol";

const ROW_PX = 26;
type Column = "self" | "total" | "name" | "change";

function changeIn(model: Model, row: Row) {
  return changeOf(row.selfA, row.self, model.wholeA || model.wholeB);
}

function sorted(model: Model, rows: Row[], by: Column): Row[] {
  if (by === "name") return [...rows].sort((a, b) => (a.name < b.name ? -1 : 1));
  if (by === "change") return [...rows].sort((a, b) => Math.abs(changeIn(model, b).points) - Math.abs(changeIn(model, a).points));
  return [...rows].sort((a, b) => b[by] - a[by] || b.total - a.total || (a.name < b.name ? -1 : 1));
}

function filtered(rows: Row[], search: string): Row[] {
  if (search === "") return rows;
  try {
    const pattern = searchPattern(search);
    return rows.filter((row) => pattern.test(row.name));
  } catch {
    return rows;
  }
}

/** The amount beside a share: cores where it is CPU, else the value. */
function amount(model: Model, value: number): string {
  const cores = formatCores(model.data, value);
  return cores ? cores.replace(/\u00a0cores$/, "") : formatValue(value, model.data.unit);
}

export function tableCsv(rows: Row[], isDiff: boolean): string {
  const quoted = (text: string) => `"${text.replace(/"/g, '""')}"`;
  const head = isDiff ? "function,module,self_a,self_b,total_a,total_b" : "function,module,self,total";
  const lines = rows.map((row) => [quoted(row.name), quoted(row.module),
    ...(isDiff ? [row.selfA, row.self, row.totalA, row.total] : [row.self, row.total])].join(","));
  return `${[head, ...lines].join("\n")}\n`;
}

export function FunctionTable({ model, rows: all, search, whole, threshold = 0, onPick }: {
  model: Model; rows: Row[]; search: string; whole: number; threshold?: number; onPick(name: string): void;
}) {
  const [by, setBy] = useState<Column>(model.isDiff ? "change" : "self");
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const box = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => sorted(model, filtered(all, search), by)
    .filter((row) => threshold === 0 || Math.abs(changeIn(model, row).points) >= threshold), [model, all, search, by, threshold]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(top / ROW_PX) - 8);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_PX) + 8);
  const head = (column: Column, title: string, number = true) => (
    <th scope="col" class={number ? "num" : ""} aria-sort={by === column ? (column === "name" ? "ascending" : "descending") : "none"}>
      <button type="button" onClick={() => setBy(column)}>{title}{by === column && <Icon name="dn" />}</button></th>
  );
  const { data } = model;
  return (
    <div class="tablebox" ref={box} tabIndex={0} role="region" aria-label="Functions" onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={(event) => event.key === "c" && (event.ctrlKey || event.metaKey) && getSelection()?.isCollapsed && void copy(tableCsv(rows, model.isDiff), "Table (CSV)")}>
      <table class="table" data-testid="functions">
        <thead><tr>
          {model.isDiff && head("change", "Change")}
          {head("self", model.isDiff ? "Self B" : "Self")}
          {!model.isDiff && <th scope="col" class="num only-wide">{formatCores(data, 1) ? "cores" : data.value}</th>}
          {model.isDiff && <th scope="col" class="num only-wide">Self A</th>}
          {head("total", model.isDiff ? "Total B" : "Total")}
          {head("name", "Function", false)}
          <th scope="col" class="only-wide">Module</th>
        </tr></thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true"><td class="spacer" colSpan={6} style={{ "--h": `${first * ROW_PX}px` }} /></tr>}
          {rows.slice(first, last).map((row) => {
            const change = model.isDiff ? changeIn(model, row) : null;
            const tone = !change || change.strength === 0 ? "" : change.points > 0 ? "more" : "less";
            return (
              <tr key={`${row.name} ${row.module}`}>
                {change && <td class={`num ${tone}`}>{formatPoints(change.points)}</td>}
                <td class="num">{formatShare(row.self, model.isDiff ? model.wholeB : whole)}</td>
                {!model.isDiff && <td class="num soft only-wide">{amount(model, row.self)}</td>}
                {model.isDiff && <td class="num soft only-wide">{formatShare(row.selfA, model.wholeA)}</td>}
                <td class="num">{formatShare(row.total, model.isDiff ? model.wholeB : whole)}</td>
                <td class="fn"><Symbol name={row.name} domain={row.domain} onClick={() => onPick(row.name)} /></td>
                <td class="faint only-wide">{baseName(row.module)}</td>
              </tr>
            );
          })}
          {last < rows.length && <tr aria-hidden="true"><td class="spacer" colSpan={6} style={{ "--h": `${(rows.length - last) * ROW_PX}px` }} /></tr>}
        </tbody>
      </table>
      {rows.length === 0 && <p class="status">No function matches.</p>}
    </div>
  );
}

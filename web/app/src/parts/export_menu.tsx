// SPDX-License-Identifier: Apache-2.0
import type { Model } from "../../../flame/model.js";
import { formatShare, formatValue } from "../../../flame/format.js";
import { request } from "../state/api";
import type { Row } from "../state/function_rows";
import { cell } from "../state/markdown";
import { FILTERS } from "../state/graph_query";
import { isoOf, rangeOf } from "../state/time";
import { copy, Menu, save, toast } from "../ui/controls";
import { tableCsv } from "./function_table";

/** What a shell takes as one word. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

/** The same question to the command line, with its times as they are now. */
export function cliCommand(params: URLSearchParams, flame: URLSearchParams): string {
  const range = rangeOf(params);
  const base = location.origin + location.pathname.replace(/\/[^/]*$/, "");
  const words = ["firetower", "flame", ...(flame.get("q") ? [flame.get("q")!] : []), "--server", base];
  words.push("--type", flame.get("type") || "cpu");
  const isFixed = (name: string) => /^\d{4}-/.test(flame.get(name) ?? "");
  words.push("--from", isFixed("from") ? flame.get("from")! : isoOf(range.fromMs), "--to", isFixed("to") ? flame.get("to")! : isoOf(range.toMs));
  if (flame.get("offsets")) words.push("--offsets", flame.get("offsets")!);
  else if (flame.get("exact") === "true") words.push("--exact");
  for (const [, , name] of FILTERS) if (flame.get(name)) words.push(`--${name}`, flame.get(name)!);
  if (flame.get("names")) words.push("--names", flame.get("names")!);
  if (flame.get("invert") === "true") words.push("--bottom-up");
  return `${words.map(quoted).join(" ")} -f flame.html`;
}

export function pprofCommand(profile: URLSearchParams): string {
  return `go tool pprof -http : ${quoted(new URL(`api/v1/profile?${profile}`, location.href).href)}`;
}

export function markdownOf(model: Model, all: Row[], title: string): string {
  const rows = [...all].sort((a, b) => b.self - a.self).slice(0, 20).map((row) =>
    `| ${formatShare(row.self, model.wholeB)} | ${formatShare(row.total, model.wholeB)} | ${cell(row.name)} | ${cell(row.module)} |`);
  return [`**${cell(title)}**: ${formatValue(model.wholeB, model.data.unit)}`, "", "| self | total | function | binary |", "| ---: | ---: | --- | --- |", ...rows, ""].join("\n");
}

/** The picture as it stands on the page. */
function savePng(name: string) {
  const canvas = document.querySelector<HTMLCanvasElement>(".graph canvas");
  canvas?.toBlob((blob) => blob && save(blob, `${name}.png`), "image/png");
}

async function saveFrom(path: string, name: string) {
  try {
    const response = await request(path);
    const given = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "");
    save(await response.blob(), given?.[1] ?? name);
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error));
  }
}

export function ExportMenu({ model, rows, params, flame }: { model: Model; rows: Row[]; params: URLSearchParams; flame: URLSearchParams }) {
  const profile = new URLSearchParams(Array.from(flame).filter(([name]) => !["max-nodes", "names", "sort", "invert"].includes(name)));
  const isDiff = model.isDiff;
  const name = `flame-${(params.get("type") || "cpu").replace(/\W+/g, "-")}`;
  const item = (title: string, act: () => void) => [title, act] as const;
  const drawn = (format: string) => item(format.toUpperCase(), () => void saveFrom(`api/v1/flame?${flame}&format=${format}`, `${name}.${format}`));
  const stacks = (format: string, title: string) => item(title, () => void saveFrom(`api/v1/profile?${profile}&format=${format}`, name));
  const items = [
    item("pprof", () => void saveFrom(`api/v1/${isDiff ? "diff" : "profile"}?${profile}`, `${name}.pb.gz`)),
    ...(isDiff ? [] : [stacks("folded", "Folded stacks"), stacks("speedscope", "speedscope"), drawn("svg"), drawn("html")]),
    item("PNG", () => savePng(name)),
    item("CSV", () => save(new Blob([tableCsv(rows, isDiff)], { type: "text/csv" }), `${name}.csv`)),
    item("Copy as Markdown", () => void copy(markdownOf(model, rows, model.data.title), "Table")),
    ...(isDiff ? [] : [item("Copy CLI command", () => void copy(cliCommand(params, flame), "Command")),
      item("Copy go tool pprof command", () => void copy(pprofCommand(profile), "Command"))]),
  ];
  return (
    <Menu name="Export" label={<span class="only-mid">Export</span>} icon="export" right>
      {(close) => items.map(([title, act]) => <button type="button" class="item" key={title} onClick={() => { close(); act(); }}>{title}</button>)}
    </Menu>
  );
}

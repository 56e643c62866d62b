// SPDX-License-Identifier: Apache-2.0
// Table and graph of one profile, or of two, with everything that changes how they are seen.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { formatCount, formatShare } from "../../../flame/format.js";
import { buildModel, type FlameData, type Model, type Widths } from "../../../flame/model.js";
import { ask, askExactly, type FunctionRow, type TopReply } from "../state/api";
import { rowsOfModel, rowsOfTop, type Row } from "../state/function_rows";
import { changed, go } from "../state/address";
import { exactly, modeOf, MODES, searchOf, type Mode } from "../state/graph_query";
import { useAnswer } from "../state/use_answer";
import { Choice, Menu, Segment } from "../ui/controls";
import { Icon } from "../ui/icon";
import { Panel } from "../ui/states";
import { ExportMenu } from "./export_menu";
import { Flame, type FrameMenu } from "./flame";
import { FilterChips } from "./filters";
import { FrameMenuBox } from "./frame_menu";
import { FunctionTable } from "./function_table";

type View = "table" | "both" | "graph";
const VIEWS: readonly (readonly [View, string])[] = [["table", "Table"], ["both", "Both"], ["graph", "Graph"]];

export interface GraphPanelProps {
  data: FlameData;
  params: URLSearchParams;
  flame: URLSearchParams;
  /** of a file: nothing more of it can be asked of the server */
  fixed?: boolean;
  bar?: ComponentChildren;
}

function useSearch(params: URLSearchParams) {
  const asked = searchOf(params);
  const [text, setText] = useState(asked);
  const [shown, setShown] = useState(asked);
  if (asked !== shown) {
    setShown(asked);
    setText(asked);
  }
  const change = (next: string) => {
    setText(next);
    setShown(next);
    go({ s: next, find: null }, { replace: true });
  };
  return [text, change] as const;
}

const TABLE_ROWS = "1000";

/** The functions' question for a graph's, or for the base of its comparison. */
function topQuery(flame: URLSearchParams, isBase: boolean): URLSearchParams {
  const query = new URLSearchParams({ by: "functions", k: TABLE_ROWS });
  for (const [name, value] of flame) {
    if (["max-nodes", "names", "sort", "invert"].includes(name)) continue;
    const ofBase = name.startsWith("base-");
    if (!ofBase && !(isBase && flame.has(`base-${name}`))) query.set(name, value);
    else if (ofBase && isBase) query.set(name.slice(5), value);
  }
  if (isBase && !flame.has("base-offsets")) query.delete("offsets");
  return query;
}

/** Exact sums from the server; until they are there, and of files, those of the graph. */
function useRows(model: Model, data: FlameData, flame: URLSearchParams, fixed: boolean): Row[] {
  const [own, base] = [topQuery(flame, false), topQuery(flame, true)];
  const isCoarse = (data as { isCoarse?: boolean }).isCoarse === true;
  if (isCoarse) for (const query of [own, base]) query.delete("exact");
  // A time that moves on is asked for again with the graph, not by itself.
  const turn = `${data.from_ms} ${data.to_ms} ${data.total}`;
  const top = useAnswer(fixed ? null : `top ${own} ${turn}`, (signal) => ask<TopReply<FunctionRow>>("top", own, signal));
  const before = useAnswer(fixed || !model.isDiff ? null : `top ${base} ${turn}`, (signal) => ask<TopReply<FunctionRow>>("top", base, signal));
  return useMemo(() => {
    const isEmpty = (error: { status: number } | null) => error?.status === 404;
    const after = top.data ?? (isEmpty(top.error) ? NOTHING : null);
    const first = before.data ?? (isEmpty(before.error) ? NOTHING : null);
    if (fixed || !after || (model.isDiff && !first) || top.loading || before.loading) return rowsOfModel(model);
    return rowsOfTop(model, after, model.isDiff ? first : null);
  }, [model, top.data, top.error, before.data, before.error, top.loading, before.loading, fixed]);
}

const NOTHING = { rows: [], total: 0 } as unknown as TopReply<FunctionRow>;

function Display({ params, isDiff }: { params: URLSearchParams; isDiff: boolean }) {
  const names = params.get("names") || "full";
  const sort = params.get("sort") || "name";
  return (
    <Menu name="Display" label={<span class="only-mid">Display</span>} icon="display" right>
      {() => (
        <div class="form">
          <label>Names<Segment label="Names" value={names} options={[["full", "full"], ["short", "no arguments"], ["bare", "no templates"]]} onPick={(value) => go({ names: value === "full" ? null : value, z: null })} /></label>
          <label>Siblings<Segment label="Siblings" value={sort} options={[["name", "by name"], ["value", "by size"]]} onPick={(value) => go({ sort: value === "name" ? null : value })} /></label>
          {isDiff && <label>Widths<Segment label="Widths" value={params.get("width") || "both"} options={[["a", "A"], ["both", "both"], ["b", "B"]]} onPick={(value) => go({ width: value === "both" ? null : value })} /></label>}
        </div>
      )}
    </Menu>
  );
}

export function GraphPanel({ data, params, flame, fixed, bar }: GraphPanelProps) {
  const isDiff = data.base_total !== undefined;
  const widths = (params.get("width") || "both") as Widths;
  const normalize = params.get("norm") === "1";
  const model = useMemo(() => buildModel(data, { widths, normalize }), [data, widths, normalize]);
  const rows = useRows(model, data, flame, fixed === true);
  const [search, setSearch] = useSearch(params);
  const [found, setFound] = useState({ value: 0, places: 0, problem: "" });
  const [menu, setMenu] = useState<FrameMenu | null>(null);
  const view = (params.get("view") || "both") as View;
  const mode = modeOf(params);
  const colorBy = params.get("color") === "domain" ? "domain" : "module";
  const ofShown = params.get("pct") === "shown";
  const modes = isDiff || fixed ? MODES.filter(([one]) => one === "icicle" || one === "flame") : MODES;
  const setMode = (next: Mode) => go({ mode: next === "icicle" ? null : next, z: null });
  const zoomed = model.levels[0]?.total[0] ?? 0;
  const onKey = (key: string, name: string) => {
    if (key === "i") setMode(mode === "flame" ? "icicle" : "flame");
    else if (key === "t") go({ view: view === "both" ? "graph" : view === "graph" ? "table" : null });
    else if (key === "d" && !fixed) go({ q2: null, from2: null, to2: null, s: exactly(name), z: null }, { page: "diff" });
    else if (/^[1-4]$/.test(key) && modes[Number(key) - 1]) setMode(modes[Number(key) - 1]![0]);
    else return false;
    return true;
  };
  const shared = { search, colorBy, ofShown, onKey, onMenu: setMenu } as const;
  const graph = mode === "sandwich" && !isDiff && !fixed
    ? <Sandwich params={params} flame={flame} shared={shared} />
    : <Flame {...shared} model={model} label="Functions and what they call" rootAtBottom={mode === "flame"} zoom={params.get("z") ?? ""}
        onZoom={(hash) => go({ z: hash }, { replace: false })} onFound={setFound} {...(fixed ? { onMenu: undefined } : {})} />;
  return (
    <>
      <div class="bar">
        <Segment label="View" value={view} options={VIEWS} onPick={(next) => go({ view: next === "both" ? null : next })} />
        <Segment label="Graph" value={mode} options={modes} onPick={setMode} />
        <label class="field" style={{ width: isDiff ? "200px" : "264px" }}><Icon name="search" />
          <input class="mono" data-search data-testid="search" spellcheck={false} placeholder="Search, regular expression" aria-label="Search functions" value={search}
            onInput={(event) => setSearch(event.currentTarget.value)} onKeyDown={(event) => searchKey(event)} /><span class="key">/</span></label>
        <span class="faint" role="status" data-testid="matches">
          {search === "" ? "" : found.problem ? `not a regular expression: ${found.problem}` : `${formatShare(found.value, model.whole)} in ${formatCount(found.places)} places`}</span>
        <span class="grow" />
        {bar}
        {!isDiff && <Choice name="Colour" before="Colour" value={colorBy} options={[["module", "Module"], ["domain", "Domain"]]} right onPick={(value) => go({ color: value === "module" ? null : value })} />}
        {!fixed && <Display params={params} isDiff={isDiff} />}
        <ExportMenu model={model} rows={rows} params={params} flame={flame} />
      </div>
      {!fixed && <div class="bar">
        <FilterChips params={params} />
        <span class="grow" />
        {!isDiff && <><span class="faint nowrap">per cent of</span>
          <Segment label="Per cent of" value={ofShown ? "shown" : "whole"} options={[["whole", "whole"], ["shown", "shown"]]} onPick={(value) => go({ pct: value === "shown" ? value : null })} /></>}
      </div>}
      <div class={`split body${view === "graph" ? " only-graph" : view === "table" ? " only-table" : ""}`} data-testid="body">
        {view !== "graph" && <FunctionTable model={model} rows={rows} search={search} whole={zoomed} threshold={isDiff ? Number(params.get("thr") ?? "0") : 0}
          onPick={(name) => (mode === "sandwich" ? go({ fn: name }) : setSearch(search === exactly(name) ? "" : exactly(name)))} />}
        {view !== "table" && graph}
      </div>
      {menu && <FrameMenuBox menu={menu} onClose={() => setMenu(null)} />}
    </>
  );
}

/** Enter goes through the matches, and Escape to the graph. */
function searchKey(event: KeyboardEvent) {
  const graph = document.querySelector<HTMLElement>("[data-testid=graph]");
  if (event.key === "Escape") graph?.focus();
  if (event.key === "Enter") graph?.dispatchEvent(new KeyboardEvent("keydown", { key: event.shiftKey ? "N" : "n", bubbles: false }));
}

type Shared = Pick<Parameters<typeof Flame>[0], "search" | "colorBy" | "ofShown" | "onKey" | "onMenu">;

/** Callers above, callees below one function: each half a graph that begins at it. */
function Sandwich({ params, flame, shared }: { params: URLSearchParams; flame: URLSearchParams; shared: Shared }) {
  const fn = params.get("fn") ?? "";
  // The range, the selection and the filters of the graph are those of both halves.
  const callees = changed(flame, { "show-from": exactly(fn) });
  const callers = changed(callees, { invert: "true" });
  const above = useAnswer(fn === "" ? null : `callers ${callers}`, (signal) => askExactly(callers, signal));
  const below = useAnswer(fn === "" ? null : `callees ${callees}`, (signal) => askExactly(callees, signal));
  const up = useMemo(() => above.data && buildModel(above.data), [above.data]);
  const down = useMemo(() => below.data && buildModel(below.data), [below.data]);
  useEffect(() => setZooms(["", ""]), [fn]);
  const [zooms, setZooms] = useState<[string, string]>(["", ""]);
  if (fn === "") return <div class="center"><p>Choose a function in the table: its callers will stand above it, what it calls below.</p></div>;
  return (
    <div class="sandwich" data-testid="sandwich">
      <div class="half"><Panel answer={above} params={params}>
        {() => up && <Flame {...shared} model={up} label={`Callers of ${fn}`} rootAtBottom main={false} zoom={zooms[0]} onZoom={(hash) => setZooms([hash, zooms[1]])} />}</Panel></div>
      <div class="between">callers above · <code>{fn}</code> · callees below</div>
      <div class="half"><Panel answer={below} params={params}>
        {() => down && <Flame {...shared} model={down} label={`What ${fn} calls`} rootAtBottom={false} zoom={zooms[1]} onZoom={(hash) => setZooms([zooms[0], hash])} />}</Panel></div>
    </div>
  );
}

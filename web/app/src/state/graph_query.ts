// SPDX-License-Identifier: Apache-2.0
// Picks the parts of the address that decide which flame graph is asked for.
import { exactly } from "../../../flame/model.js";
import { questionOf } from "./address";

export type Mode = "icicle" | "flame" | "bottom-up" | "sandwich";
export const MODES: readonly (readonly [Mode, string])[] = [["icicle", "Icicle"], ["flame", "Flame"], ["bottom-up", "Bottom-up"], ["sandwich", "Sandwich"]];

export function modeOf(params: URLSearchParams): Mode {
  return MODES.find(([mode]) => mode === params.get("mode"))?.[0] ?? "icicle";
}

/** Filters by their parameter here, their name in pprof and the API's. */
export const FILTERS = [["f", "focus", "focus"], ["i", "ignore", "ignore"], ["h", "hide", "hide"], ["w", "show", "show"], ["sf", "show from", "show-from"], ["tf", "label", "tagfocus"]] as const;

export { exactly };

const TRACE = /^trace_id=\^?([0-9a-f]{32})\$?$/;

/** The trace that a filter of labels is of; "": it is of something else. */
export function traceOf(filter: string | null): string {
  return TRACE.exec(filter ?? "")?.[1] ?? "";
}

/** Where a trace is shown; "": the server was not told. */
export function traceUrl(trace: string): string {
  const template = document.querySelector<HTMLMetaElement>('meta[name="trace-url"]')?.content ?? "";
  return trace && template ? template.replaceAll("{trace_id}", trace) : "";
}

/** The text that is searched for: `s`, or `find`, which is a text as it stands. */
export function searchOf(params: URLSearchParams): string {
  const find = params.get("find");
  return find ? find.replace(/[\\^$*+?.()|[\]{}]/g, "\\$&") : (params.get("s") ?? "");
}

export const FIRST_BARS = 8192;
export const MOST_BARS = 1 << 20;

/** The question of /api/v1/flame. */
export function flameQuery(params: URLSearchParams): URLSearchParams {
  const query = questionOf(params);
  for (const [own, , name] of FILTERS) {
    const value = params.get(own);
    if (value) query.set(name, value);
  }
  const names = params.get("names");
  if (names && names !== "full") query.set("names", names);
  if (params.get("sort") === "value") query.set("sort", "value");
  const bars = Number(params.get("bars"));
  query.set("max-nodes", String(bars > 0 ? Math.min(bars, MOST_BARS) : FIRST_BARS));
  if (modeOf(params) === "bottom-up") query.set("invert", "true");
  return query;
}

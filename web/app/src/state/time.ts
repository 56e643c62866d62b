// SPDX-License-Identifier: Apache-2.0
// Ranges of time. Relative ones are the server's to resolve, by its clock.

export const PRESETS: [string, string][] = [
  ["5m", "Last 5 min"], ["15m", "Last 15 min"], ["1h", "Last hour"], ["6h", "Last 6 hours"],
  ["24h", "Last 24 hours"], ["7d", "Last 7 days"]];
export const DEFAULT_PRESET = "15m";

const UNITS: Record<string, number> = { s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3, w: 604_800e3 };

/** Milliseconds of "1h30m"; null if it is none. */
export function parseDuration(text: string): number | null {
  if (!/^(\d+[smhdw])+$/.test(text)) return null;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhdw])/g)) sum += Number(count) * UNITS[unit!]!;
  return sum;
}

/** The browser's clock, or the one that `?now=` pins. */
export function clockMs(params: URLSearchParams): number {
  const pinned = Number(params.get("now"));
  return pinned > 0 ? pinned : Date.now();
}

/** Milliseconds of a time as the API takes it; null if it is none. */
export function parseTime(text: string, nowMs: number): number | null {
  if (text === "" || text === "now") return nowMs;
  const relative = /^now-(.+)$/.exec(text);
  if (relative || /^(\d+[smhdw])+$/.test(text)) {
    const before = parseDuration(relative ? relative[1]! : text);
    return before === null ? null : nowMs - before;
  }
  if (/^\d{11,14}$/.test(text)) return Number(text);
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  const parsed = Date.parse(text);
  return Number.isNaN(parsed) ? null : parsed;
}

export interface Range {
  fromMs: number;
  toMs: number;
  /** "15m" if it is one of the presets up to now */
  preset: string;
}

export function rangeOf(params: URLSearchParams): Range {
  const nowMs = clockMs(params);
  const to = params.get("to") ?? "";
  const from = params.get("from") ?? "";
  const toMs = parseTime(to, nowMs) ?? nowMs;
  const fromMs = from === "" ? toMs - 900e3 : (parseTime(from, nowMs) ?? toMs - 900e3);
  const isNow = to === "" || to === "now";
  const preset = isNow ? (from === "" ? DEFAULT_PRESET : (/^now-(\w+)$/.exec(from)?.[1] ?? "")) : "";
  return { fromMs, toMs, preset };
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}

let zoneIsUtc = false;
try {
  zoneIsUtc = localStorage.getItem("firetower-zone") === "utc";
} catch {
  // A browser may be told to keep nothing.
}

export function usesUtc(): boolean {
  return zoneIsUtc;
}

export function setUtc(utc: boolean) {
  zoneIsUtc = utc;
  try {
    localStorage.setItem("firetower-zone", utc ? "utc" : "local");
  } catch {
    // Then it lasts as long as the page.
  }
}

function parts(ms: number): { day: string; time: string; seconds: string } {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const [year, month, day, hour, minute, second] = zoneIsUtc
    ? [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()]
    : [date.getFullYear(), date.getMonth(), date.getDate(), date.getHours(), date.getMinutes(), date.getSeconds()];
  return { day: `${year}-${two(month! + 1)}-${two(day!)}`, time: `${two(hour!)}:${two(minute!)}`, seconds: two(second!) };
}

/** "14:19", or with seconds; with its day when that is not today's. */
export function clockText(ms: number, options: { seconds?: boolean; nowMs?: number } = {}): string {
  const { day, time, seconds } = parts(ms);
  const text = options.seconds ? `${time}:${seconds}` : time;
  return day === parts(options.nowMs ?? Date.now()).day ? text : `${day} ${text}`;
}

export function rangeText(fromMs: number, toMs: number): string {
  const seconds = fromMs % 60_000 !== 0 || toMs % 60_000 !== 0;
  const begin = clockText(fromMs, { seconds });
  const sameDay = parts(fromMs).day === parts(toMs).day;
  return `${begin} – ${sameDay ? parts(toMs).time + (seconds ? `:${parts(toMs).seconds}` : "") : clockText(toMs, { seconds })}`;
}

export function zoneText(): string {
  if (zoneIsUtc) return "UTC";
  const minutes = -new Date().getTimezoneOffset();
  if (minutes === 0) return "UTC";
  const two = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, "0");
  return `UTC${minutes < 0 ? "−" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

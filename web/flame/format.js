// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Numbers as people read them. The space between a number and its unit does not break.

const NBSP = "\u00a0";

/** @param {number} count */
export function formatCount(count) {
  return Math.round(count).toLocaleString("en-US");
}

/** @param {number} part @param {number} whole */
export function formatShare(part, whole) {
  const percent = whole > 0 ? (100 * part) / whole : 0;
  if (percent > 0 && percent < 0.05) return `<0.1${NBSP}%`;
  return `${percent.toFixed(1)}${NBSP}%`;
}

/** A change in points, with its sign. @param {number} points */
export function formatPoints(points) {
  const size = Math.abs(points);
  if (size < 0.05) return `±0.0`;
  return `${points < 0 ? "−" : "+"}${size.toFixed(1)}`;
}

/** Three digits that count. @param {number} value */
export function formatNumber(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return formatCount(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : size >= 0.0005 ? 3 : 4);
}

/** @param {number} seconds @returns {string} */
export function formatDuration(seconds) {
  if (seconds < 0) return `−${formatDuration(-seconds)}`;
  const ns = Math.round(seconds * 1e9);
  if (ns === 0) return `0${NBSP}s`;
  if (ns < 1000) return `${ns}${NBSP}ns`;
  if (ns < 999_500) return `${formatNumber(ns / 1e3)}${NBSP}µs`;
  if (ns < 999_500_000) return `${formatNumber(ns / 1e6)}${NBSP}ms`;
  if (seconds < 59.995) return `${formatNumber(seconds)}${NBSP}s`;
  const whole = Math.round(seconds);
  /** @type {[number, string, number, string][]} */
  const scales = [[86_400, "d", 3600, "h"], [3600, "h", 60, "min"], [60, "min", 1, "s"]];
  for (const [size, unit, small, smallUnit] of scales) {
    if (whole < size) continue;
    const rest = Math.floor((whole % size) / small);
    const first = `${formatCount(Math.floor(whole / size))}${NBSP}${unit}`;
    return rest > 0 ? `${first}${NBSP}${rest}${NBSP}${smallUnit}` : first;
  }
  return `${whole}${NBSP}s`;
}

/** @param {number} bytes */
export function formatBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  let size = Math.abs(bytes);
  while (size >= 999.5 && at + 1 < units.length) {
    size /= 1024;
    at++;
  }
  return `${bytes < 0 ? "−" : ""}${at === 0 ? formatCount(size) : formatNumber(size)}${NBSP}${units[at]}`;
}

/** A value of a profile. @param {number} value @param {string} unit pprof's */
export function formatValue(value, unit) {
  if (unit === "nanoseconds") return formatDuration(value / 1e9);
  if (unit === "bytes") return formatBytes(value);
  return formatCount(value);
}

/**
 * Returns how many cores CPU time over a known time is; "" for all else.
 * @param {{value: string, unit: string, observed_seconds: number}} data @param {number} value
 */
export function formatCores(data, value) {
  if (data.value !== "cpu" || data.unit !== "nanoseconds" || !(data.observed_seconds > 0)) return "";
  return `${formatNumber(value / 1e9 / data.observed_seconds)}${NBSP}cores`;
}

// SPDX-License-Identifier: Apache-2.0
// How much of what a graph is of, and what is missing in it.
import { domainOf, kindOf, KIND } from "../../../flame/colors.js";
import { formatCores, formatCount, formatDuration, formatShare, formatValue } from "../../../flame/format.js";
import type { FlameData } from "../../../flame/model.js";
import { go } from "../state/address";
import { FIRST_BARS, MOST_BARS } from "../state/graph_query";

/** The part of the value that ends in code of no known file. */
function unknownOf(data: FlameData): number {
  let value = 0;
  for (const level of data.levels) {
    for (let i = 0; i < level.length; i += 4) {
      const name = level[i + 3]!;
      if (kindOf(data, name) < KIND.total && domainOf(data, name) === "u") value += level[i + 2]!;
    }
  }
  return value;
}

export function Facts({ data, params }: { data: FlameData; params: URLSearchParams }) {
  const cores = formatCores(data, data.total);
  const value = formatValue(data.total, data.unit);
  const unknown = unknownOf(data);
  const isCut = data.cut_nodes > 0;
  const bars = Number(params.get("bars")) || FIRST_BARS;
  return (
    <dl class="facts" data-testid="facts">
      <div><dd class="lead">{cores || value}</dd></div>
      {cores && <div><dd>{value}</dd><dt>of CPU</dt></div>}
      <div><dt>over</dt><dd>{formatDuration(data.observed_seconds)}</dd></div>
      <div><dd>{formatCount(data.profiles)}</dd><dt>{data.profiles === 1 ? "profile" : "profiles"}</dt></div>
      <div><dt>{isCut ? "unknown, at least" : "unknown"}</dt><dd>{formatShare(unknown, data.total)}</dd></div>
      {data.cut_nodes > 0 && <div><dd>{formatCount(data.cut_nodes)}</dd><dt>small bars cut</dt>
        {bars < MOST_BARS && <button type="button" class="link" onClick={() => go({ bars: String(Math.min(bars * 8, MOST_BARS)) }, { replace: true })}>Show more</button>}</div>}
    </dl>
  );
}

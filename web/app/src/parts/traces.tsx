// SPDX-License-Identifier: Apache-2.0
// The traces that containers spent most on, as far as their threads publish them.
import { formatCount, formatShare } from "../../../flame/format.js";
import { Link, scopeOf } from "../shell/top_bar";
import { changed, hrefOf } from "../state/address";
import type { ContainerRow } from "../state/api";
import { traceUrl } from "../state/graph_query";
import { formatSelector } from "../state/selector";
import { Symbol } from "./symbol";

export function Traces({ rows, filter, count, params }: { rows: ContainerRow[]; filter: string; count: number; params: URLSearchParams }) {
  const shown = rows.filter((row) => `${row.trace_id} ${row.namespace} ${row.pod} ${row.container}`.toLowerCase().includes(filter)).slice(0, count);
  if (rows.length === 0) {
    return <p class="status">No sample here has a trace. Threads publish theirs in <code>otel_thread_ctx_v1</code> (OpenTelemetry's thread context, OTEP 4947).</p>;
  }
  return (
    <table class="table tall" data-testid="hot-traces">
      <thead><tr><th scope="col" class="num">#</th><th scope="col">Trace</th><th scope="col" aria-sort="descending">Share</th><th scope="col" class="num">Samples</th><th scope="col">Hottest function</th><th scope="col" /></tr></thead>
      <tbody>
        {shown.map((row, i) => {
          const trace = row.trace_id ?? "";
          const selector = formatSelector(new Map([["namespace", row.namespace], ["pod", row.pod], ["container", row.container]]));
          const stack = row.hottest?.stack ?? [];
          const away = traceUrl(trace);
          return (
            <tr key={`${trace} ${row.pod} ${row.container}`}>
              <td class="num faint">{i + 1}</td>
              <td><Link class="two rowlink" href={hrefOf("explore", changed(scopeOf(params), { q: selector, tf: `trace_id=${trace}` }))}><span class="who mono">{trace}</span><span class="sub">{row.namespace} · {row.pod} · {row.container}</span></Link></td>
              <td class="num">{formatShare(row.share_percent, 100)}</td>
              <td class="num">{formatCount(row.samples)}</td>
              <td class="fn">{stack.length > 0 && <Symbol name={stack[stack.length - 1]!} />}</td>
              <td>{away && <a href={away} target="_blank" rel="noreferrer">Open the trace</a>}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

// SPDX-License-Identifier: Apache-2.0
// Which nodes report, and what is wrong with the server that is asked.
import { useMemo } from "preact/hooks";
import { formatDuration, formatNumber } from "../../../flame/format.js";
import { Spark } from "../parts/spark";
import { Link } from "../shell/top_bar";
import { ask, type DoctorReply, type SeriesReply } from "../state/api";
import { hrefOf } from "../state/address";
import { formatSelector } from "../state/selector";
import { gridOf, scaleOf, valuesOn } from "../state/series";
import { clockText } from "../state/time";
import { useAnswer } from "../state/use_answer";
import { Panel } from "../ui/states";
import type { PageProps } from "./explore";

/** Windows are told when they are over, and uploaded within a minute after. */
const LATE_MS = 300e3;

const WORDS = { ok: "works", warn: "look at it", fail: "broken" };
const TONES = { ok: "ok", warn: "warn", fail: "bad" };

function nodesOf(reply: SeriesReply) {
  const grid = gridOf(reply);
  return reply.series.map((one) => {
    const last = one.points[one.points.length - 1];
    const lastMs = last ? last[0] + reply.step_seconds * 1000 : 0;
    const values = valuesOn(grid, one, scaleOf(reply));
    return { node: one.labels.node || "(not named)", lastMs, lag: reply.to_ms - lastMs, values, cores: values.reduce((a, b) => a + b, 0) / Math.max(values.length, 1) };
  }).sort((a, b) => b.lag - a.lag || (a.node < b.node ? -1 : 1));
}

export function AgentsPage({ params, turn }: PageProps) {
  const query = new URLSearchParams({ by: "node", step: "60s", from: "now-1h" });
  const nodes = useAnswer(`nodes ${query}`, (signal) => ask<SeriesReply>("series", query, signal), turn);
  const doctor = useAnswer("doctor", (signal) => ask<DoctorReply>("doctor", new URLSearchParams(), signal), turn);
  const rows = useMemo(() => (nodes.data ? nodesOf(nodes.data) : []), [nodes.data]);
  return (
    <>
      <section class="panel" aria-label="Nodes" data-testid="nodes">
        <header class="ruled"><h1>Agents</h1><span class="faint">nodes whose CPU profiles came in the last hour; late ones first</span></header>
        <Panel answer={nodes} params={new URLSearchParams()}>
          {() => (rows.length === 0 ? <p class="status">No node has reported in the last hour.</p> : (
            <table class="table">
              <thead><tr><th scope="col">Node</th><th scope="col">State</th><th scope="col" class="num">Last data until</th><th scope="col" class="num">Behind</th><th scope="col" class="num">Profiled cores</th><th scope="col">Trend</th></tr></thead>
              <tbody>{rows.map((row) => (
                <tr key={row.node}>
                  <td><Link href={hrefOf("explore", new URLSearchParams({ q: formatSelector(new Map([["node", row.node]])) }))}>{row.node}</Link></td>
                  <td><span class={`tag ${row.lag > LATE_MS ? "bad" : "ok"}`}>{row.lag > LATE_MS ? "late" : "reports"}</span></td>
                  <td class="num">{clockText(row.lastMs)}</td><td class="num">{formatDuration(Math.max(row.lag, 0) / 1000)}</td>
                  <td class="num">{formatNumber(row.cores)}</td><td style={{ width: "220px" }}><Spark values={row.values} /></td>
                </tr>))}</tbody>
            </table>
          ))}
        </Panel>
      </section>
      <section class="panel" aria-label="Checks" data-testid="checks">
        <header class="ruled"><h2>Checks of this server</h2><span class="faint">the same as <code>firetower doctor</code></span></header>
        <Panel answer={doctor} params={params}>
          {(reply) => {
            const order = ["fail", "warn", "ok"];
            const checks = [...reply.checks].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
            return (
              <table class="table wrap">
                <thead><tr><th scope="col">Check</th><th scope="col">State</th><th scope="col">What was found</th><th scope="col">What to do</th></tr></thead>
                <tbody>{checks.map((check) => (
                  <tr key={check.name}><td class="nowrap">{check.name}</td><td><span class={`tag ${TONES[check.status]}`}>{WORDS[check.status]}</span></td><td>{check.message}</td><td>{check.fix}</td></tr>))}</tbody>
              </table>
            );
          }}
        </Panel>
      </section>
    </>
  );
}

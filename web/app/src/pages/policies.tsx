// SPDX-License-Identifier: Apache-2.0
// Lists the policies with their states, and the captures of triggers.
import { formatBytes, formatCount, formatDuration, formatValue } from "../../../flame/format.js";
import { Link } from "../shell/top_bar";
import { ask, type PoliciesReply, type PolicyRow, type ProfileRow, type ProfilesReply } from "../state/api";
import { hrefOf, questionOf } from "../state/address";
import { formatSelector } from "../state/selector";
import { clockText, isoOf } from "../state/time";
import { useAnswer } from "../state/use_answer";
import { Icon } from "../ui/icon";
import { Command, Panel } from "../ui/states";
import type { PageProps } from "./explore";

function captureHref(row: ProfileRow): string {
  return hrefOf("explore", new URLSearchParams({
    type: row.type, q: formatSelector(new Map([["capture", row.capture!]])),
    from: isoOf(row.start_ms), to: isoOf(row.start_ms + row.seconds * 1000 + 1000),
  }));
}

const WORDS = { ok: "in force", off: "idle", unknown: "not known", degraded: "degraded", refused: "refused" };
const TONES = { ok: "ok", off: "line", unknown: "line", degraded: "warn", refused: "bad" };

/** One count of another; a server that does not count has neither. */
const of = (part: number, whole: number) => (whole === 0 ? "–" : `${formatCount(part)} of ${formatCount(whole)}`);

function PolicyItem({ policy }: { policy: PolicyRow }) {
  const scope = policy.namespace && new URLSearchParams({ q: formatSelector(new Map([["namespace", policy.namespace]])) });
  return (
    <tr>
      <td><span class="two"><b>{policy.name}</b><span class="sub">{policy.kind === "ClusterProfilingPolicy" ? "cluster" : scope ? <Link href={hrefOf("", scope)}>{policy.namespace}</Link> : "file"}</span></span></td>
      <td>{policy.mode || "–"}</td><td>{policy.types.join(", ") || "–"}</td>
      <td><span class={`tag ${TONES[policy.state]}`}>{WORDS[policy.state]}</span></td>
      <td class="num">{of(policy.pods_profiled, policy.pods_matched)}</td><td class="num">{of(policy.nodes_ready, policy.nodes_desired)}</td>
      <td class="num">{policy.captures === 0 ? "–" : formatCount(policy.captures)}</td>
      <td>{policy.reason && <span class="faint">{policy.reason}{policy.message && ": "}</span>}{policy.message}
        {policy.failures.length > 0 && <ul class="evidence">{policy.failures.map((one) => <li key={one.node}>{one.node}: {one.reason}{one.message && `, ${one.message}`}</li>)}</ul>}</td>
    </tr>
  );
}

function PolicyTable({ policies }: { policies: PolicyRow[] }) {
  if (policies.length === 0)
    return <p class="status">No policy is known here, or none that you may see. A daemon that runs by itself without policies profiles everything; a cluster's nodes profile only what a policy selects.</p>;
  return (
    <table class="table wrap">
      <thead><tr><th scope="col">Policy</th><th scope="col">Mode</th><th scope="col">Types</th><th scope="col">State</th><th scope="col" class="num">Pods profiled</th><th scope="col" class="num">Nodes ready</th><th scope="col" class="num">Captures</th><th scope="col">What was found</th></tr></thead>
      <tbody>{policies.map((one) => <PolicyItem key={`${one.namespace}/${one.name}/${one.message}`} policy={one} />)}</tbody>
    </table>
  );
}

export function PoliciesPage({ params, turn }: PageProps) {
  const query = new URLSearchParams({ q: '{capture!=""}', from: "now-7d", stored: "true", limit: "200" });
  const captures = useAnswer(`captures ${query}`, (signal) => ask<ProfilesReply>("profiles", query, signal), turn);
  const scope = questionOf(params).get("q") ?? "";
  const policies = useAnswer(`policies ${scope}`, (signal) => ask<PoliciesReply>("policies", new URLSearchParams(scope ? { q: scope } : {}), signal), turn);
  return (
    <>
      <section class="panel" aria-label="Policies" data-testid="policies">
        <header class="ruled"><h1>Policies</h1><span class="faint">what is profiled, how and when; those to look at first</span></header>
        <Panel answer={policies} params={params}>{(reply) => <PolicyTable policies={reply.policies} />}</Panel>
        <div class="check">
          <p>In a cluster they are Kubernetes objects. The first command shows all of them, the second one why a pod is profiled or is not.</p>
          <Command text="kubectl get profilingpolicies,clusterprofilingpolicies -A" />
          <Command text="kubectl describe profilingpolicy NAME -n NAMESPACE" />
        </div>
      </section>
      <section class="panel" aria-label="Captures" data-testid="captures">
        <header class="ruled"><h2>Captures of the last 7 days</h2><span class="faint">what triggers recorded when a threshold was passed</span></header>
        <Panel answer={captures} params={params}>
          {(reply) => (reply.rows.length === 0 ? <p class="status">No trigger has fired. Captures of policies in trigger mode stand here, and as flags in every chart.</p> : (
            <table class="table">
              <thead><tr><th scope="col">Began</th><th scope="col">Capture</th><th scope="col">Container</th><th scope="col">Type</th><th scope="col" class="num">Length</th><th scope="col" class="num">Samples</th><th scope="col" class="num">Value</th><th scope="col" class="num">Stored</th></tr></thead>
              <tbody>{reply.rows.map((row) => (
                <tr key={row.id}>
                  <td>{clockText(row.start_ms, { seconds: true })}</td>
                  <td><span class="flag"><Icon name="flag" /></span> <Link href={captureHref(row)}>{row.capture}</Link></td>
                  <td>{row.namespace} / {row.pod} / {row.container}</td><td>{row.type}</td><td class="num">{formatDuration(row.seconds)}</td>
                  <td class="num">{formatCount(row.samples)}</td><td class="num">{formatValue(row.value, row.unit)}</td><td class="num">{formatBytes(row.bytes)}</td>
                </tr>))}</tbody>
            </table>
          ))}
        </Panel>
      </section>
    </>
  );
}

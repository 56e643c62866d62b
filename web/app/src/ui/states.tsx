// SPDX-License-Identifier: Apache-2.0
// Shows, in a panel, that it waits, that there is nothing, or what went wrong.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { askForToken } from "../state/access";
import { ask, type ApiError, type DoctorReply, type ProfilesReply } from "../state/api";
import { go, questionOf } from "../state/address";
import { FILTERS, traceOf, traceUrl } from "../state/graph_query";
import { clockText, isoOf } from "../state/time";
import type { Answer } from "../state/use_answer";
import { copy, IconButton } from "./controls";
import { Icon, type IconName } from "./icon";

export function Center({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="center" data-testid="state">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Skeleton({ slow, onCancel }: { slow?: boolean; onCancel?(): void }) {
  return (
    <div aria-busy="true" data-testid="loading">
      <div class="skeleton" aria-hidden="true">
        {["", "w1", "w2", "w2", "w3", "w4", "w4"].map((width, i) => <span key={i} class={`sk ${width}`} />)}
      </div>
      {slow && onCancel && (
        <div class="center"><p>The server is still reading profiles.</p>
          <div class="actions"><button type="button" class="btn" onClick={onCancel}>Cancel</button></div></div>
      )}
    </div>
  );
}

export function Command({ text }: { text: string }) {
  return (
    <div class="cmd"><code>{text}</code><IconButton icon="copy" label="Copy the command" onClick={() => void copy(text, "Command")} /></div>
  );
}

const TITLES: Record<number, string> = {
  0: "The server did not answer", 400: "The question is not valid", 403: "You may not read these profiles",
  413: "That is too much to read at once", 422: "These profiles do not add up", 503: "The server cannot answer now",
};

export function ErrorPanel({ error, onRetry }: { error: ApiError; onRetry(): void }) {
  if (error.code === "canceled") {
    return <Center icon="info" title="Stopped"><p>{error.message}</p>
      <div class="actions"><button type="button" class="btn primary" onClick={onRetry}>Ask again</button></div></Center>;
  }
  const ticket = [`code: ${error.code} (${error.status})`, `message: ${error.message}`, `request: ${error.path}`].join("\n");
  return (
    <Center icon={error.status === 403 ? "lock" : "alert"} title={TITLES[error.status] ?? "The server failed"}>
      <p role="alert">{error.message}</p>
      {error.status === 403 && <><p>Choose a scope that your account may read, or have it bound to a role of <code>k8s/manifests/profile-readers.yaml</code>.</p>
        <Command text="kubectl auth can-i get profilingpolicies/profiles -n NAMESPACE" /></>}
      <dl class="kv"><dt>code</dt><dd>{error.code || "none"} ({error.status})</dd><dt>request</dt><dd>{error.path}</dd></dl>
      <div class="actions">
        <button type="button" class="btn primary" onClick={onRetry}><Icon name="refresh" />Try again</button>
        {error.status === 403 && <button type="button" class="btn" onClick={() => askForToken("Another token (403)")}>Use another token</button>}
        <button type="button" class="btn" onClick={() => void copy(ticket, "Details")}><Icon name="copy" />Copy for a ticket</button>
      </div>
    </Center>
  );
}

/** Why there is nothing, and the way out. */
export function NoData({ params }: { params: URLSearchParams }) {
  const [found, setFound] = useState<{ lastMs: number | null; scopeMs: number | null; checks: DoctorReply | null } | null>(null);
  const question = questionOf(params).toString();
  useEffect(() => {
    const asked = new AbortController();
    const last = async (query: URLSearchParams) => {
      try {
        const { rows } = await ask<ProfilesReply>("profiles", query, asked.signal);
        return rows[0] ? rows[0].start_ms + rows[0].seconds * 1000 : null;
      } catch {
        return null;
      }
    };
    const scope = new URLSearchParams(question);
    scope.set("from", "now-7d");
    scope.delete("to");
    scope.set("limit", "1");
    void Promise.all([
      last(scope), last(new URLSearchParams({ from: "now-7d", limit: "1" })),
      ask<DoctorReply>("doctor", new URLSearchParams(), asked.signal).catch(() => null),
    ]).then(([scopeMs, lastMs, checks]) => {
      if (!asked.signal.aborted) setFound({ scopeMs, lastMs, checks });
    });
    return () => asked.abort();
  }, [question]);
  if (!found) return <Skeleton />;
  const trace = traceUrl(traceOf(params.get("tf")));
  const filters = FILTERS.filter(([name]) => params.get(name));
  if (found.lastMs === null && !params.get("q")) return <FirstRun checks={found.checks} />;
  const lastText = found.scopeMs === null ? null : clockText(found.scopeMs);
  return (
    <Center icon="funnel" title={filters.length > 0 ? "No samples are left after the filters" : "Nothing was recorded here"}>
      <p>{filters.length > 0
        ? `The filter ${filters.map(([name, word]) => `${word} ${params.get(name)}`).join(", ")} keeps none of what matches.`
        : found.scopeMs === null
          ? `No profile of type ${params.get("type") || "cpu"} matches ${params.get("q") || "{}"} in the last 7 days.`
          : `No profile of type ${params.get("type") || "cpu"} matches ${params.get("q") || "{}"} in this time.`}</p>
      <div class="actions">
        {filters.length > 0 && <button type="button" class="btn primary" onClick={() => go(Object.fromEntries(filters.map(([name]) => [name, null])))}>Remove the filter</button>}
        {trace && <a class="btn" href={trace} target="_blank" rel="noreferrer">Open the trace</a>}
        {found.scopeMs !== null && filters.length === 0 && (
          <button type="button" class="btn primary" onClick={() => go({ from: isoOf(found.scopeMs! - 900e3), to: isoOf(found.scopeMs!) })}>Last time with data: {lastText}</button>
        )}
        {params.get("q") && <button type="button" class="btn" onClick={() => go({ q: null })}>Show everything</button>}
        {(params.get("type") || "cpu") !== "cpu" && <button type="button" class="btn" onClick={() => go({ type: null })}>Show CPU</button>}
      </div>
    </Center>
  );
}

/** In place of a blank page; it looks again by itself, as the page refreshes. */
function FirstRun({ checks }: { checks: DoctorReply | null }) {
  useEffect(() => {
    const timer = setInterval(() => go({}, { replace: true }), 5000);
    return () => clearInterval(timer);
  }, []);
  const bad = (checks?.checks ?? []).filter((check) => check.status === "fail");
  return (
    <ol class="check" aria-label="First run" data-testid="first-run">
      <li class="done"><span class="mark"><Icon name="check" small /></span><b>This server answers</b><span class="faint">{location.host}</span></li>
      {bad.length === 0
        ? <li class="done"><span class="mark"><Icon name="check" small /></span><b>Nothing is in its way</b><span class="faint">{checks?.checks.length ?? 0} checks</span></li>
        : <li class="now"><span class="mark">2</span><div><b>{bad[0]!.name}</b><p>{bad[0]!.message}</p>{bad[0]!.fix && <p>{bad[0]!.fix}</p>}</div><span class="faint">{bad.length} to mend</span></li>}
      <li class="now"><span class="mark">3</span><div><b>No profile yet</b>
        <p>In a cluster a policy says what to profile: start with one that takes every pod. A daemon that runs by itself profiles everything, unasked.</p>
        <Command text="kubectl apply -f docs/examples/everything.yaml" /></div><span /></li>
      <li><span class="mark"><Icon name="ring" small /></span><div><b>First profile</b><p>About 60 s after that. This page looks again every 5 s.</p></div><span class="faint">waiting</span></li>
    </ol>
  );
}

/** One panel's answer in each of its states. */
export function Panel<Reply>({ answer, params, children }: {
  answer: Answer<Reply>; params: URLSearchParams; children(data: Reply): ComponentChildren;
}) {
  if (answer.error?.status === 404) return <NoData params={params} />;
  if (answer.error && answer.error.status !== 401) return <ErrorPanel error={answer.error} onRetry={answer.reload} />;
  if (!answer.data) return <Skeleton slow={answer.slow} onCancel={answer.cancel} />;
  return (
    <div class={answer.loading ? "stale" : ""} aria-busy={answer.loading}>
      {answer.slow && <div class="strip"><span>The server is still reading.</span><span class="grow" /><button type="button" class="btn small" onClick={answer.cancel}>Cancel</button></div>}
      {children(answer.data)}
    </div>
  );
}

export function Strip({ tone, icon, children }: { tone: "warn" | "info" | "bad"; icon: IconName; children: ComponentChildren }) {
  return <div class={`strip ${tone}`} role="status"><Icon name={icon} />{children}</div>;
}


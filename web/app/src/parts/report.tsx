// SPDX-License-Identifier: Apache-2.0
// The diagnosis of what a page shows: whose code, which pathologies, what has grown, and what to do next.
import { formatCount } from "../../../flame/format.js";
import { askInTurn, type Diagnosis, type Finding } from "../state/api";
import { changed, go } from "../state/address";
import { cell } from "../state/markdown";
import { isoOf, parseDuration } from "../state/time";
import { useAnswer } from "../state/use_answer";
import { Choice, copy, IconButton } from "../ui/controls";
import { Panel } from "../ui/states";
import { DomainBar, titleOf } from "./diagnosed";

const AGO: readonly (readonly [string, string])[] = [["", "Compare with"], ["1h", "1 hour before"], ["1d", "1 day before"], ["1w", "1 week before"]];
const MOST_FRAMES = 8;

/** The question about a graph: diagnoses are of whole windows, whatever the graph leaves out. */
function reportQuery(flame: URLSearchParams, ago: string, fromMs: number, toMs: number): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ["type", "q", "base-q", "base-from", "base-to"]) {
    const value = flame.get(name);
    if (value) query.set(name, value);
  }
  query.set("from", isoOf(fromMs));
  query.set("to", isoOf(toMs));
  const ms = ago ? parseDuration(ago) : null;
  if (ms) {
    query.set("base-from", isoOf(fromMs - ms));
    query.set("base-to", isoOf(toMs - ms));
  }
  return query;
}

export function reportMarkdown({ verdict, findings, samples }: Diagnosis): string {
  const lines = [`**Verdict: ${cell(verdict.domain)}**, ${verdict.percent.toFixed(1)} %: ${cell(verdict.rule)} (${samples} samples).`];
  for (const one of findings) {
    lines.push("", `## ${titleOf(one.signature)} (${one.percent.toFixed(1)} %, confidence ${one.confidence.toFixed(2)})`, "", cell(one.cause), "");
    for (const { what, percent, stack } of one.evidence) lines.push(`- ${percent.toFixed(1)} %: ${cell(what)}${stack ? `: ${stack.slice(-MOST_FRAMES).map(cell).join(" > ")}` : ""}`);
    lines.push("", `Next: ${cell(one.next)}.`);
  }
  return `${lines.join("\n")}\n`;
}

/** The end of a stack; each function is a search in the graph below. */
function Stack({ names }: { names: string[] }) {
  return (
    <span class="frames">{names.length > MOST_FRAMES && "… › "}{names.slice(-MOST_FRAMES).map((name, i) => (
      <>{i > 0 && " › "}<button type="button" class="link mono" title={`Find ${name}`} onClick={() => go({ find: name, s: null })}>{name.slice(0, 80)}</button></>))}</span>
  );
}

function FindingItem({ finding }: { finding: Finding }) {
  return (
    <li>
      <p><span class="tag warn">{titleOf(finding.signature)}</span> <b>{finding.percent.toFixed(1)} %</b> <span class="faint">confidence {finding.confidence.toFixed(2)}</span></p>
      <p>{finding.cause}</p>
      <ul class="evidence">{finding.evidence.map((one) => <li key={one.what}>{one.percent.toFixed(1)} %: {one.what}{one.stack && <>: <Stack names={one.stack} /></>}</li>)}</ul>
      <p class="faint">Next: {finding.next}.{finding.confirm && <> To confirm: {finding.confirm}.</>}</p>
    </li>
  );
}

export function Report({ params, flame, fromMs, toMs, turn }: { params: URLSearchParams; flame: URLSearchParams; fromMs: number; toMs: number; turn: number }) {
  const isCompared = flame.has("base-from");
  const ago = isCompared || (params.get("type") || "cpu") !== "cpu" ? "" : (params.get("ago") ?? "");
  const isOpen = params.get("why") === "1";
  const query = reportQuery(flame, ago, fromMs, toMs);
  // A relative time moves on with each refresh, not with each drawing.
  const key = changed(query, params.has("to") || params.has("bfrom") ? {} : { from: params.get("from"), to: null, "base-from": ago || params.get("from2"), "base-to": params.get("to2") });
  const answer = useAnswer(isOpen ? `report ${key}` : null, (signal) => askInTurn<Diagnosis>("diagnose", query, signal), turn);
  if (!isOpen) return null;
  return (
    <section class="panel report" aria-label="Diagnosis" data-testid="report">
      <header><h2>Diagnosis</h2><span class="grow" />
        {!isCompared && (params.get("type") || "cpu") === "cpu" && <Choice name="Compared with" value={ago} options={AGO} small right onPick={(next) => go({ ago: next || null })} />}
        {answer.data && <IconButton icon="copy" label="Copy as Markdown" onClick={() => void copy(reportMarkdown(answer.data!), "Diagnosis")} />}
        <IconButton icon="x" label="Close the diagnosis" onClick={() => go({ why: null })} /></header>
      {answer.error?.message.startsWith("nothing to compare with") ? <p class="none" role="alert">There is nothing to compare with: no profile was recorded in that time.</p> : <Panel answer={answer} params={params}>
        {({ verdict, findings, samples }) => (
          <div class="inner">
            <div class="judged"><DomainBar domains={verdict.domains} /><span>{verdict.rule}; {formatCount(samples)} samples</span></div>
            {findings.length === 0 ? <p>No known pathology shows in these stacks{query.has("base-from") ? ", and nothing has grown beyond chance" : ""}.</p>
              : <ol class="findings">{findings.map((one) => <FindingItem key={one.signature + one.cause} finding={one} />)}</ol>}
          </div>
        )}
      </Panel>}
    </section>
  );
}

export function WhyButton({ params }: { params: URLSearchParams }) {
  const isOpen = params.get("why") === "1";
  return <button type="button" class="btn" aria-pressed={isOpen} onClick={() => go({ why: isOpen ? null : "1" })}>Diagnose</button>;
}

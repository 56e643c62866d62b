// SPDX-License-Identifier: Apache-2.0
// Asks, row by row and after the rows themselves, whose code the time is spent in, and why.
import { baseName } from "../../../flame/colors.js";
import { formatShare } from "../../../flame/format.js";
import { askInTurn, type Diagnosis } from "../state/api";
import { questionOf } from "../state/address";
import { useAnswer } from "../state/use_answer";
import { letterOf, Symbol } from "./symbol";

export const DOMAIN_ORDER = ["application", "runtime", "library", "kernel", "unknown"];
const TAGS: Record<string, string> = { application: "Application code", runtime: "Runtime", library: "Library code", kernel: "Kernel", unknown: "Unknown code" };
const LOW = 0.5;

export function useDiagnosis(params: URLSearchParams, selector: string | null, turn: number) {
  const query = questionOf(params);
  if (selector !== null) query.set("q", selector);
  return useAnswer(selector === null ? null : `diagnose ${query}`, (signal) => askInTurn<Diagnosis>("diagnose", query, signal), turn);
}

export function DomainBar({ domains }: { domains: Record<string, number> }) {
  const parts = DOMAIN_ORDER.map((name) => [name, domains[name] ?? 0] as const).filter(([, percent]) => percent > 0);
  const most = parts.reduce((best, part) => (part[1] > best[1] ? part : best), ["unknown", 0] as readonly [string, number]);
  return (
    <>
      <span class="stack" role="img" aria-label={parts.map(([name, percent]) => `${name} ${percent.toFixed(0)} %`).join(", ")}>
        {parts.map(([name, percent]) => <span key={name} class={letterOf(name)} style={{ flex: `${percent} 0 0` }} />)}
      </span>
      <span class="sub domtext">{most[0]} {formatShare(most[1], 100)}</span>
    </>
  );
}

/** A signature's name as a title: "lock-spinning" is "Lock spinning". */
export function titleOf(signature: string): string {
  const words = signature.split("-").map((word) => (/^(json|xml|tls|gc|ipi|dns|io|tlb|jit|rcu|numa|cpu)$/.test(word) ? word.toUpperCase() : word)).join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function VerdictCell({ diagnosis }: { diagnosis: Diagnosis }) {
  const { verdict, findings } = diagnosis;
  const finding = findings[0];
  const unsure = verdict.confidence < LOW;
  const text = finding ? `${finding.percent.toFixed(1)} %: ${finding.cause}` : verdict.rule;
  const tag = finding ? titleOf(finding.signature) : unsure ? "Low confidence" : (TAGS[verdict.domain] ?? verdict.domain);
  return (
    <span class="two">
      <span><span class={`tag ${finding ? "warn" : unsure ? "line" : ""}`}>{tag}</span></span>
      <span class="sub clip" title={finding ? `${text}\nNext: ${finding.next}` : text}>{text}</span>
    </span>
  );
}

export function HottestCell({ name, module, percent, domain }: { name: string; module: string; percent: number; domain?: string }) {
  return (
    <span class="two">
      <Symbol name={name || "(no function)"} {...(domain ? { domain: letterOf(domain) } : {})} />
      <span class="sub shift clip">{formatShare(percent, 100)} of this row{module ? ` · ${baseName(module)}` : ""}</span>
    </span>
  );
}

// SPDX-License-Identifier: Apache-2.0
import { DOMAINS } from "../../../flame/colors.js";
import { splitName } from "../../../flame/names.js";

const SWATCH: Record<string, string> = { a: "a", r: "r", l: "l", k: "k", u: "u" };

export function Swatch({ domain }: { domain: string }) {
  return <span class={`sw ${SWATCH[domain] ?? "u"}`} role="img" aria-label={DOMAINS[domain as keyof typeof DOMAINS]?.word ?? "unknown"} />;
}

/** The letter of a domain's name. */
export const letterOf = (domain: string) => domain.charAt(0);

/** A function's name, its package soft; whole in the tip. A click says that it is wanted. */
export function Symbol({ name, domain, module, onClick }: { name: string; domain?: string; module?: string; onClick?(): void }) {
  const { prefix, main } = splitName(name);
  const text = <>{prefix && <span class={prefix.length > 12 ? "pkg long" : "pkg"}>{prefix}</span>}{main}</>;
  return (
    <span class="symbol">
      {domain && <Swatch domain={domain} />}
      {onClick ? <button type="button" class="name" title={name} onClick={onClick}>{text}</button> : <span class="name" title={name}>{text}</span>}
      {module !== undefined && <span class="mod">{module}</span>}
    </span>
  );
}

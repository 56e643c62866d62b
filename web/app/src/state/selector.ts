// SPDX-License-Identifier: Apache-2.0
// Label selectors as the scope picker writes them, and what it can read of others.

/** The labels of `{a="b",c="d"}`; null when there is more to the selector than that. */
export function parseSelector(selector: string): Map<string, string> | null {
  const text = selector.trim().replace(/^\{|\}$/g, "");
  const labels = new Map<string, string>();
  if (text.trim() === "") return labels;
  const part = /\s*([A-Za-z_]\w*)\s*=\s*("(?:[^"\\]|\\.)*"|`[^`]*`)\s*(,|$)/y;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (!match || labels.has(match[1]!)) return null;
    const quoted = match[2]!;
    try {
      labels.set(match[1]!, quoted.startsWith("`") ? quoted.slice(1, -1) : (JSON.parse(quoted) as string));
    } catch {
      return null;
    }
  }
  return labels;
}

export function formatSelector(labels: Map<string, string>): string {
  const parts = Array.from(labels, ([name, value]) => `${name}=${JSON.stringify(value)}`);
  return parts.length > 0 ? `{${parts.join(",")}}` : "";
}

/** A selector that has the matchers of both. */
export function joined(...selectors: string[]): string {
  const inside = selectors.map((one) => one.trim().replace(/^\{|\}$/g, "").trim().replace(/,$/, ""));
  return `{${inside.filter(Boolean).join(",")}}`;
}

/** A selector and more labels, which replace those of the same name. */
export function narrowed(selector: string, more: Record<string, string>): string {
  const labels = parseSelector(selector);
  const added = new Map(Object.entries(more));
  return labels ? formatSelector(new Map([...labels, ...added])) : joined(selector, formatSelector(added));
}

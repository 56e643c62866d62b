// SPDX-License-Identifier: Apache-2.0
// The scope as breadcrumbs: each level is a list of what the levels before it leave.
import { useState } from "preact/hooks";
import { ask } from "../state/api";
import { go, questionOf } from "../state/address";
import { formatSelector, parseSelector } from "../state/selector";
import { useAnswer } from "../state/use_answer";
import { Menu } from "../ui/controls";
import { Icon } from "../ui/icon";

const LEVELS: [string, string][] = [["namespace", "namespaces"], ["workload", "workloads"], ["pod", "pods"], ["container", "containers"]];

function Values({ params, level, labels, close }: { params: URLSearchParams; level: number; labels: Map<string, string>; close(): void }) {
  const [filter, setFilter] = useState("");
  const [label, plural] = LEVELS[level]!;
  const query = questionOf(params);
  const above = new Map(LEVELS.slice(0, level).filter(([name]) => labels.has(name)).map(([name]) => [name, labels.get(name)!]));
  query.set("name", label);
  query.set("q", formatSelector(above));
  const { data, error } = useAnswer(`labels?${query}`, (signal) => ask<{ values: string[] }>("labels", query, signal));
  const pick = (value: string) => {
    const next = new Map(labels);
    for (const [below] of LEVELS.slice(level)) next.delete(below);
    if (value !== "") next.set(label, value);
    close();
    go({ q: formatSelector(next), z: null });
  };
  const values = (data?.values ?? []).filter((value) => value.toLowerCase().includes(filter.toLowerCase()));
  const most = 200;
  return (
    <>
      <label class="field"><Icon name="search" /><input aria-label={`Find ${plural}`} placeholder={`Find ${plural}`} value={filter} autofocus
        onInput={(event) => setFilter(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && values[0] !== undefined && pick(values[0])} /></label>
      <button type="button" class="item" aria-current={!labels.has(label)} onClick={() => pick("")}>all {plural}</button>
      {values.slice(0, most).map((value) => (
        <button type="button" class="item" key={value} aria-current={labels.get(label) === value} onClick={() => pick(value)}>{value === "-" && label === "namespace" ? "- (host)" : value}</button>
      ))}
      {values.length > most && <p class="note">{values.length - most} more: narrow them by name</p>}
      {data && values.length === 0 && <p class="note">none in this time</p>}
      {error && <p class="note">{error.message}</p>}
    </>
  );
}

export function ScopePicker({ params }: { params: URLSearchParams }) {
  const labels = parseSelector(params.get("q") ?? "");
  if (!labels) return <div class="scope"><code class="clip" title={params.get("q") ?? ""}>{params.get("q")}</code></div>;
  const more = Array.from(labels).filter(([name]) => !LEVELS.some(([known]) => known === name));
  return (
    <nav class="scope" aria-label="Scope">
      {LEVELS.map(([label, plural], level) => (
        <>
          {level > 0 && <span class="sep" aria-hidden="true">/</span>}
          <Menu name={label} label={<span>{labels.get(label) ?? `all ${plural}`}</span>} className={labels.has(label) ? "" : "any"}>
            {(close) => <Values params={params} level={level} labels={labels} close={close} />}
          </Menu>
        </>
      ))}
      {more.map(([name, value]) => (
        <span class="chip on" key={name}><b>{name}</b> {value}
          <button type="button" aria-label={`Remove ${name}`} onClick={() => {
            const next = new Map(labels);
            next.delete(name);
            go({ q: formatSelector(next) });
          }}><Icon name="x" /></button></span>
      ))}
    </nav>
  );
}

// SPDX-License-Identifier: Apache-2.0
// Shows and changes the scope, the type and the time, on every page in the same place.
import { useState } from "preact/hooks";
import { ask } from "../state/api";
import { changed, go, hrefOf, questionOf, type Page } from "../state/address";
import { formatSelector, parseSelector } from "../state/selector";
import { isoOf, rangeOf, rangeText } from "../state/time";
import { refreshNow } from "../state/turn";
import { useAnswer } from "../state/use_answer";
import { Choice, copy, IconButton, Segment } from "../ui/controls";
import { Icon } from "../ui/icon";
import { ScopePicker } from "./scope_picker";
import { TimePicker } from "./time_picker";

const TYPES: [string, string][] = [["cpu", "CPU"], ["offcpu", "Off-CPU"], ["memory", "Memory"], ["lock", "Lock"]];
const REFRESH: [string, string][] = [["0", "Off"], ["10", "10 s"], ["60", "60 s"]];

function TypePicker({ params }: { params: URLSearchParams }) {
  const type = params.get("type") || "cpu";
  const range = questionOf(params);
  for (const name of ["type", "q"]) range.delete(name);
  const { data } = useAnswer(`types?${range}`, (signal) => ask<{ types: { name: string }[] }>("types", range, signal));
  const others = (data?.types ?? []).map(({ name }) => name).filter((name) => !TYPES.some(([known]) => known === name));
  if (!TYPES.some(([known]) => known === type) && !others.includes(type)) others.push(type);
  return (
    <>
      <Segment label="Profile type" value={type} options={TYPES} onPick={(next) => go({ type: next === "cpu" ? null : next })} />
      {others.length > 0 && <Choice name="Event" value={type} options={[...(others.includes(type) ? [] : [[type, "Events"] as const]), ...others.map((name) => [name, name.replace(/^event:/, "")] as const)]}
        onPick={(next) => go({ type: next })} />}
    </>
  );
}

/** The address of this view with its times as they are now, so that it shows the same tomorrow. */
export function frozenLink(page: Page, params: URLSearchParams): string {
  const { fromMs, toMs } = rangeOf(params);
  const frozen = changed(params, { from: isoOf(fromMs), to: isoOf(toMs), now: null, refresh: null, theme: null });
  if (params.get("from2")) {
    const base = rangeOf(new URLSearchParams({ from: params.get("from2") ?? "", to: params.get("to2") ?? "" }));
    frozen.set("from2", isoOf(base.fromMs));
    frozen.set("to2", isoOf(base.toMs));
  }
  return new URL(hrefOf(page, frozen), location.href).href;
}

export function ContextBar({ page, params }: { page: Page; params: URLSearchParams }) {
  const [raw, setRaw] = useState(parseSelector(params.get("q") ?? "") === null);
  const { fromMs, toMs } = rangeOf(params);
  const shift = (direction: number) => {
    const step = ((toMs - fromMs) / 2) * direction;
    go({ from: isoOf(fromMs + step), to: isoOf(toMs + step) });
  };
  return (
    <div class="context" role="region" aria-label="What is looked at">
      <ScopePicker params={params} />
      <button type="button" class="btn ghost small" aria-pressed={raw} title="Write the selector" onClick={() => setRaw(!raw)}><code>{"{…}"}</code><span class="unseen">Selector</span></button>
      <span class="grow" />
      <TypePicker params={params} />
      <div class="group">
        <IconButton className="btn icon" icon="left" label="Earlier" onClick={() => shift(-1)} />
        <TimePicker params={params} />
        <IconButton className="btn icon" icon="right" label="Later" disabled={toMs >= Date.now() - 1000} onClick={() => shift(1)} />
      </div>
      <div class="group">
        <IconButton className="btn icon" icon="refresh" label="Refresh" onClick={refreshNow} />
        <Choice name="Refresh" value={params.get("refresh") ?? "0"} options={REFRESH} right onPick={(next) => go({ refresh: next === "0" ? null : next }, { replace: true })} />
      </div>
      <button type="button" class="btn" title={rangeText(fromMs, toMs)} onClick={() => void copy(frozenLink(page, params), "Link")}><Icon name="link" /><span class="only-mid">Copy link</span></button>
      {raw && <SelectorBox params={params} />}
    </div>
  );
}

function SelectorBox({ params }: { params: URLSearchParams }) {
  const q = params.get("q") ?? "";
  const [text, setText] = useState(q);
  const [shown, setShown] = useState(q);
  if (q !== shown) {  // another control changed it
    setShown(q);
    setText(q);
  }
  const range = questionOf(params);
  range.delete("q");
  const names = useAnswer(`labels?${range}`, (signal) => ask<{ names: string[] }>("labels", range, signal));
  const check = useAnswer(q === "" ? null : `check ${q}`, (signal) => {
    const query = questionOf(params);
    query.set("name", "namespace");
    return ask<unknown>("labels", query, signal);
  });
  const labels = parseSelector(text);
  return (
    <form class="raw" onSubmit={(event) => { event.preventDefault(); go({ q: text.trim() }); }}>
      <label class="field"><Icon name="funnel" />
        <input class="mono" list="label-names" spellcheck={false} aria-label="Selector" placeholder='{namespace="shop",pod=~"web.*"}' value={text}
          onInput={(event) => setText(event.currentTarget.value)} /></label>
      <datalist id="label-names">
        {(names.data?.names ?? []).map((name) => {
          const known = new Map(labels ?? []);
          known.set(name, "");
          return <option key={name} value={formatSelector(known)} />;
        })}
      </datalist>
      <button class="btn">Select</button>
      {check.error?.status === 400 && <span class="problem" role="alert">{check.error.message}</span>}
    </form>
  );
}

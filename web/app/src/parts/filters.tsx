// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { go } from "../state/address";
import { FILTERS, traceOf, traceUrl } from "../state/graph_query";
import { Menu, Segment } from "../ui/controls";
import { Icon } from "../ui/icon";

const IDLE = "^(swapper.*|do_idle|cpu_startup_entry|acpi_idle_.*|intel_idle.*|default_idle.*|mwait_idle.*)$";
const WAITS = "^(__)?(epoll_wait|ep_poll|do_epoll_wait|do_sys_poll|do_select|do_nanosleep|hrtimer_nanosleep|pthread_cond_(timed)?wait.*|accept4?|inet_csk_accept)$";

function AddFilter({ close }: { close(): void }) {
  const [kind, setKind] = useState<string>("f");
  const [text, setText] = useState("");
  let problem = "";
  try {
    new RegExp(text);
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  return (
    <form class="form" onSubmit={(event) => { event.preventDefault(); if (text && !problem) { close(); go({ [kind]: text, z: null }); } }}>
      <Segment label="Kind" value={kind} options={FILTERS.map(([own, word]) => [own, word] as const)} onPick={setKind} />
      <label>{kind === "tf" ? "A label and a regular expression for its value, as thread=worker" : "Regular expression, on function, source file or binary"}
        <span class="field"><input class="mono" aria-label="Regular expression" spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} /></span></label>
      {problem && <span class="problem" role="alert">{problem}</span>}
      <button class="btn" disabled={text === "" || problem !== ""}>Add</button>
    </form>
  );
}

export function FilterChips({ params }: { params: URLSearchParams }) {
  const preset = (title: string, changes: Record<string, string>, why: string) => (
    <button type="button" class="btn ghost small" title={why} onClick={() => go({ ...changes, z: null })}>{title}</button>
  );
  const trace = traceUrl(traceOf(params.get("tf")));
  const waits = ["offcpu", "lock"].includes(params.get("type") ?? "");
  return (
    <div class="chips">
      {FILTERS.map(([own, word]) => params.get(own) && (
        <span class="chip on" key={own}><b>{word}</b> <code>{params.get(own)!.slice(0, 80)}</code>
          <button type="button" aria-label={`Remove ${word}`} onClick={() => go({ [own]: null, z: null })}><Icon name="x" /></button></span>
      ))}
      {trace && <a class="btn ghost small" href={trace} target="_blank" rel="noreferrer">Open the trace</a>}
      <Menu name="Add a filter" label="Filter" icon="plus" className="btn ghost small">{(close) => <AddFilter close={close} />}</Menu>
      <span class="faint">Presets</span>
      {preset("Hide idle", { i: IDLE }, "ignores stacks of idle CPUs")}
      {preset("Only application", { h: "\\[kernel|\\.so(\\.|$)|\\[vdso\\]" }, "hides the kernel's frames and those of shared libraries")}
      {preset("Only kernel", { w: "\\[kernel" }, "shows the kernel's frames alone")}
      {waits && preset("No expected waits", { i: WAITS }, "ignores stacks that wait for work: poll, sleep, accept, conditions")}
    </div>
  );
}

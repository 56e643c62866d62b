// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { go } from "../state/address";
import { isoOf, parseTime, PRESETS, rangeOf, rangeText, setUtc, usesUtc, zoneText } from "../state/time";
import { Menu, Segment } from "../ui/controls";

/** The names of the parameters, and what else a choice changes. */
export function TimePicker({ params, suffix = "" }: { params: URLSearchParams; suffix?: string }) {
  const own = suffix === "" ? params
    : new URLSearchParams([["from", params.get(`from${suffix}`) ?? ""], ["to", params.get(`to${suffix}`) ?? ""], ["now", params.get("now") ?? ""]]);
  const { fromMs, toMs, preset } = rangeOf(own);
  const title = PRESETS.find(([name]) => name === preset)?.[1] ?? (preset ? `Last ${preset}` : rangeText(fromMs, toMs));
  return (
    <Menu name="Time" icon="clock" label={<>{title}<span class="faint only-wide">{preset && `${rangeText(fromMs, toMs)} ${zoneText()}`}</span></>}>
      {(close) => (
        <>
          {PRESETS.map(([name, text]) => (
            <button type="button" class="item" key={name} aria-current={name === preset}
              onClick={() => { close(); go({ [`from${suffix}`]: `now-${name}`, [`to${suffix}`]: null, z: null }); }}>{text}</button>
          ))}
          <hr />
          <Absolute fromMs={fromMs} toMs={toMs} onPick={(from, to) => { close(); go({ [`from${suffix}`]: from, [`to${suffix}`]: to, z: null }); }} />
        </>
      )}
    </Menu>
  );
}

function Absolute({ fromMs, toMs, onPick }: { fromMs: number; toMs: number; onPick(from: string, to: string): void }) {
  const [from, setFrom] = useState(isoOf(fromMs));
  const [to, setTo] = useState(isoOf(toMs));
  const [utc, setZone] = useState(usesUtc());
  const now = Date.now();
  const [begin, end] = [parseTime(from.trim(), now), parseTime(to.trim(), now)];
  const problem = begin === null || end === null ? "A time is 2026-07-01T10:00:00Z, now, now-1h or an epoch." : begin >= end ? "The end is not after the beginning." : "";
  return (
    <form class="form" onSubmit={(event) => { event.preventDefault(); if (problem === "") onPick(from.trim(), to.trim()); }}>
      <label>From<span class="field"><input aria-label="From" spellcheck={false} value={from} onInput={(event) => setFrom(event.currentTarget.value)} /></span></label>
      <label>To<span class="field"><input aria-label="To" spellcheck={false} value={to} onInput={(event) => setTo(event.currentTarget.value)} /></span></label>
      {problem && <span class="problem" role="alert">{problem}</span>}
      <button class="btn" disabled={problem !== ""}>Show</button>
      <div><span class="note">Times are shown in</span> <Segment label="Zone" value={utc ? "utc" : "local"} options={[["local", "this browser's zone"], ["utc", "UTC"]]}
        onPick={(zone) => { setUtc(zone === "utc"); setZone(zone === "utc"); go({}, { replace: true }); }} /></div>
    </form>
  );
}

// SPDX-License-Identifier: Apache-2.0
import { useEffect } from "preact/hooks";
import { go } from "../state/address";
import { exactly } from "../state/graph_query";
import { copy, onMenuKey, useDismiss } from "../ui/controls";
import type { FrameMenu } from "./flame";

export function FrameMenuBox({ menu, onClose }: { menu: FrameMenu; onClose(): void }) {
  const box = useDismiss(true, onClose);
  useEffect(() => box.current?.querySelector<HTMLElement>(".item")?.focus(), []);
  const item = (title: string, act: () => void) => (
    <button type="button" class="item" onClick={() => { onClose(); act(); }}>{title}</button>
  );
  const name = exactly(menu.name);
  return (
    <div ref={box} class="floating pop" role="group" aria-label="Frame" onKeyDown={onMenuKey}
      style={{ left: `${Math.min(menu.x, innerWidth - 240)}px`, top: `${Math.min(menu.y, innerHeight - 300)}px` }}>
      <p class="note">{menu.name.slice(0, 200)}</p>
      {item("Callers and callees (sandwich)", () => go({ mode: "sandwich", fn: menu.name, z: null }))}
      {item("Only stacks with it (focus)", () => go({ f: name, z: null }))}
      {item("Without stacks with it (ignore)", () => go({ i: name, z: null }))}
      {item("Leave it out (hide)", () => go({ h: name, z: null }))}
      {item("Begin at it (show from)", () => go({ sf: name, z: null }))}
      {item("Compare it with an hour before", () => go({ q2: null, from2: null, to2: null, s: name, z: null }, { page: "diff" }))}
      <hr />
      {item("Find it in the table", () => go({ s: name }, { replace: true }))}
      {item("Copy its name", () => void copy(menu.name, "Name"))}
      {item("Copy its stack", () => void copy(menu.stack.join("\n"), "Stack"))}
    </div>
  );
}

// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import { IconButton } from "../ui/controls";

const KEYS: [string, string][] = [
  ["/", "search"], ["n  N", "next and previous match"], ["← ↑ → ↓", "siblings, caller, callee"], ["Enter  +", "zoom in"],
  ["Esc  −", "zoom out, close"], ["0", "reset the zoom"], ["1 – 4", "icicle, flame, bottom-up, sandwich"], ["i", "flip icicle and flame"],
  ["t", "table, both, graph"], ["m", "menu of the frame"], ["d", "compare with the time before"], ["?", "this sheet"],
];

export function HelpDialog({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={onClose} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <header><h1 id="help-title">Keys</h1><span class="grow" /><IconButton icon="x" label="Close" onClick={() => dialog.current?.close()} /></header>
      <div class="keys">{KEYS.map(([key, what]) => [<span class="key">{key}</span>, <span>{what}</span>])}</div>
      <p class="note" style={{ padding: "0 16px 16px" }}>
        Keys of a graph work while it has the focus. The address of a view is a link to it; every answer has the rights of who opens it.
      </p>
    </dialog>
  );
}

// SPDX-License-Identifier: Apache-2.0
// Segments, menus and what pops up: native buttons that answer to keys.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icon";

export function Segment<Value extends string>({ label, value, options, onPick }: {
  label: string; value: Value; options: readonly (readonly [Value, string])[]; onPick(value: Value): void;
}) {
  return (
    <div class="segment" role="group" aria-label={label}>
      {options.map(([one, text]) => (
        <button type="button" key={one} aria-pressed={one === value} onClick={() => onPick(one)}>{text}</button>
      ))}
    </div>
  );
}

/** Closes what is open on Escape, and on a press outside of it. */
export function useDismiss(open: boolean, close: () => void) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const onDown = (event: MouseEvent) => {
      if (box.current && event.target instanceof Node && !box.current.contains(event.target)) close();
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      close();
      box.current?.querySelector("button")?.focus();
    };
    document.addEventListener("mousedown", onDown);
    document.addEventListener("keydown", onKey, true);
    return () => {
      document.removeEventListener("mousedown", onDown);
      document.removeEventListener("keydown", onKey, true);
    };
  }, [open, close]);
  return box;
}

/** Up and Down move between the items of a menu. */
export function onMenuKey(event: KeyboardEvent) {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const box = event.currentTarget as HTMLElement;
  const items = Array.from(box.querySelectorAll<HTMLElement>(".item, input"));
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = items[(at + (event.key === "ArrowDown" ? 1 : -1) + items.length) % items.length];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

export function Menu({ label, name, icon, small, right, className, children }: {
  label: ComponentChildren; name: string; icon?: IconName; small?: boolean; right?: boolean; className?: string;
  children(close: () => void): ComponentChildren;
}) {
  const [open, setOpen] = useState(false);
  const box = useDismiss(open, () => setOpen(false));
  return (
    <div class="menu" ref={box}>
      <button type="button" class={className ?? `btn${small ? " small" : ""}`} aria-haspopup="true" aria-expanded={open}
        title={name} onClick={() => setOpen(!open)}>
        {icon && <Icon name={icon} />}{label}<Icon name="down" small />
      </button>
      {open && (
        <div class={`pop${right ? " right" : ""}`} role="group" aria-label={name} onKeyDown={onMenuKey}>
          {children(() => setOpen(false))}
        </div>
      )}
    </div>
  );
}

/** A menu of choices of which one holds. */
export function Choice<Value extends string>({ name, before, value, options, small, right, onPick }: {
  name: string; before?: string; value: Value; options: readonly (readonly [Value, string])[]; small?: boolean; right?: boolean;
  onPick(value: Value): void;
}) {
  const text = options.find(([one]) => one === value)?.[1] ?? value;
  const label = <>{before && <span class="faint">{before}</span>}{text}</>;
  return (
    <Menu name={`${name}: ${text}`} label={label} {...(small ? { small } : {})} {...(right ? { right } : {})}>
      {(close) => options.map(([one, title]) => (
        <button type="button" class="item" key={one} aria-current={one === value} onClick={() => { close(); onPick(one); }}>{title}</button>
      ))}
    </Menu>
  );
}

export function IconButton({ icon, label, onClick, className, disabled }: {
  icon: IconName; label: string; onClick(): void; className?: string; disabled?: boolean;
}) {
  return (
    <button type="button" class={className ?? "btn ghost small icon"} aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

let toastTimer = 0;
/** Says for a moment what was done. */
export function toast(text: string) {
  document.querySelector(".toast")?.remove();
  const box = document.createElement("div");
  box.className = "toast";
  box.setAttribute("role", "status");
  box.textContent = text;
  document.body.append(box);
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => box.remove(), 2500);
}

export async function copy(text: string, what: string) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without TLS a browser has no clipboard for pages: a selection that is copied is left.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(`${what} copied`);
}

/** Hands a file to the browser, made here or fetched with the reader's token. */
export function save(blob: Blob, name: string) {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

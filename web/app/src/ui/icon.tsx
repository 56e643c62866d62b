// SPDX-License-Identifier: Apache-2.0
import type { JSX } from "preact";

const SHAPES = {
  alert: <><circle cx="8" cy="8" r="5.75" /><path d="M8 4.8v3.9M8 11v.05" /></>,
  check: <path d="m3.5 8.5 3 3 6-7" />,
  clock: <><circle cx="8" cy="8" r="5.75" /><path d="M8 4.8V8l2.2 1.6" /></>,
  copy: <><rect x="5.5" y="5.5" width="8" height="8" rx="1.2" /><path d="M10.5 5.5v-3h-8v8h3" /></>,
  display: <><path d="M2.5 5h5M11.5 5h2M2.5 11h2M8.5 11h5" /><circle cx="9.5" cy="5" r="1.75" /><circle cx="6.5" cy="11" r="1.75" /></>,
  dn: <path d="M8 3.5v9M4.5 9 8 12.5 11.5 9" />,
  down: <path d="M4.5 6.5 8 10l3.5-3.5" />,
  export: <path d="M8 2.5v7M5 6.7l3 3 3-3M3 12.5h10" />,
  file: <path d="M4 2.5h5L12.5 6v7.5H4zM9 2.5V6h3.5" />,
  flag: <path d="M4.2 2v12H3V2zM4.2 2.2 13 5.4 4.2 8.6z" stroke="none" fill="currentColor" />,
  funnel: <path d="M2.5 3.5h11L9.3 8.6v4.2l-2.6-1.3V8.6z" />,
  help: <><circle cx="8" cy="8" r="5.75" /><path d="M6.4 6.4a1.65 1.65 0 1 1 2.4 1.5c-.5.3-.8.6-.8 1.2M8 11.1v.05" /></>,
  info: <><circle cx="8" cy="8" r="5.75" /><path d="M8 7.4v3.4M8 5.2v.05" /></>,
  left: <path d="M9.5 4.5 6 8l3.5 3.5" />,
  link: <path d="M6.8 9.2a2.7 2.7 0 0 0 3.8 0l2-2a2.7 2.7 0 0 0-3.8-3.8l-.7.7M9.2 6.8a2.7 2.7 0 0 0-3.8 0l-2 2a2.7 2.7 0 0 0 3.8 3.8l.7-.7" />,
  lock: <><rect x="3.5" y="7" width="9" height="6.5" rx="1.2" /><path d="M5.5 7V5.2a2.5 2.5 0 0 1 5 0V7" /></>,
  plus: <path d="M8 3.5v9M3.5 8h9" />,
  refresh: <path d="M13.3 8a5.3 5.3 0 1 1-1.7-3.9M13.3 2.4v2.9h-2.9" />,
  right: <path d="M6.5 4.5 10 8l-3.5 3.5" />,
  ring: <circle cx="8" cy="8" r="5.25" />,
  search: <><circle cx="7" cy="7" r="4.25" /><path d="m10.3 10.3 3.2 3.2" /></>,
  swap: <path d="M3 5.5h9.5M10 3l2.5 2.5L10 8M13 10.5H3.5M6 8l-2.5 2.5L6 13" />,
  theme: <><circle cx="8" cy="8" r="5.75" /><path d="M8 2.25a5.75 5.75 0 0 1 0 11.5z" fill="currentColor" /></>,
  warn: <><path d="M8 2.6 14 13H2z" /><path d="M8 6.5v3M8 11.2v.05" /></>,
  x: <path d="m4.5 4.5 7 7m0-7-7 7" />,
} satisfies Record<string, JSX.Element>;

export type IconName = keyof typeof SHAPES;

export function Icon({ name, small }: { name: IconName; small?: boolean }) {
  return <svg class={small ? "i i-s" : "i"} viewBox="0 0 16 16" aria-hidden="true">{SHAPES[name]}</svg>;
}

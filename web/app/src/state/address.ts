// SPDX-License-Identifier: Apache-2.0
// The address is the state: every control is a parameter of it, so a link shows what its sender saw.
import { useEffect, useState } from "preact/hooks";

export const PAGES = ["", "explore", "diff", "heat", "file", "agents", "policies"] as const;
export type Page = (typeof PAGES)[number];
export type Changes = Record<string, string | null>;

const listeners = new Set<() => void>();

/** The page that an address is of; pages lie side by side below any base path. */
export function pageOf(pathname: string): Page {
  const last = pathname.slice(pathname.lastIndexOf("/") + 1);
  return PAGES.find((page) => page === last) ?? "";
}

/** The parameters with changes; null or "" drops one. */
export function changed(params: URLSearchParams, changes: Changes): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") next.delete(name);
    else next.set(name, value);
  }
  return next;
}

export function hrefOf(page: Page, params: URLSearchParams): string {
  const query = params.toString();
  return `${page === "" ? "." : page}${query === "" ? "" : `?${query}`}`;
}

export interface Address {
  page: Page;
  params: URLSearchParams;
  get(name: string): string;
}

function read(): Address {
  const params = new URLSearchParams(location.search);
  return { page: pageOf(location.pathname), params, get: (name) => params.get(name) ?? "" };
}

function tell() {
  for (const listener of listeners) listener();
}

/** Goes to a view: `push` makes a step of its history, which is for what the user did at once. */
export function go(changes: Changes, options: { page?: Page; replace?: boolean } = {}) {
  const { page, params } = read();
  const to = hrefOf(options.page ?? page, changed(params, changes));
  if (options.replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  tell();
}

/** Goes to what a link says. */
export function follow(href: string) {
  history.pushState(null, "", href);
  tell();
  window.scrollTo(0, 0);
}

export function useAddress(): Address {
  const [address, setAddress] = useState(read);
  useEffect(() => {
    const update = () => setAddress(read());
    listeners.add(update);
    window.addEventListener("popstate", update);
    return () => {
      listeners.delete(update);
      window.removeEventListener("popstate", update);
    };
  }, []);
  return address;
}

/** What a question to the API takes of an address. */
export function questionOf(params: URLSearchParams): URLSearchParams {
  const question = new URLSearchParams();
  question.set("type", params.get("type") || "cpu");
  for (const name of ["q", "from", "to"]) {
    const value = params.get(name);
    if (value) question.set(name, value);
  }
  return question;
}

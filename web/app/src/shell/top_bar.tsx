// SPDX-License-Identifier: Apache-2.0
import { follow, hrefOf, type Page } from "../state/address";
import { forgetToken, hasToken } from "../state/access";
import { toggleTheme } from "../state/theme";
import { IconButton } from "../ui/controls";
import { Icon } from "../ui/icon";

const LINKS: [Page, string][] = [["", "Hotspots"], ["explore", "Explore"], ["diff", "Diff"], ["heat", "Heat map"]];
const MORE: [Page, string][] = [["policies", "Policies"], ["agents", "Agents"]];
/** What stays when one goes to another page: what is looked at, not how. */
const SCOPE = ["type", "q", "from", "to", "refresh", "theme", "now"];

export function scopeOf(params: URLSearchParams): URLSearchParams {
  return new URLSearchParams(Array.from(params).filter(([name]) => SCOPE.includes(name)));
}

/** A link within the application; a press with a modifier is the browser's. */
export function Link({ href, children, ...rest }: { href: string; children: preact.ComponentChildren; [more: string]: unknown }) {
  return (
    <a href={href} {...rest} onClick={(event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      follow(href);
    }}>{children}</a>
  );
}

export function TopBar({ page, params, onHelp }: { page: Page; params: URLSearchParams; onHelp(): void }) {
  const link = ([to, title]: [Page, string]) => (
    <Link key={to} href={hrefOf(to, scopeOf(params))} {...(to === page ? { "aria-current": "page" } : {})}>{title}</Link>
  );
  return (
    <header class="topbar">
      <Link href={hrefOf("", scopeOf(params))} class="brand">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 1.2 16.4 6H3.6z" fill="currentColor" />
          <rect x="5.4" y="6.9" width="9.2" height="4.2" rx=".6" fill="var(--brand)" />
          <path d="M6.4 12.2 4.6 19M13.6 12.2l1.8 6.8M5.7 15.6h8.6" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
        </svg>
        Firetower
      </Link>
      <nav class="nav" aria-label="Pages">{LINKS.map(link)}<span class="rule" aria-hidden="true" />{MORE.map(link)}</nav>
      <span class="grow" />
      {hasToken() && <button type="button" class="btn ghost small" onClick={forgetToken}><Icon name="lock" />Forget the token</button>}
      <Link href={hrefOf("file", scopeOf(params))} class="btn ghost small" {...(page === "file" ? { "aria-current": "page" } : {})}><Icon name="file" />Open file</Link>
      <IconButton icon="theme" label="Theme" onClick={toggleTheme} />
      <IconButton icon="help" label="Help and keys" onClick={onHelp} />
    </header>
  );
}

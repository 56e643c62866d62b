// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system says, until somebody chooses.

const KEPT_AS = "firetower-theme";
export const themeChanged = new EventTarget();

function chosen(): string {
  const asked = new URLSearchParams(location.search).get("theme");
  if (asked === "light" || asked === "dark") return asked;
  try {
    return localStorage.getItem(KEPT_AS) ?? "";
  } catch {
    return "";
  }
}

export function applyTheme() {
  const theme = chosen();
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

export function isDark(): boolean {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function toggleTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem(KEPT_AS, document.documentElement.dataset.theme);
  } catch {
    // Then it lasts as long as the page.
  }
  themeChanged.dispatchEvent(new Event("change"));
}

// SPDX-License-Identifier: Apache-2.0
// node screenshots.mjs URL FOLDER: the pictures of docs/web.md, of a daemon that has watched screenshots.py's services.
import { join } from "node:path";
import { launch, settled } from "./browser.mjs";

const [url, folder] = process.argv.slice(2);
const now = Math.floor(Date.now() / 1000) * 1000;
const iso = (ms) => new Date(ms).toISOString();
const last = `from=${iso(now - 205e3)}&to=${iso(now - 5e3)}`;
const selection = `${now - 120e3}-${now - 60e3}@0-100`;
const reports = encodeURIComponent('{container="reports.service"}');
const diff = `from=${iso(now - 65e3)}&to=${iso(now - 5e3)}&from2=${iso(now - 195e3)}&to2=${iso(now - 135e3)}`;
const pages = {
  hotspots: [`?${last}`, "light"],
  "hotspots-dark": [`?${last}`, "dark"],
  explore: [`explore?${last}&by=container&color=domain`, "light"],
  "explore-dark": [`explore?${last}&by=container`, "dark"],
  diff: [`diff?${diff}`, "light"],
  "diff-dark": [`diff?${diff}`, "dark"],
  heat: [`heat?q=${reports}&from=${iso(now - 180e3)}&to=${iso(now - 5e3)}&sel=${selection}`, "light"],
  "heat-dark": [`heat?${last}&scale=rank`, "dark"],
};
const browser = await launch();
for (const [name, [path, colorScheme]] of Object.entries(pages)) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme, timezoneId: "UTC" });
  const page = await context.newPage();
  await page.goto(`${url}/${path}`);
  await settled(page);
  await page.waitForTimeout(1000);
  await settled(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
}
await browser.close();

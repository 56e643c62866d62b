// SPDX-License-Identifier: Apache-2.0
// node session_test.mjs URL CONTAINER IDLE_MS STARTED_MS WINDOW_MS: one who asks what happened, on the pages of a daemon that
// watched a program begin to burn. Writes what was found as JSON lines {"what", "value"}; session_test.py judges.
import { launch, openPage, settle, settled } from "./browser.mjs";

const [url, container, idle, started, window] = process.argv.slice(2).map((text) => (/^\d+$/.test(text) ? Number(text) : text));
const browser = await launch();
const tell = (what, value) => console.log(JSON.stringify({ what, value }));
const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const q = encodeURIComponent(`{container="${container}"}`);
const { page, complaints, requests } = await openPage(browser, `${url}/?from=now-1m&tab=containers`, { timezoneId: "UTC" });

// The row appears by itself, as the page refreshes.
await page.goto(`${url}/?from=now-1m&tab=containers&refresh=5`);
const row = page.locator("[data-testid=hot-row]", { has: page.getByText(container, { exact: true }) });
await row.waitFor({ timeout: 60_000 });
tell("row after ms", Date.now() - started);
while (Date.now() < started + 2 * window) await rest(200);

await row.locator(".rowlink").click();
await settled(page);
tell("row leads to", new URL(page.url()).searchParams.get("q"));
const first = page.locator("[data-testid=functions] tbody tr").first();
tell("hottest function", await first.locator(".name").getAttribute("title"));
await first.locator("button").click();
await settle(page);
tell("its share", await page.locator("[data-testid=matches]").textContent());

while (Date.now() < started + 5 * window) await rest(200);
const iso = (ms) => new Date(ms).toISOString();
await page.goto(`${url}/diff?q=${q}&from=${iso(started + window)}&to=${iso(started + 4 * window)}&from2=${iso(idle)}&to2=${iso(idle + window)}`);
await settled(page);
tell("difference", (await page.locator("[data-testid=headline]").innerText()).replace(/\s+/g, " "));
tell("changed most", await page.locator("[data-testid=functions] tbody tr .name").first().getAttribute("title"));

await page.goto(`${url}/heat?q=${q}&from=${iso(started + window)}&to=${iso(started + 4 * window)}`);
await settled(page);
const heat = await (await page.request.get(`${url}/api/v1/heat?q=${q}&from=${iso(started + window)}&to=${iso(started + 4 * window)}`)).json();
const canvas = page.locator("[data-testid=heat]");
const box = await canvas.boundingBox();
// As the page lays it out: 64 and 58 px at the sides, 40 above, 4 px a row.
const plot = { left: box.x + 64, right: box.x + box.width - 58, bottom: box.y + 40 + 200 };
const lit = await canvas.evaluate((element) => {
  const scale = devicePixelRatio;
  const ground = getComputedStyle(document.documentElement).getPropertyValue("--heat-0").trim();
  const context = element.getContext("2d");
  const width = element.clientWidth - 64 - 58;
  const shares = [];
  for (let row = 0; row < 50; row++) {
    const line = context.getImageData(Math.round(64 * scale), Math.round((40 + 200 - row * 4 - 3) * scale), Math.round(width * scale), 1).data;
    let bright = 0;
    let seen = 0;
    for (let x = 0; x < line.length; x += 4) {
      if (line[x + 3] === 0) continue;
      seen++;
      const hex = `#${[line[x], line[x + 1], line[x + 2]].map((value) => value.toString(16).padStart(2, "0")).join("")}`;
      if (hex !== ground) bright++;
    }
    shares.push(seen === 0 ? 0 : bright / seen);
  }
  return shares;
});
tell("lit rows", lit.map((share) => Number(share.toFixed(2))));
const known = Array.from(heat.known).flatMap((state, column) => (state === "t" ? [column] : []));
tell("rows with samples", heat.rows.map((_, row) => known.filter((column) => heat.cells[column * heat.rows.length + row] > 0).length / known.length));
await page.mouse.move(plot.left + 3, plot.bottom - 2);
await page.mouse.down();
await page.mouse.move(plot.right - 3, plot.bottom - 18, { steps: 5 });
await page.mouse.up();
await settled(page);
tell("selection", (await page.locator("[data-testid=selection]").innerText()).replace(/\s+/g, " "));
tell("functions of the selection", await page.locator("[data-testid=functions] tbody tr").evaluateAll((rows) =>
  rows.filter((one) => one.querySelector(".name")).map((one) => [one.querySelector(".name").title, ...[0, 2].map((at) => one.cells[at].textContent.replace(/\s/g, " "))])));
tell("strange requests", requests.filter((request) => !request.startsWith(`${url}/`) && request !== `${url}/`));
tell("complaints", complaints);
await browser.close();

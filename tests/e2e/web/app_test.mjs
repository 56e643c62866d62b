// SPDX-License-Identifier: Apache-2.0
// The application on a server whose content is that of tests/unit/query/fixture.h, by the server's clock.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { expectAccessible, launch, openPage, settle, settled, startServer } from "./browser.mjs";

const NOW = "now=1782900000000";  // 2026-07-01T10:00:00Z, as the server's clock stands
let server;
let url;
let browser;

before(async () => {
  ({ server, url } = await startServer());
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.stdin.end();
});

const WEB = encodeURIComponent('{container="web"}');
const text = async (page, id) => (await page.locator(`[data-testid=${id}]`).first().textContent()).replace(/\s+/g, " ");
const params = (page) => new URL(page.url()).searchParams;
const open = async (path, options) => {
  const opened = await openPage(browser, `${url}/${path}`, { timezoneId: "UTC", ...options });
  await settled(opened.page);
  return opened;
};
/** The browser itself tells of answers that are no 200. */
const ours = (complaints) => complaints.filter((one) => !one.startsWith("Failed to load resource"));

test("the home page shows what is hot, whose it is and why, asked of its own server alone", async () => {
  const { page, requests, complaints } = await open(`?${NOW}`);
  const rows = page.locator("[data-testid=hot-row]");
  await page.waitForFunction(() => document.querySelectorAll("[data-testid=hot-row] .verdict .tag").length === 3);
  const cells = await rows.nth(0).locator("td").allInnerTexts();
  assert.match(cells[1], /^web\s+shop · web-0$/);
  assert.match(cells[2], /^80\.0\s%/);
  assert.equal(cells[3], "0.017");
  assert.match(cells[5], /^Parse\s+60\.0\s% of this row · web$/);
  assert.match(cells[6], /application 100\.0\s%/);
  assert.match(cells[7], /Application code/);
  assert.match(await rows.nth(1).innerText(), /^2\s+sidecar/);
  assert.match(await text(page, "hotspots"), /Host processes ?outside of pods · 4\.0 %.*sshd\.service/);
  for (const request of requests) assert.ok(request.startsWith(`${url}/`), request);
  assert.deepEqual(complaints, []);
});

test("a row leads to its flame graph, and Back leads back", async () => {
  const { page, complaints } = await open(`?${NOW}`);
  await page.locator("[data-testid=hot-row] .rowlink").first().click();
  await settled(page);
  assert.match(page.url(), /\/explore\?/);
  assert.equal(params(page).get("q"), '{namespace="shop",pod="web-0",container="web"}');
  assert.match(await text(page, "facts"), /^0\.017 cores3\.00 sof CPUover3 min3profiles/);
  await page.goBack();
  await settled(page);
  assert.equal(await page.locator("[data-testid=hot-row]").count(), 3);
  assert.deepEqual(complaints, []);
});

test("processes and functions have their tabs", async () => {
  const { page, complaints } = await open(`?${NOW}`);
  await page.getByRole("button", { name: "Functions" }).click();
  await settled(page);
  assert.equal(params(page).get("tab"), "functions");
  const first = await page.locator("[data-testid=hot-functions] tbody tr").first().innerText();
  assert.match(first.replace(/\s+/g, " "), /^1 Parse web 48\.0 % 48\.0 % shop\/web-0\/web/);
  await page.getByRole("button", { name: "Processes" }).click();
  await settled(page);
  assert.equal(await page.locator("[data-testid=hot-row]").count(), 3);
  assert.deepEqual(complaints, []);
});

test("traces have a tab, and a label is a filter", async () => {
  const { page, complaints } = await open(`?${NOW}&tab=traces`);
  assert.match(await text(page, "hotspots"), /No sample here has a trace\. Threads publish theirs in otel_thread_ctx_v1/);
  await page.goto(`${page.url().replace(/\/\?.*/, "/")}explore?${NOW}&tf=trace_id%3D4bf92f3577b34da6a3ce929d0e0e4736`);
  await settled(page);
  assert.match(await text(page, "state"), /No samples are left after the filters ?The filter label trace_id=4bf92f3577b34da6a3ce929d0e0e4736 keeps none/);
  assert.equal(await page.getByRole("link", { name: "Open the trace" }).count(), 0);  // the server was not told where
  await page.getByRole("button", { name: "Remove the filter" }).click();
  await settled(page);
  assert.equal(params(page).get("tf"), null);
  await page.evaluate(() => { document.querySelector('meta[name="trace-url"]').content = "https://traces.example/{trace_id}"; });
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("button", { name: "label", exact: true }).click();
  await page.getByRole("textbox", { name: "Regular expression" }).fill("trace_id=4bf92f3577b34da6a3ce929d0e0e4736");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await settled(page);
  const away = page.getByRole("link", { name: "Open the trace" });
  assert.equal(await away.getAttribute("href"), "https://traces.example/4bf92f3577b34da6a3ce929d0e0e4736");
  assert.deepEqual(complaints, []);
});

test("scope, type and time are chosen, and are the address", async () => {
  const { page, complaints } = await open(`explore?${NOW}`);
  assert.match(await text(page, "facts"), /^0\.021 cores3\.75 s/);
  const scope = page.getByRole("navigation", { name: "Scope" });
  await scope.getByRole("button", { name: "all containers" }).click();
  await scope.getByRole("button", { name: "web", exact: true }).click();
  await settled(page);
  assert.equal(params(page).get("q"), '{container="web"}');
  assert.match(await text(page, "facts"), /3\.00 s/);
  await scope.getByRole("button", { name: "all namespaces" }).click();
  await scope.getByRole("button", { name: "shop", exact: true }).click();  // drops what was chosen below it
  await settled(page);
  assert.equal(params(page).get("q"), '{namespace="shop"}');
  assert.match(await text(page, "facts"), /3\.60 s/);
  await page.goBack();
  await settled(page);
  assert.match(await text(page, "facts"), /3\.00 s/);
  await page.locator(".context").getByRole("button", { name: /Last 15 min/ }).click();
  await page.getByLabel("From").fill("2026-07-01T09:58:00Z");
  await page.getByLabel("To", { exact: true }).fill("2026-07-01T10:00:00Z");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await settled(page);
  assert.match(await text(page, "facts"), /2\.00 s/);
  assert.equal(params(page).get("from"), "2026-07-01T09:58:00Z");
  assert.deepEqual(complaints, []);
});

test("a link opens what its sender saw", async () => {
  const query = new URLSearchParams({ q: '{container=~"web|sidecar"}', from: "2026-07-01T09:58:00Z", to: "2026-07-01T10:00:00Z",
    s: "Parse", mode: "flame", view: "graph", color: "domain", names: "short", pct: "shown" });
  const { page, complaints } = await open(`explore?${query}`);
  // Two minutes of web (100 samples each) and sidecar (20).
  assert.match(await text(page, "facts"), /2\.40 s/);
  assert.equal(await text(page, "matches"), "50.0 % in 1 places");
  assert.equal(await page.getByRole("button", { name: "Flame", exact: true }).getAttribute("aria-pressed"), "true");
  assert.equal(await page.locator("[data-testid=functions]").count(), 0);
  assert.deepEqual(complaints, []);
});

test("the address of a panel's link is read as it is, also where it led before", async () => {
  const query = new URLSearchParams({ type: "cpu", q: "{namespace=`shop`,container=`web`}", find: "Parse(a+b)*" });
  for (const path of ["", "explore"]) {
    const { page, complaints } = await open(`${path}?${query}`);
    assert.match(page.url(), /\/explore\?/);
    assert.match(await text(page, "facts"), /3\.00 s/);
    assert.equal(await page.locator("[data-testid=search]").inputValue(), String.raw`Parse\(a\+b\)\*`);
    assert.equal(await page.locator(".scope").getByText("web", { exact: true }).count(), 1);
    assert.deepEqual(complaints, []);
  }
});

test("zoom, its place in the address, and the keys of a graph", async () => {
  const { page, complaints } = await open(`explore?${NOW}&q=${WEB}`);
  const graph = page.locator("[data-testid=graph]");
  const current = page.locator("[data-testid=current]");
  await graph.focus();
  await graph.press("ArrowDown");
  await graph.press("ArrowDown");
  assert.match(await current.textContent(), /^Serve · web, application · total 90\.0\s%/);
  await graph.press("Enter");
  await settle(page);
  const zoom = params(page).get("z");
  assert.match(zoom, /^[0-9a-f]{16}$/);
  const { width } = await page.locator(".graph canvas").boundingBox();
  assert.deepEqual(await page.evaluate((w) => window.__flame.nodeAt(w / 100, 50), width), { level: 2, index: 1 });
  // The same place in data of another time.
  const { page: later } = await open(`explore?q=${WEB}&from=2026-07-01T09:59:00Z&to=2026-07-01T10:00:00Z&z=${zoom}`);
  assert.deepEqual(await later.evaluate((w) => window.__flame.nodeAt(w / 100, 50), width), { level: 2, index: 1 });
  const { page: gone } = await open(`explore?${NOW}&q=${WEB}&z=00000000deadbeef`);
  await gone.getByText("is not in this data").waitFor();
  assert.equal(params(gone).get("z"), null);
  await graph.press("0");
  await settle(page);
  assert.equal(params(page).get("z"), null);
  await graph.press("2");
  await settled(page);
  assert.equal(params(page).get("mode"), "flame");
  await graph.press("t");
  assert.equal(params(page).get("view"), "graph");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), "search");
  await page.keyboard.type("Encode");
  await page.keyboard.press("Enter");
  assert.match(await current.textContent(), /^Encode · /);
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  assert.deepEqual(complaints, []);
});

test("the menu of a frame filters, and chips take filters away", async () => {
  const { page, complaints } = await open(`explore?${NOW}&q=${WEB}`);
  const graph = page.locator("[data-testid=graph]");
  await graph.focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "m"]) await graph.press(key);
  await page.getByRole("button", { name: "Leave it out (hide)" }).click();
  await settled(page);
  assert.equal(params(page).get("h"), "^Parse$");
  assert.deepEqual(await page.evaluate(() => window.__flame.model.data.names), ["total", "main", "Idle", "Serve", "Encode"]);
  await page.getByRole("button", { name: "Remove hide" }).click();
  await settled(page);
  assert.ok((await page.evaluate(() => window.__flame.model.data.names)).includes("Parse"));
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("group", { name: "Kind" }).getByRole("button", { name: "focus" }).click();
  await page.getByLabel("Regular expression", { exact: true }).fill("Encode");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await settled(page);
  assert.match(await text(page, "facts"), /900 ms/);
  assert.deepEqual(complaints, []);
});

test("bottom-up and sandwich turn the graph around one function", async () => {
  const { page, complaints } = await open(`explore?${NOW}&q=${WEB}&mode=bottom-up`);
  const levels = await page.evaluate(() => window.__flame.model.levels.map((level) => Array.from(level.name, (name) => window.__flame.model.data.names[name])));
  assert.deepEqual(levels[1], ["Encode", "Idle", "Parse"]);
  // A brushed range is that of both halves: one minute of three.
  const minute = `bfrom=${1782899880000}&bto=${1782899940000}`;
  const { page: brushed } = await open(`explore?${NOW}&q=${WEB}&mode=sandwich&fn=Serve&${minute}`);
  const asked = await brushed.evaluate(() => performance.getEntriesByType("resource").map((one) => new URL(one.name)).filter((one) => one.searchParams.get("show-from")).map((one) => one.searchParams.get("from")));
  assert.ok(asked.length >= 2 && asked.every((from) => from === "2026-07-01T09:58:00Z"), asked.join(" "));
  const { page: between } = await open(`explore?${NOW}&q=${WEB}&mode=sandwich&fn=Serve`);
  await between.locator("[data-testid=sandwich]").waitFor();
  assert.equal(await between.locator(".sandwich canvas").count(), 2);
  await between.locator("[data-testid=functions]").getByRole("button", { name: "Parse" }).click();
  await settled(between);
  assert.equal(params(between).get("fn"), "Parse");
  assert.deepEqual(complaints, []);
});

test("a range is brushed on the chart, and taken away", async () => {
  const { page, complaints } = await open(`explore?q=${WEB}&from=2026-07-01T09:50:00Z&to=2026-07-01T10:00:00Z`);
  const box = await page.locator("[data-testid=chart]").boundingBox();
  await page.mouse.move(box.x + box.width * 0.83, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.9, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  const [from, to] = [Number(params(page).get("bfrom")), Number(params(page).get("bto"))];
  assert.ok(from > 1782899400000 && to < 1782900000000 && to - from > 20_000, `${from} ${to}`);
  await page.locator("[data-testid=range]").getByRole("button").click();
  await settled(page);
  assert.equal(params(page).get("bfrom"), null);
  assert.match(await text(page, "facts"), /3\.00 s/);
  assert.deepEqual(ours(complaints), []);
});

test("a comparison says what changed, with numbers", async () => {
  const b = "from=2026-07-01T09:58:00Z&to=2026-07-01T10:00:00Z";
  const { page, complaints } = await open(`diff?${b}&q=${WEB}&q2=${encodeURIComponent('{container="sidecar"}')}&from2=2026-07-01T09:57:00Z&to2=2026-07-01T09:58:00Z`);
  assert.match(await text(page, "headline"), /^\+0\.013 coresfrom 0\.003 to 0\.017 cores \(\+400\.0 %\)/);
  const rows = await page.locator("[data-testid=functions] tbody tr").allInnerTexts();
  const cells = rows.map((row) => row.split(/\s+/).filter(Boolean));
  assert.ok(cells.some((row) => row[0] === "+600.0" && row.includes("Parse")), JSON.stringify(cells));
  assert.ok(cells.some((row) => row[0] === "−100.0" && row.includes("Log")), JSON.stringify(cells));
  await page.getByRole("button", { name: "normalized" }).click();
  await settled(page);
  const shares = (await page.locator("[data-testid=functions] tbody tr").allInnerTexts()).map((row) => row.split(/\s+/).filter(Boolean));
  assert.ok(shares.some((row) => row[0] === "+60.0" && row.includes("Parse")), JSON.stringify(shares));
  await page.getByRole("button", { name: "Swap A and B" }).click();
  await settled(page);
  assert.match(await text(page, "headline"), /^−0\.013 cores/);
  assert.deepEqual(ours(complaints), []);
});

test("a diagnosis says whose code it is, what is known of it and what has grown, and is a ticket's text", async () => {
  const { page, complaints } = await open(`explore?q=${WEB}&from=2026-07-01T09:58:00Z&to=2026-07-01T09:59:00Z`);
  assert.equal(await page.locator("[data-testid=report]").count(), 0);
  await page.getByRole("button", { name: "Diagnose" }).click();
  await settled(page);
  assert.equal(params(page).get("why"), "1");
  assert.match(await text(page, "report"), /application 100\.0 %.*100 samples.*No known pathology shows in these stacks\./);
  await page.goto(`${url}/diff?from=2026-07-01T09:45:00Z&to=2026-07-01T10:00:00Z&from2=2026-07-01T09:45:00Z&to2=2026-07-01T10:00:00Z&q=${encodeURIComponent('{pod="web-0"}')}&q2=${encodeURIComponent('{container="sidecar"}')}&why=1`);
  await settled(page);
  assert.match(await text(page, "report"), /New hotspot.*Parse of \/usr\/bin\/web takes 50\.00 % where it took 0\.00 % before.*Next: see what calls it now/);
  await expectAccessible(page, "diagnosis");
  await page.getByRole("button", { name: "Close the diagnosis" }).click();
  assert.equal(params(page).get("why"), null);
  await page.goto(`${url}/explore?q=${WEB}&from=2026-07-01T09:58:00Z&to=2026-07-01T09:59:00Z&why=1&ago=1d`);
  await settled(page);
  assert.match(await text(page, "report"), /There is nothing to compare with: no profile was recorded in that time/);
  assert.deepEqual(ours(complaints), []);
  await page.close();
});

test("windows that do not tell when within them are told as such, on the map and off it", async () => {
  const { page, complaints } = await open(`heat?from=2026-07-01T09:57:00Z&to=2026-07-01T10:00:00Z`);
  await page.getByText("375 samples are of windows that do not tell when").waitFor();
  assert.deepEqual(complaints, []);
});

test("an hour of cells is drawn in a moment, told in numbers, and any part of it is chosen by keys", async () => {
  const { page, complaints } = await openPage(browser, "about:blank", { timezoneId: "UTC" });
  const [columns, rows] = [3600, 50];
  const begin = 1782896400000;
  const cells = Array.from({ length: columns * rows }, (_, i) => (i % rows < 5 ? 3 : (i * 7919) % 101 === 0 ? 1 : 0));
  await page.route("**/api/v1/heat?*", (route) => route.fulfill({ json: { version: 1, type: "cpu", by: "offset", from_ms: begin, to_ms: begin + columns * 1000,
    begin_ms: begin, column_ms: 1000, row_ms: 20, rows: Array.from({ length: rows }, (_, i) => String(i * 20)), columns, known: "t".repeat(columns), cells,
    samples: cells.reduce((a, b) => a + b, 0), untimed_samples: 0, other_rows: 0, skipped: 0 } }));
  await page.goto(`${url}/heat?from=2026-07-01T09:00:00Z&to=2026-07-01T10:00:00Z`);
  await settled(page);
  const heat = page.locator("[data-testid=heat]");
  const times = [];
  for (let i = 0; i < 9; i++) {
    await page.getByRole("button", { name: i % 2 ? "Linear" : "Rank" }).click();
    await settle(page);
    times.push(Number(await heat.getAttribute("data-draw-ms")));
  }
  const median = times.sort((a, b) => a - b)[4];
  console.log(`heat of ${columns} by ${rows} cells: drawn in ${median} ms, of ${times.join(" ")}`);
  assert.ok(median < 50, times.join(" "));
  assert.match(await heat.getAttribute("aria-label"), /second and by offset/);
  await heat.focus();
  for (const key of ["ArrowRight", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowUp"]) await heat.press(key);
  const [, from, to, low, high] = /^(\d+)-(\d+)@(\d+)-(\d+)$/.exec(params(page).get("sel"));
  assert.deepEqual([to - from, low, high], [2000, "0", "40"]);
  assert.deepEqual(ours(complaints), []);
});

test("nodes and checks have their page, captures theirs", async () => {
  const { page, complaints } = await open(`agents?${NOW}`);
  assert.match(await text(page, "nodes"), /node-1reports/);
  assert.match(await text(page, "checks"), /storelook at itno retention is setgive --store-max-bytes 10Gi/);
  const { page: policies } = await open("policies");
  assert.match(await text(policies, "policies"), /nodescluster\s*TriggerCPUdegraded30 of 403 of 42MissingCapability: 1 of 4 nodes ?node-1: MissingCapability, CAP_SYS_PTRACE is missing/);
  assert.match(await text(policies, "policies"), /checkoutshop\s*GeneralCPU, Lockin force3 of 32 of 2/);
  assert.match(await text(policies, "captures"), /No trigger has fired|Nothing was recorded/);
  assert.deepEqual(ours(complaints), []);
});

test("files open, two of them as a difference, and what is none is told", async () => {
  const { page, complaints } = await open("file");
  await page.getByText("Up to 8.00 MiB").waitFor();
  const choose = async (...files) => {
    await page.getByLabel("Choose a file").setInputFiles(files.map(([name, text]) => ({ name, mimeType: "", buffer: Buffer.from(text) })));
    await settled(page);
  };
  await choose(["a.folded", "main;f 3\nmain;<script>window.pwned=1</script> 1\n"]);
  assert.match(await text(page, "facts"), /^4/);
  assert.deepEqual(await page.evaluate(() => window.__flame.model.data.names.length), 4);
  await choose(["a.folded", "main;f 3\n"], ["b.folded", "main;f 1\nmain;g 5\n"]);
  await page.waitForFunction(() => window.__flame.model?.isDiff);
  assert.deepEqual(await page.evaluate(() => [window.__flame.model.wholeA, window.__flame.model.wholeB]), [3, 6]);
  await choose(["picture.png", "\x89PNG"]);
  await page.getByText("These profiles do not add up").waitFor();
  assert.match(await page.locator("main").innerText(), /picture\.png: /);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.deepEqual(ours(complaints), []);
});

test("copied commands and links ask the same", async () => {
  const { page, complaints } = await open(`explore?${NOW}&q=${WEB}&f=Parse&names=short`, { permissions: ["clipboard-read", "clipboard-write"] });
  const copied = async (name) => {
    if (name !== "Copy link") await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("button", { name, exact: true }).click();
    await page.getByText(/copied$/).waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const command = await copied("Copy CLI command");
  const file = `${process.env.FIRETOWER_WORK}/flame.html`;
  execFileSync("bash", ["-c", command.replace("-f flame.html", `-f ${file}`)],
    { env: { ...process.env, PATH: `${process.env.FIRETOWER_BUILD}/bin:${process.env.PATH}` } });
  const names = JSON.parse(/id="data">(.*?)<\/script>/s.exec(readFileSync(file, "utf8"))[1]).names;
  assert.deepEqual(names, ["total", "main", "Serve", "Parse"]);
  assert.match(await copied("Copy go tool pprof command"), /^go tool pprof -http : 'http:\/\/127\.0\.0\.1:\d+\/api\/v1\/profile\?type=cpu&q=.*focus=Parse'$/);
  assert.match(await copied("Copy as Markdown"), /\| 100\.0\s% \| 100\.0\s% \| Parse \| \/usr\/bin\/web \|/);
  const link = new URL(await copied("Copy link"));
  assert.deepEqual([link.searchParams.get("from"), link.searchParams.get("to"), link.searchParams.get("now")],
    ["2026-07-01T09:45:00Z", "2026-07-01T10:00:00Z", null]);
  const { page: colleague } = await openPage(browser, link.href, { timezoneId: "UTC" });
  await settled(colleague);
  assert.equal(await text(colleague, "facts"), await text(page, "facts"));
  assert.deepEqual(complaints, []);
});

test("no data, wrong questions and servers that are gone are told, with a way out", async () => {
  const { page } = await open(`explore?${NOW}&q=${encodeURIComponent('{pod="nope"}')}`);
  await page.getByText("Nothing was recorded here").first().waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Show everything" }).first().click();
  await settled(page);
  assert.match(await text(page, "facts"), /3\.75 s/);
  await page.getByRole("button", { name: "Selector" }).click();
  await page.getByLabel("Selector", { exact: true }).fill("{pod=");
  await page.locator("form.raw").getByRole("button").click();
  await page.getByText(/selector column/).first().waitFor();
  await page.getByText("The question is not valid").first().waitFor();
  await expectAccessible(page);
  const { page: filtered } = await open(`explore?${NOW}&f=nothing_has_this_name`);
  await filtered.getByText("No samples are left after the filters").waitFor();
  await filtered.getByRole("button", { name: "Remove the filter" }).click();
  await settled(filtered);
  assert.match(await text(filtered, "facts"), /3\.75 s/);
  const { page: old } = await open(`explore?from=2026-07-01T08:00:00Z&to=2026-07-01T08:15:00Z`);
  await old.getByRole("button", { name: /Last time with data/ }).first().click();
  await settled(old);
  assert.match(await text(old, "facts"), /3\.75 s/);
});

test("a slow answer shows a skeleton at once, and can be stopped", async () => {
  const { page } = await openPage(browser, "about:blank");
  await page.route("**/api/v1/flame?*", async (route) => {
    await new Promise((done) => setTimeout(done, 3500));
    await route.continue().catch(() => {});
  });
  await page.goto(`${url}/explore?${NOW}`);
  await page.locator("[data-testid=result] [data-testid=loading]").waitFor();
  await page.locator("[data-testid=result]").getByRole("button", { name: "Cancel" }).click();
  await page.getByText("You stopped it").waitFor();
  await page.unroute("**/api/v1/flame?*");
  await page.getByRole("button", { name: "Ask again" }).click();
  await page.locator("[data-testid=facts]").waitFor();
});

test("a server that is busy is asked again when it says", async () => {
  const { page } = await openPage(browser, "about:blank");
  let refused = 0;
  await page.route("**/api/v1/flame?*", (route) => (refused++ < 2
    ? route.fulfill({ status: 503, headers: { "Retry-After": "1" }, json: { code: "unavailable", message: "too many concurrent queries" } })
    : route.continue()));
  await page.goto(`${url}/explore?${NOW}`);
  await page.locator("[data-testid=facts]").waitFor();
  assert.equal(refused, 3);
});

test("a page that is asked anew never asks for more at a time than a server lets in", async () => {
  const { page } = await openPage(browser, "about:blank");
  await page.addInitScript(() => {
    const real = window.fetch;
    const counts = (window.counts = { asked: 0, running: 0, most: 0 });
    window.fetch = (...call) => {
      counts.asked++;
      counts.most = Math.max(counts.most, ++counts.running);
      return real(...call).finally(() => counts.running--);  // at once for those that are given up
    };
  });
  await page.route("**/api/v1/**", async (route) => {
    await new Promise((done) => setTimeout(done, 600));
    await route.continue().catch(() => {});  // its asker may have left
  });
  await page.goto(`${url}/?${NOW}`);
  await page.waitForRequest("**/api/v1/diagnose?*");
  await page.getByRole("button", { name: "Refresh" }).first().click();
  await page.waitForFunction(() => document.querySelectorAll("[data-testid=hot-row] .verdict .tag").length === 3);
  const { asked, most } = await page.evaluate(() => window.counts);
  assert.ok(asked > 8, `asked for ${asked} things`);
  assert.ok(most <= 4, `asked for ${most} things at a time`);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing on any page in the ${colorScheme} theme`, async () => {
    for (const path of ["", "explore", "explore?mode=sandwich&fn=Serve", "diff?from=2026-07-01T09:58:00Z&to=2026-07-01T09:59:00Z&from2=2026-07-01T09:57:00Z",
      "heat", "file", "agents", "policies"]) {
      const { page } = await open(path, { colorScheme });
      await page.waitForTimeout(200);
      await settled(page);
      await expectAccessible(page).catch((error) => assert.fail(`/${path}: ${error.message}`));
      await page.context().close();
    }
  });
}

test("1,024 pixels need no sideways scrolling", async () => {
  for (const path of ["", "explore", "diff", "heat", "agents", "policies", "file"]) {
    const { page } = await open(path, { viewport: { width: 1024, height: 700 } });
    const [content, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(content <= seen, `/${path}: ${content} of ${seen}`);
    await page.context().close();
  }
});

test("a server that is gone is told", async () => {
  const { page } = await open(`explore?${NOW}`);
  const gone = once(server, "exit");
  server.stdin.end();
  await gone;
  await page.getByRole("button", { name: "Refresh" }).first().click();
  await page.getByText("The server did not answer").first().waitFor();
  assert.match(await page.locator("main").innerText(), /The server cannot be reached/);
});

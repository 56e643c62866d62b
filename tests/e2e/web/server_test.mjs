// SPDX-License-Identifier: Apache-2.0
// The page of a server whose content is that of tests/unit/query/fixture.h, by the server's clock.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { drawn, expectAccessible, launch, openPage } from "./browser.mjs";

let server;
let url;
let browser;

before(async () => {
  server = spawn(`${process.env.FIRETOWER_BUILD}/tests/flame_server`, { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(server.stdout, "data");
  url = String(line).trim();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.stdin.end();
});

const text = (page, id) => page.locator(id).textContent();
const options = (page, id) => page.locator(`${id} option`).allTextContents();
const answered = (page) => page.waitForResponse((response) => response.url().includes("/api/v1/flame"));

test("it shows all of the last quarter of an hour, asked of its own server", async () => {
  const { page, requests, complaints } = await openPage(browser, `${url}/`);
  await drawn(page);
  assert.match(await text(page, "#info"), /^3\.8s, 0\.0208 cores of cpu · 2026-07-01T09:45:00Z to 2026-07-01T10:00:00Z · 9 profiles$/);
  for (const request of requests) assert.ok(request.startsWith(`${url}/`), request);
  for (const path of ["flame", "types", "labels"]) {
    assert.ok(requests.some((request) => request.includes(`/api/v1/${path}?`)), path);
  }
  await page.waitForFunction(() => document.querySelectorAll("#container option").length === 4);
  assert.deepEqual(await options(page, "#type"), ["cpu"]);
  assert.deepEqual(await options(page, "#container"), ["all", "sidecar", "sshd.service", "web"]);
  assert.deepEqual(await options(page, "#namespace"), ["all", "-", "shop"]);
  assert.deepEqual(complaints, []);
});

test("a choice becomes the selector and the address, and Back leads back", async () => {
  const { page, complaints } = await openPage(browser, `${url}/`);
  await drawn(page);
  await page.waitForFunction(() => document.querySelectorAll("#container option").length === 4);
  let asked = answered(page);
  await page.selectOption("#container", "web");
  await asked;
  await page.waitForFunction(() => document.querySelector("#info").textContent.startsWith("3.0s"));
  assert.equal(await page.inputValue("#selector"), '{container="web"}');
  let params = new URL(page.url()).searchParams;
  assert.equal(params.get("q"), '{container="web"}');
  assert.equal(params.get("type"), "cpu");
  assert.equal(params.get("from"), "now-15m");
  asked = answered(page);
  await page.selectOption("#namespace", "shop");  // drops what was chosen below it
  await asked;
  assert.equal(new URL(page.url()).searchParams.get("q"), '{namespace="shop"}');
  await page.waitForFunction(() => document.querySelector("#info").textContent.startsWith("3.6s"));
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("#info").textContent.startsWith("3.0s"));
  assert.equal(await page.inputValue("#selector"), '{container="web"}');
  assert.deepEqual(complaints, []);
});

test("an address of a panel's link is read as it is", async () => {
  const query = new URLSearchParams({ type: "cpu", q: "{namespace=`shop`,container=`web`}", find: "Parse(a+b)*" });
  const { page, complaints } = await openPage(browser, `${url}/?${query}`);
  await drawn(page);
  assert.match(await text(page, "#info"), /^3\.0s/);
  await page.waitForFunction(() => document.querySelectorAll("#container option").length > 1);
  assert.equal(await page.inputValue("#container"), "web");
  assert.equal(await page.inputValue("#search"), String.raw`Parse\(a\+b\)\*`);
  assert.deepEqual(complaints, []);
});

test("an address brings back what it says", async () => {
  const query = new URLSearchParams({ type: "cpu", q: '{container=~"web|sidecar"}', from: "2026-07-01T09:58:00Z",
    to: "2026-07-01T10:00:00Z", s: "Parse" });
  const { page, complaints } = await openPage(browser, `${url}/?${query}`);
  await drawn(page);
  // Two minutes of web (100 samples each) and sidecar (20).
  assert.match(await text(page, "#info"), /^2\.4s, 0\.02 cores of cpu/);
  assert.match(await text(page, "#matches"), /^50\.0 %, 1\.2s/);
  assert.equal(await page.inputValue("#window"), "custom");
  assert.equal(await page.inputValue("#from"), "2026-07-01T09:58:00Z");
  assert.equal(await page.inputValue("#selector"), '{container=~"web|sidecar"}');
  await page.waitForFunction(() => document.querySelector("#container").disabled);
  assert.deepEqual(complaints, []);
});

test("an address with an end alone is of the quarter of an hour before it", async () => {
  const { page, complaints } = await openPage(browser, `${url}/?to=2026-07-01T09:59:00Z`);
  await drawn(page);
  // Two minutes are stored by then, of 125 samples each.
  assert.match(await text(page, "#info"), /^2\.5s, .* 2026-07-01T09:44:00Z to 2026-07-01T09:59:00Z/);
  assert.equal(await page.inputValue("#window"), "custom");
  assert.equal(await page.inputValue("#from"), "");
  assert.deepEqual(complaints, []);
});

test("the profile can be downloaded as it is shown", async () => {
  const { page } = await openPage(browser, `${url}/?q=${encodeURIComponent('{container="web"}')}`);
  await drawn(page);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
  assert.match(download.suggestedFilename(), /^cpu-.*\.pb\.gz$/);
  const address = new URL(download.url()).searchParams;
  assert.equal(address.get("q"), '{container="web"}');
  assert.equal(address.get("from"), "now-15m");
});

test("no data and wrong questions are told, and mended", async () => {
  const { page } = await openPage(browser, `${url}/?q=${encodeURIComponent('{pod="nope"}')}`);
  await page.locator("#message").waitFor();
  assert.match(await text(page, "#message"), /^No data: no profile matches cpu\{pod="nope"\}.*widen the range/s);
  assert.equal(await page.locator("#result").isVisible(), false);
  await expectAccessible(page);
  await page.fill("#selector", "{pod=");
  await page.click("#show");
  await page.waitForFunction(() => document.querySelector("#message").textContent.startsWith("The server answers 400"));
  assert.match(await text(page, "#message"), /selector column/);
  await page.fill("#selector", "");
  await page.press("#selector", "Enter");
  await drawn(page);
  assert.equal(await page.locator("#message").isVisible(), false);
  assert.match(await text(page, "#info"), /^3\.8s/);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing in the ${colorScheme} theme`, async () => {
    const { page } = await openPage(browser, `${url}/`, { colorScheme });
    await drawn(page);
    await page.waitForFunction(() => document.querySelectorAll("#container option").length === 4);
    await expectAccessible(page);
  });
}

test("half a screen needs no sideways scrolling", async () => {
  const { page } = await openPage(browser, `${url}/?from=2026-07-01T09:58:00Z`, { viewport: { width: 512, height: 700 } });
  await drawn(page);
  const [content, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= seen, `${content} of ${seen}`);
});

test("a server that is gone is told", async () => {
  const { page } = await openPage(browser, `${url}/`);
  await drawn(page);
  const gone = once(server, "exit");
  server.stdin.end();
  await gone;
  await page.click("#show");
  await page.locator("#message").waitFor();
  assert.match(await text(page, "#message"), /^The server cannot be reached/);
});

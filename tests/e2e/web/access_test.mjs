// SPDX-License-Identifier: Apache-2.0
// The page of a server that answers only whom it knows: the token, asked for and kept to the tab.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { drawn, expectAccessible, launch, openPage } from "./browser.mjs";

const TOKEN = "eyJhbGciOi.t0ken-of_jane";
const POWERLESS = "eyJhbGciOi.t0ken-of_joe";

let server;
let url;
let browser;

before(async () => {
  server = spawn(`${process.env.FIRETOWER_BUILD}/tests/flame_server`, [TOKEN, POWERLESS],
    { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(server.stdout, "data");
  url = String(line).trim();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.stdin.end();
});

const text = (page, id) => page.locator(id).textContent();
// The browser itself tells of answers that are no 200.
const ours = (complaints) => complaints.filter((one) => !/the server responded with a status of 40[13]/.test(one));

async function enter(page, token) {
  await page.fill("#token", token);
  await page.press("#token", "Enter");
}

test("a token is asked for, sent in the header, and in no address", async () => {
  const { page, requests, complaints } = await openPage(browser, `${url}/`);
  const sent = [];
  page.on("request", (request) => sent.push(request.headers().authorization));
  await page.locator("#sign-in").waitFor();
  assert.match(await text(page, "#token-problem"), /^A token is needed \(401\): the cluster knows nobody/);
  assert.match(await text(page, "#sign-in"), /kubectl -n NAMESPACE create token SERVICEACCOUNT/);
  assert.match(await text(page, "#sign-in"), /403: it knows\s+the account/);
  assert.equal(await page.locator("#result").isVisible(), false);
  assert.equal(await page.locator("#unencrypted").isVisible(), false, "the loopback is no network");
  await page.waitForLoadState("networkidle");
  sent.length = 0;
  await enter(page, TOKEN);
  await drawn(page);
  assert.match(await text(page, "#info"), /^3\.8s/);
  await page.waitForFunction(() => document.querySelectorAll("#container option").length === 4);
  assert.equal(await page.locator("#sign-in").isVisible(), false);
  assert.equal(await page.inputValue("#token"), "");
  assert.deepEqual(new Set(sent), new Set([`Bearer ${TOKEN}`]));
  for (const request of [...requests, page.url()]) {
    assert.ok(request.startsWith(`${url}/`) && !request.includes("t0ken"), request);
  }
  const kept = await page.evaluate(() => [localStorage.length, document.cookie, sessionStorage.length]);
  assert.deepEqual(kept, [0, "", 1]);
  assert.deepEqual(ours(complaints), []);
});

test("a reload keeps it, another tab does not have it, and it can be forgotten", async () => {
  const { page } = await openPage(browser, `${url}/`);
  await page.locator("#sign-in").waitFor();
  await enter(page, `Bearer ${TOKEN}\n`);
  await drawn(page);
  await page.reload();
  await drawn(page);
  const other = await page.context().newPage();
  await other.goto(`${url}/`);
  await other.locator("#sign-in").waitFor();
  await page.click("#forget");
  await page.locator("#sign-in").waitFor();
  assert.equal(await page.locator("#forget").isVisible(), false);
  await page.reload();
  await page.locator("#sign-in").waitFor();
});

test("a token that nobody knows is told and forgotten", async () => {
  const { page, complaints } = await openPage(browser, `${url}/`);
  await page.locator("#sign-in").waitFor();
  await enter(page, "expired");
  await page.waitForFunction(() => document.querySelector("#token-problem").textContent.startsWith("This token is refused"));
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  await enter(page, "two words");
  assert.match(await text(page, "#token-problem"), /^That is no token/);
  await enter(page, TOKEN);
  await drawn(page);
  assert.deepEqual(ours(complaints), []);
});

test("an account without the right is told so, and keeps its token", async () => {
  const { page, complaints } = await openPage(browser, `${url}/`);
  await page.locator("#sign-in").waitFor();
  await enter(page, POWERLESS);
  await page.locator("#message").waitFor();
  assert.match(await text(page, "#message"), /^The server answers 403: joe may not read/);
  assert.match(await text(page, "#message"), /profile-readers\.yaml/);
  assert.equal(await page.locator("#sign-in").isVisible(), false);
  assert.equal(await page.locator("#forget").isVisible(), true);
  assert.deepEqual(ours(complaints), []);
});

test("the profile is downloaded with the token", async () => {
  const { page, complaints } = await openPage(browser, `${url}/?q=${encodeURIComponent('{container="web"}')}`);
  await page.locator("#sign-in").waitFor();
  await enter(page, TOKEN);
  await drawn(page);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
  assert.match(download.suggestedFilename(), /^cpu-.*\.pb\.gz$/);
  assert.ok(gunzipSync(readFileSync(await download.path())).includes("Serve"));
  assert.deepEqual(ours(complaints), []);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing in the question, in the ${colorScheme} theme`, async () => {
    const { page } = await openPage(browser, `${url}/`, { colorScheme });
    await page.locator("#sign-in").waitFor();
    await expectAccessible(page);
  });
}

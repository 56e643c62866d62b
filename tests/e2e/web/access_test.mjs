// SPDX-License-Identifier: Apache-2.0
// The application of a server that answers only whom it knows: the token, asked for and kept to the tab.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { expectAccessible, launch, openPage, settled, startServer } from "./browser.mjs";

const TOKEN = "eyJhbGciOi.t0ken-of_jane";
const POWERLESS = "eyJhbGciOi.t0ken-of_joe";

let server;
let url;
let browser;

before(async () => {
  ({ server, url } = await startServer(TOKEN, POWERLESS));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.stdin.end();
});

const form = (page) => page.getByRole("heading", { name: "Who is asking?" });
const problem = (page) => page.locator("[data-testid=token-problem]").textContent();
// The browser itself tells of answers that are no 200.
const ours = (complaints) => complaints.filter((one) => !/the server responded with a status of 40[13]/.test(one));

async function enter(page, token) {
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.keyboard.press("Enter");
}

test("a token is asked for, sent in the header, and in no address", async () => {
  const { page, requests, complaints } = await openPage(browser, `${url}/explore`);
  const sent = [];
  page.on("request", (request) => sent.push(request.headers().authorization));
  await form(page).waitFor();
  assert.match(await problem(page), /^A token is needed \(401\): the cluster knows nobody/);
  const help = await page.locator("main").innerText();
  assert.match(help, /kubectl -n NAMESPACE create token SERVICEACCOUNT/);
  assert.match(help, /403: it knows\s+the account/);
  assert.ok(!help.includes("not encrypted"), "the loopback is no network");
  await page.waitForLoadState("networkidle");
  sent.length = 0;
  await enter(page, TOKEN);
  await page.locator("[data-testid=facts]").waitFor();
  await settled(page);
  assert.equal(await form(page).count(), 0);
  assert.deepEqual(new Set(sent), new Set([`Bearer ${TOKEN}`]));
  for (const request of [...requests, page.url()]) {
    assert.ok(request.startsWith(`${url}/`) && !request.includes("t0ken"), request);
  }
  const kept = await page.evaluate(() => [localStorage.length, document.cookie, sessionStorage.length]);
  assert.deepEqual(kept, [0, "", 1]);
  assert.deepEqual(ours(complaints), []);
});

test("a reload keeps it, another tab does not have it, and it can be forgotten", async () => {
  const { page } = await openPage(browser, `${url}/explore`);
  await form(page).waitFor();
  await enter(page, `Bearer ${TOKEN}`);
  await page.locator("[data-testid=facts]").waitFor();
  await page.reload();
  await page.locator("[data-testid=facts]").waitFor();
  const other = await page.context().newPage();
  await other.goto(`${url}/`);
  await form(other).waitFor();
  await page.getByRole("button", { name: "Forget the token" }).click();
  await form(page).waitFor();
  assert.equal(await page.getByRole("button", { name: "Forget the token" }).count(), 0);
  await page.reload();
  await form(page).waitFor();
});

test("a token that nobody knows is told and forgotten", async () => {
  const { page, complaints } = await openPage(browser, `${url}/`);
  await form(page).waitFor();
  await enter(page, "expired");
  await page.getByText("This token is refused").waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  await enter(page, "two words");
  await page.getByText("That is no token").waitFor();
  await enter(page, TOKEN);
  await page.locator("[data-testid=hot-row]").first().waitFor();
  assert.deepEqual(ours(complaints), []);
});

test("an account without the right is told so, keeps its token, and may use another", async () => {
  const { page, complaints } = await openPage(browser, `${url}/explore`);
  await form(page).waitFor();
  await enter(page, POWERLESS);
  await page.getByText("You may not read these profiles").first().waitFor();
  const told = await page.locator("main").innerText();
  assert.match(told, /joe may not read/);
  assert.match(told, /profile-readers\.yaml/);
  assert.match(told, /kubectl auth can-i/);
  await expectAccessible(page);
  assert.equal(await page.getByRole("button", { name: "Forget the token" }).isVisible(), true);
  await page.getByRole("button", { name: "Use another token" }).first().click();
  await form(page).waitFor();
  await enter(page, TOKEN);
  await page.locator("[data-testid=facts]").waitFor();
  assert.deepEqual(ours(complaints), []);
});

test("files are fetched with the token", async () => {
  const { page, complaints } = await openPage(browser, `${url}/explore?q=${encodeURIComponent('{container="web"}')}`);
  await form(page).waitFor();
  await enter(page, TOKEN);
  await page.locator("[data-testid=facts]").waitFor();
  const fetched = async (name) => {
    await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
    return [download.suggestedFilename(), readFileSync(await download.path())];
  };
  const [name, pprof] = await fetched("pprof");
  assert.match(name, /^cpu-.*\.pb\.gz$/);
  assert.ok(gunzipSync(pprof).includes("Serve"));
  assert.match(String((await fetched("Folded stacks"))[1]), /^main;Serve;Parse 180$/m);
  assert.equal(JSON.parse((await fetched("speedscope"))[1]).$schema, "https://www.speedscope.app/file-format-schema.json");
  assert.match(String((await fetched("SVG"))[1]), /<svg [^]*Parse/);
  assert.match(String((await fetched("HTML"))[1]), /^<!doctype html>/);
  assert.match(String((await fetched("CSV"))[1]), /^function,module,self,total\n"Parse","\/usr\/bin\/web",1800000000,1800000000$/m);
  assert.equal((await fetched("PNG"))[1].subarray(1, 4).toString(), "PNG");
  assert.deepEqual(ours(complaints), []);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing in the question, in the ${colorScheme} theme`, async () => {
    const { page } = await openPage(browser, `${url}/`, { colorScheme });
    await form(page).waitFor();
    await expectAccessible(page);
  });
}

// SPDX-License-Identifier: Apache-2.0
// wide_page.mjs URL ANSWER PICTURE: opens the page as a person does, waits until its graph is drawn, and
// writes what the server answered and a picture of the page. Prints the line above the graph.
import { writeFileSync } from "node:fs";
import { drawn, launch } from "./browser.mjs";

const [url, answerFile, pictureFile] = process.argv.slice(2);
const browser = await launch();
const context = await browser.newContext();
const page = await context.newPage();
const answer = page.waitForResponse((response) => response.url().includes("/api/v1/flame"), { timeout: 120_000 });
await page.goto(url);
const response = await answer;
if (response.status() !== 200) throw new Error(`${response.status()}: ${await response.text()}`);
writeFileSync(answerFile, await response.text());
await drawn(page);
await page.screenshot({ path: pictureFile });
console.log(await page.locator("#info").textContent());
await browser.close();

// SPDX-License-Identifier: Apache-2.0
// Debian's Chromium, and pages that must not complain.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.FIRETOWER_WEB}/`);
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export async function launch() {
  // The tests run as root, which Chromium's own sandbox refuses.
  return chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
}

/**
 * A page that records what it asks for and what it complains about.
 * @returns {Promise<{page: import("playwright-core").Page, requests: string[], complaints: string[]}>}
 */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
  const page = await context.newPage();
  const requests = [];
  const complaints = [];
  page.on("request", (request) => {
    if (!request.url().startsWith("data:")) requests.push(request.url());
  });
  page.on("console", (message) => {
    const ours = message.text().includes("willReadFrequently");  // about the reading of pixels here
    if (!ours && ["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.goto(url);
  return { page, requests, complaints };
}

/** A server whose content is that of tests/unit/query/fixture.h. It ends with its standard input. */
export async function startServer(...tokens) {
  const server = spawn(`${process.env.FIRETOWER_BUILD}/tests/flame_server`, tokens, { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(server.stdout, "data");
  return { server, url: String(line).trim() };
}

/** Waits until the graph of an exported file is drawn. */
export async function drawn(page) {
  await page.locator('#result[aria-busy="false"]').waitFor();
}

/** Waits until nothing on a page of the application is on its way any more. */
export async function settled(page) {
  await page.waitForFunction(() => document.querySelector("main") && !document.querySelector('[aria-busy="true"]'));
  await settle(page);
}

/** The canvas' colour at a point in CSS pixels, as [red, green, blue, alpha]. */
export async function pixel(page, x, y) {
  return page.evaluate(([px, py]) => {
    const canvas = document.querySelector(".graph canvas");
    const scale = canvas.width / canvas.clientWidth;
    const data = canvas.getContext("2d").getImageData(Math.floor(px * scale), Math.floor(py * scale), 1, 1).data;
    return Array.from(data);
  }, [x, y]);
}

export async function canvasBox(page) {
  return page.locator(".graph canvas").first().boundingBox();
}

/** Lets the page draw what was just asked of it. */
export async function settle(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** axe-core finds nothing to object to. */
export async function expectAccessible(page) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => window.axe.run(document, {
    runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] },
  }));
  const found = violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(" ")}`);
  assert.deepEqual(found, []);
}

// SPDX-License-Identifier: Apache-2.0
// The files that flame_files writes, opened from the disk.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { canvasBox, drawn, expectAccessible, launch, openPage, pixel, settle } from "./browser.mjs";

const folder = process.env.FIRETOWER_WORK;
const ROW = 20;
let browser;

before(async () => {
  execFileSync(`${process.env.FIRETOWER_BUILD}/tests/flame_files`, [folder]);
  browser = await launch();
});
after(() => browser?.close());

const open = (name, options) => openPage(browser, `file://${folder}/${name}.html`, options);
const text = (page, id) => page.locator(id).textContent();
const middle = (row) => row * ROW + ROW / 2 + 7;  // below the label's letters

test("it asks for nothing and complains of nothing", async () => {
  const { page, requests, complaints } = await open("shop");
  await drawn(page);
  assert.deepEqual(requests, [`file://${folder}/shop.html`]);
  assert.deepEqual(complaints, []);
  assert.match(await text(page, "#info"), /^750\sms, 0\.013\scores of cpu · 2023-11-14T22:13:20Z/);
});

test("its policy lets no request out", async () => {
  const { page } = await open("shop");
  const reached = await page.evaluate(() => fetch("http://127.0.0.1:9/").then(() => "yes", (e) => String(e)));
  assert.match(reached, /TypeError/);
  const violation = await page.evaluate(() => new Promise((done) => {
    document.addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective));
    fetch("http://127.0.0.1:9/").catch(() => {});
  }));
  assert.equal(violation, "connect-src");
});

for (const deviceScaleFactor of [1, 2]) {
  test(`bars are at the pixels where their shares put them, at a scale of ${deviceScaleFactor}`, async () => {
    // total and main over all, idle over the first fifth, serve over the rest, parse below serve.
    const { page } = await open("shop", { deviceScaleFactor });
    await drawn(page);
    const { width } = await canvasBox(page);
    const at = (share, row) => pixel(page, share * width, middle(row));
    const idle = await at(0.1, 2);
    const serve = await at(0.6, 2);
    assert.equal(idle[3], 255);
    assert.equal(serve[3], 255);
    assert.notDeepEqual(idle, serve);
    assert.deepEqual(await at(0.6, 3), serve);  // one binary, one colour
    assert.equal((await at(0.1, 3))[3], 0);     // nothing below idle
    assert.equal((await at(0.6, 4))[3], 0);
    // The border between the two is at a fifth, to the pixel.
    const border = Math.round(0.2 * width);
    assert.deepEqual(await pixel(page, border - 3, middle(2)), idle);
    assert.deepEqual(await pixel(page, border + 1, middle(2)), serve);
    const found = await page.evaluate((w) => {
      const view = window.__flame;
      return [view.nodeAt(0.1 * w, 50), view.nodeAt(0.6 * w, 50), view.nodeAt(0.1 * w, 70), view.nodeAt(0, 5)];
    }, width);
    assert.deepEqual(found, [{ level: 2, index: 0 }, { level: 2, index: 1 }, null, { level: 0, index: 0 }]);
  });
}

test("half a screen needs no sideways scrolling", async () => {
  for (const name of ["shop", "hostile", "big"]) {
    const { page } = await open(name, { viewport: { width: 512, height: 700 } });
    await drawn(page);
    const [content, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(content <= seen, `${name}: ${content} of ${seen}`);
  }
});

test("a flame stands on its root, and flips", async () => {
  const { page } = await open("shop-flame");
  await drawn(page);
  const { width } = await canvasBox(page);
  assert.equal((await pixel(page, 0.1 * width, middle(0)))[3], 0);  // parse's row, above idle
  assert.equal((await pixel(page, 0.6 * width, middle(0)))[3], 255);
  await page.click("#flip");
  await settle(page);
  assert.equal((await pixel(page, 0.1 * width, middle(0)))[3], 255);
});

test("a click zooms, and Escape, 0 and the button lead back", async () => {
  const { page, complaints } = await open("shop");
  await drawn(page);
  const { x, y, width } = await canvasBox(page);
  await page.mouse.click(x + 0.6 * width, y + 2 * ROW + 10);  // serve
  await settle(page);
  const at = (share, row) => page.evaluate(([px, py]) => window.__flame.nodeAt(px, py), [share * width, row * ROW + 10]);
  assert.deepEqual(await at(0.01, 2), { level: 2, index: 1 });
  assert.deepEqual(await at(0.01, 3), { level: 3, index: 0 });
  assert.equal((await pixel(page, 0.01 * width, middle(3)))[3], 255);  // parse over all of it
  assert.match(await text(page, "[data-testid=current]"), /^serve · .*total 80\.0\s%/);
  await page.locator("#graph").press("Escape");  // to main
  assert.deepEqual(await at(0.01, 2), { level: 2, index: 0 });
  await page.mouse.click(x + 0.6 * width, y + 3 * ROW + 10);
  await page.locator("#graph").press("0");
  assert.deepEqual(await at(0.01, 2), { level: 2, index: 0 });
  await page.mouse.click(x + 0.6 * width, y + 3 * ROW + 10);
  await page.click("#reset");
  assert.deepEqual(await at(0.01, 2), { level: 2, index: 0 });
  assert.deepEqual(complaints, []);
});

test("the keyboard reaches every bar, and tells where it is", async () => {
  const { page } = await open("shop");
  await drawn(page);
  const graph = page.locator("#graph");
  await graph.focus();
  const item = page.locator("[data-testid=current]");
  const level = () => item.getAttribute("aria-level");
  assert.match(await item.textContent(), /^total · /);
  assert.equal(await level(), "1");
  await graph.press("ArrowDown");
  assert.match(await item.textContent(), /^main · /);
  await graph.press("ArrowDown");  // the widest child
  assert.match(await item.textContent(), /^serve · /);
  assert.equal(await item.getAttribute("aria-posinset"), "2");
  assert.equal(await item.getAttribute("aria-setsize"), "2");
  await graph.press("ArrowLeft");
  assert.match(await item.textContent(), /^idle · libc\.so\.6 · total 20\.0\s%, 150\sms, 0\.003\scores/);
  await graph.press("ArrowRight");
  await graph.press("ArrowDown");
  assert.match(await item.textContent(), /^parse · /);
  await graph.press("Enter");
  const { width } = await canvasBox(page);
  assert.deepEqual(await page.evaluate((w) => window.__flame.nodeAt(w / 100, 70), width), { level: 3, index: 0 });
  await graph.press("ArrowUp");
  assert.match(await item.textContent(), /^serve · /);
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "search");
});

test("the search tells the share of what matches", async () => {
  const { page } = await open("shop");
  await drawn(page);
  const search = async (pattern) => {
    await page.fill("#search", pattern);
    return text(page, "#matches");
  };
  assert.match(await search("serve|parse"), /^80\.0\s%, 600\sms, 0\.010\scores in 2 places$/);
  assert.match(await search("idle"), /^20\.0\s%/);
  assert.match(await search("nothing"), /^0\.0\s%, 0\ss.* in 0 places$/);
  assert.match(await search("("), /^not a regular expression/);
  assert.equal(await search(""), "");
  await search("parse");
  await settle(page);
  const { width } = await canvasBox(page);
  const matched = await pixel(page, 0.6 * width, 3 * ROW + 3);
  const other = await pixel(page, 0.6 * width, 2 * ROW + 3);
  assert.notDeepEqual(matched, other);
  await page.press("#search", "Enter");
  assert.match(await text(page, "[data-testid=current]"), /^parse · /);
});

test("the tooltip and the table say the same as the bars", async () => {
  const { page } = await open("shop");
  await drawn(page);
  const { x, y, width } = await canvasBox(page);
  await page.mouse.move(x + 0.6 * width, y + 3 * ROW + 10);
  const tip = await page.locator(".tip").innerText();
  assert.match(tip, /^parse\s+in\s+\/usr\/bin\/app\s/);
  assert.match(tip.replace(/\s+/g, " "), /share cpu average Total 80\.0 % 600 ms 0\.010 cores Self 80\.0 % 600 ms 0\.010 cores/);
  await page.mouse.move(x + 0.1 * width, y + 3 * ROW + 10);
  assert.equal(await page.locator(".tip").isVisible(), false);
  const rows = await page.locator("#rows tr").evaluateAll((all) => all.map((row) => Array.from(row.cells, (cell) => cell.textContent)));
  assert.deepEqual(rows.map((row) => row.map((text) => text.replace(/\s/g, " "))), [
    ["80.0 %", "600 ms", "80.0 %", "600 ms", "parse", "app"],
    ["20.0 %", "150 ms", "20.0 %", "150 ms", "idle", "libc.so.6"],
    ["0.0 %", "0 s", "100.0 %", "750 ms", "main", "app"],
    ["0.0 %", "0 s", "80.0 %", "600 ms", "serve", "app"],
  ]);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing in the ${colorScheme} theme`, async () => {
    const { page } = await open("shop", { colorScheme });
    await drawn(page);
    await page.fill("#search", "parse");
    await expectAccessible(page);
    const ground = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    assert.equal(ground, colorScheme === "light" ? "rgb(243, 244, 248)" : "rgb(10, 12, 15)");
  });
}

test("names are text, whatever they hold", async () => {
  const { page, requests, complaints } = await open("hostile");
  await drawn(page);
  const { x, y, width } = await canvasBox(page);
  for (let share = 0.02; share < 1; share += 0.05) await page.mouse.move(x + share * width, y + 2 * ROW + 10);
  const names = await page.locator("#rows td:nth-child(5)").allTextContents();
  assert.ok(names.includes("</script><script>window.pwned=1</script>"));
  assert.ok(names.includes('<img src=x onerror="window.pwned=2">'));
  assert.ok(names.includes("\\u003c/script>"));
  await page.locator("#rows button").first().click();  // searches for it, literally
  assert.match(await text(page, "#matches"), /^40\.0\s%/);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(requests.length, 1);
  assert.deepEqual(complaints, []);
});

test("a stack of 2,000 frames scrolls, on a canvas no larger than what is seen", async () => {
  const { page, complaints } = await open("deep");
  await drawn(page);
  const graph = page.locator("#graph");
  assert.ok((await canvasBox(page)).height < 800);
  assert.equal(await graph.evaluate((box) => box.scrollHeight), 2001 * ROW);
  await graph.evaluate((box) => (box.scrollTop = box.scrollHeight));
  await settle(page);
  const { width, height } = await canvasBox(page);
  const last = await page.evaluate(([w, h]) => window.__flame.nodeAt(w / 2, h - 5), [width, height]);
  assert.deepEqual(last, { level: 2000, index: 0 });
  assert.equal((await pixel(page, width / 2, height - 8))[3], 255);
  assert.deepEqual(complaints, []);
});

test("a hundred thousand bars are painted, zoomed and searched in a moment", async () => {
  const html = readFileSync(`${folder}/big.html`, "utf8");
  const data = JSON.parse(/id="data">(.*?)<\/script>/s.exec(html)[1]);
  const bars = data.levels.reduce((sum, level) => sum + level.length / 4, 0);
  assert.ok(bars >= 100_000, `${bars} bars`);
  const { page, complaints } = await open("big");
  await drawn(page);
  const times = await page.evaluate(() => {
    const view = window.__flame;
    const time = (work) => {
      const begin = performance.now();
      work();
      view.context.getImageData(0, 0, 1, 1);  // waits for what was painted
      return performance.now() - begin;
    };
    // The fastest: other tests may have the CPU in between.
    const fastest = (work) => Math.min(...Array.from({ length: 9 }, () => time(work)));
    const first = performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd;
    const draw = fastest(() => view.draw());
    const zoom = fastest(() => {
      view.zoom = view.zoom.level === 0 ? { level: 1, index: 0 } : { level: 0, index: 0 };
      view.draw();
    });
    return { first, draw, zoom };
  });
  const begin = Date.now();
  await page.fill("#search", "Method6");
  await settle(page);
  const search = Date.now() - begin;
  console.log(`web_big ${bars} bars: loaded ${times.first.toFixed(0)} ms, draw ${times.draw.toFixed(1)} ms, ` +
    `zoom ${times.zoom.toFixed(1)} ms, search with the driver's own time ${search} ms`);
  // Room for a busy machine: what is aimed at is 200 ms to the first paint and 16 ms a zoom.
  assert.ok(times.first < 4000 && times.draw < 200 && times.zoom < 200 && search < 3000, JSON.stringify(times));
  assert.match(await text(page, "#matches"), /^\d/);
  // Every stack has thirty frames: in none of the first rows a column is empty, but for the one between two bars.
  const gaps = await page.evaluate((rows) => {
    const canvas = document.querySelector(".graph canvas");
    const scale = canvas.width / canvas.clientWidth;
    return rows.map((y) => {
      const line = canvas.getContext("2d").getImageData(0, y * scale, canvas.width, 1).data;
      let widest = 0;
      for (let x = 0, gap = 0; x < canvas.width; x++) {
        gap = line[4 * x + 3] === 0 ? gap + 1 : 0;
        widest = Math.max(widest, gap / scale);
      }
      return widest;
    });
  }, Array.from({ length: 20 }, (_, row) => middle(row)));
  assert.ok(gaps.every((gap) => gap <= 1), `gaps of ${gaps}`);
  assert.deepEqual(complaints, []);
});

test("an empty profile says so", async () => {
  const { page, complaints } = await open("empty");
  assert.match(await text(page, "#message"), /Nothing was recorded/);
  assert.equal(await page.locator("#result").isVisible(), false);
  await expectAccessible(page);
  assert.deepEqual(complaints, []);
});

// SPDX-License-Identifier: Apache-2.0
// What the application costs a reader and its builder.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const built = (name) => readFileSync(join(process.env.FIRETOWER_BUILD, "web", name));

test("the script and the style stay small", () => {
  const [script, style, file] = ["app.js", "app.css", "flame.js"].map((name) => gzipSync(built(name)).length);
  console.log(`app.js ${script} bytes, app.css ${style} bytes, flame.js ${file} bytes, by gzip`);
  assert.ok(script <= 60 * 1024, `app.js: ${script} bytes`);
  assert.ok(style <= 12 * 1024, `app.css: ${style} bytes`);
  assert.ok(file <= 12 * 1024, `flame.js: ${file} bytes`);
});

test("few packages are installed to build it, each of a version and a sum", () => {
  const lock = JSON.parse(readFileSync(join(process.env.FIRETOWER_WEB_SOURCES, "package-lock.json"), "utf8"));
  const packages = Object.entries(lock.packages).filter(([path]) => path !== "");
  // A platform's own binary is one of many that are not installed.
  const installed = packages.filter(([, one]) => !one.optional || (one.os?.includes("linux") && one.cpu?.includes("x64")));
  assert.ok(installed.length <= 10, installed.map(([path]) => path).join(" "));
  for (const [path, one] of packages) assert.match(one.integrity ?? "", /^sha512-/, path);
  assert.ok(packages.every(([, one]) => !one.hasInstallScript || one.dev), "no package that is shipped runs a script");
});

test("nothing of it asks another server", () => {
  const text = built("app.js").toString("utf8").replace(/\/\*[^]*?\*\//g, "");
  const addresses = [...text.matchAll(/https?:\/\/[^"'`\s)]*/g)].map(([address]) => address).filter((address) => !address.startsWith("http://www.w3.org/"));
  assert.deepEqual(addresses, []);
});

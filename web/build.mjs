// SPDX-License-Identifier: Apache-2.0
// node build.mjs DIR: bundles the application and the page of exported files into DIR, with the packages
// that lie in DIR/node_modules. The result depends on the sources and the lock file alone.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const out = resolve(process.argv[2]);
const here = dirname(fileURLToPath(import.meta.url));
const { build, transform } = createRequire(`${out}/`)("esbuild");

// What their licences ask for: the notices of the packages that the application is made of.
const notices = ["preact"].map((name) =>
  `${name}: ${readFileSync(join(out, "node_modules", name, "LICENSE"), "utf8").trim()}`);

const common = {
  bundle: true,
  minify: true,
  charset: "utf8",
  legalComments: "none",
  target: "es2022",
  nodePaths: [join(out, "node_modules")],
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
};

await build({ ...common, entryPoints: { app: join(here, "app/src/main.tsx") }, format: "esm", outdir: out,
  footer: { js: `/*\n${notices.join("\n\n")}\n*/` } });
await build({ ...common, entryPoints: { flame: join(here, "flame/page.js") }, format: "iife", outdir: out });
// An exported file's style stands in its page, whose comments and spaces count.
const style = ["tokens.css", "flame/flame.css", "tip.css"].map((name) => readFileSync(join(here, name), "utf8"));
const { code } = await transform(style.join("\n"), { loader: "css", minify: true });
writeFileSync(join(out, "flame.css"), code);

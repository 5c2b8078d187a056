/**
 * Bundle the viewer: `node build.mjs [FOLDER]`, by default pytest_puma/report/page.
 *
 * Writes viewer.js, viewer.json with the hashes that the page's policy allows, and LICENSES.txt of the libraries in the bundle.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(here, "../../pytest_puma/report/page");

const { outputFiles, metafile } = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.js"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii", // the same bytes in a page of any encoding
  legalComments: "none", // LICENSES.txt has them whole
  metafile: true,
  write: false,
});
const script = outputFiles[0].text.trim();
if (/<\/script|<!--/i.test(script)) throw new Error("the bundle holds text that ends a script element");
writeFileSync(join(folder, "viewer.js"), script);
writeFileSync(join(folder, "viewer.json"), `${JSON.stringify({ script: sha256(script), styles: [sha256(plotStyle("plot"))] })}\n`);
writeFileSync(join(folder, "LICENSES.txt"), licenses(packages(Object.keys(metafile.inputs))));

/** @param {string} text */
function sha256(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** The style that Plot inserts into a chart of this class. @param {string} className */
function plotStyle(className) {
  const source = readFileSync(join(here, "node_modules/@observablehq/plot/src/plot.js"), "utf8");
  const found = [...source.matchAll(/append\("style"\)\.text\(\s*`([^`]*)`/g)];
  if (found.length !== 1) throw new Error(`plot.js inserts ${found.length} styles, expected one`);
  return found[0][1].replaceAll("${className}", className);
}

/** Names of the packages that files of the bundle come from. @param {string[]} files */
function packages(files) {
  const names = files.map((file) => file.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

/** @param {string[]} names */
function licenses(names) {
  const parts = names.map((name) => {
    const place = join(here, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
    const file = readdirSync(place).find((each) => /^licen[cs]e/i.test(each));
    if (!file) throw new Error(`${name} has no file of its license`);
    return `${name} ${version} (${license})\n\n${readFileSync(join(place, file), "utf8").trim()}\n`;
  });
  return `viewer.js contains these libraries.\n\n${parts.join(`\n${"-".repeat(100)}\n\n`)}`;
}

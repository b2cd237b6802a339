// Bundles the pages, and tests what can be tested without a browser.
//
//   node build.mjs [--modules DIR] [--out DIR] [--embed FILE.cc] [--compare FILE.cc] [--test DIR]
//
// --out writes the pages, --embed the C++ source that holds them, --compare fails unless a source
// holds just what the pages are now, --test bundles src/*.test.ts there and runs them.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "src");
const options = {};
for (let i = 2; i < process.argv.length; i += 2) {
  options[process.argv[i].replace(/^--/, "")] = process.argv[i + 1];
}
const modules = resolve(options.modules ?? join(here, "node_modules"));
const esbuild = createRequire(join(modules, "x.js"))("esbuild");

const common = {
  absWorkingDir: here,
  bundle: true,
  nodePaths: [modules],
  jsx: "automatic",
  jsxImportSource: "preact",
  target: "es2022",
  loader: { ".svg": "dataurl" },
  legalComments: "inline",
  logLevel: "warning",
  write: false,
};

function pages() {
  const made = esbuild.buildSync({
    ...common,
    // The pages, and the worker that all tabs of a browser share.
    entryPoints: { app: join(source, "app.tsx"), events: join(source, "events_worker.ts") },
    outdir: "/",
    minify: true,
    format: "esm",
  });
  const files = new Map();
  for (const file of made.outputFiles) files.set("/" + file.path.split("/").pop(), file.contents);
  files.set("/", readFileSync(join(source, "index.html")));
  files.set("/favicon.svg", readFileSync(join(source, "favicon.svg")));
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const types = { js: "text/javascript", css: "text/css", svg: "image/svg+xml", "/": "text/html" };

// Octal escapes end after three digits, whatever follows.
function literal(bytes) {
  let text = "";
  const lines = [];
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    text += byte < 32 || byte > 126 || '"\\?'.includes(character)
        ? "\\" + byte.toString(8).padStart(3, "0") : character;
    if (text.length > 4000) {
      lines.push(`"${text}"`);
      text = "";
    }
  }
  return [...lines, `"${text}"`].join("\n    ");
}

// As small as they get: the server compresses nothing while it runs.
function compressed(bytes) {
  const brotli = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
  return [brotli, gzipSync(bytes, { level: 9 })].map((form) => (form.length < bytes.length ? form : Buffer.alloc(0)));
}

function embedded(files) {
  let rows = "";
  for (const [path, bytes] of files) {
    const type = types[path === "/" ? "/" : path.split(".").pop()];
    const hash = createHash("sha256").update(bytes).digest("hex");
    const forms = [bytes, ...compressed(bytes)].map((form) => `{${literal(form)}, ${form.length}}`);
    const [plain, brotli, gzip] = forms;
    rows += `    {"${path}", {"${type}; charset=utf-8",\n    ${plain},\n    "${hash}",\n    ${brotli},\n    ${gzip}}},\n`;
  }
  return `// Made by dashboards/build.mjs.
#include "dashboards/bundle.h"

#include <utility>

namespace stripline::dashboards {

std::optional<BundledFile> bundled_file(std::string_view path) {
  static constexpr std::pair<std::string_view, BundledFile> kFiles[] = {
${rows}  };
  for (const auto& [name, file] : kFiles) {
    if (name == path) return file;
  }
  return std::nullopt;
}

}  // namespace stripline::dashboards
`;
}

function test(folder) {
  const tests = readdirSync(source).filter((name) => name.endsWith(".test.ts"));
  mkdirSync(folder, { recursive: true });
  esbuild.buildSync({
    ...common,
    entryPoints: tests.map((name) => join(source, name)),
    outdir: resolve(folder),
    outExtension: { ".js": ".mjs" },
    platform: "node",
    format: "esm",
    write: true,
  });
  const files = tests.map((name) => join(folder, name.replace(/\.ts$/, ".mjs")));
  return spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1;
}

if (options.test) process.exit(test(options.test));
const files = pages();
if (options.out) {
  mkdirSync(options.out, { recursive: true });
  for (const [path, bytes] of files) {
    writeFileSync(join(options.out, path === "/" ? "index.html" : path), bytes);
  }
}
if (options.embed) writeFileSync(options.embed, embedded(files));
if (options.compare && readFileSync(options.compare, "utf8") !== embedded(files)) {
  console.error(`${options.compare} does not hold what dashboards/src makes; build the server again`);
  process.exit(1);
}

// What pages take in Chromium where much has been measured: the database of stripline-fill, behind a real server.
// Ends with 1 where a figure is beyond what is asked.
//
//   node many.mjs URL TOKEN_FILE PICTURES A B SERVER_PID
//
// A and B are its two campaigns of 250,000 points. Pages are opened anew in a browser that has the scripts already, as
// those who use it have; the first page is opened without.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [, , url, tokenFile, pictures, a, b, server] = process.argv;
const token = readFileSync(tokenFile, "utf8").trim();
mkdirSync(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await (await browser.newContext({ viewport: { width: 1280, height: 860 } })).newPage();
const problems = [];
page.on("pageerror", (error) => problems.push(`error: ${error.stack}`));

function judge(what, value, most, unit) {
  console.log(`${what.padEnd(44)} ${value.toFixed(0).padStart(7)} ${unit}   less than ${most}: ${value < most ? "met" : "NOT MET"}`);
  if (!(value < most)) problems.push(`${what}: ${value.toFixed(0)} ${unit}, not less than ${most}`);
}

async function timed(what, hash, ready, most) {
  await page.goto("about:blank");
  const start = performance.now();
  await page.goto(`${url}${hash}`);
  try {
    await ready();
    judge(what, performance.now() - start, most, "ms");
  } catch (error) {
    problems.push(`${what}: ${error.message}`);
  }
  await page.screenshot({ path: join(pictures, `many-${what.replaceAll(/[ ,]+/g, "-")}.png`) });
}

const row = () => page.waitForSelector("tbody tr:nth-child(50)", { timeout: 60_000 });
// The legend counts points by how well they are known.
const plane = () => page.waitForFunction(() => document.querySelector("#points canvas") && /\d,\d{3}/.test(document.querySelector("#points .legend")?.textContent ?? ""), null, { timeout: 60_000 });

await timed("first content with 5,000 campaigns", `#/?token=${token}`, () => page.waitForSelector(".cards, .state.empty", { timeout: 60_000 }), 1000);
judge("first paint", await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN), 1000, "ms");
await timed("list of 5,000 campaigns", "#/campaigns", row, 1000);
await timed("campaign of 250,000 points", `#/campaigns/${a}`, plane, 2000);
await timed("compare of two such", `#/compare/campaigns/${a}/${b}`, () => page.waitForSelector("#points", { timeout: 60_000 }), 3000);
const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server}/status`, "utf8"));
judge("memory of the server, at most", peak ? Number(peak[1]) / 1024 : NaN, 300, "MiB");

await browser.close();
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);

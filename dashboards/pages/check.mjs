// Drives every page of a real server in Chromium, in both themes: nothing may be reported on the
// console, axe may find nothing, and the controls do what they say. Pictures go to a folder.
//
//   node check.mjs URL TOKEN_FILE PICTURES MODEL CAMPAIGN REPORT STALE
//
// MODEL has two versions, the first stable, of which runs of two programs have reported, the second a canary
// that a node has rejected; c1 and c2 have measured the same network, c3 and c5 one before and after it has changed;
// CAMPAIGN is in progress, and is paused, drained, retried, cancelled and deleted at the end; REPORT is a file of a model;
// STALE is a version (NAME@N) that sentinels have found to be off twice; the model openmpi holds settings of that runtime.
//
// A step that fails is reported with the others, and a picture of what was there then is taken: failed-STEP.png.
import { mkdirSync, readFileSync } from "node:fs";
import { createServer, request as pass } from "node:http";
import { join } from "node:path";
import assert from "node:assert/strict";
import AxeBuilder from "@axe-core/playwright";
import { chromium } from "playwright-core";

const [, , url, tokenFile, pictures, model, campaign, report, stale] = process.argv;
const token = readFileSync(tokenFile, "utf8").trim();
mkdirSync(pictures, { recursive: true });

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const problems = [];
const kNarrow = 360;

async function open(theme) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, colorScheme: theme, acceptDownloads: true });
  const page = await context.newPage();
  // A browser says on its console that a call was refused; the pages say it better.
  page.on("console", (message) => message.type() === "error" && !/status of (40[01349]|503)/.test(message.text()) && problems.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`error: ${error.stack}`));
  return page;
}

const compared = "#/compare/campaigns/c1/c2";
const estimated = `#/campaigns/estimate?fabric=${encodeURIComponent("emulated:modern-rdma")}&effort=full`;

// One part of the check; the others are done even if it fails.
async function step(page, act) {
  const start = performance.now();
  try {
    await act(page);
  } catch (error) {
    problems.push(`${act.name}: ${error.stack}`);
    await page.screenshot({ path: join(pictures, `failed-${act.name}.png`) }).catch(() => {});
    await page.unrouteAll({ behavior: "ignoreErrors" }).catch(() => {});
    await page.context().setOffline(false).catch(() => {});
  }
  console.log(`${act.name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

// Takes the first verdict of `select` of which there is something to be drawn: what differs depends
// on the campaigns.
async function takeDrawn(page, select, picture) {
  const verdicts = await page.locator(`${select} >> option`).count();
  for (let index = 0; index < verdicts; ++index) {
    await page.selectOption(select, { index });
    if (await page.waitForSelector(picture, { timeout: 1000 }).then(() => true, () => false)) return;
  }
  throw new Error(`${select}: nothing of any verdict is drawn`);
}

async function judge(page, name, theme) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  for (const one of violations) {
    problems.push(`axe, ${name}, ${theme}: ${one.id} (${one.impact}): ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ")}`);
  }
}

// On a telephone nothing is wider than the screen.
async function narrow(page, name, theme) {
  const wide = page.viewportSize();
  await page.setViewportSize({ width: kNarrow, height: 780 });
  await page.waitForTimeout(200);
  const needed = await page.evaluate(() => document.documentElement.scrollWidth);
  if (needed > kNarrow) problems.push(`${name}, ${theme}: ${needed} px wide on a screen of ${kNarrow}`);
  await page.screenshot({ path: join(pictures, `${name}-${theme}-${kNarrow}.png`) });
  await page.setViewportSize(wide);
}

async function look(page, name, theme) {
  await page.waitForFunction(() => !document.querySelector(".state.loading"), null, { timeout: 30_000 });
  await page.waitForTimeout(300);
  await judge(page, name, theme);
  await page.screenshot({ path: join(pictures, `${name}-${theme}.png`) });
  await narrow(page, name, theme);
}

async function go(page, hash) {
  await page.goto(`${url}${hash}`);
  await page.waitForSelector("main#content");
}

// Logs in, and takes a picture of each page.
async function everyPage(page, theme) {
  await page.goto(url);
  await page.waitForSelector("input#token");
  await look(page, "login", theme);
  await page.fill("input#token", "wrong");
  await page.press("input#token", "Enter");
  await page.waitForSelector(".problem");
  await page.fill("input#token", token);
  await page.press("input#token", "Enter");
  await page.waitForSelector(".cards, .state.empty");
  await page.waitForFunction(() => ![...document.querySelectorAll(".card .quiet")].some((one) => one.textContent === "…"), null, { timeout: 30_000 });
  await look(page, "overview", theme);
  for (const [hash, name] of [["#/fleet", "fleet"], ["#/campaigns", "campaigns"], [`#/campaigns/${campaign}`, "campaign"], ["#/models", "models"], [`#/models/${model}`, "model"], ["#/models/openmpi", "settings"],
    [`#/explain/${model}@1/loop?bytes=4MiB&compute=200us`, "explain"], [`#/compare/${model}@1/${model}@2`, "compare"],
    ["#/compare/campaigns/c3/c5", "compare-campaigns"], ["#/compare/campaigns/c1/c2/c3", "compare-many"], [estimated, "estimate"],
    ["#/campaigns/c1?point=0", "point"], ["#/access", "access"], ["#/audit", "audit"],
    ["#/rollout", "rollout"], [`#/drift/${stale}`, "drift"], [`#/drift/${stale}?sentinel=get/4096`, "drift-sentinel"],
    [`#/feedback/${model}@1`, "feedback"]]) {
    await go(page, hash);
    await look(page, name, theme);
    for (const text of await page.locator(".state.bad[role=alert]").allTextContents()) problems.push(`${name}, ${theme}: ${text}`);
  }
  await go(page, `#/models/${model}`);
  await page.waitForSelector("#loop svg.picture");
  for (const figure of ["loop", "intervals"]) {
    await page.evaluate((id) => scrollTo(0, document.getElementById(id).offsetTop - 110), figure);
    await page.waitForTimeout(200);
    await page.screenshot({ path: join(pictures, `model-${figure}-${theme}.png`) });
  }
}

// Two campaigns point by point: chosen from, read, swapped; a link restores the view.
async function compare(page) {
  await go(page, compared);
  await page.waitForSelector("#points");
  await page.selectOption(".filters select >> nth=-1", { index: 1 });
  assert.match(page.url(), /verdict=/);
  await page.selectOption(".filters select >> nth=-2", "micro.latency");
  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await page.waitForSelector("#by-size canvas");
  assert.equal(await page.inputValue(".filters select >> nth=-2"), "micro.latency");
  await page.focus("#by-size .canvas");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /B: .*%/.test(document.querySelector("#by-size output").textContent));
  await takeDrawn(page, ".filters select >> nth=-1", "#points svg.picture");
  await page.focus("#points svg.picture");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent("#points output"), /^micro.latency .*, B\/A .*, by \d+ and \d+ runs$/);
  await page.selectOption(".filters select >> nth=2", "0.1");
  await page.waitForFunction(() => /campaign compare c1 c2 --margin 0.1/.test(document.querySelector(".copied pre")?.textContent ?? ""));
  await page.click("text=Swap");
  await page.waitForFunction(() => location.hash.startsWith("#/compare/campaigns/c2/c1"));
  await go(page, "#/compare/campaigns/c1/c999");
  await page.waitForSelector("text=There is no campaign c999");
}

// What a campaign would take: a form, what is wrong in it, other budgets, a link that restores.
async function estimate(page) {
  await go(page, estimated);
  await page.waitForSelector("#budgets svg.picture");
  assert.match(await page.textContent(".copied pre"), /^stripline campaign run --fabric emulated:modern-rdma --effort full$/);
  await page.focus("#budgets svg.picture");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent("#budgets output"), /points in \d+ runs?, ends /);
  await page.fill("#field-ranks", "many");
  await page.press("#field-ranks", "Tab");
  await page.waitForSelector(".state.bad >> text=Ranks");
  await page.fill("#field-ranks", "1");
  await page.press("#field-ranks", "Tab");
  await page.waitForSelector(".state.bad >> text=The estimate could not be loaded");
  await page.fill("#field-ranks", "");
  await page.fill("#field-time_budget_s", "5");
  await page.press("#field-time_budget_s", "Tab");
  await page.waitForSelector(".notices li");
  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await page.waitForSelector(".notices li");
  assert.equal(await page.inputValue("#field-time_budget_s"), "5");
  await go(page, "#/campaigns/c1");
  await page.click("a:text('estimate')");
  await page.waitForSelector("#budgets svg.picture");
  assert.equal(await page.inputValue("#field-fabric"), "emulated:modern-rdma");
}

// A campaign is started from its estimate with labels, found by one of them, and labelled otherwise; a point leads to its
// samples and runs.
async function begin(page) {
  await go(page, `${estimated}&runs=6&time_budget_s=60`);
  await page.click(".actions >> text=Start it");
  await page.fill(".action input", "nightly switch-7");
  await page.click(".action >> text=Start it");
  await page.waitForFunction(() => /^#\/campaigns\/c\d+$/.test(location.hash), null, { timeout: 30_000 });
  const begun = page.url().split("/").pop();
  await page.waitForSelector("text=switch-7");
  await page.click("text=Change its labels");
  await page.fill(".action input", "weekly");
  await page.click(".action >> text=Change its labels");
  await page.waitForSelector(".badge >> text=weekly");
  await go(page, "#/campaigns?q=weekly");
  await page.waitForFunction((name) => [...document.querySelectorAll("tbody tr")].map((row) => row.querySelector("a")?.textContent).join() === name, begun);
  await go(page, `#/campaigns/${begun}`);
  await page.click(".actions >> text=Cancel it");
  await page.click(".action >> text=Cancel it");

  await go(page, "#/campaigns/c1?point=0");
  await page.waitForSelector("#point svg.strips");
  await page.focus("#point svg.strips");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent("#point output"), /^Run \d+.*: median .* of \d+ samples?/);
  await page.click("#point p.quiet a >> nth=0");
  await page.waitForFunction(() => /run=/.test(location.hash));
}

// Tokens are made, shown once, and taken back. A server without certificates has none: it is answered for.
async function access(page) {
  const tokens = [];
  const day = 86400_000;
  await page.route("**/api/v1/tokens", async (route) => {
    if (route.request().method() === "GET") return route.fulfill({ json: { tokens } });
    const { role, subject } = route.request().postDataJSON();
    tokens.push({ name: "tokens/0123456789abcdef", role, subject, create_time: new Date().toISOString(), expire_time: new Date(Date.now() + 90 * day).toISOString(), end_time: "", used_by: "" });
    return route.fulfill({ json: { token: tokens[0], text: "the-text-of-the-token" } });
  });
  await page.route("**/api/v1/tokens/*/revoke", (route) => {
    tokens[0].end_time = new Date().toISOString();
    return route.fulfill({ json: tokens[0] });
  });
  await go(page, "#/access");
  await page.fill("form.action input[name=subject]", "carol");
  await page.click("form.action >> text=Create a token");
  await page.waitForSelector(".action[role=status] pre >> text=the-text-of-the-token");
  await look(page, "token", "light");
  await page.click("text=Hide the token");
  assert.equal(await page.locator("text=the-text-of-the-token").count(), 0, "the text is shown once");
  await page.click("table >> text=Revoke");
  await page.click("form.action .grave >> text=Revoke");
  await page.waitForSelector("table .badge >> text=revoked");
  await page.unrouteAll({ behavior: "ignoreErrors" });
}

// Browsers open six connections to a server: more tabs than that all show a campaign that is in progress.
async function tabs(page) {
  const all = [];
  for (let index = 0; index < 7; ++index) {
    const tab = await page.context().newPage();
    all.push(tab);
    // Each tab is asked for a token of its own.
    await tab.goto(`${url}#/?token=${token}`, { timeout: 15_000 }).catch(() => {});
    await tab.goto(`${url}#/campaigns/${campaign}`, { timeout: 15_000 }).catch(() => {});
  }
  for (const [index, tab] of all.entries()) {
    await tab.waitForSelector("#points", { timeout: 15_000 }).catch(() => problems.push(`tab ${index + 1} of 7 shows nothing`));
  }
  for (const tab of all) await tab.close();
}

// What the server says of itself stands above every page until it is over.
async function banner(page) {
  const day = 86400_000;
  await page.route("**/api/v1/status", (route) => route.fulfill({ json: {
    storage_failure: "the disk is full", storage_failing_since: new Date(Date.now() - 60_000).toISOString(),
    notices: Array.from({ length: 5 }, (_, i) => ({ kind: "NODE_CERTIFICATE", subject: `nodes/n${i}`, message: `the certificate of nodes/n${i} ends in ${i + 1} days`, time: new Date(Date.now() + (i + 1) * day).toISOString() })),
  } }));
  await page.goto("about:blank");
  await go(page, "#/campaigns");
  await page.waitForSelector('.state.bad[role=alert]:has-text("unable to store anything since")');
  await page.waitForSelector('.state.stale:has-text("The certificate of nodes/n0 ends in 1 days.")');
  await page.waitForSelector('.state.stale:has-text("2 more tokens or certificates end soon")');
  await look(page, "banner", "light");
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.waitForSelector(".state.bad[role=alert]", { state: "detached", timeout: 20_000 });
}

// What a page has shown stays where it is while the rest of it comes.
async function still(page) {
  const tab = await page.context().newPage();
  await tab.addInitScript(() => {
    window.shifted = 0;
    new PerformanceObserver((list) => {
      for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  await tab.goto(`${url}#/models/${model}?token=${token}`);
  await tab.waitForSelector("#loop svg.picture", { timeout: 30_000 });
  await tab.waitForFunction(() => !document.querySelector(".state.loading"), null, { timeout: 30_000 });
  await tab.waitForTimeout(1000);
  const shifted = await tab.evaluate(() => window.shifted);
  // What browsers call good.
  if (!(shifted < 0.1)) problems.push(`the page of a model jumps while it is loaded: its layout shifts by ${shifted.toFixed(3)}`);
  await tab.close();
}

// A proxy has the pages below a path of its own, and passes Host on as the browser sends it.
async function behindProxy(page) {
  const below = "/tools/stripline";
  const { hostname, port } = new URL(url);
  const proxy = createServer((asked, answer) => {
    if (!asked.url.startsWith(`${below}/`)) {
      if (asked.url !== "/favicon.ico") problems.push(`behind a proxy, ${asked.url} is asked for, which is not below ${below}`);
      answer.writeHead(404).end();
      return;
    }
    const passed = pass({ hostname, port, path: asked.url.slice(below.length), method: asked.method, headers: asked.headers }, (answered) => {
      answer.writeHead(answered.statusCode, answered.headers);
      answered.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    answer.on("close", () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise((listens) => proxy.listen(0, "127.0.0.1", listens));
  const tab = await page.context().newPage();
  try {
    const base = `http://127.0.0.1:${proxy.address().port}${below}/`;
    await tab.goto(`${base}#/?token=${token}`);
    await tab.waitForSelector(".cards, .state.empty");
    await tab.goto(`${base}#/campaigns/${campaign}`);
    await tab.waitForSelector("#points");
    await tab.waitForSelector("h1 .live", { timeout: 15_000 });  // by the event stream
    await tab.goto(`${base}${estimated}`);
    await tab.waitForSelector("#budgets svg.picture");  // by a POST
  } finally {
    await tab.close();
    proxy.closeAllConnections();
    proxy.close();
  }
}

// Every decision that may be asked, by its example; a form that says what is wrong; a link that restores.
async function ask(page) {
  await go(page, "#/explain");
  await page.waitForSelector("#alternatives svg");
  const commands = await page.locator(".filters select").nth(2).locator("option").evaluateAll((all) => all.map((one) => one.value));
  assert.ok(commands.length >= 4);
  for (const command of commands) {
    await page.selectOption(".filters select >> nth=2", command);
    await page.waitForFunction((name) => document.querySelector(".copied pre")?.textContent.startsWith(`stripline explain ${name} `), command);
    await page.waitForSelector(".decision");
    await look(page, `explain-${command}`, "light");
  }
  await page.selectOption(".filters select >> nth=2", "loop");
  await page.fill("#option-bytes", "much");
  await page.press("#option-bytes", "Tab");
  await page.waitForSelector(".state.bad");
  await page.fill("#option-bytes", "2MiB");
  await page.press("#option-bytes", "Tab");
  await page.waitForSelector(".decision");
  assert.match(page.url(), /bytes=2MiB/);
  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await page.waitForSelector(".decision");
  assert.equal(await page.inputValue("#option-bytes"), "2MiB");
  await page.focus("#alternatives svg.picture");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent("#alternatives output"), /, (taken|considered|the baseline|pruned)$/);

  await go(page, `#/compare/${model}@1/${model}@2`);
  await page.waitForSelector("#parameters");
  await page.selectOption("#parameters select", { index: 1 });
  assert.match(page.url(), /verdict=/);
  await takeDrawn(page, "#parameters select", "#parameters svg.picture");
  await page.click("#parameters >> text=Table");
  await page.waitForSelector("#parameters table");
  await page.focus("#loop svg.picture");
  await page.keyboard.press("ArrowUp");
  assert.match(await page.textContent("#loop output"), /^bytes .*, compute .*: (both decide the same|A .*; B )/);
  await page.click("text=Swap");
  await page.waitForFunction((name) => location.hash === `#/compare/${name}@2/${name}@1`, model);
}

// Sentinels over time: of all, of one, and those of one check; a link restores the choice.
async function watch(page) {
  await go(page, `#/drift/${stale}`);
  await page.waitForSelector("#course svg.picture");
  assert.match(await page.textContent(".state.bad"), /Stale:.*twice in a row/);
  await page.focus("#course svg.picture");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.textContent("#course output"), /of the predicted, .* outside/);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /check=c/.test(location.hash));
  await page.selectOption("#course select", { index: 1 });
  assert.match(page.url(), /sentinel=get/);
  await page.focus("#course svg.picture");
  await page.keyboard.press("ArrowLeft");
  assert.match(await page.textContent("#course output"), /\[.*\], (outside|within tolerance)/);
  const title = await page.textContent("#check h2");
  await page.reload();
  await page.waitForSelector("#check .canvas");
  assert.equal(await page.textContent("#check h2"), title);
  await page.focus("#check .canvas");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /B: predicted /.test(document.querySelector("#check output").textContent));
}

// What runs have reported, of all programs and of one.
async function gains(page) {
  await go(page, `#/feedback/${model}@1`);
  await page.waitForSelector("#gains svg.picture");
  await page.focus("#gains svg.picture");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent("#gains output"), /by the baseline \(.* less\), predicted/);
  await page.selectOption(".filters select >> nth=-1", { index: 1 });
  assert.match(page.url(), /program=/);
  await go(page, `#/feedback/${model}@2`);
  await page.waitForSelector(".state.empty");
}

// What publishers may do: a canary that was rejected does not become stable, is ended, and tried again.
async function publish(page) {
  await go(page, "#/rollout");
  await page.waitForSelector("#rollout svg.picture");
  const canary = page.locator(`li[aria-label="${model}@2, canary"]`);
  await canary.locator("text=It cannot become stable").waitFor();
  assert.match(await canary.textContent(), /rejected it/);
  await page.focus("#rollout svg.picture");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent("#rollout output"), /, canary: rejected by 1 node/);
  await page.selectOption(".filters select >> nth=-1", "REJECTED");
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
  await canary.locator("text=End the trial").click();
  await look(page, "end", "light");
  await canary.locator(".action >> text=End the trial").click();
  await canary.waitFor({ state: "detached" });

  await go(page, `#/models/${model}?version=2`);
  await page.waitForSelector("#publishing .actions");
  await page.click("#publishing >> text=Validate");
  await page.fill(".action input", "c999");
  await page.click(".action >> text=Validate");
  await page.waitForSelector(".action .problem");
  await page.click(".action >> text=Dismiss");
  await page.click("text=Try it on some nodes");
  await page.click(".action >> text=Try it on some nodes");
  await page.waitForSelector("#publishing >> text=Some nodes try it.");
  await page.click("#publishing >> text=Withdraw");
  await page.click(".action >> text=Withdraw");
  assert.ok(await page.isVisible(".action input:invalid"), "a reason is needed");
  await page.click(".action >> text=Dismiss");
}

// Buttons are there for those whom the server would let, and disabled where the campaign is another's.
async function roles(page) {
  const places = [`#/campaigns/${campaign}`, "#/fleet?node=node-a", `#/models/${model}?version=2`, "#/rollout", `#/drift/${stale}`];
  for (const [role, seen] of [["VIEWER", [false, false, false, false, false]], ["OPERATOR", [true, true, false, false, false]], ["PUBLISHER", [true, true, true, true, true]]]) {
    await page.route("**/api/v1/whoami", (route) => route.fulfill({ json: { name: "users/eve", role } }));
    for (const [index, hash] of places.entries()) {
      await page.goto("about:blank");
      await go(page, hash);
      await page.waitForSelector("h1");
      await page.waitForFunction(() => !document.querySelector(".state.loading"));
      await page.waitForTimeout(200);
      assert.equal(await page.locator("button.acts").count() > 0, seen[index], `${hash} for a ${role}`);
      assert.equal(await page.locator("button.acts:disabled").count() > 0, index === 0 && role === "OPERATOR", `what is another's at ${hash} for a ${role}`);
      assert.equal(await page.locator("text=Operators change only their own campaigns").count(), index === 0 && role === "OPERATOR" ? 1 : 0);
    }
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
}

// Every picture of every page can be saved and read.
async function exported(page) {
  for (const hash of [`#/models/${model}`, `#/campaigns/${campaign}`, `#/explain/${model}@1/loop?bytes=4MiB&compute=200us`, `#/compare/${model}@1/${model}@2`, compared, estimated, "#/rollout", `#/drift/${stale}`, `#/feedback/${model}@1`]) {
    await go(page, hash);
    await page.waitForSelector(".figure[id] .tools button");
    await page.waitForFunction(() => !document.querySelector(".state.loading"));
    for (const id of await page.locator(".figure[id]:has(.tools button:text('CSV'))").evaluateAll((all) => all.map((one) => one.id))) {
      const tools = page.locator(`#${id} > header`);
      for (const [button, endings] of [["Image", [".svg", ".png"]], ["CSV", [".csv"]]]) {
        if (await tools.locator(`button:text("${button}")`).count() === 0) continue;  // it frames a table
        if (await tools.locator(`button:text("${button}")`).isDisabled()) continue;  // there is nothing to draw
        const [download] = await Promise.all([page.waitForEvent("download", { timeout: 15_000 }).catch(() => null), tools.locator(`button:text("${button}")`).click()]);
        if (!download || !endings.some((ending) => download.suggestedFilename().endsWith(ending))) problems.push(`${hash}: ${button} of ${id} saves nothing`);
      }
      if (await tools.locator("button:text('Table')").count() === 0) continue;
      await tools.locator("button:text('Table')").click();
      if (!(await page.isVisible(`#${id} table`))) problems.push(`${hash}: ${id} has no table`);
      await tools.locator("button:text('Table')").click();
    }
  }
}

// A server that has nothing, that answers with problems, and that does not answer: every page says so.
async function states(page) {
  const lists = /\/api\/v1\/(nodes|campaigns|models)\?/;
  const answers = {
    empty: (route) => route.fulfill({ json: { [lists.exec(route.request().url())[1]]: [], next_page_token: "" } }),
    error: (route) => route.fulfill({ status: 503, json: { code: "unavailable", reason: "STORAGE", message: "The disk is full.", metadata: {} } }),
    loading: () => {},
  };
  const shown = { empty: ".state.empty", error: ".state.bad", loading: ".state.loading" };
  for (const [state, answer] of Object.entries(answers)) {
    for (const place of ["", "fleet", "campaigns", "campaigns/estimate", "models", "explain", "compare", "compare/campaigns", "rollout", "drift", "feedback"]) {
      await page.route(lists, answer);
      await page.goto("about:blank");
      await page.goto(`${url}#/${place}`);
      await page.waitForSelector(shown[state], { timeout: 5000 }).catch(() => problems.push(`#/${place} does not tell that it is ${state}`));
      const name = `${state}-${place.replace("/", "-") || "overview"}`;
      await judge(page, name, "light");
      await page.screenshot({ path: join(pictures, `${name}.png`) });
      await narrow(page, name, "light");
      await page.unrouteAll({ behavior: "ignoreErrors" });
    }
  }
}

// What operators may do: a node is held and given back.
async function hold(page) {
  await go(page, "#/fleet?node=node-a");
  await page.click(".actions >> text=Cordon");
  await page.fill(".action input", "a new NIC");
  await page.click(".action >> text=Cordon");
  await page.waitForSelector("text=a new NIC");
  await look(page, "held", "light");
  await page.click(".actions >> text=Uncordon");
  await page.click(".action >> text=Uncordon");
  await page.waitForSelector(".actions >> text=Cordon");
}

// What becomes of a campaign: each asks before it acts.
async function becomes(page) {
  await go(page, `#/campaigns/${campaign}`);
  const act = async (text, then) => {
    await page.click(`.actions >> text=${text}`);
    await page.click(`.action >> text=${text}`);
    if (then) await page.waitForSelector(`h1 .badge >> text=/${then}/`);
  };
  await act("Pause it", "paused");
  await act("Resume it", "running|queued");
  await page.waitForSelector("h1 .badge >> text=running");
  await act("Drain it", "draining|cancelled");
  await page.waitForSelector("h1 .badge >> text=cancelled", { timeout: 120_000 });
  await act("Retry it", "running|queued");
  await page.click(".actions >> text=Cancel it");
  await look(page, "cancel", "light");
  await page.click(".action >> text=Dismiss");
  await act("Cancel it", "cancelled");
  await page.click(".actions >> text=Delete it");
  await look(page, "delete", "light");
  await page.click(".action >> text=Delete it");
  await page.waitForFunction(() => location.hash === "#/campaigns");
  await page.waitForFunction((name) => document.querySelector("tbody") && ![...document.querySelectorAll("tbody a")].some((link) => link.textContent === name), campaign);
  // One that a model was fitted to stays, and says why.
  await go(page, "#/campaigns/c1");
  await page.click(".actions >> text=Delete it");
  await page.click(".action >> text=Delete it");
  await page.waitForSelector(".action .problem >> text=versions/1");
}

// The same pages in one file, without a server.
async function readReport(page, theme) {
  const asked = [];
  page.on("request", (request) => request.url().startsWith("http") && asked.push(request.url()));
  await page.goto(`file://${report}`);
  await page.waitForSelector("#network canvas");
  await look(page, "report", theme);
  await page.focus("#loop svg.picture");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#loop .explain code");
  assert.deepEqual(asked, [], "a report asks nobody");
}

async function drive(page) {
  // Choices are in the address, and a link restores them.
  await go(page, `#/models/${model}`);
  await page.waitForSelector("#network canvas");
  await page.selectOption("#network select >> nth=-2", "get");
  assert.match(page.url(), /op=get/);
  await page.reload();
  await page.waitForSelector("#network canvas");
  assert.equal(await page.locator("#network select").nth(-2).inputValue(), "get");
  // Values by keyboard, on a canvas and on a map; a cell is explained.
  await page.focus("#network .canvas");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /B: get /.test(document.querySelector("#network output").textContent));
  await page.focus("#loop svg.picture");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowUp");
  assert.match(await page.textContent("#loop output"), /of remote data, .* of computation/);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#loop .explain p");
  assert.match(page.url(), /loop=/);
  // Export.
  for (const [figure, ending] of [["#network", ".png"], ["#loop", ".svg"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`${figure} >> text=Image`)]);
    assert.ok(download.suggestedFilename().endsWith(ending));
  }
  const [table] = await Promise.all([page.waitForEvent("download"), page.click("#intervals >> text=CSV")]);
  assert.match(readFileSync(await table.path(), "utf8"), /^parameter,value,low,high,unit/);
  await page.click("#network >> text=Table");
  await page.waitForSelector("#network table");
  // What ran on the fleet, by key and as a table.
  await go(page, "#/fleet?hours=168");
  await page.waitForSelector("#history svg.picture");
  await page.focus("#history svg.picture");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent("#history output"), /^\S+, .*\d\d:\d\d:\d\d/);
  await page.click("#history >> text=Table");
  await page.waitForSelector("#history table");
  // Filters of the fleet; a state without nodes is named as such.
  await go(page, "#/fleet");
  await page.fill("input[type=search]", "no node is called this");
  await page.waitForSelector(".state.empty");
  // A server that does not answer: what is there stays, and is said to be old.
  await go(page, "#/campaigns");
  await page.waitForSelector("table");
  await page.context().setOffline(true);
  await page.waitForSelector(".state.stale", { timeout: 15_000 });
  await page.screenshot({ path: join(pictures, "stale-light.png") });
  await page.context().setOffline(false);
  await page.waitForSelector(".state.stale", { state: "detached", timeout: 15_000 });
  // A name that nobody has.
  await go(page, "#/campaigns/c9999");
  await page.waitForSelector(".state.bad");
  for (let i = problems.length - 1; i >= 0; --i) {
    if (/ERR_INTERNET_DISCONNECTED/.test(problems[i])) problems.splice(i, 1);
  }
}

// A thousand nodes and a hundred thousand points, made of the real ones: what it takes to see them, and to
// change what is seen.
async function many(page) {
  const times = {};
  const timed = async (name, act) => {
    const start = performance.now();
    await act();
    times[name] = `${Math.round(performance.now() - start)} ms`;
  };
  const answer = (route, change) => route.fetch().then(async (real) => route.fulfill({ json: change(await real.json()) }));
  await page.route("**/api/v1/nodes?*", (route) => answer(route, ({ nodes }) => ({
    nodes: Array.from({ length: 1000 }, (_, i) => ({ ...nodes[i % nodes.length], name: `nodes/n${String(i).padStart(4, "0")}` })), next_page_token: "" })));
  const all = Array.from({ length: 100_000 }, (_, i) => i);
  await page.route("**/points/summary", (route) => route.fulfill({ json: { experiments: [{ experiment: "micro.latency", points: all.length, measured: all.length, failed: 0 }] } }));
  await page.route("**/points/columns?*", (route) => route.fulfill({ json: {
    experiment: "micro.latency", place: all, variant: { values: ["put", "get", "am", "cma"], of: all.map((i) => i % 4) },
    params: { bytes: { values: Array.from({ length: 250 }, (_, i) => 8 * (1 + i)), of: all.map((i) => (i >> 2) % 250) }, window: { values: Array.from({ length: 100 }, (_, i) => 1 + i), of: all.map((i) => Math.floor(i / 1000)) } },
    runs: all.map(() => 8), samples: all.map(() => 80), failed: all.map(() => 0), median: all.map((i) => 1e-6 * (1 + i % 7)), low: all.map((i) => 0.98e-6 * (1 + i % 7)), high: all.map((i) => (1 + (i % 5) / 10) * 1e-6 * (1 + i % 7)),
  } }));
  await page.goto(`${url}#/?token=${token}`);
  await page.waitForSelector(".cards, .state.empty");
  times["first paint"] = `${Math.round(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN))} ms`;
  await timed("fleet of 1,000 nodes", async () => { await page.goto(`${url}#/fleet`); await page.waitForSelector("tbody tr:nth-child(100)"); });
  await timed("finding one of 1,000", async () => { await page.fill("input[type=search]", "n0999"); await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1); });
  await timed("roll-out to 1,000 nodes", async () => { await page.goto(`${url}#/rollout`); await page.waitForSelector("tbody tr:nth-child(100)"); });
  await timed("finding one of them", async () => { await page.fill("input[type=search]", "n0999"); await page.waitForFunction(() => /^n0999/.test(document.querySelector("tbody tr")?.textContent ?? "")); });
  await page.goto(`${url}#/campaigns/${campaign}`);
  await page.waitForFunction(() => /100,000|25,000|[1-9][0-9],[0-9]{3}/.test(document.querySelector("#points .legend")?.textContent ?? ""), null, { timeout: 60_000 });
  // Within the page: from a choice, the first one too, to the last stroke of the picture that shows it.
  for (const [name, value] of [["the first choice among 100,000 points", "window"], ["another choice", "bytes"]]) {
    times[name] = `${Math.round(await page.evaluate(async (factor) => {
      const { prototype } = CanvasRenderingContext2D;
      const { fillText } = prototype;
      let last = NaN;
      prototype.fillText = function (...all) { last = performance.now(); return fillText.apply(this, all); };
      const select = document.querySelectorAll("#points select")[0];
      const start = performance.now();
      select.value = factor;
      select.dispatchEvent(new Event("change", { bubbles: true }));
      await new Promise((done) => setTimeout(done, 1000));
      prototype.fillText = fillText;
      return last - start;
    }, value))} ms`;
  }
  const rows = (column) => all.map((i) => column[i % column.length]);
  await page.route("**/compare/columns?*", (route) => answer(route, ({ params, differences, ...columns }) => ({
    ...Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, Array.isArray(column) ? rows(column) : { values: column.values, of: rows(column.of) }])),
    params: { bytes: { values: Array.from({ length: 250 }, (_, i) => 8 * (1 + i)), of: all.map((i) => i % 250) }, window: { values: Array.from({ length: 100 }, (_, i) => 1 + i), of: all.map((i) => Math.floor(i / 1000)) } },
    differences: [] })));
  await timed("two campaigns of 100,000 points", async () => { await page.goto(`${url}${compared}`); await page.waitForSelector("#points"); });
  times["another verdict of them"] = `${Math.round(await page.evaluate(async () => {
    const select = [...document.querySelectorAll(".filters select")].at(-1);
    const start = performance.now();
    select.selectedIndex = 1;
    select.dispatchEvent(new Event("change", { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    return performance.now() - start;
  }))} ms`;
  await page.unrouteAll({ behavior: "ignoreErrors" });
  for (const [what, time] of Object.entries(times)) console.log(`  ${what}: ${time}`);
}

for (const theme of ["light", "dark"]) {
  const page = await open(theme);
  await step(page, async function pages() { await everyPage(page, theme); });
  if (theme === "light") {
    for (const act of [drive, compare, estimate, begin, access, tabs, banner, still, behindProxy, ask, watch, gains, hold, publish, exported, roles, states]) await step(page, act);
  }
  await page.context().close();
  const alone = await open(theme);
  await step(alone, async function readAlone() { await readReport(alone, theme); });
  await alone.context().close();
}
const page = await open("light");
await step(page, many);
await step(page, becomes);
await browser.close();
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? `the pages are in order; pictures in ${pictures}` : `${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

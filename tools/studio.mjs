// Walk through the studio in Chromium, from a table to a release, and print as JSON what was found.
//
//   node studio.mjs URL mouse|keyboard [SHOTS] [CSV]
//
// URL is what `hedgerow studio --no-open` prints. CHROMIUM names the browser; playwright-core and
// axe-core are looked for from the folder that the program is run in. With SHOTS, every page is looked
// at in both colour schemes and at several widths, and pictures go there.
import { createRequire } from "node:module";
import { readFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const SIZES = [[1280, 860], [390, 844]];
const SCHEMES = ["light", "dark"];
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const [address, way, shots, csv = "patients.csv"] = process.argv.slice(2);
if (shots) mkdirSync(shots, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
const page = await context.newPage();
page.setDefaultTimeout(90_000);
const found = { views: [], complaints: [], paints: {}, bytes: {}, hosts: [], live: null, steps: [], released: null };
let looking = false; // pictures and axe-core put styles of their own into the page
const step = (words) => found.steps.push(words);

// htmx says so when a newer request takes the place of one that is under way.
page.on("console", (message) => {
  const picture = shots && /Applying inline style/.test(message.text());
  if (!looking && !picture && message.type() === "error" && !/422|403|404|htmx:(sendAbort|afterRequest)/.test(message.text())) found.complaints.push(message.text());
});
page.on("pageerror", (error) => found.complaints.push(String(error)));
page.on("request", (request) => {
  const host = new URL(request.url()).host;
  if (host && !found.hosts.includes(host)) found.hosts.push(host);
});

function overflowing() {
  const root = document.documentElement;
  const bad = [];
  for (const each of document.querySelectorAll("main *")) {
    if (each.closest(".wide, svg, pre, details:not([open]) > :not(summary), .unseen, [hidden]")) continue;
    const box = each.getBoundingClientRect();
    if (box.width && (box.right > root.clientWidth + 1 || box.left < -1)) bad.push(`${each.tagName.toLowerCase()}.${each.className}`);
  }
  return { sideways: Math.max(root.scrollWidth - root.clientWidth, 0), outside: [...new Set(bad)].slice(0, 5) };
}

async function weigh(name) {
  const told = await page.evaluate(() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null,
    bytes: [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
      .reduce((sum, each) => sum + (each.decodedBodySize || 0), 0),
  }));
  found.paints[name] = told.paint;
  found.bytes[name] = told.bytes;
}

async function look(name) {
  await weigh(name);
  if (!shots) return;
  looking = true;
  for (const scheme of SCHEMES)
    for (const [width, height] of SIZES) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(150);
      await page.evaluate(axe);
      const told = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      const violations = told.violations.map((each) => ({ id: each.id, impact: each.impact, at: each.nodes.slice(0, 3).map((node) => node.target.join(" ")), why: each.nodes[0].failureSummary }));
      found.views.push({ page: name, scheme, width, violations, ...(await page.evaluate(overflowing)) });
      await page.screenshot({ path: join(shots, `${name}-${scheme}-${width}.png`), fullPage: true });
      if (scheme === "light" && width === 1280) await page.screenshot({ path: join(shots, `${name}.jpg`), type: "jpeg", quality: 70, fullPage: true, clip: { x: 0, y: 0, width, height: 860 } });
    }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 860 });
  looking = false;
}

// With the mouse a thing is clicked; by keyboard it is reached with Tab and pressed.
async function reach(target) {
  const wanted = await page.locator(target).first().elementHandle();
  for (let presses = 0; presses < 400; presses++) {
    if (await page.evaluate((each) => document.activeElement === each, wanted)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach ${target}`);
}

async function press(target, key = "Enter") {
  await page.locator(target).first().waitFor();
  if (way === "mouse") return page.locator(target).first().click();
  await reach(target);
  return page.keyboard.press(key);
}

async function write(target, text) {
  if (way === "mouse") return page.locator(target).first().fill(text);
  await reach(target);
  await page.keyboard.press("Control+A");
  return page.keyboard.type(text);
}

const heading = (words) => page.locator("h1", { hasText: words }).waitFor();

await page.goto(address);
await heading("Start");
await page.waitForLoadState("networkidle");
step("entered");
await look("start");

await press(`a[href="/table?data=${csv}"]`);
await heading("Choose a table");
await look("draft");
await press("#draft button.main");
await press('[data-over="done"] a.button.main');
await heading("Table");
step("drafted");
await look("table");
await press("#column-3 summary");
await page.locator("#column-3 .column-form").waitFor();
await look("column");
await write('#column-3 [name="meaning"]', "age at the start of 2026");
await press("#column-3 .column-form button.main");
await page.locator("#column-3 .column-form").waitFor({ state: "detached" });
const changed = (was) => page.waitForFunction((old) => document.getElementById("version")?.value !== old, was);
const asked = await page.locator("#version").inputValue();
await page.locator('#about [name="whose"][value="one"]').check();
await press("#about form button");
await changed(asked);
const open = '[hx-post^="/table/answered"], [hx-post^="/table/fact"], [hx-post^="/table/confirm"]';
for (let left = 60; left; left--) {
  if (!(await page.locator(open).first().count())) break;
  const before = await page.locator("#version").inputValue();
  await press(open);
  await changed(before);
}
step("confirmed one by one");
await press('#state a[href^="/budget"]');
await heading("Budget");
await page.locator("#live-account").waitFor({ state: "attached" });
await page.locator("#forecast [data-forecast]").waitFor();
await look("budget");
// How long after a move of the slider the page shows what it means.
found.live = [];
await page.locator("#slider").focus();
for (let moves = 0; moves < 5; moves++) {
  const before = await page.locator("#live").evaluate((each) => each.innerHTML);
  const began = Date.now();
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction((was) => document.getElementById("live").innerHTML !== was, before, { polling: 5 });
  found.live.push(Date.now() - began);
  await page.waitForTimeout(400);
}
await write("#within", "12");
await press('[hx-get^="/budget/within"]');
await page.locator("#wanted .badge").waitFor();
await page.waitForTimeout(300);
await page.locator("#epsilon").fill("1");
await page.waitForTimeout(300);
await press("#epsilon-title ~ .inline button.main");
await press('#saved a[href^="/publish"]');
await heading("Publish");
step("budget saved");
await look("publish");
await press('[name="public"]', "Space");
await write("#by", "Dr. A. Officer");
await press('[hx-post^="/publish/confirm"] button');
await page.locator("#confirm-title ~ p .badge.good").waitFor();
step("signed off");
await press('[hx-post^="/publish/start"] button');
await page.locator('#run [data-over="done"]').waitFor();
step("published");
found.released = await page.locator("#run .figures").innerText();
await look("published");
// The other pages, from the release that was just made.
const nav = async (name) => { await press(`.steps a[href^="/${name}"]`); await page.locator(`.steps a[aria-current][href^="/${name}"]`).waitFor(); await page.waitForLoadState("networkidle"); };
const views = async (name) => { await press(`.views a[href*="show=${name}"]`); await page.locator(`.views a[aria-current][href*="show=${name}"]`).waitFor(); await page.waitForLoadState("networkidle"); };
await press('#run a[href^="/release"]');
await page.locator("iframe.framed").waitFor();
await look("release");
await views("map");
if (way === "mouse") {
  const box = await page.locator("#brushing").boundingBox();
  await page.mouse.move(box.x + 10, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.up();
} else {
  await reach("#brushing");
  for (const key of ["ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown"]) await page.keyboard.press(key);
}
await page.locator("#brushed .big").waitFor();
await look("map");
for (const view of ["tree", "marginals", "records", "certificate", "recipient"]) {
  await views(view);
  await look(`release-${view}`);
}
step("release read");
await nav("taxonomies");
await heading("Taxonomies");
await look("taxonomies");
await press('tr:has(th:text-is("ward")) button');
await page.locator('#tree input[name="label"]').nth(1).waitFor();
await page.locator('#tree input[name="label"]').nth(1).focus();
await page.keyboard.press("Alt+ArrowDown");
await page.locator(".saved").waitFor();
await press("#undo");
await page.waitForFunction(() => document.getElementById("undo")?.disabled);
await press('.covered button:not([data-copy])');
await page.locator(".verdict .badge.good, .verdict .badge.look").waitFor();
await look("tree");
step("taxonomy edited, undone and compared");
await nav("disclose");
await heading("Disclose");
await Promise.all([page.waitForEvent("load"), press('form[hx-post^="/disclose/save"] button.main')]);
await page.waitForLoadState("networkidle");
await press('[hx-post^="/disclose/explain"]');
await page.locator("#plane svg").waitFor();
const figures = await page.locator("#plane .figures").textContent();
await page.locator("#share").focus();
for (let moves = 0; moves < 15; moves++) await page.keyboard.press("ArrowRight");
await page.waitForFunction((was) => document.querySelector("#plane .figures").textContent !== was, figures);
await write("#number", "17");
await press('form[hx-post^="/disclose/record"] button');
await page.locator("#record-part .ladders").waitFor();
await look("disclose");
step("one record explained");
await nav("compare");
await heading("Compare");
await press('input[name="chosen"][value="release"]', "Space");
await press('form:has(#data) button.main');
await page.locator(".heats").waitFor({ timeout: 240_000 });
await look("compare");
step("compared");
await nav("ledger");
await page.locator("#accounts .card").first().waitFor();
await press('[hx-post^="/ledger/verify"]');
await page.locator("#verified .badge.good").waitFor();
await look("ledger");
step("ledger verified");
await press(".words-button");
await page.locator("#words-list dt:visible").first().waitFor();
await page.keyboard.press("Escape");
await press("main button.term");
await page.locator("#help-text h2").waitFor();
await page.keyboard.press("Escape");
step("words looked up");
await page.waitForLoadState("networkidle");
await page.goto(new URL("/start", address).href);
await page.locator("#left ~ div .list, #left ~ div .empty").first().waitFor();
await look("start-after");
await browser.close();
console.log(JSON.stringify(found));

// Walk through five pages of a running studio in Chromium, and print as JSON what went wrong.
//
//   node studio_pages.mjs ADDRESS [SHOTS]
//
// CHROMIUM names the browser; playwright-core and axe-core are looked for from the folder that the
// program is run in. The studio's folder is the one of tests/studio/test_five_pages_in_chromium.py.
import { createRequire } from "node:module";
import { readFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [address, shots] = process.argv.slice(2);
if (shots) mkdirSync(shots, { recursive: true });
const origin = new URL(address).origin;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
const wrong = [];
const done = [];
page.on("console", (m) => { if (m.type() === "error" && !/status of 4/.test(m.text())) wrong.push(m.text().slice(0, 300)); });
page.on("pageerror", (e) => wrong.push(e.message));
await page.goto(address); await page.waitForURL((url) => url.pathname === "/"); // the way in leads on by itself
const step = async (name, fn) => { try { await fn(); done.push(name); } catch (e) { wrong.push(`${name}: ${e.message.slice(0, 400)}`); } };
page.setDefaultTimeout(60000);
const ordered = (part) => page.waitForFunction((wanted) => [...document.querySelectorAll('#tree input[name="label"]')].map((box) => box.value).join(" ").includes(wanted), part);
await step("tree by keyboard", async () => {
  await page.goto(origin + "/taxonomies?plan=plan.yaml&file=taxonomies/ward.csv");
  await page.locator('#tree input[value="surgery"]').focus();
  await page.keyboard.press("ArrowRight"); await page.locator('#tree input[value="A"]').waitFor();
  await page.locator('#tree input[value="A"]').focus();
  await page.keyboard.press("Alt+ArrowDown"); await page.locator(".saved").waitFor();
  await ordered("B A");
  await page.waitForFunction(() => document.activeElement.value === "A");
  await page.keyboard.press("Control+z"); await ordered("A B");
});
await step("tree by mouse", async () => {
  await page.locator('#tree input[value="C"]').waitFor();
  await page.locator('#tree li[data-label="C"] > .node').dragTo(page.locator('#tree li[data-label="surgery"] > .node'));
  await page.locator('#tree li[data-label="surgery"] li[data-label="C"]').waitFor();
});
await step("brush", async () => {
  await page.goto(origin + "/release?release=release-hedge&show=map");
  const box = await page.locator("#brushing").boundingBox();
  await page.mouse.move(box.x + 20, box.y + 20); await page.mouse.down(); await page.mouse.move(box.x + box.width / 4, box.y + box.height - 30); await page.mouse.up();
  await page.locator("#brushed .big").waitFor(); 
  await page.locator("#brushing").focus(); await page.keyboard.press("ArrowRight"); await page.waitForTimeout(300);
});
await step("plane", async () => {
  await page.goto(origin + "/disclose?plan=plan.yaml");
  await page.getByRole("button", { name: "Compute the plane" }).click();
  await page.locator("#plane svg").waitFor();
  const before = await page.locator("#plane .figures").textContent();
  await page.locator("#share").fill("20");
  await page.waitForFunction((was) => document.querySelector("#plane .figures").textContent !== was, before);
});
await step("record", async () => {
  await page.locator("#number").fill("17"); await page.getByRole("button", { name: "Explain" }).click();
  await page.locator("#record-part .ladders").waitFor();
});
await step("compare", async () => {
  await page.goto(origin + "/compare?plan=plan.yaml");
  await page.getByLabel("release-hedge").check(); await page.getByLabel("release-weave").check();
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await page.locator(".heats").waitFor({ timeout: 240000 });
});
const PAGES = [["taxonomies", "/taxonomies?plan=plan.yaml"], ["tree", "/taxonomies?plan=plan.yaml&file=taxonomies/ward.csv"],
  ["disclose", "/disclose?plan=plan.yaml"], ["compare", "/compare?plan=plan.yaml"], ["ledger", "/ledger?plan=plan.yaml"],
  ...["report", "map", "tree", "marginals", "records", "certificate", "recipient"].map((view) => [`release-${view}`, `/release?release=release-hedge&show=${view}`]),
  ["weave", "/release?release=release-weave&show=marginals"]];
for (const scheme of ["light", "dark"]) for (const width of [1280, 390]) for (const [name, path] of PAGES) await step(`${name}, ${scheme}, ${width} px`, async () => {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme: scheme });
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setBypassCSP", { enabled: true });
  await page.goto(origin + path);
  if (name === "ledger") await page.locator("#accounts .card").first().waitFor();
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { iframes: false }));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (shots) await page.screenshot({ path: join(shots, `${name}-${width}-${scheme}.png`), fullPage: true });
  if (wide > 0 || found.violations.length) throw new Error(`sideways ${wide} ` + found.violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 150)}`).join(" | "));
});
await browser.close();
console.log(JSON.stringify({ done, wrong }));

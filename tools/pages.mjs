// Open every page given in Chromium, light and dark, wide and narrow, and print as JSON what
// axe-core finds, what runs off the sides, and how many screens long the page is.
//
//   node pages.mjs PAGES.json [SHOTS]
//
// PAGES.json maps names to files. CHROMIUM names the browser; playwright-core and axe-core are
// looked for from the folder that the program is run in. With SHOTS, pictures go there.
import { createRequire } from "node:module";
import { readFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const SIZES = [[1280, 800], [390, 800]];
const SCHEMES = ["light", "dark"];
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const [pages, shots] = process.argv.slice(2);
if (shots) mkdirSync(shots, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const found = [];

function overflowing() {
  // What is cut off or runs into something else: text outside its box, boxes outside the page.
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const bad = [];
  for (const each of document.querySelectorAll("main *")) {
    if (each.closest(".wide, svg, details:not([open]), pre, .pst-scrollable-table-container, .bd-sidebar-secondary")) continue;
    const box = each.getBoundingClientRect();
    if (box.width && (box.right > document.documentElement.clientWidth + 1 || box.left < -1))
      bad.push(`${each.tagName.toLowerCase()}.${each.className}`);
  }
  return { sideways: Math.max(wide, 0), outside: [...new Set(bad)].slice(0, 5) };
}

function overlapping() {
  // Texts that are drawn over one another: words of one drawing, and cells of one table row.
  const bad = [];
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  for (const drawing of document.querySelectorAll("svg, .band, .scale")) {
    const texts = [...drawing.querySelectorAll("text, u, .pointer, .zones span")];
    const boxes = texts.map((each) => {
      const range = document.createRange();
      range.selectNodeContents(each);
      return range.getBoundingClientRect();
    });
    for (let one = 0; one < boxes.length; one++)
      for (let two = one + 1; two < boxes.length; two++)
        if (boxes[one].width && boxes[two].width && !/rotate/.test(texts[one].getAttribute("transform") + texts[two].getAttribute("transform")) && meet(boxes[one], boxes[two]))
          bad.push(`${texts[one].textContent} | ${texts[two].textContent}`);
  }
  for (const row of document.querySelectorAll("tr")) {
    const cells = [...row.children].map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return [cell, range.getBoundingClientRect()];
    });
    for (let at = 1; at < cells.length; at++) {
      const [, before] = cells[at - 1];
      const [cell, box] = cells[at];
      const gap = box.left - before.right;
      if (before.width && box.width && gap < 3 && cell.className.includes("number"))
        bad.push(`cells ${cells[at - 1][0].textContent.trim()} | ${cell.textContent.trim()}`);
    }
  }
  return bad.slice(0, 5);
}

const asked = [];
for (const colorScheme of SCHEMES) {
  for (const [width, height] of SIZES) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, bypassCSP: true });
    for (const [name, file] of Object.entries(JSON.parse(readFileSync(pages, "utf8")))) {
      const page = await context.newPage();
      // Nothing may be asked for but files of this machine.
      asked.length = 0;
      page.on("request", (each) => { if (!/^(file|data|blob|about):/.test(each.url())) asked.push(each.url()); });
      await page.goto(pathToFileURL(file).href);
      const length = await page.evaluate(() => document.documentElement.scrollHeight);
      const closed = await page.evaluate(overflowing);
      const over = await page.evaluate(overlapping);
      if (shots) await page.screenshot({ path: join(shots, `${name}-${colorScheme}-${width}.png`), fullPage: true });
      // Folded parts are looked at as well.
      await page.evaluate(() => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
      const opened = await page.evaluate(overflowing);
      const overOpened = await page.evaluate(overlapping);
      await page.evaluate(axe);
      const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      if (shots) await page.screenshot({ path: join(shots, `${name}-${colorScheme}-${width}-open.png`), fullPage: true });
      found.push({
        page: name, scheme: colorScheme, width, screens: length / height,
        sideways: Math.max(closed.sideways, opened.sideways),
        outside: [...new Set([...closed.outside, ...opened.outside])],
        over: [...new Set([...over, ...overOpened])],
        asked: [...new Set(asked)],
        violations: result.violations.map((each) => ({
          id: each.id, impact: each.impact, help: each.help,
          at: each.nodes.slice(0, 3).map((node) => node.target.join(" ")), n: each.nodes.length,
          why: each.nodes[0].failureSummary,
        })),
      });
      await page.close();
    }
    await context.close();
  }
}
await browser.close();
process.stdout.write(JSON.stringify(found, null, 1) + "\n");

// Draw the README's picture: a release's map of boxes beside the page that explains it.
//
//   node picture.mjs REPORT.html OUT.png
//
// CHROMIUM names the browser; playwright-core is looked for from the folder that the program is
// run in. The map is the one that the report opens with, coloured by density.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const WIDTH = 1040;
const HEIGHT = 700;

const [report, out] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } });
await page.goto(pathToFileURL(report).href);
// The list of contents leads nowhere in a picture.
await page.addStyleTag({ content: "nav { display: none }" });
const encoded = async (box, height) => (await page.screenshot({
  clip: { x: box.x, y: box.y, width: box.width, height: Math.min(box.height, height) },
  fullPage: true,
})).toString("base64");
const top = await encoded({ x: 40, y: 20, width: WIDTH - 80, height: HEIGHT }, HEIGHT);
const map = await encoded(await page.locator("figure.map-1 svg").first().boundingBox(), HEIGHT);

const canvas = await browser.newPage({ viewport: { width: 1360, height: 1000 } });
await canvas.setContent(`<!doctype html><body style="margin: 0; background: #f6f6f2">
  <div style="display: flex; gap: 16px; align-items: center; padding: 0 0 0 12px">
  <img width="640" style="border-radius: 8px" src="data:image/png;base64,${map}">
  <img width="684" src="data:image/png;base64,${top}"></div></body>`);
await canvas.waitForFunction(() => [...document.images].every((each) => each.complete));
await canvas.locator("div").screenshot({ path: out });
await browser.close();

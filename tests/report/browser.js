// Starts a headless Chromium without network, and opens pages that record everything a report must not do.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";

const kQuiet = [
  "--headless",
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
export const kSoftwareWebGl = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
export const kNoWebGl = ["--disable-gpu", "--disable-3d-apis"];

export const kChromium = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Why the tests cannot run here; empty if they can. */
export function whyNot() {
  if (!existsSync(kChromium)) return `there is no Chromium at ${kChromium} (environment variable CHROMIUM)`;
  if (!existsSync(new URL("node_modules/playwright-core", import.meta.url)))
    return "playwright-core is not installed (npm ci in tests/report)";
  return "";
}

export async function startBrowser(flags) {
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath: kChromium, args: [...kQuiet, ...flags], timeout: 120000 });
}

/** Opens a report file. page.complaints: network requests, console errors, script errors. */
export async function openReport(browser, file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120000);
  page.complaints = [];
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) page.complaints.push(`request of ${request.url()}`);
  });
  page.on("console", (message) => {
    if (message.type() === "error") page.complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => page.complaints.push(`script: ${error.message}`));
  page.on("dialog", (dialog) => page.complaints.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("#timeline-section svg.timeline");
  return page;
}

export function assertQuiet(page) {
  assert.deepEqual(page.complaints, []);
}

/** The colours of the three-dimensional view: {colours, picture}. */
export function lookAtCanvas(page) {
  return page.evaluate(() => {
    const view = document.querySelector("canvas.view3d");
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [160, 96];
    const pen = copy.getContext("2d");
    pen.drawImage(view, 0, 0, copy.width, copy.height);
    const { data } = pen.getImageData(0, 0, copy.width, copy.height);
    const colours = new Set();
    for (let k = 0; k < data.length; k += 4)
      if (data[k + 3] > 0) colours.add((data[k] << 16) | (data[k + 1] << 8) | data[k + 2]);
    return { colours: colours.size, picture: Array.from(data).join() };
  });
}

// Opens the page in a context of its own, and records everything that it must not do.
import assert from "node:assert/strict";
import { join } from "node:path";

export const test = (name) => `[data-test="${name}"]`;
export const card = (stem) => `#task-${stem}`;

/** page.complaints: errors, refused resources, requests of other addresses. `script`: runs before the page's. */
export async function openPage(browser, address, { hash = "", script = null, path = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(Number(process.env.WAIT ?? 180000));
  page.complaints = [];
  context.on("request", (request) => {
    if (!request.url().startsWith(address) && !/^(blob|data):/.test(request.url()))
      page.complaints.push(`request of ${request.url()}`);
  });
  page.on("console", (message) => {
    if (message.type() === "error") page.complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => page.complaints.push(`script: ${error.message}`));
  await page.addInitScript(() => {
    globalThis.violations = [];
    document.addEventListener("securitypolicyviolation", (event) =>
      globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  if (script) await page.addInitScript(script);
  await page.goto(address + path + hash);
  return page;
}

export async function started(page) {
  await page.waitForSelector(`${test("tasks")} li`);
  return page;
}

export async function closeQuietly(page) {
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(await page.evaluate("violations"), []);
  await page.context().close();
}

/** Presses Start on the task's card and on the instructions; `press`: "click" with the mouse, or "tap". */
export async function practise(page, stem, { level = null, press = "click" } = {}) {
  if (level) await page.selectOption(`${card(stem)} ${test("level")}`, String(level));
  await page[press](`${card(stem)} ${test("start-task")}`);
  await page[press](test("begin"));
  await page.waitForSelector(test("ready"), { state: "hidden" });
}

export async function finish(page) {
  await page.keyboard.press("Escape");
  await page.evaluate(() => document.exitPointerLock());
  await page.click(test("finish"));
  await page.waitForSelector(test("results"));
}

/** The mock's calls of one function: [[arguments], ...]. */
export function calls(page, name) {
  return page.evaluate((wanted) => trocarCalls.filter(([one]) => one === wanted).map(([, ...rest]) => rest), name);
}

export const secondsOf = (text) => {
  const [minutes, seconds] = text.split(":").map(Number);
  return 60 * minutes + seconds;
};

/** Sends touches of Chromium's own: [[x, y], ...] of one finger. */
export async function swipe(page, points) {
  const client = await page.context().newCDPSession(page);
  for (const [k, [x, y]] of points.entries())
    await client.send("Input.dispatchTouchEvent", { type: k === 0 ? "touchStart" : "touchMove", touchPoints: [{ x, y }] });
  await page.waitForTimeout(150);
  await client.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await page.waitForTimeout(150);
}

export const middleOf = async (page, name) => {
  const { x, y, width, height } = await page.locator(test(name)).boundingBox();
  return [x + width / 2, y + height / 2];
};

/** Keeps a picture of the screen in the folder PICTURES, if it is named. */
export async function picture(page, name) {
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `${name}.png`) });
}

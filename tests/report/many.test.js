// Tests the comparison of several attempts in a browser.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { assertQuiet, kNoWebGl, openReport, startBrowser } from "./browser.js";

let browser = null;
before(async () => (browser = await startBrowser(kNoWebGl)));
after(() => browser?.close());

test("shows learning curves, the table and any attempt", async () => {
  const page = await openReport(browser, join(process.env.PAGES, "many.html"));
  const time = page.locator("[data-curve='/duration'].practice");
  assert.equal(await time.locator(".practice-point").count(), 5);
  assert.equal(await time.locator(".fit").count(), 1);
  assert.match(await time.textContent(), /From 60 towards 0, halfway by attempt 6; R² 1\.00/);
  const best = await page.textContent("tr[data-curve='/duration'] .best");
  assert.match(best, /^31\.5 ★$/);
  assert.equal(await page.locator("#attempt-section select option").count(), 5);
  await time.locator(".practice-point").first().click();
  assert.equal(await page.inputValue("#attempt-section select"), "0");
  assert.equal(await page.textContent("td[data-metric='duration'] .value"), "60\u00a0s");
  await page.screenshot({ path: join(process.env.PAGES, "many.png"), fullPage: true });
  assertQuiet(page);
});

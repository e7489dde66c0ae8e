// Tests in a browser: the report of one session, the comparison of several, and what the program writes from its recordings.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { assertQuiet, kNoWebGl, kSoftwareWebGl, lookAtCanvas, openReport, startBrowser } from "./browser.js";

const kPages = process.env.PAGES;
const kOne = join(kPages, "one.html");
const trocar = (...args) => execFileSync(process.env.TROCAR, args, { encoding: "utf8" });
let browser = null;

before(async () => {
  browser = await startBrowser(kSoftwareWebGl);
  trocar("demo", "--frames", "40", "--headless", "--backend", "scan", "--out", join(kPages, "demo"));
});
after(() => browser?.close());

test("shows the scores of the JSON", async () => {
  const page = await openReport(browser, kOne);
  const attempt = JSON.parse(readFileSync(join(kPages, "one.json"), "utf8"));
  assert.equal(await page.textContent("#score"), attempt.task.score_text);
  const parts = await page.$$eval(".part", (nodes) =>
    nodes.map((node) => [node.dataset.metric, node.querySelector(".part-value").textContent]),
  );
  assert.deepEqual(parts, [
    ["task_errors", "2"],
    ["task_time", "41.3\u00a0s"],
  ]);
  const opened = await page.$$eval(".part .why", (nodes) => nodes.map((node) => node.open));
  assert.deepEqual(opened, [false, false]);
  await page.click(".part[data-metric='task_time'] summary");
  const time = attempt.task.parts[0];
  assert.equal(await page.textContent(".part[data-metric='task_time'] .why p"), time.why);
  assert.equal(await page.textContent(".part[data-metric='task_time'] .advice"), time.advice);
  const values = await page.$$eval("td[data-metric='path_length'] .value", (nodes) =>
    nodes.map((node) => node.textContent),
  );
  assert.deepEqual(values, ["1\u2009234\u00a0mm", "322\u00a0mm"]);
  const marks = await page.$$eval("td[data-metric='path_length'] .badge", (nodes) =>
    nodes.map((node) => node.className),
  );
  assert.deepEqual(marks, ["badge between", "badge good"]);
  assert.equal(await page.textContent("td[data-metric='bimanual_correlation'] .value"), "–");
  await page.screenshot({ path: join(kPages, "one.png"), fullPage: true });
  assertQuiet(page);
});

test("draws every frame of the timeline", async () => {
  const page = await openReport(browser, kOne);
  const counts = await page.$$eval("[data-points]", (nodes) =>
    nodes.map((node) => [Number(node.dataset.points), node.getAttribute("d").split(/[ML]/).length - 1]),
  );
  assert.deepEqual(counts, Array(6).fill([240, 240]));
  const bands = await page.$$eval("[data-band]", (nodes) => nodes.map((node) => node.dataset.band));
  assert.deepEqual(bands, ["Errors", "Diathermy", "Out of view", "Collision"]);
  assertQuiet(page);
});

test("shares one time cursor", async () => {
  const page = await openReport(browser, kOne);
  const cursorAt = () => page.$eval("[data-cursor]", (line) => Number(line.getAttribute("x1")));
  const ringAt = () => page.$eval(".path-now", (ring) => Number(ring.getAttribute("cx")));
  const [line, ring] = [await cursorAt(), await ringAt()];
  await page.click(".event >> nth=1");
  assert.equal((await page.textContent(".time-shown")).replace("\u00a0", " "), "2.50 s");
  assert.ok((await cursorAt()) > line);
  assert.notEqual(await ringAt(), ring);
  assert.equal(await page.textContent(".readings tbody tr:nth-child(2) .states"), "diathermy");
  await page.focus(".time-slider");
  await page.keyboard.press("ArrowRight");
  assert.notEqual((await page.textContent(".time-shown")).replace("\u00a0", " "), "2.50 s");
  const box = await page.locator("svg.timeline").boundingBox();
  await page.mouse.click(box.x + box.width - 20, box.y + box.height / 2);
  assert.ok(Number.parseFloat(await page.textContent(".time-shown")) > 3.8);
  assertQuiet(page);
});

test("turns the organs with mouse and keys, and repaints them", async () => {
  const page = await openReport(browser, kOne);
  const view = page.locator("canvas.view3d");
  await view.scrollIntoViewIfNeeded();
  const first = await lookAtCanvas(page);
  assert.ok(first.colours > 20, `${first.colours} colours`);
  const box = await view.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 120, box.y + box.height / 2 + 30, { steps: 4 });
  await page.mouse.up();
  const turned = await lookAtCanvas(page);
  assert.notEqual(turned.picture, first.picture);
  await view.focus();
  await page.keyboard.press("ArrowLeft");
  const byKey = await lookAtCanvas(page);
  assert.notEqual(byKey.picture, turned.picture);
  await page.getByLabel("highest pressure").check();
  const repainted = await lookAtCanvas(page);
  assert.notEqual(repainted.picture, byKey.picture);
  assert.match(await page.textContent(".scale"), /kPa/);
  await page.click(".event >> nth=1");
  assert.notEqual((await lookAtCanvas(page)).picture, repainted.picture, "faces removed after two seconds");
  assertQuiet(page);
});

test("a picture of an event moves the time cursor", async () => {
  const page = await openReport(browser, kOne);
  const size = await page.evaluate(() => {
    const picture = document.querySelector("#pictures-section img");
    return [picture.naturalWidth, picture.naturalHeight];
  });
  assert.deepEqual(size, [4, 3]);
  assert.match(await page.textContent("#pictures-section figcaption"), /2.50/);
  const before = await page.inputValue("input[type=range]");
  await page.click("#pictures-section img");
  assert.notEqual(await page.inputValue("input[type=range]"), before);
  assertQuiet(page);
});

test("fits a telephone screen in dark mode", async () => {
  const page = await openReport(browser, kOne, { viewport: { width: 390, height: 800 }, colorScheme: "dark" });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `the page is ${width} pixels wide`);
  await page.screenshot({ path: join(kPages, "telephone.png"), fullPage: true });
  assertQuiet(page);
});

test("shows texts that contain markup as plain text", async () => {
  const page = await openReport(browser, join(kPages, "hostile.html"));
  const text = readFileSync(join(kPages, "hostile.txt"), "utf8");
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.equal(await page.title(), text.replace(/\s+/g, " "));
  assert.equal(await page.textContent("h1"), text);
  const pictures = await page.locator("img").all();
  assert.equal(pictures.length, 1, "only the picture of an event");
  assert.equal(await pictures[0].getAttribute("alt"), text);
  assertQuiet(page);
});

test("works without WebGL and says so", async () => {
  const poor = await startBrowser(kNoWebGl);
  try {
    const page = await openReport(poor, kOne);
    assert.match(await page.textContent("#no-webgl"), /no WebGL/);
    assert.equal(await page.locator("canvas.view3d").count(), 0);
    assert.equal(await page.textContent("#score"), "73.4");
    assert.ok((await page.locator(".path-view").count()) === 3);
    assert.deepEqual(
      page.complaints.filter((complaint) => !/WebGL/.test(complaint)),
      [],
    );
  } finally {
    await poor.close();
  }
});

test("shows learning curves, the table and any attempt", async () => {
  const poor = await startBrowser(kNoWebGl);
  const page = await openReport(poor, join(kPages, "many.html"));
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
  await page.screenshot({ path: join(kPages, "many.png"), fullPage: true });
  assertQuiet(page);
  await poor.close();
});

test("reports a recorded session", async () => {
  const recording = join(kPages, "demo", "session.h5");
  const out = join(kPages, "demo.html");
  trocar("report", recording, "-o", out);
  assert.ok(statSync(out).size < 3e6, `${statSync(out).size} bytes`);
  const page = await openReport(browser, out);
  assert.match(await page.textContent("#agreement"), /All 40 frames .* 0 disagreements/);
  assert.match(await page.textContent("#sample"), /faces of .* answers, none of them wrong/);
  const shown = await page.$$eval("td[data-metric]", (nodes) =>
    nodes.map((node) => [node.dataset.metric, node.dataset.column]),
  );
  trocar("score", recording, "--json", join(kPages, "score.json"));
  const [attempt] = JSON.parse(readFileSync(join(kPages, "score.json"), "utf8")).attempts;
  const expected = [
    ...attempt.overall.map(({ id }) => [id, "Whole session"]),
    ...attempt.instruments.flatMap(({ name, metrics }) => metrics.map(({ id }) => [id, name])),
  ];
  assert.deepEqual(shown.map(String).sort(), expected.map(String).sort());
  assertQuiet(page);
});

test("refuses a file that is not a recording, and writes no page", () => {
  const out = join(kPages, "refused.html");
  const { status, stderr } = spawnSync(process.env.TROCAR, ["report", join(kPages, "one.json"), "-o", out], {
    encoding: "utf8",
  });
  assert.equal(status, 2);
  assert.equal(stderr.trim().split("\n").length, 1, stderr);
  assert.ok(!existsSync(out));
});

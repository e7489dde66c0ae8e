// Completes a task in a headless Chromium with events of the mouse, and compares its attempt with the desktop's:
//   node task_test.mjs FOLDER [TROCAR]
// FOLDER: what `./run web` makes. TROCAR: the program for Linux, which computes the attempt again.
// Prints the time of the first load and that of each stage of a frame. PICTURES: a folder for pictures of the screens.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test as nodeTest } from "node:test";
import { fileURLToPath } from "node:url";
import { Aim } from "./aim.js";
import { mock, site, temporaryFolder, useSite } from "./folder.js";
import { card, closeQuietly, picture, test } from "./page.js";

useSite(mock ? "no folder of the program is named" : "");
const trocar = process.argv[3];
const kScene = fileURLToPath(new URL("../../data/scenes/tasks/touch_targets.toml", import.meta.url));
const kClearance = 0.03; // m  between the tip and the next target while the instrument swings
const kPress = 0.003; // m  beyond the target
const kHold = 3000; // ms  within which a target that is touched counts
// m, along the body: where else to aim when breathing or the instrument has moved an organ away from its place at rest.
const kAstray = [0, -0.005, -0.01, 0.005, -0.015];

/** Every value of a key in the scene's order, in metres. */
function points(scene, key) {
  return [...scene.matchAll(new RegExp(`^${key} = \\[(.*?)\\]`, "gm"))].map(([, numbers]) =>
    numbers.split(",").map((number) => Number(number) / 1000),
  );
}

/** Prints the technical overlay, and closes it again. */
async function showTimes(page) {
  await page.keyboard.press("t");
  await page.waitForFunction(() => document.querySelector("#technical").textContent.includes("tissue"));
  console.log(await page.textContent("#technical"));
  await page.keyboard.press("t");
}

/** Whether the progress, or the end of the task, comes within the time. */
function comesTo(page, progress) {
  return page
    .waitForFunction(
      (least) => document.querySelector("#results:not([hidden])") || document.querySelector("#progress").value >= least,
      progress,
      { timeout: kHold },
    )
    .then(() => true, () => false);
}

async function touch(page, aim, point) {
  await aim.moveToDepth(Math.min(aim.depth, aim.depthOf(point)) - kClearance);
  await page.waitForTimeout(1500);
  await aim.swingTo(point);
  await page.waitForTimeout(500);
  await aim.moveToDepth(aim.depthOf(point) + kPress);
}

async function touchAll(page, aim, targets) {
  for (const [k, target] of targets.entries()) {
    const reached = (k + 1) / targets.length - 1e-6;
    for (const astray of kAstray) {
      await touch(page, aim, [target[0], target[1] + astray, target[2]]);
      if (k === 2) await picture(page, "touching_desktop");
      if (k === 4 && astray === kAstray[0]) await showTimes(page);
      if (await comesTo(page, reached)) break;
      console.log(`target ${k + 1} was not touched ${Math.round(astray * 1000)} mm from its place`);
    }
  }
}

nodeTest("a task done with the mouse is the same on the desktop", async () => {
  const scene = readFileSync(kScene, "utf8");
  const [eye] = points(scene, "eye_mm");
  const [target] = points(scene, "target_mm");
  const [pivot] = points(scene, "pivot_mm");
  const [tip] = points(scene, "tip_mm");
  const before = performance.now();
  const page = await site.open();
  console.log(`first load: ${Math.round(performance.now() - before)} ms`);
  const aim = new Aim(page, { eye, target }, { pivot, tip });
  await page.click(`${card("touch_targets")} ${test("start-task")}`);
  await page.waitForSelector(test("begin"));
  await aim.start(640, 420);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.pointerLockElement?.id === "picture");
  await touchAll(page, aim, points(scene, "at_mm"));
  await page.waitForSelector(test("results"));
  await picture(page, "done_desktop");
  const sentence = await page.textContent(test("result-sentence"));
  const score = await page.textContent(test("result-score"));
  console.log(`${sentence} ${score}`);
  assert.match(sentence, /^Done in/);
  const [last] = (await page.locator(`${test("events")} time`).allTextContents()).slice(-1);
  assert.equal(sentence, `Done in ${last}.`, "both are times of the score's clock");
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(test("result-download"))]);
  const attempt = join(temporaryFolder(), "attempt.json");
  await file.saveAs(attempt);
  await closeQuietly(page);
  if (!trocar) return console.log("not compared with the desktop: no program is named");
  const again = spawnSync(trocar, ["record", "--from", attempt, "-o", `${attempt}.h5`], { encoding: "utf8" });
  console.log(again.stdout + again.stderr);
  assert.equal(again.status, 0);
  assert.match(again.stdout, /every frame, the score [\d.]+ and \d+ events are those of the attempt: 0 differences/);
  assert.equal(Math.round(Number(/the score ([\d.]+)/.exec(again.stdout)[1])), Number.parseInt(score, 10));
});

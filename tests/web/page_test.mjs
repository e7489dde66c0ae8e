// Tests the page's screens in a headless Chromium:  node page_test.mjs [FOLDER]
// FOLDER: what `./run web` makes. Without it (also PAGE_FOLDER) the page runs with a mock of the program, which also
// shows which functions the page calls. PICTURES: a folder for pictures of the screens.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test as nodeTest } from "node:test";
import { mock, onlyMock, site, useSite } from "./folder.js";
import { calls, card, closeQuietly, finish, middleOf, openPage, picture, practise, secondsOf, started, swipe, test } from "./page.js";

useSite();
const { open } = site;

nodeTest("lists the tasks with levels and thumbnails, and the version", async () => {
  const page = await open();
  assert.ok((await page.locator(`${test("tasks")} li`).count()) >= (mock ? 4 : 10));
  assert.ok((await page.locator(`${test("free")} li`).count()) >= 1);
  assert.ok((await page.locator(`${card("burn_line")} option`).count()) === 3);
  assert.equal(await page.locator(`${test("free")} ${test("show-me")}`).count(), 0);
  await page.waitForFunction(() => [...document.images].every((image) => image.naturalWidth > 0));
  assert.match(await page.textContent(test("version")), /^Trocar \d+\.\d+\.\d+$/);
  await page.click(test("about"));
  assert.match(await page.textContent(test("about-panel")), /Nothing leaves this browser/);
  for (const name of ["LICENSE.txt", "LICENSES-OF-LIBRARIES.txt"]) {
    const [licence] = await Promise.all([page.waitForEvent("popup"), page.click(`a[href="${name}"]`)]);
    await licence.waitForLoadState();
    assert.ok((await licence.textContent("body")).length > 20, name);
    await licence.close();
  }
  await page.click(test("close-about"));
  await closeQuietly(page);
});

nodeTest("practises with mouse and keyboard, and keeps, downloads, replays and deletes the attempt", async () => {
  const page = await open();
  assert.equal(await page.locator(test("attempt")).count(), 0);
  await page.click(`${card("touch_targets")} ${test("start-task")}`);
  await page.waitForSelector(test("begin"));
  assert.match(await page.textContent("#ready-hint"), /target/);
  assert.match(await page.textContent(test("ready-keys")), /mouse.*wheel/);
  await picture(page, "ready_desktop");
  await page.keyboard.press("Enter");
  await page.waitForSelector(test("ready"), { state: "hidden" });
  for (let k = 0; k < 10; ++k) {
    await page.mouse.move(600 + 5 * (k % 5), 400 + 3 * k);
    await page.waitForTimeout(100);
  }
  await picture(page, "practice_desktop");
  assert.ok(secondsOf(await page.textContent(test("time"))) > 0);
  await finish(page);
  assert.match(await page.textContent(test("result-score")), /^\d+(\.\d)? out of 100$/);
  assert.match(await page.textContent(test("result-progress")), /^\d+ % of the task was done/);
  assert.equal(await page.locator(`${test("measures")} li`).count(), 6);
  for (const [id, label] of [["duration", "Time"], ["movements", "Number of movements"], ["peak_force", "Largest force"]])
    assert.match(await page.textContent(test(`measure-${id}`)), new RegExp(`^${label}`));
  assert.match(await page.textContent(test("measure-peak_force")), /good up to [\d.]+ N, poor from [\d.]+ N$/);
  assert.equal(await page.isVisible("#no-judgement"), false);
  assert.ok((await page.locator(`${test("parts")} li`).count()) > 0);
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(test("result-download"))]);
  assert.match(file.suggestedFilename(), /^touch_targets-level-1-.*\.json$/);
  const text = readFileSync(await file.path(), "utf8");
  assert.equal(JSON.parse(text).format, "trocar-browser-attempt-1");
  await page.click(test("result-back"));
  await page.reload();
  await page.waitForSelector(test("attempt"));
  const [again] = await Promise.all([page.waitForEvent("download"), page.click(test("download"))]);
  assert.equal(readFileSync(await again.path(), "utf8"), text);
  await page.click(test("replay"));
  await page.click(test("speed-2"));
  await page.waitForSelector(test("results"));
  assert.match(await page.textContent(test("equality")), /^The replay equals the attempt: all [1-9]\d* frames/);
  await page.click(test("result-back"));
  assert.equal(await page.locator(test("attempt")).count(), 1, "a replay is not kept");
  await page.click(test("delete"));
  assert.equal(await page.textContent(test("delete")), "Delete it?");
  await page.click(test("delete"));
  await page.waitForSelector(test("attempt"), { state: "detached" });

  await page.setInputFiles(test("file"), { name: "mine.json", mimeType: "application/json", buffer: Buffer.from(text) });
  await page.waitForSelector(test("results"));
  assert.match(await page.textContent(test("equality")), /^The replay equals/);
  await closeQuietly(page);
});

nodeTest("refuses files that are not attempts with a sentence", async () => {
  const page = await open();
  for (const text of ["", "{", "[]", "null", '{"format": "trocar-browser-attempt-1"'.repeat(3), "x".repeat(100000)]) {
    await page.setInputFiles(test("file"), { name: "no.json", mimeType: "application/json", buffer: Buffer.from(text) });
    await page.waitForFunction(() => document.querySelector("#notice").textContent.includes("not an attempt"));
    assert.ok(await page.isVisible(test("start")));
    await page.evaluate(() => (document.querySelector("#notice").textContent = ""));
  }
  await closeQuietly(page);
});

nodeTest("pauses with Esc, for a lost focus and for settings; keeps settings; goes on or restarts", async () => {
  const page = await open();
  await practise(page, "touch_targets", { level: 2 });
  await page.keyboard.press("Escape");
  await page.waitForSelector(test("resume"));
  const time = await page.textContent(test("time"));
  await page.waitForTimeout(500);
  assert.equal(await page.textContent(test("time")), time);
  await picture(page, "paused_desktop");
  await page.click(test("paused-settings"));
  await page.uncheck(test("fulcrum"));
  await page.selectOption(test("quality"), "0");
  await page.fill(test("sensitivity"), "1");
  await picture(page, "settings_desktop");
  await page.click(test("close-settings"));
  await page.click(test("resume"));
  await page.waitForSelector(test("paused"), { state: "hidden" });
  await page.evaluate(() => window.dispatchEvent(new Event("blur")));
  await page.waitForSelector(test("restart"));
  await page.click(test("restart"));
  await page.waitForSelector(test("begin"));
  assert.equal(secondsOf(await page.textContent(test("time"))), 0);
  await page.click(test("ready-back"));
  await page.reload();
  await started(page);
  await page.click(test("settings"));
  assert.equal(await page.isChecked(test("fulcrum")), false);
  assert.equal(await page.inputValue(test("quality")), "0");
  assert.equal(await page.inputValue(test("sensitivity")), "1");
  await page.click(test("close-settings"));
  await closeQuietly(page);
});

nodeTest("shows the technical overlay, and the scripted expert without keeping an attempt", async () => {
  const page = await open();
  await page.click(`${card("touch_targets")} ${test("show-me")}`);
  await page.waitForFunction(() => document.querySelector("#task-title").textContent.startsWith("Demonstration"));
  await page.keyboard.press("t");
  await page.waitForFunction(() => document.querySelector("#technical").textContent.includes("tissue"));
  if (mock) {
    await page.waitForSelector(test("results"));
    assert.equal(await page.textContent(test("again")), "Try it");
    await page.click(test("again"));
    await page.click(test("ready-back"));
  } else {
    await page.keyboard.press("Escape");
    await page.click(test("leave"));
  }
  await page.waitForSelector(test("start"));
  assert.equal(await page.locator(test("attempt")).count(), 0);
  await closeQuietly(page);
});

nodeTest("an address selects a task and a level; unknown ones select nothing", async () => {
  const page = await open({ hash: "#task=burn_line&level=2" });
  await page.waitForSelector(`${card("burn_line")}.chosen`);
  assert.equal(await page.inputValue(`${card("burn_line")} ${test("level")}`), "2");
  for (const hash of ["#task=", "#task=none", "#level=2", "#task=%22%3E%3Cb%3E", "#task=touch_targets&level=99"])
    await page.evaluate((to) => (location.hash = to), hash);
  await page.waitForSelector(`${card("touch_targets")}.chosen`);
  assert.equal(await page.inputValue(`${card("touch_targets")} ${test("level")}`), "1");
  assert.equal(await page.locator(".chosen").count(), 1);
  await closeQuietly(page);
});

nodeTest("passes movements, buttons, wheel and keys to the program", onlyMock, async () => {
  const page = await open();
  await practise(page, "touch_targets");
  await page.waitForFunction(() => document.pointerLockElement?.id === "picture");
  await page.mouse.move(640, 400);
  await page.waitForTimeout(100);
  await page.evaluate(() => (trocarCalls.length = 0));
  await page.mouse.move(670, 380, { steps: 3 });
  await page.waitForTimeout(100);
  const sum = (await calls(page, "trocar_pointer")).reduce(([x, y], [dx, dy]) => [x + dx, y + dy], [0, 0]);
  assert.deepEqual(sum, [30, -20]);
  await page.mouse.click(670, 380); // a click shorter than a picture still arrives as two states
  await page.waitForTimeout(100);
  assert.deepEqual((await calls(page, "trocar_pointer")).slice(-1).map(([, , buttons]) => buttons), [1]);
  await page.mouse.down({ button: "right" });
  await page.mouse.down({ button: "left" });
  await page.waitForTimeout(100);
  const states = (await calls(page, "trocar_pointer")).map(([, , buttons]) => buttons);
  assert.ok(states.includes(2) && states.at(-1) === 3, states.join());
  await page.mouse.up({ button: "left" });
  await page.mouse.up({ button: "right" });
  await page.mouse.wheel(0, -200);
  await page.waitForTimeout(100);
  assert.deepEqual(await calls(page, "trocar_wheel"), [[2]]);
  for (const key of ["q", "w", "ArrowUp", "ArrowDown", "e", " ", "r", "Shift"]) await page.keyboard.press(key);
  const keys = [0, 1, 2, 3, 4, 4, 5, 6].flatMap((key) => [[key, 1], [key, 0]]);
  assert.deepEqual(await calls(page, "trocar_key"), keys);
  await page.keyboard.press("Tab");
  await page.keyboard.press("4");
  await page.keyboard.press("Tab");
  await page.keyboard.press("9");
  assert.deepEqual(await calls(page, "trocar_take"), [[1], [3], [0]]);
  await page.keyboard.down("e");
  await page.keyboard.press("Escape");
  await page.evaluate(() => document.exitPointerLock());
  await page.waitForSelector(test("resume"));
  assert.deepEqual((await calls(page, "trocar_key")).slice(-2), [[4, 1], [4, 0]], "a pause releases the pedal");
  await page.keyboard.up("e");
  await closeQuietly(page);
});

nodeTest("moves the instrument with a free pointer where the browser does not lock it", onlyMock, async () => {
  const script = () => {
    Element.prototype.requestPointerLock = function () {
      document.dispatchEvent(new Event("pointerlockerror"));
      return Promise.reject(new Error("refused"));
    };
  };
  const page = await open({ script });
  await practise(page, "touch_targets");
  assert.match(await page.textContent(test("mouse-hint")), /move it over the picture/);
  await page.mouse.move(640, 400);
  await page.mouse.move(700, 400);
  await page.mouse.down();
  await page.waitForTimeout(100);
  const moves = await calls(page, "trocar_pointer");
  assert.ok(moves.some(([right]) => right === 60), JSON.stringify(moves));
  assert.equal(moves.at(-1)[2], 1);
  await page.mouse.up();
  await closeQuietly(page);
});

nodeTest("completes a task, offers the next level, and says when a replay differs", onlyMock, async () => {
  const page = await open();
  await practise(page, "touch_targets");
  for (let k = 0; k < 12; ++k) await page.mouse.move(400 + 200 * (k % 2), 400);
  await page.waitForSelector(test("results"));
  assert.match(await page.textContent(test("result-sentence")), /^Done in/);
  assert.equal(await page.isVisible(test("result-progress")), false);
  if (mock) assert.match(await page.textContent(`${test("result-errors")} li`), /Error: wrong target <b>touched<\/b>$/);
  assert.equal(await page.locator(`${test("events")} b b`).count(), 0, "texts are never markup");
  await picture(page, "results_desktop");
  await page.evaluate(() => (globalThis.trocarDiffers = 7));
  await page.click(test("result-replay"));
  await page.waitForSelector(test("results"));
  assert.match(await page.textContent(test("equality")), /^The replay differs from the attempt in 7 of/);
  await page.click(test("result-back"));
  assert.match(await page.textContent(test("attempt")), /Touch the targets.*Level 1, done/);
  await picture(page, "start_desktop");
  await practise(page, "touch_targets");
  for (let k = 0; k < 12; ++k) await page.mouse.move(400 + 200 * (k % 2), 400);
  await page.click(test("next-level"));
  await page.waitForSelector(test("begin"));
  assert.deepEqual((await calls(page, "trocar_open")).at(-1).slice(1), [2, 0]);
  await closeQuietly(page);
});

nodeTest("works with fingers on a tablet", async () => {
  const page = await open({ viewport: { width: 1024, height: 1366 }, hasTouch: true, isMobile: true });
  await picture(page, "start_tablet");
  await page.tap(`${card("burn_line")} ${test("start-task")}`);
  await page.waitForSelector(test("begin"));
  await picture(page, "ready_tablet");
  await page.tap(test("begin"));
  await page.waitForSelector(test("touch-depth"));
  await swipe(page, [[400, 700], [430, 690], [460, 660]]);
  const [x, y] = await middleOf(page, "touch-depth");
  await swipe(page, [[x, y], [x, y - 24], [x, y - 48]]);
  if (mock) {
    await page.tap(test("take-2"));
    await page.waitForSelector(test("touch-cut"));
    for (const name of ["touch-cut", "touch-coagulate", "touch-left", "touch-right"])
      await swipe(page, [await middleOf(page, name)]);
    await page.tap(test("touch-camera"));
    await page.waitForTimeout(150);
    const moves = await calls(page, "trocar_pointer");
    const [right, down] = moves.reduce(([a, b], [dx, dy]) => [a + dx, b + dy], [0, 0]);
    assert.ok(Math.abs(right - 60) <= 16 && Math.abs(down + 40) <= 16, `${right}, ${down}: less a finger's first slip`);
    assert.equal(moves.at(-1)[2], 2);
    const notches = (await calls(page, "trocar_wheel")).reduce((sum, [one]) => sum + one, 0);
    assert.ok(notches > 1 && notches <= 2, String(notches));
    const held = [4, 5, 0, 1].flatMap((key) => [[key, 1], [key, 0]]);
    assert.deepEqual(await calls(page, "trocar_key"), held);
    assert.deepEqual(await calls(page, "trocar_take"), [[1]]);
  }
  await picture(page, "practice_tablet");
  await page.tap(test("pause"));
  await page.tap(test("finish"));
  await page.waitForSelector(test("results"));
  await picture(page, "results_tablet");
  await closeQuietly(page);
});

nodeTest("fits a telephone", async () => {
  const page = await open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  assert.ok(await fits());
  await picture(page, "start_phone");
  await practise(page, "burn_line", { press: "tap" });
  await page.waitForSelector(test("touch-depth"));
  if (mock) await page.tap(test("take-2"));
  await page.waitForTimeout(300);
  await picture(page, "practice_phone");
  await page.tap(test("pause"));
  await page.tap(test("finish"));
  await page.waitForSelector(test("results"));
  assert.ok(await fits());
  await picture(page, "results_phone");
  await closeQuietly(page);
});

nodeTest("says what the browser lacks", async () => {
  const lacks = [
    [/WebGL 2/, () => (HTMLCanvasElement.prototype.getContext = () => null)],
    [/SIMD/, () => (WebAssembly.validate = () => false)],
    [/does not run WebAssembly/, () => delete globalThis.WebAssembly],
    [/exceptions/, () => (WebAssembly.validate = ({ length }) => length !== 28)], // the bytes of that module
  ];
  for (const [sentence, script] of lacks) {
    const page = await openPage(site.browser, site.server.address, { script });
    await page.waitForSelector(test("notice"));
    assert.match(await page.textContent(test("notice")), sentence);
    assert.ok(!(await page.isVisible(test("tasks"))));
    await closeQuietly(page);
  }
});

nodeTest("goes on without storage, and says so", async () => {
  const script = () => {
    Object.defineProperty(globalThis, "localStorage", { get: () => { throw new Error("refused"); } });
    IDBFactory.prototype.open = () => { throw new Error("refused"); };
  };
  const page = await open({ script });
  assert.match(await page.textContent("#no-attempts"), /refuses to keep attempts/);
  await practise(page, "touch_targets");
  await finish(page);
  await page.waitForSelector(test("result-notice"));
  assert.match(await page.textContent(test("result-notice")), /refused to keep this attempt/);
  assert.ok(await page.isVisible(test("result-download")));
  await closeQuietly(page);
});

nodeTest("says that the program has stopped", onlyMock, async () => {
  const page = await open();
  await practise(page, "touch_targets");
  await page.evaluate(() => (globalThis.trocarCrash = true));
  await page.keyboard.press("r");
  await page.waitForSelector(test("notice"));
  assert.match(await page.textContent(test("notice")), /The program has stopped/);
  await page.click(test("reload"));
  await started(page);
  await page.context().close(); // the error itself is a complaint
});

// Tests reports that the program writes from its own recordings.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { assertQuiet, kSoftwareWebGl, openReport, startBrowser } from "./browser.js";

const kFolder = process.env.PAGES;
const trocar = (...args) => execFileSync(process.env.TROCAR, args, { encoding: "utf8" });
let browser = null;

before(async () => {
  browser = await startBrowser(kSoftwareWebGl);
  trocar("demo", "--frames", "40", "--headless", "--backend", "scan", "--out", join(kFolder, "demo"));
});
after(() => browser?.close());

test("reports a recorded session", async () => {
  const recording = join(kFolder, "demo", "session.h5");
  const out = join(kFolder, "demo.html");
  trocar("report", recording, "-o", out);
  assert.ok(statSync(out).size < 3e6, `${statSync(out).size} bytes`);
  const page = await openReport(browser, out);
  assert.match(await page.textContent("#agreement"), /All 40 frames .* 0 disagreements/);
  assert.match(await page.textContent("#sample"), /faces of .* answers, none of them wrong/);
  const shown = await page.$$eval("td[data-metric]", (nodes) =>
    nodes.map((node) => [node.dataset.metric, node.dataset.column]),
  );
  trocar("score", recording, "--json", join(kFolder, "score.json"));
  const [attempt] = JSON.parse(readFileSync(join(kFolder, "score.json"), "utf8")).attempts;
  const expected = [
    ...attempt.overall.map(({ id }) => [id, "Whole session"]),
    ...attempt.instruments.flatMap(({ name, metrics }) => metrics.map(({ id }) => [id, name])),
  ];
  assert.deepEqual(shown.map(String).sort(), expected.map(String).sort());
  assertQuiet(page);
});

test("refuses a file that is not a recording, and writes no page", () => {
  const out = join(kFolder, "refused.html");
  const { status, stderr } = spawnSync(process.env.TROCAR, ["report", join(kFolder, "one.json"), "-o", out], {
    encoding: "utf8",
  });
  assert.equal(status, 2);
  assert.equal(stderr.trim().split("\n").length, 1, stderr);
  assert.ok(!existsSync(out));
});

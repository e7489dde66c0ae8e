// Tests the folder of the page: work without a network, new versions, and how the folder is made.
//   node folder_test.mjs [FOLDER]      as page_test.mjs
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test as nodeTest } from "node:test";
import { kMakeFolder, mockFolder, mockProgram, onlyMock, serve, site, temporaryFolder, useSite } from "./folder.js";
import { closeQuietly, finish, openPage, practise, started, test } from "./page.js";

useSite();

nodeTest("works without a network after the first visit, and from a sub-folder only", async () => {
  const page = await site.open();
  await page.waitForFunction(() => document.querySelector("#offline").textContent.startsWith("Ready to work"));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const before = site.server.requests.length;
  await page.context().setOffline(true);
  await page.reload();
  await started(page);
  await page.waitForFunction(() => [...document.images].every((image) => image.naturalWidth > 0));
  await practise(page, "touch_targets");
  await finish(page);
  assert.deepEqual(site.server.requests.slice(before), []);
  assert.ok(site.server.requests.every((path) => path.startsWith("/some/folder/")), site.server.requests.join("\n"));
  await closeQuietly(page);
});

nodeTest("offers a new version, and keeps no file of the old one", onlyMock, async () => {
  const own = await serve(mockFolder("1.0.0"));
  const page = await started(await openPage(site.browser, own.address));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  own.folder = mockFolder("1.0.1");
  await page.reload();
  await page.waitForSelector(test("update"));
  assert.equal(await page.textContent(test("version")), "Trocar 1.0.0");
  await page.click(test("update"));
  await page.waitForFunction(() => document.querySelector("#version").textContent === "Trocar 1.0.1");
  assert.equal((await page.evaluate(() => caches.keys())).length, 1);
  await closeQuietly(page);
  own.close();
});

nodeTest("the folder is checked when it is made", onlyMock, () => {
  const make = (...args) => spawnSync(kMakeFolder, args, { encoding: "utf8" });
  const folder = temporaryFolder();
  assert.equal(make(join(folder, "none"), join(folder, "out")).status, 2);
  writeFileSync(join(folder, "mine.txt"), "mine");
  const kept = make(mockProgram(), folder);
  assert.equal(kept.status, 2);
  assert.match(kept.stderr, /contains other files/);
  assert.ok(existsSync(join(folder, "mine.txt")));
  const large = mockProgram();
  writeFileSync(join(large, "trocar_program.data"), randomBytes(13e6));
  const out = join(folder, "out");
  assert.equal(make(large, out).status, 1);
  const good = make(mockProgram(), out);
  assert.equal(good.status, 0, good.stderr);
  assert.match(good.stdout, /out: 0\.\d\d MB compressed/);
  assert.doesNotMatch(readFileSync(join(out, "sw.js"), "utf8"), /@|"sw\.js"/);
});

// Creates the pages and runs the tests: node run.js MAKE_REPORT_PAGES TROCAR
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { whyNot } from "./browser.js";

const [makePages, program] = process.argv.slice(2);
const reason = whyNot();
if (reason) {
  console.log(`SKIPPED: ${reason}`);
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "trocar-report-"));
try {
  execFileSync(makePages, [folder]);
  const tests = ["pages.test.js", "parts.test.js"].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  const { status } = spawnSync(process.execPath, ["--test", ...tests], {
    stdio: "inherit",
    env: { ...process.env, PAGES: folder, TROCAR: program },
  });
  process.exitCode = status ?? 1;
} finally {
  if (!process.env.KEEP_PAGES) rmSync(folder, { recursive: true, force: true });
  else console.log(`pages and pictures are in ${folder}`);
}

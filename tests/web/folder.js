// Gives the tests of the page a folder to test: the one named by PAGE_FOLDER, or one made with the mock program; a server
// for it, in a sub-folder of its address; a headless Chromium. Without Chromium the tests are skipped with the reason.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { kSoftwareWebGl, startBrowser, whyNot } from "../report/browser.js";
import { openPage, started } from "./page.js";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
/** A new folder, removed when the tests end. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), "trocar-page-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const kMakeFolder = here("../../web/make_folder.sh");

/** A folder with the files that the program's build makes, by the mock with this version. */
export function mockProgram(version = "1.0.0") {
  const folder = temporaryFolder();
  const mock = readFileSync(here("mock/trocar_program.js"), "utf8");
  writeFileSync(join(folder, "trocar_program.js"), mock.replace('program: "1.0.0"', `program: "${version}"`));
  for (const part of ["trocar_program.wasm", "trocar_program.data", "LICENSES-OF-LIBRARIES.txt"])
    writeFileSync(join(folder, part), part);
  return folder;
}

export function mockFolder(version) {
  const out = join(temporaryFolder(), "web");
  mkdirSync(out);
  execFileSync(kMakeFolder, [mockProgram(version), out]);
  return out;
}

const kTypes = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

/** {address, requests, close}: http://localhost:PORT/some/folder/. `folder` can be replaced. */
export async function serve(folder) {
  const requests = [];
  const served = { folder };
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    requests.push(path);
    const file = join(served.folder, path.replace(/^\/some\/folder\//, "").replace(/(^|\/)$/, "$1index.html"));
    try {
      if (!path.startsWith("/some/folder/") || !statSync(file).isFile()) throw new Error("not a file of the folder");
      response.writeHead(200, { "Content-Type": kTypes[extname(file)] ?? "application/octet-stream" });
      response.end(readFileSync(file));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(served, {
    address: `http://localhost:${server.address().port}/some/folder/`,
    requests,
    close: () => (server.closeAllConnections(), server.close()),
  });
}

export const kRealFolder = process.argv[2] ?? process.env.PAGE_FOLDER;
export const mock = !kRealFolder;
export const onlyMock = mock ? {} : { skip: "needs the mock" };

export const site = {
  browser: null,
  server: null,
  /** A page at its start screen; options of openPage. */
  open: async (options) => started(await openPage(site.browser, site.server.address, options)),
};

/** Call first. `lacks`: why the tests cannot run here, besides a missing Chromium. */
export function useSite(lacks = "") {
  const reason = whyNot() || lacks;
  if (reason) {
    console.log(`SKIPPED: ${reason}`);
    process.exit(0);
  }
  before(async () => {
    site.browser = await startBrowser(kSoftwareWebGl);
    site.server = await serve(kRealFolder ?? mockFolder());
  });
  after(async () => {
    await site.browser?.close();
    site.server?.close();
  });
}

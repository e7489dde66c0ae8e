// The site that a file of tests opens: the folder named by its first argument or by PAGE_FOLDER, or one with the mock of
// the program; a server of it; a headless Chromium. Without Chromium the tests are skipped with the reason.
import { after, before } from "node:test";
import { kSoftwareWebGl, startBrowser, whyNot } from "../report/browser.js";
import { mockFolder, serve } from "./folder.js";
import { openPage, started } from "./page.js";

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

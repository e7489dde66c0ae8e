// Finds what the browser lacks, and registers the service worker, which keeps the files of the page in the browser
// (sw.js.in), and offers a new version.
import { byId, say } from "./dom.js";

// The smallest modules that use vector instructions and exceptions.
const kHeader = [0, 97, 115, 109, 1, 0, 0, 0];
const kVectors = [...kHeader, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];
const kExceptions = [...kHeader, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 6, 64, 25, 11, 11];

const kNewer = "Use a current version of Firefox, Chrome, Edge or Safari.";

function hasWebGl2() {
  const context = document.createElement("canvas").getContext("webgl2");
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return context !== null;
}

/** What is missing and what to do, in a sentence or two; empty if the program can run. */
export function whatIsMissing() {
  if (typeof WebAssembly !== "object") return `This browser does not run WebAssembly, which Trocar needs. ${kNewer}`;
  if (!WebAssembly.validate(new Uint8Array(kVectors)))
    return `This browser has no vector instructions in WebAssembly (SIMD), which Trocar needs. ${kNewer}`;
  if (!WebAssembly.validate(new Uint8Array(kExceptions)))
    return `This browser has no exceptions in WebAssembly, which Trocar needs. ${kNewer}`;
  if (!hasWebGl2())
    return `This browser has no WebGL 2, which draws the picture. Switch on hardware acceleration in its settings, or: ${kNewer}`;
  return "";
}

function offer(registration) {
  const button = byId("update");
  button.hidden = false;
  button.onclick = () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    registration.waiting?.postMessage("replace");
  };
}

export async function workOffline() {
  const text = byId("offline");
  if (!navigator.serviceWorker) return say(text, "Works without a network only from an https address.");
  try {
    const registration = await navigator.serviceWorker.register("sw.js");
    if (registration.waiting && navigator.serviceWorker.controller) offer(registration);
    registration.addEventListener("updatefound", () => {
      const worker = registration.installing;
      worker?.addEventListener("statechange", () => {
        if (worker.state === "installed" && navigator.serviceWorker.controller) offer(registration);
      });
    });
    await navigator.serviceWorker.ready;
    say(text, "Ready to work without a network.");
  } catch {
    say(text, "The browser does not keep the page: it works only with a network.");
  }
}

// Registers the service worker, which keeps the files of the page in the browser (sw.js.in), and offers a new version.
import { byId, say } from "./dom.js";

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

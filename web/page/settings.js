// The settings: kept in localStorage where the browser allows it, changed in a dialog, passed to the program.
import { byId, onClick, say } from "./dom.js";

const kStored = "trocar.settings";
const kLimits = { sensitivity: [0.25, 4], fulcrum: [0, 1], quality: [0, 2], touched: [0, 1] };

export const settings = { sensitivity: 1, fulcrum: 1, quality: 1, touched: 0 };

function read() {
  try {
    const stored = JSON.parse(localStorage.getItem(kStored) ?? "{}");
    for (const [key, [low, high]] of Object.entries(kLimits))
      if (Number.isFinite(stored[key])) settings[key] = Math.min(high, Math.max(low, stored[key]));
  } catch {
    // Without storage the settings last until the page is closed.
  }
}

function write() {
  try {
    localStorage.setItem(kStored, JSON.stringify(settings));
  } catch {
    // As above.
  }
}

/** The pixels of the picture for each pixel of the page. */
export function pixelRatio() {
  return Math.min([1, 1.5, 2][settings.quality], window.devicePixelRatio || 1);
}

export function passSettings(program) {
  program.settings(settings.sensitivity, settings.fulcrum, settings.quality, settings.touched);
}

function show() {
  byId("sensitivity").value = Math.log2(settings.sensitivity);
  say(byId("sensitivity-value"), settings.sensitivity.toFixed(2));
  byId("fulcrum").checked = settings.fulcrum === 1;
  byId("quality").value = settings.quality;
  byId("show-touched").checked = settings.touched === 1;
}

export function changeSettings(changes) {
  Object.assign(settings, changes);
  write();
  show();
  byId("settings").dispatchEvent(new Event("changed"));
}

/** `changed`: called after each change. */
export function setUpSettings(changed) {
  read();
  show();
  const dialog = byId("settings");
  dialog.addEventListener("changed", changed);
  dialog.addEventListener("input", () =>
    changeSettings({
      sensitivity: 2 ** Number(byId("sensitivity").value),
      fulcrum: byId("fulcrum").checked ? 1 : 0,
      quality: Number(byId("quality").value),
      touched: byId("show-touched").checked ? 1 : 0,
    }),
  );
  onClick("close-settings", () => dialog.close());
}

export function openSettings() {
  const dialog = byId("settings");
  if (!dialog.open) dialog.showModal();
}

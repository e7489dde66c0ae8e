// Touch: one finger on the picture swings the instrument; a strip at the edge inserts it; buttons work while held.
import { byId, say } from "./dom.js";
import { Button } from "./hands.js";
import { partsOf } from "./keys.js";
import { Key } from "./program.js";

const kPixelsPerNotch = 24; // of the strip

export class Touch {
  constructor(session) {
    this.session = session;
    this.finger = null; // the pointer that moves the instrument
    this.camera = false;
    this.kind = "";
    this.setUpPicture();
    this.setUpStrip();
    this.hold("touch-left", (on) => session.hands.key(Key.rollLeft, on));
    this.hold("touch-right", (on) => session.hands.key(Key.rollRight, on));
    this.hold("touch-cut", (on) => session.hands.key(Key.cut, on));
    this.hold("touch-coagulate", (on) => session.hands.key(Key.coagulate, on));
    this.hold("touch-jaws", (on) => session.hands.press(Button.jaws, on));
    byId("touch-camera").addEventListener("click", () => this.setCamera(!this.camera));
  }

  setUpPicture() {
    const canvas = byId("picture");
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "touch") return;
      event.preventDefault(); // no mouse events after it
      if (!this.session.runs() || this.finger) return;
      canvas.setPointerCapture(event.pointerId);
      this.finger = { id: event.pointerId, x: event.clientX, y: event.clientY };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.finger?.id !== event.pointerId) return;
      if (this.session.runs()) this.session.hands.move(event.clientX - this.finger.x, event.clientY - this.finger.y);
      Object.assign(this.finger, { x: event.clientX, y: event.clientY });
    });
    for (const kind of ["pointerup", "pointercancel"])
      canvas.addEventListener(kind, (event) => {
        if (this.finger?.id === event.pointerId) this.finger = null;
      });
  }

  setUpStrip() {
    const strip = byId("touch-depth");
    let last = null;
    strip.addEventListener("pointerdown", (event) => {
      strip.setPointerCapture(event.pointerId);
      last = event.clientY;
    });
    strip.addEventListener("pointermove", (event) => {
      if (last === null) return;
      if (this.session.runs()) this.session.hands.insert((last - event.clientY) / kPixelsPerNotch);
      last = event.clientY;
    });
    for (const kind of ["pointerup", "pointercancel"]) strip.addEventListener(kind, () => (last = null));
  }

  hold(id, act) {
    const button = byId(id);
    const set = (on) => {
      button.classList.toggle("down", on);
      if (!on || this.session.runs()) act(on);
    };
    button.addEventListener("pointerdown", (event) => {
      button.setPointerCapture(event.pointerId);
      set(true);
    });
    for (const kind of ["pointerup", "pointercancel"]) button.addEventListener(kind, () => set(false));
    button.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  setCamera(on) {
    this.camera = on && this.session.runs();
    byId("touch-camera").setAttribute("aria-pressed", String(this.camera));
    this.session.hands.press(Button.scope, this.camera);
  }

  /** After a pause: everything is released. */
  rest() {
    this.finger = null;
    this.camera = false;
    byId("touch-camera").setAttribute("aria-pressed", "false");
    for (const button of byId("touch").querySelectorAll(".down")) button.classList.remove("down");
  }

  /** Shows the controls that the instrument in hand has; "scope" is a kind. */
  show(kind, scopeMoves) {
    byId("touch-camera").hidden = !scopeMoves || kind === "scope";
    if (this.kind === kind) return;
    this.kind = kind;
    const { jaws, pedals } = partsOf(kind);
    byId("touch-jaws").hidden = !jaws;
    byId("touch-cut").hidden = byId("touch-coagulate").hidden = pedals === null;
    if (pedals) {
      say(byId("touch-cut"), pedals[0]);
      say(byId("touch-coagulate"), pedals[1]);
    }
  }
}

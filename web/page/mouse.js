// Mouse and keyboard of a running session. The pointer is locked to the picture; where the browser refuses this, the
// pointer moves the instrument while it is over the picture.
import { byId, tell } from "./dom.js";
import { Button } from "./hands.js";
import { Key } from "./program.js";

const kHeldKeys = {
  KeyQ: Key.rollLeft,
  ArrowLeft: Key.rollLeft,
  KeyW: Key.rollRight,
  ArrowRight: Key.rollRight,
  ArrowUp: Key.inward,
  ArrowDown: Key.outward,
  KeyE: Key.cut,
  Space: Key.cut,
  KeyR: Key.coagulate,
  ShiftLeft: Key.fine,
  ShiftRight: Key.fine,
};
const kButtons = { 0: Button.jaws, 2: Button.scope };
const kPixelsPerNotch = 100; // of a wheel that reports pixels, as most browsers do for one notch
const kLinesPerNotch = 3;

const canvas = () => byId("picture");
const locked = () => document.pointerLockElement === canvas();

export class Mouse {
  /** `session`: {hands, runs(), pause(), take(number), takeNext(step)} of the practice. */
  constructor(session) {
    this.session = session;
    this.lockWorked = false;
    this.wanted = false; // the pointer should be locked
    this.entered = false;
    this.timer = 0;
    const node = canvas();
    node.addEventListener("pointermove", (event) => this.moved(event));
    node.addEventListener("pointerdown", (event) => this.pressed(event));
    node.addEventListener("pointerenter", () => (this.entered = true));
    // Buttons beside the first one pressed arrive as mouse events only.
    for (const kind of ["mousedown", "mouseup"])
      document.addEventListener(kind, (event) => this.button(event, kind === "mousedown"));
    node.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    node.addEventListener("contextmenu", (event) => event.preventDefault());
    document.addEventListener("pointerlockchange", () => this.lockChanged());
    document.addEventListener("pointerlockerror", () => this.lockRefused());
    window.addEventListener("keydown", (event) => this.keyed(event, true));
    window.addEventListener("keyup", (event) => this.keyed(event, false));
  }

  /** From a click or a key, when the session starts or goes on. */
  hold() {
    this.wanted = true;
    this.requestLock();
  }

  release() {
    this.wanted = false;
    this.hint("");
    if (locked()) document.exitPointerLock();
  }

  requestLock() {
    if (locked()) return;
    if (!canvas().requestPointerLock) return this.lockRefused();
    try {
      canvas().requestPointerLock()?.catch?.(() => {}); // the event says the same in every browser
    } catch {
      this.lockRefused();
    }
  }

  lockChanged() {
    if (locked()) {
      this.lockWorked = true;
      this.hint("");
      if (!this.wanted) document.exitPointerLock();
    } else if (this.wanted && this.session.runs()) {
      this.session.pause();
    }
  }

  lockRefused() {
    if (!this.wanted || locked()) return;
    this.hint(
      this.lockWorked
        ? "Click the picture to hold the mouse."
        : "The browser does not hold the mouse: move it over the picture.",
    );
  }

  hint(text) {
    clearTimeout(this.timer);
    tell(byId("mouse-hint"), text);
    if (text) this.timer = setTimeout(() => tell(byId("mouse-hint"), ""), 6000);
  }

  moved(event) {
    if (event.pointerType === "touch" || !this.session.runs()) return;
    const first = this.entered;
    this.entered = false;
    if (locked() || !first) this.session.hands.move(event.movementX, event.movementY);
  }

  pressed(event) {
    if (event.pointerType === "touch" || !this.session.runs() || locked()) return;
    canvas().setPointerCapture(event.pointerId); // a drag goes on outside the picture
  }

  button(event, down) {
    const button = kButtons[event.button];
    if (!button || !this.session.runs()) return;
    if (!down) return this.session.hands.press(button, false);
    if (event.target !== canvas()) return;
    event.preventDefault();
    if (!locked() && this.lockWorked) return this.requestLock(); // this click only holds the mouse again
    this.session.hands.press(button, true);
  }

  wheel(event) {
    event.preventDefault();
    if (!this.session.runs()) return;
    const unit = event.deltaMode === 0 ? kPixelsPerNotch : event.deltaMode === 1 ? kLinesPerNotch : 1;
    this.session.hands.insert(-event.deltaY / unit);
  }

  keyed(event, down) {
    if (!this.session.runs() || event.ctrlKey || event.metaKey || event.altKey) return;
    const held = kHeldKeys[event.code];
    if (held !== undefined) {
      event.preventDefault();
      if (!event.repeat) this.session.hands.key(held, down);
    } else if (down && event.code === "Tab") {
      event.preventDefault();
      this.session.takeNext(event.shiftKey ? -1 : 1);
    } else if (down && /^(Digit|Numpad)[1-9]$/.test(event.code)) {
      this.session.take(Number(event.code.at(-1)) - 1);
    }
  }
}

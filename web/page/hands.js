// Input of a running session: by mouse, keyboard and touch. Units: pixels of the page, notches of the wheel.
import { byId, say, tell } from "./dom.js";
import { partsOf } from "./keys.js";
import { Key } from "./program.js";

const Button = { jaws: 1, scope: 2 };

// Collects the input between two pictures and passes it to the program. A press and a release between two pictures are
// passed with one picture each, so that a short click is not lost.
export class Hands {
  constructor(program) {
    this.program = program;
    this.right = this.down = this.notches = 0;
    this.buttons = 0; // as pressed now
    this.changes = []; // [{buttons, right, down}] not passed yet
    this.keys = new Set();
  }

  move(right, down) {
    this.right += right;
    this.down += down;
  }

  insert(notches) {
    this.notches += notches;
  }

  press(button, on) {
    const next = on ? this.buttons | button : this.buttons & ~button;
    if (next === this.buttons) return;
    this.buttons = next;
    this.changes.push({ buttons: next, right: this.right, down: this.down });
    this.right = this.down = 0;
  }

  key(key, on) {
    if (this.keys.has(key) === on) return;
    if (on) this.keys.add(key);
    else this.keys.delete(key);
    this.program.key(key, on ? 1 : 0);
  }

  /** Before each picture of a running session. */
  deliver() {
    const change = this.changes.shift();
    if (change) {
      this.program.pointer(change.right, change.down, change.buttons);
    } else {
      this.program.pointer(this.right, this.down, this.buttons);
      this.right = this.down = 0;
    }
    if (this.notches !== 0) this.program.wheel(this.notches);
    this.notches = 0;
  }

  /** Releases everything. */
  rest() {
    for (const key of [...this.keys]) this.key(key, false);
    this.right = this.down = this.notches = this.buttons = 0;
    this.changes = [];
    this.program.pointer(0, 0, 0);
  }
}

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

// Mouse and keyboard. The pointer is locked to the picture; where the browser refuses this, the pointer moves the instrument
// while it is over the picture.
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

const kStripPixelsPerNotch = 24; // of the strip

// One finger on the picture swings the instrument; a strip at the edge inserts it; buttons work while held.
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
      if (this.session.runs()) this.session.hands.insert((last - event.clientY) / kStripPixelsPerNotch);
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

// Runs one practice, demonstration or replay: opens it, draws pictures, passes input, pauses, and reports its end.
import { byId, onClick, say, showPairs } from "./dom.js";
import { Hands, Mouse, Touch } from "./hands.js";
import { keysOf } from "./keys.js";
import { kindInHand, showStatus } from "./overlay.js";
import { Phase } from "./program.js";
import { changeSettings, openSettings, passSettings, pixelRatio, settings } from "./settings.js";

const kStatusInterval = 100; // ms
const kRestInterval = 250; // ms between pictures while nothing moves
const kLongestStep = 1; // s

const nextPicture = () => new Promise((resolve) => requestAnimationFrame(resolve));

export class Practice {
  /** `ended(session, end)`: {status, result, attempt} or null after leaving. `refused(sentence)`: it cannot be opened. */
  constructor(program, { ended, refused, help }) {
    Object.assign(this, { program, ended, refused, help });
    this.session = null; // {mode: "attempt" | "shown" | "replay", scene, level, title, kind, text, frames}
    this.phase = Phase.ready;
    this.touched = matchMedia("(any-pointer: coarse)").matches;
    this.hands = new Hands(program);
    this.mouse = new Mouse(this);
    this.touch = new Touch(this);
    this.page = { rate: 0, width: 0, height: 0, call: 0 };
    this.speed = 1;
    this.setUpButtons();
    this.setUpKeys();
    for (const kind of ["pointerdown", "keydown"])
      window.addEventListener(kind, (event) => this.notePress(event.pointerType), true);
    window.addEventListener("blur", () => this.pause());
    document.addEventListener("visibilitychange", () => document.hidden && this.pause());
    window.addEventListener("beforeunload", (event) => {
      if (this.session?.mode === "attempt" && this.phase !== Phase.ready) event.preventDefault();
    });
  }

  /** Whether input moves instruments now. */
  runs() {
    return this.session?.mode === "attempt" && this.phase === Phase.running;
  }

  setUpButtons() {
    const actions = {
      begin: () => this.begin(),
      "ready-back": () => this.leave(),
      "ready-settings": openSettings,
      pause: () => this.pause(),
      resume: () => this.resume(),
      finish: () => this.finish(),
      restart: () => this.open(this.session),
      leave: () => this.leave(),
      "paused-settings": openSettings,
      "paused-keys": this.help,
      "full-screen": () => byId("practice").requestFullscreen().catch(() => {}),
      "speed-1": () => this.setSpeed(1),
      "speed-2": () => this.setSpeed(2),
    };
    for (const [id, action] of Object.entries(actions)) onClick(id, action);
    byId("full-screen").hidden = !document.fullscreenEnabled;
  }

  setUpKeys() {
    window.addEventListener("keydown", (event) => {
      if (!this.session || document.querySelector("dialog[open]")) return;
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const action = {
        Escape: () => this.pause(),
        F1: () => (this.pause(), this.help()),
        F2: () => (this.pause(), openSettings()),
        KeyT: () => this.toggleTechnical(),
        KeyG: () => changeSettings({ touched: 1 - settings.touched }),
      }[event.code];
      if (!action) return;
      if (/^F\d/.test(event.code)) event.preventDefault();
      action();
    });
  }

  async open(session) {
    this.stop();
    this.session = session;
    this.phase = Phase.ready;
    this.show("preparing");
    await nextPicture();
    await nextPicture(); // the sentence is on the screen now
    if (this.session !== session) return;
    const opened =
      session.mode === "replay"
        ? this.program.openAttempt(session.text)
        : this.program.openScene(session.scene, session.level, session.mode === "shown");
    if (!opened) {
      this.session = null;
      return this.refused(this.program.error());
    }
    this.opened = true;
    passSettings(this.program);
    this.touch.show("", false);
    this.setSpeed(1);
    byId("replay-buttons").hidden = session.mode === "attempt";
    this.drawn = this.stated = Number.NEGATIVE_INFINITY;
    this.last = performance.now();
    const run = (this.run = {});
    const loop = (now) => {
      if (this.run !== run) return;
      requestAnimationFrame(loop);
      this.frame(now);
    };
    requestAnimationFrame(loop);
    if (session.mode === "attempt") this.showReady();
    else this.begin();
  }

  /** Ends the session without a word. */
  stop() {
    this.run = null;
    this.mouse.release();
    if (this.opened) this.program.close();
    this.opened = false;
    this.session = null;
  }

  leave() {
    const { session } = this;
    this.stop();
    this.ended(session, null);
  }

  begin() {
    this.show("");
    this.program.start();
    this.phase = Phase.running;
    this.goOn();
  }

  goOn() {
    byId("picture").focus({ preventScroll: true });
    if (this.session.mode === "attempt" && !this.fingers) this.mouse.hold();
  }

  /** A press anywhere on the page, also of a key: the controls for fingers appear with the first finger. */
  notePress(pointer) {
    this.fingers = pointer === "touch";
    this.touched ||= this.fingers;
  }

  pause() {
    if (!this.session || this.phase !== Phase.running) return;
    this.program.pause();
    this.phase = Phase.paused;
    this.hands.rest();
    this.touch.rest();
    this.mouse.release();
    this.show("paused");
    byId("resume").focus();
  }

  resume() {
    this.show("");
    this.program.resume();
    this.phase = Phase.running;
    this.last = performance.now();
    this.goOn();
  }

  finish() {
    this.show("");
    this.program.finish();
    this.drawn = Number.NEGATIVE_INFINITY;
  }

  frame(now) {
    const elapsed = Math.min(kLongestStep, Math.max(0, (now - this.last) / 1000));
    this.last = now;
    const running = this.phase === Phase.running;
    if (!running && now - this.drawn < kRestInterval) return;
    this.drawn = now;
    this.fitCanvas();
    if (this.runs()) this.hands.deliver();
    const before = performance.now();
    this.phase = this.program.picture(running ? elapsed * this.speed : 0, this.page.width, this.page.height);
    this.measure(elapsed, performance.now() - before);
    if (this.phase === Phase.finished) return this.end();
    if (now - this.stated >= kStatusInterval) {
      this.stated = now;
      this.showStatus();
    }
  }

  fitCanvas() {
    const canvas = byId("picture");
    const ratio = pixelRatio();
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    Object.assign(this.page, { width, height });
  }

  measure(elapsed, call) {
    if (elapsed <= 0) return;
    const { page } = this;
    page.rate += 0.1 * (1 / elapsed - page.rate);
    page.call += 0.1 * (call - page.call);
  }

  showStatus() {
    const { session } = this;
    const status = this.program.json("status");
    const heading = { shown: `Demonstration: ${status.title}`, replay: `Replay: ${status.title}` }[session.mode];
    const progress = session.mode === "replay" && session.frames > 0 ? Math.min(1, status.frames / session.frames) : null;
    const watched = session.mode !== "attempt";
    showStatus(status, { heading, progress, watched, scored: session.kind !== "" }, this.page, (n) => this.take(n));
    byId("touch").hidden = watched || !this.touched;
    this.touch.show(kindInHand(status), status.scope_moves);
    this.count = status.instruments.length + (status.scope_moves ? 1 : 0);
    this.inHand = status.in_hand;
    if (this.phase === Phase.ready) this.fillReady(status);
  }

  take(number) {
    if (number < 0 || number >= this.count) return;
    this.inHand = number;
    this.program.take(number);
    this.stated = Number.NEGATIVE_INFINITY;
    byId("picture").focus({ preventScroll: true });
  }

  takeNext(step) {
    if (this.count > 0) this.take((this.inHand + step + this.count) % this.count);
  }

  showReady() {
    this.showStatus();
    this.show("ready");
    byId("begin").focus();
  }

  fillReady(status) {
    const { session } = this;
    say(byId("ready-title"), status.title);
    say(byId("ready-level"), session.levelName ?? "");
    say(byId("ready-hint"), status.instructions || status.hint);
    const kind = kindInHand(status);
    const name = status.instruments[status.in_hand]?.name ?? "scope";
    const shown = `${name} ${kind} ${this.touched}`;
    if (byId("ready-keys").dataset.shown === shown) return;
    byId("ready-keys").dataset.shown = shown;
    say(byId("ready-keys-title"), `In your hand: ${name}`);
    showPairs(byId("ready-keys"), keysOf(kind, this.touched));
  }

  /** Shows one of the sheets, or none. */
  show(sheet) {
    for (const id of ["preparing", "ready", "paused"]) byId(id).hidden = id !== sheet;
    byId("practice").dataset.sheet = sheet;
    byId("finish").hidden = this.session?.mode !== "attempt";
    byId("pause").hidden = sheet !== "";
  }

  toggleTechnical() {
    const panel = byId("technical");
    panel.hidden = !panel.hidden;
    this.stated = Number.NEGATIVE_INFINITY;
  }

  setSpeed(speed) {
    this.speed = speed;
    for (const one of [1, 2]) byId(`speed-${one}`).setAttribute("aria-pressed", String(one === speed));
    byId("picture").focus({ preventScroll: true });
  }

  end() {
    const { session, program } = this;
    const end = {
      status: program.json("status"),
      result: program.json("result"),
      attempt: session.mode === "attempt" ? program.attempt() : (session.text ?? ""),
    };
    this.stop();
    this.ended(session, end);
  }
}

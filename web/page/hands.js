// Collects the input between two pictures and passes it to the program. Units: pixels of the page, notches of the wheel.
// A press and a release between two pictures are passed with one picture each, so that a short click is not lost.

export const Button = { jaws: 1, scope: 2 };

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

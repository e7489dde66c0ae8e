// Moves the tip of a straight instrument to points of the scene with the mouse alone. The tip follows from the movements
// since the start (sim/device/hand_device.cpp), so no position is asked of the program: the mouse swings the shaft's
// direction across the picture, and the wheel moves the tip along it. Units: metres; pixels of the page.

const kSwingPerPixel = 0.0016; // rad  MouseParams::swing_per_pixel
const kPixelsPerNotch = 100; //   of the wheel
const kMetresPerNotch = 0.004; //   MouseParams::insert_per_notch

const minus = (a, b) => a.map((value, k) => value - b[k]);
const plus = (a, b) => a.map((value, k) => value + b[k]);
const times = (a, scale) => a.map((value) => value * scale);
const dot = (a, b) => a.reduce((sum, value, k) => sum + value * b[k], 0);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => times(a, 1 / Math.hypot(...a));
const determinant = (a, b, c) => dot(a, cross(b, c));

export class Aim {
  /** `scope`: {eye, target}, without roll; `instrument`: {pivot, tip}: both as the scene says. */
  constructor(page, scope, { pivot, tip }) {
    Object.assign(this, { page, pivot });
    this.right = unit(cross(minus(scope.target, scope.eye), [0, 1, 0]));
    this.up = unit(cross(this.right, minus(scope.target, scope.eye)));
    this.direction = unit(minus(tip, pivot));
    this.depth = Math.hypot(...minus(tip, pivot));
    this.mouse = [0, 0];
  }

  /** Takes the mouse to this place of the page; call before the practice runs. */
  async start(x, y) {
    this.mouse = [x, y];
    await this.page.mouse.move(x, y);
  }

  /** Swings until the shaft points at `point`. With the fulcrum effect the direction becomes
      direction - swing (right r + up u) = length wanted. */
  async swingTo(point) {
    const wanted = unit(minus(point, this.pivot));
    const perPixel = kSwingPerPixel * determinant(this.right, this.up, wanted);
    const right = Math.round(determinant(this.direction, this.up, wanted) / perPixel);
    const up = Math.round(determinant(this.right, this.direction, wanted) / perPixel);
    const across = plus(times(this.right, right), times(this.up, up));
    this.direction = unit(minus(this.direction, times(across, kSwingPerPixel)));
    this.mouse = [this.mouse[0] + right, this.mouse[1] - up];
    await this.page.mouse.move(...this.mouse);
  }

  async moveToDepth(depth) {
    await this.page.mouse.wheel(0, (-kPixelsPerNotch * (depth - this.depth)) / kMetresPerNotch);
    this.depth = depth;
  }

  depthOf(point) {
    return Math.hypot(...minus(point, this.pivot));
  }
}

// Draws one metric over the attempts, with the power law of practice where it was fitted
// (sim/score/learning_curve.hpp).
import { svg } from "./dom.js";
import { figure, ticks } from "./format.js";

const kHeight = 130;
const kFaintest = 0.3; // R²; below it there is no clear trend
const kManyAttempts = 1000; // a limit that is halfway only after these is none
const kNearlyZero = 1e-3; // a limit of this part of the gain is shown as 0
const kMargin = { left: 44, right: 10, top: 8, bottom: 22 };

/** value(attempt) of the fit, attempt 1, 2, ... */
export function practiceAt(fit, attempt) {
  return fit.limit + fit.gain * attempt ** -fit.rate;
}

/** The fit in a sentence. */
export function practiceText({ values, fit }) {
  if (!fit) return "Too few attempts for a fit: it needs three.";
  const explained = `R² ${fit.explained.toFixed(2)}`;
  if (fit.explained < kFaintest) return `No clear trend; ${explained}.`;
  const first = figure(practiceAt(fit, 1));
  const half = Math.max(2, Math.round(2 ** (1 / fit.rate)));
  const limit = Math.abs(fit.limit) < kNearlyZero * Math.abs(fit.gain) ? 0 : fit.limit;
  if (half > kManyAttempts)
    return `From ${first} to ${figure(practiceAt(fit, values.length))}, no limit in sight; ${explained}.`;
  return `From ${first} towards ${figure(limit)}, halfway by attempt ${half}; ${explained}.`;
}

function scales(values, limits, fit, width) {
  const fitted = fit ? values.map((_, k) => practiceAt(fit, k + 1)) : [];
  const all = [...values, ...fitted, limits.good].filter((value) => Number.isFinite(value));
  const low = Math.min(0, ...all);
  const high = Math.max(low < 0 && all.every((value) => value <= 0) ? 0 : -Infinity, ...all);
  const range = (high - low || 1) * 1.08;
  const plot = width - kMargin.left - kMargin.right;
  const tall = kHeight - kMargin.top - kMargin.bottom;
  return {
    low,
    high: low + range,
    right: kMargin.left + plot,
    base: kMargin.top + tall,
    x: (attempt) => kMargin.left + (values.length < 2 ? 0.5 : (attempt - 1) / (values.length - 1)) * (plot - 16) + 8,
    y: (value) => kMargin.top + tall - ((value - low) / range) * tall,
  };
}

function goodBand({ good, larger }, at) {
  if (good === null) return null;
  const edge = Math.min(at.base, Math.max(kMargin.top, at.y(good)));
  const [top, bottom] = larger ? [kMargin.top, edge] : [edge, at.base];
  return svg("rect", {
    class: "zone good",
    x: kMargin.left,
    y: top,
    width: at.right - kMargin.left,
    height: Math.max(1.5, bottom - top),
  });
}

function fitLine(fit, count, at) {
  if (!fit) return null;
  const points = [];
  for (let k = 0; k <= 60; ++k) {
    const attempt = 1 + (k / 60) * (count - 1);
    points.push(`${at.x(attempt).toFixed(1)},${at.y(practiceAt(fit, attempt)).toFixed(1)}`);
  }
  return svg("path", { class: "fit", d: `M${points.join("L")}` });
}

function attemptMarks(values, at) {
  const every = Math.ceil(values.length / 8);
  return values.map(
    (_, k) => k % every === 0 && svg("text", { x: at.x(k + 1), y: at.base + 15, class: "tick middle" }, String(k + 1)),
  );
}

/** choose(k): called with the number of the selected attempt, from 0. */
export function practiceDrawing(curve, limits, width, choose) {
  const { values, fit } = curve;
  const at = scales(values, limits, fit, width);
  const known = values.map((value, k) => [value, k]).filter(([value]) => Number.isFinite(value));
  const line = known.map(([value, k]) => `${at.x(k + 1).toFixed(1)},${at.y(value).toFixed(1)}`).join("L");
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${kHeight}`,
      role: "img",
      "aria-label": `${curve.label} over ${values.length} attempts: ${values.map(figure).join(", ")}`,
    },
    goodBand(limits, at),
    ticks(at.low, at.high, 3).map((mark) => [
      svg("line", { x1: kMargin.left, x2: at.right, y1: at.y(mark), y2: at.y(mark), class: "grid" }),
      svg("text", { x: kMargin.left - 5, y: at.y(mark) + 4, class: "tick end" }, figure(mark)),
    ]),
    attemptMarks(values, at),
    svg("path", { class: "practice-line", d: `M${line}` }),
    fitLine(fit, values.length, at),
    known.map(([value, k]) =>
      svg(
        "circle",
        {
          cx: at.x(k + 1),
          cy: at.y(value),
          r: 4.5,
          class: "practice-point",
          "data-attempt": k,
          onclick: () => choose(k),
        },
        svg("title", {}, `attempt ${k + 1}: ${figure(value)}`),
      ),
    ),
  );
}

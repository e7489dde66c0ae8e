// Writes numbers, times and dates as texts.

/** 63.27 -> "1:03.2" */
export function clock(seconds) {
  const tenths = Math.max(0, Math.floor(seconds * 10));
  const minutes = Math.floor(tenths / 600);
  const rest = tenths - 600 * minutes;
  return `${minutes}:${String(Math.floor(rest / 10)).padStart(2, "0")}.${rest % 10}`;
}

/** A metric's value with its unit; three significant digits. */
export function valueText(value, unit) {
  if (value === null || value === undefined) return "undefined";
  const number = Number.isInteger(value) || Math.abs(value) >= 1000 ? String(Math.round(value)) : value.toPrecision(3);
  const plain = number.includes("e") || !number.includes(".") ? number : number.replace(/\.?0+$/, "");
  return unit && unit !== "1" ? `${plain} ${unit}` : plain;
}

export const scoreText = (score) => String(Math.round(score));

export function dateText(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** "scenes/tasks/burn_line.toml" -> "burn_line" */
export const stemOf = (file) => file.replace(/^.*\//, "").replace(/\.[^.]*$/, "");

/** "burn_line-level-2-2026-11-27-0210.json" */
export function attemptFileName({ scene, level, date }) {
  const stamp = date.slice(0, 16).replace("T", "-").replace(":", "");
  return `${stemOf(scene) || "attempt"}-level-${level}-${stamp}.json`;
}

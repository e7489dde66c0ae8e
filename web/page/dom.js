// Finds and makes elements of the page, and writes numbers, times and dates as texts. Never sets HTML from a text, so no text
// can add an element.

export const byId = (id) => document.getElementById(id);

/** Makes an element: {class, test, ...attributes or properties}, then its children: elements or texts. */
export function make(tag, options = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(options)) {
    if (key === "class") node.className = value;
    else if (key === "test") node.dataset.test = value;
    else if (key in node) node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/** Sets the text of an element, only where it differs: readers of the screen announce changes. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Shows a sentence in an element that is hidden without one. */
export function tell(node, sentence) {
  say(node, sentence);
  node.hidden = sentence === "";
}

/** A list of [key, meaning] as rows of a description list. */
export function showPairs(list, pairs) {
  list.replaceChildren(...pairs.map(([key, meaning]) => make("div", {}, make("dt", {}, key), make("dd", {}, meaning))));
}

export function onClick(id, action) {
  byId(id).addEventListener("click", action);
}

/** Offers a text as a file. */
export function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

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

/** A score with one decimal place, rounded down: 84.97 must not read like a pass at 85. As score_text() of the program. */
export const scoreText = (score) => String(Math.floor(score * 10) / 10);

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

// Compares several attempts: draws the learning curve of each metric, a table of all attempts, and any attempt in
// detail.
import { drawnToWidth, freshId, html, section, table } from "./dom.js";
import { figure, readableUnit } from "./format.js";
import { practiceDrawing, practiceText } from "./practice.js";
import { isJudged } from "./score.js";
import { sessionDetails } from "./session.js";
import { notesSection } from "./metric_notes.js";

/** The metrics of an attempt that have curves. `instrument`: empty for the whole attempt. */
function metricsOf({ attempt }, instrument) {
  if (instrument === "") return [...(attempt.task?.parts ?? []), ...attempt.overall];
  return attempt.instruments.find(({ name }) => name === instrument)?.metrics ?? [];
}

/** The limits of a curve: those of the last attempt that has any. */
export function limitsOf(curve, sessions) {
  if (curve.id === "task_score") return { good: null, poor: null, larger: true };
  const found = sessions
    .map((session) => metricsOf(session, curve.instrument).find(({ id }) => id === curve.id))
    .filter((metric) => metric && isJudged(metric));
  if (found.length === 0) return { good: null, poor: null, larger: null };
  const { good, poor } = found[found.length - 1];
  return { good, poor, larger: good > poor };
}

/** Index of the best value; null where the better direction is unknown, or all values are equal. */
export function bestOf(values, larger) {
  const known = values.map((value, k) => [value, k]).filter(([value]) => Number.isFinite(value));
  if (larger === null || known.length < 2) return null;
  const sorted = [...known].sort((a, b) => (larger ? b[0] - a[0] : a[0] - b[0]));
  return sorted[0][0] === sorted[sorted.length - 1][0] ? null : sorted[0][1];
}

function curveFigure(curve, sessions, selection) {
  const stage = html("div", { class: "drawing" });
  const limits = limitsOf(curve, sessions);
  drawnToWidth(stage, (width) => practiceDrawing(curve, limits, width, selection.choose));
  return html(
    "figure",
    { class: "practice", "data-curve": `${curve.instrument}/${curve.id}` },
    html("figcaption", {}, html("strong", {}, curve.label), curve.unit && `, ${readableUnit(curve.unit)}`),
    stage,
    html("p", { class: "small" }, practiceText(curve)),
  );
}

/** True when a curve has the same value in every attempt, or no value. */
export function isFlat({ values }) {
  const known = values.filter((value) => Number.isFinite(value));
  return known.every((value) => value === known[0]);
}

function multiples(curves, sessions, selection) {
  const flat = curves.filter(isFlat).map((curve) => `${curve.label} ${figure(curve.values.find(Number.isFinite))}`);
  return [
    html(
      "div",
      { class: "multiples" },
      curves.filter((curve) => !isFlat(curve)).map((curve) => curveFigure(curve, sessions, selection)),
    ),
    flat.length > 0 && html("p", { class: "small" }, `The same in every attempt: ${flat.join("; ")}.`),
  ];
}

/** Removes curves that repeat an earlier one with the same name: a task's parts and the whole attempt share some. */
export function withoutTwins(curves) {
  const name = ({ instrument, label, values }) => JSON.stringify([instrument, label, values]);
  const seen = new Set();
  return curves.filter((curve) => !seen.has(name(curve)) && seen.add(name(curve)));
}

/** [[instrument, curves]], the whole attempt (no name) first. */
function byInstrument(curves) {
  const names = ["", ...new Set(curves.map((curve) => curve.instrument).filter((name) => name !== ""))];
  return names.map((name) => [name, curves.filter((curve) => curve.instrument === name)]);
}

function folded(name, ...content) {
  return name === "" ? content : html("details", {}, html("summary", {}, `Instrument: ${name}`), content);
}

function learningSection(curves, sessions, selection) {
  return section(
    "learning-section",
    "Learning curves",
    "Each point is an attempt, in order. Blue band: good values. Dashed: the power law of practice with a limit, fitted to at least three attempts. Select a point to see that attempt below.",
    byInstrument(curves).map(([name, own]) => folded(name, multiples(own, sessions, selection))),
  );
}

function tableRow(curve, sessions) {
  const { larger } = limitsOf(curve, sessions);
  const best = bestOf(curve.values, larger);
  const unit = curve.unit ? `, ${readableUnit(curve.unit)}` : "";
  return html(
    "tr",
    { "data-curve": `${curve.instrument}/${curve.id}` },
    html("th", { scope: "row" }, curve.label + unit),
    curve.values.map((value, k) =>
      html(
        "td",
        { class: k === best ? "number best" : "number" },
        figure(value),
        k === best && html("span", { title: "best" }, " ★"),
      ),
    ),
  );
}

function attemptTable(name, curves, sessions) {
  const heads = sessions.map(({ attempt }, k) => {
    const position = k === 0 ? " (first)" : k === sessions.length - 1 ? " (last)" : "";
    return html(
      "th",
      { scope: "col" },
      `${k + 1}${position}`,
      html("span", { class: "file", title: attempt.file }, attempt.file.split("/").slice(-2).join("/")),
      html("span", { class: "file" }, attempt.date),
    );
  });
  return table(
    name ? `Metrics of ${name} in all attempts` : "Metrics of all attempts",
    "attempts",
    ["Metric", ...heads],
    curves.map((curve) => tableRow(curve, sessions)),
  );
}

function tableSection(curves, sessions) {
  return section(
    "table-section",
    "Attempts side by side",
    "★: the best of all attempts, where the better direction is known.",
    byInstrument(curves).map(([name, own]) => folded(name, attemptTable(name, own, sessions))),
  );
}

// Shows one attempt in detail, which the reader selects from a list or by a point of any curve.
function makeSelection(sessions) {
  const id = freshId("attempt");
  const shown = html("div", { id: "chosen" });
  const select = html(
    "select",
    { id },
    sessions.map(({ attempt }, k) => html("option", { value: k }, `${k + 1}: ${attempt.file} (${attempt.date} UTC)`)),
  );
  const choose = (k) => {
    select.value = k;
    shown.replaceChildren(sessionDetails(sessions[k]));
  };
  select.addEventListener("change", () => choose(Number(select.value)));
  const element = section(
    "attempt-section",
    "One attempt in detail",
    null,
    html("p", {}, html("label", { for: id }, "Attempt "), select),
    html(
      "p",
      { class: "small" },
      "A report of this attempt alone (trocar report with one file) also shows the organs in three dimensions.",
    ),
  );
  return { choose, element, shown };
}

function header(sessions) {
  const titles = [...new Set(sessions.map(({ attempt }) => attempt.task?.title || attempt.scene))];
  return html(
    "header",
    { class: "page-head" },
    html("p", { class: "brand" }, "Trocar · attempts compared"),
    html("h1", {}, `${sessions.length} attempts${titles.length === 1 ? `: ${titles[0]}` : ""}`),
    titles.length > 1 &&
      html(
        "p",
        { class: "notice", role: "note" },
        `These attempts are of different scenes (${titles.join(", ")}): their metrics may not be comparable.`,
      ),
  );
}

export function comparison(sessions, allCurves) {
  const curves = withoutTwins(allCurves);
  const selection = makeSelection(sessions);
  selection.choose(sessions.length - 1);
  return [
    header(sessions),
    html(
      "main",
      {},
      learningSection(curves, sessions, selection),
      tableSection(curves, sessions),
      selection.element,
      selection.shown,
      notesSection(true),
    ),
  ];
}

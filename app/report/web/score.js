// Writes the head of a report: the origin of the recording and the task's score.
import { html, section, svg, table } from "./dom.js";
import { clock, scoreText, whole, withUnit } from "./format.js";

/** Whether a metric has both limits. */
export function isJudged(metric) {
  return Number.isFinite(metric.good) && Number.isFinite(metric.poor);
}

/** {word, sign, name} of a grade from 0 to 1; null without a grade. */
export function judgement(grade) {
  if (grade === null || grade === undefined) return null;
  if (grade >= 1) return { word: "good", sign: "✓", name: "good" };
  if (grade <= 0) return { word: "poor", sign: "✗", name: "poor" };
  return { word: `between, ${Math.floor(100 * grade)}%`, sign: "~", name: "between" };
}

export function badge(grade) {
  const found = judgement(grade);
  if (!found) return html("span", { class: "badge none" }, "not graded");
  return html(
    "span",
    { class: `badge ${found.name}` },
    html("span", { "aria-hidden": "true" }, `${found.sign} `),
    found.word,
  );
}

/** "good up to 30 s, poor from 90 s" */
export function limitsText(metric) {
  if (!isJudged(metric)) return "";
  const smaller = metric.good < metric.poor;
  const [good, poor] = [withUnit(metric.good, metric.unit), withUnit(metric.poor, metric.unit)];
  return smaller ? `good up to ${good}, poor from ${poor}` : `good from ${good}, poor up to ${poor}`;
}

function ring(score) {
  const radius = 54;
  const round = 2 * Math.PI * radius;
  const share = Math.min(1, Math.max(0, score / 100));
  return svg(
    "svg",
    { viewBox: "0 0 128 128", class: "ring", role: "img", "aria-label": `Score ${scoreText(score)} of 100` },
    svg("circle", { cx: 64, cy: 64, r: radius, class: "ring-track" }),
    svg("circle", {
      cx: 64,
      cy: 64,
      r: radius,
      class: "ring-value",
      transform: "rotate(-90 64 64)",
      "stroke-dasharray": `${share * round} ${round}`,
    }),
    svg("text", { x: 64, y: 74, class: "ring-number", id: "score" }, scoreText(score)),
    svg("text", { x: 64, y: 94, class: "ring-unit" }, "of 100"),
  );
}

// Returns the scale of a part's bar, which contains both limits, the value, and zero unless a number is negative.
function barScale(metric) {
  const all = [metric.good, metric.poor, metric.value].filter((value) => Number.isFinite(value));
  const least = Math.min(...all);
  const low = least < 0 ? least : 0;
  const high = Math.max(...all);
  const range = (high - low || 1) * 1.08;
  return (value) => ((value - low) / range) * 100;
}

/** A bar with the good and the poor range and the value. */
export function limitBar(metric) {
  const at = barScale(metric);
  const [good, poor] = [at(metric.good), at(metric.poor)];
  const smaller = metric.good < metric.poor;
  const zone = (name, from, to) =>
    svg("rect", { class: `zone ${name}`, x: from, y: 4, width: Math.max(0, to - from), height: 8 });
  const value = Number.isFinite(metric.value) ? at(metric.value) : null;
  return svg(
    "svg",
    { viewBox: "0 0 100 16", preserveAspectRatio: "none", class: "limit-bar", "aria-hidden": "true" },
    smaller ? zone("good", 0, good) : zone("poor", 0, poor),
    zone("between", Math.min(good, poor), Math.max(good, poor)),
    smaller ? zone("poor", poor, 100) : zone("good", good, 100),
    value !== null &&
      svg("rect", { class: "value-mark", x: Math.min(98.6, Math.max(0, value - 0.7)), y: 0, width: 1.4, height: 16 }),
  );
}

/** The sentence about a critical error, which caps the score; empty without one. */
export function capText(task) {
  return task.critical ? task.critical.text : "";
}

function partRow(part) {
  return html(
    "li",
    { class: "part", "data-metric": part.id },
    html("span", { class: "part-label" }, part.label),
    html("span", { class: "part-value" }, withUnit(part.value, part.unit)),
    isJudged(part) ? limitBar(part) : html("span", { class: "limit-bar" }),
    html(
      "span",
      { class: "part-judgement" },
      badge(part.counted ?? part.mark),
      " ",
      html("span", { class: "small" }, limitsText(part)),
    ),
    part.why && whyDetails(part),
  );
}

// Why the part has its grade; opens on a click. A full grade needs no advice.
function whyDetails(part) {
  return html(
    "details",
    { class: "why small" },
    html("summary", {}, "Why"),
    html("p", {}, part.why),
    part.mark < 1 && html("p", { class: "advice" }, part.advice),
  );
}

const kCostlyParts = 6; // as in sim/score/trainee_summary.hpp

/** [the parts that cost points, the most expensive first, at most six; the others] */
export function partsInOrder(parts) {
  const costly = parts.filter(({ mark }) => mark < 1).sort((a, b) => a.mark - b.mark);
  const first = costly.slice(0, kCostlyParts);
  return [first, parts.filter((part) => !first.includes(part))];
}

// Shows what limits the score before the score's parts: the errors, in the words of the list of events.
function errorList(events) {
  const errors = events.filter((event) => event.error);
  if (errors.length === 0) return html("p", { class: "small" }, "no errors");
  return html(
    "div",
    { class: "errors" },
    html("p", {}, html("strong", {}, errors.length === 1 ? "1 error" : `${errors.length} errors`)),
    html(
      "ul",
      { class: "small" },
      errors.map((event) => html("li", {}, `${clock(event.time)}: ${event.text}`)),
    ),
  );
}

/** The measures of a trainee, each with its reference band. */
function summaryTable(metrics) {
  return table(
    "Measures of the attempt",
    "summary",
    ["Measure", "Value", "Reference"],
    metrics.map((metric) =>
      html(
        "tr",
        { "data-summary": metric.id },
        html("th", { scope: "row" }, metric.label),
        html("td", { class: "number" }, withUnit(metric.value, metric.unit)),
        html("td", { class: "small" }, limitsText(metric) || "–"),
      ),
    ),
  );
}

/** The result of an attempt: what limits it, the score, the measures of a trainee, and the parts of the score. */
export function scoreSection({ task, summary = [], no_judgement: noJudgement }) {
  const measures = summary.length > 0 && summaryTable(summary);
  if (!task) return section("score-section", "No task", noJudgement, measures);
  const [first, others] = partsInOrder(task.parts);
  return section(
    "score-section",
    "Score",
    task.title && `Task: ${task.title}`,
    capText(task) && html("p", { class: "notice", role: "note" }, capText(task)),
    html(
      "div",
      { class: "score" },
      html(
        "div",
        { class: "score-number" },
        ring(task.score),
        html("p", {}, html("strong", {}, task.finished ? "Finished" : "Not finished")),
        errorList(task.events),
      ),
      html(
        "div",
        {},
        measures,
        task.counted && html("p", { class: "small" }, task.counted),
        html("ul", { class: "parts", "aria-label": "Parts of the score that cost points" }, first.map(partRow)),
        others.length > 0 &&
          html(
            "details",
            { class: "all-parts" },
            html("summary", {}, "All parts of the score"),
            html("ul", { class: "parts", "aria-label": "Other parts of the score" }, others.map(partRow)),
          ),
      ),
    ),
  );
}

function fact(term, value) {
  return value && html("div", {}, html("dt", {}, term), html("dd", {}, value));
}

const kClocks = { wall: "wall time of the trainee", tick: "simulation time" };

/** Title and origin of a session. */
export function sessionHeader(session) {
  const { attempt, recording } = session;
  const title = attempt.task?.title || attempt.scene || attempt.file;
  return html(
    "header",
    { class: "page-head" },
    html("p", { class: "brand" }, "Trocar · report of a session"),
    html("h1", {}, title),
    !recording.clean &&
      html(
        "p",
        { class: "notice", role: "note" },
        "The program was killed during the recording: this report covers the file up to its last complete frame.",
      ),
    attempt.slow_machine && html("p", { class: "notice", role: "note" }, attempt.slow_machine),
    html(
      "dl",
      { class: "facts" },
      fact("Scene", attempt.scene),
      fact("Recording", attempt.file),
      fact("Date (UTC)", attempt.date),
      fact("Length", `${clock(attempt.duration_s)}, ${whole(attempt.frames)} frames`),
      fact("Clock", kClocks[attempt.clock]),
      fact("Machine", attempt.machine),
      fact("OpenGL", recording.gl),
      fact("Collision backend", [attempt.backend, recording.mode, recording.cover].filter(Boolean).join(", ")),
      fact("Why this backend", recording.backend_why),
      fact("Program", attempt.version && `Trocar ${attempt.version}`),
    ),
  );
}

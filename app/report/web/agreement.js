// Shows the agreement of the collision backends and the times of the stages, from the recording.
import { html, section, table } from "./dom.js";
import { figure, whole } from "./format.js";

const kStages = {
  devices: "poses from the devices",
  pairs: "candidate pairs of instruments and organs",
  update: "new positions to the touch query",
  query: "the touch query: which faces are touched",
  contacts: "contacts from the touched faces",
  cut: "burning, cutting and tearing",
  tissue: "the tissue step",
  surface: "the organs' surfaces from the tissue",
  check: "the same query by the checking backend, comparison included",
  record: "copying the frame for the recording",
};

/** The sentence about agreement, as far as the recording contains it. */
export function agreementText({ check, frames }, backend) {
  if (check.frames === 0) return `No frame was checked: the recording does not show whether ${backend} was correct.`;
  const share =
    check.frames === frames
      ? `All ${whole(frames)} frames were`
      : `${whole(check.frames)} of ${whole(frames)} frames were`;
  const asked = `${share} also answered by an independent backend on the CPU (a tree of oriented bounding boxes, unless the session was started with another).`;
  if (check.faces === 0) return `${asked} Both found the same faces in every frame: 0 disagreements.`;
  return `${asked} They disagreed about ${whole(check.faces)} faces in ${whole(check.frames_disagreeing)} frames: the metrics of this report may be wrong.`;
}

/** How many faces were compared with the reference; empty in recordings without a sample. */
export function sampleText({ sample }) {
  if (!sample?.faces) return "";
  const compared = `In every frame a sample of faces is also compared with the reference computation in double precision: ${whole(sample.faces)} faces of ${whole(sample.answers)} answers`;
  if (sample.wrong === 0) return `${compared}, none of them wrong.`;
  return `${compared}, ${whole(sample.wrong)} of them wrong. The metrics of this report may be wrong.`;
}

/** The changes of the backend during the session; empty without any. */
export function backendText({ backends }) {
  if (!backends || (backends.length < 2 && !backends[0]?.fault)) return "";
  const parts = backends.map(({ name, frame, time, fault }) => {
    const since = frame === 0 ? "from the start" : `from frame ${whole(frame)} (${figure(time)} s) on`;
    return `${name} ${since}${fault ? `, because another failed (${fault})` : ""}`;
  });
  return `The backend changed: ${parts.join("; ")}.`;
}

/** Median times of the touch query and its check; empty without a check. */
export function queryText({ stages, check }, backend) {
  const median = (name) => stages.find((stage) => stage.name === name)?.median;
  const [update, query, checking] = ["update", "query", "check"].map(median);
  if (check.frames === 0 || ![update, query, checking].every(Number.isFinite)) return "";
  return `Median times: ${backend} took ${figure(update)} ms for the update with new positions and ${figure(query)} ms for the query; the check, which repeats both with its own backend and compares, took ${figure(checking)} ms.`;
}

function bar(stage, most) {
  const width = (value) => `width:${Math.min(100, (100 * value) / most).toFixed(1)}%`;
  return html(
    "div",
    { class: "stage-bar", "aria-hidden": "true" },
    html("span", { class: "stage-p99", style: width(stage.p99) }),
    html("span", { class: "stage-median", style: width(stage.median) }),
  );
}

function stageRow(stage, most, kind) {
  const milliseconds = [stage.median, stage.p99, stage.longest].map((value) =>
    html("td", { class: "number" }, figure(value)),
  );
  return html(
    "tr",
    { class: kind, "data-stage": stage.name },
    html("th", { scope: "row" }, stage.name),
    milliseconds,
    html("td", { class: "bar-cell" }, bar(stage, most)),
    html("td", { class: "small" }, kStages[stage.name] ?? (kind ? "all stages of a frame" : "")),
  );
}

function budgetText(summary, recording) {
  const budget = 1000 / Number(recording.frame_rate);
  if (!Number.isFinite(budget)) return "";
  const kept = summary.frame_time.p99 <= budget ? "is within" : "exceeds";
  return `At ${figure(Number(recording.frame_rate))} frames a second a frame may take ${figure(budget)} ms: 99 of 100 frames took at most ${figure(summary.frame_time.p99)} ms, which ${kept} this budget.`;
}

export function agreementSection({ summary, recording, attempt }) {
  const most = Math.max(...summary.stages.map((stage) => stage.p99), 1e-6);
  return section(
    "agreement-section",
    "Agreement and timing",
    null,
    html("p", { id: "agreement" }, agreementText(summary, attempt.backend), " ", queryText(summary, attempt.backend)),
    sampleText(summary) && html("p", { id: "sample" }, sampleText(summary)),
    backendText(summary) && html("p", { id: "backends" }, backendText(summary)),
    html(
      "p",
      {},
      `Times are in milliseconds, measured on the recording machine while it also drew and recorded. ${budgetText(summary, recording)}`,
    ),
    table(
      "Times of the stages",
      "stages",
      ["Stage", "Median", "99 of 100", "Longest", "", "Meaning"],
      summary.stages.map((stage) => stageRow(stage, most, "")),
      stageRow(summary.frame_time, most * 1e6, "sum"),
    ),
    html(
      "p",
      { class: "small" },
      "Bars: dark up to the median, light up to the 99th percentile. Drawing is not included in the stages.",
    ),
  );
}

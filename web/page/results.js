// Shows the result of a practice, a demonstration or a replay (trocar_result in web/program/page_api.hpp).
import { byId, clock, make, say, scoreText, tell, valueText } from "./dom.js";

/** "done", "ended by a critical error", "not done": the words of the list and of the results. */
export function endingOf(result) {
  if (result.critical) return "critical error";
  return result.finished ? "done" : "not done";
}

function sentenceOf(session, result) {
  const time = clock(result.duration);
  if (session.kind === "") return `Practised for ${time}.`;
  if (result.critical) return `A critical error limits the score: ${result.critical}.`;
  return result.finished ? `Done in ${time}.` : `Not done after ${time}.`;
}

function gradeWord(grade) {
  return grade >= 0.8 ? "good" : grade >= 0.4 ? "fair" : "poor";
}

/** `counted`: the grade with which a part counts; what the attempt did not reach is never full. */
function partItem({ id, label, value, unit, grade, counted, why, advice }) {
  const word = typeof counted === "number" ? gradeWord(counted) : "none";
  const text = word === "none" ? "no grade" : `${Math.floor(counted * 100)} %, ${word}`;
  const bar = make("i");
  bar.style.width = `${100 * (counted ?? 0)}%`;
  const item = make(
    "li",
    { class: word, test: `part-${id}` },
    make("div", { class: "row spread" }, make("b", {}, label), make("span", {}, valueText(value, unit))),
    make("div", { class: "row" }, make("span", { class: "bar" }, bar), make("span", { class: "grade" }, text)),
  );
  if (why) item.append(make("p", { class: "faint" }, why));
  if (advice && grade < 1) item.append(make("p", {}, advice));
  return item;
}

/** The parts that cost points, the most expensive first, and the others. */
export function partsInOrder({ parts, costly }) {
  return [costly.map((k) => parts[k]), parts.filter((_, k) => !costly.includes(k))];
}

/** One of the six measures: its value, and the reference band below. */
function measureItem({ id, label, value, unit, reference }) {
  const item = make(
    "li",
    { test: `measure-${id}` },
    make("div", { class: "row spread" }, make("b", {}, label), make("span", {}, valueText(value, unit))),
  );
  if (reference) item.append(make("p", { class: "faint" }, reference));
  return item;
}

function eventItem({ time, error, text }) {
  return make(
    "li",
    { class: error ? "error" : "" },
    make("time", {}, clock(time)),
    make("span", {}, error ? make("b", {}, "Error: ") : "", text),
  );
}

/** What a replay found about the bits, in a sentence. */
export function equalityText({ differs, frames }) {
  if (differs === 0) return `The replay equals the attempt: all ${frames} frames have the same touched faces and the same tissue.`;
  return `The replay differs from the attempt in ${differs} of ${frames} frames. Another version of the program may have made it.`;
}

/** `notice`: a sentence about keeping the attempt; empty: it is kept, or needs no keeping. */
export function showResults(session, { status, result, attempt }, { nextLevel }) {
  const { mode } = session;
  const heading = { attempt: session.title, shown: `Demonstration: ${session.title}`, replay: `Replay: ${session.title}` };
  say(byId("result-title"), heading[mode]);
  say(byId("result-sentence"), sentenceOf(session, result));
  tell(byId("equality"), mode === "replay" ? equalityText(status) : "");
  byId("equality").classList.toggle("bad", mode === "replay" && status.differs > 0);
  say(byId("again"), { attempt: "Try again", shown: "Try it", replay: "Replay again" }[mode]);
  byId("next-level").hidden = mode !== "attempt" || !nextLevel;
  byId("result-replay").hidden = mode !== "attempt";
  byId("result-download").hidden = attempt === "";
  byId("score-part").hidden = session.kind === "";
  byId("result-score").replaceChildren(make("b", {}, scoreText(result.score)), " out of 100");
  tell(byId("result-progress"), session.kind === "" ? "" : result.counted);
  byId("measures-part").hidden = result.measures.length === 0;
  byId("measures").replaceChildren(...result.measures.map(measureItem));
  tell(byId("no-judgement"), result.no_judgement);
  const [first, others] = partsInOrder(result);
  byId("parts").replaceChildren(...first.map(partItem));
  byId("all-parts").hidden = others.length === 0;
  byId("other-parts").replaceChildren(...others.map(partItem));
  const errors = result.events.filter(({ error }) => error);
  byId("errors-part").hidden = errors.length === 0;
  byId("result-errors").replaceChildren(...errors.map(eventItem));
  const notes = result.events.filter(({ error }) => !error);
  byId("events").replaceChildren(...notes.map(eventItem));
  byId("no-events").hidden = notes.length > 0;
  if (result.lost > 0.5)
    tell(byId("result-notice"), `This machine was too slow for ${result.lost.toFixed(1)} s of the session. Settings has a lower picture quality.`);
  else tell(byId("result-notice"), "");
}

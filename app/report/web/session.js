// Builds the page of one session, section by section. All its drawings share one time cursor, which the list of events
// moves. Units: seconds.
import { agreementSection } from "./agreement.js";
import { html, section } from "./dom.js";
import { clock } from "./format.js";
import { notesSection } from "./metric_notes.js";
import { metricsSection } from "./metrics.js";
import { organsSection } from "./organs.js";
import { pathsSection } from "./paths.js";
import { scoreSection, sessionHeader } from "./score.js";
import { timelineSection } from "./timeline.js";

/** cursor.at, cursor.move(time), cursor.follow(listener): calls the listener at once and at every move. */
function makeCursor(begin, end) {
  const listeners = [];
  const cursor = {
    begin,
    end,
    at: begin,
    move(time) {
      cursor.at = Math.min(end, Math.max(begin, time));
      for (const listener of listeners) listener(cursor.at);
    },
    follow(listener) {
      listeners.push(listener);
      listener(cursor.at);
    },
  };
  return cursor;
}

// Shows the list of events. Selecting an event moves the time cursor.
function eventsSection(task, cursor) {
  const events = task?.events ?? [];
  const intro =
    events.length > 0
      ? "Select an event to show its time in every drawing."
      : "No events: the session has no task, or the task was not begun.";
  const rows = events.map((event) =>
    html(
      "li",
      {},
      html(
        "button",
        {
          type: "button",
          class: event.error ? "event error" : "event",
          "data-time": event.time,
          onclick: () => cursor.move(event.time),
        },
        html("span", { class: "event-time" }, clock(event.time)),
        html("span", { class: "event-sign", "aria-hidden": "true" }, event.error ? "✗" : "●"),
        html("span", {}, event.error ? "Error: " : "", event.text),
      ),
    ),
  );
  return section("events-section", "Events", intro, rows.length > 0 && html("ol", { class: "events" }, rows));
}

// Shows what the scope saw at the critical view and at critical errors.
function picturesSection(pictures, cursor) {
  const figures = pictures.map((picture) =>
    html(
      "figure",
      {},
      html("img", { src: `data:image/png;base64,${picture.png}`, alt: picture.text, onclick: () => cursor.move(picture.time) }),
      html("figcaption", {}, html("span", { class: "event-time" }, clock(picture.time)), " ", picture.text),
    ),
  );
  return section("pictures-section", "Pictures", "What the scope saw at these moments.", figures);
}

/** The sections of a session below its header; a comparison also shows them for the selected attempt. */
export function sessionDetails(session) {
  const { summary, attempt } = session;
  const cursor = makeCursor(summary.begin, summary.end);
  return html(
    "div",
    { class: "details-grid" },
    scoreSection(attempt),
    eventsSection(attempt.task, cursor),
    session.pictures?.length > 0 && picturesSection(session.pictures, cursor),
    timelineSection(session, cursor),
    summary.organs.some((organ) => organ.vertices) && organsSection(summary, cursor),
    pathsSection(summary, cursor),
    metricsSection(attempt),
    agreementSection(session),
  );
}

export function sessionPage(session) {
  return [sessionHeader(session), html("main", {}, sessionDetails(session), notesSection())];
}

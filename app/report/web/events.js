// Shows the list of events. Selecting an event moves the time cursor.
import { html, section } from "./dom.js";
import { clock } from "./format.js";

export function eventsSection(task, cursor) {
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

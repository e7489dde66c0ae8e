// Builds the page of one session, section by section.
import { agreementSection } from "./agreement.js";
import { makeCursor } from "./cursor.js";
import { html } from "./dom.js";
import { eventsSection } from "./events.js";
import { metricsSection } from "./metrics.js";
import { notesSection } from "./notes.js";
import { organsSection } from "./organs.js";
import { pathsSection } from "./paths.js";
import { scoreSection, sessionHeader } from "./score.js";
import { timelineSection } from "./timeline.js";

/** The sections of a session below its header; a comparison also shows them for the selected attempt. */
export function sessionDetails(session) {
  const { summary, attempt } = session;
  const cursor = makeCursor(summary.begin, summary.end);
  return html(
    "div",
    { class: "details-grid" },
    scoreSection(attempt.task),
    eventsSection(attempt.task, cursor),
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

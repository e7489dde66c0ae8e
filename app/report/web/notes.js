// States the limitations that a reader must know before grading a trainee by these numbers. Sources: docs/metrics.md.
import { html, section } from "./dom.js";

const kNotes = [
  "Mean squared jerk does not discriminate skill; log dimensionless jerk does (Aghazadeh et al., Sensors 23:3146, 2023): jerk with a unit grows with speed, so faster work looks rougher. It is listed because papers report it. Time, path length and depth distinguished novices from experts on each of three tasks (Oropesa et al., Surgical Innovation 20:299, 2013).",
  "Smoothness depends on the length of the attempt: compare only attempts at the same task.",
  "Thresholds are starting points for training, not norms: set them from your own experts on your own tasks.",
  "Forces and pressures are those of the simulated tissue. They depend on the scene's tissue and on the size of the organs' faces, and are comparable only between attempts at the same scene.",
  "A face counts as touched in a frame when the space that the shaft swept since the frame before comes within the shaft's radius of it, or when the tip touches it. Contact seconds are summed over the frames; the pressure is the highest of any frame, and is known only for faces that the shaft touched.",
  "A tip hidden behind an organ counts as visible: the recording holds the scope's view, not the occlusion.",
];
const kOfSeveral =
  "Averages over many people follow a power law of practice (Newell and Rosenbloom, 1981), single learners rather follow an exponential (Heathcote, Brown and Mewhort, 2000): the rate is a summary, not a forecast.";

export function notesSection(several = false) {
  const notes = several ? [kOfSeveral, ...kNotes] : kNotes;
  return section(
    "notes-section",
    "Limitations",
    null,
    html(
      "ul",
      { class: "notes" },
      notes.map((note) => html("li", {}, note)),
    ),
  );
}

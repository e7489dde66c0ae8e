// What the reader should know before judging anybody by these numbers. Sources: docs/metrics.md.
import { html, section } from "./dom.js";

const kNotes = [
  "Mean squared jerk does not tell experts from novices; log dimensionless jerk does (Aghazadeh et al., Sensors 23:3146, 2023): jerk with a unit grows with the pace, so who works faster looks rougher. It is listed because papers report it. Time, path length and depth told novices from experts on each of three tasks (Oropesa et al., Surgical Innovation 20:299, 2013).",
  "Smoothness over a long attempt carries its length: compare attempts at the same task only.",
  "Thresholds are starting points for training, not norms: set them from your own experts on your own tasks.",
  "Forces and pressures are those of the simulated tissue. They depend on the scene's tissue and on the size of the organs' faces, and are comparable only between attempts at the same scene.",
  "A face counts as touched in a frame when the instrument, or the space it swept since the frame before, comes within the shaft's radius of it, or when its tip does. Contact seconds add up the frames; the pressure is the highest of any frame, and is known where the shaft's touch pressed the tissue.",
  "A tip that hides behind an organ counts as seen: the recording holds where the scope looked, not what stood between.",
];
const kOfSeveral =
  "Averages over many people follow a power law of practice (Newell and Rosenbloom, 1981), single learners rather an exponential (Heathcote, Brown and Mewhort, 2000): the rate is a summary, not a forecast.";

export function notesSection(several = false) {
  const notes = several ? [kOfSeveral, ...kNotes] : kNotes;
  return section(
    "notes-section",
    "How far to trust these numbers",
    null,
    html(
      "ul",
      { class: "notes" },
      notes.map((note) => html("li", {}, note)),
    ),
  );
}

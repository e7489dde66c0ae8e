// What the reader should know before judging anybody by these numbers.
import { html, section } from "./dom.js";

export function notesSection() {
  return section(
    "notes-section",
    "How far to trust these numbers",
    null,
    html(
      "ul",
      { class: "notes" },
      html("li", {}, "Not every figure tells skill from effort. In the literature time, path length and spectral or logarithmic smoothness (SPARC, LDLJ) separate novices from experts; mean squared jerk does not, because it grows with speed and with the length of the movement. It is listed because papers report it."),
      html("li", {}, "Thresholds are starting points for training, not norms: set them from your own experts on your own tasks."),
      html("li", {}, "Forces are those of the simulated tissue on the instrument. They depend on the scene's tissue and are comparable only between attempts at the same scene."),
      html("li", {}, "A face counts as touched in a frame when the instrument, or the space it swept since the frame before, comes within the shaft's radius of it. Contact seconds add up the frames; the pressure is the highest of any frame."),
    ),
  );
}

// Explains each metric in one sentence, and states the limitations that a reader must know before grading a trainee by
// these numbers. docs/metrics.md gives formulas and sources, for metrics under the same ids.
import { html, section } from "./dom.js";

const kMeanings = {
  duration: "From the first frame to the last.",
  path_length: "Length of the tip's path, without tremor. For the same task, shorter is better.",
  path_inefficiency: "Path length over the straight-line distance through the targets; 1 is the minimum.",
  depth: "Distance travelled along the shaft, in and out.",
  angular_path: "Sum of all rotations of the shaft about the trocar.",
  roll_path: "Sum of all rotations about the shaft's own axis.",
  volume: "Volume of the box that contains the tip's path: an unsteady instrument uses much.",
  economy: "Cube root of the volume over the path length.",
  mean_speed: "Path length over time.",
  peak_speed: "The highest speed.",
  mean_squared_jerk: "Mean square of the rate of change of acceleration.",
  sparc_movement: "For research: smoothness from the spectrum of the speed, the median over the movements.",
  ldlj_movement: "For research: smoothness from the jerk, independent of size and speed, the median over the movements.",
  log_jerk: "Smoothness from the jerk and the speed, both averaged over the time.",
  sparc: "Smoothness from the spectrum of the speed.",
  ldlj: "Smoothness from the jerk, independent of size and speed.",
  noise: "Estimated noise of the measured position, along one axis.",
  movements: "Number of separate movements; experts need fewer.",
  idle: "Share of the time in which the tip hardly moved.",
  out_of_view_time: "Time in which the tip was outside the scope's view or behind an organ.",
  out_of_view_count: "Number of times the tip left the view.",
  peak_force: "The largest force between tissue and instrument.",
  force_integral: "Force integrated over time: a long weak pull counts like a short strong one.",
  force_time: "Time in which the force exceeded the limit.",
  inside_time: "Time in which the tip was inside tissue.",
  zone_time: "Time in which the instrument was in a forbidden zone.",
  zone_count: "Number of entries into a forbidden zone.",
  frozen_time: "Time in which the instrument stood still because its device gave no valid pose: not the trainee's fault.",
  bimanual_correlation: "Correlation of the speeds of both hands: 1 always together, 0 independent.",
  collisions: "Number of collisions between instruments.",
  collision_time: "Time in which instruments collided.",
  peak_pressure: "The highest pressure on any face of any organ.",
  pressure_time: "Time in which the pressure on any face exceeded the limit.",
  faces_burnt: "Damage: faces removed by diathermy.",
  faces_torn: "Damage: faces removed by tearing or cutting.",
  task_errors: "Errors of the task; each is in the list of events.",
};

/** The meaning of a metric, followed by the program's own remark. */
export function explanationOf({ id, note }) {
  return [kMeanings[id], note && `${note[0].toUpperCase()}${note.slice(1)}.`].filter(Boolean).join(" ");
}

const kLimitations = [
  "On 102 published recordings of surgeons (JIGSAWS), time and the number of movements told experts from novices best, then the path and the spectral arc length of the attempt. The smoothness of single movements did not: novices had the better values. It is listed for research, as is mean squared jerk, which grows with speed.",
  "Smoothness depends on the length of the attempt: compare only attempts at the same task.",
  "Thresholds are starting points for training, not norms: set them from your own experts on your own tasks.",
  "Forces and pressures are those of the simulated tissue. They depend on the scene's tissue and on the size of the organs' faces, and are comparable only between attempts at the same scene.",
  "A face counts as touched in a frame when the space that the shaft swept since the frame before comes within the shaft's radius of it, or when the tip touches it. Contact seconds are summed over the frames; the pressure is the highest of any frame, and is known only for faces that the shaft touched.",
  "A tip hidden behind an organ counts as visible: the recording holds the scope's view, not the occlusion.",
];
const kOfSeveral =
  "Averages over many people follow a power law of practice (Newell and Rosenbloom, 1981), single learners rather follow an exponential (Heathcote, Brown and Mewhort, 2000): the rate is a summary, not a forecast.";

export function notesSection(several = false) {
  const notes = several ? [kOfSeveral, ...kLimitations] : kLimitations;
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

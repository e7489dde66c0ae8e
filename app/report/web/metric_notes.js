// A sentence about each figure. Formulas and sources: docs/metrics.md, under the same names.

const kNotes = {
  duration: "From the first frame to the last.",
  path_length: "Way of the tip. Shorter is better at the same task.",
  path_inefficiency: "Way of the tip over the straight way between what was to be reached; 1 is the least possible.",
  depth: "Way along the shaft, in and out.",
  angular_path: "How far the shaft was swung about the trocar, all turns added up.",
  roll_path: "How far it was turned about itself, all turns added up.",
  volume: "Space that the tip used: a wandering instrument uses much.",
  economy: "How well the used space and the way go together; larger is thriftier.",
  mean_speed: "Way over time.",
  peak_speed: "The fastest moment.",
  mean_squared_jerk: "How abruptly the motion changed.",
  ldlj: "Smoothness without regard to the speed and the length of the motion.",
  sparc: "Smoothness from the spectrum of the speed.",
  movements: "How many separate movements the way is made of; experts need fewer.",
  idle: "Share of the time in which the tip hardly moved.",
  out_of_view_time: "How long the tip worked where the scope did not see it.",
  out_of_view_count: "How often it left the picture.",
  peak_force: "The hardest the tissue and the instrument pressed or pulled.",
  force_integral: "Force added up over time: a long soft pull counts like a short hard one.",
  force_time: "How long the force was above the limit.",
  inside_time: "How long the tip was in tissue that could not give way.",
  zone_time: "How long the instrument was where it must not be.",
  zone_count: "How often it entered a zone where it must not be.",
  frozen_time: "How long the instrument stood still because its device gave no pose: not the trainee's doing.",
  bimanual_correlation: "Do both hands move together: 1 always, 0 independently.",
  collisions: "How often instruments ran into each other.",
  collision_time: "How long instruments pressed on each other.",
  peak_pressure: "The highest pressure on any face of any organ.",
  pressure_time: "How long any face was pressed harder than the limit.",
  faces_burnt: "Damage: surface taken away by energy.",
  faces_torn: "Damage: surface taken away by tearing or cutting.",
  task_errors: "Errors of the task; each is in the list of events.",
};

/** What a figure says; what the program itself has to remark on it comes after. */
export function explanationOf({ id, note }) {
  return [kNotes[id], note && `${note[0].toUpperCase()}${note.slice(1)}.`].filter(Boolean).join(" ");
}

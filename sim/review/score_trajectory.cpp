#include "sim/review/score_trajectory.hpp"

#include "sim/score/motion.hpp"
#include "sim/support/machine.hpp"

namespace trocar {

Attempt score_trajectory(const Trajectory& trajectory, const std::string& file) {
  TrackSamples samples;
  for (const TrajectoryRow& row : trajectory.rows) samples.add(row.time, row.tip, row.pivot, row.roll_deg);
  Attempt attempt;
  attempt.file = file;
  attempt.version = kVersion;
  attempt.machine = machine_description();
  attempt.duration = trajectory.rows.back().time - trajectory.rows.front().time;
  attempt.frames = trajectory.rows.size();
  attempt.overall.push_back({"duration", "Time", "s", attempt.duration, {}, {}, ""});
  attempt.instruments.push_back({"instrument", motion_metrics(track_of(samples), {})});
  return attempt;
}

}  // namespace trocar

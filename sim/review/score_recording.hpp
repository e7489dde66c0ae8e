// Computes the score of an attempt from its recording, and that of a trajectory alone. The same file always gives
// bit-identical metrics, whether finished or recovered. Metrics, formulas, sources, limits: docs/metrics.md.
// Units: metres, seconds, newtons, pascals.
// Tested in tests/sim/score/score_test.cpp, score_test.cpp and observer_test.cpp
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/scene/scene.hpp"
#include "sim/score/attempt.hpp"
#include "sim/score/motion.hpp"
#include "sim/score/track.hpp"

namespace trocar {

// Computes the task's score from the recording alone.

// Returns the same bits as the TaskRun that saw the session from its first recorded frame on. Returns nothing when the
// recording's scene has no task, or when an organ or instrument of the task is not in the recording.
std::optional<TaskResult> score_task(const Recording& recording);

// Prepares the data from which scores are computed: a recording with its scene, and flags for each frame. States each
// threshold with its reason. Units: metres, seconds, newtons, pascals.

struct ScoreLimits {
  double force = kUsualForceLimit;  // N   without a task; else the task's limit
  // Damage to porcine liver grew with stress up to the highest tested stress of 250 kPa: De et al. 2007.
  double pressure = 100e3, worst_pressure = 250e3;  // Pa
};

// [frame] 0 or 1
using Flags = std::vector<char>;

struct ScoredTool {
  MeasuredTrack motion;
  Flags out_of_view, inside_organ, frozen, forceful;
  std::vector<Flags> in_zone;  // [zone]
  std::vector<double> force;   // [frame] N
};

struct ScoredSession {
  Scene scene;  // empty when the recording's scene is unreadable
  std::optional<TaskResult> task;
  ScoreLimits limits;
  std::vector<double> times, shares;  // [frame] s, up to the end of the task
  std::vector<ScoredTool> tools;
  Flags collision, pressed;    // any two instruments, any face above the pressure limit
  double peak_pressure = 0.0;  // Pa
  std::size_t faces_burnt = 0, faces_torn = 0;

  std::size_t frames() const { return times.size(); }
  double duration() const;  // s
};

// Returns the recorded scene; an empty one when this version cannot parse it. What does not need it remains valid.
Scene recorded_scene(const Recording& recording, const std::filesystem::path& file);

// Returns the motion of a tool in the first `frames` frames.
TrackSamples track_samples(const Recording& recording, std::size_t tool, std::size_t frames);

// Prepares a recording. Scored time ends when the task is done or out of time.
ScoredSession scored_session(const Recording& recording, const std::string& file);

// Scores a recording. `file`: the name to store in the attempt.
Attempt score_recording(const Recording& recording, const std::string& file);

// Computes the motion metrics of a trajectory: the log of any tracker or robot, without a session. Forces, tissue and
// tasks are unknown.

// `file`: the name to store in the attempt; the instrument is named "instrument".
Attempt score_trajectory(const Trajectory& trajectory, const std::string& file);

}  // namespace trocar

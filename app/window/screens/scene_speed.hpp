// Measures before an attempt how fast this machine computes a scene: a short trial (sim/trial/scene_trial.hpp) in a
// thread, beside the start screen's picture and without the scope's. A machine that is slower than real time loses
// time, and an attempt that loses much is practice (sim/score/lost_time.hpp).
// Units: simulated seconds per second.   Tested in tests/app/window_test.cpp
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "app/window/screens/scene_list.hpp"
#include "sim/support/task.hpp"
#include "sim/trial/scene_trial.hpp"

namespace trocar {

// Returns simulated seconds per second in the slower phase of a trial, at most 1. `tick_ms`: length of a frame.
double speed_of(const SceneTrial& trial, double tick_ms);

class SceneSpeeds {
 public:
  // Call once a picture while no attempt runs. Measures the selected scene first, then those of the list, one at a
  // time.
  void watch(std::span<const ListedScene> scenes, std::size_t selected);
  // Abandons the trial that runs.
  void rest() { trial_.abandon(); }

  // Returns nothing while it is not known, or for a scene that cannot be tried.
  std::optional<double> of(const ListedScene& scene) const;
  // Returns what a machine that is too slow means for the selected scene, and which tasks it is fast enough for; empty:
  // it is fast enough, or it is not known.
  std::string text(std::span<const ListedScene> scenes, std::size_t selected) const;

 private:
  std::map<std::string, std::optional<double>> speeds_;  // by file; empty: it cannot be tried
  std::string tried_;                                    // file of the trial that runs
  Task<double> trial_;
};

}  // namespace trocar

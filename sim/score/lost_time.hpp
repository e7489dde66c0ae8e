// Watches how much of the time a machine loses that is too slow for its scene. Lost time slows tissue and instruments
// down, and itself looks like tremor, so an attempt with much of it is practice and does not count (docs/metrics.md).
// Units: s of the wall, without pauses.   Tested in tests/sim/score/lost_time_test.cpp
#pragma once

#include <array>
#include <cstddef>

namespace trocar {

class LostTime {
 public:
  static constexpr double kMost = 0.03;    // 1  of the time; ours
  static constexpr double kWindow = 10.0;  // s

  // Adds a picture. `wall`: s since the first one, never less than before. `lost`: s of the simulation since then. What
  // is not finite counts as no change.
  void add(double wall, double lost);

  double share() const;                    // 0..1  of the time so far, or of kWindow while that is longer
  double worst() const { return worst_; }  // 0..1  of the kWindow in which most was lost; 0 before one has passed
  bool is_much() const { return share() > kMost || worst_ > kMost; }

 private:
  static constexpr std::size_t kSteps = 100;  // of a window

  std::array<double, kSteps + 1> at_step_{};  // s  lost at the end of each of the last steps
  std::size_t steps_ = 0;                     // that have ended
  double wall_ = 0.0, lost_ = 0.0, worst_ = 0.0;
};

}  // namespace trocar

// Keeps the times of every stage and of drawing in the last frames, and plots them.
// Units: milliseconds.   Tested in tests/app/window_test.cpp; shown in tests/app/window_path_test.sh
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "sim/session/session.hpp"

namespace trocar {

class StageHistory {
 public:
  static constexpr std::size_t kFrames = 180;
  // The stages of a session, then drawing, then the whole frame.
  static constexpr std::size_t kDraw = kStages, kFrame = kStages + 1, kRows = kStages + 2;

  void add(std::span<const float> stage_ms, double draw_ms, double frame_ms);
  std::size_t frames() const { return count_; }
  // Returns a time. `back`: 0 for the latest frame, less than frames().
  float at(std::size_t row, std::size_t back) const;
  // Returns the median over the stored frames; 0 when there is none. Allocates nothing.
  float median(std::size_t row) const;

 private:
  std::array<std::array<float, kFrames>, kRows> rows_{};
  mutable std::array<float, kFrames> sorted_{};
  std::size_t next_ = 0, count_ = 0;
};

// Returns the median of the last samples, at most StageHistory::kFrames; 0 without any.
double recent_median(std::span<const double> samples);

// Draws a panel at the top right: the times stacked by stage, with their medians, and the query time of the session's
// backend beside that of the OBB tree.
void draw_plots(const StageHistory& history, const Session& session);

}  // namespace trocar

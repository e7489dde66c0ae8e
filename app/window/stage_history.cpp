#include "app/window/stage_history.hpp"

#include <algorithm>

namespace trocar {

void StageHistory::add(std::span<const float> stage_ms, double draw_ms, double frame_ms) {
  for (std::size_t row = 0; row < kStages; ++row) rows_[row][next_] = row < stage_ms.size() ? stage_ms[row] : 0.f;
  rows_[kDraw][next_] = static_cast<float>(draw_ms);
  rows_[kFrame][next_] = static_cast<float>(frame_ms);
  next_ = (next_ + 1) % kFrames;
  count_ = std::min(count_ + 1, kFrames);
}

float StageHistory::at(std::size_t row, std::size_t back) const {
  return rows_[row][(next_ + 2 * kFrames - 1 - back) % kFrames];
}

float StageHistory::median(std::size_t row) const {
  if (count_ == 0) return 0.f;
  for (std::size_t back = 0; back < count_; ++back) sorted_[back] = at(row, back);
  const auto middle = sorted_.begin() + static_cast<std::ptrdiff_t>(count_ / 2);
  std::nth_element(sorted_.begin(), middle, sorted_.begin() + static_cast<std::ptrdiff_t>(count_));
  return *middle;
}

double recent_median(std::span<const double> samples) {
  std::array<double, StageHistory::kFrames> last{};
  const std::size_t count = std::min(samples.size(), last.size());
  if (count == 0) return 0.0;
  std::copy(samples.end() - static_cast<std::ptrdiff_t>(count), samples.end(), last.begin());
  const auto middle = last.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(last.begin(), middle, last.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

}  // namespace trocar

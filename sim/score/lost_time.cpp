#include "sim/score/lost_time.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {

void LostTime::add(double wall, double lost) {
  constexpr double kStep = kWindow / kSteps, kLongest = 1e9;  // s
  if (!std::isfinite(wall) || !std::isfinite(lost)) return;
  wall = std::clamp(wall, wall_, kLongest), lost = std::max(lost, lost_);
  // The first step ends at 0.
  const std::size_t ended = static_cast<std::size_t>(wall / kStep) + 1;
  if (ended > steps_ + at_step_.size()) steps_ = ended - at_step_.size();
  // Between two pictures it is lost evenly.
  const double rate = wall > wall_ ? (lost - lost_) / (wall - wall_) : 0.0;
  for (; steps_ < ended; ++steps_)
    at_step_[steps_ % at_step_.size()] = lost_ + rate * std::max(static_cast<double>(steps_) * kStep - wall_, 0.0);
  wall_ = wall, lost_ = lost;
  if (steps_ <= kSteps) return;
  const std::size_t first = steps_ - 1 - kSteps;
  const double since = wall_ - static_cast<double>(first) * kStep;
  worst_ = std::max(worst_, std::min((lost_ - at_step_[first % at_step_.size()]) / since, 1.0));
}

double LostTime::share() const { return std::min(lost_ / std::max(wall_, kWindow), 1.0); }

}  // namespace trocar

#include "sim/session/tick_clock.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {

TickClock::TickClock(const TickParams& params) : params_(params) {}

int TickClock::picture(double elapsed) {
  const bool counts = !interrupted_ && std::isfinite(elapsed);
  const double passed = counts ? std::clamp(elapsed, 0.0, params_.longest_gap) : 0.0;
  after_gap_ = counts && elapsed > params_.longest_gap;
  interrupted_ = false;
  wall_ += passed;
  due_ += passed * params_.rate;
  // Rounded to the nearest: a display that runs at the tick rate gets one tick a picture in spite of jitter.
  const int due = static_cast<int>(std::floor(due_ + 0.5));
  left_ = std::min(due, params_.most_per_picture);
  lost_ticks_ += static_cast<std::uint64_t>(due - left_);
  due_ -= due;
  return left_;
}

FrameClock TickClock::next() {
  tick_wall_ = left_ > 1 ? tick_wall_ + (wall_ - tick_wall_) / left_ : wall_;
  left_ = std::max(left_ - 1, 0);
  const std::uint64_t number = next_tick_++;
  return {number, static_cast<double>(number) * tick(), tick_wall_, lost()};
}

}  // namespace trocar

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

namespace {

// Pictures before a check that took too long is tried again. The wait doubles after every further overrun.
constexpr int kFirstWait = 600, kLongestWait = 1 << 20;

}  // namespace

bool CheckBudget::room(double busy_ms, double elapsed_ms) {
  room_ms_ = std::max(std::max(tick_ms_, elapsed_ms - in_last_ms_) - busy_ms, 0.0);
  in_last_ms_ = 0.0;
  if (cost_ms_ <= room_ms_) return true;
  return --pictures_until_try_ <= 0;
}

void CheckBudget::ran(double check_ms) {
  cost_ms_ = in_last_ms_ = check_ms;
  overrun_ms_ += std::max(check_ms - room_ms_, 0.0);
  if (check_ms <= room_ms_) {
    wait_ = 0;
  } else {
    wait_ = wait_ == 0 ? kFirstWait : std::min(2 * wait_, kLongestWait);
    pictures_until_try_ = wait_;
  }
}

double CheckBudget::take_overrun() {
  const double overrun = overrun_ms_;
  overrun_ms_ = 0.0;
  return overrun;
}

}  // namespace trocar

#include "sim/session/check_budget.hpp"

#include <algorithm>

namespace trocar {
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

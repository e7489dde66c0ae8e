// Measures the wall-clock time since a moment, for StageTimes.   Tested in tests/geometry/touch_book_test.cpp
#pragma once

#include <chrono>

namespace trocar {

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace trocar

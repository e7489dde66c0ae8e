// Watches cuts and tears in organs that a task does not divide.   Tested in tests/sim/clip_and_cut_test.cpp
#pragma once

#include <cmath>
#include <cstddef>

namespace trocar {

// A cut that lasts several frames counts once.
struct CutWatch {
  double last = -INFINITY;  // s   the last frame in which faces were removed
  std::size_t count = 0;

  // Call for every frame with removed faces. Returns true for a new cut.
  bool cut(double time) {
    constexpr double kPause = 0.5;  // s
    const bool is_new = time > last + kPause;
    last = time;
    count += is_new;
    return is_new;
  }
};

}  // namespace trocar

// Measures how long a picture takes, without waiting for the graphics hardware: the time of the processor now, or that
// of the newest picture that the hardware has finished, if that is longer. Units: milliseconds.
// Checked in tests/house: no picture of the window waits for the hardware
#pragma once

#include <algorithm>

#include "geometry/machine.hpp"
#include "gpu_collision/gl_objects.hpp"

namespace trocar {

// Needs a current context for as long as it lives.
class PictureTimer {
 public:
  template <typename Draw>
  double time(Draw&& draw) {
    const auto start = Clock::now();
    {
      const Section section(timer_);
      draw();
    }
    return std::max(milliseconds_since(start), timer_.latest_ms());
  }

 private:
  struct Section {
    explicit Section(gl::Timer& of) : timer(of) { timer.begin(); }
    ~Section() { timer.end(); }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;
    gl::Timer& timer;
  };

  gl::Timer timer_;
};

}  // namespace trocar

// Decides when the tip of an instrument moves through an organ without contact, until it has left the organ:
// - The wire of a hook cuts tissue like a cheese wire when the force of a frame exceeds what the tissue bears. The
// tissue
//   closes behind it: nothing is removed.
// - Blades have cut the organ, and the cut goes through where they are. Closing again ends this.
// - A part has pierced the skin and stays in it: contacts would hold the organ on the part.
// Units: newtons, seconds.   Tested in tests/sim/tip_slip_test.cpp
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <vector>

namespace trocar {

// A part that pierces the skin for this long stays in it.
constexpr double kPiercedFor = 0.25;  // s

class TipSlip {
 public:
  TipSlip() = default;
  TipSlip(std::size_t tools, std::size_t organs) : organs_(organs), state_(tools * organs), force_(tools * organs) {}

  // Starts a frame.
  void begin() { force_.assign(force_.size(), glm::vec3(0.f)); }
  // Adds the force of an organ on the tip in a contact substep, as its share of the frame.
  void add(std::size_t tool, std::size_t organ, const glm::vec3& force) { force_[tool * organs_ + organ] += force; }
  void let_slip(std::size_t tool, std::size_t organ) { state_[tool * organs_ + organ] = kSlips; }

  // How the tip and an organ met in a frame of dt seconds.
  struct Meeting {
    bool touches = false;     // ends a slip when false
    bool pierced = false;     // a face of the organ crosses a part of the tip
    double bears = INFINITY;  // N, mean force of a frame that the tissue bears
    double dt = 1.0 / 60.0;   // s
  };
  // Call at the end of a frame.
  void settle(std::size_t tool, std::size_t organ, const Meeting& met) {
    std::uint8_t& state = state_[tool * organs_ + organ];
    const double patience = std::clamp(std::ceil(kPiercedFor / met.dt), 1.0, double{kSlips});
    if (!met.touches) {
      state = 0;
    } else if (state == kSlips || static_cast<double>(glm::length(force_[tool * organs_ + organ])) > met.bears) {
      state = kSlips;
    } else {
      state = met.pierced ? static_cast<std::uint8_t>(state + 1) : std::uint8_t{0};
      if (state >= patience) state = kSlips;
    }
  }
  // Returns whether the tip moves through the organ without contact.
  bool slips(std::size_t tool, std::size_t organ) const { return state_[tool * organs_ + organ] == kSlips; }

  // The state that passes from frame to frame. [tool * organs + organ]
  std::vector<std::uint8_t>& state() { return state_; }
  const std::vector<std::uint8_t>& state() const { return state_; }

 private:
  static constexpr std::uint8_t kSlips = 255;

  std::size_t organs_ = 0;
  std::vector<std::uint8_t> state_;  // kSlips, or number of frames in which the tip has pierced the skin
  std::vector<glm::vec3> force_;     // N, mean of the frame so far
};

}  // namespace trocar

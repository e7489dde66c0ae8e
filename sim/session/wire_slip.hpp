// Decides when the wire of a hook tears out of the tissue that it pulls or pushes. A wire cuts tissue like a cheese
// wire when the force of a frame exceeds what the tissue bears; it then meets no resistance until it has left the
// organ. The tissue closes behind it: nothing is removed. Blades that have cut an organ also meet no resistance from it,
// because the cut goes through where they are, until they have left it or close again.
// Units: newtons.   Tested in tests/sim/wire_slip_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <vector>

namespace trocar {

class WireSlip {
 public:
  WireSlip() = default;
  WireSlip(std::size_t tools, std::size_t organs) : organs_(organs), slips_(tools * organs), force_(tools * organs) {}

  void begin() { force_.assign(force_.size(), glm::vec3(0.f)); }
  // Adds the force of an organ on the wire in a contact substep, as its share of the frame.
  void add(std::size_t tool, std::size_t organ, const glm::vec3& force) { force_[tool * organs_ + organ] += force; }
  // Call at the end of a frame. `touches`: the wire touches the organ. `bears`: N, mean force of a frame.
  void settle(std::size_t tool, std::size_t organ, bool touches, double bears) {
    const std::size_t k = tool * organs_ + organ;
    slips_[k] = touches && (slips_[k] != 0 || double(glm::length(force_[k])) > bears);
  }
  void let_slip(std::size_t tool, std::size_t organ) { slips_[tool * organs_ + organ] = 1; }
  // Returns whether the wire or the blades move through the organ without contact.
  bool slips(std::size_t tool, std::size_t organ) const { return slips_[tool * organs_ + organ] != 0; }

  // The state that passes from frame to frame. [tool * organs + organ]
  std::vector<std::uint8_t>& state() { return slips_; }

 private:
  std::size_t organs_ = 0;
  std::vector<std::uint8_t> slips_;
  std::vector<glm::vec3> force_;  // N, mean of the frame so far
};

}  // namespace trocar

// From the hardware's candidates to the answer: what GL returned in float, as a superset and in any order, becomes the
// sorted touch list, decided face by face in double. Shared by `select` and `occlusion`. No OpenGL here.
// Units: metres.   Checked against the reference through the backends' tests in tests/gpu_collision
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// The touches of one call, tool by tool. Keeps its storage: nothing allocates once as many touches have been seen.
class TouchBook {
 public:
  void open();  // a new call: no tool yet
  // Settles the next tool. `candidates` holds every touched face and may hold others; it is sorted here, and what is
  // named twice counts once. False when one names a face that does not exist.
  bool add_tool(const ToolVolume& tool, TouchSet set, const MeshView& mesh, std::span<FaceId> candidates);
  // An answer of no touch.
  TouchList none(std::size_t tools);
  TouchList list() const { return {touches_, first_}; }
  std::size_t memory_bytes() const;

 private:
  std::vector<Touch> touches_;
  std::vector<std::uint32_t> first_{0};  // [tool + 1]
};

// How far beyond the volume's planes GL must look so that no touched face escapes the rounding of its floats, m.
// `scale`: the largest coordinate or plane offset that enters the computation, in absolute value, m.
double candidate_margin(double scale);

}  // namespace trocar

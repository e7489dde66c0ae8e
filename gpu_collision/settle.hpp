// Converts the hardware's candidates to the answer: GL's unordered superset in float becomes the sorted touch list,
// each face decided in double. `select` and `occlusion` use it. It contains no OpenGL.
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

// The touches of one call, tool by tool. Keeps its storage: allocates only for more touches than in all earlier calls.
class TouchBook {
 public:
  void open();  // starts a new call, without tools
  // Decides the next tool's faces. `candidates` holds every touched face and may hold others and duplicates; sorts it
  // in place. Returns false when one names a face that does not exist.
  bool add_tool(const ToolVolume& tool, TouchSet set, const MeshView& mesh, std::span<FaceId> candidates);
  // Returns an answer without touches.
  TouchList none(std::size_t tools);
  TouchList list() const { return {touches_, first_}; }
  std::size_t memory_bytes() const;

 private:
  std::vector<Touch> touches_;
  std::vector<std::uint32_t> first_{0};  // [tool + 1]
};

// Returns the distance beyond the volume's planes within which GL must accept faces, so that rounding loses no touched
// face, m. `scale`: the largest coordinate or plane offset in the computation, in absolute value, m.
double candidate_margin(double scale);

}  // namespace trocar

// Compares the answers of two backends about the same frame: which faces only one of them found, and whether these
// faces are borderline (docs/method.md).   Tested through sessions in tests/sim/session_test.cpp
#pragma once

#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

struct CrossCheckResult {
  std::uint32_t in_both = 0, borderline = 0, disagreements = 0;  // faces
};

// Keeps its scratch buffers: after the first frames it allocates only in frames with differences.
class CrossCheck {
 public:
  // Compares two answers. `mesh`: positions of this frame and all faces. The double reference decides each face that is
  // in only one list.
  CrossCheckResult compare(const MeshView& mesh, const ToolVolume& tool, TouchSet set, std::span<const Touch> first,
                           std::span<const Touch> second);

 private:
  std::vector<glm::uvec3> differing_;
};

}  // namespace trocar

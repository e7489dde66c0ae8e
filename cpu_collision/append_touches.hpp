// The last step of a touch query whose candidates come from a tree: sorted, refined, and added to the answer.
// Tested through tests/cpu_collision/tree_touch_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// Adds one tool's touches to `touches`, and where they end to `first`. `candidates`, each once: of the volume set the
// answer itself, of the exact set every face that may be touched; they are sorted here. Allocates only to grow.
void append_touches(const ToolVolume& tool, TouchSet set, const MeshView& mesh, std::span<FaceId> candidates,
                    std::vector<Touch>& touches, std::vector<std::uint32_t>& first);

}  // namespace trocar

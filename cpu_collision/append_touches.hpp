// Ends a tree-based touch query: sorts the candidates, refines them and appends the touched faces to the answer.
// Tested through tests/study/tree_touch_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// Appends one tool's touches to `touches` and their end offset to `first`. `candidates` holds each face at most once:
// for the volume set the answer itself, for the exact set every face that may be touched. Sorts them in place.
// Allocates only to grow the outputs.
void append_touches(const ToolVolume& tool, TouchSet set, const MeshView& mesh, std::span<FaceId> candidates,
                    std::vector<Touch>& touches, std::vector<std::uint32_t>& first);

}  // namespace trocar

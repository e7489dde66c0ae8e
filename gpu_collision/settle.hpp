// Converts the hardware's candidates to the answer: GL's unordered superset in float becomes the sorted touch list,
// each face decided in double. `select` and `occlusion` use it. It contains no OpenGL.
// Units: metres.   Checked against the reference through the backends' tests in tests/gpu_collision
#pragma once

#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/refine.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

// Decides the next tool's faces and appends them to `book`. `candidates` holds every touched face and may hold others
// and duplicates; sorts it in place. Returns false when one names a face that does not exist.
bool settle(const ToolVolume& tool, TouchSet set, const MeshView& mesh, std::vector<FaceId>& candidates,
            TouchBook& book);

// Returns the distance beyond the volume's planes within which GL must accept faces, so that rounding loses no touched
// face, m. `scale`: the largest coordinate or plane offset in the computation, in absolute value, m.
double candidate_margin(double scale);

}  // namespace trocar

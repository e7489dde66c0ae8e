// Brute force in double over every face: the judge of all backends. Shares no clipping or distance code with them.
// Units: metres.   Definition of borderline and of agreement: docs/method.md
#pragma once

#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// A face is borderline when moving the volume's planes (set Volume) or the radius (set Exact) by this much changes it.
constexpr double kBorderlineBand = 1e-6;  // m

struct ReferenceAnswer {
  std::vector<FaceId> touched;     // sorted
  std::vector<FaceId> borderline;  // sorted; touched or not
};

ReferenceAnswer reference_touched(const MeshView& mesh, const ToolVolume& tool, TouchSet set);

struct Agreement {
  std::uint64_t in_both = 0, borderline = 0, disagreements = 0;  // faces
};

// Compares a backend's answer for one tool with the judge's.
Agreement judge(const ReferenceAnswer& reference, std::span<const Touch> touches);

}  // namespace trocar

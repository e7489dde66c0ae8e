#include "gpu_collision/settle.hpp"

#include <algorithm>
#include <limits>

#include "geometry/tool_volume.hpp"

namespace trocar {
namespace {

// Minimum margin beyond the volume: well above the rounding of planes and positions near the origin.
constexpr double kSmallestMargin = 2e-6;  // m
// Margin in float steps of the largest number, between a vertex and its height over a plane. Mesa's clipper needs 1.
constexpr double kRoundingSteps = 16.0;

}  // namespace

bool settle(const ToolVolume& tool, TouchSet set, const MeshView& mesh, std::vector<FaceId>& candidates,
            TouchBook& book) {
  std::sort(candidates.begin(), candidates.end());
  if (!candidates.empty() && index(candidates.back()) >= mesh.faces.size()) return false;
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  if (set == TouchSet::Volume) {
    std::erase_if(candidates, [&](FaceId face) {
      return !face_touches_volume(triangle_of(mesh.positions, mesh.faces[index(face)]), tool);
    });
  }
  book.add_tool(tool, set, mesh, candidates);
  return true;
}

double candidate_margin(double scale) {
  return kSmallestMargin + kRoundingSteps * std::numeric_limits<float>::epsilon() * scale;
}

}  // namespace trocar

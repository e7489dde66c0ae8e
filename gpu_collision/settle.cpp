#include "gpu_collision/settle.hpp"

#include <algorithm>
#include <limits>

#include "geometry/convex_clip.hpp"
#include "geometry/refine.hpp"

namespace trocar {
namespace {

// Minimum margin beyond the volume: well above the rounding of planes and positions near the origin.
constexpr double kSmallestMargin = 2e-6;  // m
// Margin in float steps of the largest number, between a vertex and its height over a plane. Mesa's clipper needs 1.
constexpr double kRoundingSteps = 16.0;

}  // namespace

void TouchBook::open() {
  touches_.clear();
  first_.assign(1, 0);
}

TouchList TouchBook::none(std::size_t tools) {
  touches_.clear();
  first_.assign(tools + 1, 0);
  return list();
}

bool TouchBook::add_tool(const ToolVolume& tool, TouchSet set, const MeshView& mesh, std::span<FaceId> candidates) {
  std::sort(candidates.begin(), candidates.end());
  if (!candidates.empty() && index(candidates.back()) >= mesh.faces.size()) return false;
  const auto end = std::unique(candidates.begin(), candidates.end());
  candidates = candidates.first(static_cast<std::size_t>(end - candidates.begin()));
  const std::size_t start = touches_.size();
  if (set == TouchSet::Exact) {
    touches_.resize(start + candidates.size());
    const std::span<Touch> added = std::span(touches_).subspan(start);
    touches_.resize(start + refine_touches(tool.step, mesh, candidates, added));
  } else {
    for (const FaceId face : candidates) {
      if (face_touches_volume(triangle_of(mesh.positions, mesh.faces[index(face)]), tool))
        touches_.push_back({.face = face});
    }
  }
  first_.push_back(static_cast<std::uint32_t>(touches_.size()));
  return true;
}

std::size_t TouchBook::memory_bytes() const {
  return touches_.capacity() * sizeof(Touch) + first_.capacity() * sizeof(std::uint32_t);
}

double candidate_margin(double scale) {
  return kSmallestMargin + kRoundingSteps * std::numeric_limits<float>::epsilon() * scale;
}

}  // namespace trocar

#include "cpu_collision/append_touches.hpp"

#include <algorithm>

#include "geometry/refine.hpp"

namespace trocar {

void append_touches(const ToolVolume& tool, TouchSet set, const MeshView& mesh, std::span<FaceId> candidates,
                    std::vector<Touch>& touches, std::vector<std::uint32_t>& first) {
  std::sort(candidates.begin(), candidates.end());
  const std::size_t before = touches.size();
  touches.resize(before + candidates.size());
  const std::span<Touch> added = std::span(touches).subspan(before);
  if (set == TouchSet::Exact) {
    touches.resize(before + refine_touches(tool.step, mesh, candidates, added));
  } else {
    for (std::size_t k = 0; k < added.size(); ++k) added[k] = {.face = candidates[k]};
  }
  first.push_back(static_cast<std::uint32_t>(touches.size()));
}

}  // namespace trocar

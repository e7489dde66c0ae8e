#include "sim/session/cross_check.hpp"

#include "cpu_collision/reference.hpp"

namespace trocar {

CrossCheckResult CrossCheck::compare(const MeshView& mesh, const ToolVolume& tool, TouchSet set,
                                     std::span<const Touch> first, std::span<const Touch> second) {
  CrossCheckResult result;
  differing_.clear();
  for (std::size_t i = 0, j = 0; i < first.size() || j < second.size();) {
    const bool take_first = j == second.size() || (i < first.size() && first[i].face <= second[j].face);
    const bool take_second = i == first.size() || (j < second.size() && second[j].face <= first[i].face);
    const FaceId face = take_first ? first[i].face : second[j].face;
    if (take_first && take_second) {
      ++result.in_both;
    } else {
      differing_.push_back(mesh.faces[index(face)]);
    }
    i += take_first ? 1 : 0;
    j += take_second ? 1 : 0;
  }
  if (differing_.empty()) return result;
  const MeshView only_differing{mesh.positions, differing_};
  result.borderline = static_cast<std::uint32_t>(reference_touched(only_differing, tool, set).borderline.size());
  result.disagreements = static_cast<std::uint32_t>(differing_.size()) - result.borderline;
  return result;
}

}  // namespace trocar

#include "deform/sear.hpp"

#include <algorithm>
#include <cmath>

#include "deform/cut/sculpt_steps.hpp"

namespace trocar {
namespace {

// Nearer voxels get the dose of this distance: the metal's surface has the temperature of the spark.
constexpr float kNearestPoint = 3e-4f;  // m
// The skin is refined where the dose passes this one.
constexpr float kShows = 0.2f;  // 1

// Returns the doses of a cell, which begin at 0.
float* doses_of(SearField& field, std::size_t cells, std::uint32_t cell, int voxels) {
  if (field.block.empty()) field.block.assign(cells, kNoDose);
  if (field.block[cell] == kNoDose) {
    field.block[cell] = static_cast<std::uint32_t>(field.dose.size());
    field.dose.resize(field.dose.size() + static_cast<std::size_t>(voxels), 0.f);
  }
  return field.dose.data() + field.block[cell];
}

int number_in_cell(const Voxels& voxels, const glm::ivec3& at) {
  const int n = voxels.per_cell;
  const glm::ivec3 in = at % n;
  return (in.z * n + in.y) * n + in.x;
}

}  // namespace

SearBox sear(Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
             std::span<const HotSegment> metal, const SearParams& params, float dt) {
  SearBox box;
  const auto deepest = static_cast<float>(params.deepest), spread = static_cast<float>(params.spread);
  if (!(dt > 0.f) || !find_heat(sculpture, nodes, metal, deepest)) return box;
  const Voxels& voxels = sculpture.voxels;
  sculpture.seared.char_dose = static_cast<float>(params.char_dose);
  const float most = 2.f * sculpture.seared.char_dose;
  const int n = voxels.per_cell;
  for_each_voxel_near_heat(
      sculpture, lattice, nodes, [&](std::uint32_t voxel, const glm::vec3& p, std::span<const HeatAxis> near) {
        float away = INFINITY;
        for (const HeatAxis& axis : near) away = std::min(away, -axis.depth(p));
        if (!(away <= deepest)) return;
        const float share = spread / std::max(away, kNearestPoint);
        const glm::ivec3 at = voxels.at(voxel);
        const auto cell = static_cast<std::uint32_t>(voxels.cell_of(lattice, at));
        float& dose = doses_of(sculpture.seared, lattice.cells.size(), cell, n * n * n)[number_in_cell(voxels, at)];
        const float before = dose;
        // Doses beyond the one that blackens tissue make no difference.
        dose = std::min(dose + dt * share * share, most);
        if (before < kShows && dose >= kShows && voxels.kind[voxel] == Voxel::Tissue)
          sculpture.scratch.moved.push_back(voxel);
        const glm::vec3 low(voxels.origin + voxels.size * glm::dvec3(at)), side(static_cast<float>(voxels.size));
        box.low = glm::min(box.low, low - side);
        box.high = glm::max(box.high, low + 2.f * side);
      });
  return box;
}

float dose_at(const Sculpture& sculpture, const Lattice& lattice, const glm::vec3& p) {
  const Voxels& voxels = sculpture.voxels;
  const SearField& field = sculpture.seared;
  if (field.block.empty()) return 0.f;
  return mean_around(voxels, lattice, p, 0.f, [&](const glm::ivec3& at, std::int32_t cell) {
    const std::uint32_t block = field.block[static_cast<std::size_t>(cell)];
    return block == kNoDose ? 0.f : field.dose[block + static_cast<std::size_t>(number_in_cell(voxels, at))];
  });
}

float look_at(const Sculpture& sculpture, const Lattice& lattice, const glm::vec3& p) {
  const float dose = dose_at(sculpture, lattice, p);
  const float charred = (dose - 1.f) / (sculpture.seared.char_dose - 1.f);
  return 0.5f * std::clamp(dose, 0.f, 1.f) + 0.5f * std::clamp(charred, 0.f, 1.f);
}

}  // namespace trocar

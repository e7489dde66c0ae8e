#include "deform/bond_cuts.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/closest.hpp"

namespace trocar {
namespace {

template <class IsCut>
void break_where(std::span<const TissueModel* const> models, std::span<const SteppedTissue* const> states,
                 FibreBreak how, Bonds& bonds, IsCut is_cut) {
  for (std::uint32_t f = 0; f < bonds.fibres.size(); ++f) {
    if (bonds.intact[f] && is_cut(bonds.fibres[f], ends_of(bonds.fibres[f], models, states)))
      break_fibre(f, how, bonds);
  }
}

double distance_between(const FibreEnds& ends, const HotSegment& metal) {
  const closest::Segment fibre = closest::segment(glm::dvec3(ends.a), glm::dvec3(ends.b)),
                         wire = closest::segment(glm::dvec3(metal.from), glm::dvec3(metal.to));
  return std::sqrt(closest::closest_segments(fibre, wire).squared);
}

// Is the point inside the convex outline, or within `margin` of the inner side of each of its edges?
bool in_outline(const BladeCut& cut, const glm::vec2& p, float margin) {
  for (int i = 0; i < cut.corners; ++i) {
    const glm::vec2 from = cut.outline[static_cast<std::size_t>(i)],
                    edge = cut.outline[static_cast<std::size_t>((i + 1) % cut.corners)] - from;
    const float length = glm::length(edge);
    if (!(length > 0.f)) continue;
    if (edge.x * (p.y - from.y) - edge.y * (p.x - from.x) < -margin * length) return false;
  }
  return cut.corners >= 3;
}

bool snipped(const BladeCut& cut, const Fibre& fibre, const FibreEnds& ends) {
  const glm::vec3 normal = glm::cross(cut.along, cut.across);
  const float a = glm::dot(normal, ends.a - cut.origin), b = glm::dot(normal, ends.b - cut.origin);
  if (!std::isfinite(a + b)) return false;
  const float margin = fibre.free_length > 0.f ? 0.f : 0.5f * fibre.reference;
  if (std::min(a, b) > margin || std::max(a, b) < -margin) return false;
  const float share = a == b ? 0.5f : std::clamp(a / (a - b), 0.f, 1.f);
  const glm::vec3 at = glm::mix(ends.a, ends.b, share) - cut.origin;
  return in_outline(cut, {glm::dot(at, cut.along), glm::dot(at, cut.across)}, margin);
}

}  // namespace

void burn_fibres(std::span<const HotSegment> metal, std::span<const TissueModel* const> models,
                 std::span<const SteppedTissue* const> states, Bonds& bonds) {
  break_where(models, states, FibreBreak::Burnt, bonds, [&](const Fibre&, const FibreEnds& ends) {
    return std::any_of(metal.begin(), metal.end(), [&](const HotSegment& segment) {
      return distance_between(ends, segment) <= static_cast<double>(segment.radius);
    });
  });
}

void snip_fibres(const BladeCut& cut, std::span<const TissueModel* const> models,
                 std::span<const SteppedTissue* const> states, Bonds& bonds) {
  break_where(models, states, FibreBreak::Cut, bonds,
              [&](const Fibre& fibre, const FibreEnds& ends) { return snipped(cut, fibre, ends); });
}

}  // namespace trocar

#include "deform/join/clip.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

// A point this near the middle between the jaws lies on neither of them.
constexpr double kMiddle = 0.15;  // 1, of the opening
// A strut joins points at most this far apart along the jaws.
constexpr double kFarthestPair = 2.5e-3;  // m
constexpr float kShortestVector = 1e-9f;  // m
// A clip adds at most this much to the square of the highest frequency of its organ, so that substeps stay long: on
// light nodes it is less stiff than it should be.
constexpr double kMostSquare = 0.5;  // 1

glm::dvec2 spot_of(const GraspedPoint& point) { return {point.between.x, point.between.from_hinge}; }

BondEnd end_at(std::uint32_t organ, std::uint32_t vertex, const TissueModel& model) {
  const Embedding& embedding = model.embedding[vertex];
  const Lattice& lattice = model.lattice;
  BondEnd end{organ, 0, {}, glm::vec3(0.f)};
  end.cell = static_cast<std::uint32_t>(
      std::max(lattice.cell_of[lattice.flat(lattice.node_at[embedding.node[0]])], std::int32_t{0}));
  std::copy(std::begin(embedding.weight), std::end(embedding.weight), end.weight.begin());
  return end;
}

double sum_of(const BondEnd& end) {
  double sum = 0.0;
  for (const float w : end.weight) sum += std::abs(static_cast<double>(w));
  return sum;
}

// Returns the stiffness at which struts of stiffness 1 / count reach kMostSquare, by Gershgorin's theorem.
double most_stiffness(std::span<const Fibre> struts, const TissueModel& model) {
  std::vector<double> row(model.mass.size(), 0.0);
  for (const Fibre& strut : struts)
    for (const BondEnd* end : {&strut.a, &strut.b})
      for (std::size_t i = 0; i < 8; ++i)
        row[model.lattice.cells[end->cell].node[i]] += (sum_of(strut.a) + sum_of(strut.b)) *
                                                       std::abs(static_cast<double>(end->weight[i])) /
                                                       static_cast<double>(struts.size());
  double fastest = 0.0;
  for (std::size_t node = 0; node < row.size(); ++node)
    fastest = std::max(fastest, row[node] * static_cast<double>(model.inverse_mass[node]));
  return kMostSquare * own_square(model) / std::max(fastest, 1e-30);
}

// Returns a unit vector; `otherwise` when `v` has no direction.
glm::vec3 unit_or(const glm::vec3& v, const glm::vec3& otherwise) {
  const float length = glm::length(v);
  return length > kShortestVector ? v / length : otherwise;
}

glm::vec3 any_normal(const glm::vec3& v) {
  return glm::normalize(glm::cross(v, std::abs(v.x) < 0.6f ? glm::vec3(1, 0, 0) : glm::vec3(0, 1, 0)));
}

}  // namespace

Clip clip_on(const Grasp& grasp, const Jaws& jaws, double reach) {
  std::vector<const GraspedPoint*> upper, lower;
  const double nearest_to_hinge = jaws.upper->hinge_z - reach;
  for (const GraspedPoint& point : grasp.points) {
    if (std::abs(point.between.share) < kMiddle || point.between.from_hinge < nearest_to_hinge) continue;
    (point.between.share > 0.0 ? upper : lower).push_back(&point);
  }
  if (upper.empty() || lower.empty()) return {};
  std::stable_sort(upper.begin(), upper.end(), [](const GraspedPoint* a, const GraspedPoint* b) {
    return a->between.from_hinge < b->between.from_hinge;
  });
  std::vector<ClipStrut> struts;
  for (const GraspedPoint* point : upper) {
    const auto distance = [&](const GraspedPoint* other) { return glm::distance(spot_of(*point), spot_of(*other)); };
    const auto nearest = std::min_element(lower.begin(), lower.end(),
                                          [&](const auto* a, const auto* b) { return distance(a) < distance(b); });
    if (distance(*nearest) > kFarthestPair) continue;
    const glm::dvec2 middle = 0.5 * (spot_of(*point) + spot_of(**nearest));
    struts.push_back(
        {point->vertex, (*nearest)->vertex, glm::vec2(middle.x, middle.y - nearest_to_hinge - 0.5 * reach)});
  }
  Clip clip;
  clip.count = static_cast<std::uint32_t>(std::min(struts.size(), kMostStruts));
  for (std::size_t k = 0; k < clip.count; ++k) clip.struts[k] = struts[k * struts.size() / clip.count];
  return clip;
}

float add_struts(const Clip& clip, const TissueModel& model, float stiffness, Bonds& bonds) {
  const std::size_t first = bonds.struts.size();
  for (std::size_t k = 0; k < clip.count; ++k) {
    const ClipStrut& strut = clip.struts[k];
    bonds.struts.push_back(
        {end_at(clip.organ, strut.a, model), end_at(clip.organ, strut.b, model), 0.f, 1.f, 0.f, INFINITY});
  }
  const std::span<Fibre> added = std::span(bonds.struts).subspan(first);
  const double used = model.tube.empty() ? std::min(static_cast<double>(stiffness), most_stiffness(added, model))
                                         : static_cast<double>(stiffness);
  for (Fibre& strut : added) strut.stiffness = static_cast<float>(used / static_cast<double>(clip.count));
  return static_cast<float>(used);
}

void follow_change(std::span<const char> unused, Clip& clip) {
  const auto lost = [&](const ClipStrut& strut) { return unused[strut.a] != 0 || unused[strut.b] != 0; };
  const auto end = std::remove_if(clip.struts.begin(), clip.struts.begin() + clip.count, lost);
  clip.count = static_cast<std::uint32_t>(end - clip.struts.begin());
}

float tension_of(const Clip& clip, std::span<const glm::vec3> positions, float stiffness) {
  if (clip.count == 0) return 0.f;
  return stiffness * pose_of(clip, positions).gap;
}

ClipPose pose_of(const Clip& clip, std::span<const glm::vec3> positions) {
  ClipPose pose;
  if (clip.count == 0) return pose;
  const auto count = static_cast<float>(clip.count);
  const std::span struts = std::span(clip.struts).first(clip.count);
  glm::vec2 spot(0.f);
  glm::vec3 between(0.f);
  for (const ClipStrut& strut : struts) {
    const glm::vec3 a = positions[strut.a], b = positions[strut.b];
    pose.centre += 0.5f * (a + b) / count;
    spot += strut.at / count;
    between += a - b;
    pose.gap += glm::distance(a, b) / count;
  }
  // Least squares: how the middles of the struts move with their positions along the legs and across them.
  glm::vec3 along(0.f), aside(0.f);
  for (const ClipStrut& strut : struts) {
    const glm::vec3 from_centre = 0.5f * (positions[strut.a] + positions[strut.b]) - pose.centre;
    along += (strut.at.y - spot.y) * from_centre;
    aside += (strut.at.x - spot.x) * from_centre;
  }
  const glm::vec3 across = unit_or(between, glm::vec3(0, 0, 1));
  pose.legs = unit_or(along, unit_or(glm::cross(across, aside), any_normal(across)));
  pose.across = unit_or(across - glm::dot(across, pose.legs) * pose.legs, any_normal(pose.legs));
  pose.centre -= spot.y * pose.legs + spot.x * glm::cross(pose.legs, pose.across);
  return pose;
}

}  // namespace trocar

// Computes contacts, holds and friction of the implicit reference solver.
#include <algorithm>
#include <array>

#include "deform/point_loads.hpp"
#include "deform/reference/energy.hpp"
#include "geometry/hull_distance.hpp"
#include "geometry/part_touch.hpp"

namespace trocar {
namespace {

using glm::dmat3;
using glm::dvec3;

// A point closer than this to a tool's axis has no direction to it; the stored side of the contact is used.
constexpr double kOnAxis = 1e-9;  // m

void add_embedding(const Embedding& e, double share, ImplicitPoint& point) {
  if (share == 0.0) return;
  for (int i = 0; i < 8; ++i) {
    const auto known = std::find(point.node.begin(), point.node.end(), e.node[i]);
    const std::size_t at = known - point.node.begin();
    if (known == point.node.end()) point.node.push_back(e.node[i]), point.weight.push_back(0.0);
    point.weight[at] += share * e.weight[i];
  }
}

// Distributes gradient and curvature of a function of the point to the nodes by their weights.
void spread(const ImplicitPoint& point, const dvec3& slope, const dmat3& second, Curvature curvature, Expansion& out) {
  for (std::size_t i = 0; i < point.node.size(); ++i) {
    out.slope[point.node[i]] += point.weight[i] * slope;
    if (curvature == Curvature::None) continue;
    for (std::size_t j = 0; j < point.node.size(); ++j)
      if (point.node[i] >= point.node[j])
        out.curvature.push_back({point.node[i], point.node[j], point.weight[i] * point.weight[j] * second});
  }
}

// A spring to the origin of `away` that yields at `limit` newtons: energy stiffness/2 d^2, then limit * d.
void add_yielding_spring(const ImplicitPoint& point, const dvec3& away, double stiffness, double limit,
                         Curvature curvature, Expansion& out) {
  const double distance = glm::length(away), yield = limit / stiffness;
  if (distance <= yield) {
    out.energy += 0.5 * stiffness * distance * distance;
    spread(point, stiffness * away, dmat3(stiffness), curvature, out);
    return;
  }
  const dvec3 n = away / distance;
  out.energy += limit * (distance - 0.5 * yield);
  spread(point, limit * n, limit / distance * (dmat3(1.0) - glm::outerProduct(n, n)), curvature, out);
}

}  // namespace

ImplicitPoint contact_point(const TissueModel& model, const TissueContact& contact) {
  ImplicitPoint point;
  add_embedding(model.embedding[contact.vertex], 1.0 - double(contact.u) - double(contact.v), point);
  add_embedding(model.embedding[contact.second], contact.u, point);
  add_embedding(model.embedding[contact.third], contact.v, point);
  return point;
}

ImplicitPoint held_point(const Embedding& embedding) {
  ImplicitPoint point;
  add_embedding(embedding, 1.0, point);
  return point;
}

dvec3 position_of(const ImplicitPoint& point, std::span<const dvec3> x) {
  dvec3 position(0.0);
  for (std::size_t i = 0; i < point.node.size(); ++i) position += point.weight[i] * x[point.node[i]];
  return position;
}

namespace {

// The same for a part, which is at the end of its interval. Its surface counts as flat: the curvature only speeds up
// the search of the reference.
ImplicitContact touch_of_part(const dvec3& point, const MovingPart& part, const dvec3& kept_side) {
  const PosedPart posed(*part.shape, frame_at(*part.motion, *part.shape, part.to));
  const double radius = part.shape->radius - std::min(kContactSlack, 0.1 * part.shape->radius);
  const std::array<dvec3, 1> at{point};
  const HullDistance closest = hull_distance(posed.corners(), at);
  const dvec3 to_part = closest.on_first - point;
  if (closest.distance > kOnAxis && glm::dot(to_part, kept_side) > 0.0)
    return {to_part / closest.distance, radius - closest.distance, 0.0, dvec3(0.0)};
  return {kept_side, exit_distance(posed.corners(), radius, point, -kept_side), 0.0, dvec3(0.0)};
}

}  // namespace

// A point that has crossed the axis is pushed back to the side it came from.
ImplicitContact touch_between(const dvec3& point, const ToolStep& tool, const dvec3& kept_side) {
  if (tool.part.shape) return touch_of_part(point, tool.part, kept_side);
  const double radius = tool.radius - std::min(kContactSlack, 0.1 * tool.radius);
  const dvec3 shaft = tool.tip_after - tool.pivot;
  const double along = glm::clamp(glm::dot(point - tool.pivot, shaft) / glm::dot(shaft, shaft), 0.0, 1.0);
  const dvec3 to_axis = tool.pivot + along * shaft - point;
  const double distance = glm::length(to_axis), side = glm::dot(to_axis, kept_side);
  if (distance < kOnAxis || side <= 0.0) return {kept_side, radius - side, 0.0, dvec3(0.0)};
  const bool beside = along > 0.0 && along < 1.0;
  return {to_axis / distance, radius - distance, 1.0 / distance, beside ? glm::normalize(shaft) : dvec3(0.0)};
}

void add_contact(const ImplicitPoint& point, const TissueContact& contact, const ToolStep& tool, double stiffness,
                 std::span<const dvec3> x, Curvature curvature, Expansion& out) {
  const ImplicitContact touch = touch_between(position_of(point, x), tool, dvec3(contact.normal));
  if (touch.depth <= 0.0) return;
  out.energy += 0.5 * stiffness * touch.depth * touch.depth;
  dmat3 second = stiffness * glm::outerProduct(touch.normal, touch.normal);
  if (curvature == Curvature::Exact) {
    const dmat3 across =
        dmat3(1.0) - glm::outerProduct(touch.normal, touch.normal) - glm::outerProduct(touch.along, touch.along);
    second -= stiffness * touch.depth * touch.bend * across;
  }
  spread(point, stiffness * touch.depth * touch.normal, second, curvature, out);
}

void add_hold(const ImplicitPoint& point, const TissueHold& hold, double stiffness, std::span<const dvec3> x,
              Curvature curvature, Expansion& out) {
  add_yielding_spring(point, position_of(point, x) - dvec3(hold.to), stiffness, hold.limit, curvature, out);
}

void add_friction(const ImplicitPoint& point, const ImplicitFriction& friction, std::span<const dvec3> x,
                  Curvature curvature, Expansion& out) {
  if (!(friction.grip > 0.0)) return;
  const dmat3 across = dmat3(1.0) - glm::outerProduct(friction.normal, friction.normal);
  const dvec3 slid = across * (position_of(point, x) - friction.stick);
  const double distance = glm::length(slid), creep = friction.creep_length;
  if (distance <= creep) {
    out.energy += 0.5 * friction.grip / creep * distance * distance;
    spread(point, friction.grip / creep * slid, friction.grip / creep * across, curvature, out);
    return;
  }
  const dvec3 n = slid / distance;
  out.energy += friction.grip * (distance - 0.5 * creep);
  spread(point, friction.grip * n, friction.grip / distance * (across - glm::outerProduct(n, n)), curvature, out);
}

}  // namespace trocar

#include "deform/contact/grasp.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/closest.hpp"
#include "geometry/elementary.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// Contacts keep tissue outside the jaws up to this distance: it is still between them.
constexpr double kGripMargin = 5e-4;  // m
// A point that slips this far outside the jaws is lost.
constexpr double kLostMargin = 1.5e-3;  // m
// Below this angle, jaws have no space between them.
constexpr double kClosed = 1e-4;  // rad
constexpr int kBisections = 50;
// Below this force of the layer, the force of the tissue says nothing about its stiffness.
constexpr double kLeastForce = 0.01;  // N
constexpr double kStiffest = 100.0;   // 1  limit of Grasp::resistance

dvec3 point_of(const Embedding& e, std::span<const glm::vec3> nodes) {
  return weighted_sum<dvec3>(e.node, e.weight, 8, [nodes](std::uint32_t n) { return dvec3(nodes[n]); });
}

// Is a point of a closed jaw's inner surface within its outline?
bool on_jaw(const PartShape& jaw, const JawPoint& point, double margin) {
  double low = jaw.corners[0].y, high = low;
  for (const dvec3& corner : jaw.corners) low = std::min(low, corner.y), high = std::max(high, corner.y);
  const double inner = jaw.side > 0.0 ? low : high;
  const std::array<dvec3, 1> at{dvec3(point.x, inner, jaw.hinge_z - point.from_hinge)};
  return hull_distance(jaw.corners, at).distance <= jaw.radius + margin;
}

float area_of(const GraspedOrgan& organ, std::uint32_t vertex) {
  double sum = 0.0;
  for (std::uint32_t k = organ.around.first[vertex]; k < organ.around.first[vertex + 1]; ++k) {
    const Triangle t = triangle_of(organ.positions, organ.faces[index(organ.around.face[k])]);
    sum += glm::length(glm::cross(t.b - t.a, t.c - t.a)) / 6.0;
  }
  return static_cast<float>(sum);
}

// Force of the compressed tissue for jaws at `opening`, N.
double tissue_force(const Grasp& grasp, double opening) {
  const double stretch = opening / grasp.first_opening;
  return static_cast<double>(grasp.resistance) * static_cast<double>(grasp.area) *
         static_cast<double>(grasp.youngs_modulus) / 3.0 * (1.0 / (stretch * stretch) - stretch);
}

}  // namespace

void release(Grasp& grasp) {
  grasp.points.clear();
  grasp.area = grasp.squeeze = 0.f;
  grasp.resistance = 1.f;
  grasp.pull = glm::vec3(0.f);
  grasp.slipping = grasp.torn = false;
}

JawPoint jaw_point(const Jaws& jaws, double opening, const dvec3& local) {
  const double along = jaws.upper->hinge_z - local.z;
  const double angle = elementary::atan2(local.y, along);
  return {local.x, std::sqrt(along * along + local.y * local.y), angle / std::max(opening, kClosed)};
}

dvec3 position_of(const Jaws& jaws, double opening, const JawPoint& point) {
  const double angle = point.share * std::max(opening, kClosed);
  return {point.x, point.from_hinge * elementary::sin(angle),
          jaws.upper->hinge_z - point.from_hinge * elementary::cos(angle)};
}

bool between_jaws(const Jaws& jaws, double reach, const JawPoint& point, double margin) {
  if (point.from_hinge < jaws.upper->hinge_z - reach - margin || std::abs(point.share) > 1.0) return false;
  return on_jaw(*jaws.upper, point, margin) && on_jaw(*jaws.lower, point, margin);
}

void grip(const GraspParams& params, const Jaws& jaws, const InstrumentMotion& motion, const GraspedOrgan& organ,
          Grasp& grasp) {
  const RigidFrame frame = frame_at(motion, 0.0);
  const double opening = motion.opening_before;
  release(grasp);
  if (opening < kClosed) return;
  const double farthest = jaws.upper->hinge_z + params.reach;
  for (std::uint32_t vertex = 0; vertex < organ.positions.size(); ++vertex) {
    const dvec3 local = frame.to_local(dvec3(organ.positions[vertex]));
    if (glm::dot(local, local) > farthest * farthest || (!organ.unused.empty() && organ.unused[vertex])) continue;
    JawPoint point = jaw_point(jaws, opening, local);
    // A jaw's contact keeps the tissue a little beyond its surface.
    const double beyond = (std::abs(point.share) - 0.5) * opening * point.from_hinge;
    if (beyond > kGripMargin || !between_jaws(jaws, params.reach, point, kGripMargin)) continue;
    point.share = std::clamp(point.share, -0.5, 0.5);
    const float area = area_of(organ, vertex);
    grasp.points.push_back({vertex, organ.model.embedding[vertex], point, area});
    grasp.area += 0.5f * area;
  }
  grasp.first_opening = opening;
  grasp.youngs_modulus = organ.model.tube.empty() ? organ.model.params.youngs_modulus
                                                  : static_cast<float>(ring_modulus(organ.model.tube.params));
  if (!(grasp.area > 0.f)) release(grasp);
}

double solve_opening(const GraspParams& params, const Jaws& jaws, double commanded, Grasp& grasp, double firmness) {
  grasp.squeeze = 0.f;
  if (!grasp.holding() || commanded >= std::min(grasp.first_opening, jaws.widest * params.grip_below)) {
    release(grasp);
    return commanded;
  }
  const double stiffness = params.handle_stiffness / jaws.widest;
  const auto handle_force = [&](double opening) {
    return firmness * std::min(static_cast<double>(params.squeeze), stiffness * (opening - commanded));
  };
  double low = std::max(commanded, 0.0), high = grasp.first_opening;
  for (int k = 0; k < kBisections; ++k) {
    const double middle = 0.5 * (low + high);
    (tissue_force(grasp, middle) > handle_force(middle) ? low : high) = middle;
  }
  grasp.squeeze = static_cast<float>(handle_force(high));
  return high;
}

void feel_tissue(const GraspParams& params, double opening, double force, double dt, Grasp& grasp) {
  if (!grasp.holding()) return;
  const double expected = tissue_force(grasp, opening) / static_cast<double>(grasp.resistance);
  if (!(expected > kLeastForce)) return;
  const double wanted = std::clamp(force / expected, 1.0, kStiffest);
  const double share = 1.0 - elementary::exp(-dt / params.settling);
  grasp.resistance += static_cast<float>(share * (wanted - static_cast<double>(grasp.resistance)));
}

void add_holds(const GraspParams& params, const Jaws& jaws, const InstrumentMotion& motion, const Grasp& grasp,
               std::uint32_t tool, std::vector<TissueHold>& holds) {
  const RigidFrame before = frame_at(motion, 0.0), after = frame_at(motion, 1.0);
  float areas = 0.f;
  for (const GraspedPoint& held : grasp.points) areas += held.area;
  const float limit = 2.f * params.friction * grasp.squeeze / std::max(areas, 1e-12f);
  for (const GraspedPoint& held : grasp.points) {
    const dvec3 from = before.to_world(position_of(jaws, motion.opening_before, held.between)),
                to = after.to_world(position_of(jaws, motion.opening_after, held.between));
    holds.push_back({held.point, glm::vec3(from), glm::vec3(to), limit * held.area, tool, held.area});
  }
}

glm::vec3 held_shift(const SteppedTissue& state, std::uint32_t tool) {
  return tool < state.held_dents.size() ? state.held_dents[tool].shift : glm::vec3(0.f);
}

namespace {

// The wall of a duct is as flat as the jaws press it: its points do not slip when they move across the jaws. Returns
// how far a point has slipped, m.
double follow_wall(const JawPoint& now, JawPoint& between) {
  const double x = now.x - between.x, along = now.from_hinge - between.from_hinge;
  between.share = std::clamp(now.share, -0.5, 0.5);
  return std::sqrt(x * x + along * along);
}

}  // namespace

void update_grasp(const GraspParams& params, const Jaws& jaws, const SteppedTissue& state,
                  const InstrumentMotion& motion, std::uint32_t tool, const glm::vec3& pull, Grasp& grasp) {
  grasp.pull = pull;
  grasp.slipping = false;
  const RigidFrame frame = frame_at(motion, 1.0);
  const bool walled = !state.tube.rods.empty();
  const dvec3 dent(held_shift(state, tool));
  for (GraspedPoint& held : grasp.points) {
    const dvec3 local = frame.to_local(point_of(held.point, state.x) - dent);
    const double slipped = walled ? follow_wall(jaw_point(jaws, motion.opening_after, local), held.between)
                                  : glm::distance(local, position_of(jaws, motion.opening_after, held.between));
    if (slipped <= params.slip) continue;
    held.between = jaw_point(jaws, motion.opening_after, local);
    const double beyond = (std::abs(held.between.share) - 0.5) * motion.opening_after * held.between.from_hinge;
    if (beyond < kLostMargin) held.between.share = std::clamp(held.between.share, -0.5, 0.5);
    grasp.slipping = true;
  }
  grasp.torn = glm::length(grasp.pull) > params.tear_from;
  std::erase_if(grasp.points, [&](const GraspedPoint& held) {
    return std::abs(held.between.share) > 0.5 || !between_jaws(jaws, params.reach, held.between, kLostMargin);
  });
}

void follow_change(const TissueModel& model, std::span<const char> unused, Grasp& grasp) {
  std::erase_if(grasp.points, [&](const GraspedPoint& held) { return unused[held.vertex] != 0; });
  for (GraspedPoint& held : grasp.points) held.point = model.embedding[held.vertex];
}

void held_cells(const TissueModel& model, const Grasp& grasp, std::vector<std::uint32_t>& cells) {
  cells.clear();
  for (const GraspedPoint& held : grasp.points) {
    const std::int32_t cell = model.lattice.cell_of[model.lattice.flat(model.lattice.node_at[held.point.node[0]])];
    if (cell >= 0) cells.push_back(static_cast<std::uint32_t>(cell));
  }
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
}

}  // namespace trocar

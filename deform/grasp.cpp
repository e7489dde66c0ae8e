#include "deform/grasp.hpp"

#include <algorithm>

#include "deform/node_sum.hpp"
#include "geometry/elementary.hpp"
#include "geometry/turn.hpp"

namespace trocar {
namespace {

glm::dvec3 axis_of(const glm::dvec3& pivot, const glm::dvec3& tip) {
  const glm::dvec3 along = tip - pivot;
  const double length = glm::length(along);
  return length > 0.0 ? along / length : glm::dvec3(0.0, 0.0, -1.0);
}

// Returns the instrument's rotation within a step: the shortest rotation of its axis, then the rotation about the axis.
glm::dquat turn_of(const ToolStep& step, double turn_deg) {
  const glm::dvec3 before = axis_of(step.pivot, step.tip_before), after = axis_of(step.pivot, step.tip_after);
  const glm::dvec3 across = glm::cross(before, after);
  const double sine = glm::length(across), angle = elementary::atan2(sine, glm::dot(before, after));
  const glm::dquat swing = sine > 1e-12 ? turn_about(across / sine, angle) : glm::dquat(1.0, 0.0, 0.0, 0.0);
  return turn_about(after, glm::radians(turn_deg)) * swing;
}

glm::dvec3 point_of(const Embedding& e, std::span<const glm::vec3> nodes) {
  return weighted_sum<glm::dvec3>(e.node, e.weight, 8, [nodes](std::uint32_t n) { return glm::dvec3(nodes[n]); });
}

}  // namespace

void move_jaws(const GraspParams& params, const ToolPose& pose, double opening, const TissueModel& model,
               std::span<const glm::vec3> positions, Grasp& grasp) {
  grasp.torn = false;
  const bool closing = !grasp.closed && opening < params.close_below;
  if (opening > params.open_above) grasp.closed = false;
  if (closing) grasp.closed = true;
  if (!grasp.closed) grasp.points.clear();
  const double share = 1.0 - std::clamp(opening / params.open_above, 0.0, 1.0);
  grasp.squeeze = grasp.closed ? params.squeeze * static_cast<float>(share) : 0.f;
  if (!closing) return;
  for (std::uint32_t vertex = 0; vertex < positions.size(); ++vertex) {
    const glm::dvec3 offset = glm::dvec3(positions[vertex]) - pose.tip;
    if (glm::dot(offset, offset) <= params.reach * params.reach)
      grasp.points.push_back({vertex, model.embedding[vertex], offset});
  }
}

void add_holds(const GraspParams& params, const ToolStep& step, double turn_deg, Grasp& grasp,
               std::vector<TissueHold>& holds) {
  const glm::dquat turn = turn_of(step, turn_deg);
  const float limit =
      2.f * params.friction * grasp.squeeze / static_cast<float>(std::max<std::size_t>(grasp.points.size(), 1));
  for (GraspedPoint& held : grasp.points) {
    const glm::dvec3 from = step.tip_before + held.offset;
    held.offset = turn * held.offset;
    holds.push_back({held.point, glm::vec3(from), glm::vec3(step.tip_after + held.offset), limit});
  }
}

void settle_grasp(const GraspParams& params, const SteppedTissue& state, const ToolStep& step, std::size_t first,
                  Grasp& grasp) {
  grasp.pull = glm::vec3(0.f);
  grasp.slipping = false;
  for (std::size_t i = 0; i < grasp.points.size(); ++i) {
    grasp.pull += hold_force(state, first + i);
    GraspedPoint& held = grasp.points[i];
    const glm::dvec3 offset = point_of(held.point, state.x) - step.tip_after;
    if (glm::distance(offset, held.offset) <= params.slip) continue;
    held.offset = offset;
    grasp.slipping = true;
  }
  grasp.torn = glm::length(grasp.pull) > params.tear_from;
  const double farthest = 2.0 * params.reach;
  std::erase_if(grasp.points,
                [&](const GraspedPoint& held) { return glm::dot(held.offset, held.offset) > farthest * farthest; });
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

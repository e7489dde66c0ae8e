#include "sim/task/clear_window.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/closest.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/task/duct.hpp"
#include "sim/task/task_goal.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// Returns a point at rest and, on a duct, the points of its surface on two opposite sides.
std::array<glm::vec3, 2> sides_of(const std::vector<dvec3>& line, const dvec3& at) {
  constexpr double kStep = 1e-3, kOutside = 0.05;  // m
  if (line.empty()) return {glm::vec3(at), glm::vec3(at)};
  const double along = along_line(line, at);
  const dvec3 middle = point_on_line(line, along),
              direction = point_on_line(line, along + kStep) - point_on_line(line, along - kStep),
              aside = glm::cross(direction, std::abs(direction.x) < std::abs(direction.y) ? dvec3(1.0, 0.0, 0.0)
                                                                                          : dvec3(0.0, 1.0, 0.0));
  const dvec3 out = kOutside * glm::normalize(aside);
  return {glm::vec3(middle + out), glm::vec3(middle - out)};
}

// Does the box of a face meet that of a line?
bool may_meet(const MeshView& surface, const glm::uvec3& face, const glm::vec3& low, const glm::vec3& high) {
  const glm::vec3 &a = surface.positions[face.x], &b = surface.positions[face.y], &c = surface.positions[face.z];
  for (int axis = 0; axis < 3; ++axis)
    if (std::max({a[axis], b[axis], c[axis]}) < low[axis] || std::min({a[axis], b[axis], c[axis]}) > high[axis])
      return false;
  return true;
}

}  // namespace

ClearWindow::ClearWindow(const TaskStep& step, const TaskStage& stage, std::size_t first_mark,
                         std::vector<SurfaceMark>& marks)
    : first_mark_(first_mark) {
  for (const StepSide& side : step.sides) {
    const std::uint32_t organ = organ_of(stage, side.organ);
    std::vector<glm::vec3> points;
    for (int k = 0; k < kAlong; ++k)
      for (const glm::vec3& p : sides_of(
               stage.lines[organ], glm::mix(dvec3(side.start), dvec3(side.end), static_cast<double>(k) / (kAlong - 1))))
        points.push_back(p);
    const std::vector<SurfaceMark> found = nearest_marks(organ, stage.surfaces[organ], points);
    marks.insert(marks.end(), found.begin(), found.end());
    clear_.push_back(side.clear);
  }
  for (const StepGone& gone : step.gone)
    if (!gone.may_stay) gone_.push_back({organ_of(stage, gone.organ), gone.opened});
  lines_.resize((step.sides.size() - 1) * kAlong * kAcross);
}

dvec3 ClearWindow::point(const Observation& seen, std::size_t side, int along) const {
  const std::size_t mark = first_mark_ + 2 * (side * kAlong + static_cast<std::size_t>(along));
  return 0.5 * (dvec3(seen.marks[mark]) + dvec3(seen.marks[mark + 1]));
}

dvec3 ClearWindow::across(std::size_t side, int place, const dvec3& from, const dvec3& to) const {
  const double wide = glm::distance(from, to), first = std::min(clear_[side], 0.5 * wide),
               last = std::max(wide - clear_[side + 1], first);
  const double away = glm::mix(first, last, static_cast<double>(place) / (kAcross - 1));
  return from + away * (wide > 0.0 ? (to - from) / wide : dvec3(0.0));
}

dvec3 ClearWindow::place_of(const Observation& seen, std::size_t line) const {
  const std::size_t side = line / (kAlong * kAcross);
  const int along = static_cast<int>(line / kAcross % kAlong);
  return across(side, static_cast<int>(line % kAcross), point(seen, side, along), point(seen, side + 1, along));
}

void ClearWindow::place(const Observation& seen) {
  std::size_t next = 0;
  for (std::size_t side = 0; side + 1 < clear_.size(); ++side)
    for (int k = 0; k < kAlong; ++k) {
      const dvec3 from = point(seen, side, k), to = point(seen, side + 1, k);
      const int before = std::max(k - 1, 0), after = std::min(k + 1, kAlong - 1);
      const dvec3 along = point(seen, side, after) + point(seen, side + 1, after) - point(seen, side, before) -
                          point(seen, side + 1, before);
      dvec3 normal = glm::cross(along, to - from);
      const double length = glm::length(normal), wide = glm::distance(from, to);
      for (int j = 0; j < kAcross; ++j) {
        WindowLine& line = lines_[next++];
        line.across = wide > 0.0 ? (to - from) / wide : dvec3(0.0);
        line.at = across(side, j, from, to);
        line.normal = length > 0.0 ? normal / length : dvec3(0.0, 0.0, 1.0);
        if (glm::dot(line.normal, seen.scope.eye - line.at) < 0.0) line.normal = -line.normal;
      }
    }
}

void ClearWindow::look_through(const Observation& seen, std::size_t k) {
  WindowLine& line = lines_[k];
  const bool in_middle = k % kAcross == kAcross / 2;
  const dvec3 from = line.at + kReach * line.normal, to = line.at - kReach * line.normal;
  constexpr float kRounding = 1e-5f;  // m
  const glm::vec3 low = glm::vec3(glm::min(from, to)) - kRounding, high = glm::vec3(glm::max(from, to)) + kRounding;
  double nearest = INFINITY;
  for (const auto& [organ, opened] : gone_) {
    if (opened && !in_middle) continue;
    const MeshView& surface = seen.organs[organ].surface;
    for (const glm::uvec3& corners : surface.faces) {
      if (!may_meet(surface, corners, low, high)) continue;
      const Triangle face = triangle_of(surface.positions, corners);
      const std::optional<double> met = line_meets_triangle(from, -line.normal, 2.0 * kReach, face);
      if (met) nearest = std::min(nearest, *met);
    }
  }
  line.free = !std::isfinite(nearest);
  if (!line.free) line.front = from - nearest * line.normal;
}

void ClearWindow::look(const Observation& seen) {
  if (turn_ < 0) look_at_all(seen);
  turn_ = (turn_ + 1) % kTurns;
  place(seen);
  for (std::size_t k = 0; k < lines_.size(); ++k)
    if (static_cast<int>(k % kTurns) == turn_) look_through(seen, k);
}

void ClearWindow::look_at_all(const Observation& seen) {
  place(seen);
  for (std::size_t k = 0; k < lines_.size(); ++k) look_through(seen, k);
}

double ClearWindow::share() const {
  return double(std::ranges::count(lines_, true, &WindowLine::free)) / double(lines_.size());
}

double ClearWindow::share_beside(std::size_t side) const {
  double free = 0.0, all = 0.0;
  const auto count = [&](std::size_t window, int across) {
    for (int k = 0; k < kAlong; ++k, all += 1.0)
      free += lines_[(window * kAlong + static_cast<std::size_t>(k)) * kAcross + static_cast<std::size_t>(across)].free;
  };
  if (side > 0) count(side - 1, kAcross - 1);
  if (side + 1 < clear_.size()) count(side, 0);
  return free / all;
}

}  // namespace trocar

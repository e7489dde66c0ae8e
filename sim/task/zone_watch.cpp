#include "sim/task/zone_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

constexpr double kNearPlane = 1e-3;  // m   near plane, as in image_camera

double depth_before(const ScopePose& scope, const glm::dvec3& forward, const glm::dvec3& point) {
  return std::max(glm::dot(point - scope.eye, forward), kNearPlane);
}

}  // namespace

ZoneDepth depth_in_zone(const planar::Zone& zone, const ScopePose& scope, const ToolPose& tool) {
  const planar::ImageTool seen = planar::project_tool(image_camera(scope, 1.0), tool.pivot, tool.tip);
  if (!seen.visible) return {};
  const planar::ZoneDistance found = zone.distance(seen.shaft);
  // Along a straight line the inverse depth is linear in the picture.
  const double share = planar::nearest_parameter(seen.shaft, found.on_tool);
  const glm::dvec3 forward = axes_of(scope).forward;
  const double pivot = depth_before(scope, forward, tool.pivot), tip = depth_before(scope, forward, tool.tip);
  const double depth = 1.0 / glm::mix(1.0 / pivot, 1.0 / tip, share);
  const double half_height = depth * elementary::tan(glm::radians(0.5 * scope.field_of_view_deg));  // m
  const double inside = tool.radius / half_height - found.distance;
  return {inside, inside * half_height};
}

ZoneWatch::ZoneWatch(const TaskScene& task, const TaskStage& stage) : instruments_(stage.instruments) {
  for (const TaskZone& zone : task.zones) zones_.emplace_back(zone.outline, planar::ZoneKind::Forbidden);
  inside_.assign(zones_.size() * instruments_.size(), Lasting(kAway));
  violated_.assign(zones_.size(), 0);
}

void ZoneWatch::step(const Observation& seen, double dt, TaskLog& log) {
  deepest_now_ = 0.0;
  for (std::size_t z = 0; z < zones_.size(); ++z) {
    violated_[z] = 0;
    for (std::size_t tool = 0; tool < seen.tools.size(); ++tool) {
      const ZoneDepth depth = depth_in_zone(zones_[z], seen.scope, seen.tools[tool].pose);
      if (inside_[z * instruments_.size() + tool].see(depth.half_heights > 0.0, seen.time)) {
        ++entries_;
        log.error(seen.time, fmt::format("{} entered the forbidden zone", instruments_[tool]));
      }
      if (depth.half_heights <= 0.0) continue;
      violated_[z] = 1;
      deepest_now_ = std::max(deepest_now_, depth.metres);
    }
  }
  if (deepest_now_ > 0.0) time_inside_ += dt;
  deepest_ = std::max(deepest_, deepest_now_);
}

void ZoneWatch::add_metrics(PartList& parts) const {
  if (zones_.empty()) return;
  parts.add("task_zone_entries", "Entries into the task's zones", "", static_cast<double>(entries_), 0.0, 4.0);
  parts.add("task_zone_time", "Time in the task's zones", "s", time_inside_, 0.0, 3.0);
  parts.add("task_zone_depth", "Depth in the task's zones", "mm", deepest_ * 1e3, 0.0, 10.0);
}

void ZoneWatch::draw(DrawnMarks& marks) const {
  for (std::size_t z = 0; z < zones_.size(); ++z) marks.zones.push_back({zones_[z].outline(), violated_[z] != 0});
}

}  // namespace trocar

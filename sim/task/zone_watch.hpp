// Watches the forbidden zones of a task, which are drawn in the scope's picture: measures entries of instruments, time
// inside, depth. The shaft's radius is projected at the depth of its point nearest to the zone.
// Units: metres, seconds; in the picture half heights.   Tested in tests/sim/task_parts_test.cpp
#pragma once

#include <vector>

#include "geometry/planar/zone.hpp"
#include "sim/task/task_goal.hpp"
#include "sim/task/tip_contact.hpp"

namespace trocar {

// Penetration of a tool into a zone, in the picture; <= 0: outside. `metres`: the same length at the tool's depth.
struct ZoneDepth {
  double half_heights = -1.0, metres = 0.0;
};
ZoneDepth depth_in_zone(const planar::Zone& zone, const ScopePose& scope, const ToolPose& tool);

class ZoneWatch {
 public:
  // An instrument has left a zone when it has been outside for this long.
  static constexpr double kAway = kErrorLasts;  // s

  // Prepares the zones. Throws InputError for an outline that is not a simple polygon.
  ZoneWatch(const TaskScene& task, const TaskStage& stage);

  void step(const Observation& seen, double dt, TaskLog& log);
  bool violated() const { return deepest_now_ > 0.0; }
  double deepest_now() const { return deepest_now_; }  // m
  std::size_t entries() const { return entries_; }
  double deepest() const { return deepest_; }  // m

  // Appends the zone metrics if the task has zones.
  void add_metrics(PartList& parts) const;
  void draw(DrawnMarks& marks) const;

 private:
  std::vector<planar::Zone> zones_;
  std::vector<std::string> instruments_;
  std::vector<Lasting> inside_;  // [zone, instrument]
  std::vector<char> violated_;   // [zone] now
  std::size_t entries_ = 0;
  double time_inside_ = 0.0, deepest_ = 0.0, deepest_now_ = 0.0;
};

}  // namespace trocar

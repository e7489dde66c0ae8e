#include "sim/task/force_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "geometry/elementary.hpp"

namespace trocar {

void ForceWatch::step(const Observation& seen, double dt, TaskLog& log) {
  now_ = 0.0;
  for (std::size_t tool = 0; tool < seen.tools.size(); ++tool) {
    const double share = 1.0 - elementary::exp(-dt / kTimeConstant);
    felt_[tool] += share * (glm::dvec3(seen.tools[tool].force) - felt_[tool]);
    const double force = glm::length(felt_[tool]);
    now_ = std::max(now_, force);
    if (over_[tool].see(force > most_, seen.time))
      log.error(seen.time, fmt::format("{} exceeded {:g} N", instruments_[tool], most_));
  }
  peak_ = std::max(peak_, now_);
  if (over()) time_over_ += dt;
}

void ForceWatch::add_metrics(PartList& parts) const {
  parts.add("task_overload_time", "Time of filtered force above the limit", "s", time_over_, 0.0, 2.0);
  parts.add("task_peak_force", "Peak filtered force", "N", peak_, most_, 2.0 * most_);
}

}  // namespace trocar

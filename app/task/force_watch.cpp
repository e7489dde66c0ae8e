#include "app/task/force_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trocar {

void ForceWatch::step(const Observation& seen, double dt, TaskLog& log) {
  now_ = 0.0;
  for (std::size_t tool = 0; tool < seen.tools.size(); ++tool) {
    const double force = glm::length(glm::dvec3(seen.tools[tool].force));
    now_ = std::max(now_, force);
    if (over_[tool] != 0) {
      over_[tool] = force > kEnds * most_;
    } else if (force > most_) {
      over_[tool] = 1;
      log.error(seen.time, fmt::format("{} used {:.1f} N", instruments_[tool], force));
    }
  }
  peak_ = std::max(peak_, now_);
  if (over()) time_over_ += dt;
}

void ForceWatch::judge(std::vector<Metric>& parts) const {
  parts.push_back({"task_overload_time", "Time with too much force", "s", time_over_, 0.0, 2.0});
  parts.push_back({"task_peak_force", "Peak force", "N", peak_, most_, 2.0 * most_});
}

}  // namespace trocar

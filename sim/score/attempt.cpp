#include "sim/score/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trocar {

std::optional<double> mark_of(const Metric& metric) {
  if (!metric.good || !metric.poor || !std::isfinite(metric.value)) return {};
  if (*metric.good == *metric.poor) return metric.value == *metric.good ? 1.0 : 0.0;
  // Adding zero turns -0.0 into 0.0.
  return std::clamp((metric.value - *metric.poor) / (*metric.good - *metric.poor), 0.0, 1.0) + 0.0;
}

std::string cap_text(const TaskResult& task) {
  if (task.critical.empty()) return {};
  return fmt::format("Critical error: {}. It ended the task, and the score is at most {:.0f}.", task.critical,
                     kMostAfterCritical);
}

std::string slow_machine_text(const Attempt& attempt) {
  if (!(attempt.lost_share > kMuchLostTime)) return {};
  return fmt::format(
      "The machine was too slow for this scene: {:.1f} s of the simulation were lost, {:.0f} % of the time. Tissue and "
      "instruments moved slower than they should.",
      attempt.lost_time, std::max(100.0 * attempt.lost_share, 1.0));
}

}  // namespace trocar

#include "app/score/attempt.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {

std::optional<double> mark_of(const Metric& metric) {
  if (!metric.good || !metric.poor || !std::isfinite(metric.value)) return {};
  if (*metric.good == *metric.poor) return metric.value == *metric.good ? 1.0 : 0.0;
  // Plus zero: no mark of minus nothing.
  return std::clamp((metric.value - *metric.poor) / (*metric.good - *metric.poor), 0.0, 1.0) + 0.0;
}

}  // namespace trocar

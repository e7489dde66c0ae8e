// The value of a metric that is not defined for an attempt.
#pragma once

#include <limits>

namespace trocar {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

}  // namespace trocar

// Limits that a writer and a reader of the same thing must agree on.
#pragma once

#include <cstdint>

namespace trocar {

// A session, its recording and the trajectories that drive it last no longer: their metrics must fit into memory.
constexpr double kLongestSession = 86400.0;  // s   a day

// Nearer than the largest coordinate of a touch query (1000 m), so that no volume about a tool's tip exceeds that.
constexpr double kFarthestPlace = 999.0;  // m   along each axis

}  // namespace trocar

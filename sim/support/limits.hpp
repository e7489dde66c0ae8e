// Defines the limits that writers and readers must share.
#pragma once

#include <cstdint>

namespace trocar {

// Longest session, recording and trajectory: their metrics must fit into memory.
constexpr double kLongestSession = 86400.0;  // s   a day

// Less than the largest coordinate of a touch query (1000 m), so that no volume around a tool's tip exceeds that.
constexpr double kFarthestPosition = 999.0;  // m   along each axis

}  // namespace trocar

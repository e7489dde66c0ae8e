// Computes the duration and the number of events from flags of frames. A frame represents the time since the frame
// before it, as in a task.
// Units: seconds.   Tested in tests/sim/shares_test.cpp
#pragma once

#include <span>
#include <vector>

namespace trocar {

// Returns the duration of each frame, [frame] s; 0 where time does not increase.
std::vector<double> frame_shares(std::span<const double> times);

// Returns the total duration of the frames whose flag is not 0.
double time_of(std::span<const double> shares, std::span<const char> flags);
// Returns the number of events, including one that begins in the first frame. Events at most `away` s apart are merged.
std::size_t beginnings(std::span<const double> times, std::span<const char> flags, double away);

}  // namespace trocar

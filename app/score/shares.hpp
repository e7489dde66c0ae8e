// Time and count of what is so in some frames and not in others.
// A frame stands for the time since the frame before it, as in a task: what it shows happened in that time.
// Units: seconds.   Tested in tests/app/score_test.cpp
#pragma once

#include <span>
#include <vector>

namespace trocar {

// [frame] s. Time that does not go on counts nothing.
std::vector<double> frame_shares(std::span<const double> times);

// Of frames for which `flags` is not 0.
double time_of(std::span<const double> shares, std::span<const char> flags);
// How often it begins, in the first frame too. What has been away for no longer than `away`, s, goes on.
std::size_t beginnings(std::span<const double> times, std::span<const char> flags, double away);

}  // namespace trocar

#include "sim/score/shares.hpp"

#include <algorithm>
#include <limits>

namespace trocar {

std::vector<double> frame_shares(std::span<const double> times) {
  std::vector<double> shares(times.size(), 0.0);
  for (std::size_t k = 1; k < times.size(); ++k) shares[k] = std::max(times[k] - times[k - 1], 0.0);
  return shares;
}

double time_of(std::span<const double> shares, std::span<const char> flags) {
  double sum = 0.0;
  for (std::size_t k = 0; k < shares.size(); ++k)
    if (flags[k]) sum += shares[k];
  return sum;
}

std::size_t beginnings(std::span<const double> times, std::span<const char> flags, double away) {
  std::size_t count = 0;
  double last = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < flags.size(); ++k) {
    if (!flags[k]) continue;
    if (times[k] - last > away && (k == 0 || !flags[k - 1])) ++count;
    last = times[k];
  }
  return count;
}

}  // namespace trocar

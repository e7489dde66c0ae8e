#include "study/broad_phase/plane_cache.hpp"

#include <algorithm>

namespace trocar::broad {
namespace {

constexpr std::uint8_t kPlanes = 6;

bool separates(std::uint8_t plane, const Box& a, const Box& b) {
  return plane < 3 ? a.high[plane] < b.low[plane] : b.high[plane - 3] < a.low[plane - 3];
}

// Returns the first plane that separates, or kPlanes.
std::uint8_t search(const Box& a, const Box& b) {
  std::uint8_t plane = 0;
  while (plane < kPlanes && !separates(plane, a, b)) ++plane;
  return plane;
}

}  // namespace

std::span<const Pair> PlaneCache::pairs(std::span<const Box> boxes) {
  counters_ = {};
  pairs_.clear();
  const std::size_t count = boxes.size();
  plane_.resize(count < 2 ? 0 : count * (count - 1) / 2, 0);
  std::uint8_t* plane = plane_.data();
  for (std::uint32_t j = 0; j < count; ++j) {
    const bool nothing = empty(boxes[j]);
    for (std::uint32_t i = 0; i < j; ++i, ++plane) {
      if (separates(*plane, boxes[i], boxes[j])) {
        ++counters_.kept;
        continue;
      }
      if (nothing || empty(boxes[i])) continue;
      ++counters_.searched;
      const std::uint8_t found = search(boxes[i], boxes[j]);
      if (found < kPlanes) {
        *plane = found;
      } else {
        pairs_.push_back({ObjectId(i), ObjectId(j)});
      }
    }
  }
  std::sort(pairs_.begin(), pairs_.end());
  return pairs_;
}

}  // namespace trocar::broad

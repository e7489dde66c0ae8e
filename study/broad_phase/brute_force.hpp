// Tests every box against every other, in n (n - 1) / 2 tests. It is the baseline against which all other methods are
// checked.
#pragma once

#include <span>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"

namespace trocar::broad {

// Fills `pairs` with the overlapping pairs, ascending; an object's id is its index. Reuses the memory of `pairs`.
inline void brute_force_pairs(std::span<const Box> boxes, std::vector<Pair>& pairs) {
  pairs.clear();
  for (std::uint32_t i = 0; i < boxes.size(); ++i)
    for (std::uint32_t j = i + 1; j < boxes.size(); ++j)
      if (overlap(boxes[i], boxes[j])) pairs.push_back({ObjectId(i), ObjectId(j)});
}

}  // namespace trocar::broad

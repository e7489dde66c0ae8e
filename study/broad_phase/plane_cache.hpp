// Finds overlapping boxes by cached separating planes: every pair of boxes keeps the plane that separated it in the
// last frame. While that plane still separates the boxes, one comparison decides the pair. When it does not, the other
// planes are tried. Source: Chung, Wang, "Quick collision detection of polytopes in virtual environments", VRST 1996
// (Q-COLLIDE), on boxes. We differ: disjoint boxes are always separated along an axis, so six planes are a complete
// search. All
// n (n - 1) / 2 pairs are visited and a byte is stored for each: for hundreds of objects, not for tens of thousands.
// Units: metres.   Tested against brute force in tests/study/broad_phase_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"

namespace trocar::broad {

struct PlaneCounters {
  std::uint64_t kept = 0;      // pairs that the plane of the last frame still separates
  std::uint64_t searched = 0;  // pairs for which other planes were tried
};

class PlaneCache {
 public:
  // Returns the overlapping pairs, ascending; an object's id is its index. Planes are cached by id, so keep the order
  // of the boxes. Valid until the next call. Allocates only when a call has more boxes or pairs than all earlier ones.
  std::span<const Pair> pairs(std::span<const Box> boxes);

  const PlaneCounters& counters() const { return counters_; }
  std::size_t memory_bytes() const { return plane_.capacity() + pairs_.capacity() * sizeof(Pair); }

 private:
  std::vector<std::uint8_t> plane_;  // [j (j - 1) / 2 + i], i < j: axis, + 3 when j lies below i
  std::vector<Pair> pairs_;
  PlaneCounters counters_;
};

}  // namespace trocar::broad

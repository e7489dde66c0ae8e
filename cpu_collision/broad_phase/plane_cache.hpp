// Separating planes as broad phase: every pair of boxes keeps the plane that separated it in the last frame; while that
// plane still does, one comparison settles the pair. Only when it fails are the other planes tried.
// Source: Chung, Wang, "Quick collision detection of polytopes in virtual environments", VRST 1996 (Q-COLLIDE), on
// boxes. We differ: two boxes apart are always apart along an axis, so six planes are all that there is to search. All
// n (n - 1) / 2 pairs are visited and a byte is kept for each: for hundreds of objects, not for tens of thousands.
// Units: metres.   Tested against brute force in tests/cpu_collision/broad_phase_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"

namespace trocar::broad {

struct PlaneCounters {
  std::uint64_t kept = 0;      // pairs that the plane of the frame before still separates
  std::uint64_t searched = 0;  // pairs for which other planes were tried
};

class PlaneCache {
 public:
  // Overlapping pairs, ascending; an object's id is its place. Planes are kept by id, so the same boxes should keep
  // their places. Valid until the next call. Allocates only while it has not yet seen so many.
  std::span<const Pair> pairs(std::span<const Box> boxes);

  const PlaneCounters& counters() const { return counters_; }
  std::size_t memory_bytes() const { return plane_.capacity() + pairs_.capacity() * sizeof(Pair); }

 private:
  std::vector<std::uint8_t> plane_;  // [j (j - 1) / 2 + i], i < j: axis, + 3 when j lies below i
  std::vector<Pair> pairs_;
  PlaneCounters counters_;
};

}  // namespace trocar::broad

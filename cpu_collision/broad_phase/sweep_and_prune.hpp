// Sweep and prune: the ends of all boxes stay sorted along each axis from frame to frame; where a box's low end passes
// another's high end, their overlap on that axis changes, and nowhere else.
// Source: Baraff, "Dynamic simulation of non-penetrating rigid bodies", 1992; Cohen, Lin, Manocha, Ponamgi,
// "I-COLLIDE", I3D 1995. We differ: a status per pair and axis is kept for few objects only, since its memory grows as
// n^2; beyond, the boxes of this frame and of the last one say the same of any two objects. And a frame that would take
// more swaps than sorting afresh is sorted afresh: nothing moves coherently when objects are teleported. Deterministic:
// equal ends go low before high, then by id.   Boxes: closed, see box.hpp.   Units: metres. Tested against brute force
// in tests/cpu_collision/broad_phase_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"

namespace trocar::broad {

struct SweepParams {
  std::uint32_t status_limit = 64;  // objects up to which a status per pair and axis is kept, 0 .. 4096
};

// What the last update() did.
struct SweepCounters {
  std::uint64_t swaps = 0;         // of neighbours in the sorted lists
  std::uint64_t status_swaps = 0;  // of them, of a low end with a high end
  std::uint64_t box_tests = 0;     // of pairs, while sweeping afresh
  bool swept_afresh = false;       // sorting and sweeping replaced the insertion
};

class SweepAndPrune {
 public:
  explicit SweepAndPrune(const SweepParams& params = {}) : params_(params) {}

  // Takes part from the next update() on. Ids of removed objects are given again after it.
  ObjectId add(const Box& box);
  // From the next update() on it is in no pair. `object` must be one that was added and not removed.
  void remove(ObjectId object);
  // Where it is at the next update().
  void set(ObjectId object, const Box& box);
  // Brings the pairs up to date. Allocates only while it has not yet seen so many objects, pairs, changes.
  void update();

  std::span<const Pair> pairs() const { return pairs_; }  // overlapping at the last update(), ascending
  std::span<const Pair> begun() const { return begun_; }  // of them, those that did not overlap before, ascending
  std::span<const Pair> ended() const { return ended_; }  // those that no longer do, ascending; removed objects too
  bool overlapping(ObjectId a, ObjectId b) const;         // at the last update()
  const SweepCounters& counters() const { return counters_; }
  std::size_t size() const { return count_; }
  std::size_t memory_bytes() const;

 private:
  // A box as whole numbers that sort as its bounds do; empty: low above and high below everything.
  struct Bounds {
    std::array<std::uint32_t, 3> low, high;
  };
  struct Object {
    Bounds now, before;
    bool used = false;
  };
  // An end of a box in a list: the bound, then low before high, then the id.
  using End = std::uint64_t;
  struct Active {
    std::uint32_t low_u, high_u, low_v, high_v, id;
  };

  static Bounds bounds_of(const Box& box);
  static bool overlap(const Bounds& a, const Bounds& b);
  End end_now(End end, int axis) const;
  void drop_removed();
  bool insert_ends();
  bool insert_along(int axis);
  void low_passed_highs(std::uint32_t mover, std::span<const std::uint32_t> others, int axis);
  void high_passed_lows(std::uint32_t mover, std::span<const std::uint32_t> others, int axis);
  bool keeps_status() const { return objects_.size() <= params_.status_limit; }
  std::uint8_t& status(std::uint32_t a, std::uint32_t b);
  void sweep_afresh();
  std::uint64_t tests_along(int axis) const;
  void sweep_along(int axis);
  void fill_status();
  void settle_status();
  void apply_changes();

  SweepParams params_;
  std::vector<Object> objects_;             // [id]
  std::array<std::vector<End>, 3> ends_;    // [axis] ascending
  std::vector<std::uint8_t> status_;        // [pair] bit per axis that overlaps, and kListed
  std::vector<std::uint32_t> free_, gone_;  // ids: to give again, removed since the last update
  std::vector<Pair> pairs_, begun_, ended_, spare_;
  std::vector<Active> active_;
  std::vector<std::uint32_t> slot_;           // [id] in active_
  std::vector<std::uint32_t> passed_;         // room to work in
  std::uint64_t swap_budget_ = 0;             // swaps that sorting afresh is worth
  std::uint32_t pause_ = 0, pause_left_ = 0;  // frames without a try at insertion: the next time, now
  std::size_t count_ = 0;
  SweepCounters counters_;
};

}  // namespace trocar::broad

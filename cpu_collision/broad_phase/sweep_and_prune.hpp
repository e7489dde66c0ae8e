// Finds overlapping boxes by sweep and prune. The ends of all boxes stay sorted along each axis from frame to frame;
// the overlap of two boxes on an axis changes exactly where one box's low end passes the other's high end. Source:
// Baraff, "Dynamic simulation of non-penetrating rigid bodies", 1992; Cohen, Lin, Manocha, Ponamgi, "I-COLLIDE", I3D
// 1995. We differ: a status per pair and axis is kept for few objects only, since its memory grows as n^2; for more
// objects, the boxes of this frame and of the last one decide each changed pair. A frame that would need more swaps
// than a full sort is sorted in full, because teleported objects break the frame coherence. Deterministic: equal ends
// go low before high, then by id. Boxes: closed, see box.hpp.   Units: metres. Tested against brute force in
// tests/study/broad_phase_test.cpp
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

// Statistics of the last update().
struct SweepCounters {
  std::uint64_t swaps = 0;         // of neighbours in the sorted lists
  std::uint64_t status_swaps = 0;  // those swaps of a low end with a high end
  std::uint64_t box_tests = 0;     // pairs tested in a full sweep
  bool swept_afresh = false;       // a full sort and sweep replaced the insertion
};

class SweepAndPrune {
 public:
  explicit SweepAndPrune(const SweepParams& params = {}) : params_(params) {}  // no objects

  // Adds an object from the next update() on and returns its id. Ids of removed objects are reused after that update.
  ObjectId add(const Box& box);
  // Removes an object: it is in no pair from the next update() on. `object` must have been added and not removed.
  void remove(ObjectId object);
  // Sets the box of the object for the next update().
  void set(ObjectId object, const Box& box);
  // Updates the pairs. Allocates only when there are more objects, pairs or changes than in all earlier updates.
  void update();

  // Results of the last update(). The spans are valid until the next one.
  std::span<const Pair> pairs() const { return pairs_; }  // [pair] overlapping, ascending
  std::span<const Pair> begun() const { return begun_; }  // [pair] that did not overlap before, ascending
  std::span<const Pair> ended() const { return ended_; }  // [pair] that stopped overlapping or were removed, ascending
  bool overlapping(ObjectId a, ObjectId b) const;         // at the last update()
  const SweepCounters& counters() const { return counters_; }  // of the last update()
  std::size_t size() const { return count_; }                  // objects that were added and not removed
  std::size_t memory_bytes() const;                            // of its arrays

 private:
  // A box as integers that sort as its bounds do; empty: low above and high below everything.
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
  void list_final_status();
  void apply_changes();

  SweepParams params_;
  std::vector<Object> objects_;                // [id]
  std::array<std::vector<End>, 3> ends_;       // [axis] ascending
  std::vector<std::uint8_t> status_;           // [pair] bit per axis that overlaps, and kListed
  std::vector<std::uint32_t> free_, removed_;  // ids: to reuse, removed since the last update
  std::vector<Pair> pairs_, begun_, ended_, spare_;
  std::vector<Active> active_;
  std::vector<std::uint32_t> slot_;           // [id] in active_
  std::vector<std::uint32_t> passed_;         // scratch buffer
  std::uint64_t swap_budget_ = 0;             // swaps allowed before a full sort is cheaper
  std::uint32_t pause_ = 0, pause_left_ = 0;  // frames without insertion: after the next failure, remaining now
  std::size_t count_ = 0;
  SweepCounters counters_;
};

}  // namespace trocar::broad

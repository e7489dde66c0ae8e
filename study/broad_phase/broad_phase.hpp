// Broad phases to compare with sweep_and_prune.hpp (all pairs, cached planes, a uniform grid), and the order of the
// collisions within a step. Sources: see each. Arrays: boxes [object], pairs [pair]. Units: metres.   Results:
// docs/broad-phase.md. Tested in tests/study/broad_phase_test.cpp
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"

namespace trocar::broad {

// Tests every box against every other, in n (n - 1) / 2 tests: the baseline against which all other methods are
// checked. Fills `pairs` with the overlapping pairs, ascending; an object's id is its index. Reuses the memory of
// `pairs`.
inline void brute_force_pairs(std::span<const Box> boxes, std::vector<Pair>& pairs) {
  pairs.clear();
  for (std::uint32_t i = 0; i < boxes.size(); ++i)
    for (std::uint32_t j = i + 1; j < boxes.size(); ++j)
      if (overlap(boxes[i], boxes[j])) pairs.push_back({ObjectId(i), ObjectId(j)});
}

// Finds overlapping boxes by cached separating planes: every pair of boxes keeps the plane that separated it in the
// last frame. While that plane still separates the boxes, one comparison decides the pair. When it does not, the other
// planes are tried. Source: Chung, Wang, "Quick collision detection of polytopes in virtual environments", VRST 1996
// (Q-COLLIDE), on boxes. We differ: disjoint boxes are always separated along an axis, so six planes are a complete
// search. All n (n - 1) / 2 pairs are visited and a byte is stored for each: for hundreds of objects, not for tens of
// thousands.
struct PlaneCounters {
  std::uint64_t kept = 0;      // pairs that the plane of the last frame still separates
  std::uint64_t searched = 0;  // pairs for which other planes were tried
};

class PlaneCache {
 public:
  // Returns the overlapping pairs, ascending; an object's id is its index. Planes are cached by id, so keep the order
  // of the boxes. Valid until the next call. Allocates only when a call has more boxes or pairs than all earlier ones.
  std::span<const Pair> pairs(std::span<const Box> boxes);

  const PlaneCounters& counters() const { return counters_; }  // of the last pairs()
  std::size_t memory_bytes() const { return plane_.capacity() + pairs_.capacity() * sizeof(Pair); }  // of its arrays

 private:
  std::vector<std::uint8_t> plane_;  // [j (j - 1) / 2 + i], i < j: axis, + 3 when j lies below i
  std::vector<Pair> pairs_;
  PlaneCounters counters_;
};

// Finds overlapping boxes by a uniform grid of cells. Every box is entered in the cells it overlaps; boxes that share a
// cell become candidate pairs, each pair once. Along each axis space is unbounded, bounded (the outermost cells include
// everything beyond) or periodic (it wraps around). Only occupied cells take memory. Source: F. Legrand, uniform grid
// of cells for hard bodies (002 of the source documents). We differ: a box across the border of a periodic axis is in
// the cells of both sides and keeps its coordinates; cells are sorted, not sets; a pair is reported only by the cell
// where the later of the two begins; boxes that share a cell are tested for overlap before they become a pair. The
// source's defects are listed in docs/broad-phase.md.

enum class Border { Unbounded, Bounded, Periodic };

struct GridAxis {
  double cell = 0.01;                 // m   > 0
  Border border = Border::Unbounded;  //     bounded and periodic: from 0 to cells * cell
  std::int32_t cells = 0;             // 1   1 .. kMostGridCells if bounded or periodic; ignored if unbounded
  double length() const { return cell * cells; }  // m, between the borders
};

using GridAxes = std::array<GridAxis, 3>;

// Cells beyond this number on either side of 0 count as one.
constexpr std::int32_t kMostGridCells = 1 << 20;

// Returns whether the boxes overlap, in any of their images along periodic axes. Boxes are closed.
bool overlap(const Box& a, const Box& b, const GridAxes& axes);

// Finds the pairs by brute force in such a space, for tests of the grid.
void brute_force_pairs(std::span<const Box> boxes, const GridAxes& axes, std::vector<Pair>& pairs);

struct GridCounters {
  std::uint64_t entries = 0;    // (box, cell) entries
  std::uint64_t box_tests = 0;  // pairs tested
  std::uint64_t oversize = 0;   // boxes in too many cells, compared with all others
};

class UniformGrid {
 public:
  // Throws InputError when a cell side is not above 0 or not finite, or a number of cells is out of range.
  explicit UniformGrid(const GridAxes& axes);

  // Returns the overlapping pairs of these boxes, ascending; an object's id is its index. Valid until the next call.
  // Allocates only when a call needs more memory than all earlier ones.
  std::span<const Pair> pairs(std::span<const Box> boxes);

  const GridAxes& axes() const { return axes_; }              // as given
  const GridCounters& counters() const { return counters_; }  // of the last pairs()
  std::size_t memory_bytes() const;                           // of its arrays

 private:
  // Cells first .. first + count - 1 along each axis, wrapping around on a periodic axis.
  struct Cells {
    std::array<std::int32_t, 3> first, count;
  };
  // A box in a cell. The cell's three indices are packed into one number.
  struct Entry {
    std::uint64_t cell;
    std::uint32_t object;
  };

  Cells cells_of(const Box& box) const;
  void enter(std::uint32_t object);
  void sort_entries();
  void pair_up(std::size_t first, std::size_t last);
  bool tells(const Cells& a, const Cells& b, std::uint64_t cell) const;
  void pair_oversize(std::uint32_t object);

  GridAxes axes_;
  std::span<const Box> boxes_;
  std::vector<Cells> cells_;             // [object]
  std::vector<Entry> entries_, sorted_;  // as entered; by bucket
  std::vector<std::uint32_t> first_;     // [bucket + 1]
  std::vector<std::uint32_t> oversize_;
  std::vector<char> is_oversize_;  // [object]
  std::vector<Pair> pairs_;
  GridCounters counters_;
};

// Finds the collisions of a step in the order in which they happen, and keeps the first of each object. Each candidate
// pair gets a time of impact, the times are sorted, and a collision counts when neither of its two objects has had an
// earlier one. Source: F. Legrand, grid of cells (002 of the source documents). We differ: ties in time are ordered by
// pair, so the answer does not depend on the order of the candidates; "no impact" is an empty optional, where the
// source uses -1. Moving spheres are decided exactly, by the root of a quadratic. Units: metres; times in steps, 0 ..
// 1.

// A sphere that moves on a straight line within the step.
struct MovingSphere {
  glm::dvec3 centre{0.0}, motion{0.0};  // m, m per step
  double radius = 0.0;                  // m, >= 0
};

// Returns the first time in [0, 1] at which the spheres touch; 0 when they overlap at the start. Returns nothing when
// they do not touch or a number is not finite.
std::optional<double> sphere_impact(const MovingSphere& a, const MovingSphere& b);

// Does the same in a space with periodic axes: the earliest impact over the images up to one period away. Motions must
// be shorter than a period, and the spheres smaller than half of one.
std::optional<double> sphere_impact(const MovingSphere& a, const MovingSphere& b, const GridAxes& axes);

// Returns a box that contains the sphere during the whole step.
Box swept_box(const MovingSphere& sphere);

struct Collision {
  Pair pair;
  double time;  // step
};

class CollisionOrder {
 public:
  // Finds the collisions. `candidates`: pairs whose boxes over the whole step overlap, each once. `impact(a, b)`:
  // std::optional<double>, the time at which the two collide. `objects`: upper bound of the ids, exclusive. Returns the
  // first collision of each object, by time, then pair. Valid until the next call. Allocates only when a call is larger
  // than all earlier ones.
  template <typename Impact>
  std::span<const Collision> first_collisions(std::span<const Pair> candidates, std::size_t objects, Impact impact) {
    all_.clear();
    for (const Pair& pair : candidates)
      if (const std::optional<double> time = impact(pair.first, pair.second)) all_.push_back({pair, *time});
    keep_first(objects);
    return kept_;
  }

  std::span<const Collision> all() const { return all_; }  // [collision] of the last call, by time, then pair

 private:
  void keep_first(std::size_t objects);

  std::vector<Collision> all_, kept_;
  std::vector<char> had_;  // [object] 1 once it has had a collision
};

}  // namespace trocar::broad

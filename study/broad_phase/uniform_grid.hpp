// Finds overlapping boxes by a uniform grid of cells. Every box is entered in the cells it overlaps; boxes that share a
// cell become candidate pairs, each pair once. Along each axis space is unbounded, bounded (the outermost cells include
// everything beyond) or periodic (it wraps around). Only occupied cells take memory. Source: F. Legrand, uniform grid
// of cells for hard bodies (002 of the source documents). We differ: a box across the border of a periodic axis is in
// the cells of both sides and keeps its coordinates; cells are sorted, not sets; a pair is reported only by the cell
// where the later of the two begins; boxes that share a cell are tested for overlap before they become a pair. The
// source's defects are listed in docs/broad-phase.md. Units: metres.   Tested against brute force in
// tests/study/broad_phase_grid_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"

namespace trocar::broad {

enum class Border { Unbounded, Bounded, Periodic };

struct GridAxis {
  double cell = 0.01;                 // m   > 0
  Border border = Border::Unbounded;  //     bounded and periodic: from 0 to cells * cell
  std::int32_t cells = 0;             // 1   1 .. kMostGridCells if bounded or periodic; ignored if unbounded
  double length() const { return cell * cells; }
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

  const GridAxes& axes() const { return axes_; }
  const GridCounters& counters() const { return counters_; }
  std::size_t memory_bytes() const;

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

}  // namespace trocar::broad

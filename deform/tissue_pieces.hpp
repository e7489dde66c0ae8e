// Keeps the pieces of tissue apart while voxels burn. A piece is a set of tissue voxels that are connected through
// common sides. After a burn, one search starts from each side of the burnt voxels; the searches take turns, so that
// the work is in proportion to the smaller pieces and not to the organ. Same calls, same numbers. Source: Even and
// Shiloach, "An on-line edge-deletion problem", 1981 (searches in turn). Checked against a flood fill of all voxels
// (label_pieces) in tests/deform/sculpt_voxels_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "deform/cut/voxels.hpp"

namespace trocar {

struct TissuePieces {
  std::vector<std::int32_t> of;     // [voxel] piece of a tissue voxel; outside -1; of a burnt one: its last piece
  std::vector<std::int32_t> first;  // [piece] the piece of which it was a part at first
};

// Numbers the pieces of an organ that is not yet cut.
TissuePieces first_pieces(const Voxels& voxels);

// Pieces that a burn separated from others.
struct SeparatedPieces {
  std::vector<std::uint32_t> voxels;  // of all new pieces, piece by piece
  std::vector<std::size_t> ends;      // [new piece] end of its voxels

  std::span<const std::uint32_t> piece(std::size_t k) const {
    const std::size_t begin = k == 0 ? 0 : ends[k - 1];
    return std::span(voxels).subspan(begin, ends[k] - begin);
  }
};

// Gives new numbers to the pieces that the removal of `burnt` separated. Of the parts of a piece, one whose search has
// not ended, or else the largest, keeps the number.
SeparatedPieces separate_pieces(const Voxels& voxels, std::span<const std::uint32_t> burnt, TissuePieces& pieces);

}  // namespace trocar

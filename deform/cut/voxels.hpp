// Stores tissue at a finer resolution than the lattice: every cell is divided into per_cell^3 voxels. Each voxel is
// tissue, outside or burnt, and keeps its largest depth in the heat so far. The heat is a distance field, so the
// boundary of the burnt region is known to a fraction of a voxel. Units: metres, rest space.   Tested in
// tests/deform/sculpt_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/solid/lattice.hpp"
#include "deform/solid/tissue.hpp"

namespace trocar {

enum class Voxel : std::uint8_t { Outside, Tissue, Burnt };

constexpr std::uint32_t kNoVoxel = 0xffffffffu;

struct Voxels {
  int per_cell = 0;         // voxels along a cell's side
  double size = 0.0;        // m
  glm::dvec3 origin{0.0};   // m, corner of voxel (0, 0, 0)
  glm::ivec3 count{0};      // voxels along x, y, z
  std::vector<Voxel> kind;  // [voxel] by layer, row, column
  // [voxel] largest depth below the surface of the heat so far, in voxels, -1..1. Burnt: > 0, tissue: <= 0. The
  // boundary of the heat is where it is 0.
  std::vector<float> heat;

  std::uint32_t flat(const glm::ivec3& at) const {
    return (static_cast<std::uint32_t>(at.z) * count.y + at.y) * count.x + at.x;
  }
  glm::ivec3 at(std::uint32_t voxel) const {
    const int v = static_cast<int>(voxel);
    return {v % count.x, v / count.x % count.y, v / count.x / count.y};
  }
  bool holds(const glm::ivec3& at) const {
    return at.x >= 0 && at.y >= 0 && at.z >= 0 && at.x < count.x && at.y < count.y && at.z < count.z;
  }
  bool is(Voxel wanted, const glm::ivec3& at) const { return holds(at) && kind[flat(at)] == wanted; }
  glm::dvec3 centre(const glm::ivec3& at) const { return origin + size * (glm::dvec3(at) + 0.5); }
  glm::ivec3 containing(const glm::vec3& p) const { return glm::ivec3(glm::floor((glm::dvec3(p) - origin) / size)); }
  // Returns the index of the lattice cell around a voxel, -1 where the lattice has none.
  std::int32_t cell_of(const Lattice& lattice, const glm::ivec3& at) const {
    return lattice.cell_of[lattice.flat(at / per_cell)];
  }
};

// Returns the offset to neighbour `side` of a voxel, in the order -x, +x, -y, +y, -z, +z.
inline glm::ivec3 side_offset(int side) {
  glm::ivec3 offset(0);
  offset[side / 2] = side % 2 ? 1 : -1;
  return offset;
}

// Returns the mean of value(at, cell) over the voxels around `p` inside the lattice, weighted trilinearly; `none` when
// there are none.
template <class Value>
float mean_around(const Voxels& voxels, const Lattice& lattice, const glm::vec3& p, float none, Value value) {
  const glm::dvec3 grid = (glm::dvec3(p) - voxels.origin) / voxels.size - 0.5;
  const glm::ivec3 base(glm::floor(grid));
  const glm::dvec3 t = grid - glm::dvec3(base);
  double sum = 0.0, weights = 0.0;
  for (int corner = 0; corner < 8; ++corner) {
    const glm::ivec3 at = base + corner_offset(corner);
    const std::int32_t cell = voxels.holds(at) ? voxels.cell_of(lattice, at) : -1;
    if (cell < 0) continue;
    const glm::dvec3 w = glm::mix(1.0 - t, t, glm::dvec3(corner_offset(corner)));
    sum += w.x * w.y * w.z * static_cast<double>(value(at, cell));
    weights += w.x * w.y * w.z;
  }
  return weights > 0.0 ? static_cast<float>(sum / weights) : none;
}

// Makes the voxels. Voxels at least half inside `organ` are tissue. Unconnected pieces of fewer than `smallest_piece`
// voxels, as at thin edges, count as outside.
Voxels make_voxels(const MeshView& organ, const Lattice& lattice, int per_cell, int smallest_piece);

// Returns the nearest tissue voxel to `p`, the one with the lowest index in a tie; kNoVoxel when there is none within
// `reach` voxels.
std::uint32_t nearest_tissue(const Voxels& voxels, const glm::vec3& p, int reach);

// Returns whether the centre of a burnt voxel is within `reach` voxels of `p`.
bool burnt_near(const Voxels& voxels, const glm::vec3& p, double reach);

// Returns the heat at `p`: trilinear between the centres of the voxels around it that lie in cells of the lattice.
float heat_at(const Voxels& voxels, const Lattice& lattice, const glm::vec3& p);

// Numbers the pieces of tissue that are connected through common sides, in `piece_of` [voxel]; -1 where there is no
// tissue. Returns their number.
std::int32_t label_pieces(const Voxels& voxels, std::vector<std::int32_t>& piece_of);

// Returns a tissue voxel on every side of the burnt voxels: one for each part of the tissue next to them that is
// connected nearby. With fewer than two, their removal has not divided the tissue.
std::vector<std::uint32_t> sides_of_burn(const Voxels& voxels, std::span<const std::uint32_t> burnt);

// Keeps the pieces of tissue apart while voxels burn. A piece is a set of tissue voxels that are connected through
// common sides. After a burn, one search starts from each side of the burnt voxels; the searches take turns, so that
// the work is in proportion to the smaller pieces and not to the organ. Same calls, same numbers. Source: Even and
// Shiloach, "An on-line edge-deletion problem", 1981 (searches in turn). Checked against a flood fill of all voxels
// (label_pieces).

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

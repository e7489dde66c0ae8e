// Declares the steps of sculpt.cpp, which have one file each: heat.cpp, skin.cpp, skin_shreds.cpp, cavity_wall.cpp,
// loose_parts.cpp. They mark faces of the sculpture as removed and add new ones; settle() then numbers them. Units:
// metres, rest space.
#pragma once

#include "deform/cut/sculpt.hpp"

namespace trocar {

// Clears the result of the previous call.
void begin_change(Sculpture& sculpture);
// Updates the boundary of skin and wall from the faces that were added and removed since the last settle().
void note_edges(Sculpture& sculpture);

HeatAxis heat_axis(const HotSegment& hot, float margin);
// Prepares the segments for reach_cell(). Points farther from a segment than its radius and `margin` do not matter.
// Returns false when no segment is sound.
bool find_heat(Sculpture& sculpture, std::span<const glm::vec3> nodes, std::span<const HotSegment> hot, float margin);
// Returns whether segments are near the cell, and which.
bool reach_cell(Sculpture& sculpture, const LatticeCell& cell, std::span<const glm::vec3> nodes, CellHeat& out);

// Returns the present position of a voxel in a cell that a slit divides.
glm::vec3 place_of(const Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
                   std::uint32_t voxel);

// Calls action(voxel, present position of its centre, segments near its cell) for the voxels of all cells near the
// segments of find_heat().
template <typename Action>
void for_each_voxel_near_heat(Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
                              Action action) {
  const int n = sculpture.voxels.per_cell;
  const auto share = [n](int i) { return (static_cast<float>(i) + 0.5f) / static_cast<float>(n); };
  CellHeat& here = sculpture.scratch.cell;
  for (const LatticeCell& cell : lattice.cells) {
    if (!reach_cell(sculpture, cell, nodes, here)) continue;
    const auto& x = here.x;
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) {
        const float w = share(k), v = share(j);
        const glm::vec3 a = glm::mix(glm::mix(x[0], x[2], v), glm::mix(x[4], x[6], v), w);
        const glm::vec3 b = glm::mix(glm::mix(x[1], x[3], v), glm::mix(x[5], x[7], v), w);
        for (int i = 0; i < n; ++i) {
          const std::uint32_t voxel = sculpture.voxels.flat(cell.at * n + glm::ivec3(i, j, k));
          action(voxel, cell.divided ? place_of(sculpture, lattice, nodes, voxel) : glm::mix(a, b, share(i)),
                 here.near);
        }
      }
  }
}

// Raises the heat of the voxels near the segments, and burns the tissue voxels in the heat. `touching`: if
// none is in the heat, the nearest one to it burns.
void heat_tissue(Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
                 std::span<const HotSegment> hot, bool touching);

// Burns one tissue voxel, independent of its heat, and records it and its cell in scratch.
void burn_voxel(Sculpture& sculpture, const Lattice& lattice, std::uint32_t voxel);
// Burns all tissue of a cell; also removes a cell that never had tissue voxels.
void burn_cell(Sculpture& sculpture, const Lattice& lattice, std::uint32_t cell);

// Appends a vertex that is embedded in vertex.cell.
std::uint32_t add_vertex(Sculpture& sculpture, TissueModel& model, const glm::vec3& rest, const SculptVertex& vertex);

// Returns the attachment of a point of the skin: the nearest tissue voxel, and the lattice cell around the point, or
// the voxel's cell if that one has no tissue. `fallback`: when there is no tissue nearby.
SculptVertex attach_to_skin(const Sculpture& sculpture, const Lattice& lattice, const glm::vec3& p,
                            const SculptVertex& fallback);
// Bisects skin faces near the voxels of scratch.moved until no side is much longer than a voxel: a face larger than
// the crater could not be cut along it. Longest sides first, the same for both faces of a side: Rivara, "Algorithms for
// refining triangular grids", Int. J. Numer. Meth. Eng. 20, 1984.
void refine_skin(Sculpture& sculpture, TissueModel& model);
// Bisects these skin faces once in the same way. [slot]
void bisect_skin(Sculpture& sculpture, TissueModel& model, const std::vector<char>& wanted);
// Cuts away skin that is hot or without tissue, along the boundary of the heat, and removes the shreds. The remaining
// skin is embedded in cells with tissue.
void cut_skin(Sculpture& sculpture, TissueModel& model);

// Removes pieces of skin that are too small and contain a vertex of `cut`: the corners of the faces that were cut, and
// the new vertices. `everywhere`: the same by a search over all skin, slower.
void drop_shreds(Sculpture& sculpture, std::span<const std::uint32_t> cut);
void drop_shreds_everywhere(Sculpture& sculpture, std::span<const std::uint32_t> cut);

// Returns whether the voxel touches the wall, at least with a corner.
bool touches_wall(const Sculpture& sculpture, std::uint32_t voxel);
// Rebuilds the wall around the voxels of scratch.moved: one square between each burnt voxel and tissue, its corners on
// the boundary of the heat. Gibson, "Constrained elastic surface nets", MICCAI 1998; we differ: instead of relaxation,
// a corner is the mean of the points with heat 0 between the eight voxels around it, since heat is a distance field.
void update_wall(Sculpture& sculpture, TissueModel& model);

// Call after the tissue has separated: burns pieces that are too small, and separates pieces that the lattice still
// connects: a cell or node shared by two pieces is given to the one with more tissue there.
void part_pieces(Sculpture& sculpture, const Lattice& lattice);
// Returns the cell whose nodes move a voxel: its own, or a whole one on the voxel's side of a slit.
std::uint32_t carrier_of(const Sculpture& sculpture, const Lattice& lattice, std::uint32_t voxel);
// Returns `cell`, or the nearest whole cell with tissue that springs connect with it, when `cell` is divided or has no
// tissue. `rest`: of the point to be carried.
std::uint32_t whole_cell_near(const Sculpture& sculpture, const Lattice& lattice, std::uint32_t cell,
                              const glm::vec3& rest);
// Returns whether `cell` can carry a point beside one that `neighbour` carries: not a divided cell, not across a slit.
bool may_carry(const Sculpture& sculpture, const Lattice& lattice, std::uint32_t neighbour, std::uint32_t cell);
// Returns the present position of a point at `rest` that `cell` carries, m.
glm::vec3 place_in(const Lattice& lattice, std::span<const glm::vec3> nodes, std::uint32_t cell, const glm::vec3& rest);

// Returns which nodes are fixed, tethered or held by a fibre. [node]
std::vector<char> held_nodes(const TissueModel& model);
// Returns whether no slit cuts the spring between two nodes of a cell.
bool is_connected(const Sculpture& sculpture, std::uint32_t a, std::uint32_t b);
// Returns whether the springs of a cell that no slit cuts connect all of its corners.
bool is_whole(const Sculpture& sculpture, const Lattice& lattice, std::uint32_t cell);
// Returns the parts of the lattice that cells with tissue connect, except through slits. [node] a node of its part.
std::vector<std::uint32_t> node_parts(const Sculpture& sculpture, const Lattice& lattice);
// Applies gravity to parts of the lattice that nothing holds.
void release_loose(Sculpture& sculpture, TissueModel& model);
// Applies gravity to the parts that are not held. `part`: of node_parts(); `held`: [node] at the node that names a
// part.
void let_fall(Sculpture& sculpture, TissueModel& model, std::span<const std::uint32_t> part,
              std::span<const char> held);
// Returns the part with the most tissue, without loose cells.
std::uint32_t largest_part(const Sculpture& sculpture, const Lattice& lattice, std::span<const std::uint32_t> part);

}  // namespace trocar

// Declares the steps of a change of the tissue, for those who burn (sculpt.cpp, skin.cpp), cut (slit.cpp) or let parts
// fall (join/bonds.cpp). They mark faces of the sculpture as removed and add new ones; renumber_faces() then numbers
// them. Units: metres, rest space.
#pragma once

#include <cstdint>
#include <vector>

#include "deform/cut/sculpt.hpp"

namespace trocar {

// Clears the result of the previous call.
void begin_change(Sculpture& sculpture);
// Updates the boundary of skin and wall from the faces that were added and removed since the last renumber_faces().
void note_edges(Sculpture& sculpture);

// Returns the present position of a voxel in a cell that a slit divides.
glm::vec3 place_of(const Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
                   std::uint32_t voxel);

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

// Orders pairs of numbers by the first, then by the second.
inline bool pair_before(const glm::uvec2& a, const glm::uvec2& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; }

}  // namespace trocar

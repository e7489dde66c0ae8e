// The steps of sculpt.cpp, each a file of its own: skin.cpp, cavity_wall.cpp, loose_parts.cpp. They mark faces of the
// sculpture gone and add new ones; settle() then numbers them.
// Units: metres, rest space.
#pragma once

#include "deform/sculpt.hpp"

namespace trocar {

// Burns one voxel of tissue, whatever heat it has seen, and notes it and its cell in scratch.
void burn_voxel(Sculpture& sculpture, const Lattice& lattice, std::uint32_t voxel);
// Burns what tissue a cell has; one that never had any goes all the same.
void burn_cell(Sculpture& sculpture, const Lattice& lattice, std::uint32_t cell);

// Appends a vertex carried by vertex.cell.
std::uint32_t add_vertex(Sculpture& sculpture, TissueModel& model, const glm::vec3& rest, const SculptVertex& vertex);

// Where a point of the skin belongs: the nearest tissue, and the lattice cell around it, or the tissue's where that has
// none left. `fallback`: when there is no tissue near.
SculptVertex place_on_skin(const Sculpture& sculpture, const Lattice& lattice, const glm::vec3& p,
                           const SculptVertex& fallback);
// Bisects faces of the skin near the voxels of scratch.moved until none is much longer than a voxel: a face larger than
// the crater could not be cut along it. Longest sides first, neighbours alike: Rivara, "Algorithms for refining
// triangular grids", Int. J. Numer. Meth. Eng. 20, 1984.
void refine_skin(Sculpture& sculpture, TissueModel& model);
// Cuts away the skin that is hot, or whose tissue is gone, along the border of the heat, and shreds that are left of
// it. What stays is carried by cells with tissue.
void cut_skin(Sculpture& sculpture, TissueModel& model);

// Is the voxel next to the wall, if only with a corner?
bool touches_wall(const Sculpture& sculpture, std::uint32_t voxel);
// Remakes the wall around the voxels of scratch.moved: a square between each burnt voxel and tissue, its corners on the
// border of the heat. Gibson, "Constrained elastic surface nets", MICCAI 1998; we differ: instead of relaxing, a corner
// is the mean of where the heat is 0 between the eight voxels around it, as heat is a distance field.
void update_wall(Sculpture& sculpture, TissueModel& model);

// When the tissue has come apart: burns pieces too small to be worth keeping, and what the lattice would still join of
// pieces that are apart: a cell or node that two pieces share goes to the one with more tissue there.
void part_pieces(Sculpture& sculpture, const Lattice& lattice);
// Gives gravity to parts of the lattice that nothing holds.
void release_loose(Sculpture& sculpture, TissueModel& model);

}  // namespace trocar

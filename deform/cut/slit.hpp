// Cuts tissue with the blades of scissors: a slit along the plane region that the closing blades sweep. The surface is
// split exactly along this region, its two sides get walls that meet at the slit's inner border, and the lattice is
// divided between its nodes: springs across the slit and the volumes of divided cells are disabled. No tissue is
// removed: mass, voxels and nodes stay. A vertex of the surface follows a whole cell on its own side of the slit, so
// near a slit its cell need not contain it. A part that the lattice does not resolve (it has no whole cell of its own)
// stays with the other side. Source of the idea to keep whole elements: Molino, Bao, Fedkiw, "A virtual node algorithm
// for changing mesh topology during simulation", SIGGRAPH 2004; we differ: no node is duplicated.
// The surface stays closed: the rims of the split are directed loops, and each loop is filled on both sides.
// Units: metres, world.   Tested in tests/deform/sculpt_test.cpp
#pragma once

#include <array>
#include <glm/glm.hpp>

#include "deform/cut/sculpt.hpp"

namespace trocar {

// A convex region of a plane.
struct BladeCut {
  glm::vec3 origin{0.f};                                  // m, world
  glm::vec3 along{1.f, 0.f, 0.f}, across{0.f, 1.f, 0.f};  // unit, at right angles: the axes of the plane
  std::array<glm::vec2, 10> outline{};                    // m, along the axes; convex, counter-clockwise
  int corners = 0;                                        // 3..10 of the outline
};

// Cuts the organ, which is in `state`, along the region. Where the region does not cross the organ's surface, nothing
// is cut, nor among the walls of many earlier cuts. A region that is not finite, not convex or without area cuts
// nothing. The result is part of `sculpture` and valid until its next change.
const SculptChange& snip(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const BladeCut& cut);

}  // namespace trocar

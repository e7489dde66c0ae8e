// Declares the steps of slit.cpp, which have one file each: slit_skin.cpp, slit_wall.cpp, slit_lattice.cpp,
// slit_carriers.cpp.   Units: metres.
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/cut/slit.hpp"

namespace trocar {

// The plane of a cut, seen from its normal: coordinates along `along` and `across`.
struct CutPlane {
  glm::dvec3 origin, along, across, normal;  // m, world; unit
  std::array<glm::dvec2, 10> outline;        // m, counter-clockwise
  int corners = 0;
  glm::dvec2 centre;  // m, of the outline's corners

  double height(const glm::dvec3& p) const { return glm::dot(p - origin, normal); }
  glm::dvec2 flat(const glm::dvec3& p) const { return {glm::dot(p - origin, along), glm::dot(p - origin, across)}; }
  glm::dvec3 point(const glm::dvec2& q) const { return origin + q.x * along + q.y * across; }
  // Returns the distance of `q` from side `k` of the outline, m, positive inside.
  double inside_of(int k, const glm::dvec2& q) const {
    const glm::dvec2 a = outline[k], side = outline[(k + 1) % corners] - a;
    return (side.x * (q.y - a.y) - side.y * (q.x - a.x)) / glm::length(side);
  }
  // Returns the least of these distances.
  double depth(const glm::dvec2& q) const {
    double least = INFINITY;
    for (int k = 0; k < corners; ++k) least = std::min(least, inside_of(k, q));
    return least;
  }
};

// A piece of the intersection of the surface with the plane; tissue is on its left. cut: the surface is split here.
struct SectionLine {
  glm::dvec2 from, to;  // m
  bool cut;
};

// A cut in progress.
struct Slit {
  CutPlane plane;
  double reach = 0.0;                // m, nothing is severed beyond this distance from the outline
  std::vector<glm::vec3> positions;  // [vertex] m, world, before the cut
  // [vertex] +1: on the normal's side, -1: on the other; 0: of both
  std::vector<std::int8_t> side;
  std::vector<SectionLine> section;              // where tissue above meets tissue below
  std::vector<std::array<glm::dvec2, 3>> apart;  // m, walls of older slits that lie on the plane
  std::vector<std::uint32_t> twin;               // [vertex] of side +1 on a lip: its twin of side -1; kNoVoxel: none
  std::vector<glm::uvec2> lips;                  // directed edges of the wall of side +1

  std::uint32_t other(std::uint32_t v) const { return v < twin.size() && twin[v] != kNoVoxel ? twin[v] : v; }
};

// Returns whether `q` lies inside the organ: the winding number of the section.
bool in_tissue(const Slit& slit, const glm::dvec2& q);
// Returns whether the blades separate the two sides at `q`. Outside the organ, the nearest line of the section decides:
// lattice nodes may lie outside.
bool severs(const Slit& slit, const glm::dvec2& q);
// Returns whether the straight connection between two points, on these sides, passes through the slit.
bool severs(const Slit& slit, const glm::vec3& a, int side_a, const glm::vec3& b, int side_b);

// Splits the faces along the plane, within the outline. Returns false when no face is split.
bool split_skin(Sculpture& sculpture, TissueModel& model, Slit& slit);
// Adds the walls of both sides.
void add_slit_walls(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, Slit& slit);
// Disables springs across the slit and the volumes of divided cells.
void divide_lattice(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const Slit& slit);
// Gives every vertex near the slit a whole cell on its side.
void carry_sides(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const Slit& slit);

}  // namespace trocar

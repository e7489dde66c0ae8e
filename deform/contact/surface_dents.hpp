// The dents of tools (deform/solid/dent.hpp) in an organ's surface as it is queried, drawn and recorded. The lattice
// meets a tool that is shifted by its dent; the surface around the tool moves by as much the other way, to where the
// tool is. A face moves as its corners do, so all corners of the faces that the tool presses or holds move by the whole
// shift, and the surface beyond them less and less.
//   Units: metres, seconds.   Tested in tests/deform/surface_dents_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/solid/tissue.hpp"

namespace trocar {

// The dent of a part of a tool, or of what its jaws hold, in a surface. Eleven floats, as a recording holds them.
struct SurfaceDent {
  glm::vec3 from{0.f}, to{0.f};  // m  the line along which the tool presses or holds
  glm::vec3 shift{0.f};          // m  of the surface; 0: no dent
  float full = 0.f;              // m  up to this distance from the line the surface moves by the whole shift
  float fade = 0.f;              // m  and beyond `full + fade` not at all
  bool operator==(const SurfaceDent&) const = default;
};
static_assert(sizeof(SurfaceDent) == 11 * sizeof(float));

// What a tool presses or holds. Keep one object between frames.
struct DentedPlace {
  std::vector<glm::vec3> points;   // m  of its axis, polytope or jaws
  std::vector<glm::vec3> corners;  // m  of the faces, without dents

  void clear();
  void add_face(const glm::uvec3& face, std::span<const glm::vec3> positions);
};

// Takes over, after a step of dt seconds, a dent in tissue with this node spacing (m). Without points the place stays.
void follow_dent(const Dent& dent, const DentedPlace& place, float spacing, float dt, SurfaceDent& shown);

// Moves the vertices of a surface by the dents, the first 16 with a shift, and extends `box` to them. Where the regions
// of dents overlap, the nearer one counts more.
void add_dents(std::span<const SurfaceDent> dents, std::span<glm::vec3> positions, PositionBox& box);

}  // namespace trocar

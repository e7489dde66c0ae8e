// Shapes of rigid bodies: a box, a ring with a triangular outline as in peg transfer, and a board with pegs. Each gives
// a closed surface, and convex pieces whose rounding lies inside its size (deform/rigid/piece.hpp).
// The ring: three long sides of an equilateral triangle and three short ones across its corners, so that its wall is
// equally thick everywhere. Pegs have round ends.
// Units: metres, degrees.   Tested in tests/mesh/rigid_shape_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/triangle_mesh.hpp"

namespace trocar {

enum class RigidForm { Box, Ring, Board };
inline constexpr std::array kRigidForms{RigidForm::Box, RigidForm::Ring, RigidForm::Board};
std::string_view name_of(RigidForm form);  // "box", "ring", "board"

struct RigidShape {
  RigidForm form = RigidForm::Box;
  glm::dvec3 at{0.0};                 // m        of the middle; of a board, the middle of its upper side
  glm::dvec3 turn_deg{0.0};           // degrees  about x, then y, then z
  glm::dvec3 size{0.02, 0.02, 0.02};  // m        of a box or board, > 2 round
  double side = 0.020;                // m        of the triangle that the outer sides of a ring span
  double wall = 0.004;                // m        of a ring, > 2 round
  double height = 0.008;              // m        of a ring, > 2 round
  double round = 0.001;               // m        radius of the edges, >= 1e-4
  std::vector<glm::dvec3> pegs;       // m        of a board: feet, from the middle of its upper side; z is 0
  double peg_radius = 0.0015;         // m
  double peg_height = 0.020;          // m        > 2 peg_radius
  double density = 1100.0;            // kg/m^3
  double friction = 0.5;              // 1
  double restitution = 0.0;           // 1
  bool fixed = false;                 //          it never moves; a board is fixed always
};

// Returns one sentence about why there is no such body, or nothing.
std::string rigid_fault(const RigidShape& shape);

// The points within `radius` of the hull of some corners.
struct RigidPiece {
  std::vector<glm::dvec3> corners;  // m
  double radius;                    // m
};

// These are in the shape's own frame, about its middle, without `at` and `turn_deg`. Valid for a shape without fault.
TriangleMesh own_surface(const RigidShape& shape);
std::vector<RigidPiece> own_pieces(const RigidShape& shape);
// Returns its rotation.
glm::dmat3 turn_of(const RigidShape& shape);
// Returns the feet of its pegs in the scene, m.
std::vector<glm::dvec3> peg_feet(const RigidShape& shape);
// Returns its surface in the scene.
TriangleMesh rigid_surface(const RigidShape& shape);

}  // namespace trocar

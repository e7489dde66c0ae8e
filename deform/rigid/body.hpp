// A rigid body: convex pieces that other bodies and instruments touch, its mass and its moments of inertia.
// Mass and inertia come from a closed surface of constant density, by the divergence theorem over tetrahedra to the
// origin: D. Eberly, "Polyhedral mass properties (revisited)", 2002.
// Units: metres, kilograms.   Tested against closed forms in tests/deform/rigid_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/rigid/piece.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar {

struct RigidParams {
  double density = 1100.0;   // kg/m^3  of rubber, > 0
  double friction = 0.5;     // 1       Coulomb; two surfaces rub with the geometric mean of theirs; 0 .. 10
  double restitution = 0.0;  // 1       share of the speed of impact that returns; of two, the larger counts; 0 .. 1
  bool fixed = false;        // the body never moves
};

struct MassProperties {
  double mass = 0.0;        // kg
  glm::dvec3 centre{0.0};   // m
  glm::dmat3 inertia{0.0};  // kg m^2, about the centre
};

// Returns these of a solid with a closed surface. Throws InputError when it encloses no volume.
MassProperties mass_of(const MeshView& surface, double density);
MassProperties mass_of_ball(double radius, double density);
MassProperties mass_of_box(const glm::dvec3& size, double density);  // size: m, full edges

struct RigidBody {
  RigidParams params;
  std::vector<ConvexPiece> pieces;  // about the centre of mass
  glm::dvec3 centre{0.0};           // m, of mass in the frame in which the pieces were given
  double mass = 0.0;                // kg
  glm::dmat3 inertia{1.0};          // kg m^2, about the centre
  glm::dmat3 inverse_inertia{0.0};  // 1/(kg m^2); 0: fixed
  double inverse_mass = 0.0;        // 1/kg; 0: fixed
  double reach = 0.0;               // m, of the farthest point from the centre
};

// Makes a body. Throws InputError for no piece, for a parameter outside its limits, and, where it moves, for a mass or
// a moment of inertia that is not finite and above 0.
RigidBody make_body(const RigidParams& params, std::span<const ConvexPiece> pieces, const MassProperties& mass);

// Pieces of common shapes, about the origin. `round`: radius of edges and corners, which lies inside the size, m.
ConvexPiece ball_piece(double radius, const glm::dvec3& at = glm::dvec3(0.0));
ConvexPiece capsule_piece(const glm::dvec3& from, const glm::dvec3& to, double radius);
ConvexPiece box_piece(const glm::dvec3& size, double round, const glm::dvec3& at = glm::dvec3(0.0));

}  // namespace trocar

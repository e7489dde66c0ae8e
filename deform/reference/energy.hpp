// Declares the energies of organs with gradient and curvature, in double: the terms of the implicit reference solver,
// and the energy of organs that connective tissue joins. The real-time step does not use them. docs/tissue.md has the
// formulas. Units: metres, kilograms, seconds, newtons, joules. Checked by finite differences in
// tests/deform/elasticity_test.cpp; the gradient is compared with the forces of the step in
// tests/deform/bonds_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/join/bonds.hpp"
#include "deform/reference/implicit_reference.hpp"

namespace trocar {

// The derivatives that a function computes. None: energy and gradient only. Exact: also second derivatives. Convex:
// also second derivatives, each element's without its negative part, so that Newton's method always finds a descent
// direction.
enum class Curvature { None, Exact, Convex };

struct CurvatureBlock {
  std::uint32_t row, column;  // nodes, row >= column
  glm::dmat3 value;           // N/m
};

// The expansion of an energy at one state.
struct Expansion {
  double energy = 0.0;                    // J
  std::vector<glm::dvec3> slope;          // [node] N, gradient of the energy: minus the force
  std::vector<CurvatureBlock> curvature;  // blocks on and below the diagonal; the same row and column may repeat
};

// A surface or tissue point: sum of weight * node.
struct ImplicitPoint {
  std::vector<std::uint32_t> node;
  std::vector<double> weight;  // 1
};
ImplicitPoint contact_point(const TissueModel& model, const TissueContact& contact);
ImplicitPoint held_point(const Embedding& point);
glm::dvec3 position_of(const ImplicitPoint& point, std::span<const glm::dvec3> x);

// The contact of a tool with a point: the force is depth times contact_stiffness, along the normal from tissue to tool.
struct ImplicitContact {
  glm::dvec3 normal{0.0};  // 1
  double depth = 0.0;      // m, negative: apart
  double bend = 0.0;      // 1/m, rotation of the normal per distance as the point moves across it, except along `along`
  glm::dvec3 along{0.0};  // 1, direction of the shaft when the point lies beside it; zero at either end
};
ImplicitContact touch_between(const glm::dvec3& point, const ToolStep& tool, const glm::dvec3& kept_side);

// Each function adds its part to `out`; `out.slope` must have the size of `x`.
void add_springs(const TissueModel& model, std::span<const glm::dvec3> x, Curvature curvature, Expansion& out);
// Volumes, and with the law `rising` the matrix.
void add_volumes(const TissueModel& model, std::span<const glm::dvec3> x, Curvature curvature, Expansion& out);
void add_matrix(const TissueModel& model, std::span<const glm::dvec3> x, Curvature curvature, Expansion& out);
void add_tethers(const TissueModel& model, std::span<const glm::dvec3> x, const glm::dvec3& breath, Expansion& out);

void add_contact(const ImplicitPoint& point, const TissueContact& contact, const ToolStep& tool, double stiffness,
                 std::span<const glm::dvec3> x, Curvature curvature, Expansion& out);
void add_hold(const ImplicitPoint& point, const TissueHold& hold, double stiffness, std::span<const glm::dvec3> x,
              Curvature curvature, Expansion& out);

// Friction of one point against a tool: grip times the tangential displacement from the position where the point would
// stick to the tool; smoothed below `creep_length`.
struct ImplicitFriction {
  glm::dvec3 normal;    // 1
  glm::dvec3 stick;     // m
  double grip = 0.0;    // N, friction times normal force
  double creep_length;  // m
};
void add_friction(const ImplicitPoint& point, const ImplicitFriction& friction, std::span<const glm::dvec3> x,
                  Curvature curvature, Expansion& out);

// The energy of organs that connective tissue joins: the terms of tissue.hpp, the fibres and struts of bonds.hpp,
// motion, and the weight of the nodes. It serves to check that nothing gains energy. Contacts and the treatment of
// crushed cells (step.hpp) have no energy here.

struct OrgansEnergy {
  double kinetic = 0.0;  // J
  double elastic = 0.0;  // J  of springs, volumes and tethers
  double fibres = 0.0;   // J  of intact fibres and of struts
  double weight = 0.0;   // J  of the nodes that are not fixed, 0 at rest
  // [organ][node] N, gradient of the energy of position: minus the force. 0 on fixed nodes.
  std::vector<std::vector<glm::dvec3>> slope;

  double total() const { return kinetic + elastic + fibres + weight; }
};

// Returns the elastic energy of a fibre, J.
double energy_of(const Fibre& fibre, const FibreEnds& ends);

// `models`, `states`: the organs that the bonds join, in their order.
OrgansEnergy energy_of(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
                       const Bonds& bonds);

// Returns total() - dt / 2 sum v . slope, the energy that substeps of `dt` seconds of symplectic Euler conserve for a
// linear system without damping (Hairer, Lubich, Wanner, Geometric Numerical Integration, 2006, IX.3). total() itself
// ripples by the last term within every oscillation.
double stepped_energy(const OrgansEnergy& energy, std::span<SteppedTissue* const> states, double dt);

}  // namespace trocar

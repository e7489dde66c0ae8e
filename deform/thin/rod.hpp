// An elastic rod: a line of nodes that resists stretch, bending and twist, for ducts, vessels and threads. It steps
// linearly implicitly, so that neither its stiffness nor its small mass limits the substep of the organs it joins.
// Based on: Bergou, Wardetzky, Robinson, Audoly, Grinspun, "Discrete elastic rods", SIGGRAPH 2008; Bergou, Audoly,
// Vouga, Wardetzky, Grinspun, "Discrete viscous threads", SIGGRAPH 2010 (time-parallel frames and gradients). We
// differ: one banded solve a step with the positive part of the stiffness (Gauss-Newton), no iteration and no
// tolerance, so that the bits are the same on every machine. Unknowns stand in the order node 0, twist of edge 0, node
// 1, ...: four a node, so the matrix has eleven diagonals on a side. Units: metres, kilograms, seconds, newtons,
// radians.   Tested against closed forms in tests/deform/rod_test.cpp
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/thin/push.hpp"

namespace trocar {

struct RodParams {
  double outer_radius = 2e-3;   // m      > 0
  double inner_radius = 0.0;    // m      0: solid, < outer_radius
  double youngs_modulus = 5e5;  // Pa     > 0
  double poisson = 0.45;        // 1      0 .. 0.5
  double density = 1060.0;      // kg/m^3 > 0, of the wall
  double filling = 0.0;         // kg/m^3 of what the tube holds, >= 0
  double damping_time = 0.0;    // s      >= 0: forces act at x + damping_time v
  double drag = 0.0;            // 1/s    >= 0, share of a velocity that is lost per second
};

// Cross-section of a tube or thread.
struct RodSection {
  double area;       // m^2
  double bending;    // m^4  second moment of area
  double torsion;    // m^4  polar moment of area
  double per_metre;  // kg/m
};
RodSection section_of(const RodParams& params);

struct RodModel {
  RodParams params;
  double stretch, bend, twist;        // N, N m^2, N m^2  EA, EI, GJ
  std::vector<double> length;         // [edge] m, at rest
  std::vector<double> mass;           // [node] kg
  std::vector<double> inertia;        // [edge] kg m^2, about the edge
  std::vector<glm::dvec2> curvature;  // [node] 1, at rest, along the material axes of its two edges; 0 at the ends
  std::vector<double> turn;           // [node] rad, twist at rest
  std::vector<std::uint8_t> fixed;    // [node] 1: moves only as its owner moves it
  std::vector<std::uint8_t> clamped;  // [edge] 1: its twist is fixed
  std::vector<double> whole;          // [edge] 1, share of its section that is left: > 0 .. 1
};

// Everything that the next step depends on.
struct RodState {
  std::vector<glm::dvec3> x, v;     // [node] m, m/s
  std::vector<double> angle, spin;  // [edge] rad, rad/s  of the material axes about the edge, from `axis`
  std::vector<glm::dvec3> axis;     // [edge] unit, across the edge; carried along without twist
  std::vector<double> turn;         // [node] rad, twist of `axis` from an edge to the next
};

// Forces from outside in a step.
struct RodLoads {
  std::span<const glm::dvec3> force;  // [node] N; empty: none
  std::span<const double> torque;     // [edge] N m about the edge; empty: none
  glm::dvec3 gravity{0.0};            // m/s^2
};

// Energies of a state.
struct RodEnergy {
  double stretch, bend, twist, motion;  // J
  double elastic() const { return stretch + bend + twist; }
};

// Makes a rod through at least two points that lie apart; its shape is the rest shape. Throws InputError for fewer
// points, two equal neighbours, or a parameter outside its limits.
RodModel make_rod(const RodParams& params, std::span<const glm::dvec3> points);
RodState rest_state(const RodModel& model, std::span<const glm::dvec3> points);

RodEnergy energy_of(const RodModel& model, const RodState& state);

// Forces along the unknowns: [4 node + axis] N, [4 edge + 3] N m. `force` has 4 nodes - 1 entries. Allocates.
void elastic_forces(const RodModel& model, const RodState& state, std::span<double> force);

// An edge with its material axes.
struct RodEdge {
  glm::dvec3 tangent, first, second;  // unit
  double length;                      // m
};

// A point that moves with an edge as a rigid body does.
struct RodPoint {
  std::uint32_t edge = 0;
  double share = 0.0;   // 1, along the edge
  glm::dvec3 arm{0.0};  // m, from the axis there to the point, now
};
glm::dvec3 velocity_at(const RodState& state, const RodPoint& point);  // m/s

// A point of a rod beside an obstacle. The contact only pushes; friction holds until it slides (Coulomb). An overlap is
// taken back by positions alone; only what the rod then springs back gives speed.
struct RodContact {
  std::uint32_t obstacle;
  RodPoint at;
  glm::dvec3 normal;        // unit, from the obstacle to the rod
  double gap;               // m, between the surfaces; negative: overlap
  glm::dvec3 slide;         // m/s, velocity of the obstacle's surface
  double friction;          // 1
  double compliance = 0.0;  // 1/kg, change of speed of the obstacle per impulse on it; 0: it yields to nothing
  glm::dvec3 impulse{0.0};  // N s on the rod, set by step(); where it starts
};

// A spring between a point of a rod and something else. The step takes its force at its end:
// force + stiffness dt (velocity - that of the point after the step), and not more than the limit.
struct RodAnchor {
  RodPoint at;
  glm::dvec3 force;                    // N on the rod, now; set by step() to what acted
  glm::dmat3 stiffness{0.0};           // N/m, symmetric, not negative
  glm::dvec3 velocity{0.0};            // m/s, of what holds the point
  double limit = INFINITY;             // N, > 0
  bool slipped = false;                // set by step(): the limit acted
  std::uint32_t source = 0xffffffffu;  // whatever its owner knows it by
};

// Contacts by obstacle, then edge. Impulses of the step before are where the next one starts.
struct RodContacts {
  std::vector<RodContact> list, before;
};

// Lists the contacts of edges nearer to an obstacle than `reach`: one an edge, at the nearest point. A point that two
// edges share is listed once.
void find_contacts(const RodModel& model, const RodState& state, std::span<const ThinObstacle> obstacles, double reach,
                   RodContacts& contacts);

// Three right sides at once. The fourth is 0: processors take four numbers together.
struct RodAnswers {
  std::array<double, 4> by;

  RodAnswers& operator+=(const RodAnswers& o) {
    for (std::size_t k = 0; k < 4; ++k) by[k] += o.by[k];
    return *this;
  }
  RodAnswers& operator-=(const RodAnswers& o) {
    for (std::size_t k = 0; k < 4; ++k) by[k] -= o.by[k];
    return *this;
  }
  RodAnswers& operator*=(double scale) {
    for (double& value : by) value *= scale;
    return *this;
  }
  friend RodAnswers operator*(double scale, const RodAnswers& a) { return RodAnswers(a) *= scale; }
};

// Storage of a step, kept between steps so that a step does not allocate.
struct RodScratch {
  static constexpr int kBand = 11;
  // [unknown][distance to the diagonal] upper half; as many rows more as the band is wide, of zeros
  std::vector<std::array<double, kBand>> matrix;
  std::vector<double> right;                               // [unknown]
  std::vector<glm::dvec3> before;                          // [node] m
  std::vector<RodEdge> edges;                              // [edge]
  std::vector<double> answer;                              // [unknown] of impulses
  std::vector<double> speeds;                              // [unknown]
  std::vector<RodAnswers> answers;                         // [unknown] of unit impulses along three axes
  std::vector<std::array<std::array<double, 7>, 3>> rows;  // [contact][axis] by the unknowns of its edge
  std::vector<glm::dmat3> mobility;                        // [contact][contact] m/s of the first per N s on the second
  std::vector<glm::dvec3> speed;                           // [contact] m/s, against the obstacle
  std::vector<glm::dvec3> impulses;                        // [contact] N s
  std::vector<double> first_right;                         // [unknown] right side without springs
  std::vector<std::array<double, kBand>> first_matrix;
};

// Advances a rod by dt seconds. Fixed nodes keep their velocity and move with it. `contacts`: found for this state;
// their impulses are set, and the forces of `anchors`. Allocates only for more contacts than in all earlier steps.
void step(const RodModel& model, RodState& state, const RodLoads& loads, double dt, RodScratch& scratch,
          std::span<RodContact> contacts = {}, std::span<RodAnchor> anchors = {});

// Carries the frames along after positions were changed from outside. `before`: [node] m, the positions to which the
// frames belong.
void follow_nodes(std::span<const glm::dvec3> before, RodState& state);

}  // namespace trocar

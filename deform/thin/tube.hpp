// A duct or vessel: rods move it, and a lattice fills it, so that contacts, holds, cuts, heat, clips and the surface
// find the same nodes and weights as in every organ. The rods (rod.hpp) run along the centre line, one for each part
// that cuts have left. Each of their nodes carries a cross-section, which moves as a rigid body and may be pressed
// flat; a lattice node lies between two cross-sections.
// The wall is one number a cross-section, its flatness: opposite surfaces press it together, clips keep it, and it
// springs open within a fraction of a second. Its perimeter stays: an ellipse with half axes f r and sqrt(2 - f^2) r
// (Euler's approximation). The force of a ring that is pressed between two lines: Timoshenko and Gere, "Theory of
// elastic stability", 1961, section 7.1: narrower by 0.149 F r^3 / (E' I).
// What pushes and pulls it in a substep: deform/tube_step.hpp. Units: metres, kilograms, seconds.   Tested in
// tests/deform/tube_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/thin/rod.hpp"

namespace trocar {

struct TubeParams {
  double radius = 2e-3;         // m    > 0
  double wall = 1e-3;           // m    > 0; >= radius: solid
  double youngs_modulus = 5e5;  // Pa   > 0, of the wall
  double poisson = 0.45;        // 1    0 .. 0.5
  double density = 1060.0;      // kg/m^3 > 0, of wall and contents
  double damping_time = 0.0;    // s    >= 0
  double drag = 8.0;            // 1/s  >= 0
  double opening_time = 0.1;    // s    > 0, in which a wall that nothing presses springs open
};

// Returns the modulus of the layer that resists the jaws like the ring of the wall does, Pa.
double ring_modulus(const TubeParams& params);
// Returns the width of a tube that a clip has closed, m.
double closed_width(const TubeParams& params);

// Where a lattice node is.
struct TubeNode {
  std::uint32_t rod = 0, edge = 0;
  std::uint32_t carrier = 0;  // number of the cross-section before it, among those of all rods
  float share = 0.f;          // 1  along the edge, 0 .. 1
  float along = 0.f;          // m  from the start of the centre line, at rest
  glm::vec3 local{0.f};       // m  from the axis, in the frame there
};

struct TubeRod {
  RodModel model;
  std::vector<double> along;      // [node] m, from the start of the centre line
  std::vector<glm::dvec3> rest;   // [node] m
  std::vector<glm::dmat3> frame;  // [node] columns: two material axes and the tangent, at rest
};

// A lattice node that is fixed. It holds its rod by a spring much stiffer than the tube, so that a fixed end keeps its
// direction too.
struct TubeFixed {
  std::uint32_t node;
  bool diaphragm;  // moves with the breath
};

struct TubeModel {
  TubeParams params;
  std::vector<glm::dvec3> line;  // m  centre line at rest
  std::vector<float> full_mass;  // [lattice node] kg, before any burning
  std::vector<TubeRod> rods;
  std::vector<TubeNode> nodes;  // [lattice node]
  std::vector<TubeFixed> fixed;
  double fixing = 0.0;  // N/m, of each of them

  bool empty() const { return line.empty(); }  // no tube
};

// How flat a cross-section is: its width over that at rest, and the direction, across the axis, in which it is flat.
struct TubeSection {
  double flatness = 1.0;        // 1, > 0 .. 1
  glm::dvec2 across{1.0, 0.0};  // unit, along the material axes
};

// Everything that the next step depends on.
struct TubeMotion {
  std::vector<RodState> rods;
  std::vector<std::vector<TubeSection>> sections;  // [rod][node]
};

// The lattice of a tube, as its rods are made from it. [lattice node]
struct TubeLattice {
  std::span<const glm::vec3> rest;      // m
  std::span<const float> mass;          // kg, 0 where no tissue is left
  std::span<const std::uint8_t> fixed;  // 0 free, 1 fixed, 2 fixed to the diaphragm
  std::span<const std::uint32_t> part;  // a number for each part that springs connect; empty: one part
};

// Makes a tube along a line of at least two points. Throws InputError for a parameter outside its limits.
TubeModel make_tube(const TubeParams& params, std::span<const glm::dvec3> line, const TubeLattice& lattice);
TubeMotion rest_motion(const TubeModel& model);

// Makes the rods again after tissue was removed or divided, and gives them the motion of those before. Rods depend on
// the lattice alone, not on the order of cuts. Allocates.
void rebuild_rods(TubeModel& model, const TubeLattice& lattice, TubeMotion& motion);

// Makes the rods for a motion that is known already, as of a saved session. Allocates.
void make_rods(TubeModel& model, const TubeLattice& lattice);

// A cross-section in motion.
struct TubeCarrier {
  glm::dvec3 x;          // m
  glm::vec3 v, turning;  // m/s, rad/s
  glm::mat3 frame;       // columns: two axes, pressed flat, and the tangent
};

// Sets positions and velocities of the lattice nodes. [node] m, m/s. `carriers`: storage.
struct TubeColumns {
  std::span<float> x, y, z;
};
void carry_nodes(const TubeModel& model, const TubeMotion& motion, std::vector<TubeCarrier>& carriers,
                 const TubeColumns& x, const TubeColumns& v);

// A point that lattice nodes carry, on a rod. `p`: m, where it is now.
struct TubePoint {
  std::uint32_t rod = 0;
  RodPoint at;
};
TubePoint point_on(const TubeModel& model, const TubeMotion& motion, std::span<const std::uint32_t> node,
                   std::span<const float> weight, const glm::dvec3& p);
// The same in two parts: the place, which stays until the rods are made again, and the arm there now.
struct TubePlace {
  std::uint32_t rod = 0, edge = 0;
  double share = 0.0;  // 1, along the edge
};
TubePlace place_on(const TubeModel& model, std::span<const std::uint32_t> node, std::span<const float> weight);
TubePoint point_at(const TubePlace& place, const TubeMotion& motion, const glm::dvec3& p);

// Returns the direction from one point that lattice nodes carry to another, across the axis, as they lie at rest:
// along the material axes, unit; 0 when they lie behind each other.
struct TubeEnd {
  std::span<const std::uint32_t> node;
  std::span<const float> weight;  // 1
};
glm::dvec2 direction_at_rest(const TubeModel& model, const TubeEnd& from, const TubeEnd& to);

// Two surfaces that press a place of an edge from opposite sides: jaws, or a clip, which turns with the wall.
struct TubeSqueeze {
  std::uint32_t rod, edge;
  double share;               // 1, along the edge
  double width;               // m, between them
  glm::dvec2 across{0.0};     // of a clip: unit, from one to the other along the material axes
  glm::dvec3 direction{0.0};  // of jaws: unit, world, from one to the other
  glm::dvec3 middle{0.0};     // of jaws: m, a point in the middle between them

  bool jaws() const { return across == glm::dvec2(0.0); }
};
// Presses cross-sections flat, and lets those that nothing presses open, in dt seconds.
void flatten(const TubeModel& model, std::span<const TubeSqueeze> squeezes, double dt, TubeMotion& motion);

}  // namespace trocar

// An elastic sheet: a triangulated surface that resists stretch and bending, for peritoneum, ligaments, omentum and
// gauze. It steps linearly implicitly, so that neither its stiffness nor its small mass limits the substep.
// Membrane: triangles of constant strain with the compressible neo-Hookean law of Blatz and Ko ("Application of finite
// elastic theory to the deformation of rubbery materials", Trans. Soc. Rheology 6, 1962) in plane stress,
// mu / 2 (I1 - 2 + (J^-2q - 1) / q), q = nu / (1 - nu): exact for a thin sheet, and a face needs infinite energy to
// lose its area. Its second derivative is used whole, with negative curvatures set to 0 in closed form (after Smith, de
// Goes, Kim, "Analytic eigensystems for isotropic distortion energies", ACM TOG 38, 2019).
// Bending: a plate of stiffness E t^3 / 12 (1 - nu^2) with one direction a mid-edge (Morley, "The triangular
// equilibrium element in the solution of plate bending problems", Aeronautical Quarterly 19, 1968; for shells:
// Grinspun, Gingold, Reisman, Zorin, "Computing discrete shape operators on general meshes", Eurographics 2006). A face
// bends by the angles from its normal to its three mid-edge directions and needs nothing of its neighbours, so constant
// curvature is exact on every mesh and an edge that is cut is free. We differ: directions are carried along without
// twist, as in a rod; one solve a step with the positive part of the stiffness, no iteration and no tolerance. Units:
// metres, kilograms, seconds, newtons, radians.   Tested against closed forms in tests/deform/sheet_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <limits>
#include <span>
#include <vector>

#include "deform/thin/push.hpp"

#include "deform/thin/sparse_factor.hpp"

namespace trocar {

struct SheetParams {
  double thickness = 2e-4;      // m      > 0
  double youngs_modulus = 1e6;  // Pa     > 0
  double poisson = 0.5;         // 1      0 .. 0.5
  double density = 1060.0;      // kg/m^3 > 0
  double bending = 1.0;         // 1      > 0, bending stiffness over that of a plate of this thickness; woven: below 1
  double damping_time = 0.0;    // s      >= 0: forces act at x + damping_time v
  double drag = 0.0;            // 1/s    >= 0, share of a velocity that is lost per second
  double strength = 5e5;        // Pa     > 0, nominal stress at which it tears
  double toughness = 1e3;       // J/m^2  > 0, of a tear
  double cut_toughness = 3e2;   // J/m^2  >= 0, of a cut by a blade
};

// Stiffness and mass of an area.
struct SheetSection {
  double stretch;     // N/m    E t
  double shear;       // N/m    mu t
  double bending;     // N m    of a wide strip, per width
  double per_square;  // kg/m^2
};
SheetSection section_of(const SheetParams& params);

// A triangle. Its front is the side from which its corners stand counter-clockwise.
struct SheetFace {
  std::array<std::uint32_t, 3> node, edge;  // edge k joins corners k and k + 1
};

// A face at rest, in a plane of its own.
struct SheetElement {
  std::array<glm::dvec2, 3> corner;    // m
  double area;                         // m^2
  std::array<glm::dvec2, 3> gradient;  // 1/m, of the weight of a corner
  glm::dmat3 bend;                     // 1, [edge][edge] energy over bending stiffness of two turns
  glm::dvec3 turn;                     // [edge] 1, 2 tan(phi / 2) at rest: from the normal to the mid-edge direction
  double integrity;                    // 0 .. 1 share of its stiffness that heat has left
};

// Returns a flat face whose corners are given counter-clockwise, [corner] m in a plane at rest.
SheetElement element_of(const std::array<glm::dvec2, 3>& corner, double poisson);

// What still holds the two sides of a tear together at a node of both: a traction that falls with the opening.
struct SheetTie {
  std::array<std::uint32_t, 2> face, corner;
  double area, length;  // m^2 of torn section; m of the torn edge: the longer, the lower the strength
};

struct SheetModel {
  SheetParams params;
  std::vector<SheetFace> faces;
  std::vector<SheetElement> elements;                  // [face]
  std::vector<std::array<std::uint32_t, 2>> edges;     // [edge] its nodes, in the order of its first face
  std::vector<std::uint32_t> beside;                   // [edge] its first face
  std::vector<double> mass;                            // [node] kg; 0: no face has it
  std::vector<std::uint8_t> fixed;                     // [node] 1: moves only as its owner moves it
  std::vector<std::uint8_t> clamped;                   // [edge] 1: its direction only follows its nodes
  std::vector<SheetTie> ties;                          // two an edge that tears, one at each end
  std::vector<std::array<std::uint32_t, 2>> scored;    // nodes of edges that are cut but cannot open yet
  FactorPlan plan;                                     // points: nodes, then edges
  std::vector<std::array<FactorBlock, 21>> blocks;     // [face] of its nodes and edges: 00 10 11 20 21 22 30 ...
  std::vector<std::array<FactorBlock, 3>> tie_blocks;  // [tie] of its nodes: 00 10 11
};

// Everything that the next step depends on.
struct SheetState {
  std::vector<glm::dvec3> x, v;       // [node] m, m/s
  std::vector<glm::dvec3> direction;  // [edge] unit, across the edge: normal of the surface at its middle
  std::vector<double> opened;         // [tie] m, the widest so far
  double torn = 0.0;                  // J of ties that are no more
};

// A point of a sheet. `weight`: of the three corners, sum 1.
struct SheetPoint {
  std::uint32_t face;
  glm::dvec3 weight;
};

// A spring from a point of a sheet to an anchor that moves: a bond, or a jaw that holds it. Stable at any stiffness.
struct SheetSpring {
  SheetPoint point;
  glm::dvec3 anchor, velocity{0.0};                       // m, m/s
  double stiffness;                                       // N/m, >= 0
  double most = std::numeric_limits<double>::infinity();  // N: a longer spring pulls no harder than this
  glm::dvec3 force{0.0};                                  // N on the sheet, set by step()
};

// Something that a point of a sheet lies on, for instance an organ under it. It only pushes.
struct SheetSupport {
  SheetPoint point;
  glm::dvec3 position, normal;  // m, unit: of the surface, to the sheet's side
  glm::dvec3 velocity{0.0};     // m/s
  double stiffness;             // N/m, >= 0
  double friction = 0.0;        // 1
  bool arrives = false;         // true: the point is above it, and reaches it within the step
  glm::dvec3 force{0.0};        // N on the sheet, set by step()
};

// Forces from outside in a step.
struct SheetLoads {
  std::span<const glm::dvec3> force{};  // [node] N; empty: none
  glm::dvec3 gravity{0.0};              // m/s^2
  double pressure = 0.0;                // Pa on the back, so that it pushes to the front
  std::span<SheetSpring> springs{};     // forces are set
  std::span<SheetSupport> supports{};   // forces are set
};

// Energies of a state.
struct SheetEnergy {
  double stretch, bend, motion;  // J
  double elastic() const { return stretch + bend; }
};

// Makes a sheet whose given shape is its rest shape. `points`: [node] m. `triangles`: counter-clockwise from the front.
// Throws InputError for a triangle without area, an edge of three faces or of two that wind against each other, a node
// without a face, a number outside `points`, or a parameter outside its limits.
SheetModel make_sheet(const SheetParams& params, std::span<const glm::dvec3> points,
                      std::span<const std::array<std::uint32_t, 3>> triangles);
SheetState rest_state(const SheetModel& model, std::span<const glm::dvec3> points);

// Finds edges, masses and the order of elimination again after faces were changed. Before: SheetFace::edge is the edge
// that an edge continues, whose direction it keeps, or kNoPoint for a new one, which gets the mean normal of its faces.
// Ties that hold no more are dropped. Allocates.
void rebuild(SheetModel& model, SheetState& state);
// Finds only the order of elimination again. `x`: [node] m, the positions at the last rebuild, on which it depends.
void restore_plan(SheetModel& model, std::span<const glm::dvec3> x);

SheetEnergy energy_of(const SheetModel& model, const SheetState& state);

// Sets the elastic forces without those of ties, [node] N, and the torques about the edges, [edge] N m.
void elastic_forces(const SheetModel& model, const SheetState& state, std::span<glm::dvec3> force,
                    std::span<double> torque);

// Returns the positive part of the stiffness, [unknown][unknown] N/m, N, N m: coordinates of the nodes, then angles of
// the edges, as if none was fixed. Bending without its moments: exact where the sheet is pulled and bent as at rest.
// For tests. Allocates.
std::vector<double> stiffness_of(const SheetModel& model, const SheetState& state);

// Nominal stress of a face: force per undeformed area, along its principal directions.
struct SheetStress {
  double largest, smallest;  // Pa
  glm::dvec3 along, across;  // unit, directions of the two in the deformed face
};
SheetStress stress_of(const SheetModel& model, const SheetState& state, std::uint32_t face);

// Forces of one face on its corners, [corner] N.
std::array<glm::dvec3, 3> corner_forces(const SheetModel& model, const SheetState& state, std::uint32_t face);

// How a tear holds: the traction rises to the strength, then falls to 0 at `widest`; the area below is the toughness
// (A. Hillerborg, M. Modeer, P.-E. Petersson, Cement and Concrete Research 6, 1976; bilinear, unloading to 0). Along an
// edge longer than the zone that tears, E toughness / 2 strength^2, the strength is as much lower as keeps the
// toughness (Z. P. Bazant, B. H. Oh, "Crack band theory for fracture of concrete", Materials and Structures 16, 1983).
struct TearLaw {
  double strength;       // Pa
  double first, widest;  // m, openings at the strength and without traction
};
TearLaw tear_law(const SheetParams& params, double length);

// Energy that tearing has taken so far, J.
double torn_energy(const SheetModel& model, const SheetState& state);

// Returns the position of a point, m, from those of the nodes.
glm::dvec3 position(const SheetModel& model, std::span<const glm::dvec3> x, const SheetPoint& point);

// A point of a sheet beside an obstacle. The contact only pushes; friction holds until it slides (Coulomb). An overlap
// is taken back by positions alone; only what the sheet then springs back gives speed.
struct SheetContact {
  std::uint32_t obstacle, part;  // a node, an edge or a face, numbered one after another
  SheetPoint point;
  glm::dvec3 normal;        // unit, from the obstacle to the sheet
  double gap;               // m, between the surfaces; negative: overlap
  glm::dvec3 slide;         // m/s, velocity of the obstacle's surface
  double friction;          // 1
  glm::dvec3 impulse{0.0};  // N s on the sheet, set by step()
};

// Contacts by obstacle, then part. Impulses of the step before are where the next one starts.
struct SheetContacts {
  std::vector<SheetContact> list, before;
  std::vector<std::uint32_t> seen;  // [node] obstacle + 1 for which it is listed
};

// Lists the contacts nearer to an obstacle than `reach`: the nearest points of edges that cross its axis, each once,
// and those of faces under an end of the axis. Allocates only for more contacts than in all earlier calls.
void find_contacts(const SheetModel& model, const SheetState& state, std::span<const ThinObstacle> obstacles,
                   double reach, SheetContacts& contacts);

// Storage of a step, kept between steps so that a step does not allocate.
struct SheetScratch {
  Factor factor;
  std::vector<double> right;            // [unknown] then speeds, m/s and 1/s
  std::vector<double> answer;           // [unknown] speeds that only take overlaps back
  std::vector<glm::dvec3> before;       // [node] m
  std::vector<glm::dvec3> wide;         // [unknown]
  std::vector<glm::dvec3> normal;       // [edge] sum of the normals of its faces
  std::vector<glm::dvec3> paths;        // answers to a unit impulse, contact after contact
  std::vector<std::uint32_t> path_end;  // [contact] in paths
  std::vector<glm::dmat3> mobility;     // [contact][contact] m/s of the first per N s on the second
  std::vector<glm::dvec3> speed;        // [contact] m/s, against the obstacle
  std::vector<glm::dvec3> impulses;     // [contact] N s
};

// Advances a sheet by dt seconds. Fixed nodes keep their velocity and move with it. `contacts`: found for this state;
// their impulses are set. Allocates only after the sheet was changed, and for more contacts than in all earlier steps.
void step(const SheetModel& model, SheetState& state, const SheetLoads& loads, double dt, SheetScratch& scratch,
          std::span<SheetContact> contacts = {});

// Carries the directions along after positions were changed from outside. `before`: [node] m, the positions to which
// the directions belong.
void follow_nodes(const SheetModel& model, std::span<const glm::dvec3> before, SheetState& state);

}  // namespace trocar

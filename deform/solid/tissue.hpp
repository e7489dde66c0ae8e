// Models soft tissue by springs and volumes on a lattice that fills the organ. Weights embed the surface in the
// lattice.
// Model, derivation, limits: docs/tissue.md. The energy of a state x is
// sum over springs  k/2 (l - L)^2                  l = |x_b - x_a|
// + sum over cells    K h^3/2 (J - 1)^2              J = det(a b c) / h^3, a b c the cell's mean edges along x, y, z
// + sum over tethers  k/2 |x - anchor|^2,
// and with the law `rising` (deform/solid/elasticity.hpp) springs carry half of the shear stiffness, cells the other
// half. Damping is Rayleigh damping: a force -drag m v, and elastic forces evaluated at x + damping_time v. Both
// solvers, the real-time one here and the implicit reference solver (implicit_reference.hpp), step this energy. Units:
// metres, kilograms, seconds, newtons.   Tested in tests/deform/tissue_test.cpp and other files there
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/solid/dent.hpp"
#include "deform/solid/lattice.hpp"
#include "deform/thin/slab.hpp"
#include "deform/thin/tube.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/part.hpp"
#include "geometry/tool_volume.hpp"
#include "mesh/sheet_shape.hpp"

namespace trocar {

// Springs: linear springs and volumes. Rising: springs in a matrix that stiffens with strain
// (deform/solid/elasticity.hpp).
enum class TissueLaw { Springs, Rising };
inline constexpr std::array kTissueLaws{TissueLaw::Springs, TissueLaw::Rising};
// Returns the name that scenes and materials use.
constexpr const char* name_of(TissueLaw law) { return law == TissueLaw::Rising ? "rising" : "springs"; }

struct TissueParams {
  TissueLaw law = TissueLaw::Springs;
  float youngs_modulus = 6.0e3f;  // Pa      at small strain; liver, from elastography; > 0
  float poisson_ratio = 0.46f;    // 1       springs alone have 0.25; 0.25..0.49
  // The law `rising`, without effect on the other: stiffening from the start (negative: softening) and at large strain.
  float stiffening = 0.f;       // 1       -10..100
  float late_stiffening = 0.f;  // 1       0..100
  float density = 1060.f;       // kg/m^3  > 0
  float damping_time = 3e-4f;   // s       Rayleigh's beta: internal damping of the tissue, >= 0
  float drag = 8.f;             // 1/s     Rayleigh's alpha: damping by fat, fluid and neighbours, >= 0
  float node_spacing = 0.008f;  // m       lattice spacing: the only resolution parameter, > 0
  int substeps = 1;             // 1       least substeps of one step, >= 1; stability may need more
  glm::vec3 gravity{0.f};       // m/s^2   zero: the rest shape is the scanned shape
  float friction = 0.2f;        // 1       Coulomb, of a tool on wet tissue, >= 0
  // A guard: contacts with instruments give tissue no larger speed. Hands do not move instruments faster.
  float fastest_tool = 2.f;  // m/s  > 0
  // Crushed cells (deform/step.hpp): stiffness of the pull on each corner, relative to Young's modulus times spacing,
  // and damping rate of the relative motion of the corners, because buckling tissue must not oscillate.
  float unfolding = 0.8f;       // 1    >= 0
  float crush_damping = 300.f;  // 1/s  >= 0
};

// A ball of tissue that is attached: rigidly, or by an elastic ligament.
struct Attachment {
  glm::vec3 centre{0.f};   // m
  float radius = 0.02f;    // m, > 0
  float stiffness = 0.f;   // N/m  of the ligament, all fibres together; 0: rigid
  bool diaphragm = false;  // moves with the breath
};

// The diaphragm's motion; everything attached to it moves with it.
struct Breathing {
  float amplitude = 0.005f;             // m   from end of expiration to end of inspiration, >= 0
  float rate = 0.25f;                   // Hz  breaths per second, >= 0
  glm::vec3 direction{0.f, -1.f, 0.f};  // 1   motion during inspiration
};

struct Spring {
  std::uint32_t a, b;  // nodes, a < b
  float rest_length;   // m
  float stiffness;     // N/m, 0 where the tissue was removed
};

// Eight lattice nodes, the corners of a cell, carry one surface vertex with trilinear weights that sum to 1.
struct Embedding {
  std::uint32_t node[8];  // x fastest, then y; neighbours along x have consecutive numbers: node[1] = node[0] + 1, ...
  float weight[8];
};

// Number of floats in a vector register; rows are padded to whole registers with springs of stiffness 0.
constexpr std::uint32_t kLanes = 8;

// Parallel springs along one lattice row: spring i joins nodes a + i and b + i.
struct SpringRow {
  std::uint32_t first;  // index of its first entry in TissueModel::stiffness
  std::uint32_t count;  // entries, a multiple of kLanes
  std::uint32_t a, b;   // nodes of the first spring
  float rest_length;    // m
};

// Consecutive lattice cells along x: cell i has the corners of cell 0, each i nodes further.
struct CellRow {
  std::uint32_t first;               // index of its first entry in TissueModel::bulk
  std::uint32_t count;               // entries, a multiple of kLanes
  std::array<std::uint32_t, 4> row;  // node of the corner x = 0 of the first cell, at (y, z) = 00, 10, 01, 11
};

// An elastic fibre from a node to its rest position.
struct Tether {
  std::uint32_t node;
  float stiffness;  // N/m
  bool diaphragm;
};

// A plane on which loose tissue comes to rest, such as bowel. No node with gravity goes further than `height` along
// `down`; there it sticks.
struct Floor {
  glm::vec3 down{0.f};      // 1  unit; zero: there is none
  float height = INFINITY;  // m  along `down`, from the origin
};

struct TissueModel {
  TissueParams params;
  Floor floor;
  Breathing breathing;
  Lattice lattice;                        // with the present volume fraction of each cell
  std::vector<glm::vec3> rest;            // [node] m
  std::vector<float> mass;                // [node] kg, also of fixed nodes; 0 where all tissue was removed
  std::vector<float> inverse_mass;        // [node] 1/kg, 0 = fixed
  std::vector<glm::vec3> gravity;         // [node] m/s^2
  std::vector<SpringRow> spring_rows;     // [row] layer by layer
  std::vector<float> stiffness;           // [entry] N/m
  std::vector<CellRow> cell_rows;         // [row]
  std::vector<float> bulk;                // [entry] Pa, K of that cell
  std::vector<std::uint32_t> bulk_index;  // [cell] its index in bulk
  std::vector<glm::vec3> centre;          // [cell] 0..1, centroid of its tissue; empty with the law `springs`
  std::vector<Tether> tethers;
  std::vector<std::uint32_t> diaphragm;  // nodes fixed to the diaphragm
  std::vector<std::uint8_t> bonded;      // [node] 1: an intact fibre holds it; empty without connective tissue
  std::vector<Embedding> embedding;      // [vertex]
  float cell_mass = 0.f;                 // kg, of a full cell
  float longest_substep = 0.f;           // s, stability limit
  TubeModel tube;                        // of a duct or vessel: its rods move the nodes; empty for other organs
  SlabModel slab;                        // of a sheet, which moves the nodes; empty for other organs
  bool rigid = false;                    // a rigid body moves the nodes; tissue has no part in it
};

// One array per coordinate, for vector registers. [node, and kLanes more]
struct NodeColumns {
  std::vector<float> x, y, z;
};

// A point of the surface that tools must not enter: a vertex, or a point of a face, which is
// (1 - u - v) vertex + u second + v third.
struct TissueContact {
  std::uint32_t tool;                   // which of the step's tools
  std::uint32_t vertex;                 // surface vertex
  glm::vec3 normal;                     // unit, from tissue to tool: the point stays on this side of the tool's axis
  std::uint32_t second = 0, third = 0;  // surface vertices
  float u = 0.f, v = 0.f;               // 1
  bool smooth = false;                  // without friction: holds carry it
};

// A tissue point between jaws: it follows `from` .. `to` over the step, with a force of at most `limit` newtons.
struct TissueHold {
  Embedding point;
  glm::vec3 from, to;           // m
  float limit;                  // N
  std::uint32_t jaws = kOther;  // number of the tool whose jaws hold it; their points have one dent
  float area = 0.f;             // m^2  of the surface, for which the point stands

  static constexpr std::uint32_t kOther = 0xffffffff;  // without a dent
};

// Returns the part of a hold in contact substep `number` of `count`, starting with 0.
inline TissueHold piece_of(const TissueHold& hold, int number, int count) {
  const glm::vec3 motion = (hold.to - hold.from) / static_cast<float>(count);
  const glm::vec3 from = hold.from + static_cast<float>(number) * motion;
  return {hold.point, from, from + motion, hold.limit, hold.jaws, hold.area};
}

// The loads on one organ during a step. Tools are capsules from pivot to tip, or parts, that move as described by
// ToolStep.
struct TissueLoads {
  std::span<const ToolStep> tools;
  std::span<const TissueContact> contacts;
  std::span<const TissueHold> holds;
  // [tool] number of the tool whose dent it shares, for the parts of one rigid instrument: tissue between parts that
  // saw it at different places would be pushed ever harder. Empty: each has its own.
  std::span<const std::uint32_t> dent_of = {};
};

// A surface point as a weighted sum of lattice nodes, and the loads on it.
struct PreparedPoint {
  std::array<std::uint32_t, 24> node;
  std::array<float, 24> weight;  // 1
  std::array<float, 24> moves;   // 1/kg displacement of the node per unit push on the point
  int nodes;                     // used of the 24: 8 when all three corners lie in one cell
  float arrives;                 // 1    transmitted fraction of a push
  float admittance;              // 1/kg displacement of the point per unit push; 0: it cannot move
  glm::vec3 before;              // m    at the beginning of the substep
  glm::vec3 normal;              // 1    from tissue to tool, at present
  float plane;                   // m    upper limit of normal . point, at present
  float old;                     // m    part of an overlap that this substep's motion did not make
  float shifted;                 // m    by positions alone, in this substep
  glm::vec3 slide;               // m    displacement of the tool's material here during the step
  std::uint32_t tool;            // of a contact
  std::uint32_t dent;            // its dent
  glm::vec3 core;                // m    of a contact: where the axis or polytope of the tool is closest
  glm::vec3 beside;   // m    of a held point of a tube: from the place that the jaws gripped, by its wall widening
  glm::vec3 pressed;  // kg m push on the point in this substep
  glm::vec3 push;     // kg m sum of the pushes on the tool over the substeps of the step
};

// A cell that was flat, nearly flat or inside out when the step began.
struct CrushedCell {
  std::array<std::uint32_t, 4> row;  // nodes of the corner x = 0, at (y, z) = 00, 10, 01, 11
  float volume_fraction;             // 1
};

// What pushes and pulls the rods of a tube in a substep. [rod]
struct TubeScratch {
  std::vector<std::vector<RodAnchor>> anchors;    // springs: fibres, tethers, holds
  std::vector<std::vector<RodContact>> contacts;  // with instruments and organs
  // [rod][contact] its number among the contact points of instruments, or among the contacts between organs
  std::vector<std::vector<std::uint32_t>> source;
  std::vector<TubePoint> held;                  // [hold]
  std::vector<std::uint32_t> held_anchor;       // [hold] its anchor
  std::vector<std::vector<glm::dvec3>> weight;  // [rod][node] N
  std::vector<TubeSqueeze> squeezes;            // of the step
  std::vector<TubeCarrier> carriers;            // [cross-section]
  std::vector<glm::dvec3> before;               // [node of a rod] m
  std::vector<std::vector<float>> shared;       // [organ][node] 1, weights of its contacts together; 0 in between
  RodScratch rod;
};

// A force of a sheet on another organ, constant over the sheet's step.
struct SlabPush {
  std::uint32_t organ;
  std::array<std::uint32_t, 8> node;
  std::array<float, 8> weight;  // 1
  glm::vec3 force;              // N
};

// A point of a sheet that may be pressed in a step.
struct SlabContact {
  SheetSupport support;  // its stiffness is 0 unless it bears
  double depth;          // m    beyond the plane, at the beginning
  double stiffness;      // N/m  once it bears
  std::uint32_t source;  // contact point of an instrument, or contact between organs
};

// What pushes and pulls a sheet in its step. `springs`: holds, then attachments, then fibres.
struct SlabScratch {
  std::vector<SheetSpring> springs;
  std::vector<std::uint32_t> held;  // [hold] its spring
  struct Joint {
    std::uint32_t fibre, spring;
    bool at_a;  // the sheet is at end a of the fibre
  };
  std::vector<Joint> joints;
  std::vector<SheetSpring> bonds;         // [joint] before the step
  std::vector<SlabContact> tools, rests;  // with instruments, with organs
  std::vector<SheetSupport> supports;     // of tools, then of rests
  std::vector<SlabPush> pushes;           // on other organs
  std::vector<float> shared;              // [node] weights of all loads of a sheet on this organ
  std::vector<glm::dvec3> weight;         // [node of the sheet] N
  std::vector<glm::dvec3> normal, floor;  // [node of the sheet]
  SheetState before;
  SheetScratch sheet;
};

// The dent of a tool in a step.
struct DentScratch {
  std::uint32_t owner;  // number of the tool whose dent it is
  float radius;         // m     of this tool
  DentPlace place;
  float firm;        // N/m   of what jaws hold, which yields by firm s (1 + (strains s)^2); 0: a contact, or no dent
  float strains;     // 1/m
  Dent dent;         // at present
  glm::vec3 before;  // m     shift at the beginning of the substep
  float yields;      // 1/kg  shift per unit push in this substep
  float pressure;    // m     radius of the pressure
};

// Scratch buffers, kept between steps so that a step does not allocate. A step needs nothing from the previous one.
struct TissueScratch {
  NodeColumns x, v, ahead, force, gravity;     // m, m/s, m (positions of the elastic forces), N, m/s^2
  std::vector<PreparedPoint> contacts, holds;  // [contact], [hold]
  std::vector<std::uint32_t> active;           // contacts that are processed in this substep
  std::uint64_t held_back = 0;                 // pushes that TissueParams::fastest_tool has limited, in all steps
  std::vector<PosedPart> posed;                // [tool] its corners in this substep, if it is a part
  std::vector<DentScratch> dents;              // [tool]
  std::vector<DentScratch> held_dents;         // [tool] of what its jaws hold; the last one: of other holds, none
  std::vector<float> pressed_weight;           // [node] kg m, of the pushes of a tool
  std::vector<std::uint32_t> pressed_nodes;    // with such a weight
  float force_per_push = 0.f;                  // 1/s^2 of the latest step
  std::vector<float> flatness;                 // [entry] 1, smallest corner volume over that at rest
  std::vector<CrushedCell> crushed;
  float flattest = 1.f;  // 1, over all cells at the beginning of the step
  float stiffest = 1.f;  // 1, largest stiffness of a cell of the law `rising` over that at rest, at the same time
  TubeScratch tube;
  SlabScratch slab;
};

// Everything that the next step depends on: copy it to save, to reset or to compare.
struct TissueState {
  std::vector<glm::vec3> x, v;   // [node] m, m/s, world
  double time = 0.0;             // s, for the breathing
  std::vector<Dent> dents;       // [tool] of the latest step
  std::vector<Dent> held_dents;  // [tool] likewise, of what its jaws hold
  TubeMotion tube;               // of a duct or vessel; x and v follow from it
  SlabMotion slab;               // of a sheet; x and v follow from it
};

// A state with the buffers that its steps fill.
struct SteppedTissue : TissueState {
  TissueScratch scratch = {};
};

// Makes the model. Throws InputError naming the hole, the zero modulus, the spacing larger than the organ, or the empty
// attachment. An organ without attachments floats freely.
TissueModel make_tissue(const MeshView& organ, const TissueParams& params, std::span<const Attachment> attachments,
                        const Breathing& breathing = {});
SteppedTissue rest_state(const TissueModel& model);

// A tube is stepped at least this often.
constexpr float kLongestTubeStep = 2e-3f;  // s

// Turns the model of an organ along a line (m, at least two points) into a duct or vessel that rods move. Call before
// rest_state(). Throws InputError for a parameter outside its limits.
void make_tube_of(TissueModel& model, const TubeParams& params, std::span<const glm::dvec3> line);
// Call when tissue of a tube was removed or divided: makes its rods again. `part`: [node] a number for each part that
// springs connect.
void follow_cuts(TissueModel& model, SteppedTissue& state, std::span<const std::uint32_t> part);
// Makes the rods for a saved motion.
void restore_rods(TissueModel& model, std::span<const std::uint32_t> part);

// A sheet is stepped at least this often.
constexpr float kLongestSheetStep = 4.2e-3f;  // s
// The slab around a sheet is at least this thick: a tool lies well inside it before it counts as on the other side.
constexpr double kThinnestSlab = 8e-4;  // m

// Makes the model of a sheet. Of `params` the friction, the gravity and the limits on tools count; the others are those
// of `sheet`. Throws InputError as make_tissue() and make_sheet().
TissueModel make_sheet_tissue(const SheetPatch& patch, const SheetParams& sheet, const TissueParams& params,
                              std::span<const Attachment> attachments, const Breathing& breathing = {});
// Returns the surface at rest of the slab of a sheet.
TriangleMesh slab_surface(const SheetPatch& patch, const SheetParams& sheet);
// Call after change_slab(): finds masses, fixed nodes and the embedding of new vertices.
void follow_sheet(TissueModel& model);
// Makes the model of a rigid body (deform/rigid): a lattice of one cell around its surface. Its owner moves the eight
// nodes with the body, and they carry every vertex exactly. Throws InputError for a surface without size.
TissueModel make_rigid_tissue(const MeshView& surface);
// Sets positions and velocities of the lattice nodes from the sheet's.
void carry_sheet(const TissueModel& model, SteppedTissue& state);

// Visits every spring with tissue, once.
template <typename Action>
void for_each_spring(const TissueModel& model, Action action) {
  for (const SpringRow& row : model.spring_rows)
    for (std::uint32_t i = 0; i < row.count; ++i)
      if (const float k = model.stiffness[row.first + i]; k > 0.f)
        action(Spring{row.a + i, row.b + i, row.rest_length, k});
}
std::size_t spring_count(const TissueModel& model);

// Recomputes mass, springs and volumes of `cells` from their new volume fraction, after some of their tissue was
// removed. A node without tissue stays at its position. `volume_fraction`: [cell of `cells`] 0..1; values above 0 count
// as kEmptiestCell at least.
void set_volume_fractions(TissueModel& model, std::span<const std::uint32_t> cells,
                          std::span<const float> volume_fraction);

// Returns the displacement of the diaphragm at `time`, relative to the end of expiration.
glm::vec3 breath(const Breathing& breathing, double time);

// Advances by dt seconds. Returns the force of the tissue on all tools, N, averaged over the step. Contacts and
// times that are not finite are ignored. Allocates only when the state is new or has more contacts than ever before.
glm::vec3 step(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads, float dt);

// Force on the tool, N, of contacts first .. last - 1 of the latest step: the part of one tool when several touch.
glm::vec3 contact_force(const SteppedTissue& state, std::size_t first, std::size_t last);
// Torque of these contacts on the tool about `about`, N m.
glm::vec3 contact_torque(const SteppedTissue& state, std::size_t first, std::size_t last, const glm::vec3& about);
// Force on the instrument, N, of hold `hold` of the latest step.
glm::vec3 hold_force(const SteppedTissue& state, std::size_t hold);

// Returns the number of substeps into which step() divides dt: params.substeps, or more when stability needs more.
int substep_count(const TissueModel& model, float dt);

// Bounding box of positions; without positions low > high.
struct PositionBox {
  glm::vec3 low{INFINITY}, high{-INFINITY};  // m
};

// Sets positions[vertex] to the sum of weight * node. Sizes: [node], [vertex]. Returns the box of all positions.
PositionBox embed_surface(const TissueModel& model, std::span<const glm::vec3> nodes, std::span<glm::vec3> positions);
// Does the same without vector registers, more slowly; the bits are equal.
PositionBox embed_surface_plainly(const TissueModel& model, std::span<const glm::vec3> nodes,
                                  std::span<glm::vec3> positions);

// Returns the weights of a point of the rest shape, in the lattice cell that contains it, or else in the nearest.
Embedding embed(const Lattice& lattice, const glm::vec3& point);
// Does the same for a given cell, which need not contain the point.
Embedding embed_in(const Lattice& lattice, std::uint32_t cell, const glm::vec3& point);

// Points that lattice nodes carry, as weighted sums of the nodes.

// A point almost entirely on fixed nodes would move its free nodes far to move a little itself; this limits it.
constexpr float kLeastFreedom = 0.1f;  // fraction of the admittance with all nodes free

inline glm::vec3 column(const NodeColumns& c, std::uint32_t node) { return {c.x[node], c.y[node], c.z[node]}; }

// Returns the sum of weight[i] value(node[i]); `value` gives the node's vector.
template <class Vector, class Value>
Vector weighted_sum(const std::uint32_t* node, const float* weight, int count, Value value) {
  Vector sum(0);
  for (int i = 0; i < count; ++i) sum += static_cast<typename Vector::value_type>(weight[i]) * value(node[i]);
  return sum;
}

inline glm::vec3 weighted(const Embedding& e, std::span<const glm::vec3> nodes) {
  return weighted_sum<glm::vec3>(e.node, e.weight, 8, [nodes](std::uint32_t n) { return nodes[n]; });
}
inline glm::vec3 weighted(const Embedding& e, const NodeColumns& c) {
  return weighted_sum<glm::vec3>(e.node, e.weight, 8, [&c](std::uint32_t n) { return column(c, n); });
}

// Moves nodes within a substep of `dt`; their velocities and the positions of the elastic forces follow.
class NodeMover {
 public:
  NodeMover(const TissueModel& model, float dt, TissueScratch& s)
      : s_(s), to_speed_(1.f / dt), to_ahead_(1.f + model.params.damping_time / dt) {}

  void move(std::uint32_t n, const glm::vec3& by) {
    s_.x.x[n] += by.x, s_.x.y[n] += by.y, s_.x.z[n] += by.z;
    s_.v.x[n] += to_speed_ * by.x, s_.v.y[n] += to_speed_ * by.y, s_.v.z[n] += to_speed_ * by.z;
    s_.ahead.x[n] += to_ahead_ * by.x, s_.ahead.y[n] += to_ahead_ * by.y, s_.ahead.z[n] += to_ahead_ * by.z;
  }

 private:
  TissueScratch& s_;
  const float to_speed_, to_ahead_;
};

// How well a lattice represents its organ: its size, how many cells are full, how thick the organ is in cells, and the
// longest stable substep. Users read the report to choose a node spacing. Tested in tests/deform/tissue_test.cpp

struct LatticeReport {
  std::size_t cells = 0, nodes = 0, springs = 0;
  double whole = 0.0;            // 1  fraction of cells that are full
  double volume = 0.0;           // m^3  of all cells, weighted by volume fraction
  double organ_volume = 0.0;     // m^3  volume that gives the mass
  double mass = 0.0;             // kg
  std::size_t pieces = 0;        // components without a spring between them
  double cells_across = 0.0;     // 1  median over runs of cells along the three axes: 5 bend within 5 % of beam theory
  double worst_embedding = 0.0;  // m  largest distance between a rest vertex and its weighted sum of nodes
  float longest_substep = 0.f;   // s
  int substeps_per_frame = 0;    // at 60 Hz
};

LatticeReport lattice_report(const TissueModel& model, std::span<const glm::vec3> rest_vertices);

}  // namespace trocar

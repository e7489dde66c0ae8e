// Soft tissue: springs and volumes on a lattice filling the organ, the surface embedded in it by weights.
// Model, derivation, limits: docs/tissue.md. The energy of a state x is
//   sum over springs  k/2 (l - L)^2                  l = |x_b - x_a|
// + sum over cells    K h^3/2 (J - 1)^2              J = det(a b c) / h^3, a b c the cell's mean edges along x, y, z
// + sum over tethers  k/2 |x - anchor|^2,
// damping is Rayleigh's: a force -drag m v, and elastic forces taken at x + damping_time v. Both solvers, the real-time
// one here and the judge (judge.hpp), step this energy.
// Units: metres, kilograms, seconds, newtons.   Tested in tests/deform/tissue_test.cpp and beside it
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/lattice.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

struct TissueParams {
  float youngs_modulus = 6.0e3f;  // Pa      liver, from elastography; > 0
  float poisson_ratio = 0.46f;    // 1       springs alone have 0.25; 0.25..0.49
  float density = 1060.f;         // kg/m^3  > 0
  float damping_time = 3e-4f;     // s       Rayleigh's beta: what tissue itself loses, >= 0
  float drag = 8.f;               // 1/s     Rayleigh's alpha: what fat, fluid and neighbours take, >= 0
  float node_spacing = 0.008f;    // m       lattice spacing: the one resolution knob, > 0
  int substeps = 1;               // 1       substeps of one step at least, >= 1; stability may ask for more
  glm::vec3 gravity{0.f};         // m/s^2   zero: the rest shape is the scanned shape
  float friction = 0.2f;          // 1       Coulomb, of a tool on wet tissue, >= 0
};

// A ball of tissue held in place: rigidly, or by an elastic ligament.
struct Attachment {
  glm::vec3 centre{0.f};   // m
  float radius = 0.02f;    // m, > 0
  float stiffness = 0.f;   // N/m  of the ligament, all its fibres together; 0: rigid
  bool diaphragm = false;  // moves with the breath
};

// The diaphragm's motion: everything attached to it goes along.
struct Breathing {
  float amplitude = 0.005f;             // m   from breath out to breath in, >= 0
  float rate = 0.25f;                   // Hz  breaths a second, >= 0
  glm::vec3 direction{0.f, -1.f, 0.f};  // 1   where breathing in goes
};

struct Spring {
  std::uint32_t a, b;  // nodes, a < b
  float rest_length;   // m
  float stiffness;     // N/m, 0 where the tissue is gone
};

// Eight lattice nodes, the corners of a cell, carry one surface vertex with trilinear weights that sum to 1.
struct Embedding {
  std::uint32_t node[8];  // x fastest, then y; neighbours along x have consecutive numbers: node[1] = node[0] + 1, ...
  float weight[8];
};

// Vector registers hold this many floats; rows are filled up to whole registers with springs of no stiffness.
constexpr std::uint32_t kLanes = 8;

// Parallel springs along one lattice row: spring i joins nodes a + i and b + i.
struct SpringRow {
  std::uint32_t first;  // its place in TissueModel::stiffness
  std::uint32_t count;  // places, a multiple of kLanes
  std::uint32_t a, b;   // nodes of the first spring
  float rest_length;    // m
};

// Cells of the lattice that follow each other along x: cell i has the corners of cell 0, each i nodes on.
struct CellRow {
  std::uint32_t first;               // its place in TissueModel::bulk
  std::uint32_t count;               // places, a multiple of kLanes
  std::array<std::uint32_t, 4> row;  // node of the corner x = 0 of the first cell, at (y, z) = 00, 10, 01, 11
};

// An elastic fibre from a node to where it was at rest.
struct Tether {
  std::uint32_t node;
  float stiffness;  // N/m
  bool diaphragm;
};

struct TissueModel {
  TissueParams params;
  Breathing breathing;
  Lattice lattice;                     // with how full each cell still is
  std::vector<glm::vec3> rest;         // [node] m
  std::vector<float> mass;             // [node] kg, of fixed nodes too; 0 where all tissue is gone
  std::vector<float> inverse_mass;     // [node] 1/kg, 0 = fixed
  std::vector<glm::vec3> gravity;      // [node] m/s^2
  std::vector<SpringRow> spring_rows;  // [row] layer by layer
  std::vector<float> stiffness;        // [place] N/m
  std::vector<CellRow> cell_rows;      // [row]
  std::vector<float> bulk;             // [place] Pa, K of the cell there
  std::vector<std::uint32_t> place;    // [cell] its place in bulk
  std::vector<Tether> tethers;
  std::vector<std::uint32_t> diaphragm;  // nodes fixed to it
  std::vector<Embedding> embedding;      // [vertex]
  float cell_mass = 0.f;                 // kg, of a full cell
  float longest_substep = 0.f;           // s, what stability allows
};

// Coordinates apart, as vector registers want them. [node, and kLanes more]
struct NodeColumns {
  std::vector<float> x, y, z;
};

// A point of the surface that tools must not enter: a vertex, or a point of a face, which is
// (1 - u - v) vertex + u second + v third.
struct TissueContact {
  std::uint32_t tool;                   // which of the step's tools
  std::uint32_t vertex;                 // surface vertex
  glm::vec3 normal;                     // unit, from tissue to tool: the side of the tool's axis the point is kept on
  std::uint32_t second = 0, third = 0;  // surface vertices
  float u = 0.f, v = 0.f;               // 1
};

// A point of tissue held between jaws: it follows `from` .. `to` over the step, with at most `limit` newtons.
struct TissueHold {
  Embedding point;
  glm::vec3 from, to;  // m
  float limit;         // N
};

// Piece `number` of `count` of a hold's step, 0 the first.
inline TissueHold piece_of(const TissueHold& hold, int number, int count) {
  const glm::vec3 motion = (hold.to - hold.from) / static_cast<float>(count);
  const glm::vec3 from = hold.from + static_cast<float>(number) * motion;
  return {hold.point, from, from + motion, hold.limit};
}

// What acts on one organ during a step. Tools are capsules from pivot to tip that move as ToolStep says.
struct TissueLoads {
  std::span<const ToolStep> tools;
  std::span<const TissueContact> contacts;
  std::span<const TissueHold> holds;
};

// A surface point as a weighted sum of lattice nodes, and what was done to it.
struct PreparedPoint {
  std::array<std::uint32_t, 24> node;
  std::array<float, 24> weight;  // 1
  std::array<float, 24> moves;   // 1/kg what a unit push on the point moves the node by
  int nodes;                     // used of the 24: 8 when all three corners lie in one cell
  float arrives;                 // 1    share of a push that the nodes take
  float admittance;              // 1/kg what a unit push moves the point by; 0: it cannot move
  glm::vec3 before;              // m    at the beginning of the substep
  glm::vec3 normal;              // 1    from tissue to tool, now
  float plane;                   // m    normal . point may be this much, now
  glm::vec3 slide;               // m    motion of the tool's material here during the step
  glm::vec3 pressed;             // kg m this substep's push on the point
  glm::vec3 push;                // kg m sum of the pushes on the tool over the step's substeps
};

// A cell that was pressed flat, or nearly so, or turned inside out when the step began.
struct CrushedCell {
  std::array<std::uint32_t, 4> row;  // nodes of the corner x = 0, at (y, z) = 00, 10, 01, 11
  float fullness;                    // 1
};

// Room to work in, kept between steps so that none of them allocates. Holds nothing a step needs from the one before.
struct TissueScratch {
  NodeColumns x, v, ahead, force, gravity;     // m, m/s, m: where elastic forces are taken, N, m/s^2
  std::vector<PreparedPoint> contacts, holds;  // [contact], [hold]
  std::vector<std::uint32_t> active;           // contacts that take part in this substep
  float force_per_push = 0.f;                  // 1/s^2 of the latest step
  std::vector<float> flatness;                 // [place] 1, smallest corner volume over that at rest
  std::vector<CrushedCell> crushed;
  float flattest = 1.f;  // 1, of all cells when the step began
};

struct TissueState {
  std::vector<glm::vec3> x, v;  // [node] m, m/s, world
  double time = 0.0;            // s, of the breath
  TissueScratch scratch = {};
};

// Error: InputError naming the hole, the zero modulus, the spacing larger than the organ, or the empty attachment.
// No attachment at all makes an organ that floats.
TissueModel make_tissue(const MeshView& organ, const TissueParams& params, std::span<const Attachment> attachments,
                        const Breathing& breathing = {});
TissueState rest_state(const TissueModel& model);

// Every spring that still holds, once.
template <typename Action>
void for_each_spring(const TissueModel& model, Action action) {
  for (const SpringRow& row : model.spring_rows)
    for (std::uint32_t i = 0; i < row.count; ++i)
      if (const float k = model.stiffness[row.first + i]; k > 0.f)
        action(Spring{row.a + i, row.b + i, row.rest_length, k});
}
std::size_t spring_count(const TissueModel& model);

// Takes mass, springs and volumes of `cells` anew from how full they are now: after some of their tissue has gone.
// A node left without tissue stays where it is. `fullness`: [cell of `cells`] 0..1; what is left counts as
// kEmptiestCell at least.
void set_fullness(TissueModel& model, std::span<const std::uint32_t> cells, std::span<const float> fullness);

// Where the diaphragm is at `time`, from where it is at breath out.
glm::vec3 breath(const Breathing& breathing, double time);

// Advances by dt seconds. Returns the force the tissue exerts on all tools, N, averaged over the step. Contacts and
// times that are not finite are ignored. Allocates only when the state is new or has never seen so many contacts.
glm::vec3 step(const TissueModel& model, TissueState& state, const TissueLoads& loads, float dt);

// Force on the tool, N, of contacts first .. last - 1 of the latest step: one tool's share where several touch.
glm::vec3 contact_force(const TissueState& state, std::size_t first, std::size_t last);
// Force on the instrument, N, of hold `hold` of the latest step.
glm::vec3 hold_force(const TissueState& state, std::size_t hold);

// Substeps that step() divides dt into: params.substeps, or as many as stability needs.
int substep_count(const TissueModel& model, float dt);

// Least box of some positions; none: low above high.
struct PositionBox {
  glm::vec3 low{INFINITY}, high{-INFINITY};  // m
};

// positions[vertex] = sum of weight * node. Sizes: [node], [vertex]. Returns the box of all positions.
PositionBox embed_surface(const TissueModel& model, std::span<const glm::vec3> nodes, std::span<glm::vec3> positions);
// The same without vector registers: the slow twin, bit for bit.
PositionBox embed_surface_plainly(const TissueModel& model, std::span<const glm::vec3> nodes,
                                  std::span<glm::vec3> positions);

// The weights of a point of the rest shape. The point must lie in a cell of the lattice, or is given to the nearest.
Embedding embed(const Lattice& lattice, const glm::vec3& point);
// The same by the corners of a given cell, which may lie beside the point.
Embedding embed_in(const Lattice& lattice, std::uint32_t cell, const glm::vec3& point);

}  // namespace trocar

// Soft tissue: springs on a lattice filling the organ, the surface embedded in it by weights.
// Model, derivation, limits: docs/tissue.md. The step is extended position-based dynamics with small substeps: Macklin,
// Storey, Lu, Terdiman, Chentanez, Jeschke, Mueller, "Small steps in physics simulation", SCA 2019.
// Units: metres, kilograms, seconds, newtons.   Tested in tests/deform/tissue_test.cpp and beside it
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

struct TissueParams {
  float youngs_modulus = 6.0e3f;  // Pa      liver, from elastography; > 0
  float density = 1060.f;         // kg/m^3  > 0
  float damping = 0.1f;           // 1       fraction of critical per spring, 0..1
  float node_spacing = 0.008f;    // m       lattice spacing: the one resolution knob, > 0
  int substeps = 4;       // 1       substeps of one step at least, >= 1; stiff tissue takes more (substep_count)
  float gravity = 0.f;    // m/s^2   along -y; 0: the rest shape is the scanned shape
  float drag = 8.f;       // 1/s     rate at which all motion dies away, >= 0: what fat, fluid and neighbours take
  float friction = 0.2f;  // 1       Coulomb, of a tool on wet tissue, >= 0
};

// A ball of tissue that does not move.
struct Attachment {
  glm::vec3 centre{0.f};  // m
  float radius = 0.02f;   // m, > 0
};

struct Spring {
  std::uint32_t a, b;  // nodes, a < b
  float rest_length;   // m
  float stiffness;     // N/m
};

// Eight lattice nodes, the corners of a cell, carry one surface vertex with trilinear weights that sum to 1.
struct Embedding {
  std::uint32_t node[8];  // x fastest, then y; neighbours along x have consecutive numbers: node[1] = node[0] + 1, ...
  float weight[8];
};

// Parallel springs of one colour along one lattice row: spring i joins nodes a + i * stride and b + i * stride. The
// sweep reads and writes nodes in order, so it runs on vector registers without gathers.
struct SpringRun {
  std::uint32_t first;   // spring
  std::uint32_t count;   // springs, >= 1
  std::uint32_t a, b;    // nodes of the first spring
  std::uint32_t stride;  // 1, or 2 along the row itself, where b = a + 1
  float rest_length;     // m
};

// Cells of the lattice that follow each other along x: cell i has the corners of cell 0, each i nodes on.
struct CellRun {
  std::uint32_t first, count;        // cells
  std::array<std::uint32_t, 4> row;  // node of the corner x = 0 of the first cell, at (y, z) = 00, 10, 01, 11
};

struct TissueModel {
  TissueParams params;
  std::vector<glm::vec3> rest;         // [node] m
  std::vector<float> mass;             // [node] kg, > 0, of fixed nodes too
  std::vector<float> inverse_mass;     // [node] 1/kg, 0 = fixed
  std::vector<Spring> springs;         // [spring] sorted by colour
  std::vector<std::uint32_t> colours;  // [colour + 1] first spring of each colour; springs of one colour share no node
  std::vector<Embedding> embedding;    // [vertex]

  // The springs once more, in the same order, as the sweep reads them.
  std::vector<SpringRun> runs;   // [run] colour by colour
  std::vector<float> stiffness;  // [spring] N/m
  std::vector<float> damping;    // [spring] N s/m

  std::vector<std::array<std::uint32_t, 8>> cells;  // [cell] nodes by corner, x fastest
  std::vector<CellRun> cell_runs;                   // [run] all cells, in order
};

// Coordinates apart, as vector registers want them. [node]
struct NodeColumns {
  std::vector<float> x, y, z;
};

// A contact made ready for the substeps of one step: the touched point as a weighted sum of lattice nodes.
struct PreparedContact {
  std::array<std::uint32_t, 24> node;
  std::array<float, 24> weight;  // 1
  int nodes;                     // used of the 24: 8 when all three corners lie in one cell
  glm::vec3 normal;              // 1    from tissue to tool
  float height;                  // m    normal . point at the start of the step
  float depth;                   // m    how far the height must have dropped by the end
  float admittance;              // 1/kg what a unit push moves the point by, were no node fixed
  glm::vec3 slide;               // m    motion of the tool's material during the step
  float pressed;                 // kg m this substep's push along the normal, >= 0
  glm::vec3 push;                // kg m sum of the pushes on the tool over the step's substeps
};

// Room to work in, kept between steps so that none of them allocates. Holds nothing a step needs from the one before.
struct TissueScratch {
  NodeColumns x, before, v;               // m, m, m/s
  std::vector<PreparedContact> contacts;  // [contact]
  float force_per_push = 0.f;             // 1/s^2 of the step's contacts
  std::vector<float> flatness;            // [cell] 1, smallest corner volume over that at rest
};

struct TissueState {
  std::vector<glm::vec3> x, v;  // [node] m, m/s, world
  TissueScratch scratch = {};
};

// A surface point that must stay behind a plane of the tool: a vertex, or a point of a face, which is
// (1 - u - v) vertex + u second + v third.
struct TissueContact {
  std::uint32_t vertex;  // surface vertex
  glm::vec3 normal;      // unit, from tissue to tool
  float depth;           // m, how far the point must move along -normal; below 0: it may come -depth nearer, no more
  std::uint32_t second = 0, third = 0;  // surface vertices
  float u = 0.f, v = 0.f;               // 1
  glm::vec3 slide{0.f};                 // m, how far the tool's own material moves here during the step
};

// Error: InputError naming the hole, the zero modulus, the spacing larger than the organ, or the empty attachment.
// Nodes inside any attachment are fixed; no attachment at all makes an organ that floats.
TissueModel make_tissue(const MeshView& organ, const TissueParams& params, std::span<const Attachment> attachments);
TissueState rest_state(const TissueModel& model);

// Advances by dt seconds. Returns the force the tissue exerts on the tool, N, averaged over the step. Contacts and
// times that are not finite are ignored. Allocates only when the state is new or has never seen so many contacts.
glm::vec3 step(const TissueModel& model, TissueState& state, std::span<const TissueContact> contacts, float dt);

// Force on the tool, N, of contacts first .. last - 1 of the latest step: one tool's share where several touch.
glm::vec3 contact_force(const TissueState& state, std::size_t first, std::size_t last);

// Substeps that step() divides dt into: params.substeps, or as many as the stated modulus needs, up to a limit.
int substep_count(const TissueModel& model, float dt);

// positions[vertex] = sum of weight * node. Sizes: [node], [vertex].
void embed_surface(const TissueModel& model, std::span<const glm::vec3> nodes, std::span<glm::vec3> positions);
// The same without vector registers: the slow twin, bit for bit.
void embed_surface_plainly(const TissueModel& model, std::span<const glm::vec3> nodes, std::span<glm::vec3> positions);

}  // namespace trocar

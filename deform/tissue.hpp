// Soft tissue: springs on a lattice filling the organ, the surface embedded in it by weights.
// Units: metres, kilograms, seconds, newtons.   Tested in tests/deform/tissue_test.cpp
#pragma once

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
  int substeps = 4;               // 1       substeps of one step, >= 1
  float gravity = 0.f;            // m/s^2   along -y; 0: the rest shape is the scanned shape
};

// A ball of tissue that does not move.
struct Attachment {
  glm::vec3 centre{0.f};  // m
  float radius = 0.02f;   // m, > 0
};

struct Spring {
  std::uint32_t a, b;   // nodes
  float rest_length;    // m
  float stiffness;      // N/m
};

// Eight lattice nodes carry one surface vertex, with trilinear weights that sum to 1.
struct Embedding {
  std::uint32_t node[8];
  float weight[8];
};

struct TissueModel {
  TissueParams params;
  std::vector<glm::vec3> rest;         // [node] m
  std::vector<float> inverse_mass;     // [node] 1/kg, 0 = fixed
  std::vector<Spring> springs;         // [spring] sorted by colour
  std::vector<std::uint32_t> colours;  // [colour + 1] first spring of each colour; springs of one colour share no node
  std::vector<Embedding> embedding;    // [vertex]
};

struct TissueState {
  std::vector<glm::vec3> x, v;  // [node] m, m/s, world
};

// A surface vertex that must lie in front of a plane: `point` is where it must move to, along `normal`.
struct TissueContact {
  std::uint32_t vertex;  // surface vertex
  glm::vec3 normal;      // unit, from tissue to tool
  float depth;           // m, > 0
};

// Error: InputError naming the hole, the zero modulus, the spacing larger than the organ, or the empty attachment.
TissueModel make_tissue(const MeshView& organ, const TissueParams& params, std::span<const Attachment> attachments);
TissueState rest_state(const TissueModel& model);

// Advances by dt seconds. Returns the force the tissue exerts on the tool, N.
glm::vec3 step(const TissueModel& model, TissueState& state, std::span<const TissueContact> contacts, float dt);

// positions[vertex] = sum of weight * node. Sizes: [node], [vertex].
void embed_surface(const TissueModel& model, std::span<const glm::vec3> nodes, std::span<glm::vec3> positions);

}  // namespace trocar

// Steps organs together with the contacts between them, and makes blocks with a fine surface that press on each other.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "deform/contact/organ_contact.hpp"
#include "deform/solid/tissue.hpp"
#include "deform/step.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::test {

// Returns the box from `low` with the given `size`, its sides divided into squares of about `step`. Edges do not share
// vertices.
inline TriangleMesh fine_block(const glm::vec3& low, const glm::vec3& size, float step) {
  TriangleMesh mesh;
  const glm::ivec3 n = glm::max(glm::ivec3(glm::round(size / step)), 1);
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3;
      const auto base = static_cast<std::uint32_t>(mesh.positions.size());
      for (int j = 0; j <= n[v]; ++j)
        for (int i = 0; i <= n[u]; ++i) {
          glm::vec3 p(0.f);
          p[axis] = static_cast<float>(side);
          p[u] = static_cast<float>(i) / static_cast<float>(n[u]);
          p[v] = static_cast<float>(j) / static_cast<float>(n[v]);
          mesh.positions.push_back(low + size * p);
        }
      const auto at = [&](int i, int j) { return base + static_cast<std::uint32_t>(j * (n[u] + 1) + i); };
      for (int j = 0; j < n[v]; ++j)
        for (int i = 0; i < n[u]; ++i) {
          glm::uvec3 first(at(i, j), at(i + 1, j), at(i + 1, j + 1)), second(at(i, j), at(i + 1, j + 1), at(i, j + 1));
          if (side == 0) std::swap(first.y, first.z), std::swap(second.y, second.z);
          mesh.faces.push_back(first);
          mesh.faces.push_back(second);
        }
    }
  return mesh;
}

struct OrganGroup {
  std::vector<TriangleMesh> meshes;
  std::vector<TissueModel> models;
  std::vector<SteppedTissue> states = {};
  std::vector<std::vector<glm::vec3>> surfaces = {};
  OrganContacts contacts = {};
  std::vector<const TissueModel*> model_list = {};
  std::vector<SteppedTissue*> state_list = {};
  std::vector<OrganBody> bodies = {};

  OrganGroup(std::vector<TriangleMesh> given, std::vector<TissueModel> made, const OrganContactParams& params = {})
      : meshes(std::move(given)), models(std::move(made)) {
    std::vector<MeshView> views;
    for (std::size_t k = 0; k < models.size(); ++k) {
      views.push_back(meshes[k].view());
      states.push_back(rest_state(models[k]));
      surfaces.emplace_back(models[k].embedding.size());
      embed_surface(models[k], states[k].x, surfaces[k]);
    }
    for (std::size_t k = 0; k < models.size(); ++k) {
      model_list.push_back(&models[k]);
      state_list.push_back(&states[k]);
      bodies.push_back({&models[k], &states[k], surfaces[k]});
    }
    contacts = make_organ_contacts(views, model_list, params);
  }
  OrganGroup(const OrganGroup&) = delete;

  void find(float dt) { find_organ_contacts(bodies, dt, contacts); }

  // One frame of all organs with common substeps; `touching` false: each organ independently.
  void frame(float dt, bool touching = true) {
    if (touching) find(dt);
    for (std::size_t k = 0; k < models.size(); ++k) begin_step(models[k], states[k], {});
    Substep substep{1, 1, dt};
    for (std::size_t k = 0; k < models.size(); ++k)
      substep.count = std::max(substep.count, substep_count(models[k], states[k], dt));
    substep.dt = dt / static_cast<float>(substep.count);
    for (; substep.number <= substep.count; ++substep.number) {
      for (std::size_t k = 0; k < models.size(); ++k) advance(models[k], states[k], {}, substep);
      if (touching) solve_organ_contacts(model_list, state_list, substep.dt, contacts);
    }
    for (std::size_t k = 0; k < models.size(); ++k) {
      end_step(models[k], states[k], substep, dt);
      embed_surface(models[k], states[k].x, surfaces[k]);
    }
  }

  float deepest() const {
    float gap = 0.f;
    for (const PairContact& c : contacts.contacts) gap = std::min(gap, c.gap);
    return -gap;
  }
  glm::dvec3 momentum(std::size_t organ) const {
    glm::dvec3 sum(0.0);
    for (std::size_t i = 0; i < states[organ].v.size(); ++i)
      sum += static_cast<double>(models[organ].mass[i]) * glm::dvec3(states[organ].v[i]);
    return sum;
  }
  double mass(std::size_t organ) const {
    double sum = 0.0;
    for (const float m : models[organ].mass) sum += m;
    return sum;
  }
  glm::dvec3 centre(std::size_t organ) const {
    glm::dvec3 sum(0.0);
    for (std::size_t i = 0; i < states[organ].x.size(); ++i)
      sum += static_cast<double>(models[organ].mass[i]) * glm::dvec3(states[organ].x[i]);
    return sum / mass(organ);
  }
};

}  // namespace trocar::test

// Provides what the tissue tests share: blocks, the sentence of an error, a hash of a state, a press with a tool.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "deform/contact/contact.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/error.hpp"
#include "geometry/refine.hpp"
#include "mesh/triangle_mesh.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::test {

// Returns the box from the origin to `size`, twelve faces.
inline TriangleMesh block(const glm::vec3& size) {
  TriangleMesh mesh = shapes::cube(1.f, glm::vec3(0.5f));
  for (glm::vec3& p : mesh.positions) p *= size;
  return mesh;
}

// Returns the sentence of the InputError that `action` throws, or "".
template <class Action>
std::string sentence_of(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// FNV-1a over the bits of every coordinate.
inline std::uint64_t hash_of(const SteppedTissue& state) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const auto* list : {&state.x, &state.v})
    for (const glm::vec3& p : *list)
      for (int axis = 0; axis < 3; ++axis) hash = (hash ^ std::bit_cast<std::uint32_t>(p[axis])) * 1099511628211ull;
  return hash;
}

inline float farthest_from_rest(const TissueModel& model, const SteppedTissue& state) {
  float farthest = 0.f;
  for (std::size_t i = 0; i < state.x.size(); ++i) {
    const float distance = glm::distance(state.x[i], model.rest[i]);
    if (!(distance <= farthest)) farthest = distance;
  }
  return farthest;
}

// The exact touch query by brute force over all faces, sorted like a backend's answer.
inline std::vector<Touch> touches_of(const ToolStep& step, const MeshView& organ) {
  std::vector<Touch> touches;
  for (std::uint32_t f = 0; f < organ.faces.size(); ++f) {
    Touch touch;
    if (!refine_touch(step, triangle_of(organ.positions, organ.faces[f]), touch)) continue;
    touch.face = FaceId(f);
    touches.push_back(touch);
  }
  return touches;
}

// Contacts of a single tool with an organ, from its touches at the beginning of a frame.
inline void contacts_of(const ToolStep& tool, std::span<const Touch> touches, std::span<const glm::uvec3> faces,
                        std::span<const glm::vec3> positions, ContactList& list) {
  begin_candidates(list);
  add_candidates(tool, touches, faces, faces_around(faces, positions.size()), positions, list);
  begin_contacts(list);
  add_contacts(tool, faces, positions, list);
}

// One frame of an organ and one tool, as in the program.
struct Press {
  const TriangleMesh& mesh;
  const TissueModel& model;
  SteppedTissue state = rest_state(model);
  std::vector<glm::vec3> positions = mesh.positions;
  ContactList list = {};
  std::vector<Touch> touches = {};
  FacesAround around = faces_around(mesh.faces, mesh.positions.size());

  glm::vec3 frame(const ToolStep& tool, float dt, std::span<const TissueHold> holds = {}) {
    touches = touches_of(tool, {positions, mesh.faces});
    begin_candidates(list);
    add_candidates(tool, touches, mesh.faces, around, positions, list);
    const int pieces = piece_count({&tool, 1}, list);
    glm::vec3 force(0.f);
    for (int number = 0; number < pieces; ++number) {
      const ToolStep piece = piece_of(tool, number, pieces);
      std::vector<TissueHold> part(holds.begin(), holds.end());
      for (TissueHold& hold : part) hold = piece_of(hold, number, pieces);
      begin_contacts(list);
      add_contacts(piece, mesh.faces, positions, list);
      force += step(model, state, {{&piece, 1}, list.contacts, part}, dt / static_cast<float>(pieces));
      embed_surface(model, state.x, positions);
    }
    return force / static_cast<float>(pieces);
  }
};

}  // namespace trocar::test

// Provides what the tissue tests share: blocks, the sentence of an error, a hash of a state, a press with a tool.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "deform/contact/contact.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/closest.hpp"
#include "geometry/error.hpp"
#include "geometry/part.hpp"
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

// Touches that make every face a candidate near a tool.
inline std::vector<Touch> touches_of_all(std::size_t faces) {
  std::vector<Touch> touches(faces);
  for (std::uint32_t f = 0; f < faces; ++f) touches[f].face = FaceId(f);
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

// An ellipsoid of 12 x 12 x 8 cm on a fixed patch, with the relative resolution of a liver of 20,000 faces.
struct Ellipsoid {
  TriangleMesh mesh = shapes::icosphere(5, 0.06f);
  TissueModel model = {};

  explicit Ellipsoid(const TissueParams& params = {}) {
    for (glm::vec3& p : mesh.positions) p.z *= 0.667f;
    const Attachment under{{0.f, 0.f, -0.04f}, 0.035f};
    model = make_tissue(mesh.view(), params, {&under, 1});
  }
};

// Returns the tool shifted as the contacts of the lattice see it: by its dent. A part keeps its pose: shift its tip.
inline ToolStep shifted(ToolStep tool, const Dent& dent) {
  const glm::dvec3 by(dent.shift);
  tool.pivot += by, tool.tip_before += by, tool.tip_after += by;
  return tool;
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
    begin_candidates(list, state.dents);
    add_candidates(tool, touches, mesh.faces, around, positions, list);
    const int pieces = piece_count({&tool, 1}, list);
    glm::vec3 force(0.f);
    for (int number = 0; number < pieces; ++number) {
      const ToolStep piece = piece_of(tool, number, pieces);
      std::vector<TissueHold> part(holds.begin(), holds.end());
      for (TissueHold& hold : part) hold = piece_of(hold, number, pieces);
      begin_contacts(list, {model.embedding, state.v, dt / pieces, state.dents});
      add_contacts(piece, mesh.faces, positions, list);
      force += step(model, state, {{&piece, 1}, list.contacts, part}, dt / static_cast<float>(pieces));
      embed_surface(model, state.x, positions);
    }
    met = positions;
    for (glm::vec3& p : met) p -= state.dents[0].shift;
    return force / static_cast<float>(pieces);
  }
  std::vector<glm::vec3> met = positions;  // the surface as the tool meets it: against its dent
};

// Makes contacts of a resting part with faces near it, at the points of a fine grid: for the implicit reference, whose
// contacts must not depend on those of the real-time model. Units: metres.

// Adds a contact of tool 0 at a point of a face, if the part lies outside the face there.
inline void add_part_point(const PosedPart& part, const glm::uvec3& face, float u, float v,
                           std::span<const glm::vec3> positions, std::vector<TissueContact>& points) {
  const Triangle t = triangle_of(positions, face);
  const glm::dvec3 p =
      (1.0 - static_cast<double>(u + v)) * t.a + static_cast<double>(u) * t.b + static_cast<double>(v) * t.c;
  const HullDistance closest = hull_distance(part.corners(), std::array{p});
  const glm::dvec3 outward = glm::normalize(glm::cross(t.b - t.a, t.c - t.a));
  const glm::dvec3 to_part = closest.distance > 1e-6 ? (closest.on_first - p) / closest.distance : outward;
  if (glm::dot(to_part, outward) > 0.0) points.push_back({0, face.x, glm::vec3(to_part), face.y, face.z, u, v});
}

// Contacts on every face within 4 mm of the part, at 28 points of each.
inline std::vector<TissueContact> part_grid(const PosedPart& part, std::span<const glm::uvec3> faces,
                                            std::span<const glm::vec3> positions) {
  constexpr int kSteps = 6;
  std::vector<TissueContact> points;
  for (const glm::uvec3& face : faces) {
    const Triangle t = triangle_of(positions, face);
    if (hull_distance(part.corners(), std::array{t.a, t.b, t.c}).distance > 0.004) continue;
    for (int u = 0; u <= kSteps; ++u)
      for (int v = 0; u + v <= kSteps; ++v)
        add_part_point(part, face, static_cast<float>(u) / kSteps, static_cast<float>(v) / kSteps, positions, points);
  }
  return points;
}

}  // namespace trocar::test

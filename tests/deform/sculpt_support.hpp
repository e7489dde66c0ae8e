// Provides the checks that the sculpture tests share: is the surface closed, what volume does it enclose, do the faces
// keep their ids.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "deform/cut/sculpt.hpp"
#include "deform/cut/slit.hpp"
#include "geometry/face_numbers.hpp"
#include "mesh/mesh_report.hpp"
#include "tests/deform/deform_support.hpp"

namespace trocar::test {

// Returns the number of directed edges without an opposite and of faces that use a vertex twice.
inline std::size_t open_edges(std::span<const glm::uvec3> faces) {
  std::vector<std::pair<std::uint64_t, int>> edges;
  std::size_t faults = 0;
  for (const glm::uvec3& face : faces)
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t a = face[i], b = face[(i + 1) % 3];
      faults += a == b;
      edges.emplace_back(std::min(a, b) << 32 | std::max(a, b), a < b ? 1 : -1);
    }
  std::sort(edges.begin(), edges.end());
  for (std::size_t i = 0; i < edges.size();) {
    int net = 0;
    const std::uint64_t edge = edges[i].first;
    for (; i < edges.size() && edges[i].first == edge; ++i) net += edges[i].second;
    faults += net != 0;
  }
  return faults;
}

// Returns the volume of the rest shape, m^3.
inline double enclosed_volume(const Sculpture& sculpture) {
  double volume = 0.0;
  for (const glm::uvec3& face : faces(sculpture)) {
    const Triangle t = triangle_of(sculpture.rest, face);
    volume += glm::dot(t.a, glm::cross(t.b, t.c)) / 6.0;
  }
  return volume;
}

inline std::size_t tissue_voxels(const Sculpture& sculpture) {
  return static_cast<std::size_t>(
      std::count(sculpture.voxels.kind.begin(), sculpture.voxels.kind.end(), Voxel::Tissue));
}
inline double voxel_volume(const Sculpture& sculpture) {
  return static_cast<double>(tissue_voxels(sculpture)) * std::pow(sculpture.voxels.size, 3);
}

// Returns vertices - edges + faces. Where the surface touches itself at a vertex or edge, each sheet counts its own.
inline long euler_characteristic(std::span<const glm::uvec3> faces) {
  struct Side {
    std::uint64_t edge;
    bool forward;
    std::size_t from, to;  // corners 3 * face + i at its lower and its higher vertex
  };
  std::vector<Side> sides;
  for (std::size_t f = 0; f < faces.size(); ++f)
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3;
      const std::uint64_t a = faces[f][static_cast<int>(i)], b = faces[f][static_cast<int>(j)];
      const bool forward = a < b;
      sides.push_back(
          {std::min(a, b) << 32 | std::max(a, b), forward, 3 * f + (forward ? i : j), 3 * f + (forward ? j : i)});
    }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) { return a.edge < b.edge; });
  std::vector<std::size_t> parent(3 * faces.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t corner) {
    while (parent[corner] != corner) corner = parent[corner] = parent[parent[corner]];
    return corner;
  };
  for (std::size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
    while (end < sides.size() && sides[end].edge == sides[begin].edge) ++end;
    std::vector<Side> directions[2];
    for (std::size_t i = begin; i < end; ++i) directions[sides[i].forward ? 1 : 0].push_back(sides[i]);
    for (std::size_t i = 0; i < std::min(directions[0].size(), directions[1].size()); ++i) {
      parent[root(directions[0][i].from)] = root(directions[1][i].from);
      parent[root(directions[0][i].to)] = root(directions[1][i].to);
    }
  }
  long vertices = 0;
  for (std::size_t corner = 0; corner < parent.size(); ++corner) vertices += root(corner) == corner;
  return vertices - static_cast<long>(sides.size() / 2) + static_cast<long>(faces.size());
}

inline std::uint64_t hash_of(const Sculpture& sculpture, const TissueModel& model) {
  std::uint64_t hash = 14695981039346656037ull;
  const auto add = [&](std::uint32_t value) { hash = (hash ^ value) * 1099511628211ull; };
  for (std::size_t slot = 0; slot < faces(sculpture).size(); ++slot) {
    add(index(face_ids(sculpture)[slot]));
    for (int i = 0; i < 3; ++i) add(faces(sculpture)[slot][i]);
  }
  for (const glm::vec3& p : sculpture.rest)
    for (int axis = 0; axis < 3; ++axis) add(std::bit_cast<std::uint32_t>(p[axis]));
  for (const float m : model.mass) add(std::bit_cast<std::uint32_t>(m));
  return hash;
}

// Faces and vertices before a call, and the conditions after it.
struct Witness {
  std::map<std::uint32_t, glm::uvec3> faces_by_id;
  std::vector<glm::vec3> rest;
  std::vector<Embedding> embedding;

  Witness(const Sculpture& sculpture, const TissueModel& model) : rest(sculpture.rest), embedding(model.embedding) {
    for (std::size_t slot = 0; slot < faces(sculpture).size(); ++slot)
      faces_by_id[index(face_ids(sculpture)[slot])] = faces(sculpture)[slot];
  }

  void check(const Sculpture& sculpture, const TissueModel& model) const {
    const SculptChange& change = sculpture.change;
    const auto ids = face_ids(sculpture);
    ASSERT_EQ(ids.size(), faces(sculpture).size());
    ASSERT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    ASSERT_EQ(faces_by_id.size() - change.faces.removed.size() + change.faces.new_faces, ids.size());
    std::size_t kept = 0;
    for (std::size_t slot = 0; slot < ids.size(); ++slot) {
      if (ids[slot] >= change.faces.first_new) continue;
      ++kept;
      const auto before = faces_by_id.find(index(ids[slot]));
      ASSERT_TRUE(before != faces_by_id.end() && before->second == faces(sculpture)[slot]);
    }
    ASSERT_EQ(kept + change.faces.new_faces, ids.size());
    for (const FaceId removed : change.faces.removed) {
      ASSERT_TRUE(faces_by_id.contains(index(removed)));
      ASSERT_EQ(slot_of(ids, removed), ids.size());
    }
    ASSERT_EQ(change.first_vertex, rest.size());
    ASSERT_EQ(sculpture.rest.size(), rest.size() + change.new_vertices);
    ASSERT_EQ(model.embedding.size(), sculpture.rest.size());
    for (std::size_t v = 0; v < rest.size(); ++v) {
      ASSERT_EQ(sculpture.rest[v], rest[v]);
      const bool same = std::equal(embedding[v].node, embedding[v].node + 8, model.embedding[v].node) &&
                        std::equal(embedding[v].weight, embedding[v].weight + 8, model.embedding[v].weight);
      ASSERT_TRUE(same || std::binary_search(change.carried.begin(), change.carried.end(), v));
    }
  }
};

// Checks that every used vertex is embedded in nodes with mass, and lies at its rest position.
inline void check_carried(const Sculpture& sculpture, const TissueModel& model) {
  std::vector<glm::vec3> positions(sculpture.rest.size());
  embed_surface(model, model.rest, positions);
  for (const glm::uvec3& face : faces(sculpture))
    for (int i = 0; i < 3; ++i) {
      ASSERT_LT(glm::distance(positions[face[i]], sculpture.rest[face[i]]), 2e-6f);
      for (const std::uint32_t node : model.embedding[face[i]].node) ASSERT_GT(model.mass[node], 0.f);
    }
}

// A hook that wanders: twenty burns from a random vertex in a random direction, then from another vertex.
struct Wander {
  std::mt19937 random;
  glm::vec3 at{0.f}, direction{0.f};
  int left = 0;

  explicit Wander(std::uint32_t seed) : random(seed) {}
  float uniform() { return static_cast<float>(random() >> 8) / 16777216.f; }
  glm::vec3 somewhere() { return {uniform() - 0.5f, uniform() - 0.5f, uniform() - 0.5f}; }

  HotSegment next(const Sculpture& sculpture, std::span<const glm::vec3> positions, float radius) {
    if (left-- == 0) {
      left = 20;
      at = positions[faces(sculpture)[random() % faces(sculpture).size()].x];
      direction = glm::normalize(somewhere() + glm::vec3(1e-3f, 0.f, 0.f));
    }
    at += 0.0015f * direction;
    return {at, at + glm::vec3(0.0015f, 0.001f, 0.0055f), radius};
  }
};

// Provides what the tests of slits share: regions of blades, and measures of a cut.

// A rectangle of `length` x 2 `half` metres: it begins at `hinge` and runs along `along`; the blades open to both sides
// along `across`.
inline BladeCut rectangle_cut(const glm::vec3& hinge, const glm::vec3& along, const glm::vec3& across, float length,
                              float half) {
  BladeCut cut;
  cut.origin = hinge, cut.along = glm::normalize(along);
  cut.across = glm::normalize(across - glm::dot(across, cut.along) * cut.along);
  cut.outline = {glm::vec2(0.f, -half), glm::vec2(length, -half), glm::vec2(length, half), glm::vec2(0.f, half)};
  cut.corners = 4;
  return cut;
}

struct CutError {
  double largest = 0.0, mean = 0.0;  // m
  std::size_t points = 0;
};

// Returns the distance of fifteen points of each wall face of the latest cut from its plane. `positions`: [vertex] m,
// world.
inline CutError cut_error(const Sculpture& sculpture, std::span<const glm::vec3> positions, const BladeCut& cut) {
  CutError error;
  const glm::dvec3 normal = glm::normalize(glm::cross(glm::dvec3(cut.along), glm::dvec3(cut.across)));
  double sum = 0.0;
  for (const glm::uvec3& f : faces(sculpture).last(sculpture.change.slit_walls))
    for (int i = 0; i <= 4; ++i)
      for (int j = 0; i + j <= 4; ++j) {
        const float u = 0.25f * static_cast<float>(i), v = 0.25f * static_cast<float>(j);
        const glm::dvec3 p(positions[f.x] + u * (positions[f.y] - positions[f.x]) +
                           v * (positions[f.z] - positions[f.x]));
        const double d = std::abs(glm::dot(p - glm::dvec3(cut.origin), normal));
        error.largest = std::max(error.largest, d);
        sum += d;
        ++error.points;
      }
  error.mean = error.points > 0 ? sum / static_cast<double>(error.points) : 0.0;
  return error;
}

inline double wall_area(const Sculpture& sculpture) {
  double area = 0.0;
  for (const glm::uvec3& f : faces(sculpture).last(sculpture.change.slit_walls)) {
    const Triangle t = triangle_of(sculpture.rest, f);
    area += 0.5 * glm::length(glm::cross(t.b - t.a, t.c - t.a));
  }
  return area;
}

}  // namespace trocar::test

// Provides what the tests of slits share: regions of blades, and measures of a cut.
#pragma once

#include <cmath>
#include <vector>

#include "deform/cut/slit.hpp"
#include "tests/deform/sculpt_support.hpp"

namespace trocar::test {

// A rectangle of `length` x 2 `half` metres: it begins at `hinge` and runs along `along`; the blades open to both sides
// along `across`.
inline BladeCut rectangle_cut(const glm::vec3& hinge, const glm::vec3& along, const glm::vec3& across, float length,
                              float half) {
  BladeCut cut;
  cut.origin = hinge;
  cut.along = glm::normalize(along);
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

// Splits the polygons of a mesh file into triangles. A polygon of n corners becomes n - 2 faces: a fan
// around its first corner where this fan covers it, else ears cut in its plane. A polygon that crosses itself, or has
// no plane, stays a fan. Internal to the readers in mesh/.   Tested in tests/mesh/mesh_io_vtk_test.cpp
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "mesh/mesh_io_formats.hpp"

namespace trocar {

// Triangulates one ring of points in the plane by ear clipping: always the best-shaped ear is cut next. A ring of n
// points gives n - 2 triangles, and every directed edge of the ring belongs to one of them, also where the ring crosses
// itself or has no area. Source: Meisters, "Polygons have ears", Amer. Math. Monthly 82, 1975. We differ: an ear that
// holds a point keeps this point until it is cut off, so that most ears are examined once; O(n^2) in practice.
// Coordinates: points closer than 1e-8 are one point.

constexpr double kSamePoint = 1e-8;  // points closer than this are one point: a slit that is not open has such sides

using FillRing = std::vector<std::size_t>;  // indices of points, counter-clockwise

// Returns twice the signed area of the triangle, positive when it runs counter-clockwise.
inline double turn_of(const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& c) {
  const glm::dvec2 u = b - a, v = c - a;
  return u.x * v.y - u.y * v.x;
}
// Returns whether two points are closer than kSamePoint.
inline bool same_point(const glm::dvec2& a, const glm::dvec2& b) { return glm::distance(a, b) < kSamePoint; }

struct ClippedEars {
  std::vector<std::array<std::size_t, 3>> triangles;  // of indices of points
  bool proper = true;  // every triangle runs counter-clockwise and held no other point when it was cut
};

// `shared`: [point] triangles whose corners are all shared are avoided; empty: none is.
ClippedEars clip_ears(std::span<const glm::dvec2> points, FillRing ring, std::span<const char> shared = {});

}  // namespace trocar

namespace trocar::mesh_io {

// Points may come later in a file than the polygons that use them, so polygons are added first and split at the end.
class Polygons {
 public:
  // Appends the fan of a polygon, [corner] vertices, at least 3, to the faces of the mesh.
  void add(std::span<const std::uint32_t> corners, std::vector<glm::uvec3>& faces);
  // Replaces the fans that do not cover their polygon. The corners of the faces must be valid. A note of the mesh says
  // how many polygons could not be split well.
  void split(FileMesh& mesh) const;

 private:
  struct Range {
    std::size_t first;    // face
    std::uint32_t count;  // faces
  };
  std::vector<Range> ranges_;  // of polygons with 4 corners or more
};

}  // namespace trocar::mesh_io

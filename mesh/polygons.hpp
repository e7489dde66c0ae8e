// Splits the polygons of a mesh file into triangles. A polygon of n corners becomes n - 2 faces: a fan
// around its first corner where this fan covers it, else ears cut in its plane. A polygon that crosses itself, or has
// no plane, stays a fan. Internal to the readers in mesh/.   Tested in tests/mesh/mesh_io_foreign_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "mesh/mesh_io_formats.hpp"

namespace trocar::mesh_io {

// Points may come later in a file than the polygons that use them, so polygons are added first and split at the end.
class Polygons {
 public:
  // Appends the fan of a polygon of at least 3 corners to the faces of the mesh.
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

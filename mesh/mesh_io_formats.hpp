// One reader and one writer per mesh file format; what mesh_io.cpp chooses from. Internal to mesh/.
// Each reader refuses what it does not understand: counts, indices and finiteness are checked before they are used.
// Units: of the file.   Tested in tests/mesh/mesh_io_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <string>
#include <vector>

#include "mesh/mesh_io.hpp"
#include "mesh/mesh_io_text.hpp"

namespace trocar::mesh_io {

struct FileMesh {
  std::vector<glm::dvec3> points;  // [vertex] file units
  std::vector<glm::uvec3> faces;   // [face] vertex indices
};

// Readers. Error: InputError.
FileMesh read_stl(const Source& source);
FileMesh read_obj(const Source& source);
FileMesh read_ply(const Source& source);
FileMesh read_vtk(const Source& source);
FileMesh read_vtp(const Source& source);

// The polygon's triangles, as a fan from its first corner, behind the faces so far.
void add_fan(std::span<const std::uint32_t> corners, std::vector<glm::uvec3>& faces);
// The strip's triangles, every second one turned so that all keep the first one's orientation.
void add_strip(std::span<const std::uint32_t> corners, std::vector<glm::uvec3>& faces);

}  // namespace trocar::mesh_io

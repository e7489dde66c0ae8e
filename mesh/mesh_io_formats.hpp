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

// Writers: the whole file. OBJ is always text, legacy VTK binary always big endian.
std::string write_stl(const FileMesh& mesh, MeshEncoding encoding);
std::string write_obj(const FileMesh& mesh, MeshEncoding encoding);
std::string write_ply(const FileMesh& mesh, MeshEncoding encoding);
std::string write_vtk(const FileMesh& mesh, MeshEncoding encoding);
std::string write_vtp(const FileMesh& mesh, MeshEncoding encoding);

// Puts the finished file in its place. Error: InputError, RunError when the disk is full.
void place_file(const std::filesystem::path& file, const std::string& bytes);

// The polygon's triangles, as a fan from its first corner, behind the faces so far.
void add_fan(std::span<const std::uint32_t> corners, std::vector<glm::uvec3>& faces);
// The strip's triangles, every second one turned so that all keep the first one's orientation.
void add_strip(std::span<const std::uint32_t> corners, std::vector<glm::uvec3>& faces);

}  // namespace trocar::mesh_io

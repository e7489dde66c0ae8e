// Declares one reader and one writer per mesh file format, for mesh_io.cpp. Internal to mesh/. VTP needs VTK and is in
// a library of its own, trocar_mesh_vtk, which adds the format to every program that links it. Each reader rejects what
// it does not understand: counts, indices and finiteness are checked before use. Units: of the file.   Tested in
// tests/mesh/mesh_io_test.cpp
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
  MeshFacts facts;
};

// Looks in a comment or a title for the unit and the axes of the file: "Units: mm", "SPACE=LPS".
void read_comment(std::string_view comment, MeshFacts& facts);

// A named part of a file that has several: a node of a scene.
struct FilePart {
  std::string name;
  FileMesh mesh;
};

inline constexpr const char* kExportAgain = "export the mesh again";  // remedy of many refusals

// The readers. They throw InputError for a file that they refuse.
FileMesh read_stl(const Source& source);
FileMesh read_obj(const Source& source);
FileMesh read_ply(const Source& source);
FileMesh read_vtk(const Source& source);
FileMesh read_gltf(const Source& source);
std::vector<FilePart> read_gltf_parts(const Source& source);  // [part] with faces
FileMesh read_vtp(const Source& source);                      // in trocar_mesh_vtk

// The writers. They return the content of the whole file. OBJ is always text, glTF always binary, binary legacy
// VTK always big endian.
std::string write_stl(const FileMesh& mesh, MeshEncoding encoding);
std::string write_obj(const FileMesh& mesh, MeshEncoding encoding);
std::string write_ply(const FileMesh& mesh, MeshEncoding encoding);
std::string write_vtk(const FileMesh& mesh, MeshEncoding encoding);
std::string write_glb(const FileMesh& mesh, MeshEncoding encoding);
std::string write_vtp(const FileMesh& mesh, MeshEncoding encoding);  // in trocar_mesh_vtk

struct Format {
  const char* extension;  // ".obj"
  FileMesh (*read)(const Source&);
  std::string (*write)(const FileMesh&, MeshEncoding);           // null: only read
  std::vector<FilePart> (*read_parts)(const Source&) = nullptr;  // null: the file is one part
};
// All formats of this program, [format]. Another library adds its own before main() begins.
std::vector<Format>& formats();

// Moves the finished file to its final path. Throws InputError when the file cannot be written, RunError when the disk
// is full.
void commit_file(const std::filesystem::path& file, const std::string& bytes);

// Appends the triangles of a fan around its first corner. `corners`: [corner] vertices. Polygons: polygons.hpp.
void add_fan(std::span<const std::uint32_t> corners, std::vector<glm::uvec3>& faces);
// Appends the strip's triangles, every second one reversed so that all have the orientation of the first. `corners`:
// [corner] vertices.
void add_strip(std::span<const std::uint32_t> corners, std::vector<glm::uvec3>& faces);

}  // namespace trocar::mesh_io

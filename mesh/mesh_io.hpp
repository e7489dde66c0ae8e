// Loads and saves mesh files: STL (ascii, binary), OBJ, PLY (ascii, both binaries), VTP, legacy VTK polydata, glTF.
// Units: metres in memory; files are in millimetres unless `metres_per_unit` says otherwise. glTF, whose unit is the
// metre, is read as a file in millimetres.
// Only STL, which has no shared vertices, is welded, by exact position.   Tested in tests/mesh/mesh_io_test.cpp
#pragma once

#include <array>
#include <filesystem>
#include <glm/glm.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "geometry/units.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {

// Loads a mesh. Throws InputError with one sentence that names the file, the line where it is known, and the remedy.
TriangleMesh load_mesh(const std::filesystem::path& file, double metres_per_unit = kMillimetre);
// A part of a file: a node of a glTF scene, in the scene's coordinates. Other formats have one part, named as the file.
struct MeshPart {
  std::string name;  // as in the file; parts may have the same name
  TriangleMesh mesh;
};
// Loads the parts that have faces, [part] in the order of the file; load_mesh() returns them as one mesh. Throws like
// it.
std::vector<MeshPart> load_mesh_parts(const std::filesystem::path& file, double metres_per_unit = kMillimetre);

// What a file says about itself, beside its mesh.
struct MeshFacts {
  std::vector<std::string> notes;  // one sentence each: what was unusual, and how it was read
  std::string axes;                // "LPS" or "RAS", from a comment; empty: it does not say
  double mm_per_unit = 0.0;        // mm  per unit, from a comment; 0: it does not say
  double mm_per_number = 1.0;      // mm  that a number of the file counts when a file unit is a millimetre; glTF: 1000
};
struct LoadedMesh {
  TriangleMesh mesh;
  MeshFacts facts;
};
// Loads a mesh, or the nodes of that name when `part` is not empty, with what the file says. `rotation`, of the
// positions about the origin, is applied in double. Throws like load_mesh().
LoadedMesh load_turned(const std::filesystem::path& file, double metres_per_unit,
                       const std::optional<glm::dmat3>& rotation = {}, const std::string& part = "");

// Saves a mesh. The extension selects the format. The file is written beside the target and renamed, so a failed save
// leaves no partial file. Throws InputError for a mesh without faces, a unit that is not positive, an extension that it
// does not write, or a file that cannot be written; RunError when the disk is full.
void save_mesh(const TriangleMesh& mesh, const std::filesystem::path& file, double metres_per_unit = kMillimetre);

// How numbers are stored. OBJ is always text; only PLY offers big endian (binary legacy VTK is always big endian).
enum class MeshEncoding { Binary, BinaryBigEndian, Ascii };
// Does the same with a given encoding; save_mesh() above writes Binary. Throws like it.
void save_mesh_as(const TriangleMesh& mesh, const std::filesystem::path& file, MeshEncoding encoding,
                  double metres_per_unit = kMillimetre);

// Positions a mesh file in a scene: the unit of its numbers, the directions of its axes, angles, and an offset, in this
// order. Scenes have x to the patient's left, y to the head and z to the front; other programs have other axes, and all
// of these are right-handed, so nothing is mirrored. Turns are computed in double, before positions become single
// precision; a quarter turn is exact.

enum class MeshAxes {
  Trocar,  // x left, y head, z front
  Lps,     // x left, y back, z head: 3D Slicer, ITK, DICOM
  Ras      // x right, y front, z head: NIfTI, FreeSurfer
};
inline constexpr std::array kMeshAxes{MeshAxes::Trocar, MeshAxes::Lps, MeshAxes::Ras};
// Returns the name in a scene and on the command line.
std::string_view name_of(MeshAxes axes);

struct MeshPlacement {
  double mm_per_unit = 1.0;  // mm       per unit of the file
  MeshAxes axes = MeshAxes::Trocar;
  glm::dvec3 rotate_deg{0.0};  // degrees  about the scene's x axis, then y, then z
  glm::vec3 offset{0.f};       // m
};

// Returns the rotation of a placement: its axes, then its angles.
glm::dmat3 rotation_of(const MeshPlacement& placement);

// Loads a mesh file, or the nodes of that name (glTF) when `part` is not empty. Throws like load_mesh().
LoadedMesh load_placed(const std::filesystem::path& file, const MeshPlacement& placement, const std::string& part = "");

}  // namespace trocar

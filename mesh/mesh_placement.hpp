// Positions a mesh file in a scene: the unit of its numbers, the directions of its axes, angles, and an offset, in this
// order. Scenes have x to the patient's left, y to the head and z to the front; other programs have other axes, and all
// of these are right-handed, so nothing is mirrored. Turns are computed in double, before positions become single
// precision; a quarter turn is exact.   Tested in tests/app/input_test.cpp
#pragma once

#include <array>
#include <filesystem>
#include <glm/glm.hpp>
#include <string>
#include <string_view>

#include "mesh/mesh_io.hpp"

namespace trocar {

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

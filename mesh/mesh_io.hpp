// Mesh files: STL (ascii, binary), OBJ, PLY (ascii, both binaries), VTP, legacy VTK polydata.
// Units: metres inside; files are in millimetres unless `metres_per_unit` says otherwise.
// Only STL, which has no shared vertices, is welded, by exact position.   Tested in tests/mesh/mesh_io_test.cpp
#pragma once

#include <filesystem>

#include "mesh/triangle_mesh.hpp"

namespace trocar {

constexpr double kMillimetre = 1e-3;  // m

// Error: InputError, one sentence with the file, the line where there is one, and the remedy.
TriangleMesh load_mesh(const std::filesystem::path& file, double metres_per_unit = kMillimetre);
// Format by extension. Written beside and renamed: a failed save leaves no half-written file.
// Error: InputError, RunError when the disk is full.
void save_mesh(const TriangleMesh& mesh, const std::filesystem::path& file, double metres_per_unit = kMillimetre);

// How numbers are stored. OBJ is always text; big endian is a choice of PLY only (legacy VTK is so by definition).
enum class MeshEncoding { Binary, BinaryBigEndian, Ascii };
// The same with the encoding named; save_mesh() above writes Binary.
void save_mesh_as(const TriangleMesh& mesh, const std::filesystem::path& file, MeshEncoding encoding,
                  double metres_per_unit = kMillimetre);

}  // namespace trocar

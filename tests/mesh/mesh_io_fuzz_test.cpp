// Tests damaged files of every format but VTP, which mesh_io_vtp_fuzz_test.cpp tests.
#include "tests/mesh/damaged_files.hpp"

namespace trocar {
namespace {

constexpr test::Format kFormats[] = {
    {"obj", mesh_io::read_obj, mesh_io::write_obj, MeshEncoding::Ascii, 4000},
    {"stl", mesh_io::read_stl, mesh_io::write_stl, MeshEncoding::Ascii, 4000},
    {"binary stl", mesh_io::read_stl, mesh_io::write_stl, MeshEncoding::Binary, 4000},
    {"ply", mesh_io::read_ply, mesh_io::write_ply, MeshEncoding::Ascii, 4000},
    {"binary ply", mesh_io::read_ply, mesh_io::write_ply, MeshEncoding::Binary, 4000},
    {"big endian ply", mesh_io::read_ply, mesh_io::write_ply, MeshEncoding::BinaryBigEndian, 4000},
    {"vtk", mesh_io::read_vtk, mesh_io::write_vtk, MeshEncoding::Ascii, 4000},
    {"binary vtk", mesh_io::read_vtk, mesh_io::write_vtk, MeshEncoding::Binary, 4000},
    {"glb", mesh_io::read_gltf, mesh_io::write_glb, MeshEncoding::Binary, 20000},
};

TEST(MeshIoFuzz, CutAtEveryLength) { test::cut_at_every_length(kFormats); }

TEST(MeshIoFuzz, CutFilesWithCountsAreRefused) { test::cut_files_with_counts(kFormats); }

TEST(MeshIoFuzz, FlippedBytes) { test::flip_bytes(kFormats); }

}  // namespace
}  // namespace trocar

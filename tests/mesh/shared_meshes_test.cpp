// Tests third-party meshes, sound and broken: each loads with the known number of faces, or is refused with one
// sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

struct Expected {
  const char* file;
  std::size_t faces;      // 0: refused
  std::size_t vertices;   // used by a face, positions welded; ignored when refused
  const char* part = "";  // part of the sentence when refused
};

constexpr Expected kMeshes[] = {
    {"organs/openhelp/Abdominal_wall.stl", 31934, 15969},
    {"organs/openhelp/Duodenum.stl", 6946, 3475},
    {"organs/openhelp/Kidney_right.stl", 6952, 3478},
    {"organs/openhelp/Liver.stl", 30726, 15365},
    {"organs/openhelp/Spleen.stl", 10814, 5409},
    {"organs/openhelp/Stomach.stl", 9724, 4864},
    {"organs/gallbladder/gallbladder_collision.stl", 500, 252},
    {"organs/gallbladder/liver_visual.stl", 28716, 14462},
    {"organs/sofa/liver-smooth.obj", 4384, 2194},
    {"organs/sofa/liver.obj", 274, 139},
    {"organs/sofa/liver.vtk", 10000, 5008},
    {"organs/sofa/liver_for_test_broken.vtk", 0, 0, "vertex 0"},
    {"instruments/atraumatic_forceps_jaw_left.stl", 496, 256},
    {"instruments/atraumatic_forceps_jaw_right.stl", 496, 256},
    {"instruments/dissection_electrode.stl", 1664, 836},
    {"instruments/instrument_shaft.stl", 1040, 522},
    {"instruments/laparoscope_optics_30_degree.stl", 1388, 717},
    {"instruments/maryland_dissector_jaw_left.stl", 952, 478},
    {"instruments/maryland_dissector_jaw_right.stl", 988, 496},
    {"collision/bunny.ply", 5002, 2503},
    {"collision/thick-cloth_t0.ply", 404, 233},
    {"collision/thick-cloth_t1.ply", 404, 233},
    {"collision/two-cubes-close.ply", 480, 244},
    {"collision/two-cubes-far.ply", 480, 244},
    {"collision/two-cubes-intersecting.ply", 480, 244},
    {"broken/Cray_right.obj", 0, 0, ":3: a vertex coordinate"},
    {"broken/busted.STL", 3878, 1941},
    {"broken/dragon.obj", 2564, 1190},
    {"broken/featuretype.STL", 3476, 2010},
    {"broken/quadknot.obj", 2880, 1440},
    {"broken/self_intersectA.obj", 17160, 8582},
    {"broken/wallhole.obj", 66, 35},  // some polygons continue on the next line after a backslash
    {"parser/opensurgsim/InvalidMesh.ply", 0, 0, "no faces"},
    {"parser/opensurgsim/Wrong3DFileWithRotationData.ply", 0, 0, "no faces"},
    {"parser/opensurgsim/WrongDataTetrahedron.ply", 0, 0, ":4: 'MeshPy'"},
    {"parser/opensurgsim/WrongPlyTetrahedron.ply", 0, 0, ":4: 'MeshPy'"},
    {"parser/opensurgsim/invalid-staple.ply", 0, 0, ":1: the file does not start with 'ply'"},
    {"parser/trimesh/empty.obj", 0, 0, "no faces"},
    {"parser/trimesh/empty.ply", 0, 0, "no faces"},
    {"parser/trimesh/empty.stl", 0, 0, "no faces"},
    {"parser/trimesh/face_in_group_name.obj", 0, 0, "no faces"},
    {"parser/trimesh/face_in_group_name_mid_file.obj", 2, 5},
    {"parser/trimesh/joined_tetrahedra.obj", 8, 5},
    {"parser/trimesh/metadata.ply", 2, 4},
    {"parser/trimesh/multi.ply", 2, 4},
    {"parser/trimesh/multibody.stl", 32, 20},
    {"parser/trimesh/nancolor.obj", 12, 8},
    {"parser/trimesh/negative_indices.obj", 12, 8},
    {"parser/trimesh/notenoughindices.obj", 0, 0, ":9: a face has 2 corners"},
    {"parser/trimesh/obj_points.obj", 0, 0, "no faces"},
    {"parser/trimesh/obj_wireframe.obj", 0, 0, "no faces"},
    {"parser/trimesh/obj_with_no_face_in_chunk.obj", 1, 3},
    {"parser/trimesh/ply_empty_bin.ply", 0, 0, "no faces"},
    {"parser/trimesh/ply_empty_header.ply", 0, 0, "no faces"},
    {"parser/trimesh/points_ascii_with_lists.ply", 0, 0, "no faces"},
    {"parser/trimesh/points_emptyface.ply", 0, 0, "no faces"},
    {"parser/trimesh/polygonfaces.obj", 3, 5},
    {"parser/trimesh/shared.STL", 24, 14},
    {"parser/trimesh/singlevn.obj", 2, 4},
    {"parser/trimesh/soup.stl", 100, 300},
    {"parser/trimesh/stl_empty_ascii.stl", 0, 0, "no faces"},
    {"parser/trimesh/stl_empty_bin.stl", 0, 0, "no faces"},
    {"parser/trimesh/tet.ply", 4, 4},
    {"parser/trimesh/two_objects.obj", 16, 8},
    {"parser/trimesh/two_objects_mixed_case_names.stl", 24, 16},
    {"parser/trimesh/comments.off", 0, 0, "not a mesh format"},
    {"organs/sofa/liver.msh", 0, 0, "not a mesh format"},
};

void check(const Expected& expected, const std::filesystem::path& file) {
  try {
    const TriangleMesh mesh = load_mesh(file);
    EXPECT_EQ(mesh.faces.size(), expected.faces) << file;
    EXPECT_EQ(mesh_report(mesh.view(), {.find_crossings = false}).welded.used_vertices, expected.vertices) << file;
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(expected.faces, 0u) << message;
    EXPECT_TRUE(message.starts_with(file.string())) << message;
    EXPECT_NE(message.find(expected.part), std::string::npos) << message << "\n  should contain " << expected.part;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(SharedMeshes, LoadOrAreRefused) {
  if (!shared_file("organs")) GTEST_SKIP() << "no shared test data";
  for (const Expected& expected : kMeshes) {
    if (const auto file = shared_file(expected.file)) check(expected, *file);
  }
}

// Every other file in the folder must give a mesh or a sentence.
TEST(SharedMeshes, EveryFileIsTested) {
  const auto root = shared_file("");
  if (!root) GTEST_SKIP() << "no shared test data";
  for (const char* folder : {"organs", "instruments", "collision", "broken", "parser"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(*root / folder)) {
      const std::string name = std::filesystem::relative(entry.path(), *root).string();
      const bool known =
          std::any_of(std::begin(kMeshes), std::end(kMeshes), [&](const Expected& e) { return e.file == name; });
      if (known || !entry.is_regular_file()) continue;
      try {
        std::cout << name << " has " << load_mesh(entry.path()).faces.size() << " faces\n";
      } catch (const InputError& error) {
        std::cout << error.what() << "\n";
      }
    }
  }
}

struct Health {
  const char* file;
  std::size_t boundary, non_manifold, inconsistent, duplicates, zero_area, components;
  std::int64_t euler;
  std::size_t crossing;
  double volume_mm3;  // 0: open, not compared
};

// Topology, duplicates and volumes are known from other programs, as are the crossings of liver-smooth, self_intersectA
// and the cubes. The other crossings were confirmed by triangle distances in double, except for featuretype, which only
// touches itself, and liver_visual, which crosses itself in faces 20 to 80 nanometres long.
constexpr Health kHealth[] = {
    {"organs/openhelp/Liver.stl", 0, 0, 0, 0, 0, 1, 2, 0, 1.818e6},
    {"organs/openhelp/Abdominal_wall.stl", 0, 0, 0, 0, 0, 1, 2, 0, 1.551e6},
    {"organs/openhelp/Stomach.stl", 0, 0, 0, 0, 0, 1, 2, 0, 2.894e5},
    {"organs/sofa/liver.vtk", 0, 0, 0, 0, 0, 4, 8, 0, -1.477e6},
    {"organs/sofa/liver.obj", 0, 0, 0, 0, 0, 1, 2, 0, 36.57},
    {"organs/sofa/liver-smooth.obj", 0, 0, 0, 0, 0, 1, 2, 5, 39.27},
    {"organs/gallbladder/liver_visual.stl", 182, 0, 28, 0, 0, 26, 13, 33, 0},
    {"broken/dragon.obj", 0, 102, 0, 38, 0, 1, 22, 106, 608.8},
    {"broken/quadknot.obj", 0, 0, 0, 0, 0, 1, 0, 0, 1.057e6},
    {"broken/featuretype.STL", 576, 0, 0, 0, 0, 1, -16, 1216, 0},
    {"broken/self_intersectA.obj", 0, 0, 0, 0, 0, 1, 2, 338, 0.148},
    {"parser/trimesh/shared.STL", 0, 1, 0, 0, 0, 1, 3, 0, 2.0},
    {"parser/trimesh/multibody.stl", 0, 0, 12, 0, 0, 2, 4, 0, 0},
    {"parser/trimesh/joined_tetrahedra.obj", 0, 3, 0, 1, 0, 1, 4, 0, 0.866},
    {"collision/two-cubes-far.ply", 0, 0, 0, 0, 0, 2, 4, 0, -1.947},
    {"collision/two-cubes-close.ply", 0, 0, 0, 0, 0, 2, 4, 0, 1.92},
    {"collision/two-cubes-intersecting.ply", 0, 0, 0, 0, 0, 2, 4, 96, 1.92},
    {"collision/thick-cloth_t0.ply", 56, 0, 0, 0, 0, 2, 3, 0, 0},
    {"instruments/laparoscope_optics_30_degree.stl", 36, 0, 0, 0, 0, 3, 5, 226, 0},
    {"instruments/dissection_electrode.stl", 0, 0, 0, 0, 0, 2, 4, 164, 5270},
};

TEST(SharedMeshes, HealthIsAsKnown) {
  if (!shared_file("organs")) GTEST_SKIP() << "no shared test data";
  for (const Health& expected : kHealth) {
    const auto file = shared_file(expected.file);
    if (!file) continue;
    const MeshReport report = mesh_report(load_mesh(*file).view());
    EXPECT_EQ(report.welded.boundary_edges, expected.boundary) << expected.file;
    EXPECT_EQ(report.welded.non_manifold_edges, expected.non_manifold) << expected.file;
    EXPECT_EQ(report.welded.inconsistent_edges, expected.inconsistent) << expected.file;
    EXPECT_EQ(report.welded.components, expected.components) << expected.file;
    EXPECT_EQ(report.welded.euler_characteristic, expected.euler) << expected.file;
    EXPECT_EQ(report.duplicate_faces, expected.duplicates) << expected.file;
    EXPECT_EQ(report.degenerate_faces(), expected.zero_area) << expected.file;
    EXPECT_EQ(report.crossing_pairs, expected.crossing) << expected.file;
    if (expected.volume_mm3 != 0) {
      EXPECT_NEAR(report.volume * 1e9, expected.volume_mm3, 1e-3 * std::abs(expected.volume_mm3)) << expected.file;
    }
    EXPECT_EQ(report.outward(), expected.volume_mm3 >= 0 && report.inward_pieces == 0) << expected.file;
  }
}

TEST(SharedMeshes, UnitsAreGuessed) {
  const auto liver = shared_file("organs/openhelp/Liver.stl"), sofa = shared_file("organs/sofa/liver.obj");
  if (!liver || !sofa) GTEST_SKIP() << "no shared test data";
  EXPECT_EQ(mesh_report(load_mesh(*liver).view()).suggested, SizeUnit::Millimetre);
  EXPECT_EQ(mesh_report(load_mesh(*sofa).view()).suggested, SizeUnit::Centimetre);
}

}  // namespace
}  // namespace trocar

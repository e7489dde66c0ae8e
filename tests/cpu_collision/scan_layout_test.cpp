// Tests the layout: it holds every face once, with its own number, in the patch or the seam of its corners.
#include "cpu_collision/scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

std::set<std::uint32_t> patches_of(const ScanFace& face) {
  return {face.corner[0] / kPatchVertices, face.corner[1] / kPatchVertices, face.corner[2] / kPatchVertices};
}

void expect_sound(const ScanLayout& layout, const TriangleMesh& mesh) {
  ASSERT_EQ(layout.faces.size(), mesh.faces.size());
  ASSERT_EQ(layout.source.size(), std::size_t{layout.patch_count} * kPatchVertices);
  std::vector<int> seen(mesh.faces.size(), 0);
  for (const ScanFace& face : layout.faces) {
    ++seen[face.face];
    for (int i = 0; i < 3; ++i) EXPECT_EQ(layout.source[face.corner[i]], 3 * mesh.faces[face.face][i]);
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(mesh.faces.size()));

  std::uint32_t next_face = 0;
  const auto expect_next = [&](const FaceRange& range, const std::set<std::uint32_t>& patches) {
    EXPECT_EQ(range.first, next_face);
    next_face = range.last;
    std::set<std::uint32_t> reached;
    for (std::uint32_t f = range.first; f < range.last; ++f) reached.merge(patches_of(layout.faces[f]));
    EXPECT_TRUE(reached.empty() || reached == patches);
  };
  ASSERT_EQ(layout.within.size(), layout.patch_count);
  for (std::uint32_t patch = 0; patch < layout.patch_count; ++patch) expect_next(layout.within[patch], {patch});
  for (const Seam& seam : layout.seams)
    expect_next(seam.faces, std::set<std::uint32_t>(std::begin(seam.patch), std::end(seam.patch)));
  EXPECT_EQ(next_face, layout.faces.size());
}

TEST(ScanLayout, IsSoundOnClosedOpenAndTornMeshes) {
  for (const TriangleMesh& mesh : {shapes::icosphere(0), shapes::icosphere(4), shapes::grid(30, 7), shapes::cube(),
                                   shapes::torus(40, 20), shapes::random_soup(7, 500)}) {
    expect_sound(make_scan_layout(mesh.view()), mesh);
  }
}

TEST(ScanLayout, AcceptsAMeshWithoutFaces) {
  EXPECT_EQ(make_scan_layout({}).patch_count, 0u);
  const TriangleMesh points{{glm::vec3(1.f), glm::vec3(2.f)}, {}};
  const ScanLayout layout = make_scan_layout(points.view());
  EXPECT_EQ(layout.patch_count, 0u);
  EXPECT_EQ(layout.vertex_count, 2u);
}

TEST(ScanLayout, AcceptsFacesThatUseOneVertexTwice) {
  TriangleMesh mesh = shapes::grid(20, 20);
  mesh.faces.push_back({3, 3, 3});
  mesh.faces.push_back({0, 200, 0});
  expect_sound(make_scan_layout(mesh.view()), mesh);
}

TEST(ScanLayout, OmitsVerticesWithoutAFace) {
  TriangleMesh mesh = shapes::icosphere(3);
  mesh.positions.insert(mesh.positions.begin(), glm::vec3(std::numeric_limits<float>::quiet_NaN()));
  for (glm::uvec3& face : mesh.faces) face += 1u;
  mesh.positions.push_back(glm::vec3(std::numeric_limits<float>::infinity()));
  const ScanLayout layout = make_scan_layout(mesh.view());
  expect_sound(layout, mesh);
  EXPECT_EQ(std::count(layout.source.begin(), layout.source.end(), 0u), 0);
  EXPECT_EQ(std::count(layout.source.begin(), layout.source.end(), 3 * (mesh.positions.size() - 1)), 0);
}

TEST(ScanLayout, KeepsNeighboursTogether) {
  const TriangleMesh mesh = shapes::icosphere(5);
  const ScanLayout layout = make_scan_layout(mesh.view());
  double mean = 0.0;
  for (std::uint32_t patch = 0; patch < layout.patch_count; ++patch) {
    glm::vec3 low(1.f), high(-1.f);
    for (std::uint32_t i = 0; i < kPatchVertices; ++i) {
      const glm::vec3 position = mesh.positions[layout.source[patch * kPatchVertices + i] / 3];
      low = glm::min(low, position);
      high = glm::max(high, position);
    }
    mean += glm::length(high - low) / layout.patch_count;
  }
  // There are 161 patches on a sphere of radius 0.1 m; a round patch would span 0.032 m.
  EXPECT_LT(mean, 0.06);
}

}  // namespace
}  // namespace trocar

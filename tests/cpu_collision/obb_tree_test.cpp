// Tests the box tree after a build and after refits: every face is in exactly one leaf, every vertex is inside every
// box above it.
#include "cpu_collision/trees/obb.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

constexpr unsigned kSeed = 777;

std::vector<Lanes4> in_lanes(const std::vector<glm::vec3>& positions) {
  std::vector<Lanes4> result;
  for (const glm::vec3& p : positions) result.push_back(lanes(p));
  return result;
}

float largest_coordinate(const std::vector<glm::vec3>& positions) {
  float largest = 0.f;
  for (const glm::vec3& p : positions) largest = std::max({largest, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  return largest;
}

// Returns the distance of a point outside a box, m, in double; negative inside.
double outside(const ObbNode& node, const glm::vec3& point) {
  const glm::dvec3 offset = glm::dvec3(point) - glm::dvec3(xyz(node.centre));
  double worst = -1e30;
  for (int k = 0; k < 3; ++k) {
    const glm::dvec3 axis(node.axis_x[k], node.axis_y[k], node.axis_z[k]);
    worst = std::max(worst, std::abs(glm::dot(axis, offset)) - node.extent[k]);
  }
  return worst;
}

struct Built {
  ObbTree tree;
  ObbScratch scratch;
};

Built build(const TriangleMesh& mesh, bool share) {
  Built built;
  const std::vector<Lanes4> positions = in_lanes(mesh.positions);
  build_obb_tree(positions, mesh.faces, {.share_vertices = share}, built.scratch, built.tree);
  fit_tree<ObbNode>(PaddedPositions(mesh.positions), nullptr, largest_coordinate(mesh.positions), built.tree);
  return built;
}

void expect_topology(const ObbTree& tree, std::size_t face_count) {
  std::vector<std::uint32_t> faces = tree.face_of_slot;
  std::sort(faces.begin(), faces.end());
  ASSERT_EQ(faces.size(), face_count);
  for (std::uint32_t f = 0; f < faces.size(); ++f) ASSERT_EQ(faces[f], f);
  std::uint32_t next_slot = 0;
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const IndexRange range = tree.slots[i];
    if (tree.is_leaf(i)) {
      ASSERT_EQ(range.first, next_slot);  // the leaves in order cover each slot once
      ASSERT_GE(range.count, 1u);
      ASSERT_LE(range.count, kLeafFaces);
      next_slot += range.count;
    } else {
      const IndexRange left = tree.slots[i + 1], right = tree.slots[tree.skip[i + 1]];
      ASSERT_EQ(tree.skip[tree.skip[i + 1]], tree.skip[i]);
      ASSERT_EQ(left.first, range.first);
      ASSERT_EQ(right.first, left.first + left.count);
      ASSERT_EQ(left.count + right.count, range.count);
    }
  }
  ASSERT_EQ(next_slot, face_count);
}

void expect_containment(const ObbTree& tree, const TriangleMesh& mesh) {
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    for (std::uint32_t slot = tree.slots[i].first; slot < tree.slots[i].first + tree.slots[i].count; ++slot) {
      const glm::uvec3& face = mesh.faces[tree.face_of_slot[slot]];
      for (int k = 0; k < 3; ++k) ASSERT_LE(outside(tree.nodes[i], mesh.positions[face[k]]), 0.0) << "node " << i;
    }
  }
}

// Moves every vertex at random, with a stretch and a rotation, far more than an organ moves.
void disturb(TriangleMesh& mesh, std::mt19937& random, float share) {
  const float size = share * largest_coordinate(mesh.positions);
  std::uniform_real_distribution<float> off(-size, size);
  for (glm::vec3& p : mesh.positions)
    p = glm::vec3(p.y * 1.5f, -p.x, p.z * 0.4f) + glm::vec3(off(random), off(random), off(random));
}

TriangleMesh coincident(std::size_t faces, const glm::vec3& at) {
  return {std::vector<glm::vec3>(3, at), std::vector<glm::uvec3>(faces, glm::uvec3(0, 1, 2))};
}

// Returns faces of which each has 0.3 times the size of the previous one, so that mean splits separate one face at a
// time.
TriangleMesh shrinking(std::uint32_t faces) {
  TriangleMesh mesh;
  float size = 1.f;
  for (std::uint32_t f = 0; f < faces; ++f, size *= 0.3f) {
    for (const glm::vec3 corner : {glm::vec3(0, 0, 0), glm::vec3(1, 0, 0), glm::vec3(0, 1, 0)}) {
      mesh.positions.push_back(size * (corner + glm::vec3(1, 0.3, 0.2)));
    }
    mesh.faces.push_back({3 * f, 3 * f + 1, 3 * f + 2});
  }
  return mesh;
}

std::vector<TriangleMesh> meshes() {
  std::vector<TriangleMesh> list{shapes::icosphere(3),
                                 shapes::icosphere(2, 1e-5f),
                                 shapes::icosphere(2, 0.1f, {50, -30, 20}),
                                 shapes::grid(30, 40),
                                 shapes::torus(40, 20),
                                 shapes::random_soup(kSeed, 1500),
                                 shapes::cube(),
                                 coincident(37, {0, 0, 0}),
                                 coincident(500, {0.1f, 0.2f, 0.3f}),
                                 coincident(1, {1, 1, 1}),
                                 shrinking(40),
                                 shrinking(200)};
  for (std::uint32_t n = 1; n <= 2 * kLeafFaces + 1; ++n) list.push_back(shapes::random_soup(kSeed + n, n));
  // Needles on one line, and points, among valid faces.
  TriangleMesh flat = shapes::grid(10, 10);
  for (std::uint32_t k = 0; k < 100; ++k) flat.faces.push_back({k, k, k + 1}), flat.faces.push_back({k, k, k});
  list.push_back(flat);
  return list;
}

TEST(ObbTree, InvariantsAfterBuildAndRefit) {
  std::mt19937 random(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  int number = 0;
  for (TriangleMesh mesh : meshes()) {
    SCOPED_TRACE(testing::Message() << "mesh " << number++ << ", " << mesh.faces.size() << " faces");
    for (const bool share : {false, true}) {
      Built built = build(mesh, share);
      expect_topology(built.tree, mesh.faces.size());
      expect_containment(built.tree, mesh);
      for (const float share_of_size : {0.02f, 0.5f}) {
        TriangleMesh moved = mesh;
        disturb(moved, random, share_of_size);
        fit_tree<ObbNode>(PaddedPositions(moved.positions), nullptr, largest_coordinate(moved.positions), built.tree);
        expect_containment(built.tree, moved);
      }
    }
  }
}

// Far from the origin the rounding of the axes has its largest effect.
TEST(ObbTree, ContainsItsFacesFarFromTheOrigin) {
  for (unsigned seed = kSeed; seed < kSeed + 100; ++seed) {
    TriangleMesh mesh = shapes::random_soup(seed, 200);
    for (glm::vec3& p : mesh.positions) p += glm::vec3(30.f, seed % 2 ? 30.f : -30.f, seed % 3 ? 30.f : -30.f);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_containment(build(mesh, false).tree, mesh);
  }
}

TEST(ObbTree, EmptyMesh) {
  const Built built = build({}, true);
  EXPECT_TRUE(built.tree.nodes.empty());
  EXPECT_TRUE(built.tree.face_of_slot.empty());
}

// For the most uneven mesh, the traversal and the build stay shallow.
TEST(ObbTree, DepthIsBounded) {
  const ObbTree tree = build(shrinking(80), false).tree;
  std::vector<int> depth(tree.nodes.size(), 0);
  int deepest = 0;
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    deepest = std::max(deepest, depth[i]);
    if (!tree.is_leaf(i)) depth[i + 1] = depth[tree.skip[i + 1]] = depth[i] + 1;
  }
  EXPECT_LE(deepest, 60);
}

// A second build with the same scratch buffers gives the same tree: no data of one frame leaks into the next.
TEST(ObbTree, RebuildIsRepeatable) {
  const TriangleMesh mesh = shapes::icosphere(3), other = shapes::random_soup(kSeed, 400);
  Built built = build(mesh, false);
  const std::vector<std::uint32_t> first = built.tree.face_of_slot;
  build_obb_tree(in_lanes(other.positions), other.faces, {}, built.scratch, built.tree);
  build_obb_tree(in_lanes(mesh.positions), mesh.faces, {}, built.scratch, built.tree);
  EXPECT_EQ(built.tree.face_of_slot, first);
}

// The axes follow the surface, independent of the meshing density of its halves: a tilted sheet gets a thin box along
// its sides.
TEST(ObbTree, AxesFollowTheSurface) {
  const TriangleMesh coarse = shapes::grid(20, 10, 0.1f, 0.1f), fine = shapes::grid(80, 40, 0.1f, 0.1f);
  TriangleMesh sheet = shapes::joined(coarse, fine);
  for (std::size_t v = 0; v < sheet.positions.size(); ++v) {
    sheet.positions[v].x += v < coarse.positions.size() ? -0.05f : 0.05f;
  }
  const glm::vec3 u = glm::normalize(glm::vec3(1, 2, 3)), v = glm::normalize(glm::cross(u, glm::vec3(0, 0, 1)));
  for (glm::vec3& p : sheet.positions) p = u * p.x + v * p.y;
  const ObbNode root = build(sheet, false).tree.nodes[0];
  EXPECT_NEAR(std::abs(glm::dot(u, glm::vec3(root.axis_x[0], root.axis_y[0], root.axis_z[0]))), 1.f, 1e-4f);
  EXPECT_NEAR(std::abs(glm::dot(v, glm::vec3(root.axis_x[1], root.axis_y[1], root.axis_z[1]))), 1.f, 1e-4f);
  EXPECT_NEAR(root.extent[2], 0.f, 1e-4f);
}

// Boxes fitted around boxes are at most 1.4 times as large as boxes fitted around all vertices below.
TEST(ObbTree, MergedBoxesAreNearlyTight) {
  const TriangleMesh mesh = shapes::torus(100, 60);
  const ObbTree tree = build(mesh, false).tree;
  double merged = 0.0, tight = 0.0;  // sums of half sides
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    glm::dvec3 low(1e30), high(-1e30);
    for (std::uint32_t slot = tree.slots[i].first; slot < tree.slots[i].first + tree.slots[i].count; ++slot) {
      for (int corner = 0; corner < 3; ++corner) {
        const glm::vec3& p = mesh.positions[mesh.faces[tree.face_of_slot[slot]][corner]];
        const Lanes4 along = dot_rows(tree.nodes[i].axis_x, tree.nodes[i].axis_y, tree.nodes[i].axis_z, lanes(p));
        low = glm::min(low, glm::dvec3(xyz(along)));
        high = glm::max(high, glm::dvec3(xyz(along)));
      }
    }
    for (int k = 0; k < 3; ++k) {
      merged += tree.nodes[i].extent[k];
      tight += 0.5 * (high[k] - low[k]);
    }
  }
  EXPECT_LT(merged / tight, 1.4);
}

}  // namespace
}  // namespace trocar

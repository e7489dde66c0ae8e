// Tests splits and fits of every kind of tree after a build and after refits: each face is in one node, and each node's
// volume contains all faces below it. Also tests the fit around a motion and the tight fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cpu_collision/trees/aabb.hpp"
#include "cpu_collision/trees/obb.hpp"
#include "study/trees/volumes.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

constexpr unsigned kSeed = 4711;
constexpr SplitRule kRules[] = {SplitRule::Median, SplitRule::Mean, SplitRule::Middle, SplitRule::Octree};

std::vector<Lanes4> in_lanes(const std::vector<glm::vec3>& positions) {
  std::vector<Lanes4> result;
  for (const glm::vec3& p : positions) result.push_back(lanes(p));
  return result;
}

std::vector<TriangleMesh> meshes() {
  const auto coincident = [](std::size_t faces) {
    return TriangleMesh{std::vector<glm::vec3>(3, {0.1f, 0.2f, 0.3f}),
                        std::vector<glm::uvec3>(faces, glm::uvec3(0, 1, 2))};
  };
  return {shapes::icosphere(3),
          shapes::icosphere(2, 1e-5f),
          shapes::icosphere(2, 0.1f, {50, -30, 20}),
          shapes::grid(30, 40),
          shapes::torus(40, 20),
          shapes::random_soup(kSeed, 1500),
          shapes::cube(),
          shapes::random_soup(kSeed, 1, 1),
          coincident(1),
          coincident(500),
          {}};
}

void expect_topology(const TreeTopology& tree, const TriangleMesh& mesh) {
  std::vector<std::uint32_t> faces = tree.face_of_slot;
  std::sort(faces.begin(), faces.end());
  ASSERT_EQ(faces.size(), mesh.faces.size());
  for (std::uint32_t f = 0; f < faces.size(); ++f) ASSERT_EQ(faces[f], f);
  for (std::uint32_t i = 0; i < tree.node_count(); ++i) {
    const IndexRange range = tree.slots[i];
    ASSERT_GE(range.count, 1u);
    if (tree.is_leaf(i)) {
      ASSERT_EQ(tree.own[i], range.count);
      continue;
    }
    std::uint32_t next = range.first + tree.own[i];  // own faces first, then each child's
    for (std::uint32_t c = i + 1; c != tree.skip[i]; c = tree.skip[c]) {
      ASSERT_EQ(tree.slots[c].first, next);
      next += tree.slots[c].count;
    }
    ASSERT_EQ(next, range.first + range.count);
  }
}

// By the distance bound: a point of a face has distance 0 from the volumes of all its ancestors.
template <class Volume>
void expect_containment(const VolumeTree<Volume>& tree, const std::vector<glm::vec3>& positions,
                        const std::vector<glm::uvec3>& faces, std::mt19937& random) {
  std::uniform_real_distribution<float> share(0.f, 1.f);
  const float rounding = kFitRounding * reach_of(positions);
  const float slack = 2.f * rounding + kFitRounding * 4.f;  // lines extend 2 m beyond the mesh
  for (std::uint32_t i = 0; i < tree.node_count(); ++i) {
    for (std::uint32_t slot = tree.slots[i].first; slot < tree.slots[i].first + tree.slots[i].count; ++slot) {
      const glm::uvec3& f = faces[tree.face_of_slot[slot]];
      for (int k = 0; k < 3; ++k) ASSERT_LE(least_distance(tree.nodes[i], lanes(positions[f[k]])), rounding) << i;
      const float u = share(random), v = (1.f - u) * share(random);
      const glm::vec3 inside = (1.f - u - v) * positions[f.x] + u * positions[f.y] + v * positions[f.z];
      ASSERT_LE(least_distance(tree.nodes[i], lanes(inside)), rounding) << i;
      // A line through the face crosses the volume in every direction.
      const glm::vec3 along(share(random) - 0.5f, share(random) - 0.5f, share(random) - 0.5f);
      ASSERT_TRUE(crosses(tree.nodes[i], segment_between(inside - along, inside + along, slack))) << i;
      ASSERT_TRUE(crosses(tree.nodes[i], segment_between(inside, inside, rounding))) << i;
      ASSERT_TRUE(crosses(tree.nodes[i], ray_from(inside - 3.f * along, along, slack))) << i;
    }
  }
}

// Returns random motion of every vertex, with a stretch and a rotation: far more than an organ's motion.
std::vector<glm::vec3> disturbed(const std::vector<glm::vec3>& rest, std::mt19937& random) {
  const float size = 0.1f * reach_of(rest);
  std::uniform_real_distribution<float> off(-size, size);
  std::vector<glm::vec3> moved;
  for (const glm::vec3& p : rest)
    moved.push_back(glm::vec3(p.y * 1.5f, -p.x, p.z * 0.4f) + glm::vec3(off(random), off(random), off(random)));
  return moved;
}

// Checks a tree that is built, refitted, and fitted around a motion.
template <class Volume, class Build>
void expect_sound(const TriangleMesh& mesh, Build build) {
  std::mt19937 random(kSeed);
  for (const bool share : {false, true}) {
    VolumeTree<Volume> tree;
    const std::vector<Lanes4> rest = in_lanes(mesh.positions);
    build(rest, share, tree);
    expect_topology(tree, mesh);
    fit_tree<Volume>(PaddedPositions(mesh.positions), nullptr, reach_of(mesh.positions), tree);
    expect_containment(tree, mesh.positions, mesh.faces, random);
    const VolumeTree<Volume> loose = tree;
    fit_tightly<Volume>(PaddedPositions(mesh.positions), mesh.faces, reach_of(mesh.positions), tree);
    expect_containment(tree, mesh.positions, mesh.faces, random);
    for (std::uint32_t i = 0; i < tree.node_count(); ++i)
      ASSERT_LE(size_of(tree.nodes[i]), size_of(loose.nodes[i]) * 1.0001f + 1e-9f) << i;
    const std::vector<glm::vec3> moved = disturbed(mesh.positions, random);
    const PaddedPositions after(moved);
    fit_tree<Volume>(after, nullptr, reach_of(moved), tree);
    expect_containment(tree, moved, mesh.faces, random);
    fit_tree<Volume>(PaddedPositions(mesh.positions), &after, std::max(reach_of(mesh.positions), reach_of(moved)),
                     tree);
    expect_containment(tree, moved, mesh.faces, random);
    expect_containment(tree, mesh.positions, mesh.faces, random);
  }
}

template <class Volume>
void expect_sound_by_every_rule() {
  for (const TriangleMesh& mesh : meshes()) {
    for (const SplitRule rule : kRules) {
      SCOPED_TRACE(testing::Message() << mesh.faces.size() << " faces, rule " << int(rule) << ", seed " << kSeed);
      SplitScratch scratch;
      expect_sound<Volume>(mesh, [&](std::span<const Lanes4> positions, bool share, VolumeTree<Volume>& tree) {
        build_topology(positions, mesh.faces, {rule, share ? 3u : kLeafFaces, share}, scratch, tree);
        tree.nodes.resize(tree.node_count());
      });
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(TreeBuild, Aabb) { expect_sound_by_every_rule<Aabb>(); }
TEST(TreeBuild, Sphere) { expect_sound_by_every_rule<Sphere>(); }
TEST(TreeBuild, KDop6) { expect_sound_by_every_rule<KDop<6>>(); }
TEST(TreeBuild, KDop14) { expect_sound_by_every_rule<KDop<14>>(); }
TEST(TreeBuild, KDop18) { expect_sound_by_every_rule<KDop<18>>(); }
TEST(TreeBuild, KDop26) { expect_sound_by_every_rule<KDop<26>>(); }

TEST(TreeBuild, ObbAndQuospo) {
  for (const TriangleMesh& mesh : meshes()) {
    SCOPED_TRACE(testing::Message() << mesh.faces.size() << " faces, seed " << kSeed);
    ObbScratch scratch;
    expect_sound<ObbNode>(mesh, [&](std::span<const Lanes4> positions, bool share, ObbTree& tree) {
      build_obb_tree(positions, mesh.faces, {.leaf_faces = share ? 1u : kLeafFaces, .share_vertices = share}, scratch,
                     tree);
    });
    expect_sound<Quospo>(mesh, [&](std::span<const Lanes4> positions, bool share, VolumeTree<Quospo>& tree) {
      ObbTree boxes;
      build_obb_tree(positions, mesh.faces, {.leaf_faces = share ? 1u : kLeafFaces, .share_vertices = share}, scratch,
                     boxes);
      static_cast<TreeTopology&>(tree) = boxes;
      for (const ObbNode& box : boxes.nodes) tree.nodes.push_back(quantised(box));
    });
  }
}

TEST(TreeBuild, StraddlingFacesStayInTheNode) {
  // The mesh is two sheets on either side of x = 0 and one face across it.
  TriangleMesh mesh;
  for (int k = 0; k < 40; ++k)
    for (const float side : {-1.f, 1.f}) {
      const std::uint32_t first = static_cast<std::uint32_t>(mesh.positions.size());
      for (const glm::vec3 p : {glm::vec3(1.f, 0.f, 0.f), glm::vec3(2.f, 0.f, 0.f), glm::vec3(1.f, 1.f, 0.f)})
        mesh.positions.push_back(glm::vec3(side, 1.f, 1.f) * p + glm::vec3(0.f, 0.01f * float(k), 0.f));
      mesh.faces.push_back({first, first + 1, first + 2});
    }
  mesh.faces.push_back({0, 3, 4});
  TreeTopology tree;
  SplitScratch scratch;
  build_topology(in_lanes(mesh.positions), mesh.faces, {SplitRule::Middle}, scratch, tree);
  ASSERT_EQ(tree.own[0], 1u);
  EXPECT_EQ(tree.face_of_slot[0], 80u);
  EXPECT_EQ(tree.slots[1].count, 40u);
}

TEST(TreeBuild, QuantisedDirectionsAreNear) {
  std::mt19937 random(kSeed);
  std::normal_distribution<float> normal;
  double widest = 0.0;
  for (int i = 0; i < 100000; ++i) {
    const glm::vec3 d = glm::normalize(glm::vec3(normal(random), normal(random), normal(random)));
    const double cosine = std::abs(glm::dot(glm::dvec3(d), glm::dvec3(quantised_direction(nearest_quantised(d)))));
    widest = std::max(widest, std::acos(std::min(1.0, cosine)));
  }
  EXPECT_LT(widest, glm::radians(5.1));
  for (const glm::vec3 d : {glm::vec3(0.f), glm::vec3(1, 1, 1), glm::vec3(-1, 1, -1), glm::vec3(0, 0, -1)})
    EXPECT_LT(nearest_quantised(d), kQuantisedDirections);
}

}  // namespace
}  // namespace trocar

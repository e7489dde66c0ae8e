// Tests the trees of study/: every bounding volume and split, and the BSP tree.
#include "cpu_collision/reference.hpp"
#include "cpu_collision/solids/point_in_solid.hpp"
#include "cpu_collision/trees/aabb.hpp"
#include "cpu_collision/trees/motion_crossing.hpp"
#include "cpu_collision/trees/obb.hpp"
#include "cpu_collision/trees/surface_tree.hpp"
#include "geometry/closest.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "geometry/refine.hpp"
#include "mesh/exact_sign.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/triangle_mesh.hpp"
#include "study/bsp/bsp.hpp"
#include "study/shapes/superquadric.hpp"
#include "study/solids/edge_triangle.hpp"
#include "study/trees/study_volumes.hpp"
#include "study/trees/volumes.hpp"
#include "tests/cpu_collision/solids_support.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/broken_meshes.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Compares every kind of tree, with every split, rebuilt and refitted, with the reference: random tools over several
// meshes, including degenerate ones, both sets, all kinds of tool volume, at rest and deforming.

// Lists the names of all trees, the trainer's and the study's, refitted and rebuilt.

inline std::vector<std::string> all_tree_names() {
  std::vector<std::string> names;
  for (const TreeVolume& volume : kAllTreeVolumes)
    for (const char* ending : {"-refit", ""}) names.push_back(std::string(volume.name) + ending);
  return names;
}

// Tests splits and fits of every kind of tree after a build and after refits: each face is in one node, and each node's
// volume contains all faces below it. Also tests the fit around a motion and the tight fit.

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
  for (std::uint32_t i = 0; i < tree.node_count(); ++i)
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
  for (const TriangleMesh& mesh : meshes())
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

namespace tree_touch_test {

using test::Dice;

constexpr unsigned kSeed = 99;

enum class Kind { Static, Paper, Capsule };

struct Bounds {
  glm::dvec3 low, high;
};

Bounds bounds_of(const TriangleMesh& mesh) {
  Bounds bounds{glm::dvec3(1e30), glm::dvec3(-1e30)};
  for (const glm::vec3& p : mesh.positions) {
    bounds.low = glm::min(bounds.low, glm::dvec3(p)), bounds.high = glm::max(bounds.high, glm::dvec3(p));
  }
  return bounds;
}

// Returns a step whose tip ends near the surface, or anywhere; from very thin to larger than the organ.
ToolStep random_step_at(Dice& dice, const TriangleMesh& mesh) {
  const Bounds bounds = bounds_of(mesh);
  const double size = std::max(glm::distance(bounds.low, bounds.high), 1e-3);
  const glm::dvec3 target = dice.pick(4) ? glm::dvec3(mesh.positions[dice.pick(int(mesh.positions.size()))])
                                         : 0.5 * (bounds.low + bounds.high) + dice.in_cube(0.7 * size);
  ToolStep step;
  step.radius = std::max(2e-6, size * (dice.pick(4) ? dice.log_uniform(1e-3, 0.05) : dice.log_uniform(1e-5, 1.0)));
  step.tip_after = target + dice.direction() * size * dice.log_uniform(1e-5, 0.1);
  step.pivot = step.tip_after + dice.shaft_direction() * size * dice.log_uniform(1e-2, 2.0);
  step.tip_before = step.tip_after;
  if (dice.pick(5)) step.tip_before += dice.direction() * size * dice.log_uniform(1e-6, 0.7);
  return step;
}

ToolVolume volume_of(const ToolStep& step, Kind kind) {
  switch (kind) {
    case Kind::Static:
      return static_volume({step.pivot, step.tip_after, step.radius});
    case Kind::Paper:
      return swept_volume(step, Cover::Paper);
    default:
      return swept_volume(step, Cover::Capsule);
  }
}

// All trees of one mesh, including the BSP.
struct Trees {
  std::vector<std::unique_ptr<TouchQuery>> all;

  explicit Trees(const TriangleMesh& mesh) {
    std::vector<std::string> names = all_tree_names();
    for (const char* name : {"aabb:median", "aabb:middle-refit", "aabb:octree-refit", "sphere:mean-refit",
                             "sphere:middle", "kdop14:median-refit"})
      names.push_back(name);
    for (const std::string& name : names) {
      all.push_back(make_surface_tree(*tree_plan(name, kAllTreeVolumes)));
      EXPECT_EQ(all.back()->name(), name);
      all.back()->rebuild(mesh.view());
    }
    all.push_back(make_bsp_query());
    all.back()->rebuild(mesh.view());
  }
  void update(const TriangleMesh& mesh) {
    for (const auto& tree : all) tree->update(mesh.positions);
  }
};

struct Tally {
  std::uint64_t in_both = 0, borderline = 0;
};

// Computes the reference once and compares every tree with it.
void expect_agreement(const Trees& trees, const TriangleMesh& mesh, std::span<const ToolVolume> tools, TouchSet set,
                      Tally& tally) {
  std::vector<ReferenceAnswer> reference;
  for (const ToolVolume& tool : tools) reference.push_back(reference_touched(mesh.view(), tool, set));
  for (const auto& tree : trees.all) {
    const TouchList list = tree->touched(tools, set);
    ASSERT_EQ(list.first.size(), tools.size() + 1);
    for (std::size_t k = 0; k < tools.size(); ++k) {
      const Agreement agreement = compare_with_reference(reference[k], list.of_tool(k));
      ASSERT_EQ(agreement.disagreements, 0u) << tree->name() << ", tool " << k << ", set " << int(set);
      tally.in_both += agreement.in_both;
      tally.borderline += agreement.borderline;
    }
  }
}

// Compares a few tools at a time, of all kinds, for both sets; the exact set uses only capsule covers.
void expect_agreement_everywhere(const Trees& trees, const TriangleMesh& mesh, Dice& dice, int rounds, Tally& tally) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    std::vector<ToolVolume> any, capsules;
    for (int k = dice.pick(4); k >= 0; --k) {
      const ToolStep step = random_step_at(dice, mesh);
      any.push_back(volume_of(step, Kind(dice.pick(3))));
      capsules.push_back(volume_of(step, Kind::Capsule));
    }
    expect_agreement(trees, mesh, any, TouchSet::Volume, tally);
    expect_agreement(trees, mesh, capsules, TouchSet::Exact, tally);
    if (testing::Test::HasFatalFailure()) return;
  }
}

void wobble(const TriangleMesh& rest, double share, int frame, TriangleMesh& mesh) {
  const Bounds bounds = bounds_of(rest);
  const double size = glm::distance(bounds.low, bounds.high), waves = 12.0 / size;
  for (std::size_t v = 0; v < rest.positions.size(); ++v) {
    const glm::dvec3 p(rest.positions[v]);
    mesh.positions[v] = p + share * size * glm::sin(waves * glm::dvec3(p.y, p.z, p.x) + 0.7 * frame);
  }
}

TEST(TreeTouch, AgreesWithTheReference) {
  Dice dice(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  const TriangleMesh meshes[] = {shapes::icosphere(3),
                                 shapes::icosphere(2, 2e-3f),
                                 shapes::icosphere(3, 3.f),
                                 shapes::torus(60, 30),
                                 shapes::grid(40, 30),
                                 shapes::random_soup(kSeed, 3000),
                                 shapes::random_soup(kSeed, 1000, 0.1f, 0.2f),
                                 shapes::cube()};
  Tally tally;
  for (const TriangleMesh& mesh : meshes) {
    SCOPED_TRACE(testing::Message() << mesh.faces.size() << " faces");
    Trees trees(mesh);
    expect_agreement_everywhere(trees, mesh, dice, 60, tally);
  }
  EXPECT_GT(tally.in_both, 100000u);
  std::printf("%lu faces in both, %lu borderline\n", static_cast<unsigned long>(tally.in_both),
              static_cast<unsigned long>(tally.borderline));
}

TEST(TreeTouch, AgreesOnDeformingMeshes) {
  Dice dice(kSeed + 1);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 1);
  Tally tally;
  for (const TriangleMesh& rest : {shapes::icosphere(3), shapes::torus(60, 30), shapes::random_soup(kSeed, 1000)}) {
    TriangleMesh mesh = rest;
    Trees trees(mesh);
    for (int frame = 0; frame < 12; ++frame) {
      wobble(rest, frame < 8 ? 0.02 : 0.5, frame, mesh);  // like an organ, then far more
      trees.update(mesh);
      expect_agreement_everywhere(trees, mesh, dice, 4, tally);
    }
  }
  EXPECT_GT(tally.in_both, 10000u);
}

TEST(TreeTouch, AgreesOnDegenerateMeshes) {
  Dice dice(kSeed + 2);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 2);
  std::vector<TriangleMesh> meshes;
  meshes.push_back(shapes::random_soup(1, 1));
  meshes.push_back({{{0.01f, 0.02f, 0.03f}}, std::vector<glm::uvec3>(100, glm::uvec3(0))});  // one point, many times
  TriangleMesh same{{{0, 0, 0}, {0.1f, 0, 0}, {0, 0.1f, 0}}, std::vector<glm::uvec3>(100, glm::uvec3(0, 1, 2))};
  meshes.push_back(same);
  TriangleMesh needles = shapes::grid(12, 12);  // valid faces, needles and points
  for (std::uint32_t k = 0; k < 140; ++k) needles.faces.push_back({k, k, k + 1}), needles.faces.push_back({k, k, k});
  meshes.push_back(needles);
  TriangleMesh line;  // all vertices on one line
  for (std::uint32_t k = 0; k < 50; ++k) line.positions.push_back({0.002f * float(k), 0.f, 0.f});
  for (std::uint32_t k = 0; k + 2 < 50; ++k) line.faces.push_back({k, k + 1, k + 2});
  meshes.push_back(line);
  Tally tally;
  for (const TriangleMesh& mesh : meshes) {
    SCOPED_TRACE(testing::Message() << mesh.faces.size() << " faces");
    Trees trees(mesh);
    expect_agreement_everywhere(trees, mesh, dice, 60, tally);
  }
  EXPECT_GT(tally.in_both, 1000u);
}

TEST(TreeTouch, EmptyMeshNoToolsAndReuse) {
  const ToolVolume tool = static_volume({{0, 0, 0.3}, {0, 0, 0}, 0.01});
  const Trees trees({});
  for (const auto& tree : trees.all) {
    tree->update({});
    EXPECT_TRUE(tree->touched({&tool, 1}, TouchSet::Volume).touches.empty());
    EXPECT_EQ(tree->touched({&tool, 1}, TouchSet::Exact).first.size(), 2u);
  }
  // The same object gets new faces, more and then fewer.
  for (const int subdivisions : {3, 1}) {
    const TriangleMesh mesh = shapes::icosphere(subdivisions);
    for (const auto& tree : trees.all) {
      tree->rebuild(mesh.view());
      EXPECT_TRUE(tree->touched({}, TouchSet::Volume).touches.empty());
    }
    Tally tally;
    expect_agreement(trees, mesh, {&tool, 1}, TouchSet::Volume, tally);
    EXPECT_GT(tally.in_both, 0u);
  }
}

TEST(TreeTouch, ReportsTimesCountersAndMemory) {
  const TriangleMesh mesh = shapes::icosphere(3);
  const Trees trees(mesh);
  const ToolVolume tool = static_volume({{0, 0, 0.3}, {0, 0, 0}, 0.01});
  for (const auto& tree : trees.all) {
    SCOPED_TRACE(tree->name());
    tree->update(mesh.positions);
    const std::size_t touched = tree->touched({&tool, 1}, TouchSet::Volume).touches.size();
    const CostCounters counters = tree->counters();
    EXPECT_GT(touched, 0u);
    EXPECT_GT(counters.volume_tests, 1u);
    EXPECT_LT(counters.volume_tests, counters.updated_nodes);  // the tree prunes
    EXPECT_GE(counters.face_tests, 1u);
    EXPECT_LT(counters.face_tests, mesh.faces.size() / 2);
    EXPECT_GT(tree->times().update_ms, 0.0);
    EXPECT_GT(tree->times().query_ms(), 0.0);
    EXPECT_GT(tree->memory_bytes(), mesh.positions.size() * sizeof(glm::vec3));
  }
}

TEST(TreeTouch, NamesAreParsedStrictly) {
  for (const char* name : {"", "aabb:", "aabb:best", "aabb-Refit", "obb:median", "quospo:mean", "kdop8",
                           "aabb-refit-refit", "sphere :mean", "scan"})
    EXPECT_FALSE(tree_plan(name, kAllTreeVolumes)) << name;
  EXPECT_EQ(tree_plan("sphere", kAllTreeVolumes)->split, SplitRule::Octree);
  EXPECT_EQ(tree_plan("aabb:middle-refit", kAllTreeVolumes)->update, TreeUpdate::Refit);
}

// Tests folded, open, self-crossing and non-manifold surfaces.
TEST(TreeTouch, AgreesOnBrokenMeshes) {
  Dice dice(kSeed + 4);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 4);
  Tally tally;
  const auto meshes = test::broken_meshes_that_load();
  if (meshes.empty()) GTEST_SKIP() << "no shared test data";
  for (const auto& [name, mesh] : meshes) {
    SCOPED_TRACE(name);
    expect_agreement_everywhere(Trees(mesh), mesh, dice, 12, tally);
  }
  EXPECT_GT(tally.in_both, 1000u);
}

TEST(TreeTouch, AgreesOnARealLiver) {
  const auto file = shared_file("organs/openhelp/Liver.stl");
  if (!file) GTEST_SKIP() << "no shared test data";
  const TriangleMesh rest = load_mesh(*file);
  TriangleMesh mesh = rest;
  Dice dice(kSeed + 3);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 3);
  Trees trees(mesh);
  Tally tally;
  for (int frame = 0; frame < 10; ++frame) {
    expect_agreement_everywhere(trees, mesh, dice, 4, tally);
    wobble(rest, 0.02, frame, mesh);
    trees.update(mesh);
  }
  EXPECT_GT(tally.in_both, 10000u);
}

}  // namespace tree_touch_test

// Compares queries of segments, rays and points with a loop over all faces, also for degenerate lines and meshes.

namespace tree_query_test {

using test::Dice;

constexpr unsigned kSeed = 31;
constexpr double kEndless = std::numeric_limits<double>::infinity();

struct Line {
  glm::dvec3 from, to;
};

std::vector<FaceId> crossed_by_all(const TriangleMesh& mesh, const Line& line) {
  std::vector<FaceId> faces;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f)
    if (line_meets_triangle(line.from, line.to - line.from, 1.0, triangle_of(mesh.positions, mesh.faces[f])))
      faces.push_back(FaceId(f));
  return faces;
}

double first_of_all(const TriangleMesh& mesh, const Line& line) {
  double first = kEndless;
  for (const glm::uvec3& face : mesh.faces)
    if (const auto t = line_meets_triangle(line.from, line.to - line.from, kEndless, triangle_of(mesh.positions, face)))
      first = std::min(first, *t);
  return first;
}

// Returns the closest face; among equally close faces the one with the lowest number.
SurfacePoint closest_of_all(const TriangleMesh& mesh, const glm::dvec3& point) {
  SurfacePoint best{FaceId(0), {}, kEndless};
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    const ClosestPoints found = closest_segment_triangle(point, point, triangle_of(mesh.positions, mesh.faces[f]));
    if (found.distance < best.distance) best = {FaceId(f), found.on_second, found.distance};
  }
  return best;
}

// Lines through vertices, along edges, through nothing, of zero length, along axes, far and near.
std::vector<Line> lines_for(const TriangleMesh& mesh, Dice& dice, int count) {
  const auto vertex = [&] { return glm::dvec3(mesh.positions[dice.pick(int(mesh.positions.size()))]); };
  std::vector<Line> lines;
  for (int k = 0; k < count; ++k) {
    const glm::dvec3 a = vertex(), b = vertex(), far = dice.direction() * dice.log_uniform(0.01, 10.0);
    switch (k % 6) {
      case 0:
        lines.push_back({a + far, a - far});
        break;
      case 1:
        lines.push_back({a, b});
        break;
      case 2:
        lines.push_back({a, a});
        break;
      case 3: {
        glm::dvec3 along(0.0);
        along[dice.pick(3)] = 1.0;
        lines.push_back({a - along, a + along});
        break;
      }
      case 4:
        lines.push_back({dice.in_cube(0.3), dice.in_cube(0.3)});
        break;
      default:
        lines.push_back({far, far + dice.in_cube(0.01)});
    }
  }
  return lines;
}

TEST(TreeQuery, LinesAndPointsAgreeWithALoop) {
  Dice dice(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  TriangleMesh point{{{0.01f, 0.02f, 0.03f}}, std::vector<glm::uvec3>(20, glm::uvec3(0))};
  std::size_t found = 0;
  for (const TriangleMesh& mesh : {point, shapes::cube(), shapes::grid(20, 20), shapes::icosphere(3),
                                   shapes::torus(40, 20), shapes::random_soup(kSeed, 800)}) {
    const std::vector<Line> lines = lines_for(mesh, dice, 120);
    for (const std::string& name : all_tree_names()) {
      SCOPED_TRACE(testing::Message() << name << ", " << mesh.faces.size() << " faces");
      const auto tree = make_surface_tree(*tree_plan(name, kAllTreeVolumes));
      tree->rebuild(mesh.view());
      for (const Line& line : lines) {
        const std::vector<FaceId> wanted = crossed_by_all(mesh, line);
        const auto crossed = tree->crossed(line.from, line.to);
        ASSERT_TRUE(std::equal(crossed.begin(), crossed.end(), wanted.begin(), wanted.end()));
        found += wanted.size();
        const auto near = tree->along(line.from, line.to);
        for (const FaceId face : wanted) ASSERT_NE(std::find(near.begin(), near.end(), face), near.end());
        const double first = first_of_all(mesh, line);
        const auto hit = tree->first_hit(line.from, line.to - line.from);
        ASSERT_EQ(hit ? hit->t : kEndless, first);
        const auto closest = tree->closest(line.from, kEndless);
        ASSERT_TRUE(closest);
        const SurfacePoint nearest = closest_of_all(mesh, line.from);
        ASSERT_EQ(closest->distance, nearest.distance);
        ASSERT_EQ(closest->face, nearest.face);
        ASSERT_NEAR(glm::distance(closest->point, line.from), closest->distance, 1e-12);
      }
    }
  }
  EXPECT_GT(found, 10000u);
}

TEST(TreeQuery, ClosestWithinALimit) {
  const TriangleMesh mesh = shapes::icosphere(3, 0.1f);
  for (const std::string& name : all_tree_names()) {
    const auto tree = make_surface_tree(*tree_plan(name, kAllTreeVolumes));
    tree->rebuild(mesh.view());
    EXPECT_TRUE(tree->closest({0.0, 0.0, 0.15}, 0.051)) << name;
    EXPECT_FALSE(tree->closest({0.0, 0.0, 0.15}, 0.049)) << name;
    EXPECT_LT(tree->counters().volume_tests, tree->node_count() / 2) << name;
  }
}

TEST(TreeQuery, AroundFindsTheFacesAtAPoint) {
  Dice dice(kSeed + 1);
  const TriangleMesh mesh = shapes::torus(40, 20);
  for (const std::string& name : all_tree_names()) {
    const auto tree = make_surface_tree(*tree_plan(name, kAllTreeVolumes));
    tree->rebuild(mesh.view());
    for (int k = 0; k < 50; ++k) {
      const std::uint32_t f = static_cast<std::uint32_t>(dice.pick(int(mesh.faces.size())));
      const Triangle face = triangle_of(mesh.positions, mesh.faces[f]);
      const auto around = tree->around((face.a + face.b + face.c) / 3.0);
      EXPECT_NE(std::find(around.begin(), around.end(), FaceId(f)), around.end()) << name;
      EXPECT_LT(around.size(), mesh.faces.size() / 4) << name;
    }
  }
}

TEST(TreeQuery, EmptyMesh) {
  for (const std::string& name : all_tree_names()) {
    const auto tree = make_surface_tree(*tree_plan(name, kAllTreeVolumes));
    tree->rebuild({});
    EXPECT_TRUE(tree->crossed({0, 0, 0}, {1, 1, 1}).empty());
    EXPECT_TRUE(tree->along({0, 0, 0}, {1, 1, 1}).empty());
    EXPECT_FALSE(tree->first_hit({0, 0, 0}, {1, 1, 1}));
    EXPECT_FALSE(tree->closest({0, 0, 0}, kEndless));
    EXPECT_TRUE(tree->around({0, 0, 0}).empty());
    EXPECT_TRUE(tree->self_crossing().pairs.empty());
    EXPECT_TRUE(tree->self_crossing_on_the_way({}).pairs.empty());
  }
}

}  // namespace tree_query_test

// Compares the pairs of faces of two trees, of a tree with itself, and of a surface in motion with a test of every
// pair. Also tests scenes with known answers.

namespace tree_pairs_test {

constexpr unsigned kSeed = 77;

std::vector<std::string> all_trees() {
  std::vector<std::string> names = all_tree_names();
  for (const char* name : {"aabb:median", "aabb:middle", "sphere:mean", "kdop18:middle"}) names.push_back(name);
  return names;
}

std::unique_ptr<SurfaceTree> tree_over(const std::string& name, const TriangleMesh& mesh) {
  auto tree = make_surface_tree(*tree_plan(name, kAllTreeVolumes));
  tree->rebuild(mesh.view());
  return tree;
}

std::vector<FacePair> crossing(const std::string& name, const TriangleMesh& a, const TriangleMesh& b) {
  const auto first = tree_over(name, a), second = tree_over(name, b);
  const auto pairs = first->crossing(*second).pairs;
  return {pairs.begin(), pairs.end()};
}

TEST(TreePairs, CrossingAgreesWithEveryPair) {
  std::size_t found = 0;
  for (unsigned seed = kSeed; seed < kSeed + 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const TriangleMesh a = shapes::random_soup(seed, 300), b = shapes::random_soup(seed + 100, 200);
    std::vector<FacePair> wanted;
    solids::crossing_pairs(a.view(), b.view(), solids::EdgeTest::Exact, wanted);
    for (const std::string& name : all_trees()) ASSERT_EQ(crossing(name, a, b), wanted) << name;
    found += wanted.size();
  }
  const TriangleMesh ball = shapes::icosphere(3, 0.1f), ring = shapes::torus(40, 20, 0.1f, 0.03f);
  std::vector<FacePair> wanted;
  solids::crossing_pairs(ball.view(), ring.view(), solids::EdgeTest::Exact, wanted);
  for (const std::string& name : all_trees()) ASSERT_EQ(crossing(name, ball, ring), wanted) << name;
  EXPECT_GT(found + wanted.size(), 300u);
}

TEST(TreePairs, CrossingAcceptsTreesOfEveryKind) {
  const TriangleMesh a = shapes::random_soup(kSeed, 150, 0.1f, 0.06f),
                     b = shapes::random_soup(kSeed + 100, 120, 0.1f, 0.06f);
  std::vector<FacePair> wanted;
  solids::crossing_pairs(a.view(), b.view(), solids::EdgeTest::Exact, wanted);
  ASSERT_GT(wanted.size(), 20u);
  for (const std::string& ours : all_trees()) {
    const auto first = tree_over(ours, a);
    for (const std::string& theirs : all_trees()) {
      const auto second = tree_over(theirs, b);
      for (int turn = 0; turn < 2; ++turn) {
        const auto pairs = first->crossing(*second).pairs;
        ASSERT_TRUE(std::equal(pairs.begin(), pairs.end(), wanted.begin(), wanted.end()))
            << ours << " and " << theirs << ", seed " << kSeed;
      }
    }
  }
}

// Tests that crossing() uses the other tree's new positions and faces, for every kind of tree.
TEST(TreePairs, CrossingFollowsATreeOfAnotherKind) {
  const TriangleMesh ball = shapes::icosphere(2, 0.1f), ring = shapes::torus(20, 10, 0.1f, 0.03f);
  TriangleMesh away = ring;
  for (glm::vec3& p : away.positions) p.x += 1.f;
  const auto first = tree_over("obb-refit", ball), second = tree_over("kdop18-refit", ring);
  EXPECT_GT(first->crossing(*second).pairs.size(), 20u);
  second->update(away.positions);
  EXPECT_TRUE(first->crossing(*second).pairs.empty());
  second->rebuild(ball.view());
  EXPECT_GE(first->crossing(*second).pairs.size(), ball.faces.size());
}

TEST(TreePairs, SelfCrossingAgreesWithTheMeshRoom) {
  const TriangleMesh meshes[] = {shapes::random_soup(kSeed, 500), shapes::icosphere(3),
                                 shapes::joined(shapes::icosphere(2, 0.1f), shapes::torus(30, 15)), shapes::cube()};
  for (const TriangleMesh& mesh : meshes) {
    const SelfCrossings wanted = self_crossings(mesh.view(), 100000);
    for (const std::string& name : all_trees()) {
      const auto tree = tree_over(name, mesh);
      const auto pairs = tree->self_crossing().pairs;
      ASSERT_TRUE(std::equal(pairs.begin(), pairs.end(), wanted.pairs.begin(), wanted.pairs.end()))
          << name << ", " << mesh.faces.size() << " faces, seed " << kSeed;
    }
  }
}

TEST(TreePairs, KnownScenes) {
  const auto far = shared_file("collision/two-cubes-far.ply"), close = shared_file("collision/two-cubes-close.ply"),
             intersecting = shared_file("collision/two-cubes-intersecting.ply"),
             posed = shared_file("collision/Model_1_Scenario_1.txt");
  if (!far || !close || !intersecting || !posed) GTEST_SKIP() << "no shared test data";
  const test::PosedScene scene = test::load_posed_scene(*posed);
  for (const std::string& name : all_trees()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(tree_over(name, load_mesh(*far))->self_crossing().pairs.size(), 0u);
    EXPECT_EQ(tree_over(name, load_mesh(*close))->self_crossing().pairs.size(), 0u);
    EXPECT_EQ(tree_over(name, load_mesh(*intersecting))->self_crossing().pairs.size(), 96u);
    EXPECT_EQ(crossing(name, scene.posed(0, 0), scene.posed(1, 0)).size(), 0u);
    EXPECT_EQ(crossing(name, scene.posed(0, 1), scene.posed(1, 1)).size(), 16u);
  }
}

// Two sheets that pass through each other between two frames: neither frame shows a crossing.
TEST(TreePairs, SheetsThatPassThroughEachOther) {
  const TriangleMesh sheet = shapes::grid(6, 6);
  TriangleMesh before = sheet, after = sheet;
  const std::uint32_t count = static_cast<std::uint32_t>(sheet.positions.size());
  for (const glm::vec3& p : sheet.positions) before.positions.push_back(p + glm::vec3(0.003f, 0.002f, 0.01f));
  for (const glm::vec3& p : sheet.positions) after.positions.push_back(p + glm::vec3(0.003f, 0.002f, -0.01f));
  for (const glm::uvec3& f : sheet.faces) before.faces.push_back(f + count);
  after.faces = before.faces;
  std::vector<FacePair> first;
  for (const std::string& name : all_trees()) {
    const auto tree = tree_over(name, before);
    EXPECT_TRUE(tree->self_crossing().pairs.empty()) << name;
    const auto pairs = tree->self_crossing_on_the_way(after.positions).pairs;
    EXPECT_GT(pairs.size(), sheet.faces.size()) << name;
    if (first.empty()) first.assign(pairs.begin(), pairs.end());
    EXPECT_TRUE(std::equal(pairs.begin(), pairs.end(), first.begin(), first.end())) << name;
    // At rest, or moving together, they do not meet.
    tree->update(before.positions);
    EXPECT_TRUE(tree->self_crossing_on_the_way(before.positions).pairs.empty()) << name;
    tree->update(before.positions);
    std::vector<glm::vec3> shifted = before.positions;
    for (glm::vec3& p : shifted) p += glm::vec3(0.05f, 0.f, 0.2f);
    EXPECT_TRUE(tree->self_crossing_on_the_way(shifted).pairs.empty()) << name;
  }
}

TEST(TreePairs, MotionAgreesWithEveryPair) {
  const TriangleMesh mesh = shapes::random_soup(kSeed, 200, 0.1f, 0.02f);
  test::Dice dice(kSeed);
  std::vector<glm::vec3> after = mesh.positions;
  for (std::size_t v = 0; v < after.size(); v += 3) {
    const glm::vec3 direction(dice.in_cube(0.02));
    for (std::size_t k = v; k < v + 3; ++k) after[k] += direction + glm::vec3(dice.in_cube(0.002));
  }
  float extent = 0.f;
  for (const glm::vec3& p : mesh.positions) extent = std::max({extent, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  for (const glm::vec3& p : after) extent = std::max({extent, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  std::vector<FacePair> wanted;
  const auto motion = [&](std::uint32_t f) {
    return MovingTriangle{triangle_of(mesh.positions, mesh.faces[f]), triangle_of(after, mesh.faces[f])};
  };
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f)
    for (std::uint32_t g = f + 1; g < mesh.faces.size(); ++g)
      if (triangles_meet(motion(f), motion(g), 1e-7 * double(extent))) wanted.emplace_back(f, g);
  EXPECT_GT(wanted.size(), 20u);
  for (const std::string& name : all_trees()) {
    const auto tree = tree_over(name, mesh);
    const auto pairs = tree->self_crossing_on_the_way(after).pairs;
    EXPECT_TRUE(std::equal(pairs.begin(), pairs.end(), wanted.begin(), wanted.end())) << name << ", seed " << kSeed;
  }
}

// A cloth falls onto another within one step: 46 pairs share a point at its end, none at its start.
TEST(TreePairs, ThickClothIsCaughtInMotion) {
  const auto before = shared_file("collision/thick-cloth_t0.ply"), after = shared_file("collision/thick-cloth_t1.ply");
  if (!before || !after) GTEST_SKIP() << "no shared test data";
  const TriangleMesh first = load_mesh(*before), second = load_mesh(*after);
  ASSERT_EQ(first.faces, second.faces);
  for (const std::string& name : all_trees()) {
    const auto tree = tree_over(name, first);
    EXPECT_TRUE(tree->self_crossing().pairs.empty()) << name;
    const auto moving = tree->self_crossing_on_the_way(second.positions).pairs;
    const std::vector<FacePair> caught(moving.begin(), moving.end());
    tree->update(second.positions);
    const auto crossed = tree->self_crossing().pairs;
    EXPECT_EQ(crossed.size(), 46u) << name;
    std::size_t missed = 0;
    for (const FacePair& pair : crossed) missed += !std::binary_search(caught.begin(), caught.end(), pair) ? 1u : 0u;
    EXPECT_EQ(missed, 0u) << name;
    if (name == "aabb")
      std::printf("%zu pairs meet during the step, %zu cross at its end\n", caught.size(), crossed.size());
  }
}

}  // namespace tree_pairs_test

// Tests that a frame of any tree allocates nothing after a warm-up, for every query, by counting calls of operator new.

constexpr int kFrames = 20;

struct Frames {
  std::vector<std::vector<glm::vec3>> positions;  // [frame][vertex]
  std::vector<ToolVolume> tools;                  // two a frame
};

Frames deforming(const TriangleMesh& mesh) {
  test::Dice dice(5);
  Frames frames{std::vector<std::vector<glm::vec3>>(kFrames, mesh.positions), {}};
  for (std::vector<glm::vec3>& positions : frames.positions) {
    for (glm::vec3& p : positions) p *= float(dice.uniform(0.95, 1.05));
    for (int k = 0; k < 2; ++k) {
      const glm::dvec3 tip(positions[dice.pick(int(positions.size()))]);
      frames.tools.push_back(swept_volume({tip * 3.0, tip, tip + dice.in_cube(0.05), 0.005}, Cover::Capsule));
    }
  }
  return frames;
}

// Makes every query in each frame. Returns the number of touched faces plus the number of pairs. The caller's first run
// is the warm-up.
std::size_t run(SurfaceTree& tree, const SurfaceTree& other, const SurfaceTree& of_another_kind, const Frames& frames) {
  std::size_t found = 0;
  for (std::size_t k = 0; k < frames.positions.size(); ++k) {
    tree.update(frames.positions[k]);
    for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact})
      found += tree.touched(std::span(frames.tools).subspan(2 * k, 2), set).touches.size();
    const glm::dvec3 point(0.01 * double(k), 0.02, 0.2);
    tree.crossed(point, -point);
    tree.along(point, -point);
    tree.first_hit(point, -point);
    tree.closest(point, 1.0);
    tree.around(point);
    found += tree.crossing(other).pairs.size();
    found += tree.crossing(of_another_kind).pairs.size();
  }
  return found;
}

TEST(TreeAllocation, NoneAfterWarmUp) {
  const TriangleMesh mesh = shapes::icosphere(4), other = shapes::icosphere(2, 0.1f, {0.07f, 0.f, 0.f});
  const Frames frames = deforming(mesh);
  std::vector<std::string> names = all_tree_names();
  for (const char* name : {"aabb:median", "aabb:middle", "kdop14:octree"}) names.push_back(name);
  for (const std::string& name : names) {
    const auto tree = make_surface_tree(*tree_plan(name, kAllTreeVolumes)),
               against = make_surface_tree(*tree_plan(name, kAllTreeVolumes));
    tree->rebuild(mesh.view());
    against->rebuild(other.view());
    const auto another = make_surface_tree(*tree_plan(name.starts_with("aabb") ? "sphere" : "aabb", kAllTreeVolumes));
    another->rebuild(other.view());
    EXPECT_GT(run(*tree, *against, *another, frames), 100u) << name;
    const std::uint64_t before = allocations_so_far();
    run(*tree, *against, *another, frames);
    EXPECT_EQ(allocations_so_far() - before, 0u) << name;
  }
}

namespace bsp_test {

// Tests the BSP tree: its size on curved surfaces, segments and points against brute force, points on planes and
// segments in planes, meshes that are not surfaces, broken meshes against the reference, allocations.
// trees_test.cpp covers touch queries of all other meshes.

using solids::PointLocation;
using test::Dice;

constexpr unsigned kSeed = 31;

struct Named {
  const char* name;
  TriangleMesh mesh;
};

std::vector<Named> solid_meshes() {
  const auto superquadric = [](SuperquadricKind kind, double e1, double e2) {
    return make_superquadric({.kind = kind, .profile_exponent = e1, .outline_exponent = e2, .faces = 2000});
  };
  return {{"ball", shapes::icosphere(3)},
          {"ring", shapes::torus(60, 30)},
          {"cube", shapes::cube()},
          {"two cubes", shapes::joined(shapes::cube(), shapes::cube(0.05f, {0.2f, 0.f, 0.f}))},
          {"box", superquadric(SuperquadricKind::Ellipsoid, 0.1, 0.1)},
          {"star", superquadric(SuperquadricKind::Ellipsoid, 3.0, 3.0)},
          {"frame", superquadric(SuperquadricKind::Toroid, 0.2, 0.5)}};
}

std::vector<Named> all_meshes() {
  std::vector<Named> meshes = solid_meshes();
  meshes.push_back({"sheet", shapes::grid(20, 15)});
  meshes.push_back({"soup", shapes::random_soup(kSeed, 1000, 0.1f, 0.05f)});
  TriangleMesh line;
  for (std::uint32_t k = 0; k < 30; ++k) line.positions.emplace_back(0.002f * float(k), 0.f, 0.f);
  for (std::uint32_t k = 0; k + 2 < 30; ++k) line.faces.emplace_back(k, k + 1, k + 2);
  meshes.push_back({"line", line});
  meshes.push_back({"point", {{{0.01f, 0.02f, 0.03f}}, std::vector<glm::uvec3>(20, glm::uvec3(0))}});
  TriangleMesh same{{{0, 0, 0}, {0.1f, 0, 0}, {0, 0.1f, 0}}, std::vector<glm::uvec3>(50, glm::uvec3(0, 1, 2))};
  meshes.push_back({"same face", same});
  return meshes;
}

// Returns an end point of a segment: anywhere, or on a vertex, an edge or a face of the mesh.
glm::dvec3 random_point(Dice& dice, const TriangleMesh& mesh) {
  const Triangle t = triangle_of(mesh.positions, mesh.faces[dice.pick(int(mesh.faces.size()))]);
  const auto which = dice.pick(5);
  if (which == 0) return t.a;
  if (which == 1) return 0.5 * (t.a + t.b);
  if (which == 2) return 0.25 * t.a + 0.25 * t.b + 0.5 * t.c;
  return dice.in_cube(0.15);
}

TEST(BspSolid, SegmentsMatchBruteForce) {
  Dice dice(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::size_t met = 0;
  for (const auto& [name, mesh] : all_meshes()) {
    SCOPED_TRACE(name);
    BspSolid solid(mesh.view());
    for (int round = 0; round < 300; ++round) {
      const glm::dvec3 from = random_point(dice, mesh);
      glm::dvec3 to = random_point(dice, mesh);  // sometimes of the same face: a segment in its plane
      if (dice.pick(20) == 0) to = from;
      if (dice.pick(4) == 0) to[dice.pick(3)] = from[dice.pick(3)];
      std::vector<SegmentMeeting> expected;
      for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
        const Triangle face = triangle_of(mesh.positions, mesh.faces[f]);
        if (const auto t = first_meeting(from, to, face, solid.tree().tolerance)) expected.push_back({FaceId(f), *t});
      }
      std::sort(expected.begin(), expected.end(), [](const SegmentMeeting& a, const SegmentMeeting& b) {
        return a.t != b.t ? a.t < b.t : a.face < b.face;
      });
      const auto crossed = solid.crossed(from, to);
      ASSERT_EQ(crossed.size(), expected.size()) << "round " << round;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(crossed[i].face, expected[i].face);
        ASSERT_EQ(crossed[i].t, expected[i].t);
      }
      const auto first = solid.first_crossed(from, to);
      ASSERT_EQ(first.has_value(), !expected.empty());
      if (first) {
        ASSERT_EQ(first->face, expected[0].face);
      }
      met += expected.size();
    }
  }
  std::printf("%zu meetings\n", met);
  EXPECT_GT(met, 5000u);
}

// Compares the first meeting with one face with the distance of segment and triangle, which shares no code with it.
TEST(BspSolid, FirstMeetingMatchesDistance) {
  Dice dice(kSeed + 1);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 1);
  constexpr double kTolerance = 1e-10;
  int met = 0;
  for (int round = 0; round < 20000; ++round) {
    Triangle face{dice.in_cube(0.1), dice.in_cube(0.1), dice.in_cube(0.1)};
    glm::dvec3 from = dice.in_cube(0.1), to = dice.in_cube(0.1);
    if (dice.pick(3) == 0) face.a.z = face.b.z = face.c.z = from.z = to.z = 0.01;
    if (dice.pick(10) == 0) to = from;
    const auto t = first_meeting(from, to, face, kTolerance);
    const double distance = closest_segment_triangle(from, to, face).distance;
    if (t) {
      ++met;
      ASSERT_LT(distance, 2.0 * kTolerance);
      const glm::dvec3 at = from + *t * (to - from);
      ASSERT_LT(closest_segment_triangle(at, at, face).distance, 1e-7) << "round " << round;
      const glm::dvec3 before = from + 0.999 * *t * (to - from);
      if (*t > 0.01) {
        ASSERT_GT(closest_segment_triangle(from, before, face).distance, 0.0);
      }
    } else {
      ASSERT_GT(distance, 0.0) << "round " << round;
    }
  }
  EXPECT_GT(met, 2000);
}

TEST(BspSolid, PointsMatchWindingNumber) {
  Dice dice(kSeed + 2);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 2);
  for (const auto& [name, mesh] : solid_meshes()) {
    SCOPED_TRACE(name);
    const BspSolid solid(mesh.view());
    int inside = 0;
    for (int round = 0; round < 1000; ++round) {
      const glm::dvec3 near = random_point(dice, mesh);
      const glm::dvec3 point = dice.pick(2) ? near + dice.in_cube(1e-3) : dice.in_cube(0.15);
      const bool expected = solids::winding_number(mesh.view(), point) > 0.5;
      ASSERT_EQ(solid.locate(point), expected ? PointLocation::Inside : PointLocation::Outside) << "round " << round;
      inside += expected;
    }
    EXPECT_GT(inside, 50);
    for (int round = 0; round < 300; ++round) {  // on the surface, and in the planes of faces but off them
      const Triangle t = triangle_of(mesh.positions, mesh.faces[dice.pick(int(mesh.faces.size()))]);
      const double u = dice.uniform(0.0, 1.0), v = dice.uniform(0.0, 1.0 - u);
      ASSERT_EQ(solid.locate(t.a + u * (t.b - t.a) + v * (t.c - t.a)), PointLocation::OnSurface);
      const glm::dvec3 beside = t.a + dice.uniform(-5.0, 5.0) * (t.b - t.a) + dice.uniform(-5.0, 5.0) * (t.c - t.a);
      const PointLocation found = solid.locate(beside);
      if (found == PointLocation::OnSurface) continue;
      ASSERT_EQ(found == PointLocation::Inside, solids::winding_number(mesh.view(), beside) > 0.5);
    }
  }
}

// Face planes alone degenerate to a list on a convex surface. With median planes above them the tree is shallow and its
// size proportional to the faces.
TEST(BspTree, SizeOnCurvedSurfaces) {
  BspScratch scratch;
  BspTree tree;
  const TriangleMesh small = shapes::icosphere(3);
  const BspParams faces_alone{.cell_faces = std::numeric_limits<std::uint32_t>::max()};
  build_bsp_tree(small.view(), faces_alone, scratch, tree);
  EXPECT_EQ(tree.depth, small.faces.size());
  EXPECT_EQ(tree.nodes.size(), small.faces.size());
  std::printf("face planes alone, %zu faces: depth %zu\n", small.faces.size(), tree.depth);
  for (const int subdivisions : {3, 4, 5, 6}) {
    const TriangleMesh mesh = shapes::icosphere(subdivisions);
    const auto start = Clock::now();
    build_bsp_tree(mesh.view(), {}, scratch, tree);
    const double ms = milliseconds_since(start);
    std::printf("%zu faces: %zu nodes, %zu cuts, depth %zu, %.1f ms\n", mesh.faces.size(), tree.nodes.size(), tree.cuts,
                tree.depth, ms);
    EXPECT_LT(tree.nodes.size(), 5 * mesh.faces.size());
    EXPECT_LT(tree.depth, 60u);
    EXPECT_EQ(tree.unsplit_leaves, 0u);
  }
}

TEST(BspTree, EveryFaceIsKept) {
  for (const auto& [name, mesh] : all_meshes()) {
    BspScratch scratch;
    BspTree tree;
    build_bsp_tree(mesh.view(), {}, scratch, tree);
    std::vector<bool> kept(mesh.faces.size(), false);
    for (const std::uint32_t face : tree.faces) kept[face] = true;
    EXPECT_EQ(std::count(kept.begin(), kept.end(), false), 0) << name;
  }
}

TEST(BspQuery, BrokenMeshesAgreeWithTheReference) {
  Dice dice(kSeed + 3);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 3);
  std::uint64_t in_both = 0;
  const auto meshes = test::broken_meshes_that_load();
  if (meshes.empty()) GTEST_SKIP() << "no shared test data";
  for (const auto& [name, mesh] : meshes) {
    SCOPED_TRACE(name);
    glm::dvec3 low(1e30), high(-1e30);
    for (const glm::vec3& p : mesh.positions) low = glm::min(low, glm::dvec3(p)), high = glm::max(high, glm::dvec3(p));
    const double size = glm::distance(low, high);
    const auto query = make_bsp_query();
    query->rebuild(mesh.view());
    for (int round = 0; round < 4; ++round) {
      const glm::dvec3 tip(mesh.positions[dice.pick(int(mesh.positions.size()))]);
      const ToolStep step{tip + size * dice.direction(), tip, tip + 0.1 * dice.in_cube(size), 0.02 * size};
      const ToolVolume tool = swept_volume(step, Cover::Capsule);
      for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact}) {
        const TouchList list = query->touched({&tool, 1}, set);
        const Agreement agreement = compare_with_reference(reference_touched(mesh.view(), tool, set), list.of_tool(0));
        ASSERT_EQ(agreement.disagreements, 0u) << name << " round " << round;
        in_both += agreement.in_both;
      }
    }
  }
  EXPECT_GT(in_both, 100u);
}

TEST(BspQuery, CountersMemoryAndEmptyMeshes) {
  const auto query = make_bsp_query();
  EXPECT_EQ(query->name(), "bsp");
  const ToolVolume tool = static_volume({{0, 0, 0.3}, {0, 0, 0.08}, 0.005});
  query->rebuild({});
  query->update({});
  EXPECT_TRUE(query->touched({&tool, 1}, TouchSet::Volume).touches.empty());
  const TriangleMesh mesh = shapes::icosphere(5);
  query->rebuild(mesh.view());
  EXPECT_FALSE(query->touched({&tool, 1}, TouchSet::Volume).touches.empty());
  const CostCounters counters = query->counters();
  EXPECT_GT(counters.volume_tests, 1u);
  EXPECT_LT(counters.volume_tests, counters.updated_nodes / 10);
  EXPECT_LT(counters.face_tests, mesh.faces.size() / 10);
  EXPECT_GT(query->memory_bytes(), mesh.faces.size() * sizeof(BspNode));
}

TEST(BspQuery, AllocatesNothingAfterWarmUp) {
  const TriangleMesh rest = shapes::icosphere(4);
  const auto query = make_bsp_query();
  query->rebuild(rest.view());
  std::size_t touches = 0;
  const auto frame = [&](int k) {
    TriangleMesh mesh = rest;
    for (glm::vec3& p : mesh.positions) p += 0.004f * glm::sin(40.f * glm::vec3(p.y, p.z, p.x) + 0.7f * float(k));
    const ToolVolume tool = static_volume({{0, 0, 0.3}, {0, 0, 0.01 * k - 0.1}, 0.01});
    const std::uint64_t before = allocations_so_far();
    query->update(mesh.positions);
    touches += query->touched({&tool, 1}, TouchSet::Volume).touches.size();
    touches += query->touched({&tool, 1}, TouchSet::Exact).touches.size();
    return allocations_so_far() - before;
  };
  for (int k = 0; k < 20; ++k) frame(k);
  for (int k = 0; k < 20; ++k) EXPECT_EQ(frame(k), 0u);
  EXPECT_GT(touches, 1000u);
}

}  // namespace bsp_test

}  // namespace
}  // namespace trocar

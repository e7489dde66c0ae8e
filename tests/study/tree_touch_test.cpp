// Compares every kind of tree, with every split, rebuilt and refitted, with the reference: random tools over several
// meshes, including degenerate ones, both sets, all kinds of tool volume, at rest and deforming.
#include <gtest/gtest.h>

#include <algorithm>

#include "cpu_collision/reference.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "study/bsp/bsp.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/study/all_trees.hpp"
#include "tests/support/broken_meshes.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

using test::Dice;

constexpr unsigned kSeed = 99;

enum class Kind { Static, Paper, Capsule };

struct Bounds {
  glm::dvec3 low, high;
};

Bounds bounds_of(const TriangleMesh& mesh) {
  Bounds bounds{glm::dvec3(1e30), glm::dvec3(-1e30)};
  for (const glm::vec3& p : mesh.positions) {
    bounds.low = glm::min(bounds.low, glm::dvec3(p));
    bounds.high = glm::max(bounds.high, glm::dvec3(p));
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

}  // namespace
}  // namespace trocar

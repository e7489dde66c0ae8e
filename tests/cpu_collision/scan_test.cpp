// Tests that the scan query equals its definition (scan_volume) face for face, and the reference on all faces that are
// not borderline (1 micrometre).
#include "cpu_collision/scan.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "cpu_collision/reference.hpp"
#include "geometry/refine.hpp"
#include "mesh/mesh_io.hpp"
#include "tests/cpu_collision/scan_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

using Dice = test::ScanDice;
using test::face_numbers;

constexpr std::uint32_t kSeed = 20250612;

std::vector<std::uint32_t> volume_answer(TouchQuery& query, const ToolVolume& tool) {
  return face_numbers(query.touched({&tool, 1}, TouchSet::Volume).touches);
}

// Returns the number of faces that both touch.
std::uint64_t expect_agreement(TouchQuery& query, const MeshView& mesh, const ToolVolume& tool, TouchSet set,
                               std::uint32_t seed) {
  const TouchList answer = query.touched({&tool, 1}, set);
  const Agreement agreement = compare_with_reference(reference_touched(mesh, tool, set), answer.touches);
  EXPECT_EQ(agreement.disagreements, 0u) << "seed " << seed;
  return agreement.in_both;
}

// Returns a strip of n - 2 faces over n vertices; fewer than three vertices share one degenerate face.
TriangleMesh strip(std::uint32_t vertices) {
  TriangleMesh mesh;
  for (std::uint32_t v = 0; v < vertices; ++v)
    mesh.positions.push_back(glm::vec3(0.004f * float(v) - 0.1f, v % 2 ? 0.01f : -0.01f, 0.f));
  for (std::uint32_t v = 0; v + 2 < vertices; ++v) mesh.faces.push_back({v, v + 1, v + 2});
  if (mesh.faces.empty()) mesh.faces.push_back({0, vertices - 1, 0});
  return mesh;
}

// Compares the query with its definition on one mesh, at rest and moved, for every kind of tool and every kernel.
// Returns the number of touched faces.
std::size_t expect_as_defined(const TriangleMesh& mesh, Dice& dice, int tools) {
  std::size_t touched = 0;
  for (const ScanKernels* kernels : test::all_kernels()) {
    const auto query = make_scan_query(*kernels);
    query->rebuild(mesh.view());
    std::vector<glm::vec3> positions = mesh.positions;
    for (int t = 0; t < tools; ++t) {
      const ToolVolume tool =
          dice.pick(3) ? test::random_tool(dice) : test::random_planes(dice, dice.pick(kMaxPlanes + 1));
      const auto defined = face_numbers(scan_volume({positions, mesh.faces}, tool));
      EXPECT_EQ(volume_answer(*query, tool), defined) << kernels->name << ", tool " << t << ", seed " << kSeed;
      touched += defined.size();
      positions = test::moved(mesh.positions, dice, 0.003);
      positions.shrink_to_fit();
      query->update(positions);
    }
  }
  return touched;
}

TEST(Scan, MatchesDefinitionOnManyShapes) {
  Dice dice(kSeed);
  for (const TriangleMesh& mesh : {shapes::icosphere(4), shapes::torus(60, 30), shapes::grid(40, 25), shapes::cube(),
                                   shapes::random_soup(11, 800), shapes::random_soup(12, 300, 0.2f, 0.2f)})
    EXPECT_GT(expect_as_defined(mesh, dice, 60), 50u) << mesh.faces.size() << " faces";
}

TEST(Scan, MatchesDefinitionForEveryVertexCountAroundAPatch) {
  Dice dice(kSeed + 1);
  std::size_t touched = 0;
  for (std::uint32_t vertices = 1; vertices <= 70; ++vertices) touched += expect_as_defined(strip(vertices), dice, 12);
  EXPECT_GT(touched, 1000u);
}

TEST(Scan, MatchesDefinitionWithDegenerateFaces) {
  Dice dice(kSeed + 2);
  TriangleMesh mesh = shapes::random_soup(13, 400);
  for (std::size_t f = 0; f < mesh.faces.size(); f += 3) mesh.faces[f].z = mesh.faces[f].x;
  for (std::size_t f = 1; f < mesh.faces.size(); f += 3) mesh.faces[f].y = mesh.faces[f].z = mesh.faces[f].x;
  EXPECT_GT(expect_as_defined(mesh, dice, 60), 500u);
}

TEST(Scan, AgreesWithTheReference) {
  Dice dice(kSeed + 3);
  const TriangleMesh mesh = shapes::joined(shapes::icosphere(3), shapes::random_soup(14, 400));
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  std::uint64_t in_volume = 0, exact = 0;
  for (int t = 0; t < 60; ++t) {
    const ToolVolume tool = test::random_tool(dice);
    in_volume += expect_agreement(*query, mesh.view(), tool, TouchSet::Volume, kSeed + 3);
    const ToolVolume capsule = swept_volume(tool.step, Cover::Capsule);
    exact += expect_agreement(*query, mesh.view(), capsule, TouchSet::Exact, kSeed + 3);
  }
  EXPECT_GT(in_volume, 100u);
  EXPECT_GT(exact, 100u);
}

TEST(Scan, AnswersEveryToolInTurn) {
  Dice dice(kSeed + 4);
  const TriangleMesh mesh = shapes::icosphere(4);
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  std::vector<ToolVolume> tools;
  for (int t = 0; t < 9; ++t) tools.push_back(test::random_tool(dice));
  const TouchList all = query->touched(tools, TouchSet::Volume);
  ASSERT_EQ(all.first.size(), tools.size() + 1);
  EXPECT_EQ(all.first.back(), all.touches.size());
  EXPECT_GT(all.touches.size(), 20u);
  for (std::size_t t = 0; t < tools.size(); ++t)
    EXPECT_EQ(face_numbers(all.of_tool(t)), face_numbers(scan_volume(mesh.view(), tools[t])));
  EXPECT_EQ(query->touched({}, TouchSet::Volume).first.size(), 1u);
}

TEST(Scan, ExactTouchesCarryTheirRecord) {
  Dice dice(kSeed + 5);
  const TriangleMesh mesh = shapes::icosphere(4);
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  std::size_t touches = 0;
  for (int t = 0; t < 50; ++t) {
    const ToolVolume tool = swept_volume(test::random_step(dice), Cover::Capsule);
    const std::vector<FaceId> candidates = scan_volume(mesh.view(), tool);
    std::vector<Touch> own(candidates.size());
    own.resize(refine_touches(tool.step, mesh.view(), candidates, own));
    const TouchList answer = query->touched({&tool, 1}, TouchSet::Exact);
    ASSERT_EQ(answer.touches.size(), own.size()) << "seed " << kSeed + 5;
    for (std::size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(answer.touches[i].face, own[i].face);
      EXPECT_EQ(answer.touches[i].point, own[i].point);
      EXPECT_EQ(answer.touches[i].normal, own[i].normal);
      EXPECT_EQ(answer.touches[i].depth, own[i].depth);
      EXPECT_EQ(answer.touches[i].time, own[i].time);
    }
    touches += own.size();
  }
  EXPECT_GT(touches, 100u) << "seed " << kSeed + 5;
}

TEST(Scan, AcceptsAMeshWithoutFaces) {
  Dice dice(kSeed + 6);
  const ToolVolume tool = test::random_tool(dice);
  const auto query = make_scan_query(best_scan_kernels());
  EXPECT_TRUE(query->touched({&tool, 1}, TouchSet::Exact).touches.empty()) << "before any rebuild";
  query->rebuild({});
  query->update({});
  EXPECT_TRUE(query->touched({&tool, 1}, TouchSet::Exact).touches.empty());
  const TriangleMesh mesh = shapes::cube();
  query->rebuild(mesh.view());
  EXPECT_EQ(volume_answer(*query, test::random_planes(dice, 0)).size(), mesh.faces.size()) << "all of space";
}

TEST(Scan, IgnoresVerticesWithoutAFace) {
  Dice dice(kSeed + 7);
  TriangleMesh mesh = shapes::icosphere(3);
  mesh.positions.push_back(glm::vec3(std::numeric_limits<float>::quiet_NaN()));
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  std::size_t touched = 0;
  for (int t = 0; t < 20; ++t) {
    const ToolVolume tool = test::random_tool(dice);
    const auto defined = face_numbers(scan_volume(mesh.view(), tool));
    EXPECT_EQ(volume_answer(*query, tool), defined) << "seed " << kSeed + 7;
    touched += defined.size();
  }
  EXPECT_GT(touched, 20u);
}

TEST(Scan, WorksFarFromTheOrigin) {
  Dice dice(kSeed + 8);
  const glm::vec3 far(800.f, -300.f, 20.f);
  TriangleMesh mesh = shapes::icosphere(3);
  for (glm::vec3& position : mesh.positions) position += far;
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  std::size_t touched = 0;
  for (int t = 0; t < 50; ++t) {
    ToolStep step = test::random_step(dice);
    for (glm::dvec3* point : {&step.pivot, &step.tip_before, &step.tip_after}) *point += glm::dvec3(far);
    const ToolVolume tool = swept_volume(step, Cover::Capsule);
    const auto defined = face_numbers(scan_volume(mesh.view(), tool));
    EXPECT_EQ(volume_answer(*query, tool), defined) << "seed " << kSeed + 8;
    touched += defined.size();
  }
  EXPECT_GT(touched, 50u);
}

TEST(Scan, AgreesWithTheReferenceOnAScannedLiver) {
  const auto file = shared_file("organs/openhelp/Liver.stl");
  if (!file) GTEST_SKIP() << "the OpenHELP liver is absent";
  const TriangleMesh mesh = load_mesh(*file);
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  Dice dice(kSeed + 9);
  std::uint64_t touched = 0;
  for (int t = 0; t < 6; ++t) {
    ToolStep step{{0.02, -0.06, 0.26}, {}, {}, 0.0025};
    step.tip_before = glm::dvec3(-0.0433, 0.0667, 0.1456) + dice.in_cube(0.03);
    step.tip_after = step.tip_before + dice.in_cube(0.005);
    const ToolVolume tool = swept_volume(step, Cover::Capsule);
    for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact})
      touched += expect_agreement(*query, mesh.view(), tool, set, kSeed + 9);
  }
  EXPECT_GT(touched, 100u);
}

}  // namespace
}  // namespace trocar

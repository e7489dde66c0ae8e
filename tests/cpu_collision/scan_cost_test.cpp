// Tests that the scan filters as tightly as specified: the slack of its planes, and the numbers of patches and faces
// that it tests, against a twin. A weaker filter gives the same answer later. The kernels must agree.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cpu_collision/scan_support.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

constexpr std::uint32_t kSeed = 365;
constexpr float kRoundings = 8.f * 0x1p-23f;

TEST(ScanCost, PlanesMoveByTheirRounding) {
  test::ScanDice dice(kSeed);
  for (const int count : {0, 1, 5, 8}) {
    const ToolVolume volume = test::random_planes(dice, count);
    for (const float largest : {0.f, 0.25f, 800.f}) {
      const ScanPlanes planes = scan_planes(volume, largest);
      for (int p = 0; p < kMaxPlanes; ++p) {
        const glm::vec4 plane = p < count ? volume.planes[p] : glm::vec4(0.f, 0.f, 0.f, 1.f);
        const float margin = kRoundings * (3.f * largest + std::abs(plane.w));
        EXPECT_EQ(glm::vec3(planes.out.x[p], planes.out.y[p], planes.out.z[p]), glm::vec3(plane));
        EXPECT_EQ(glm::vec3(planes.exact.x[p], planes.exact.y[p], planes.exact.z[p]), glm::vec3(plane));
        EXPECT_EQ(planes.exact.d[p], double(plane.w));
        EXPECT_FLOAT_EQ(planes.out.d[p], plane.w + margin);
        EXPECT_FLOAT_EQ(planes.in_d[p], plane.w - margin);
      }
    }
  }
}

// The twin of the planes' codes, in float and in the order of the definition.
unsigned code_of(const ScanPlanes& planes, const glm::vec3& low, const glm::vec3& high) {
  unsigned code = 0;
  for (int p = 0; p < kMaxPlanes; ++p) {
    const auto part = [](float n, float from, float to) { return std::max(n, 0.f) * to + std::min(n, 0.f) * from; };
    const float height = ((part(planes.out.x[p], low.x, high.x) + part(planes.out.y[p], low.y, high.y)) +
                          part(planes.out.z[p], low.z, high.z)) +
                         planes.out.d[p];
    code |= height < 0.f ? 1u << p : 0u;
  }
  return code;
}

// A face survives when its corners' codes share no bit. A patch outside a plane stands for its vertices.
std::uint64_t survivors(const TriangleMesh& mesh, const ScanLayout& layout, const ToolVolume& tool) {
  float largest = 0.f;
  for (const glm::vec3& p : mesh.positions) largest = std::max({largest, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  const ScanPlanes planes = scan_planes(tool, largest);
  const auto position = [&](std::size_t slot) { return mesh.positions[layout.source[slot] / 3]; };
  std::vector<unsigned> codes(layout.source.size());
  for (std::size_t first = 0; first < codes.size(); first += kPatchVertices) {
    glm::vec3 low = position(first), high = low;
    for (std::size_t slot = first; slot < first + kPatchVertices; ++slot)
      low = glm::min(low, position(slot)), high = glm::max(high, position(slot));
    const unsigned of_patch = code_of(planes, low, high);
    for (std::size_t slot = first; slot < first + kPatchVertices; ++slot)
      codes[slot] = of_patch != 0 ? of_patch : code_of(planes, position(slot), position(slot));
  }
  std::uint64_t count = 0;
  for (const ScanFace& face : layout.faces)
    count += (codes[face.corner[0]] & codes[face.corner[1]] & codes[face.corner[2]]) == 0;
  return count;
}

TEST(ScanCost, TestsThePatchesAndFacesOfTheTwin) {
  test::ScanDice dice(kSeed + 1);
  for (const TriangleMesh& mesh : {shapes::icosphere(4), shapes::torus(60, 30), shapes::random_soup(kSeed, 900)}) {
    const ScanLayout layout = make_scan_layout(mesh.view());
    std::vector<std::unique_ptr<TouchQuery>> queries;
    for (const ScanKernels* kernels : test::all_kernels()) {
      queries.push_back(make_scan_query(*kernels));
      queries.back()->rebuild(mesh.view());
      EXPECT_EQ(queries.back()->counters().updated_nodes, layout.patch_count);
    }
    std::uint64_t all = 0;
    for (int trial = 0; trial < 60; ++trial) {
      const ToolVolume tools[] = {test::random_tool(dice), test::random_planes(dice, 4)};
      const std::uint64_t expected = survivors(mesh, layout, tools[0]) + survivors(mesh, layout, tools[1]);
      all += expected;
      for (const auto& query : queries) {
        query->touched(tools, TouchSet::Volume);
        ASSERT_EQ(query->counters().face_tests, expected) << "trial " << trial << ", seed " << kSeed + 1;
        ASSERT_EQ(query->counters().volume_tests, 2 * layout.patch_count);
        ASSERT_EQ(query->counters().updated_nodes, layout.patch_count);
      }
    }
    EXPECT_GT(all, 1000u);
  }
}

// Positions that move: the slack follows the largest coordinate of the last update.
TEST(ScanCost, SlackFollowsTheUpdate) {
  test::ScanDice dice(kSeed + 2);
  TriangleMesh mesh = shapes::icosphere(3);
  const ScanLayout layout = make_scan_layout(mesh.view());
  for (const ScanKernels* kernels : test::all_kernels()) {
    const auto query = make_scan_query(*kernels);
    query->rebuild(mesh.view());
    for (const glm::vec3& away : {glm::vec3(300.f, 0.f, 0.f), glm::vec3(0.f, -700.f, 0.f), glm::vec3(0.f, 0.f, 0.3f)}) {
      TriangleMesh moved = mesh;
      for (glm::vec3& p : moved.positions) p += away;
      query->update(moved.positions);
      ToolStep step = test::random_step(dice);
      for (glm::dvec3* at : {&step.pivot, &step.tip_before, &step.tip_after}) *at += glm::dvec3(away);
      const ToolVolume tool = swept_volume(step, Cover::Capsule);
      query->touched(std::span(&tool, 1), TouchSet::Exact);
      EXPECT_EQ(query->counters().face_tests, survivors(moved, layout, tool)) << kernels->name;
    }
  }
}

}  // namespace
}  // namespace trocar

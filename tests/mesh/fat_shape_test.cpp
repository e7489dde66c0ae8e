// Tests bodies of fat: they are closed, wrap their lines, rise in lobules, and are refused with a reason.
#include "mesh/fat_shape.hpp"

#include <random>

#include "mesh/mesh_report.hpp"
#include "tests/support/test.hpp"

namespace trocar::fat_shape_test {
namespace {

using glm::dvec3;

FatShape triangle() {
  FatShape fat;
  fat.from = {{-0.033, 0.077, 0.118}, {-0.031, 0.076, 0.116}, {-0.022, 0.0705, 0.107}};
  fat.through = {{-0.033, 0.082, 0.1225}, {-0.02, 0.086, 0.119}};
  fat.to = {{-0.033, 0.089, 0.122}, {-0.021, 0.0955, 0.117}};
  return fat;
}

// Of 15 random shapes those that are not refused are sound; few are refused.
TEST(FatShape, BodiesAreSound) {
  std::printf("seed 48\n");
  std::mt19937 random(48);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  int refused = 0;
  for (int i = 0; i < 15; ++i) {
    FatShape fat;
    for (std::vector<dvec3>* line : {&fat.from, &fat.through, &fat.to}) {
      const double y = line == &fat.from ? 0.0 : line == &fat.through ? 0.007 : 0.014;
      for (int k = 0; k < 4; ++k)
        line->push_back({0.006 * k, y + 0.001 * uniform(-1.0, 1.0), 0.003 * uniform(-1.0, 1.0)});
    }
    if (i % 3 == 0) fat.through.clear();
    fat.thickness = 0.006 + 0.005 * uniform(0.0, 1.0);
    const std::string fault = fat_fault(fat);
    refused += !fault.empty();
    if (!fault.empty()) continue;
    const MeshReport report = mesh_report(fat_surface(fat).view());
    EXPECT_TRUE(report.sound()) << report.fault;
    EXPECT_EQ(report.topology.components, 1u);
  }
  std::printf("%d of 15 refused\n", refused);
  EXPECT_LE(refused, 1);
}

TEST(FatShape, WrapsItsLinesInLobules) {
  const FatShape fat = triangle();
  ASSERT_EQ(fat_fault(fat), "");
  for (const auto* line : {&fat.from, &fat.through, &fat.to})
    for (const dvec3& p : *line) EXPECT_LT(fat_distance(fat, p), -0.0025);
  // The surface lies on the field, between the tops of lobules and the valleys.
  const TriangleMesh mesh = fat_surface(fat);
  double most = 0.0;
  for (const glm::vec3& p : mesh.positions) most = std::max(most, std::abs(fat_distance(fat, dvec3(p))));
  std::printf("%zu faces; %.3f mm from the field at most\n", mesh.faces.size(), 1e3 * most);
  EXPECT_LT(most, 0.4 * fat.spacing);
  const MeshReport report = mesh_report(mesh.view());
  // A plate of the patch's area with a round rim, between both thicknesses.
  const double area = 0.013 * 0.0185, rim = 2.0 * (0.013 + 0.0185);
  const auto volume = [&](double half) { return area * 2.0 * half + 0.5 * std::numbers::pi * half * half * rim; };
  EXPECT_LT(report.volume, volume(0.5 * fat.thickness));
  EXPECT_GT(report.volume, volume(0.5 * fat.thickness - 0.35 * fat.lobule));
}

TEST(FatShape, Faults) {
  FatShape fat = triangle();
  fat.to.resize(1);
  EXPECT_EQ(fat_fault(fat), "a line needs two points that differ");
  fat = triangle();
  fat.to[1] = fat.to[0];
  EXPECT_EQ(fat_fault(fat), "a line needs two points that differ");
  fat = triangle();
  fat.spacing = 0.004;
  EXPECT_EQ(fat_fault(fat), "its vertices are too wide apart for its thickness; at most 2.7 mm");
  fat.spacing = 0.0025;
  EXPECT_EQ(fat_fault(fat), "its vertices are too wide apart for its lobules; at most 2 mm");
  fat = triangle();
  fat.lobule = 0.01;
  EXPECT_EQ(fat_fault(fat), "its lobules are too wide for its thickness; at most 5.7 mm");
  fat = triangle();
  fat.to[1].x = 50.0;
  EXPECT_EQ(fat_fault(fat), "it has too many vertices; make it smaller or space them wider");
}

}  // namespace
}  // namespace trocar::fat_shape_test

// Tests the properties of the test shapes on which other tests depend.
#include "tests/support/shapes.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "mesh/mesh_report.hpp"

namespace trocar {
namespace {

TEST(Shapes, ClosedOnesAreSound) {
  for (const auto& mesh :
       {shapes::icosphere(0), shapes::icosphere(3), shapes::cube(), shapes::torus(20, 10), shapes::sphere_of(500),
        shapes::joined(shapes::cube(), shapes::icosphere(1, 0.1f, {1, 0, 0}))}) {
    EXPECT_TRUE(mesh_report(mesh.view()).sound());
  }
}

TEST(Shapes, FaceCounts) {
  EXPECT_EQ(shapes::icosphere(2).faces.size(), 320u);
  EXPECT_EQ(shapes::cube().faces.size(), 12u);
  EXPECT_EQ(shapes::grid(7, 3).faces.size(), 42u);
  EXPECT_EQ(shapes::torus(20, 10).faces.size(), 400u);
  EXPECT_EQ(shapes::random_soup(1, 33).faces.size(), 33u);
  for (std::size_t faces : {1u, 100u, 2000u, 12345u}) {
    EXPECT_GE(shapes::sphere_of(faces).faces.size(), faces);
    EXPECT_LE(shapes::sphere_of(faces).faces.size(), faces + faces / 10 + 20);
  }
}

TEST(Shapes, Volumes) {
  EXPECT_NEAR(mesh_report(shapes::cube(0.2f, {1, 2, 3}).view()).volume, 0.008, 1e-8);
  EXPECT_NEAR(mesh_report(shapes::icosphere(5).view()).volume, 4.0 / 3.0 * std::numbers::pi * 1e-3, 1e-5);
  EXPECT_NEAR(mesh_report(shapes::torus(200, 100).view()).volume, 2 * std::numbers::pi * std::numbers::pi * 0.1 * 9e-4,
              2e-6);
  EXPECT_LT(mesh_report(shapes::turned(shapes::cube()).view()).volume, 0.0);
}

TEST(Shapes, SoupIsTheSameEverywhere) {
  const TriangleMesh soup = shapes::random_soup(42, 10);
  EXPECT_EQ(soup.positions, shapes::random_soup(42, 10).positions);
  EXPECT_NE(soup.positions, shapes::random_soup(43, 10).positions);
}

}  // namespace
}  // namespace trocar

// Tests that the pieces contain the whole surface and the inside of a closed one, and that their measured error is
// within its limit.
#include "cpu_collision/solids/convex_pieces.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "cpu_collision/solids/closest_features.hpp"
#include "cpu_collision/solids/point_in_solid.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "tests/cpu_collision/solids_bodies.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;
using test::Dice;

// Omitted thin faces, and rounding of cut corners.
constexpr double kRounding = 1e-6;  // m

double outside_of(const ConvexBody& body, const dvec3& point) {
  const ConvexBody dot = triangle_body({point, point, point});
  FeaturePair pair;
  return closest_features(body, {}, dot, {}, pair).distance;
}

double outside_of_all(const ConvexPieces& pieces, const dvec3& point) {
  double least = 1e9;
  for (const PieceNode& node : pieces.nodes) {
    if (node.leaf() && least > 0.0) least = std::min(least, outside_of(node.hull, point));
  }
  return least;
}

// Checks corners and random points of every face, and that children lie within their parents.
void expect_cover(const ConvexPieces& pieces, const MeshView& mesh, std::uint32_t seed) {
  Dice dice(seed);
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    for (const dvec3& corner : {t.a, t.b, t.c}) ASSERT_LE(outside_of_all(pieces, corner), kRounding);
    for (int i = 0; i < 4; ++i) {
      const double u = dice.uniform(0, 1), v = dice.uniform(0, 1);
      const dvec3 point = t.a + (1.0 - std::sqrt(u)) * (t.b - t.a) + std::sqrt(u) * v * (t.c - t.a);
      ASSERT_LE(outside_of_all(pieces, point), kRounding);
    }
  }
  for (const PieceNode& node : pieces.nodes) {
    if (node.leaf()) continue;
    for (const std::uint32_t child : node.child) {
      for (const dvec3& v : pieces.nodes[child].hull.vertices) ASSERT_LE(outside_of(node.hull, v), kRounding);
    }
  }
}

void expect_contains_the_inside(const ConvexPieces& pieces, const TriangleMesh& mesh) {
  Dice dice(5);
  const SolidBox box = box_of(mesh.positions);
  int inside = 0;
  for (int i = 0; i < 4000; ++i) {
    const vec3 point = glm::mix(box.low, box.high, vec3(0.5 + 0.5 * dice.in_cube(1.0)));
    if (point_in_solid(mesh.view(), box, point).location != PointLocation::Inside) continue;
    ASSERT_LE(outside_of_all(pieces, dvec3(point)), kRounding);
    ++inside;
  }
  EXPECT_GT(inside, 100);
}

TEST(ConvexPieces, AConvexBodyIsOnePiece) {
  for (const TriangleMesh& mesh : {shapes::cube(), shapes::icosphere(2), shapes::grid(4, 4)}) {
    const ConvexPieces pieces = convex_pieces(mesh.view());
    EXPECT_EQ(pieces.pieces(), 1u);
    EXPECT_LT(pieces.deviation(), 1e-7);
    expect_cover(pieces, mesh.view(), 1);
  }
}

TEST(ConvexPieces, TwoCubesAreTwoPieces) {
  const TriangleMesh mesh = shapes::joined(shapes::cube(0.01f), shapes::cube(0.01f, vec3(0.03f, 0.02f, 0.01f)));
  const ConvexPieces pieces = convex_pieces(mesh.view());
  EXPECT_EQ(pieces.pieces(), 2u);
  EXPECT_LT(pieces.deviation(), 1e-7);
  EXPECT_GT(pieces.nodes[0].deviation, 5e-3);
  for (const PieceNode& node : pieces.nodes) {
    if (node.leaf()) {
      EXPECT_NEAR(node.hull.volume(), 1e-6, 1e-11);
    }
  }
  expect_cover(pieces, mesh.view(), 1);
}

TEST(ConvexPieces, ATorus) {
  const TriangleMesh mesh = shapes::torus(32, 12, 0.01f, 0.003f);
  const ConvexPieces pieces = convex_pieces(mesh.view(), {.largest_deviation = 1e-3, .most_pieces = 12});
  std::cout << pieces.pieces() << " pieces, distance " << pieces.deviation() * 1e3 << " mm, one hull "
            << pieces.nodes[0].deviation * 1e3 << " mm\n";
  // The hull of a torus closes the hole with a sheet that is up to 7 mm from the surface.
  EXPECT_NEAR(pieces.nodes[0].deviation, 7e-3, 1.2e-3);
  EXPECT_LE(pieces.deviation(), 1e-3);
  expect_cover(pieces, mesh.view(), 1);
  expect_contains_the_inside(pieces, mesh);
}

// Tests surfaces of any kind: single triangles, soups, sheets, faces without area.
TEST(ConvexPieces, DirtySurfaces) {
  TriangleMesh flat = shapes::grid(3, 3, 0.01f, 0.01f), one{{{0, 0, 0}, {0.01f, 0, 0}, {0, 0.01f, 0}}, {{0, 1, 2}}};
  TriangleMesh line{{{0, 0, 0}, {0.01f, 0, 0}, {0.02f, 0, 0}}, {{0, 1, 2}, {1, 2, 0}}};
  for (const TriangleMesh& mesh : {flat, one, line, shapes::random_soup(3, 30, 0.02f, 0.01f)}) {
    const ConvexPieces pieces = convex_pieces(mesh.view(), {.most_pieces = 8});
    EXPECT_LE(pieces.pieces(), 8u);
    expect_cover(pieces, mesh.view(), 1);
  }
  EXPECT_THROW(convex_pieces(TriangleMesh{}.view()), InputError);
  EXPECT_THROW(convex_pieces(one.view(), {.largest_deviation = 0.0}), InputError);
  EXPECT_THROW(convex_pieces(one.view(), {.most_pieces = 0}), InputError);
}

TEST(ConvexPieces, SharedInstruments) {
  for (const char* name : {"maryland_dissector_jaw_left", "maryland_dissector_jaw_right", "atraumatic_forceps_jaw_left",
                           "dissection_electrode", "instrument_shaft"}) {
    const auto file = shared_file(std::string("instruments/") + name + ".stl");
    if (!file) GTEST_SKIP() << "no shared test data";
    const TriangleMesh whole = load_mesh(*file);
    const bool hook = std::string_view(name) == "dissection_electrode";
    // The hook's tip is the part beyond the shaft.
    const CutMesh tip = part_beyond(whole.view(), {0, 0, 1}, hook ? -0.002 : -1.0);
    const PieceParams params{.largest_deviation = 5e-4, .most_pieces = 8};
    const ConvexPieces pieces = convex_pieces(tip.view(), params);
    std::cout << name << ": " << tip.faces.size() << " faces, " << pieces.pieces() << " pieces, distance "
              << pieces.deviation() * 1e3 << " mm, one hull " << pieces.nodes[0].deviation * 1e3 << " mm\n";
    EXPECT_LE(pieces.pieces(), 8u);
    EXPECT_GE(pieces.pieces(), 2u);
    EXPECT_LT(pieces.deviation(), 6e-4) << name;
    expect_cover(pieces, tip.view(), 1);
  }
}

}  // namespace
}  // namespace trocar::solids

// Tests the exact test on integers and named cases. Compares the area and angle tests with it: how often they differ,
// and up to which gap rounding and tolerance matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>

#include "mesh/exact_sign.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/mesh_io.hpp"
#include "study/solids/edge_triangle.hpp"
#include "tests/cpu_collision/solids_support.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/geometry/slow_distance.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::solids {
namespace {

using glm::vec3;
using test::Dice;

constexpr FloatTriangle kUnit{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}};

struct Named {
  const char* what;
  vec3 from, to;
  EdgeContact exact;
  EdgeVerdict rounded;
};

constexpr Named kCases[] = {
    {"through the inside", {1, 1, -1}, {1, 1, 1}, EdgeContact::Crosses, EdgeVerdict::Meets},
    {"through a side", {2, 0, -1}, {2, 0, 1}, EdgeContact::Border, EdgeVerdict::Meets},
    {"through a corner", {4, 0, -1}, {4, 0, 1}, EdgeContact::Border, EdgeVerdict::Meets},
    {"beside a corner", {5, 0, -1}, {5, 0, 1}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"in line with a side, beyond it", {-1, 0, -1}, {-1, 0, 1}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"ends on the inside", {1, 1, 0}, {1, 1, 1}, EdgeContact::EndOn, EdgeVerdict::Meets},
    {"ends on a corner", {0, 0, 0}, {-1, -1, 1}, EdgeContact::EndOn, EdgeVerdict::Meets},
    {"ends in the plane beside it", {5, 5, 0}, {5, 5, 1}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"stops above", {1, 1, 1}, {1, 1, 2}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"parallel above", {0, 0, 1}, {4, 4, 1}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"in the plane, inside", {1, 1, 0}, {1.5f, 1, 0}, EdgeContact::InPlane, EdgeVerdict::InPlane},
    {"in the plane, across", {-1, 1, 0}, {9, 1, 0}, EdgeContact::InPlane, EdgeVerdict::InPlane},
    {"in the plane, along a side", {-1, 0, 0}, {9, 0, 0}, EdgeContact::InPlane, EdgeVerdict::InPlane},
    {"in the plane, touching a corner", {4, -1, 0}, {4, 1, 0}, EdgeContact::InPlane, EdgeVerdict::InPlane},
    {"in the plane, in line with a side, beyond", {5, 0, 0}, {9, 0, 0}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"in the plane, beside", {3, 3, 0}, {9, 9, 0}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"a point on the inside", {1, 1, 0}, {1, 1, 0}, EdgeContact::InPlane, EdgeVerdict::InPlane},
    {"a point beside", {5, 1, 0}, {5, 1, 0}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"a point above", {1, 1, 1}, {1, 1, 1}, EdgeContact::Apart, EdgeVerdict::Apart},
};

Triangle in_double(const FloatTriangle& t) { return {glm::dvec3(t.a), glm::dvec3(t.b), glm::dvec3(t.c)}; }

TEST(EdgeTriangle, NamedCases) {
  const FloatTriangle turned{kUnit.b, kUnit.a, kUnit.c};
  for (const Named& c : kCases) {
    for (const FloatTriangle& t : {kUnit, turned}) {
      EXPECT_EQ(exact_edge_contact(c.from, c.to, t), c.exact) << c.what;
      EXPECT_EQ(exact_edge_contact(c.to, c.from, t), c.exact) << c.what;
      for (const double scale : {1e-4, 1.0, 1e3}) {
        const Triangle s{scale * in_double(t).a, scale * in_double(t).b, scale * in_double(t).c};
        const glm::dvec3 p = scale * glm::dvec3(c.from), q = scale * glm::dvec3(c.to);
        EXPECT_EQ(edge_triangle_by_area(p, q, s), c.rounded) << c.what << " x " << scale;
        EXPECT_EQ(edge_triangle_by_angle(p, q, s), c.rounded) << c.what << " x " << scale;
      }
    }
  }
}

TEST(EdgeTriangle, TrianglesWithoutArea) {
  const FloatTriangle line{{0, 0, 0}, {4, 4, 4}, {2, 2, 2}}, point{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  EXPECT_EQ(exact_edge_contact({0, 0, 2}, {2, 2, 0}, line), EdgeContact::InPlane);
  EXPECT_EQ(exact_edge_contact({3, 3, 3}, {9, 9, 9}, line), EdgeContact::InPlane);
  EXPECT_EQ(exact_edge_contact({5, 5, 5}, {9, 9, 9}, line), EdgeContact::Apart);
  EXPECT_EQ(exact_edge_contact({0, 0, 1}, {2, 2, 2.5f}, line), EdgeContact::Apart);
  EXPECT_EQ(exact_edge_contact({0, 0, 0}, {3, 3, 3}, point), EdgeContact::InPlane);
  EXPECT_EQ(exact_edge_contact({0, 0, 0}, {3, 3, 3.5f}, point), EdgeContact::Apart);
  EXPECT_TRUE(exactly_on({3, 3, 3}, line));
  EXPECT_FALSE(exactly_on({3, 3, 3.5f}, line));
  EXPECT_FALSE(exactly_on({5, 5, 5}, line));
  EXPECT_EQ(edge_triangle_by_area({0, 0, 2}, {2, 2, 0}, in_double(line)), EdgeVerdict::Apart);
  EXPECT_EQ(edge_triangle_by_angle({0, 0, 2}, {2, 2, 0}, in_double(point)), EdgeVerdict::Apart);
}

struct Tally {
  int cases = 0, meets = 0, area_differs = 0, angle_differs = 0;
  double area_band = 0.0, angle_band = 0.0;  // farthest gap, as a share of the longest side, at which they differ
};

// Returns the gap of a pair that does not meet, as a share of the longest side.
double gap_of(const vec3& p, const vec3& q, const FloatTriangle& t) {
  const Triangle s = in_double(t);
  const double longest = std::max({glm::distance(s.a, s.b), glm::distance(s.b, s.c), glm::distance(s.c, s.a)});
  return test::slow_segment_triangle(glm::dvec3(p), glm::dvec3(q), s) / longest;
}

void count(const vec3& p, const vec3& q, const FloatTriangle& t, Tally& tally) {
  const bool exact = exact_edge_contact(p, q, t) != EdgeContact::Apart;
  const bool area = edge_triangle_by_area(glm::dvec3(p), glm::dvec3(q), in_double(t)) != EdgeVerdict::Apart;
  const bool angle = edge_triangle_by_angle(glm::dvec3(p), glm::dvec3(q), in_double(t)) != EdgeVerdict::Apart;
  ++tally.cases;
  tally.meets += exact;
  if (area != exact) ++tally.area_differs, tally.area_band = std::max(tally.area_band, gap_of(p, q, t));
  if (angle != exact) ++tally.angle_differs, tally.angle_band = std::max(tally.angle_band, gap_of(p, q, t));
}

void print(const char* what, const Tally& t) {
  std::cout << what << ": " << t.cases << " cases, " << t.meets << " meet; area differs " << t.area_differs
            << " times, gap at most " << t.area_band << " of the longest side; angle differs " << t.angle_differs
            << " times, gap at most " << t.angle_band << "\n";
}

class EdgeTriangleRandom : public testing::Test {
 protected:
  EdgeTriangleRandom() : seed_(std::random_device{}()), dice_(seed_) { std::cout << "seed " << seed_ << "\n"; }
  vec3 point(float side) { return vec3(dice_.in_cube(side)); }

  std::uint32_t seed_;
  Dice dice_;
};

TEST_F(EdgeTriangleRandom, OrdinaryInputNeverDiffers) {
  Tally tally;
  for (int i = 0; i < 300000; ++i) count(point(0.1f), point(0.1f), {point(0.1f), point(0.1f), point(0.1f)}, tally);
  print("random", tally);
  EXPECT_LE(tally.area_band, 1e-8);
  EXPECT_LE(tally.angle_band, 1e-8);
  EXPECT_LE(tally.area_differs + tally.angle_differs, 3);
}

// Tests three-bit integers, where most cases touch, or are parallel, collinear or without area. Triangles without area
// are omitted, because the rounded tests never meet them.
TEST_F(EdgeTriangleRandom, WholeNumbersNeverDiffer) {
  Tally tally;
  const auto whole = [&] { return vec3(dice_.pick(8), dice_.pick(8), dice_.pick(8)); };
  while (tally.cases < 300000) {
    const FloatTriangle t{whole(), whole(), whole()};
    if (glm::cross(t.b - t.a, t.c - t.a) == vec3(0)) continue;
    count(whole(), whole(), t, tally);
  }
  print("whole numbers", tally);
  EXPECT_EQ(tally.area_differs, 0);
  EXPECT_EQ(tally.angle_differs, 0);
}

// Tests edges that aim at the border or end on the plane, rounded to float: the last digit decides their side.
TEST_F(EdgeTriangleRandom, NearTheBorderOnlyTheBandDiffers) {
  Tally tally;
  for (int i = 0; i < 300000; ++i) {
    const FloatTriangle t{point(0.1f), point(0.1f), point(0.1f)};
    const glm::dvec3 a(t.a), b(t.b), c(t.c);
    glm::dvec3 target = glm::mix(a, b, dice_.uniform(0.0, 1.0));
    if (i % 3 == 1) target = glm::mix(target, c, dice_.uniform(0.0, 1.0));
    const glm::dvec3 d = dice_.in_cube(0.1);
    const vec3 from(target + d), to(i % 3 == 1 ? target : target - d);
    count(from, to, t, tally);
  }
  print("aimed at the border", tally);
  EXPECT_GT(tally.meets, 50000);
  EXPECT_LE(tally.area_band, 1e-6);
  EXPECT_LE(tally.angle_band, 1e-6);
}

// Tests brute force of object against object on known scenes; the pairs must equal those of the triangle-triangle test
// of mesh/.

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Pairs pairs_of(const TriangleMesh& a, const TriangleMesh& b, EdgeTest test) {
  Pairs pairs;
  crossing_pairs(a.view(), b.view(), test, pairs);
  return pairs;
}

// Returns the edge-connected components of a mesh.
std::vector<TriangleMesh> components(const TriangleMesh& mesh) {
  const std::vector<std::uint32_t> part = face_components(mesh.positions.size(), mesh.faces);
  std::vector<TriangleMesh> parts(1 + *std::max_element(part.begin(), part.end()));
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    parts[part[f]].positions = mesh.positions;
    parts[part[f]].faces.push_back(mesh.faces[f]);
  }
  return parts;
}

TEST(CrossingPairs, TwoCubes) {
  const std::pair<const char*, std::size_t> scenes[] = {{"far", 0}, {"close", 0}, {"intersecting", 96}};
  for (const auto& [name, expected] : scenes) {
    const auto file = shared_file(std::string("collision/two-cubes-") + name + ".ply");
    if (!file) GTEST_SKIP() << "no shared test data";
    const std::vector<TriangleMesh> cubes = components(load_mesh(*file));
    ASSERT_EQ(cubes.size(), 2u);
    for (const EdgeTest test : {EdgeTest::Exact, EdgeTest::Area, EdgeTest::Angle}) {
      EXPECT_EQ(pairs_of(cubes[0], cubes[1], test).size(), expected) << name << " test " << static_cast<int>(test);
    }
  }
}

TEST(CrossingPairs, TwoPosesOfOneScene) {
  const auto file = shared_file("collision/Model_1_Scenario_1.txt");
  if (!file) GTEST_SKIP() << "no shared test data";
  const test::PosedScene scene = test::load_posed_scene(*file);
  ASSERT_EQ(scene.objects[0].faces.size(), 5312u);
  ASSERT_EQ(scene.objects[1].faces.size(), 12u);
  ASSERT_EQ(scene.frames.size(), 2u);
  for (const EdgeTest test : {EdgeTest::Exact, EdgeTest::Area, EdgeTest::Angle}) {
    const std::size_t expected[] = {0, 16};
    for (std::size_t frame = 0; frame < 2; ++frame) {
      EXPECT_EQ(pairs_of(scene.posed(0, frame), scene.posed(1, frame), test).size(), expected[frame])
          << "frame " << frame << " test " << static_cast<int>(test);
    }
  }
}

// Random soups, and the same on a coarse grid where touching and coplanar pairs are common. The test of mesh/ omits
// pairs with common corners and faces without area; so does the comparison.
TEST(CrossingPairs, ExactAgreesWithTheMeshRoom) {
  std::size_t crossing = 0, compared = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    TriangleMesh a = shapes::random_soup(seed, 60, 0.04f), b = shapes::random_soup(seed + 1000, 60, 0.04f);
    if (seed % 2) {
      for (TriangleMesh* mesh : {&a, &b}) {
        for (glm::vec3& p : mesh->positions) p = glm::round(p * 300.f);
      }
    }
    const Pairs pairs = pairs_of(a, b, EdgeTest::Exact);
    for (std::uint32_t f = 0; f < a.faces.size(); ++f) {
      for (std::uint32_t g = 0; g < b.faces.size(); ++g) {
        const auto at = [](const TriangleMesh& m, std::uint32_t face, int c) { return m.positions[m.faces[face][c]]; };
        const glm::vec3 s[3] = {at(a, f, 0), at(a, f, 1), at(a, f, 2)}, t[3] = {at(b, g, 0), at(b, g, 1), at(b, g, 2)};
        if (!has_area(s[0], s[1], s[2]) || !has_area(t[0], t[1], t[2])) continue;
        if (std::any_of(s, s + 3, [&](const glm::vec3& p) { return std::find(t, t + 3, p) != t + 3; })) continue;
        const bool expected = contact_of(s, t) == Contact::Crossing;
        ASSERT_EQ(std::binary_search(pairs.begin(), pairs.end(), std::pair(f, g)), expected)
            << "seed " << seed << " faces " << f << " " << g;
        crossing += expected;
        ++compared;
      }
    }
  }
  EXPECT_GT(crossing, 400u);
  std::cout << crossing << " crossing of " << compared << " pairs\n";
}

}  // namespace
}  // namespace trocar::solids

// Tests crossing faces on known cases, by an independent triangle-triangle test, and by a test of all pairs instead of
// the tree.
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <random>

#include "geometry/exact_sign.hpp"
#include "geometry/refine.hpp"
#include "mesh/exact_sign.hpp"
#include "mesh/face_tree.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

using Corners = glm::vec3[3];

// Tests the same pair in every order of corners and of faces.
void expect_contact(const Corners& s, const Corners& t, Contact expected, const char* what) {
  const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  for (const auto& o : orders) {
    for (const auto& p : orders) {
      const Corners u = {s[o[0]], s[o[1]], s[o[2]]}, v = {t[p[0]], t[p[1]], t[p[2]]};
      EXPECT_EQ(contact_of(u, v), expected) << what;
      EXPECT_EQ(contact_of(v, u), expected) << what << ", exchanged";
    }
  }
}

const Corners kFlat = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}};

TEST(SelfCrossing, FacesWithoutCommonCorner) {
  expect_contact(kFlat, {{1, 1, -1}, {1, 1, 1}, {2, 9, 1}}, Contact::Crossing, "an edge through the middle");
  expect_contact(kFlat, {{1, 1, 1}, {1, 1, 2}, {2, 9, 1}}, Contact::None, "above");
  expect_contact(kFlat, {{9, 9, -1}, {9, 9, 1}, {8, 8, 1}}, Contact::None, "beside");
  expect_contact(kFlat, {{1, 1, 0}, {1, 1, 2}, {2, 9, 1}}, Contact::Crossing, "a corner on the face");
  expect_contact(kFlat, {{2, 0, 0}, {2, -1, 2}, {2, -1, -1}}, Contact::Crossing, "a corner on an edge");
  expect_contact(kFlat, {{1, 1, 0}, {2, 1, 0}, {1, 2, 0}}, Contact::Crossing, "inside, in one plane");
  expect_contact(kFlat, {{-1, 1, 0}, {9, 1, 0}, {9, 2, 0}}, Contact::Crossing, "across, in one plane");
  expect_contact(kFlat, {{5, 5, 0}, {9, 5, 0}, {5, 9, 0}}, Contact::None, "apart, in one plane");
  expect_contact(kFlat, {{4, 4, 0}, {2, 2, 0}, {9, 9, 1}}, Contact::Crossing, "touching the long edge");
}

TEST(SelfCrossing, Neighbours) {
  expect_contact(kFlat, {{0, 0, 0}, {-4, 0, 0}, {0, -4, 0}}, Contact::None, "a common corner, in one plane");
  expect_contact(kFlat, {{0, 0, 0}, {3, 1, 0}, {1, 3, 0}}, Contact::Folded, "a common corner, one within the other");
  expect_contact(kFlat, {{0, 0, 0}, {9, 9, 3}, {9, 9, -3}}, Contact::Folded, "a common corner, cutting through");
  expect_contact(kFlat, {{0, 0, 0}, {9, 9, 3}, {9, 9, 1}}, Contact::None, "a common corner, above");
  expect_contact(kFlat, {{0, 0, 0}, {1, 1, -1}, {1, 1, 1}}, Contact::Folded, "a common corner, cutting in");
  expect_contact(kFlat, {{0, 0, 0}, {4, 0, 0}, {0, -4, 0}}, Contact::None, "a common edge, unfolded");
  expect_contact(kFlat, {{0, 0, 0}, {4, 0, 0}, {1, 1, 0}}, Contact::Folded, "a common edge, folded flat");
  expect_contact(kFlat, {{0, 0, 0}, {4, 0, 0}, {1, 1, 0.001f}}, Contact::None, "a common edge, nearly folded");
  expect_contact(kFlat, kFlat, Contact::None, "the same face");
}

// Compares with an independent method, the distance in double, which is 0 exactly when two closed triangles share a
// point. Integer coordinates in a small cube make touching frequent; pairs with a distance neither 0 nor clearly above
// are skipped.
TEST(SelfCrossing, AgreesWithDistance) {
  const std::uint32_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  int crossing = 0;
  for (int round = 0; round < 40000; ++round) {
    Corners s, t;
    for (int i = 0; i < 3; ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        s[i][axis] = static_cast<float>(random() % 7);
        t[i][axis] = static_cast<float>(random() % 7);
      }
    }
    if (!has_area(s[0], s[1], s[2]) || !has_area(t[0], t[1], t[2])) continue;
    bool common = false;
    for (const auto& p : s) {
      for (const auto& q : t) common |= p == q;
    }
    if (common) continue;
    const Triangle first{glm::dvec3(s[0]), glm::dvec3(s[1]), glm::dvec3(s[2])};
    const Triangle second{glm::dvec3(t[0]), glm::dvec3(t[1]), glm::dvec3(t[2])};
    const double distance = closest_triangles(first, second).distance;
    ASSERT_TRUE(distance < 1e-12 || distance > 1e-4) << distance;
    ASSERT_EQ(contact_of(s, t) == Contact::Crossing, distance < 1e-12) << "round " << round << " distance " << distance;
    crossing += distance < 1e-12;
  }
  EXPECT_GT(crossing, 4000);
}

SelfCrossings every_pair(const TriangleMesh& mesh) {
  SelfCrossings result;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    for (std::uint32_t g = f + 1; g < mesh.faces.size(); ++g) {
      Corners s, t;
      for (int i = 0; i < 3; ++i) {
        s[i] = mesh.positions[mesh.faces[f][i]];
        t[i] = mesh.positions[mesh.faces[g][i]];
      }
      const Contact contact = contact_of(s, t);
      if (contact == Contact::None) continue;
      contact == Contact::Crossing ? ++result.crossing : ++result.folded;
      result.pairs.emplace_back(f, g);
    }
  }
  return result;
}

TEST(SelfCrossing, TreeAgreesWithAllPairs) {
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    const TriangleMesh soup = shapes::random_soup(seed, 600, 0.1f, 0.03f);
    const SelfCrossings found = self_crossings(soup.view(), 1u << 30), expected = every_pair(soup);
    EXPECT_GT(found.crossing, 50u);
    EXPECT_EQ(found.crossing, expected.crossing);
    EXPECT_EQ(found.pairs, expected.pairs);
  }
  const TriangleMesh spheres = shapes::joined(shapes::icosphere(2), shapes::icosphere(2, 0.1f, {0.05f, 0.02f, 0}));
  EXPECT_EQ(self_crossings(spheres.view(), 1u << 30).pairs, every_pair(spheres).pairs);
}

TEST(SelfCrossing, SoundSurfacesHaveNone) {
  for (const auto& mesh : {shapes::icosphere(4), shapes::torus(40, 20), shapes::grid(20, 20), shapes::cube()}) {
    const SelfCrossings found = self_crossings(mesh.view());
    EXPECT_EQ(found.crossing + found.folded, 0u);
  }
}

TEST(SelfCrossing, ListsOnlyTheFirstPairs) {
  const TriangleMesh soup = shapes::random_soup(3, 600, 0.1f, 0.03f);
  const SelfCrossings all = self_crossings(soup.view(), 1u << 30), some = self_crossings(soup.view(), 7);
  EXPECT_EQ(some.crossing, all.crossing);
  ASSERT_EQ(some.pairs.size(), 7u);
  EXPECT_TRUE(std::equal(some.pairs.begin(), some.pairs.end(), all.pairs.begin()));
}

TEST(SelfCrossing, DegenerateAndEmptyMeshes) {
  EXPECT_EQ(self_crossings({}).crossing, 0u);
  TriangleMesh mesh = shapes::cube();
  mesh.faces.insert(mesh.faces.end(), {{0, 0, 7}, {1, 1, 1}, {0, 7, 0}});  // lines through the cube
  EXPECT_EQ(self_crossings(mesh.view()).crossing, 0u);
}

TEST(FaceTree, NearestDistanceAgreesWithBruteForce) {
  const TriangleMesh soup = shapes::random_soup(11, 300);
  const FaceTree tree = build_face_tree(soup.view());
  const TriangleMesh probes = shapes::random_soup(12, 100, 0.3f);
  for (const glm::vec3& probe : probes.positions) {
    double expected = 1e9;
    for (const glm::uvec3& face : soup.faces) {
      const glm::dvec3 p(probe);
      expected = std::min(expected, closest_segment_triangle(p, p, triangle_of(soup.positions, face)).distance);
    }
    EXPECT_EQ(distance_to_surface(tree, glm::dvec3(probe)), expected);
  }
}

// Compares orientation with 128-bit integer arithmetic, for random points and for cases that rounding would decide
// wrongly.

__extension__ using Wide = __int128;

struct Whole {
  std::int64_t x, y, z;
  // Coordinates are whole numbers of up to 24 bits times a power of two, which are exact as floats.
  glm::vec3 as_float() const { return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)}; }
};

int sign_of(Wide value) { return (value > 0) - (value < 0); }

int expected(const Whole& a, const Whole& b, const Whole& c, const Whole& d) {
  const Wide ux = a.x - d.x, uy = a.y - d.y, uz = a.z - d.z, vx = b.x - d.x, vy = b.y - d.y, vz = b.z - d.z;
  const Wide wx = c.x - d.x, wy = c.y - d.y, wz = c.z - d.z;
  return sign_of(ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx));
}

int expected_flat(const Whole& a, const Whole& b, const Whole& c) {
  const Wide ux = a.x - c.x, uy = a.y - c.y, vx = b.x - c.x, vy = b.y - c.y;
  return sign_of(ux * vy - uy * vx);
}

class ExactSign : public testing::Test {
 protected:
  ExactSign() : seed_(std::random_device{}()), random_(seed_) { std::cout << "seed " << seed_ << "\n"; }
  // Returns a number of up to 24 bits, then shifted, so that magnitudes differ by up to 2^12.
  std::int64_t number(int bits) {
    const auto value = static_cast<std::int64_t>(random_() >> (32 - bits)) - (std::int64_t{1} << (bits - 1));
    return value * (std::int64_t{1} << random_() % 13);
  }
  Whole point(int bits) { return {number(bits), number(bits), number(bits)}; }

  std::uint32_t seed_;
  std::mt19937 random_;
};

TEST_F(ExactSign, RandomPoints) {
  for (int round = 0; round < 100000; ++round) {
    const int bits = round % 2 ? 24 : 3;
    const Whole a = point(bits), b = point(bits), c = point(bits), d = point(bits);
    ASSERT_EQ(exact_orientation(a.as_float(), b.as_float(), c.as_float(), d.as_float()), expected(a, b, c, d));
    ASSERT_EQ(planar::side_of_line(without(a.as_float(), 2), without(b.as_float(), 2), without(c.as_float(), 2)),
              expected_flat(a, b, c));
  }
}

// Tests four corners of a jaw for which the largest terms cancel, and the smallest term decides.
TEST_F(ExactSign, LargestTermsMayCancel) {
  const glm::vec3 a = glm::vec3(0x1.9f344p-10f, -0x1.9f344ap-10f, 0x1.78614p-7f);
  const glm::vec3 b = glm::vec3(0x1.50c766p-10f, -0x1.d3edbcp-10f, 0x1.6ea04ep-7f),
                  c = glm::vec3(0x1.2c503ep-10f, -0x1.ec71a8p-10f, 0x1.6a174cp-7f),
                  d = glm::vec3(0x1.c1ebc4p-11f, -0x1.0f8d2ep-9f, 0x1.60b82cp-7f);
  EXPECT_EQ(exact_orientation(a, b, c, d), -1);
  EXPECT_EQ(exact_orientation(b, c, d, a), 1);
}

// The fourth point is rounded onto the plane of the other three: arithmetic in double cannot decide the side.
TEST_F(ExactSign, PointsBesideThePlane) {
  int on_plane = 0;
  for (int round = 0; round < 100000; ++round) {
    const auto coordinate = [this] { return (std::int64_t{1} << 23) + static_cast<std::int64_t>(random_() % 16); };
    const auto near = [&coordinate] { return Whole{coordinate(), coordinate(), coordinate()}; };
    const Whole a = near(), b = near(), c = near();
    Whole d{a.x + b.x - c.x, a.y + b.y - c.y, a.z + b.z - c.z};
    const std::uint32_t offset = random_() % 4;
    d.x += offset == 1;
    d.y -= offset == 2;
    const int sign = expected(a, b, c, d);
    on_plane += sign == 0;
    ASSERT_EQ(exact_orientation(a.as_float(), b.as_float(), c.as_float(), d.as_float()), sign);
    ASSERT_EQ(exact_orientation(b.as_float(), a.as_float(), c.as_float(), d.as_float()), -sign);
  }
  EXPECT_GT(on_plane, 20000);
}

TEST_F(ExactSign, SmallNumbersBesideLargeOnes) {
  // In double, 1e9 + 1e-9 is 1e9: only the small coordinate decides.
  const glm::vec3 a(1e9f, 0, 0), b(0, 1e9f, 0), c(0, 0, 0);
  EXPECT_EQ(exact_orientation(a, b, c, glm::vec3(1e9f, 1e9f, 1e-30f)), -1);
  EXPECT_EQ(exact_orientation(a, b, c, glm::vec3(1e9f, 1e9f, -1e-30f)), 1);
  EXPECT_EQ(exact_orientation(a, b, c, glm::vec3(1e9f, 1e9f, 0)), 0);
  EXPECT_EQ(planar::side_of_line({0, 0}, {1e9f, 1e9f}, {1.f, 1.f + 1.2e-7f}), 1);
}

TEST_F(ExactSign, Collinear) {
  EXPECT_EQ(projection_axis({0, 0, 0}, {1, 2, 3}, {2, 4, 6}), -1);
  EXPECT_EQ(projection_axis({1, 1, 1}, {1, 1, 1}, {5, 6, 7}), -1);
  EXPECT_EQ(projection_axis({0, 0, 0}, {1, 2, 3}, {2, 4, 6.0000005f}), 0);
  EXPECT_EQ(projection_axis({0, 0, 1}, {0, 1, 0}, {0, 0, 0}), 0);
  EXPECT_EQ(projection_axis({0, 0, 0}, {1, 0, 0}, {0, 1, 0}), 2);
}

}  // namespace
}  // namespace trocar

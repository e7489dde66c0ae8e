// Tests the search over all pairs of features, which replaces a walk that ends early. Usual bodies never need it; here
// the vertices of a body have lost their incident edges, so that its walks end where they start.
#include <gtest/gtest.h>

#include <algorithm>

#include "cpu_collision/solids/closest_features.hpp"
#include "tests/cpu_collision/solids_bodies.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;
using test::Dice;

constexpr std::uint32_t kSeed = 88;
constexpr double kClose = 2e-10;  // m, of bodies of 0.1 m

// A solid, a sheet, a segment or a point.
ConvexBody random_body(Dice& dice, int dimension) {
  std::vector<vec3> points;
  for (int k = 0; k < 12; ++k) {
    const dvec3 flat(dimension > 0 ? 1.0 : 0.0, dimension > 1 ? 1.0 : 0.0, dimension > 2 ? 1.0 : 0.0);
    points.emplace_back(0.05 * flat * dice.direction());
  }
  return convex_hull(points);
}

ConvexBody without_incident_edges(ConvexBody body) {
  std::fill(body.first_incident_edge.begin(), body.first_incident_edge.end(), 0u);
  return body;
}

bool holds(const ConvexBody& body, const RigidFrame& pose, const dvec3& point) {
  const dvec3 local = pose.to_local(point);
  return std::all_of(body.faces.begin(), body.faces.end(),
                     [&](const auto& face) { return glm::dot(face.normal, local) <= face.offset + 1e-12; });
}

struct Counts {
  int searched = 0, apart = 0, touching = 0, nested = 0;
  long steps = 0;
};

void expect_the_slow_answer(const ConvexBody& a, const RigidFrame& at_a, const ConvexBody& b, const RigidFrame& at_b,
                            Counts& counts) {
  FeaturePair pair;
  const FeatureDistance fast = closest_features(without_incident_edges(a), at_a, without_incident_edges(b), at_b, pair);
  const test::SlowDistance slow = test::slow_distance(a, at_a, b, at_b);
  counts.searched += fast.searched;
  counts.steps += fast.steps;
  if (slow.surfaces < kClose && slow.surfaces > 0.0) return;
  ASSERT_EQ(fast.overlapping, slow.distance == 0.0);
  ASSERT_NEAR(fast.distance, slow.distance, kClose);
  ASSERT_NEAR(glm::distance(fast.on_first, fast.on_second), fast.distance, 1e-12);
  if (fast.overlapping) {
    ASSERT_TRUE(a.dimension < 3 || holds(a, at_a, fast.on_first));
    ASSERT_TRUE(b.dimension < 3 || holds(b, at_b, fast.on_first));
  }
  ++(!fast.overlapping ? counts.apart : slow.surfaces > 0.0 ? counts.nested : counts.touching);
}

TEST(SolidSearch, ReplacesWalksThatEndEarly) {
  Dice dice(kSeed);
  Counts counts;
  for (int trial = 0; trial < 2000; ++trial) {
    const ConvexBody a = random_body(dice, trial % 4), b = random_body(dice, trial / 4 % 4);
    const RigidFrame at_a = test::random_pose(dice, 0.1);
    RigidFrame at_b = test::random_pose(dice, 0.0);
    const double apart = dice.uniform(0.0, trial % 3 ? 0.15 : 0.04);
    at_b.origin = at_a.origin + apart * dice.direction();
    ASSERT_NO_FATAL_FAILURE(expect_the_slow_answer(a, at_a, b, at_b, counts))
        << "trial " << trial << ", seed " << kSeed;
  }
  // A small body within a large one, and the reverse.
  for (int trial = 0; trial < 200; ++trial) {
    ConvexBody large = random_body(dice, 3), small = random_body(dice, trial % 4);
    std::vector<vec3> points;
    for (const dvec3& v : small.vertices) points.emplace_back(0.02 * v);
    small = convex_hull(points);
    const RigidFrame at = test::random_pose(dice, 0.1);
    const RigidFrame inside{test::rotation(dice.direction(), 1.0), at.origin + dice.in_cube(0.01)};
    ASSERT_NO_FATAL_FAILURE(expect_the_slow_answer(large, at, small, inside, counts)) << "trial " << trial;
    ASSERT_NO_FATAL_FAILURE(expect_the_slow_answer(small, inside, large, at, counts)) << "trial " << trial;
  }
  EXPECT_EQ(counts.searched, 1488);
  EXPECT_EQ(counts.steps, 2315);
  EXPECT_GT(counts.apart, 500);
  EXPECT_GT(counts.touching, 100);
  EXPECT_GT(counts.nested, 100);
}

// Two cubes side by side, face to face, edge to edge or corner to corner: the border between touching and apart, for
// the walk from every pair of corners and for the search.
TEST(SolidSearch, TouchingEndsAtItsShareOfTheSize) {
  std::vector<vec3> points;
  for (int k = 0; k < 8; ++k) points.emplace_back(k & 1, k & 2 ? 1 : 0, k & 4 ? 1 : 0);
  const ConvexBody cube = convex_hull(points), cut = without_incident_edges(cube);
  const double touching = kTouching * 2.0 * cube.radius;
  for (const dvec3& side : {dvec3(1, 0, 0), dvec3(1, 1, 0), dvec3(1, 1, 1)}) {
    for (const double gap : {-0.25, -1e-6, 0.0, 0.5 * touching, 4.0 * touching, 1e-9, 0.5}) {
      RigidFrame at_b;
      at_b.origin = side + gap * glm::normalize(side);
      for (std::uint32_t corners = 0; corners < 64; ++corners) {
        for (const ConvexBody* body : {&cube, &cut}) {
          FeaturePair pair{{FeatureKind::Vertex, corners % 8}, {FeatureKind::Vertex, corners / 8}};
          const FeatureDistance found = closest_features(*body, {}, *body, at_b, pair);
          ASSERT_EQ(found.overlapping, gap < touching) << gap << " from " << corners;
          ASSERT_NEAR(found.distance, gap < touching ? 0.0 : gap, 1e-15) << gap << " from " << corners;
          ASSERT_LT(glm::distance(found.on_first, found.on_second), found.distance + 1e-15);
          if (found.overlapping) {
            ASSERT_TRUE(holds(cube, {}, found.on_first));
            ASSERT_TRUE(holds(cube, at_b, found.on_first));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace trocar::solids

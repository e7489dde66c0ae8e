// Tests the solids of study/: the walk over features, and edges against triangles.
#include "cpu_collision/solids/closest_features.hpp"
#include "mesh/exact_sign.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/mesh_io.hpp"
#include "study/solids/capsules.hpp"
#include "study/solids/edge_triangle.hpp"
#include "study/solids/piece_pair.hpp"
#include "study/solids/separating_plane.hpp"
#include "tests/cpu_collision/solids_support.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/geometry/slow_distance.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::solids {
namespace {

// Compares the walk over features with all pairs of triangles: random, degenerate, touching and moving bodies.

using glm::dvec3;
using glm::vec3;
using test::Dice;

constexpr double kClose = 2e-10;  // m, of bodies of 0.1 m

// Checks the proof in the answer: each body lies on its own side of the slab between the points.
void expect_certified(const ConvexBody& a, const RigidFrame& at_a, const ConvexBody& b, const RigidFrame& at_b,
                      const FeatureDistance& answer) {
  if (answer.overlapping || answer.distance < 1e-9) return;
  const dvec3 n = (answer.on_second - answer.on_first) / answer.distance;
  for (const dvec3& v : a.vertices) ASSERT_LE(glm::dot(n, at_a.to_world(v) - answer.on_first), 1e-9);
  for (const dvec3& v : b.vertices) ASSERT_GE(glm::dot(n, at_b.to_world(v) - answer.on_second), -1e-9);
}

struct Totals {
  int pairs = 0, overlapping = 0, searched = 0, repeated = 0;
  long steps = 0;
};

void compare(Dice& dice, Totals& totals, const ConvexBody& a, const ConvexBody& b, double apart) {
  const RigidFrame at_a = test::random_pose(dice, 0.1);
  RigidFrame at_b = test::random_pose(dice, 0.0);
  at_b.origin = at_a.origin + dice.uniform(0.0, apart) * dice.direction();
  FeaturePair pair;
  if (dice.pick(2) && !a.faces.empty()) pair.first = {FeatureKind::Face, 0};
  const FeatureDistance fast = closest_features(a, at_a, b, at_b, pair);
  const test::SlowDistance slow = test::slow_distance(a, at_a, b, at_b);
  if (slow.surfaces > kClose) {
    ASSERT_EQ(fast.overlapping, slow.distance == 0.0) << totals.pairs << " surfaces apart " << slow.surfaces;
  }
  ASSERT_NEAR(fast.distance, slow.distance, kClose) << totals.pairs;
  ASSERT_NEAR(glm::distance(fast.on_first, fast.on_second), fast.distance, 1e-12);
  expect_certified(a, at_a, b, at_b, fast);
  // A walk that starts from its own answer rarely moves, and finds the same answer.
  FeaturePair again = pair;
  const FeatureDistance repeated = closest_features(a, at_a, b, at_b, again);
  ASSERT_NEAR(repeated.distance, fast.distance, kClose);
  ASSERT_EQ(repeated.overlapping, fast.overlapping);
  if (!fast.overlapping) totals.repeated += repeated.steps > 0;
  ++totals.pairs;
  totals.overlapping += fast.overlapping;
  totals.searched += fast.searched;
  totals.steps += fast.steps;
}

// Compares ten poses of each pair of bodies.
void compare_many(Dice& dice, Totals& totals, int pairs, int most_points) {
  while (totals.pairs < pairs && !testing::Test::HasFatalFailure()) {
    const ConvexBody a = convex_hull(test::random_cloud(dice, 0.05, most_points));
    const ConvexBody b = convex_hull(test::random_cloud(dice, 0.05, most_points));
    for (int pose = 0; pose < 10; ++pose) compare(dice, totals, a, b, pose % 4 ? 0.15 : 0.6);
  }
}

TEST(ClosestFeatures, AHundredThousandRandomPairs) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  Totals totals;
  compare_many(dice, totals, 100000, 10);
  std::cout << "seed " << seed << ": " << totals.pairs << " pairs, " << totals.overlapping << " overlapping, "
            << totals.searched << " searched, " << totals.repeated << " moved from their answer, "
            << double(totals.steps) / totals.pairs << " steps from a cold start\n";
  EXPECT_GT(totals.overlapping, 5000);
  EXPECT_LT(totals.repeated, 100);
  EXPECT_LE(totals.searched, totals.pairs / 100);
}

TEST(ClosestFeatures, LargerBodies) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  Totals totals;
  compare_many(dice, totals, 500, 80);
  std::cout << "seed " << seed << ": " << totals.overlapping << " overlapping, " << totals.searched << " searched, "
            << double(totals.steps) / totals.pairs << " steps\n";
  EXPECT_LE(totals.searched, totals.pairs / 10);
}

ConvexBody box(const vec3& half) {
  std::vector<vec3> points;
  for (int i = 0; i < 8; ++i) points.push_back(half * vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1));
  return convex_hull(points);
}

FeatureDistance cold(const ConvexBody& a, const ConvexBody& b, const RigidFrame& at_b) {
  FeaturePair pair;
  return closest_features(a, {}, b, at_b, pair);
}

// Tests parallel faces, parallel edges, vertex to vertex and edge to edge; sizes and gaps are exact numbers.
TEST(ClosestFeatures, NamedCases) {
  const ConvexBody cube = box(vec3(1.f));
  const auto at = [](double x, double y, double z) { return RigidFrame{glm::dmat3(1.0), {x, y, z}}; };
  EXPECT_NEAR(cold(cube, cube, at(3, 0, 0)).distance, 1.0, 1e-12);
  EXPECT_NEAR(cold(cube, cube, at(3, 1.5, 0.5)).distance, 1.0, 1e-12);
  EXPECT_NEAR(cold(cube, cube, at(3, 3, 0)).distance, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(cold(cube, cube, at(3, 3, 1.2)).distance, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(cold(cube, cube, at(3, 3, 3)).distance, std::sqrt(3.0), 1e-12);
  for (const RigidFrame& touching :
       {at(2, 0, 0), at(2, 2, 0), at(2, 2, 2), at(2, 1.5, 0.3), at(0, 0, 0), at(1, 1, 1)}) {
    const FeatureDistance answer = cold(cube, cube, touching);
    EXPECT_TRUE(answer.overlapping);
    EXPECT_EQ(answer.distance, 0.0);
    EXPECT_EQ(answer.on_first, answer.on_second);
  }
  const double turn = 0.785398163397448309616;  // an eighth
  const RigidFrame edge_on{test::rotation({0, 0, 1}, turn), {1.0 + std::sqrt(2.0) + 0.5, 0, 0}};
  EXPECT_NEAR(cold(cube, cube, edge_on).distance, 0.5, 1e-12);
  const RigidFrame crossed{test::rotation({0, 0, 1}, turn) * test::rotation({1, 0, 0}, turn),
                           {0, 0, 1.0 + std::sqrt(2.0) + 0.25}};
  EXPECT_NEAR(cold(cube, cube, crossed).distance, 0.25, 1e-12);
}

TEST(ClosestFeatures, SheetsSegmentsAndPoints) {
  const ConvexBody sheet = convex_hull(std::vector<vec3>{{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}});
  const ConvexBody line = convex_hull(std::vector<vec3>{{-1, 0, 0}, {1, 0, 0}});
  const ConvexBody point = convex_hull(std::vector<vec3>{{0, 0, 0}});
  const auto at = [](double x, double y, double z) { return RigidFrame{glm::dmat3(1.0), {x, y, z}}; };
  for (const ConvexBody* other : {&sheet, &line, &point}) {
    EXPECT_NEAR(cold(sheet, *other, at(0.3, 0, 2)).distance, 2.0, 1e-12);
    EXPECT_NEAR(cold(sheet, *other, at(0.3, 0, -2)).distance, 2.0, 1e-12);
    EXPECT_TRUE(cold(sheet, *other, at(0.3, 0, 0)).overlapping);
    EXPECT_NEAR(cold(*other, point, at(0, 5, 0)).distance, other == &sheet ? 4.0 : 5.0, 1e-12);
  }
  EXPECT_NEAR(cold(line, line, at(0, 0.5, 0)).distance, 0.5, 1e-12);
  EXPECT_NEAR(cold(line, line, at(5, 0, 0)).distance, 3.0, 1e-12);
  EXPECT_TRUE(cold(line, line, at(1.5, 0, 0)).overlapping);
  EXPECT_NEAR(cold(sheet, sheet, at(2.5, 0, 0)).distance, 0.5, 1e-12);
  EXPECT_TRUE(cold(point, point, at(0, 0, 0)).overlapping);
}

// Tests thin plates above each other, where the walk must escape from a local minimum behind a face.
TEST(ClosestFeatures, BehindAThinPlate) {
  const ConvexBody plate = box(vec3(1.f, 1.f, 1e-3f)), needle = box(vec3(1e-3f, 1e-3f, 0.5f));
  Dice dice(3);
  for (std::uint32_t f = 0; f < plate.faces.size(); ++f)
    for (std::uint32_t g = 0; g < needle.faces.size(); ++g)
      for (int i = 0; i < 20; ++i) {
        const RigidFrame pose{test::rotation(dice.direction(), dice.uniform(0, 3)),
                              {dice.in_cube(0.8).x, 0.1, i % 2 ? 0.3 : -0.7}};
        FeaturePair pair{{FeatureKind::Face, f}, {FeatureKind::Face, g}};
        const FeatureDistance fast = closest_features(plate, {}, needle, pose, pair);
        const test::SlowDistance slow = test::slow_distance(plate, {}, needle, pose);
        ASSERT_NEAR(fast.distance, slow.distance, 1e-12);
        ASSERT_EQ(fast.overlapping, slow.distance == 0.0 || slow.surfaces == 0.0);
        ASSERT_FALSE(fast.searched);
      }
}

// Moves two bodies of about 150 faces on smooth paths past each other: coherence shortens the walk.
TEST(ClosestFeatures, CoherentMotion) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  long warm_steps = 0, cold_steps = 0, frames = 0;
  for (int run = 0; run < 10; ++run) {
    const auto cloud = [&] {
      std::vector<vec3> points(80);
      for (vec3& p : points) p = vec3(0.05 * dice.direction() * dvec3(1.0, 0.7, 0.5));
      return points;
    };
    const ConvexBody a = convex_hull(cloud()), b = convex_hull(cloud());
    const dvec3 axis = dice.direction(), start = dice.direction(), direction = dice.across(start);
    FeaturePair pair;
    for (int frame = 0; frame < 300; ++frame) {
      const RigidFrame at_b{test::rotation(axis, 0.01 * frame), 0.12 * start + 0.0005 * (frame - 150.0) * direction};
      const std::uint64_t before = allocations_so_far();
      const FeatureDistance warm = closest_features(a, {}, b, at_b, pair);
      ASSERT_EQ(allocations_so_far(), before);
      const FeatureDistance fresh = cold(a, b, at_b);
      ASSERT_NEAR(warm.distance, fresh.distance, kClose);
      if (frame % 50 == 0) {
        ASSERT_NEAR(warm.distance, test::slow_distance(a, {}, b, at_b).distance, kClose);
      }
      if (frame == 0) continue;
      warm_steps += warm.steps, cold_steps += fresh.steps, ++frames;
    }
  }
  std::cout << "seed " << seed << ": steps a frame " << double(warm_steps) / frames << " with coherence, "
            << double(cold_steps) / frames << " without\n";
  EXPECT_LT(4 * warm_steps, cold_steps);
}

// Compares the penetration depth with a full test of every axis of the two bodies; moves the bodies apart along the
// normal.

double overlap(const ConvexBody& a, const RigidFrame& at_a, const ConvexBody& b, const RigidFrame& at_b,
               const dvec3& n) {
  double top = -1e9, bottom = 1e9;
  for (const dvec3& v : a.vertices) top = std::max(top, glm::dot(n, at_a.to_world(v)));
  for (const dvec3& v : b.vertices) bottom = std::min(bottom, glm::dot(n, at_b.to_world(v)));
  return top - bottom;
}

// Computes the depth along every face normal and every product of two edges, with both signs, by full projections.
double slow_depth(const ConvexBody& a, const RigidFrame& at_a, const ConvexBody& b, const RigidFrame& at_b) {
  double least = 1e9;
  const auto try_axis = [&](const dvec3& axis) {
    const double length = glm::length(axis);
    if (length < 1e-12) return;
    for (const double sign : {1.0, -1.0}) least = std::min(least, overlap(a, at_a, b, at_b, sign / length * axis));
  };
  for (const auto& f : a.faces) try_axis(at_a.axes * f.normal);
  for (const auto& f : b.faces) try_axis(at_b.axes * f.normal);
  for (const auto& e : a.edges)
    for (const auto& g : b.edges)
      try_axis(glm::cross(at_a.axes * glm::normalize(a.vertices[e.vertex[1]] - a.vertices[e.vertex[0]]),
                          at_b.axes * glm::normalize(b.vertices[g.vertex[1]] - b.vertices[g.vertex[0]])));
  return least;
}

TEST(Penetration, AgainstEveryAxis) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  int overlapping = 0;
  for (int round = 0; round < 6000; ++round) {
    const ConvexBody a = convex_hull(test::random_cloud(dice, 0.05, 12)),
                     b = convex_hull(test::random_cloud(dice, 0.05, 12));
    const RigidFrame at_a = test::random_pose(dice, 0.1);
    RigidFrame at_b = test::random_pose(dice, 0.0);
    at_b.origin = at_a.origin + dice.uniform(0.0, 0.08) * dice.direction();
    FeaturePair pair;
    if (!closest_features(a, at_a, b, at_b, pair).overlapping) {
      if (a.dimension == 3 && b.dimension == 3) {
        ASSERT_LT(penetration(a, at_a, b, at_b).depth, 1e-12);
      }
      continue;
    }
    const Penetration found = penetration(a, at_a, b, at_b);
    if (a.dimension + b.dimension > 2) {
      ASSERT_NEAR(found.depth, slow_depth(a, at_a, b, at_b), 1e-9)
          << "seed " << seed << " dims " << a.dimension << b.dimension;
    }
    ASSERT_NEAR(glm::length(found.normal), 1.0, 1e-9);
    ASSERT_NEAR(overlap(a, at_a, b, at_b, found.normal), found.depth, 1e-9);
    ASSERT_NEAR(glm::distance(found.on_first, found.on_second + found.depth * found.normal), 0.0, 1e-6);
    // Moved by the depth plus a micrometre they are apart by a micrometre.
    RigidFrame moved = at_b;
    moved.origin += (found.depth + 1e-6) * found.normal;
    FeaturePair after;
    const FeatureDistance parted = closest_features(a, at_a, b, moved, after);
    ASSERT_FALSE(parted.overlapping) << "seed " << seed << " round " << round;
    ASSERT_NEAR(parted.distance, 1e-6, 1e-9)
        << "seed " << seed << " round " << round << " dims " << a.dimension << b.dimension;
    ++overlapping;
  }
  std::cout << "seed " << seed << ": " << overlapping << " overlapping pairs\n";
  EXPECT_GT(overlapping, 800);
}

TEST(Penetration, Cubes) {
  std::vector<vec3> corners;
  for (int i = 0; i < 8; ++i) corners.emplace_back(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
  const ConvexBody cube = convex_hull(corners);
  const Penetration pressed = penetration(cube, {}, cube, {glm::dmat3(1.0), {1.75, 0.5, 0}});
  EXPECT_NEAR(pressed.depth, 0.25, 1e-12);
  EXPECT_NEAR(glm::distance(pressed.normal, dvec3(1, 0, 0)), 0.0, 1e-12);
  EXPECT_NEAR(penetration(cube, {}, cube, {}).depth, 2.0, 1e-12);
  EXPECT_NEAR(penetration(cube, {}, cube, {glm::dmat3(1.0), {2, 2, 2}}).depth, 0.0, 1e-12);
  EXPECT_NEAR(penetration(cube, {}, cube, {glm::dmat3(1.0), {2.5, 0, 0}}).depth, -0.5, 1e-12);
}

// Compares two hierarchies of pieces with a test of every pair of pieces, with and without the state of the last frame.

struct Slow {
  double distance = 1e9, depth = 0.0;
};

Slow all_pairs(const ConvexPieces& a, const RigidFrame& at_a, const ConvexPieces& b, const RigidFrame& at_b) {
  Slow slow;
  for (const PieceNode& first : a.nodes)
    for (const PieceNode& second : b.nodes) {
      if (!first.leaf() || !second.leaf()) continue;
      const double distance = test::slow_distance(first.hull, at_a, second.hull, at_b).distance;
      slow.distance = std::min(slow.distance, distance);
      if (distance == 0.0) slow.depth = std::max(slow.depth, penetration(first.hull, at_a, second.hull, at_b).depth);
    }
  return slow;
}

const ConvexPieces& ring() {
  static const ConvexPieces pieces =
      convex_pieces(shapes::torus(16, 8, 0.02f, 0.006f).view(), {.largest_deviation = 2e-3, .most_pieces = 8});
  return pieces;
}

TEST(PiecePair, AgainstAllPairs) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  int overlapping = 0;
  for (int round = 0; round < 40; ++round) {
    const RigidFrame at_a = test::random_pose(dice, 0.05);
    RigidFrame at_b = test::random_pose(dice, 0.0);
    at_b.origin = at_a.origin + dice.uniform(0.0, 0.08) * dice.direction();
    PiecePair pair(ring(), ring());
    const PieceDistance fast = pair.distance(at_a, at_b);
    const Slow slow = all_pairs(ring(), at_a, ring(), at_b);
    ASSERT_EQ(fast.overlapping, slow.distance == 0.0) << "seed " << seed;
    ASSERT_NEAR(fast.distance, slow.distance, 1e-9) << "seed " << seed;
    ASSERT_NEAR(fast.depth, slow.depth, 1e-9) << "seed " << seed;
    if (!fast.overlapping) {
      ASSERT_NEAR(glm::distance(fast.on_first + fast.distance * fast.normal, fast.on_second), 0.0, 1e-9);
    }
    overlapping += fast.overlapping;
  }
  EXPECT_GT(overlapping, 5);
}

// Turns one of two linked rings: the state of the last frame changes the cost, never the answer.
TEST(PiecePair, CoherentMotion) {
  PiecePair kept(ring(), ring());
  long warm_tests = 0, cold_tests = 0, warm_steps = 0, cold_steps = 0;
  for (int frame = 0; frame < 200; ++frame) {
    const RigidFrame at_b{test::rotation({1, 0, 0}, 1.5 + 0.003 * frame), {0.02 + 0.0002 * frame, 0.0, 0.0}};
    const std::uint64_t before = allocations_so_far();
    const PieceDistance warm = kept.distance({}, at_b);
    ASSERT_EQ(allocations_so_far(), before);
    PiecePair fresh(ring(), ring());
    const PieceDistance cold = fresh.distance({}, at_b);
    ASSERT_EQ(warm.overlapping, cold.overlapping);
    ASSERT_NEAR(warm.distance, cold.distance, 1e-9);
    ASSERT_NEAR(warm.depth, cold.depth, 1e-9);
    warm_tests += warm.hull_tests, cold_tests += cold.hull_tests;
    warm_steps += warm.steps, cold_steps += cold.steps;
  }
  std::cout << "hull tests a frame " << warm_tests / 200.0 << ", fresh " << cold_tests / 200.0 << "; steps "
            << warm_steps / 200.0 << ", fresh " << cold_steps / 200.0 << "\n";
  EXPECT_LE(warm_tests, cold_tests);
  EXPECT_LT(2 * warm_steps, cold_steps);
}

// Tests that "separated" is never wrong, that "not found" is rarely wrong for a wide gap, and that the last frame's
// plane saves updates.

constexpr PlaneWeight kWeights[] = {PlaneWeight::Constant, PlaneWeight::Decaying, PlaneWeight::Quality};

std::vector<dvec3> placed(const ConvexBody& body, const RigidFrame& pose) {
  std::vector<dvec3> points;
  for (const dvec3& v : body.vertices) points.push_back(pose.to_world(v));
  return points;
}

void expect_right(const std::vector<dvec3>& a, const std::vector<dvec3>& b, const SeparatingPlaneAnswer& answer) {
  if (!answer.separated) return;
  ASSERT_GT(answer.gap, 0.0);
  ASSERT_NEAR(glm::length(answer.plane.normal), 1.0, 1e-12);
  for (const dvec3& p : a) ASSERT_GT(glm::dot(answer.plane.normal, p), answer.plane.offset);
  for (const dvec3& p : b) ASSERT_LT(glm::dot(answer.plane.normal, p), answer.plane.offset);
}

TEST(SeparatingPlane, SeparatedIsAlwaysRight) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  int apart = 0, wrong[3] = {};
  for (int round = 0; round < 3000; ++round) {
    const double unit = dice.log_uniform(1e-4, 1e3);  // any unit of length
    const ConvexBody a = convex_hull(test::random_cloud(dice, 0.05 * unit, 20));
    const ConvexBody b = convex_hull(test::random_cloud(dice, 0.05 * unit, 20));
    const RigidFrame at_a = test::random_pose(dice, unit);
    const RigidFrame at_b{test::random_pose(dice, 0.0).axes,
                          at_a.origin + unit * dice.uniform(0.0, 0.2) * dice.direction()};
    FeaturePair pair;
    const FeatureDistance truth = closest_features(a, at_a, b, at_b, pair);
    const auto first = placed(a, at_a), second = placed(b, at_b);
    for (const PlaneWeight weight : kWeights) {
      const SeparatingPlaneAnswer answer = separating_plane(first, second, nullptr, {.weight = weight});
      expect_right(first, second, answer);
      ASSERT_FALSE(truth.overlapping && answer.separated);
      ASSERT_LE(answer.gap, truth.distance + 1e-9 * unit);
      if (truth.distance > 0.02 * unit) wrong[static_cast<int>(weight)] += !answer.separated;
    }
    apart += truth.distance > 0.02 * unit;
  }
  std::cout << "seed " << seed << ": of " << apart << " pairs a fifth of a body apart, not found: constant " << wrong[0]
            << ", decaying " << wrong[1] << ", quality " << wrong[2] << "\n";
  for (const int count : wrong) EXPECT_LT(count, apart / 20);
}

TEST(SeparatingPlane, UnitsDoNotMatter) {
  Dice dice(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<dvec3> a(12), b(12), large_a(12), large_b(12);
    for (int i = 0; i < 12; ++i) {
      a[i] = dice.in_cube(1.0), b[i] = dice.in_cube(1.0) + dvec3(1.9, 0.5, 0.0);
      large_a[i] = 1024.0 * a[i], large_b[i] = 1024.0 * b[i];
    }
    const SeparatingPlaneAnswer small = separating_plane(a, b), large = separating_plane(large_a, large_b);
    EXPECT_EQ(small.separated, large.separated);
    EXPECT_EQ(small.updates, large.updates);
    EXPECT_NEAR(1024.0 * small.gap, large.gap, 1e-9);
  }
}

TEST(SeparatingPlane, DegenerateSets) {
  const std::vector<dvec3> origin{{0, 0, 0}}, other{{1, 0, 0}}, line{{-1, 0, 0}, {1, 0, 0}};
  for (const PlaneWeight weight : kWeights) {
    const SeparatingPlaneParams params{.weight = weight};
    EXPECT_TRUE(separating_plane(origin, other, nullptr, params).separated);
    EXPECT_FALSE(separating_plane(origin, origin, nullptr, params).separated);
    EXPECT_FALSE(separating_plane(origin, line, nullptr, params).separated);
    EXPECT_FALSE(separating_plane(line, line, nullptr, params).separated);
  }
  const std::vector<dvec3> nan{{NAN, 0, 0}};
  EXPECT_FALSE(separating_plane(origin, nan).separated);
}

// Over many pairs of bodies; for a single pair the last plane may cost more. The quality weight hardly turns the plane
// towards a point just beyond it, so that a search may end without a plane: in about one of 150,000 frames here.
TEST(SeparatingPlane, LastFramesPlaneSavesUpdates) {
  constexpr int kPairs = 20, kFrames = 300;
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  for (const PlaneWeight weight : kWeights) {
    long warm = 0, cold = 0, not_found = 0;
    for (int pair = 0; pair < kPairs; ++pair) {
      const ConvexBody a = convex_hull(test::random_cloud(dice, 0.05, 20)),
                       b = convex_hull(test::random_cloud(dice, 0.05, 20));
      const dvec3 axis = dice.direction(), start = dice.direction(), direction = dice.across(start);
      Plane plane;
      for (int frame = 0; frame < kFrames; ++frame) {
        const RigidFrame at_b{test::rotation(axis, 0.01 * frame), 0.2 * start + 0.0005 * (frame - 150.0) * direction};
        const auto first = placed(a, {}), second = placed(b, at_b);
        const std::uint64_t before = allocations_so_far();
        const SeparatingPlaneAnswer answer = separating_plane(first, second, &plane, {.weight = weight});
        ASSERT_EQ(allocations_so_far(), before);
        expect_right(first, second, answer);
        plane = answer.plane;
        not_found += !answer.separated;
        if (!answer.separated) continue;
        warm += answer.updates, cold += separating_plane(first, second, nullptr, {.weight = weight}).updates;
      }
    }
    std::cout << "seed " << seed << " weight " << static_cast<int>(weight) << ": "
              << static_cast<double>(warm) / (kPairs * kFrames) << " updates a frame with the last plane, "
              << static_cast<double>(cold) / (kPairs * kFrames) << " without\n";
    EXPECT_LT(2 * warm, cold);
    EXPECT_LE(not_found, weight == PlaneWeight::Quality ? kPairs * kFrames / 100 : 0);
  }
}

// Checks the distance of two capsules against the smallest distance between points sampled on their axes. Moves
// overlapping capsules apart along the normal and checks that they then only touch.

double slow_axes(const Capsule& a, const Capsule& b) {
  return test::least_over_unit(
      [&](double u) { return test::slow_point_segment(glm::mix(a.from, a.to, u), b.from, b.to); });
}

// Axes of nearly one direction that meet between their ends: rounding leaves a gap of some 1e-15 m, whose direction
// says nothing: taken for the normal, it left such capsules up to 0.16 mm deep in each other.
TEST(Capsules, NearlyParallelAxesThatMeetAreSeparatedByTheNormal) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  for (int i = 0; i < 100000; ++i) {
    const dvec3 along = dice.direction(), beside = dice.log_uniform(1e-3, 0.1) * dice.across(along);
    const dvec3 meeting = dice.in_cube(0.1), other = glm::normalize(along + beside);
    const Capsule a{meeting - dice.uniform(0, 0.2) * along, meeting + dice.uniform(0, 0.2) * along, 0.01};
    Capsule b{meeting - dice.log_uniform(1e-14, 0.2) * other, meeting + dice.uniform(0, 0.2) * other, 0.01};
    const CapsuleDistance found = capsule_distance(a, b);
    ASSERT_NEAR(found.distance, -0.02, 1e-12) << "seed " << seed << " case " << i;
    b.from -= found.distance * found.normal, b.to -= found.distance * found.normal;
    ASSERT_NEAR(capsule_distance(a, b).distance, 0.0, 1e-9) << "seed " << seed << " case " << i;
  }
}

TEST(Capsules, RandomPairs) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  for (int i = 0; i < 20000; ++i) {
    Capsule a{dice.in_cube(0.1), dice.in_cube(0.1), dice.log_uniform(1e-4, 0.05)};
    Capsule b{dice.in_cube(0.1), dice.in_cube(0.1), dice.log_uniform(1e-4, 0.05)};
    switch (dice.pick(8)) {
      case 0:
        b.to = b.from + dice.uniform(-2, 2) * (a.to - a.from);  // parallel
        break;
      case 1:
        b.from = glm::mix(a.from, a.to, dice.uniform(0, 1));  // axes meet
        break;
      case 2:
        a.to = a.from;
        break;
      case 3:
        b = a;
        break;
      case 4:
        a.to = a.from, b.to = b.from = a.from;
        break;
      default:
        break;
    }
    const CapsuleDistance found = capsule_distance(a, b);
    ASSERT_NEAR(found.distance, slow_axes(a, b) - a.radius - b.radius, 1e-8) << "seed " << seed << " case " << i;
    ASSERT_NEAR(glm::length(found.normal), 1.0, 1e-12);
    ASSERT_NEAR(glm::distance(found.on_first + found.distance * found.normal, found.on_second), 0.0, 1e-12);
    // When the capsules are moved apart by the distance, they touch; no shorter move separates them.
    Capsule moved = b;
    moved.from -= found.distance * found.normal, moved.to -= found.distance * found.normal;
    ASSERT_NEAR(capsule_distance(a, moved).distance, 0.0, 1e-9) << "seed " << seed << " case " << i;
    const dvec3 other = 0.95 * std::abs(found.distance) * dice.direction();
    moved = b, moved.from += other, moved.to += other;
    if (found.distance < -1e-6) {
      ASSERT_LT(capsule_distance(a, moved).distance, 0.0);
    }
    if (found.distance > 1e-6) {
      ASSERT_GT(capsule_distance(a, moved).distance, 0.0);
    }
  }
}

// Tests the exact test on integers and named cases. Compares the area and angle tests with it: how often they differ,
// and up to which gap rounding and tolerance matter.

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
  for (const Named& c : kCases)
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
    for (const EdgeTest test : {EdgeTest::Exact, EdgeTest::Area, EdgeTest::Angle})
      EXPECT_EQ(pairs_of(cubes[0], cubes[1], test).size(), expected) << name << " test " << static_cast<int>(test);
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
    for (std::size_t frame = 0; frame < 2; ++frame)
      EXPECT_EQ(pairs_of(scene.posed(0, frame), scene.posed(1, frame), test).size(), expected[frame])
          << "frame " << frame << " test " << static_cast<int>(test);
  }
}

// Random soups, and the same on a coarse grid where touching and coplanar pairs are common. The test of mesh/ omits
// pairs with common corners and faces without area; so does the comparison.
TEST(CrossingPairs, ExactAgreesWithTheMeshRoom) {
  std::size_t crossing = 0, compared = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    TriangleMesh a = shapes::random_soup(seed, 60, 0.04f), b = shapes::random_soup(seed + 1000, 60, 0.04f);
    if (seed % 2)
      for (TriangleMesh* mesh : {&a, &b})
        for (glm::vec3& p : mesh->positions) p = glm::round(p * 300.f);
    const Pairs pairs = pairs_of(a, b, EdgeTest::Exact);
    for (std::uint32_t f = 0; f < a.faces.size(); ++f)
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
  EXPECT_GT(crossing, 400u);
  std::cout << crossing << " crossing of " << compared << " pairs\n";
}

}  // namespace
}  // namespace trocar::solids

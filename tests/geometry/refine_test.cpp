// Tests exact distances: touches of a face and a moving tool, decided in double and compared with slow searches and
// closed forms; and the closest points of segments and triangles, compared with sampling.
#include <thread>

#include "geometry/closest.hpp"
#include "geometry/face_numbers.hpp"
#include "geometry/frame.hpp"
#include "geometry/machine.hpp"
#include "geometry/refine.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/geometry/slow_distance.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace refine_test {

// Compares touches with sampling: membership with a slow search, first-touch time with dense sampling of the step,
// point and normal with the distance at that time, depth with steps out of the tool. All kernels give the same touches,
// and pinned values stay. Also tests the helpers of a query's backends.

using glm::dvec3;
using test::Dice;

constexpr std::uint32_t kSeed = 52;
constexpr double kClose = 5e-9;  // m, including the error of the slow search

double distance_at(const ToolStep& step, const Triangle& face, double time) {
  return closest_segment_triangle(step.pivot, pose_at(step, time).tip, face).distance;
}

double distance_to_sweep(const ToolStep& step, const Triangle& face) {
  return test::slow_triangles({step.pivot, step.tip_before, step.tip_after}, face);
}

// Returns a step of such size that both end poses may miss a face; includes rest, retraction and insertion.
ToolStep sweeping_step(Dice& dice) {
  ToolStep step = test::random_step(dice);
  const auto kind = dice.pick(10);
  if (kind == 0) step.tip_after = step.tip_before;
  if (kind == 1) step.tip_after = glm::mix(step.pivot, step.tip_before, dice.uniform(0.1, 3.0));
  if (kind == 2) step.tip_after = glm::mix(step.pivot, step.tip_before, dice.uniform(-2.0, -0.1));
  if (kind == 3) step.tip_after = step.tip_before + 2.0 * step.radius * dice.uniform(0.0, 2.0) * dice.direction();
  return step_fault(step).empty() ? step : test::random_step(dice);
}

TEST(RefineTouch, MembershipEqualsTheSlowSearch) {
  std::printf("seed %u\n", kSeed);
  Dice dice(kSeed);
  int inside = 0, outside = 0;
  for (int i = 0; i < 400; ++i) {
    const ToolStep step = sweeping_step(dice);
    const Triangle face = test::face_near(dice, step);
    const double distance = distance_to_sweep(step, face);
    if (std::abs(distance - step.radius) < kClose) continue;
    Touch touch;
    ASSERT_EQ(refine_touch(step, face, touch), distance < step.radius)
        << "distance " << distance << " radius " << step.radius;
    (distance < step.radius ? inside : outside)++;
  }
  EXPECT_GT(inside, 80);
  EXPECT_GT(outside, 40);
}

TEST(RefineTouch, MembershipEqualsTheDistanceOfTriangles) {
  std::printf("seed %u\n", kSeed + 1);
  Dice dice(kSeed + 1);
  int inside = 0, passed = 0;
  for (int i = 0; i < 80000 && !HasFailure(); ++i) {
    const ToolStep step = sweeping_step(dice);
    const Triangle face = test::face_near(dice, step);
    const double distance = closest_triangles({step.pivot, step.tip_before, step.tip_after}, face).distance;
    if (std::abs(distance - step.radius) < kClose) continue;
    Touch touch;
    ASSERT_EQ(refine_touch(step, face, touch), distance < step.radius)
        << "distance " << distance << " radius " << step.radius;
    if (distance >= step.radius) continue;
    ++inside;
    passed += distance_at(step, face, 0.0) > step.radius && distance_at(step, face, 1.0) > step.radius;
  }
  EXPECT_GT(inside, 20000);
  EXPECT_GT(passed, 500);  // touched only in the middle of the step
}

// Tests the time: the face is within the radius at that time, and at none of 400 earlier samples. Point and normal must
// be the closest ones at that time.
TEST(RefineTouch, TimeIsTheFirstAndPointIsTheClosest) {
  std::printf("seed %u\n", kSeed + 2);
  Dice dice(kSeed + 2);
  int later = 0;
  double worst = 0.0;
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    const ToolStep step = sweeping_step(dice);
    const Triangle face = test::face_near(dice, step);
    Touch touch;
    if (!refine_touch(step, face, touch)) continue;
    ASSERT_GE(touch.time, 0.f);
    ASSERT_LE(touch.time, 1.f);
    const double slack = 1e-8 + 1e-7 * glm::distance(step.tip_before, step.tip_after);  // time is stored in float
    const double then = distance_at(step, face, touch.time);
    ASSERT_LE(then, step.radius + slack);
    const dvec3 tip = pose_at(step, touch.time).tip;
    const double from_point = test::slow_point_segment(dvec3(touch.point), step.pivot, tip);
    ASSERT_NEAR(from_point, then, slack + 1e-7);
    ASSERT_LT(test::slow_point_triangle(dvec3(touch.point), face), 1e-7);
    ASSERT_NEAR(glm::length(dvec3(touch.normal)), 1.0, 1e-6);
    if (then > 1e-6) {
      const dvec3 reached = dvec3(touch.point) + then * dvec3(touch.normal);
      ASSERT_LT(test::slow_point_segment(reached, step.pivot, tip), slack + 3e-7);
    }
    if (touch.time == 0.f) continue;
    ++later;
    ASSERT_NEAR(then, step.radius, slack);
    for (int k = 0; k < 400; ++k) {
      const double time = touch.time * k / 400.0, distance = distance_at(step, face, time);
      worst = std::max(worst, step.radius - distance);
      ASSERT_GT(distance, step.radius - 1e-9) << "at " << time << ", first touch said to be " << touch.time;
    }
  }
  std::printf("%d touches after time 0; deepest earlier penetration %.3g m\n", later, worst);
  EXPECT_GT(later, 2000);
}

TEST(RefineTouch, TimeEqualsDenseSamplingWithTheSlowDistance) {
  std::printf("seed %u\n", kSeed + 3);
  Dice dice(kSeed + 3);
  int later = 0;
  for (int i = 0; i < 4000 && later < 40; ++i) {
    const ToolStep step = sweeping_step(dice);
    const Triangle face = test::face_near(dice, step);
    Touch touch;
    if (!refine_touch(step, face, touch) || touch.time == 0.f) continue;
    ++later;
    int first = 0;
    constexpr int kSamples = 64;
    while (first < kSamples &&
           test::slow_segment_triangle(step.pivot, pose_at(step, double(first) / kSamples).tip, face) > step.radius)
      ++first;
    // A grazing touch can be over between two samples; then no sample is within the radius near the time found.
    if (test::slow_segment_triangle(step.pivot, pose_at(step, double(first) / kSamples).tip, face) > step.radius)
      continue;
    ASSERT_GE(first + 1e-4, touch.time * kSamples);
  }
  EXPECT_EQ(later, 40);
}

TEST(RefineTouch, DepthEqualsSteppingOutOfTheTool) {
  std::printf("seed %u\n", kSeed + 4);
  Dice dice(kSeed + 4);
  int deep = 0, ahead = 0;
  for (int i = 0; i < 5000 && !HasFailure(); ++i) {
    const ToolStep step = sweeping_step(dice);
    const Triangle face = test::face_near(dice, step);
    Touch touch;
    if (!refine_touch(step, face, touch)) continue;
    // Step along -normal well past the tool; the last point within the radius of the end pose gives the depth.
    const dvec3 from(touch.point), outward = -dvec3(touch.normal);
    const double longest = glm::distance(from, step.pivot) + glm::distance(from, step.tip_after) + 2.0 * step.radius;
    const double stride = longest / 3000.0;
    double walked = 0.0;
    for (int k = 0; k <= 3000; ++k)
      if (test::slow_point_segment(from + k * stride * outward, step.pivot, step.tip_after) <= step.radius)
        walked = k * stride;
    const double out = test::slow_point_segment(from + double(touch.depth) * outward, step.pivot, step.tip_after);
    ASSERT_GE(touch.depth, 0.f);
    ASSERT_GT(touch.depth, walked - 1e-6);
    // Either the stepping found it, or it lies on the tool's surface, grazed between two steps.
    ASSERT_TRUE(touch.depth < walked + stride + 1e-6 || std::abs(out - step.radius) < 1e-6)
        << touch.depth << " " << walked;
    if (touch.depth > 1e-6f) {
      ASSERT_NEAR(out, step.radius, 1e-6);
    }
    deep += touch.depth > 0.f;
    ahead += touch.depth > 2.0 * step.radius;
  }
  EXPECT_GT(deep, 1000);
  EXPECT_GT(ahead, 50);
}

// A tool of radius 2.5 mm hangs from the pivot and swings from x = -20 mm to x = 20 mm at the tip.
const ToolStep kSwing{{0, 0, 0}, {-0.02, -0.1, 0}, {0.02, -0.1, 0}, 0.0025};

TEST(RefineTouch, HandMadeWallIsTouchedAtItsTop) {
  // A wall at x = 0 up to y = -0.05: the inclined shaft is nearest to its top, at distance 0.05 sin(lean), so sin(lean)
  // = 1/20.
  const Triangle wall{{0, -0.2, -0.1}, {0, -0.2, 0.1}, {0, -0.05, 0}};
  const double lean = std::asin(0.0025 / 0.05);
  Touch touch;
  ASSERT_TRUE(refine_touch(kSwing, wall, touch));
  EXPECT_NEAR(touch.time, (0.02 - 0.1 * std::tan(lean)) / 0.04, 1e-6);
  EXPECT_NEAR(touch.normal.x, -std::cos(lean), 1e-5);
  EXPECT_NEAR(touch.normal.y, std::sin(lean), 1e-5);
  EXPECT_NEAR(touch.point.y, -0.05, 1e-6);
  // Through the end pose, whose axis has x = 0.01 here, and out at its far side.
  EXPECT_NEAR(touch.depth, 0.0127, 1e-4);
}

TEST(RefineTouch, HandMadeThinFaceIsPassedWithinTheStep) {
  const Triangle post{{0, -0.09, 0}, {0, -0.0901, 0}, {0, -0.0901, 0.0001}};
  Touch touch;
  ASSERT_TRUE(refine_touch(kSwing, post, touch));
  EXPECT_GT(touch.time, 0.3f);
  EXPECT_LT(touch.time, 0.5f);
  EXPECT_GT(touch.depth, 0.015f);  // the tool has passed it: the exit is in front of the end pose
}

TEST(RefineTouch, HandMadeInsertionTouchesAFloor) {
  const ToolStep step{{0, 0, 0}, {0, -0.05, 0}, {0, -0.10, 0}, 0.0025};
  const Triangle floor{{-0.1, -0.08, -0.1}, {0, -0.08, 0.2}, {0.1, -0.08, -0.1}};  // counter-clockwise from above
  Touch touch;
  ASSERT_TRUE(refine_touch(step, floor, touch));
  EXPECT_NEAR(touch.time, (0.03 - 0.0025) / 0.05, 1e-6);
  EXPECT_NEAR(touch.normal.y, 1.0, 1e-6);
  EXPECT_NEAR(touch.depth, 0.0225, 1e-6);
}

TEST(RefineTouch, HandMadeCrossingAtTheStartHasTheOutwardNormal) {
  const ToolStep rest{{0, 0, 0}, {0, -0.1, 0}, {0, -0.1, 0}, 0.0025};
  const Triangle floor{{-0.1, -0.08, -0.1}, {0, -0.08, 0.2}, {0.1, -0.08, -0.1}};
  Touch touch;
  ASSERT_TRUE(refine_touch(rest, floor, touch));
  EXPECT_EQ(touch.time, 0.f);
  EXPECT_NEAR(touch.normal.y, 1.0, 1e-6);
  EXPECT_NEAR(touch.depth, 0.0225, 1e-6);
}

TEST(RefineTouch, DegenerateFacesOnTheAxisHaveAUnitNormal) {
  const ToolStep rest{{0, 0, 0}, {0, -0.1, 0}, {0, -0.1, 0}, 0.0025};
  const dvec3 at(0, -0.05, 0);
  for (const Triangle& face : {Triangle{at, at, at}, Triangle{at, at, at + dvec3(0.01, 0, 0)},
                               Triangle{at, {0, -0.06, 0}, {0, -0.07, 0}}, Triangle{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}}) {
    Touch touch;
    ASSERT_TRUE(refine_touch(rest, face, touch));
    EXPECT_NEAR(glm::length(touch.normal), 1.f, 1e-6f);
    // Perpendicular to the sides of a needle, and to the shaft for a point.
    for (const dvec3& side : {face.b - face.a, face.c - face.b, face.a - face.c})
      EXPECT_NEAR(glm::dot(dvec3(touch.normal), side), 0.0, 1e-9);
    if (face.b == face.a && face.c == face.a) {
      EXPECT_NEAR(touch.normal.y, 0.f, 1e-6f);
    }
    EXPECT_EQ(touch.time, 0.f);
    EXPECT_TRUE(std::isfinite(touch.depth));
  }
}

// Faces near one step, for every case of the refinement.
struct Candidates {
  ToolStep step;
  std::vector<Triangle> corners;
  std::vector<glm::vec3> positions;
  std::vector<glm::uvec3> faces;
  std::vector<FaceId> ids;
};

Candidates random_candidates(Dice& dice, std::uint32_t count) {
  Candidates made{sweeping_step(dice), {}, {}, {}, {}};
  for (std::uint32_t i = 0; i < count; ++i) {
    made.corners.push_back(test::face_near(dice, made.step));
    const Triangle& face = made.corners.back();
    for (const dvec3& corner : {face.a, face.b, face.c}) made.positions.emplace_back(corner);
    made.faces.push_back({3 * i, 3 * i + 1, 3 * i + 2});
    made.ids.push_back(FaceId{i});
  }
  return made;
}

// The kernels round differently from refine_touch: they may decide differently when the distance is within 1e-9 m of
// the radius, and may return another closest point where it is not unique.
TEST(RefineTouches, EqualsOneByOne) {
  std::printf("seed %u\n", kSeed + 5);
  Dice dice(kSeed + 5);
  int touched = 0, later = 0, other_points = 0;
  for (int round = 0; round < 4000 && !HasFailure(); ++round) {
    const Candidates all = random_candidates(dice, 1 + dice.pick(40));
    std::vector<Touch> touches(all.ids.size());
    touches.resize(refine_touches(all.step, all.corners, all.ids, touches));
    std::size_t next = 0;
    for (std::size_t i = 0; i < all.ids.size(); ++i) {
      Touch alone;
      const bool expected = refine_touch(all.step, all.corners[i], alone);
      const bool got = next < touches.size() && touches[next].face == all.ids[i];
      const Touch touch = got ? touches[next++] : Touch{};
      if (expected != got) {
        const Triangle swept{all.step.pivot, all.step.tip_before, all.step.tip_after};
        ASSERT_NEAR(closest_triangles(swept, all.corners[i]).distance, all.step.radius, 1e-9);
      }
      if (!expected || !got) continue;
      ++touched;
      later += alone.time > 0.f;
      ASSERT_NEAR(touch.time, alone.time, 1e-4);
      const double here =
          test::slow_point_segment(dvec3(touch.point), all.step.pivot, pose_at(all.step, touch.time).tip);
      const double there =
          test::slow_point_segment(dvec3(alone.point), all.step.pivot, pose_at(all.step, alone.time).tip);
      ASSERT_NEAR(here, there, 2e-7);
      ASSERT_NEAR(glm::length(dvec3(touch.normal)), 1.0, 1e-6);
      if (glm::distance(touch.point, alone.point) < 1e-6f && glm::distance(touch.normal, alone.normal) < 1e-4f) {
        ASSERT_NEAR(touch.depth, alone.depth, 1e-4);
      } else {
        ++other_points;
      }
    }
    ASSERT_EQ(next, touches.size());
  }
  std::printf("%d touched, %d of them after time 0, %d with another closest point\n", touched, later, other_points);
  EXPECT_GT(touched, 30000);
  EXPECT_GT(later, 5000);
  EXPECT_LT(other_points, touched / 50);
}

bool same_bits(std::span<const Touch> one, std::span<const Touch> two) {
  return std::equal(one.begin(), one.end(), two.begin(), two.end(), [](const Touch& a, const Touch& b) {
    return a.face == b.face && a.point == b.point && a.normal == b.normal && a.depth == b.depth && a.time == b.time;
  });
}

TEST(RefineTouches, KernelsAndFormsGiveTheSameBits) {
  std::printf("seed %u\n", kSeed + 6);
  if (!avx2_refine_kernels()) std::printf("this processor has no AVX2: its kernels are not compared\n");
  Dice dice(kSeed + 6);
  std::size_t touched = 0, mixed = 0, later = 0;  // mixed: rounds with touched and untouched faces
  for (int round = 0; round < 4000 && !HasFailure(); ++round) {
    const Candidates all = random_candidates(dice, dice.pick(40));
    std::vector<Touch> by_mesh(all.ids.size()), by_corners(all.ids.size()), plain(all.ids.size());
    by_mesh.resize(refine_touches(all.step, {all.positions, all.faces}, all.ids, by_mesh));
    by_corners.resize(refine_touches(all.step, all.corners, all.ids, by_corners));
    plain.resize(refine_touches_with(plain_refine_kernels(), all.step, all.corners, all.ids, plain));
    ASSERT_TRUE(same_bits(by_mesh, by_corners));
    ASSERT_TRUE(same_bits(by_mesh, plain));
    touched += plain.size();
    mixed += !plain.empty() && plain.size() < all.ids.size();
    for (const Touch& touch : plain) later += touch.time > 0.f;
    if (const RefineKernels* kernels = avx2_refine_kernels()) {
      std::vector<Touch> avx2(all.ids.size());
      avx2.resize(refine_touches_with(*kernels, all.step, all.corners, all.ids, avx2));
      ASSERT_TRUE(same_bits(avx2, plain));
    }
  }
  std::printf("%zu touches compared\n", touched);
  EXPECT_GT(touched, 20000u) << "too few faces are touched for this test to show anything";
  EXPECT_GT(mixed, 2000u);
  EXPECT_GT(later, 1000u);
}

}  // namespace refine_test

// Compares touches with closed forms where rounding is hardest: sides nearly parallel to the shaft, and depths through
// every part of the end pose.
namespace refine_forms_test {

using glm::dvec3;
using test::Dice;

constexpr std::uint32_t kSeed = 52;

// Faces with a side nearly parallel to the shaft, which it crosses or passes: the closest points there come from cross
// products.
TEST(RefineTouches, NearlyParallelSides) {
  std::printf("seed %u\n", kSeed + 7);
  Dice dice(kSeed + 7);
  double worst = 0.0, worst_one = 0.0;
  for (int i = 0; i < 4000 && !HasFailure(); ++i) {
    const double length = dice.uniform(0.05, 0.2), radius = dice.uniform(0.001, 0.005);
    const ToolPose pose{{0, 0, 0}, length * dice.direction(), radius};
    const dvec3 d = glm::normalize(pose.tip), side = dice.across(d), up = glm::cross(d, side);
    const double angle = dice.pick(4) ? dice.log_uniform(1e-12, 1e-3) : 0.0, height = dice.uniform(0.0, 0.9) * radius;
    // The side passes the shaft at `height` at one half of its length; the face lies beyond it.
    const dvec3 middle = 0.5 * pose.tip + height * up, along = d + angle * side;
    const Triangle face{middle - 0.01 * along, middle + 0.01 * along, middle + 0.02 * up};
    const ToolStep step = step_at_rest(pose);
    Touch one, four;
    ASSERT_TRUE(refine_touch(step, face, one));
    const FaceId id{3};
    ASSERT_EQ(refine_touches(step, std::span(&face, 1), std::span(&id, 1), std::span(&four, 1)), 1u);
    ASSERT_EQ(four.face, id);
    ASSERT_EQ(four.time, 0.f);
    // The distance is known: the point's, from the shaft.
    worst_one =
        std::max(worst_one, std::abs(test::slow_point_segment(dvec3(one.point), pose.pivot, pose.tip) - height));
    worst = std::max(worst, std::abs(test::slow_point_segment(dvec3(four.point), pose.pivot, pose.tip) - height));
    ASSERT_NEAR(four.depth, one.depth, 1e-6) << "angle " << angle;
    ASSERT_NEAR(four.depth, radius - height, 1e-6) << "angle " << angle;
  }
  std::printf("error of the distance: %.3g m one by one, %.3g m four at a time\n", worst_one, worst);
  EXPECT_LT(worst, 1e-8);
  EXPECT_LT(worst_one, 1e-8);
}

// The depth of a face that the tool has passed, or that lies in front of its end: the exit of the end pose, through its
// side, its tip or its pivot. Closed forms for a shaft along y.
TEST(RefineTouches, DepthThroughEveryPartOfTheEndPose) {
  const ToolStep step{{0, 0, 0}, {0.03, -0.1, 0}, {0, -0.1, 0}, 0.004};
  std::printf("seed %u\n", kSeed + 8);
  Dice dice(kSeed + 8);
  int side = 0, ends = 0;
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    const Triangle face = test::face_near(dice, step);
    const FaceId id{0};
    Touch touch;
    if (refine_touches(step, std::span(&face, 1), std::span(&id, 1), std::span(&touch, 1)) == 0) continue;
    const dvec3 from(touch.point), out = -glm::normalize(dvec3(touch.normal));
    // The farthest crossing of the ray with the side or with one of the spheres.
    double exit = 0.0;
    const double a = out.x * out.x + out.z * out.z, b = from.x * out.x + from.z * out.z,
                 c = from.x * from.x + from.z * from.z - step.radius * step.radius;
    if (a > 1e-9 && b * b >= a * c) {
      const double t = (std::sqrt(b * b - a * c) - b) / a, y = from.y + t * out.y;
      if (y <= 0.0 && y >= -0.1 && t > exit) exit = t;
    }
    const bool by_side = exit > 0.0;
    for (const dvec3& centre : {step.pivot, step.tip_after}) {
      const dvec3 r = from - centre;
      const double half = glm::dot(r, out), under = half * half - glm::dot(r, r) + step.radius * step.radius;
      if (under >= 0.0) exit = std::max(exit, std::sqrt(under) - half);
    }
    // Where the ray grazes the tool, rounding of the normal to float decides.
    const double graze = std::abs(b * b - a * c) / (a * a + 1e-9);
    if (graze < 1e-9 || a < 1e-3) continue;
    ASSERT_NEAR(touch.depth, exit, 2e-6 + 1e-12 / graze) << i;
    (by_side ? side : ends) += exit > 0.0;
  }
  std::printf("%d through the side, %d through the ends\n", side, ends);
  EXPECT_GT(side, 1000);
  EXPECT_GT(ends, 100);
}

}  // namespace refine_forms_test

// Pins the values of closest points, line hits and touches on fixed cases, with the degenerate ones. Where several
// answers are right (parallel segments, coplanar lines), the choice must not depend on the machine: it decides touches.
// IEEE arithmetic gives the same values everywhere.
namespace pinned_values_test {

using glm::dvec3;
using test::Dice;

constexpr std::uint32_t kSeed = 97;

// Points on a coarse lattice, so that parallel, equal and coplanar features are frequent.
dvec3 lattice_point(Dice& dice) {
  const int z = dice.pick(3), y = dice.pick(4), x = dice.pick(4);
  return dvec3(x, y, z) / 4.0;
}

void expect_value(double value, double expected) { EXPECT_NEAR(value, expected, 1e-11 * std::abs(expected)); }

TEST(PinnedValues, ClosestSegments) {
  Dice dice(kSeed);
  double u = 0.0, v = 0.0, squared = 0.0;
  for (int trial = 0; trial < 4000; ++trial) {
    const bool exact = trial % 2;
    const auto point = [&] { return exact ? lattice_point(dice) : dice.in_cube(1.0); };
    const dvec3 a = point(), b = point(), c = point();
    dvec3 d = point();
    if (trial % 8 == 0) d = c + dice.uniform(-2.0, 2.0) * (b - a);                          // parallel
    if (trial % 8 == 2) d = c + (b - a) + dvec3(1e-5, 0.0, 1e-4) * dice.uniform(0.0, 1.0);  // nearly
    const closest::SegmentPair pair = closest::closest_segments(closest::segment(a, b), closest::segment(c, d));
    u += (1.0 + trial % 7) * pair.u;
    v += (1.0 + trial % 5) * pair.v;
    squared += pair.squared;
  }
  expect_value(u, 8335.5300753073);
  expect_value(v, 5281.05423443514);
  expect_value(squared, 1918.05200063736);
}

TEST(PinnedValues, LineMeetsTriangle) {
  Dice dice(kSeed + 1);
  int hits = 0;
  double sum = 0.0;
  for (int trial = 0; trial < 6000; ++trial) {
    const bool exact = trial % 3 > 0;
    const auto point = [&] { return exact ? lattice_point(dice) : dice.in_cube(1.0); };
    const Triangle face{point(), point(), point()};
    const dvec3 origin = point(), to = trial % 5 ? point() : face.a + 0.3 * (face.b - face.a);
    const auto hit = line_meets_triangle(origin, to - origin, trial % 2 ? 1.0 : 1e30, face);
    if (!hit) continue;
    ++hits;
    sum += (1.0 + trial % 11) * *hit;
  }
  EXPECT_EQ(hits, 1850);
  expect_value(sum, 8042.67560954579);
}

struct Sums {
  int touches = 0;
  double time = 0.0, depth = 0.0, point = 0.0, normal = 0.0;
};

void add(const Touch& touch, int weight, Sums& sums) {
  ++sums.touches;
  sums.time += weight * double(touch.time);
  sums.depth += weight * double(touch.depth);
  for (int axis = 0; axis < 3; ++axis) {
    sums.point += (axis + 1) * weight * double(touch.point[axis]);
    sums.normal += (axis + 1) * weight * double(touch.normal[axis]);
  }
}

// A step and the faces near it: of all sizes, thin, degenerate, and crossed by the shaft.
struct Case {
  ToolStep step;
  std::vector<Triangle> faces;
  std::vector<FaceId> numbers;
};

Case random_case(Dice& dice) {
  Case made;
  made.step = {dice.in_cube(0.3), {}, {}, dice.uniform(0.002, 0.01)};
  const double arm = dice.uniform(0.05, 0.2);
  made.step.tip_before = made.step.pivot + arm * dice.direction();
  const double way = dice.pick(5) ? dice.uniform(0.0, 0.1) : 0.0;
  made.step.tip_after = made.step.tip_before + way * dice.direction();
  for (std::uint32_t k = 0; k < 23; ++k) {
    const dvec3 along = glm::mix(made.step.tip_before, made.step.tip_after, dice.uniform(-0.1, 1.1)) - made.step.pivot;
    const dvec3 beside = made.step.pivot + dice.uniform(-0.1, 1.1) * along, at = beside + dice.in_cube(0.015);
    const double size = k % 3 ? 0.004 : 0.06;
    Triangle face{at, at + dice.in_cube(size), at + dice.in_cube(size)};
    if (k % 7 == 3) face.c = face.b;
    if (k % 7 == 5) face.c = 0.25 * face.a + 0.75 * face.b + dice.in_cube(1e-6);
    if (k == 20) face.b = face.c = face.a;
    made.faces.push_back(face);
    made.numbers.push_back(FaceId(k));
  }
  return made;
}

TEST(PinnedValues, Touches) {
  Dice dice(kSeed + 2);
  std::vector<const RefineKernels*> kernels{&plain_refine_kernels()};
  if (avx2_refine_kernels()) kernels.push_back(avx2_refine_kernels());
  std::vector<Sums> sums(kernels.size());
  for (int trial = 0; trial < 1500; ++trial) {
    const Case made = random_case(dice);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      std::vector<Touch> touches(made.faces.size());
      touches.resize(refine_touches_with(*kernels[k], made.step, made.faces, made.numbers, touches));
      for (const Touch& touch : touches) add(touch, 1 + static_cast<int>(index(touch.face)) % 5, sums[k]);
    }
  }
  for (const Sums& of_kernel : sums) {
    EXPECT_EQ(of_kernel.touches, 13000);
    expect_value(of_kernel.time, 7518.51407046485);
    expect_value(of_kernel.depth, 141.282232192958);
    expect_value(of_kernel.point, -227.618053039584);
    expect_value(of_kernel.normal, 1466.11493550068);
  }
}

}  // namespace pinned_values_test

namespace {

// Tests what the backends share: the list of touches, the set of faces, runs of neighbours, perpendiculars, memory,
// time.

TEST(TouchCollector, ListsTheToolsInOrder) {
  const std::vector<glm::vec3> positions{{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}, {9, 9, 9}, {10, 9, 9}, {9, 10, 9}};
  const std::vector<glm::uvec3> faces{{0, 1, 2}, {3, 4, 5}};
  const MeshView mesh{positions, faces};
  const std::vector<FaceId> candidates{FaceId{0}, FaceId{1}};
  const ToolVolume tool = static_volume({{0, 0, 1}, {0, 0, -1}, 0.1});
  TouchCollector collector;
  for (int call = 0; call < 2; ++call) {
    collector.open();
    collector.add_tool(tool, TouchSet::Volume, mesh, candidates);
    collector.add_tool(tool, TouchSet::Exact, mesh, candidates);
    collector.pad(3);
    EXPECT_EQ(collector.list().of_tool(0).size(), 2u);  // the volume set is taken as given
    ASSERT_EQ(collector.list().of_tool(1).size(), 1u);
    EXPECT_EQ(collector.list().of_tool(1)[0].face, FaceId{0});
    EXPECT_TRUE(collector.list().of_tool(2).empty());
  }
  const std::vector<Triangle> corners{triangle_of(positions, faces[0]), triangle_of(positions, faces[1])};
  collector.open();
  collector.add_tool(tool, TouchSet::Exact, std::span<const Triangle>(corners), candidates);
  EXPECT_EQ(collector.list().touches.size(), 1u);
  EXPECT_GE(collector.memory_bytes(), 3 * sizeof(Touch));
  EXPECT_TRUE(collector.none(2).of_tool(1).empty());
  EXPECT_EQ(collector.none(2).first.size(), 3u);
}

TEST(FaceSet, DrainsFacesInOrder) {
  FaceSet set;
  set.resize(300000);
  const std::vector<std::uint32_t> faces{299998, 0, 63, 64, 4095, 4096, 64, 200000};
  for (int round = 0; round < 2; ++round) {
    for (const std::uint32_t face : faces) {
      set.insert_if(true, face);
      set.insert_if(false, face + 1);
    }
    std::vector<std::uint32_t> drained;
    set.drain([&](std::uint32_t face) { drained.push_back(face); });
    EXPECT_EQ(drained, (std::vector<std::uint32_t>{0, 63, 64, 4095, 4096, 200000, 299998}));
  }
}

TEST(SpatialOrder, RunsAreNeighbours) {
  test::Dice dice(7);
  std::vector<glm::vec3> points;
  for (int i = 0; i < 1000; ++i) points.emplace_back(dice.uniform(0, 1), dice.uniform(0, 1), dice.uniform(0, 1));
  points.resize(1100, points.back());  // equal points
  std::vector<std::uint32_t> numbers(points.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  order_in_runs(numbers, points, 16);
  double size = 0.0;
  for (std::size_t first = 0; first < numbers.size(); first += 16) {
    const std::span run = std::span(numbers).subspan(first, std::min<std::size_t>(16, numbers.size() - first));
    EXPECT_TRUE(std::is_sorted(run.begin(), run.end()));
    glm::vec3 low = points[run[0]], high = low;
    for (const std::uint32_t n : run) low = glm::min(low, points[n]), high = glm::max(high, points[n]);
    size += glm::distance(low, high);
  }
  EXPECT_LT(size / 69.0, 0.6);  // a run of points in file order measures about 1.5
  std::sort(numbers.begin(), numbers.end());
  for (std::uint32_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], i);
}

TEST(Perpendicular, IsPerpendicularAndNeverShort) {
  test::Dice dice(8);
  for (int i = 0; i < 1000; ++i) {
    const glm::dvec3 d(dice.uniform(-1, 1), dice.uniform(-1, 1), i % 3 == 0 ? 0.0 : dice.uniform(-1, 1));
    const glm::dvec3 side = any_perpendicular(d);
    EXPECT_NEAR(glm::dot(side, d), 0.0, 1e-15);
    EXPECT_GE(glm::length(side), 0.8 * glm::length(d));
  }
}

TEST(Stopwatch, MeasuresMilliseconds) {
  const auto start = Clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(milliseconds_since(start), 5.0);
}

TEST(HeldBytes, CountsUnusedCapacity) {
  std::vector<double> numbers;
  numbers.reserve(10);
  EXPECT_EQ(held_bytes(numbers, std::vector<char>()), 80u);
}

// Equal points are ordered by number: the runs are those of one order, whatever the order before.
TEST(SpatialOrder, EqualPointsAreOrderedByNumber) {
  test::Dice dice(9);
  for (int round = 0; round < 50; ++round) {
    std::vector<glm::vec3> points;
    for (int i = 0; i < 200; ++i) points.emplace_back(dice.pick(4), dice.pick(2), round % 2 ? 0 : dice.pick(8));
    std::vector<std::uint32_t> first(points.size());
    std::iota(first.begin(), first.end(), 0u);
    std::vector<std::uint32_t> second(first.rbegin(), first.rend());
    order_in_runs(first, points, 8);
    order_in_runs(second, points, 8);
    ASSERT_EQ(first, second) << "round " << round;
  }
  const std::vector<glm::vec3> same(40, glm::vec3(1.f));
  std::vector<std::uint32_t> numbers(same.size());
  std::iota(numbers.rbegin(), numbers.rend(), 0u);
  order_in_runs(numbers, same, 4);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

// Points on a line of each axis: the runs follow it. The first half has the whole runs, the last run is short.
TEST(SpatialOrder, HalvesAlongTheLongestAxis) {
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<glm::vec3> points;
    for (int i = 0; i < 45; ++i) {
      glm::vec3 at(0.1f * static_cast<float>(i % 3), 0.1f * static_cast<float>(i % 2),
                   0.1f * static_cast<float>(i % 5));
      at[axis] = static_cast<float>((i * 7) % 45);
      points.push_back(at);
    }
    std::vector<std::uint32_t> numbers(points.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    order_in_runs(numbers, points, 10);
    for (std::size_t k = 0; k < numbers.size(); ++k)
      EXPECT_EQ(static_cast<std::size_t>(points[numbers[k]][axis]) / 10, k / 10) << "axis " << axis;
  }
}

TEST(FaceSet, HoldsOneBitPerFaceAndOnePerWord) {
  FaceSet set;
  EXPECT_EQ(set.memory_bytes(), 0u);
  set.resize(64 * 64 * 3);
  EXPECT_EQ(set.memory_bytes(), 8u * (64 * 3 + 3));
  FaceSet ragged;
  ragged.resize(64 * 64 + 1);
  EXPECT_EQ(ragged.memory_bytes(), 8u * (65 + 2));
}

// Every face of a small set alone, and all of them.
TEST(FaceSet, DrainsEveryFace) {
  constexpr std::uint32_t kFaces = 4096 + 70;
  FaceSet set;
  set.resize(kFaces);
  for (std::uint32_t face = 0; face < kFaces; ++face) {
    set.insert(face);
    std::uint32_t count = 0, last = kFaces;
    set.drain([&](std::uint32_t drained) { ++count, last = drained; });
    ASSERT_EQ(count, 1u);
    ASSERT_EQ(last, face);
  }
  for (std::uint32_t face = 0; face < kFaces; ++face) set.insert(face);
  std::uint32_t next = 0;
  set.drain([&](std::uint32_t drained) { ASSERT_EQ(drained, next++); });
  EXPECT_EQ(next, kFaces);
  set.drain([&](std::uint32_t) { FAIL() << "the set is empty"; });
}

// On the axes too, in every sign, and for vectors of any length.
TEST(Perpendicular, OfTheAxes) {
  for (int axis = 0; axis < 3; ++axis)
    for (const double length : {-1e-8, -1.0, 1.0, 1e8}) {
      glm::dvec3 d(0.0);
      d[axis] = length;
      EXPECT_EQ(glm::dot(any_perpendicular(d), d), 0.0);
      EXPECT_GE(glm::length(any_perpendicular(d)), 0.8 * std::abs(length));
    }
}

TEST(Stopwatch, MeasuresNotMuchMore) {
  const auto start = Clock::now();
  EXPECT_LT(milliseconds_since(start), 1000.0);
  EXPECT_GE(milliseconds_since(start), 0.0);
}

// The processor's flags, as the kernel lists them.
TEST(Instructions, AreThoseOfTheProcessor) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("flags")) {
  }
  if (line.empty()) GTEST_SKIP() << "no list of flags";
  const auto has = [&](const char* flag) {
    return (line + " ").find(std::string(" ") + flag + " ") != std::string::npos;
  };
  const Instructions expected = has("avx2") && has("avx512f") && has("avx512vl") ? Instructions::Avx512
                                : has("avx2")                                    ? Instructions::Avx2
                                                                                 : Instructions::Plain;
  EXPECT_EQ(best_instructions(), expected);
  EXPECT_LE(instructions(), expected);
}

// Tests closest points of segments and triangles: a separating slab proves them optimal without a search, and a nested
// golden-section search that shares no code with them confirms them. Lines that meet triangles are compared with them.

using glm::dvec3;
using test::Dice;

constexpr std::uint32_t kSeed = 515;

// Returns the distance of x outside the convex hull of some points, estimated along many directions; 0 for a point of
// the hull.
double outside_hull(Dice& dice, const dvec3& x, std::span<const dvec3> corners) {
  double worst = 0.0;
  for (int i = 0; i < 12; ++i) {
    const dvec3 d = dice.direction();
    double most = -1e30;
    for (const dvec3& corner : corners) most = std::max(most, glm::dot(d, corner));
    worst = std::max(worst, glm::dot(d, x) - most);
  }
  return worst;
}

// Two convex hulls are at least `gap` apart when a slab of that width separates them. If points of both hulls have
// exactly that distance, the distance is proved. Returns the part of the distance that is not proved.
double unproved(const ClosestPoints& pair, std::span<const dvec3> first, std::span<const dvec3> second) {
  const dvec3 across = pair.on_second - pair.on_first;
  if (pair.distance < 1e-9) return pair.distance;
  const dvec3 n = across / pair.distance;
  double from = -1e30, to = 1e30;
  for (const dvec3& corner : first) from = std::max(from, glm::dot(n, corner - pair.on_first));
  for (const dvec3& corner : second) to = std::min(to, glm::dot(n, corner - pair.on_first));
  return pair.distance - (to - from);
}

// 1e-9 m: for a triangle thinner than 1e-8 of its size only the sides are used.
constexpr double kTolerance = 1e-9;  // m

void expect_closest(Dice& dice, const ClosestPoints& pair, std::span<const dvec3> first,
                    std::span<const dvec3> second) {
  ASSERT_NEAR(glm::distance(pair.on_first, pair.on_second), pair.distance, 1e-10);
  ASSERT_LT(outside_hull(dice, pair.on_first, first), 1e-10);
  ASSERT_LT(outside_hull(dice, pair.on_second, second), 1e-10);
  ASSERT_LT(unproved(pair, first, second), kTolerance);
}

TEST(ClosestSegments, AreProvedBySeparatingSlabs) {
  std::printf("seed %u\n", kSeed + 3);
  Dice dice(kSeed + 3);
  double worst = 0.0;
  for (int i = 0; i < 100000 && !HasFailure(); ++i) {
    const dvec3 p = dice.in_cube(0.2), q = p + dice.in_cube(dice.log_uniform(1e-4, 0.3));
    const dvec3 r = p + dice.in_cube(dice.log_uniform(1e-4, 0.3));
    dvec3 t = r + dice.in_cube(dice.log_uniform(1e-4, 0.3));
    const int kind = dice.pick(6);
    if (kind == 0) t = r;
    if (kind == 1) t = r + dice.uniform(-2.0, 2.0) * (q - p);
    if (kind == 2) t = r + dice.uniform(-2.0, 2.0) * (q - p) + dice.log_uniform(1e-14, 1e-3) * dice.direction();
    const closest::Segment one = closest::segment(p, q), two = closest::segment(r, t);
    const closest::SegmentPair pair = closest::closest_segments(one, two);
    ASSERT_EQ(closest::clamp01(pair.u), pair.u);
    ASSERT_EQ(closest::clamp01(pair.v), pair.v);
    const dvec3 first[] = {p, q}, second[] = {r, t};
    const ClosestPoints points{one.p + pair.u * one.d, two.p + pair.v * two.d, std::sqrt(pair.squared)};
    if (points.distance > 1e-3) worst = std::max(worst, unproved(points, first, second));
    ASSERT_LT(worst, 1e-13);
  }
  std::printf("largest unproved distance %.3g m\n", worst);
}

TEST(ClosestSegmentTriangle, IsProvedBySeparatingSlabs) {
  std::printf("seed %u\n", kSeed);
  Dice dice(kSeed);
  int apart = 0;
  for (int i = 0; i < 100000 && !HasFailure(); ++i) {
    const Triangle t = test::random_face(dice, dice.in_cube(0.2), dice.log_uniform(1e-4, 0.1));
    const dvec3 p = t.a + dice.in_cube(dice.log_uniform(1e-4, 0.2));
    dvec3 q = p + dice.in_cube(dice.log_uniform(1e-4, 0.3));
    const int kind = dice.pick(8);
    if (kind == 0) q = p;
    if (kind == 1) q = p + dice.uniform(-2.0, 2.0) * (t.b - t.a);
    if (kind == 2) q = p + (t.b - t.a) + dice.log_uniform(1e-15, 1e-3) * dice.direction();
    const dvec3 axis[] = {p, q}, corners[] = {t.a, t.b, t.c};
    const ClosestPoints pair = closest_segment_triangle(p, q, t);
    expect_closest(dice, pair, axis, corners);
    apart += pair.distance > 1e-9;
  }
  EXPECT_GT(apart, 30000);
}

TEST(ClosestTriangles, AreProvedBySeparatingSlabs) {
  std::printf("seed %u\n", kSeed + 1);
  Dice dice(kSeed + 1);
  int apart = 0;
  for (int i = 0; i < 100000 && !HasFailure(); ++i) {
    const Triangle s = test::random_face(dice, dice.in_cube(0.2), dice.log_uniform(1e-4, 0.1));
    Triangle t = test::random_face(dice, s.a + dice.in_cube(0.1), dice.log_uniform(1e-4, 0.1));
    if (dice.pick(8) == 0) t = {s.a + (t.a - s.a) * 0.1, s.b + (t.a - s.a) * 0.1, s.c + (t.a - s.a) * 0.1};  // parallel
    if (dice.pick(8) == 0) t.a = glm::mix(s.a, s.b, dice.uniform(0.0, 1.0));                                 // touching
    const dvec3 first[] = {s.a, s.b, s.c}, second[] = {t.a, t.b, t.c};
    const ClosestPoints pair = closest_triangles(s, t);
    expect_closest(dice, pair, first, second);
    apart += pair.distance > 1e-9;
  }
  EXPECT_GT(apart, 30000);
}

TEST(Closest, EqualsSlowSearch) {
  std::printf("seed %u\n", kSeed + 2);
  Dice dice(kSeed + 2);
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    const Triangle t = test::random_face(dice, dice.in_cube(0.2), dice.log_uniform(1e-3, 0.05));
    const dvec3 p = t.a + dice.in_cube(0.05), q = p + dice.in_cube(0.1);
    ASSERT_NEAR(closest_segment_triangle(p, q, t).distance, test::slow_segment_triangle(p, q, t), 2e-9);
  }
  for (int i = 0; i < 30 && !HasFailure(); ++i) {
    const Triangle s = test::random_face(dice, dice.in_cube(0.2), 0.05), t = test::random_face(dice, s.a, 0.05);
    ASSERT_NEAR(closest_triangles(s, t).distance, test::slow_triangles(s, t), 2e-9);
  }
}

TEST(Closest, DegenerateShapesHandMade) {
  const dvec3 o(0.0), x(1, 0, 0), y(0, 1, 0), z(0, 0, 1);
  const Triangle point{o, o, o}, line{o, x, 0.5 * x}, face{o, x, y};
  EXPECT_DOUBLE_EQ(closest_segment_triangle(z, z, point).distance, 1.0);
  EXPECT_DOUBLE_EQ(closest_segment_triangle(2.0 * x, 3.0 * x, line).distance, 1.0);
  EXPECT_DOUBLE_EQ(closest_segment_triangle(0.25 * x + z, 0.75 * x + z, line).distance, 1.0);
  EXPECT_DOUBLE_EQ(closest_segment_triangle(0.2 * (x + y) - z, 0.2 * (x + y) + z, face).distance, 0.0);
  EXPECT_DOUBLE_EQ(closest_segment_triangle(0.2 * (x + y) + z, 0.3 * (x + y) + z, face).distance, 1.0);
  EXPECT_DOUBLE_EQ(closest_segment_triangle(x, 2.0 * x, face).distance, 0.0);
  EXPECT_DOUBLE_EQ(closest_triangles(point, {2.0 * z, 2.0 * z, 2.0 * z}).distance, 2.0);
  EXPECT_DOUBLE_EQ(closest_triangles(face, face).distance, 0.0);
  EXPECT_DOUBLE_EQ(closest_triangles(face, {0.2 * (x + y) + z, 0.2 * (x + y) + z, 2.0 * z}).distance, 1.0);
  EXPECT_DOUBLE_EQ(closest_triangles(line, {0.5 * x - y, 0.5 * x + y, 0.5 * x + y}).distance, 0.0);
}

// All thresholds are relative: after scaling by a power of two the same points are the closest, to the last bit.
TEST(Closest, DoesNotDependOnTheUnit) {
  std::printf("seed %u\n", kSeed + 4);
  Dice dice(kSeed + 4);
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    const double scale = std::ldexp(1.0, dice.pick(2) ? dice.pick(30) : -dice.pick(30));
    const dvec3 p = dice.in_cube(0.2), d = dice.in_cube(0.1), away = dice.in_cube(0.02);
    const double bend = dice.log_uniform(1e-12, 1e-2);
    // Nearly parallel to the segment: the side of a face, and the face.
    Triangle t{p + away - dice.uniform(0.0, 1.0) * d, p + away + d + bend * dice.in_cube(0.1), p + dice.in_cube(0.2)};
    if (dice.pick(3) == 0)
      t.c = glm::mix(t.a, t.b, dice.uniform(0.0, 1.0)) + dice.log_uniform(1e-12, 1e-4) * dice.direction();
    const auto scaled = [&](const dvec3& x) { return scale * x; };
    const Triangle grown{scaled(t.a), scaled(t.b), scaled(t.c)};
    const closest::Segment one = closest::segment(p, p + d), two = closest::segment(t.a, t.b);
    const closest::SegmentPair pair = closest::closest_segments(one, two),
                               of_grown = closest::closest_segments(closest::segment(scaled(p), scaled(p + d)),
                                                                    closest::segment(grown.a, grown.b));
    ASSERT_EQ(pair.u, of_grown.u) << "case " << i << " scale " << scale;
    ASSERT_EQ(pair.v, of_grown.v) << "case " << i << " scale " << scale;
    ASSERT_EQ(pair.squared * scale * scale, of_grown.squared) << "case " << i << " scale " << scale;
    const ClosestPoints points = closest_segment_triangle(p, p + d, t),
                        grown_points = closest_segment_triangle(scaled(p), scaled(p + d), grown);
    ASSERT_EQ(scaled(points.on_first), grown_points.on_first) << "case " << i << " scale " << scale;
    ASSERT_EQ(scaled(points.on_second), grown_points.on_second) << "case " << i << " scale " << scale;
  }
}

// A triangle as thin as the limit is degenerate, whatever its size: its sides alone count.
TEST(Closest, ThinTrianglesHaveNoInterior) {
  for (const double size : {1e-3, 1.0, 1e3})
    for (const double thin : {0.0, 0.99e-8, 1.01e-8, 1e-7, 1.0}) {
      const closest::Face face = closest::face({{0, 0, 0}, {size, 0, 0}, {0.25 * size, thin * size, 0}});
      EXPECT_EQ(face.squared_normal > 0.0, thin > 1e-8) << size << " " << thin;
      const closest::InteriorPair pair = closest::closest_interior(
          closest::segment({0.25 * size, 0.5 * thin * size, -size}, {0.25 * size, 0.5 * thin * size, size}), face);
      EXPECT_EQ(pair.inside, thin > 1e-8) << size << " " << thin;
      if (!pair.inside) continue;
      EXPECT_NEAR(pair.u, 0.5, 1e-12);
      EXPECT_NEAR(pair.gamma, 0.5, 1e-6);
      EXPECT_EQ(pair.squared, 0.0);
    }
}

// Compares the intersection of a line with a triangle with the closest points of a segment and a triangle, for
// degenerate input first.

constexpr Triangle kFace{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
constexpr double kEndless = std::numeric_limits<double>::infinity();

TEST(LineTriangle, DegenerateLinesAndFaces) {
  const Triangle point{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, needle{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  EXPECT_EQ(line_meets_triangle({1, 1, 0}, {0, 0, 1}, kEndless, point), 1.0);
  EXPECT_FALSE(line_meets_triangle({1, 1.001, 0}, {0, 0, 1}, kEndless, point));
  EXPECT_EQ(line_meets_triangle({1.5, 0, -1}, {0, 0, 1}, kEndless, needle), 1.0);
  EXPECT_EQ(line_meets_triangle({0.2, 0.2, 0}, {0, 0, 0}, 1.0, kFace), 0.0);
  EXPECT_FALSE(line_meets_triangle({0.2, 0.2, 0.1}, {0, 0, 0}, 1.0, kFace));
}

TEST(LineTriangle, WithinThePlane) {
  EXPECT_EQ(line_meets_triangle({0.2, 0.2, 0}, {1, 0, 0}, kEndless, kFace), 0.0);
  EXPECT_NEAR(line_meets_triangle({-1, 0.25, 0}, {0.5, 0, 0}, kEndless, kFace).value_or(-1), 2.0, 1e-12);
  EXPECT_FALSE(line_meets_triangle({-1, 0.25, 0}, {0.5, 0, 0}, 1.9, kFace));
  EXPECT_FALSE(line_meets_triangle({-1, 1.25, 0}, {1, 0, 0}, kEndless, kFace));
  EXPECT_NEAR(line_meets_triangle({-1, 0, 0}, {1, 0, 0}, kEndless, kFace).value_or(-1), 1.0, 1e-12);  // along an edge
  EXPECT_FALSE(line_meets_triangle({-1, 0.25, 1e-9}, {1, 0, 0}, kEndless, kFace));
}

// Tests lines in an oblique plane, whose computed rise is only rounding error.
TEST(LineTriangle, WithinObliquePlane) {
  Dice dice(18);
  int met = 0;
  for (int k = 0; k < 20000; ++k) {
    const dvec3 a = dice.in_cube(1), u = dice.in_cube(0.1), v = dice.in_cube(0.1);
    const auto random_point = [&] { return a + dice.uniform(-3, 3) * u + dice.uniform(-3, 3) * v; };
    const Triangle face{a, a + u, a + v};
    const dvec3 from = random_point(), to = random_point();
    const double apart = closest_segment_triangle(from, to, face).distance;
    const auto t = line_meets_triangle(from, to - from, 1.0, face);
    ASSERT_EQ(t.has_value(), apart < 1e-12) << "seed 18, case " << k;
    if (!t) continue;
    ++met;
    const dvec3 point = from + *t * (to - from);
    ASSERT_LT(closest_segment_triangle(point, point, face).distance, 1e-12) << "seed 18, case " << k;
  }
  EXPECT_GT(met, 1000);
}

// Tests exactly collinear corners, whose normal is only rounding error.
TEST(LineTriangle, ObliqueNeedles) {
  Dice dice(19);
  for (int k = 0; k < 20000; ++k) {
    const dvec3 a = dvec3(glm::round(dice.in_cube(64))) / 64.0, d = dvec3(1 + dice.pick(9), dice.pick(9), 3) / 256.0;
    const Triangle needle{a, a + d, a + 2.0 * d};
    const dvec3 from = dice.in_cube(2);
    const auto t = line_meets_triangle(from, needle.b - from, kEndless, needle);
    ASSERT_TRUE(t) << "seed 19, case " << k;
    ASSERT_NEAR(*t, 1.0, 1e-9) << "seed 19, case " << k;
    ASSERT_FALSE(line_meets_triangle(from, a + 3.0 * d - from, kEndless, needle)) << "seed 19, case " << k;
  }
}

TEST(LineTriangle, CornersAndEdgesBelongToTheFace) {
  for (const dvec3& p : {dvec3(0, 0, 0), dvec3(1, 0, 0), dvec3(0, 1, 0), dvec3(0.5, 0.5, 0), dvec3(0.5, 0, 0)})
    EXPECT_EQ(line_meets_triangle(p + dvec3(0, 0, 2), {0, 0, -1}, kEndless, kFace), 2.0);
  EXPECT_FALSE(line_meets_triangle({0, 0, 2}, {0, 0, -1}, 1.999, kFace));
  EXPECT_FALSE(line_meets_triangle({0, 0, 2}, {0, 0, 1}, kEndless, kFace));
}

TEST(LineTriangle, AgreesWithClosestPoints) {
  Dice dice(17);
  int met = 0;
  for (int k = 0; k < 200000; ++k) {
    const Triangle face{dice.in_cube(1), dice.in_cube(1), dice.in_cube(1)};
    const dvec3 from = dice.in_cube(1), to = dice.in_cube(1);
    const double apart = closest_segment_triangle(from, to, face).distance;
    const auto t = line_meets_triangle(from, to - from, 1.0, face);
    ASSERT_FALSE(apart > 1e-12 && t) << "seed 17, case " << k;
    if (!t) continue;
    ++met;
    const dvec3 point = from + *t * (to - from);
    ASSERT_LT(closest_segment_triangle(point, point, face).distance, 1e-10) << "seed 17, case " << k;
  }
  EXPECT_GT(met, 5000);
  EXPECT_LT(met, 60000);
}

// A line in the plane crosses a side at a small angle: it enters the face there. For nearly parallel lines the closest
// points are known to fewer digits than the crossing.
TEST(LineTriangle, EntersAcrossANearlyParallelSide) {
  Dice dice(20);
  std::printf("seed 20\n");
  for (int k = 0; k < 20000; ++k) {
    const double size = dice.log_uniform(1e-3, 10.0), angle = dice.log_uniform(1e-9, 0.1),
                 share = dice.uniform(0.2, 0.8);
    const double turn = dice.uniform(0.0, 6.283), c = std::cos(turn), s = std::sin(turn);
    // The side lies along x, the face above it; then all turns in the plane z = 0.
    const auto turned = [&](double x, double y) { return size * dvec3(c * x - s * y, s * x + c * y, 0.0); };
    const Triangle face{turned(0.0, 0.0), turned(1.0, 0.0), turned(0.5, 1.0)};
    const Triangle faces[] = {face, {face.b, face.c, face.a}, {face.c, face.b, face.a}};
    const dvec3 direction = turned(std::cos(angle), std::sin(angle)), crossing = turned(share, 0.0);
    const double length = dice.uniform(0.0, 3.0);
    const dvec3 from = crossing - length * direction;
    const auto t = line_meets_triangle(from, direction, kEndless, faces[dice.pick(3)]);
    const double rounding = 3e-13 / angle;
    ASSERT_TRUE(t) << "case " << k << " angle " << angle;
    ASSERT_NEAR(*t, length, 1e-12 + rounding) << "case " << k << " angle " << angle;
    if (length < 2.0 * rounding + 1e-9) continue;
    // It ends before the crossing; it misses when it is moved outward beyond the side's end.
    ASSERT_FALSE(line_meets_triangle(from, direction, length - 1e-9 - 2.0 * rounding, face)) << "case " << k;
    const dvec3 aside = turned(1.0 - share + 2.0 * rounding + 0.01, 0.0);
    ASSERT_FALSE(line_meets_triangle(from + aside, direction, kEndless, face)) << "case " << k << " angle " << angle;
  }
}

// A line parallel to the plane belongs to it up to the rounding of the coordinates, and no farther.
TEST(LineTriangle, LeavesThePlaneBeyondRounding) {
  Dice dice(21);
  std::printf("seed 21\n");
  for (int k = 0; k < 5000; ++k) {
    const double size = dice.log_uniform(1e-4, 1e3);
    const Triangle face{size * kFace.a, size * kFace.b, size * kFace.c};
    const dvec3 from(-size * dice.uniform(0.1, 2.0), 0.25 * size, 0.0),
        direction(dice.log_uniform(1e-3, 1e3), 0.0, 0.0);
    const double expected = -from.x / direction.x;
    const auto at_height = [&](double height) {
      return line_meets_triangle(from + dvec3(0.0, 0.0, height * size), direction, kEndless, face);
    };
    for (const double sign : {-1.0, 1.0}) {
      ASSERT_NEAR(at_height(sign * 1e-16).value_or(-1.0), expected, 1e-12 * expected) << "case " << k;
      ASSERT_FALSE(at_height(sign * 1e-11)) << "case " << k;
      ASSERT_FALSE(at_height(sign * 1e-6)) << "case " << k;
      ASSERT_FALSE(at_height(sign * 1.0)) << "case " << k;
    }
  }
}

// The sign of every orientation and of the direction: through each of many points of a face and just beside its sides.
TEST(LineTriangle, PiercesInsideAndMissesOutside) {
  Dice dice(22);
  std::printf("seed 22\n");
  for (int k = 0; k < 20000; ++k) {
    const double size = dice.log_uniform(1e-3, 10.0);
    const dvec3 a = dice.in_cube(1.0), e = dice.direction(), u = size * e, v = size * dice.across(e);
    Triangle face{a, a + u, a + v};
    if (dice.pick(2)) std::swap(face.b, face.c);
    const double x = dice.uniform(0.0, 1.0), y = dice.uniform(0.0, 1.0), off = dice.log_uniform(1e-9, 0.1);
    dvec3 direction = glm::normalize(glm::cross(u, v)) + 0.5 * dice.direction();
    if (dice.pick(2)) direction = -direction;
    const double t = dice.log_uniform(1e-3, 10.0);
    const auto through = [&](double along_u, double along_v) {
      return line_meets_triangle(a + along_u * u + along_v * v - t * direction, direction, kEndless, face);
    };
    ASSERT_NEAR(through((1.0 - off) * x * (1.0 - y) + 1e-10, (1.0 - off) * x * y + 1e-10).value_or(-1.0), t,
                1e-9 * (1.0 + t))
        << "case " << k;
    const double rounding = 1e-12 * (1.0 + t) / size;
    if (off < rounding) continue;
    ASSERT_FALSE(through(-off, y)) << "case " << k;
    ASSERT_FALSE(through(x, -off)) << "case " << k;
    ASSERT_FALSE(through(x + off, 1.0 - x + off)) << "case " << k;
  }
}

// All thresholds are relative: after scaling by a power of two the same lines meet, at the same parameter.
TEST(LineTriangle, DoesNotDependOnTheUnit) {
  Dice dice(23);
  std::printf("seed 23\n");
  for (int k = 0; k < 20000; ++k) {
    const double scale = std::ldexp(1.0, dice.pick(2) ? dice.pick(30) : -dice.pick(30));
    const dvec3 a = dice.in_cube(1), u = dice.in_cube(0.1), v = dice.pick(3) ? dice.in_cube(0.1) : 2.0 * u;
    const auto in_plane = [&] { return a + dice.uniform(-2, 2) * u + dice.uniform(-2, 2) * v; };
    const double off = dice.pick(3) ? dice.log_uniform(1e-17, 1e-8) : 0.0;
    const dvec3 from = in_plane() + off * dice.direction(), to = in_plane() + off * dice.direction();
    const auto t = line_meets_triangle(from, to - from, 1.0, {a, a + u, a + v});
    const auto grown =
        line_meets_triangle(scale * from, scale * (to - from), 1.0, {scale * a, scale * (a + u), scale * (a + v)});
    ASSERT_EQ(t, grown) << "case " << k << " scale " << scale;
    // A longer direction gives a smaller parameter.
    const auto longer = line_meets_triangle(from, 4.0 * (to - from), 0.25, {a, a + u, a + v});
    ASSERT_EQ(t.has_value(), longer.has_value()) << "case " << k;
    if (t) {
      ASSERT_EQ(*t, 4.0 * *longer) << "case " << k;
    }
  }
}

}  // namespace

}  // namespace trocar

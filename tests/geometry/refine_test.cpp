// Compares touches with sampling: membership with a slow search, first-touch time with dense sampling of the step,
// point and normal with the distance at that time, depth with steps out of the tool.
#include "geometry/refine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/geometry/random_faces.hpp"
#include "tests/geometry/slow_distance.hpp"

namespace trocar {
namespace {

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
  switch (dice.pick(10)) {
    case 0:
      step.tip_after = step.tip_before;
      break;
    case 1:
      step.tip_after = glm::mix(step.pivot, step.tip_before, dice.uniform(0.1, 3.0));
      break;
    case 2:
      step.tip_after = glm::mix(step.pivot, step.tip_before, dice.uniform(-2.0, -0.1));
      break;
    case 3:
      step.tip_after = step.tip_before + 2.0 * step.radius * dice.uniform(0.0, 2.0) * dice.direction();
      break;
    default:
      break;
  }
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
    for (int k = 0; k <= 3000; ++k) {
      if (test::slow_point_segment(from + k * stride * outward, step.pivot, step.tip_after) <= step.radius)
        walked = k * stride;
    }
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

}  // namespace
}  // namespace trocar

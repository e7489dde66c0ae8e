// Compares the exact test of a moving part with the reference, with dense sampling in time, and with the test of a
// shaft where the two coincide.
#include "geometry/part_touch.hpp"

#include <gtest/gtest.h>

#include "cpu_collision/reference.hpp"
#include "geometry/part_volume.hpp"
#include "geometry/refine.hpp"
#include "tests/cpu_collision/random_parts.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

// A face near the path of the part, of 0.01 to 20 mm.
Triangle face_near(Dice& dice, const PartShape& shape, const InstrumentMotion& motion) {
  const RigidFrame pose = frame_at(motion, shape, dice.uniform(0.0, 1.0));
  const dvec3 corner = pose.to_world(shape.corners[dice.pick(static_cast<int>(shape.corners.size()))]);
  const dvec3 at = corner + dice.uniform(0.0, 3.0) * std::max(shape.radius, 2e-4) * dice.direction();
  const double size = dice.log_uniform(1e-5, 0.02);
  const auto near = [&] { return dvec3(glm::vec3(at + dice.in_cube(size))); };
  return {dice.pick(2) ? dvec3(glm::vec3(at)) : near(), near(), near()};
}

double gap_at(const PartShape& shape, const InstrumentMotion& motion, double time, const Triangle& face) {
  return reference_part_distance(shape, frame_at(motion, shape, time), face) - shape.radius;
}

TEST(PartTouch, AgreesWithTheReference) {
  int touched = 0, borderline = 0;
  test::for_every_motion(1330, 1000, [&](Dice& dice, const InstrumentMotion& motion) {
    const PartShape shape = test::random_part(dice);
    const Triangle face = face_near(dice, shape, motion);
    const double from = dice.pick(2) ? 0.0 : dice.uniform(0.0, 1.0), to = dice.pick(2) ? 1.0 : dice.uniform(from, 1.0);
    Touch touch;
    const bool found = part_touch(part_sweep({&shape, &motion, from, to}), face, touch);
    const double gap = reference_part_gap({&shape, &motion, from, to}, face);
    touched += found;
    if (std::abs(gap) <= kBorderlineBand) {
      ++borderline;
      return;
    }
    ASSERT_EQ(found, gap < 0.0) << "gap " << gap << " from " << from << " to " << to << " " << test::words(motion);
  });
  std::printf("%d touched, %d borderline\n", touched, borderline);
  EXPECT_GT(touched, 1000);
}

// At the time of the touch the face is in contact, before it is not; point, normal and depth follow their definition.
TEST(PartTouch, RecordsTheFirstContact) {
  test::for_every_motion(1331, 5000, [&](Dice& dice, const InstrumentMotion& motion) {
    const PartShape shape = test::random_part(dice);
    const Triangle face = face_near(dice, shape, motion);
    Touch touch;
    if (!part_touch(part_sweep({&shape, &motion, 0.0, 1.0}), face, touch)) return;
    const double speed = motion_bounds(motion, shape).speed, rounding = 1e-7 * speed + 1e-6;
    ASSERT_GE(touch.time, 0.f);
    ASSERT_LE(touch.time, 1.f);
    ASSERT_LE(gap_at(shape, motion, touch.time, face), rounding) << test::words(motion);
    for (int sample = 0; sample < 40 && touch.time > 0.f; ++sample)
      ASSERT_GT(gap_at(shape, motion, dice.uniform(0.0, touch.time), face), -rounding) << test::words(motion);
    const dvec3 point(touch.point), normal(touch.normal);
    ASSERT_NEAR(glm::length(normal), 1.0, 1e-5);
    ASSERT_LT(reference_distance(face, {point, point, point}), 1e-6);
    ASSERT_GE(touch.depth, 0.f);
    const dvec3 out = point - static_cast<double>(touch.depth) * normal;
    if (touch.depth > 0.f) {
      ASSERT_GT(gap_at(shape, motion, 1.0, {out, out, out}), -1e-5) << test::words(motion);
    }
  });
}

// A capsule from the pivot to the tip that only swings is a shaft: both tests have one answer at both ends of the step.
TEST(PartTouch, ACapsuleAtRestIsAShaft) {
  Dice dice(1332);
  std::printf("seed 1332\n");
  for (int i = 0; i < 20000; ++i) {
    const double length = dice.uniform(0.02, 0.2), radius = dice.log_uniform(1e-4, 5e-3);
    const ToolPose pose{{0, 0, 0}, length * dice.direction(), radius};
    PartShape capsule;
    capsule.corners = {{0, 0, radius}, {0, 0, radius + length}};
    capsule.radius = radius;
    const InstrumentMotion motion = instrument_at_rest({pose, dice.uniform(-3.0, 3.0), 0.0});
    const Triangle face = face_near(dice, capsule, motion);
    Touch part, shaft;
    const bool touched = part_touch(part_sweep({&capsule, &motion, 0.0, 1.0}), face, part);
    ASSERT_EQ(touched, refine_touch(step_at_rest(pose), face, shaft));
    if (!touched) continue;
    ASSERT_EQ(part.time, 0.f);
    ASSERT_LT(glm::distance(part.point, shaft.point), 1e-5f) << i;
    ASSERT_NEAR(part.depth, shaft.depth, 1e-5) << i;
  }
}

// The time solves gap = speed t + acceleration / 2 t^2, is the smallest such time, and keeps its digits when the terms
// nearly cancel.
TEST(ClosingTime, IsTheFirstRoot) {
  Dice dice(1333);
  std::printf("seed 1333\n");
  for (int i = 0; i < 20000; ++i) {
    const double gap = dice.log_uniform(1e-9, 1.0), acceleration = dice.pick(4) ? dice.log_uniform(1e-12, 1e3) : 0.0;
    const double speed = dice.pick(8) ? (dice.pick(2) ? 1.0 : -1.0) * dice.log_uniform(1e-9, 1e3) : 0.0;
    const double t = closing_time(gap, speed, acceleration);
    if (acceleration == 0.0 && speed <= 0.0) {
      ASSERT_EQ(t, std::numeric_limits<double>::infinity());
      continue;
    }
    ASSERT_GT(t, 0.0);
    const long double by_speed = static_cast<long double>(speed) * t, bent = 0.5L * acceleration * t * t;
    const auto rounding = static_cast<double>(1e-14L * (gap + std::abs(by_speed) + bent));
    ASSERT_NEAR(static_cast<double>(by_speed + bent), gap, rounding) << gap << " " << speed << " " << acceleration;
    ASSERT_GE(speed + acceleration * t, 0.0);  // it closes there: the smaller root is negative
  }
  EXPECT_EQ(closing_time(6.0, 1.0, 4.0), 1.5);
  EXPECT_EQ(closing_time(6.0, -1.0, 4.0), 2.0);
  EXPECT_EQ(closing_time(8.0, 0.0, 4.0), 2.0);
  EXPECT_EQ(closing_time(8.0, 4.0, 0.0), 2.0);
}

// A ball in a face: the closest points coincide, so the face gives the normal, and a face without area the z axis.
TEST(PartTouch, ABallAtRestInAFace) {
  PartShape ball;
  ball.corners = {{0, 0, 0}};
  ball.faces = {{0, 0, 0}};
  ball.radius = 0.002;
  const InstrumentMotion still = instrument_at_rest({{{0, 0, 0.1}, {0, 0, 0}, 0.0025}, 0.0, 0.0});
  const dvec3 centre = frame_at(still, ball, 0.0).origin;
  const PartSweep sweep = part_sweep({&ball, &still, 0.0, 1.0});
  EXPECT_EQ(sweep.part.end, 1.0);
  EXPECT_EQ(sweep.acceleration, 0.0);
  const Triangle wall{centre + dvec3(0, -0.01, -0.01), centre + dvec3(0, 0.01, -0.01), centre + dvec3(0, 0, 0.02)};
  Touch touch;
  ASSERT_TRUE(part_touch(sweep, wall, touch));
  EXPECT_EQ(touch.time, 0.f);
  EXPECT_LT(glm::distance(dvec3(touch.normal), dvec3(1, 0, 0)), 1e-6);
  EXPECT_NEAR(touch.depth, 0.002, 1e-8);
  ASSERT_TRUE(part_touch(sweep, {centre, centre, centre}, touch));
  EXPECT_EQ(touch.normal, glm::vec3(0, 0, 1));
  // Beside the face: the gap decides, to the contact distance.
  for (const double gap : {-1e-7, -1e-12, 0.5 * kPartContact, 2.0 * kPartContact, 1e-6}) {
    const dvec3 off(-(ball.radius + gap), 0.0, 0.0);
    ASSERT_EQ(part_touch(sweep, {wall.a + off, wall.b + off, wall.c + off}, touch), gap < kPartContact) << gap;
    if (gap >= kPartContact) continue;
    EXPECT_LT(glm::distance(dvec3(touch.normal), dvec3(1, 0, 0)), 1e-6);
    EXPECT_LT(glm::distance(dvec3(touch.point), centre + off), 1e-8);
    EXPECT_NEAR(touch.depth, std::max(0.0, -gap), 1e-8) << gap;
  }
}

// A ball on a shaft that slides down with constant speed meets a floor at a known time, and leaves it upward.
TEST(PartTouch, ASlidingBallMeetsTheFloorInTime) {
  PartShape ball;
  ball.corners = {{0, 0, 0}};
  ball.faces = {{0, 0, 0}};
  ball.radius = 0.002;
  const InstrumentMotion motion =
      instrument_motion({{{0, 0, 0.1}, {0, 0, 0.04}, 0.0025}, 0.0, 0.0}, {{{0, 0, 0.1}, {0, 0, 0}, 0.0025}, 0.0, 0.0});
  for (const double height : {0.03, 0.02, 0.001}) {
    const Triangle floor{{-0.1, -0.1, height}, {0.1, -0.1, height}, {0, 0.2, height}};
    const double expected = (0.04 - 0.0025 - ball.radius - height) / 0.04;
    Touch touch;
    ASSERT_TRUE(part_touch(part_sweep({&ball, &motion, 0.0, 1.0}), floor, touch));
    EXPECT_NEAR(touch.time, expected, 1e-6);
    EXPECT_LE(touch.time, expected + 1e-7);
    EXPECT_NEAR(touch.depth, (1.0 - expected) * 0.04, 1e-7);
    EXPECT_LT(glm::distance(dvec3(touch.normal), dvec3(0, 0, 1)), 1e-6);
    // An interval that ends before, or begins later; a depth from an earlier end pose.
    EXPECT_FALSE(part_touch(part_sweep({&ball, &motion, 0.0, expected - 1e-5}), floor, touch));
    ASSERT_TRUE(part_touch(part_sweep({&ball, &motion, 0.0, expected + 1e-5, expected + 0.05}), floor, touch));
    EXPECT_NEAR(touch.depth, 0.05 * 0.04, 1e-7);
  }
}

bool same(const Touch& a, const Touch& b) {
  return a.face == b.face && a.point == b.point && a.normal == b.normal && a.depth == b.depth && a.time == b.time;
}

// Many candidates of a part, by mesh and by corners, give the touches of one by one, in their order.
TEST(PartTouch, ManyCandidatesAreTheSameAsOneByOne) {
  std::size_t touched = 0, apart = 0;
  test::for_every_motion(1334, 300, [&](Dice& dice, const InstrumentMotion& motion) {
    if (dice.pick(8) != 0) return;
    const PartShape shape = test::random_part(dice);
    const ToolVolume volume = part_volume(shape, motion, 0.0, dice.uniform(0.2, 1.0));
    std::vector<glm::vec3> positions;
    std::vector<glm::uvec3> faces;
    std::vector<Triangle> corners;
    std::vector<FaceId> candidates;
    std::vector<Touch> expected;
    for (std::uint32_t f = 0; f < 9; ++f) {
      corners.push_back(face_near(dice, shape, motion));
      const Triangle& face = corners.back();
      for (const dvec3& corner : {face.a, face.b, face.c}) positions.emplace_back(corner);
      faces.emplace_back(3 * f, 3 * f + 1, 3 * f + 2);
      candidates.push_back(FaceId{f});
      Touch touch;
      touch.face = FaceId{f};
      if (refine_touch(volume.step, face, touch)) {
        expected.push_back(touch);
      } else {
        ++apart;
      }
    }
    std::vector<Touch> by_mesh(9), by_corners(9);
    by_mesh.resize(refine_touches(volume.step, {positions, faces}, candidates, by_mesh));
    by_corners.resize(refine_touches(volume.step, corners, candidates, by_corners));
    ASSERT_TRUE(std::equal(by_mesh.begin(), by_mesh.end(), expected.begin(), expected.end(), same))
        << test::words(motion);
    ASSERT_TRUE(std::equal(by_corners.begin(), by_corners.end(), expected.begin(), expected.end(), same));
    touched += expected.size();
  });
  EXPECT_GT(touched, 300u);
  EXPECT_GT(apart, 300u);
}

// The reference for a whole mesh: a face is touched when its gap is not positive, and borderline within the band.
TEST(PartTouch, TheReferenceOfAMeshFollowsTheGaps) {
  Dice dice(1335);
  std::printf("seed 1335\n");
  std::uint64_t in_both = 0;
  std::size_t apart = 0;
  for (int round = 0; round < 6; ++round) {
    const InstrumentMotion motion = test::usual_motion(dice, dice.in_cube(0.1));
    const PartShape shape = test::random_part(dice);
    const ToolVolume volume = part_volume(shape, motion, 0.0, 1.0);
    std::vector<glm::vec3> positions;
    std::vector<glm::uvec3> faces;
    std::vector<FaceId> touched, borderline;
    std::vector<Touch> found;
    for (std::uint32_t f = 0; f < 8; ++f) {
      const Triangle face = face_near(dice, shape, motion);
      for (const dvec3& corner : {face.a, face.b, face.c}) positions.emplace_back(corner);
      faces.emplace_back(3 * f, 3 * f + 1, 3 * f + 2);
      const double gap = reference_part_gap(volume.step.part, face);
      if (gap <= 0.0) touched.push_back(FaceId{f});
      if (std::abs(gap) <= kBorderlineBand) borderline.push_back(FaceId{f});
      apart += gap > 0.0;
      Touch touch;
      touch.face = FaceId{f};
      if (refine_touch(volume.step, face, touch)) found.push_back(touch);
    }
    const ReferenceAnswer reference = reference_touched({positions, faces}, volume, TouchSet::Exact);
    ASSERT_EQ(reference.touched, touched) << round;
    ASSERT_EQ(reference.borderline, borderline) << round;
    const Agreement agreement = compare_with_reference(reference, found);
    ASSERT_EQ(agreement.disagreements, 0u) << round;
    in_both += agreement.in_both;
  }
  EXPECT_GT(in_both, 5u);
  EXPECT_GT(apart, 5u);
}

// Hand-made distances of the reference: a point, a segment, a box with the face outside, crossing and inside.
TEST(PartTouch, TheReferenceDistanceOfHandMadeShapes) {
  std::vector<glm::vec3> corners;
  for (int k = 0; k < 8; ++k) corners.emplace_back(k & 1 ? 0.01f : 0.f, k & 2 ? 0.01f : 0.f, k & 4 ? 0.01f : 0.f);
  const PartShape box = solids::part_hull(corners, 1e-6),
                  point = solids::part_hull(std::vector<glm::vec3>{{0, 0, 0}}, 1e-6),
                  segment = solids::part_hull(std::vector<glm::vec3>{{0, 0, 0}, {0, 0, 0.01f}}, 1e-6);
  const auto at = [](const dvec3& p) { return Triangle{p, p + dvec3(0.001, 0, 0), p + dvec3(0, 0.001, 0)}; };
  EXPECT_NEAR(reference_part_distance(point, {}, at({0.003, 0.004, 0})), 0.005, 1e-12);
  EXPECT_NEAR(reference_part_distance(segment, {}, at({0, 0, 0.02})), 0.01, 2e-6);
  EXPECT_NEAR(reference_part_distance(segment, {}, at({0.002, 0, 0.005})), 0.002, 1e-12);
  EXPECT_NEAR(reference_part_distance(box, {}, at({0.005, 0.005, 0.013})), 0.003, 2e-6);
  EXPECT_EQ(reference_part_distance(box, {}, at({0.005, 0.005, 0.005})), 0.0);  // inside
  EXPECT_EQ(reference_part_distance(box, {}, {{0.005, 0.005, 0.005}, {0.1, 0.1, 0.1}, {0.1, 0, 0.1}}), 0.0);
  EXPECT_EQ(reference_part_distance(box, {}, {{0.1, 0.1, 0.1}, {0.005, 0.005, 0.005}, {0.1, 0, 0.1}}), 0.0);
}

}  // namespace
}  // namespace trocar

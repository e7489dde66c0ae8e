// Tests the kinematics: comparison with an independently computed matrix product, round trips, axes parallel to world
// y, limits.
#include "sim/device/joints.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <glm/gtc/matrix_transform.hpp>
#include <limits>
#include <random>

namespace trocar {
namespace {

constexpr unsigned kSeed = 20261121;
constexpr int kPoses = 100000;

struct Sample {
  RemoteCentre centre;
  JointLimits limits;
  Joints joints;
};

class Random {
 public:
  double between(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  glm::dvec3 point(double size) { return {between(-size, size), between(-size, size), between(-size, size)}; }
  Sample sample() {
    Sample s;
    glm::dvec3 axis = point(1.0);
    if (glm::length(axis) < 0.1) axis = {0, 0, -1};
    s.centre = remote_centre(point(0.5), axis);
    s.joints.pan_deg = between(-s.limits.pan_deg, s.limits.pan_deg);
    s.joints.tilt_deg = between(s.limits.lowest_tilt_deg, s.limits.highest_tilt_deg);
    s.joints.spin_deg = between(-400.0, 400.0);
    s.joints.depth = between(s.limits.shallowest, s.limits.deepest);
    s.joints.grip_deg = between(0.0, s.limits.widest_grip_deg);
    return s;
  }

 private:
  std::mt19937_64 engine_{kSeed};
};

// Returns the product T_rcm Rx Ry Rz translate, computed by glm's own rotations.
glm::dmat4 product(const RemoteCentre& centre, const Joints& joints) {
  glm::dmat4 rcm(centre.frame);
  rcm[3] = glm::dvec4(centre.pivot, 1.0);
  const glm::dmat4 one(1.0);
  return rcm * glm::rotate(one, glm::radians(joints.tilt_deg), glm::dvec3(1, 0, 0)) *
         glm::rotate(one, glm::radians(joints.pan_deg), glm::dvec3(0, 1, 0)) *
         glm::rotate(one, glm::radians(joints.spin_deg), glm::dvec3(0, 0, 1)) *
         glm::translate(one, glm::dvec3(0, 0, joints.depth));
}

double largest_difference(const Joints& a, const Joints& b) {
  return std::max({std::abs(a.pan_deg - b.pan_deg), std::abs(a.tilt_deg - b.tilt_deg),
                   std::abs(a.spin_deg - b.spin_deg), std::abs(a.depth - b.depth), std::abs(a.grip_deg - b.grip_deg)});
}

TEST(Joints, AgreeWithTheMatrixProduct) {
  SCOPED_TRACE(kSeed);
  Random random;
  double worst = 0.0;
  for (int k = 0; k < kPoses; ++k) {
    const Sample s = random.sample();
    const glm::dmat4 expected = product(s.centre, s.joints), made = matrix_of(s.centre, s.joints);
    const DevicePose pose = pose_of(s.centre, s.limits, s.joints);
    const glm::dmat4 of_pose = matrix_of(s.centre, pose);
    for (int column = 0; column < 4; ++column)
      worst = std::max(
          {worst, glm::length(expected[column] - made[column]), glm::length(expected[column] - of_pose[column])});
    worst = std::max(worst, glm::length(glm::dvec3(expected[3]) - pose.tip));
    worst = std::max(worst, glm::length(s.centre.pivot - pose.pivot));
  }
  std::printf("kinematics against the product, seed %u: worst %.1e\n", kSeed, worst);
  EXPECT_LT(worst, 1e-12);
}

TEST(Joints, AimAtADirectionOfAnyLength) {
  SCOPED_TRACE(kSeed);
  Random random;
  double worst = 0.0;
  for (int k = 0; k < kPoses; ++k) {
    const Sample s = random.sample();
    const glm::dvec3 direction = direction_of(s.centre, s.joints);
    worst = std::max(worst, std::abs(glm::length(direction) - 1.0));
    Joints askew = s.joints;
    askew.pan_deg = askew.tilt_deg = 0.0;
    worst = std::max(worst, largest_difference(s.joints, aimed(s.centre, askew, 3.0 * direction)));
  }
  EXPECT_LT(worst, 1e-9);
}

TEST(Joints, SurviveARoundTrip) {
  SCOPED_TRACE(kSeed);
  Random random;
  double joints_worst = 0.0, pose_worst = 0.0;
  for (int k = 0; k < kPoses; ++k) {
    const Sample s = random.sample();
    const DevicePose pose = pose_of(s.centre, s.limits, s.joints);
    const Joints back = joints_of(s.centre, s.limits, pose);
    joints_worst = std::max(joints_worst, largest_difference(s.joints, back));
    const DevicePose again = pose_of(s.centre, s.limits, back);
    pose_worst = std::max({pose_worst, glm::length(again.tip - pose.tip), std::abs(again.roll_deg - pose.roll_deg),
                           std::abs(again.grip - pose.grip)});
  }
  std::printf("round trips of %d poses, seed %u: joints %.1e, poses %.1e\n", kPoses, kSeed, joints_worst, pose_worst);
  EXPECT_LT(joints_worst, 1e-9);
  EXPECT_LT(pose_worst, 1e-12);
}

// Poses outside the limits too: any tip except those at a pan of 90 degrees, where the tilt is undefined.
TEST(Joints, AnyPoseSurvivesARoundTrip) {
  SCOPED_TRACE(kSeed);
  Random random;
  double worst = 0.0;
  for (int k = 0; k < kPoses; ++k) {
    const Sample s = random.sample();
    DevicePose pose;
    pose.pivot = s.centre.pivot;
    pose.tip = pose.pivot + random.point(0.3);
    if (glm::length(pose.tip - pose.pivot) < 1e-3) continue;
    const DevicePose again = pose_of(s.centre, s.limits, joints_of(s.centre, s.limits, pose));
    worst = std::max(worst, glm::length(again.tip - pose.tip));
  }
  EXPECT_LT(worst, 1e-12);
}

TEST(RemoteCentre, FramesAreRightHandedForEveryAxis) {
  Random random;
  std::vector<glm::dvec3> axes = {{0, 1, 0},     {0, -1, 0},       {0, 7, 0},       {1e-9, 1, 0}, {1e-2, 1, 0},
                                  {0, 1, 0.014}, {0, -1, -0.0142}, {1e-300, -1, 0}, {1e-9, 0, 0}, {0, 0, -1}};
  for (int k = 0; k < 1000; ++k) axes.push_back(random.point(1.0));
  for (const glm::dvec3& axis : axes) {
    const glm::dmat3 frame = remote_centre({}, axis).frame;
    EXPECT_NEAR(glm::determinant(frame), 1.0, 1e-12) << axis.x << " " << axis.y << " " << axis.z;
    const glm::dmat3 square = glm::transpose(frame) * frame;
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < 3; ++r) EXPECT_NEAR(square[c][r], c == r ? 1.0 : 0.0, 1e-12);
    EXPECT_NEAR(glm::dot(frame[2], glm::normalize(axis)), 1.0, 1e-12);
  }
}

// Tests the signs that the header documents: the effect of each positive joint.
TEST(Joints, SignsAreAsDocumented) {
  const JointLimits limits;
  const RemoteCentre down = remote_centre({0, 0, 0.2}, {0, 0, -1});
  Joints joints;
  const glm::dvec3 straight = pose_of(down, limits, joints).tip;
  EXPECT_NEAR(glm::length(straight - glm::dvec3(0, 0, 0.1)), 0.0, 1e-15);
  joints.tilt_deg = 10.0;
  EXPECT_LT(pose_of(down, limits, joints).tip.y, straight.y - 0.01);  // to the feet
  joints = {};
  joints.pan_deg = 10.0;
  const glm::dvec3 panned = pose_of(down, limits, joints).tip;
  EXPECT_GT(glm::dot(panned - straight, down.frame[0]), 0.01);
  joints = {};
  joints.spin_deg = 90.0;
  // As seen from the trocar along +z, a clockwise quarter turn moves y (up) to the right, and x to the old y.
  EXPECT_NEAR(glm::dot(glm::dvec3(matrix_of(down, joints)[0]), down.frame[1]), 1.0, 1e-12);
}

// The trocar is fixed, so a point of the shaft outside the body moves opposite to the tip.
TEST(Joints, AHandleMovedUpMovesTheTipDown) {
  const RemoteCentre centre = remote_centre({0, 0, 0}, {0, 0, -1});
  for (const double tilt : {-30.0, -5.0, 5.0, 60.0}) {
    Joints joints;
    joints.tilt_deg = tilt;
    const glm::dmat4 matrix = matrix_of(centre, joints);
    const glm::dvec3 handle(matrix * glm::dvec4(0, 0, -(joints.depth + 0.15), 1)), tip(matrix[3]);
    EXPECT_LT(handle.y * tip.y, 0.0) << tilt;
    EXPECT_NEAR(handle.y / tip.y, -0.15 / joints.depth, 1e-12);
  }
}

TEST(JointLimits, EveryLimitHoldsOnBothSides) {
  const JointLimits limits;
  for (const double far : {1e3, 1e300, std::numeric_limits<double>::infinity()}) {
    const Joints fallback{far > 1e301 ? 75.0 : 0.0, far > 1e301 ? 75.0 : 0.0, 0.0, far > 1e301 ? 0.3 : 0.1, 60.0};
    const Joints most = limited(limits, {far, far, 30.0, far, far}, fallback);
    EXPECT_EQ(most.pan_deg, 75.0);
    EXPECT_EQ(most.tilt_deg, 75.0);
    EXPECT_EQ(most.depth, 0.300);
    EXPECT_EQ(most.grip_deg, 60.0);
    EXPECT_EQ(most.spin_deg, 30.0);
  }
  const Joints least = limited(limits, {-1e9, -1e9, -1e4, -1.0, -5.0});
  EXPECT_EQ(least.pan_deg, -75.0);
  EXPECT_EQ(least.tilt_deg, -40.0);
  EXPECT_EQ(least.depth, 0.012);
  EXPECT_EQ(least.grip_deg, 0.0);
  EXPECT_EQ(least.spin_deg, -1e4);
  const Joints inside{10.0, 20.0, 30.0, 0.2, 40.0};
  EXPECT_EQ(largest_difference(limited(limits, inside), inside), 0.0);
}

TEST(JointLimits, InvalidNumbersBecomeTheClampedFallback) {
  const JointLimits limits;
  const double nan = std::nan("");
  const Joints kept = limited(limits, {nan, nan, nan, nan, nan}, {1.0, 2.0, 3.0, 0.05, 4.0});
  EXPECT_EQ(largest_difference(kept, {1.0, 2.0, 3.0, 0.05, 4.0}), 0.0);
  const Joints cut = limited(limits, {nan, nan, 0.0, nan, nan}, {100.0, -90.0, 0.0, 2.0, 90.0});
  EXPECT_EQ(largest_difference(cut, {75.0, -40.0, 0.0, 0.3, 60.0}), 0.0);
}

}  // namespace
}  // namespace trocar

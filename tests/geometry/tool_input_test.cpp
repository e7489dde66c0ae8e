// Tests the faults of poses and steps, their limits from both sides, and the poses of a step.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "geometry/error.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {
namespace {

using glm::dvec3;

TEST(ToolInput, BadRadiusIsReportedInMillimetres) {
  const std::string fault = pose_fault({dvec3(0.0), dvec3(0.0, 0.0, 0.1), -0.003});
  EXPECT_EQ(fault, "the tool's radius is -3 mm; give a number above 0 (at least 0.001 mm)");
}

TEST(ToolInput, BadPosesAreRefusedInOneSentence) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const ToolPose sound{{0, 0, 0}, {0, -0.1, 0}, 0.0025};
  EXPECT_EQ(pose_fault(sound), "");
  const struct {
    ToolPose pose;
    const char* says;
  } bad[] = {{{{0, 0, 0}, {0, 0, 0}, 0.0025}, "pivot"},      {{{0, -0.1, 0}, {0, -0.1, 0}, 0.0025}, "pivot"},
             {{{0, 0, 0}, {0, -0.1, 0}, 0.0}, "radius"},     {{{0, 0, 0}, {0, -0.1, 0}, -0.0025}, "radius"},
             {{{0, 0, 0}, {0, -0.1, 0}, nan}, "radius"},     {{{0, 0, 0}, {0, -0.1, 0}, inf}, "radius"},
             {{{nan, 0, 0}, {0, -0.1, 0}, 0.0025}, "pivot"}, {{{0, 0, 0}, {0, inf, 0}, 0.0025}, "tip"},
             {{{0, 0, 0}, {0, 0, -inf}, 0.0025}, "tip"},     {{{0, 0, 0}, {0, 1e9, 0}, 0.0025}, "tip"}};
  for (const auto& [pose, says] : bad) {
    EXPECT_NE(pose_fault(pose).find(says), std::string::npos) << pose_fault(pose);
    EXPECT_EQ(pose_fault(pose).find('\n'), std::string::npos);
    EXPECT_THROW(static_volume(pose), InputError);
    EXPECT_THROW(swept_volume(step_at_rest(pose), Cover::Capsule), InputError);
    EXPECT_THROW(swept_volume({pose.pivot, pose.tip, sound.tip, pose.radius}, Cover::Paper), InputError);
    EXPECT_THROW(swept_volume({pose.pivot, sound.tip, pose.tip, pose.radius}, Cover::Paper), InputError);
  }
}

// The limits of a tool, from both sides.
TEST(ToolInput, LimitsBelongToTheValidRange) {
  const ToolPose sound{{0, 0, 0}, {0, -0.1, 0}, 0.0025};
  ToolPose pose = sound;
  for (const double radius : {kSmallestRadius, 1e-3, kLargestCoordinate}) {
    pose.radius = radius;
    EXPECT_EQ(pose_fault(pose), "") << radius;
  }
  for (const double radius : {kSmallestRadius * (1.0 - 1e-12), kLargestCoordinate * (1.0 + 1e-12)}) {
    pose.radius = radius;
    EXPECT_NE(pose_fault(pose).find("radius"), std::string::npos) << radius;
  }
  pose = sound;
  for (int axis = 0; axis < 3; ++axis) {
    for (const double sign : {-1.0, 1.0}) {
      for (dvec3 ToolPose::*point : {&ToolPose::pivot, &ToolPose::tip}) {
        pose = sound;
        (pose.*point)[axis] = sign * kLargestCoordinate;
        EXPECT_EQ(pose_fault(pose), "");
        (pose.*point)[axis] = sign * kLargestCoordinate * (1.0 + 1e-12);
        EXPECT_NE(pose_fault(pose).find("m is over 1000 m from the origin; check the unit"), std::string::npos);
      }
    }
  }
  pose = sound;
  pose.tip = {0, 0, 2.0 * kShortestShaft};
  EXPECT_EQ(pose_fault(pose), "");
  pose.tip = {0, 0, 0.5 * kShortestShaft};
  EXPECT_NE(pose_fault(pose).find("no direction"), std::string::npos);
  // A step has the faults of both of its poses.
  EXPECT_EQ(step_fault({sound.pivot, sound.tip, sound.tip, 0.0025}), "");
  EXPECT_NE(step_fault({sound.pivot, sound.pivot, sound.tip, 0.0025}), "");
  EXPECT_NE(step_fault({sound.pivot, sound.tip, sound.pivot, 0.0025}), "");
}

TEST(ToolStep, PosesLieOnTheStraightLine) {
  const ToolStep step{{1, 2, 3}, {4, 5, 6}, {8, 1, 10}, 0.5};
  EXPECT_EQ(pose_at(step, 0.0).tip, step.tip_before);
  EXPECT_EQ(pose_at(step, 0.25).tip, dvec3(5, 4, 7));
  EXPECT_EQ(pose_at(step, 1.0).tip, step.tip_after);
  EXPECT_EQ(pose_at(step, 0.25).pivot, step.pivot);
  EXPECT_EQ(pose_at(step, 0.25).radius, 0.5);
  EXPECT_EQ(ToolPose{}.radius, 0.0025);  // a shaft of 5 mm
  EXPECT_EQ(ToolStep{}.radius, 0.0025);
  const MovingPart part;
  EXPECT_EQ(part.shape, nullptr);
  EXPECT_EQ(part.from, 0.0);
  EXPECT_EQ(part.to, 1.0);
  EXPECT_EQ(part.end, 1.0);
}

}  // namespace
}  // namespace trocar

// The volumes of a moving part contain every point that it passes: sampled over random parts and motions, and over
// every switch of case. Camera and half-spaces are those of a box (tests/geometry/tool_volume_test.cpp).
#include "geometry/part.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/cpu_collision/random_parts.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

constexpr double kContainment = 1e-7;  // m  allowed error from rounding a plane to float

double depth_inside(const ToolVolume& volume, const dvec3& at) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < volume.plane_count; ++i)
    least = std::min(least, glm::dot(dvec3(volume.planes[i]), at) + static_cast<double>(volume.planes[i].w));
  return least;
}

TEST(PartVolume, ContainsThePath) {
  double worst = 1.0;
  int several = 0;
  test::for_every_motion(1320, 100000, [&](Dice& dice, const InstrumentMotion& motion) {
    const PartShape shape = test::random_part(dice);
    const int pieces = volume_count(shape, motion);
    several += pieces > 1;
    for (int piece = 0; piece < pieces; ++piece) {
      const double from = static_cast<double>(piece) / pieces, to = static_cast<double>(piece + 1) / pieces;
      const ToolVolume volume = part_volume(shape, motion, from, to);
      ASSERT_LE(volume.plane_count, kMaxPlanes);
      for (int sample = 0; sample < 6; ++sample) {
        const double t = dice.pick(4) == 0 ? from : dice.uniform(from, to);
        const dvec3 corner = shape.corners[dice.pick(static_cast<int>(shape.corners.size()))];
        const dvec3 at = frame_at(motion, shape, t).to_world(corner) + shape.radius * dice.direction();
        worst = std::min(worst, depth_inside(volume, at));
      }
    }
    ASSERT_GE(worst, -kContainment) << test::words(motion);
  });
  std::printf("deepest cut into a path: %.3g m; motions with several volumes: %d\n", -worst, several);
  EXPECT_GT(several, 1000);
}

// A volume without use would be one much larger than the path: at rest the box touches the part on every side.
TEST(PartVolume, TouchesAPartAtRest) {
  Dice dice(1321);
  for (int i = 0; i < 1000; ++i) {
    const PartShape shape = test::random_part(dice);
    const InstrumentMotion motion =
        instrument_at_rest(test::random_pose(dice, {{0, 0, 0}, 0.1 * dice.direction(), 0.0025}));
    const ToolVolume volume = part_volume(shape, motion, 0.0, 1.0);
    EXPECT_EQ(volume_count(shape, motion), 1);
    const RigidFrame pose = frame_at(motion, shape, 0.0);
    for (int plane = 0; plane < volume.plane_count; ++plane) {
      double least = 1.0;
      for (const dvec3& corner : shape.corners)
        least = std::min(least, glm::dot(dvec3(volume.planes[plane]), pose.to_world(corner)) +
                                    static_cast<double>(volume.planes[plane].w) - shape.radius);
      EXPECT_NEAR(least, 0.0, 1e-7);
    }
  }
}

TEST(PartVolume, CarriesThePartAndLooksFromItsMiddle) {
  test::for_every_motion(1322, 2000, [](Dice& dice, const InstrumentMotion& motion) {
    const PartShape shape = test::random_part(dice);
    const double from = dice.uniform(0.0, 0.5), to = dice.uniform(0.5, 1.0);
    const ToolVolume volume = part_volume(shape, motion, from, to);
    ASSERT_EQ(volume.step.part.shape, &shape);
    ASSERT_EQ(volume.step.part.motion, &motion);
    ASSERT_EQ(volume.step.part.from, from);
    ASSERT_EQ(volume.step.part.to, to);
    ASSERT_EQ(volume.step.part.end, 1.0);
    dvec3 low = shape.corners[0], high = low;
    for (const dvec3& corner : shape.corners) low = glm::min(low, corner), high = glm::max(high, corner);
    const dvec3 centre = 0.5 * (low + high), a = frame_at(motion, shape, from).to_world(centre),
                b = frame_at(motion, shape, to).to_world(centre);
    // The float coordinates of the view are smallest there.
    const glm::vec4 eye = volume.view * glm::vec4(0.5 * (a + b), 1.0);
    ASSERT_LT(glm::length(glm::vec3(eye)), 1e-6f) << test::words(motion);
    // Its right side points where the part moves, its view direction against the part's z axis.
    const glm::mat4 view = glm::transpose(volume.view);
    const dvec3 right(view[0]), forward = -dvec3(view[2]), moved = b - a,
                                across = moved - glm::dot(moved, forward) * forward;
    if (glm::length(across) > 1e-6) {
      ASSERT_NEAR(glm::dot(right, across), glm::length(across), 1e-5 * glm::length(across)) << test::words(motion);
    }
    const RigidFrame first = frame_at(motion, shape, from), last = frame_at(motion, shape, to);
    ASSERT_LT(glm::distance(forward, -glm::normalize(first.axes[2] + last.axes[2])), 1e-6) << test::words(motion);
    if (glm::length(across) > 0.0) return;
    const dvec3 x = first.axes[0] - glm::dot(first.axes[0], forward) * forward;
    ASSERT_LT(glm::distance(right, glm::normalize(x)), 1e-6) << test::words(motion);
  });
}

// A part that moves evenly without turning: the box has its size along the path, and the radius on every side.
TEST(PartVolume, OfASlideIsTight) {
  PartShape shape;
  shape.corners = {{0.001, 0.002, 0.0}, {-0.001, 0.0, 0.008}};
  shape.radius = 0.0005;
  const InstrumentMotion motion =
      instrument_motion({{{0, 0, 0.3}, {0, 0, 0.02}, 0.0025}, 0.0, 0.0}, {{{0, 0, 0.3}, {0, 0, 0}, 0.0025}, 0.0, 0.0});
  const double sagitta = 0.02 * 0.02 / 0.28 / 8.0;
  const ToolVolume volume = part_volume(shape, motion, 0.0, 1.0);
  double widths[3] = {};
  for (int axis = 0; axis < 3; ++axis) widths[axis] = double(volume.planes[2 * axis].w) + volume.planes[2 * axis + 1].w;
  std::sort(std::begin(widths), std::end(widths));
  EXPECT_NEAR(widths[0], 0.002 + 2.0 * (0.0005 + sagitta), 1e-7);
  EXPECT_NEAR(widths[1], 0.002 + 2.0 * (0.0005 + sagitta), 1e-7);
  EXPECT_NEAR(widths[2], 0.028 + 2.0 * (0.0005 + sagitta), 1e-7);
  EXPECT_NEAR(volume.step.radius, 0.0025 + std::sqrt(0.002 * 0.002 * 2.0 + 0.028 * 0.028) + 0.0005 + sagitta, 1e-9);
}

// A pure spin by `angle` at the distance 8 mm has the sagitta angle^2 / 1000.
TEST(PartVolume, CountFollowsTheSagitta) {
  PartShape shape;
  shape.corners = {{0.008, 0.0, 0.0}};
  shape.radius = 0.0005;
  InstrumentMotion motion = instrument_at_rest({{{0, 0, 0.2}, {0, 0, 0}, 0.0025}, 0.0, 0.0});
  const auto count = [&](double sagitta, const PartCoverParams& params) {
    motion.spin = std::sqrt(1000.0 * sagitta);
    return volume_count(shape, motion, params);
  };
  const PartCoverParams params{.largest_sagitta = 1e-4, .most_pieces = 6};
  EXPECT_EQ(count(0.0, params), 1);
  for (int pieces = 1; pieces <= 8; ++pieces) {
    EXPECT_EQ(count(0.999e-4 * pieces * pieces, params), std::min(pieces, 6));
    EXPECT_EQ(count(1.001e-4 * pieces * pieces, params), std::min(pieces + 1, 6));
  }
  EXPECT_EQ(count(1.999e-4, {}), 1);
  EXPECT_EQ(count(2.001e-4, {}), 2);
  EXPECT_EQ(count(1.0, {}), 4);
}

// The box along the world's axes holds the path, and at rest it touches the part on every side.
TEST(PartVolume, BoundsContainThePathAndTouchAPartAtRest) {
  test::for_every_motion(1323, 3000, [](Dice& dice, const InstrumentMotion& moving) {
    const PartShape shape = test::random_part(dice);
    const bool rests = dice.pick(3) == 0;
    const InstrumentMotion motion =
        rests ? instrument_at_rest({pose_at(moving.shaft, 1.0), dice.uniform(-3.0, 3.0), 0.5}) : moving;
    const PartBounds bounds = part_bounds(shape, motion);
    dvec3 low(1e9), high(-1e9);
    for (int sample = 0; sample < 8; ++sample) {
      const double t = sample < 2 ? sample : dice.uniform(0.0, 1.0);
      for (const dvec3& corner : shape.corners) {
        const dvec3 at = frame_at(motion, shape, t).to_world(corner);
        low = glm::min(low, at - shape.radius), high = glm::max(high, at + shape.radius);
      }
    }
    for (int axis = 0; axis < 3; ++axis) {
      ASSERT_GE(low[axis], bounds.low[axis] - 1e-12) << test::words(motion);
      ASSERT_LE(high[axis], bounds.high[axis] + 1e-12) << test::words(motion);
      if (!rests) continue;
      ASSERT_NEAR(low[axis], bounds.low[axis], 1e-12) << test::words(motion);
      ASSERT_NEAR(high[axis], bounds.high[axis], 1e-12) << test::words(motion);
    }
  });
}

}  // namespace
}  // namespace trocar

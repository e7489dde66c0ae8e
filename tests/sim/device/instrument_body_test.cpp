// Tests what instruments touch with: the parts follow the drawn shape, the volumes contain the motion of every drawn
// corner, touches of several volumes are collected, and a probe is one capsule.
#include "sim/device/tool_shape.hpp"

#include <gtest/gtest.h>

#include <array>

#include "geometry/closest.hpp"
#include "geometry/refine.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::instrument_body_test {
namespace {

using glm::dvec3;
using test::Dice;

constexpr std::array kKinds = {InstrumentKind::Probe,    InstrumentKind::Grasper,     InstrumentKind::Hook,
                               InstrumentKind::Scissors, InstrumentKind::ClipApplier, InstrumentKind::Suction};

InstrumentStance random_stance(Dice& dice, const dvec3& pivot) {
  const dvec3 tip = pivot + dice.uniform(0.05, 0.25) * dice.direction();
  return {{pivot, tip, 0.0025}, dice.uniform(-180.0, 180.0), dice.uniform(0.0, 1.0)};
}

InstrumentStance near_stance(Dice& dice, const InstrumentStance& before) {
  InstrumentStance now = before;
  now.pose.tip += dice.log_uniform(1e-5, 0.03) * dice.direction();
  now.roll_deg += dice.pick(2) ? dice.uniform(-10.0, 10.0) : 0.0;
  now.grip = dice.pick(2) ? dice.uniform(0.0, 1.0) : now.grip;
  return now;
}

// Every drawn corner lies within a quarter of a millimetre of the surface of its part, and never further outside.
TEST(InstrumentBody, PartsFollowTheDrawnShape) {
  for (const InstrumentKind kind : kKinds) {
    const std::vector<PartShape> shapes = part_shapes(kind, 0.0025);
    const std::vector<ToolPart> drawn = tip_parts(kind, 0.0025);
    if (is_blunt(kind)) {
      EXPECT_TRUE(shapes.empty());
      continue;
    }
    ASSERT_EQ(shapes.size(), drawn.size());
    double outside = 0.0;
    std::size_t most = 0;
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      most = std::max(most, shapes[k].corners.size());
      EXPECT_EQ(shapes[k].hinge_z, drawn[k].hinge_z);
      EXPECT_EQ(shapes[k].side, drawn[k].side);
      for (const glm::vec3& corner : drawn[k].mesh.positions) {
        const std::array<dvec3, 1> at{dvec3(corner)};
        outside = std::max(outside, hull_distance(shapes[k].corners, at).distance - shapes[k].radius);
      }
    }
    std::printf("kind %d: %zu parts, at most %zu corners, drawn corners at most %.3f mm outside their part\n",
                static_cast<int>(kind), shapes.size(), most, outside * 1e3);
    EXPECT_LE(outside, 2.5e-4);
    EXPECT_LE(most, 48u);
  }
}

TEST(InstrumentBody, VolumesContainTheMotionOfEveryPart) {
  Dice dice(1340);
  std::printf("seed 1340\n");
  for (const InstrumentKind kind : kKinds) {
    InstrumentBody body(kind, 0.0025, {});
    for (int i = 0; i < 25000; ++i) {
      const InstrumentStance before = random_stance(dice, dice.in_cube(0.2)), now = near_stance(dice, before);
      body.move(&before, now, ToolMode::Swept);
      const double t = dice.uniform(0.0, 1.0);
      const std::size_t k = static_cast<std::size_t>(dice.pick(static_cast<int>(body.parts())));
      if (k == kShaftPart) continue;
      const PartShape& shape = body.shapes()[k - 1];
      const dvec3 corner = shape.corners[static_cast<std::size_t>(dice.pick(static_cast<int>(shape.corners.size())))];
      const dvec3 at = frame_at(body.motion(), shape, t).to_world(corner) + shape.radius * dice.direction();
      bool inside = false;
      for (std::size_t v = 0; v < body.volumes().size(); ++v) {
        const ToolVolume& volume = body.volumes()[v];
        if (body.part_of_volume()[v] != k || t < volume.step.part.from || t > volume.step.part.to) continue;
        inside = true;
        for (int plane = 0; plane < volume.plane_count; ++plane)
          ASSERT_GE(glm::dot(glm::dvec4(volume.planes[plane]), glm::dvec4(at, 1.0)), -1e-7);
      }
      ASSERT_TRUE(inside);
      for (int axis = 0; axis < 3; ++axis) {
        ASSERT_GE(at[axis], static_cast<double>(body.box().low[axis]));
        ASSERT_LE(at[axis], static_cast<double>(body.box().high[axis]));
      }
    }
  }
}

// A probe has the volume of its frame and nothing else, bit for bit.
TEST(InstrumentBody, AProbeIsOneCapsule) {
  Dice dice(1341);
  InstrumentBody body(InstrumentKind::Probe, 0.0025, {});
  for (int i = 0; i < 1000; ++i) {
    const InstrumentStance before = random_stance(dice, dice.in_cube(0.2)), now = near_stance(dice, before);
    for (const bool first : {false, true}) {
      body.move(first ? nullptr : &before, now, ToolMode::Swept);
      const ToolVolume expected =
          frame_volume(first ? nullptr : &before.pose, now.pose, ToolMode::Swept, Cover::Capsule, TouchSet::Exact);
      ASSERT_EQ(body.volumes().size(), 1u);
      EXPECT_EQ(body.volumes()[0].planes, expected.planes);
      EXPECT_EQ(body.volumes()[0].step.tip_before, expected.step.tip_before);
      EXPECT_EQ(body.volumes()[0].step.tip_after, expected.step.tip_after);
    }
  }
}

// The shaft ends at the hinge: a point between open jaws belongs to no part.
TEST(InstrumentBody, TheShaftEndsAtTheHinge) {
  InstrumentBody body(InstrumentKind::Grasper, 0.0025, {});
  const InstrumentStance open{{{0, 0, 0.2}, {0, 0, 0.0025}, 0.0025}, 0.0, 1.0};
  body.move(nullptr, open, ToolMode::Swept);
  const auto gap = [&](std::uint32_t part, const dvec3& p) {
    Touch touch;
    return refine_touch(body.step(part), {p, p, p}, touch);
  };
  const dvec3 between(0.0, 0.0, 0.006);
  for (std::uint32_t part = 0; part < body.parts(); ++part) EXPECT_FALSE(gap(part, between)) << part;
  EXPECT_TRUE(gap(kShaftPart, {0.0, 0.0, 0.0175}));
  EXPECT_FALSE(gap(kShaftPart, {0.0, 0.0, 0.0155}));
}

TEST(PartTouches, OfAFaceInSeveralVolumesTheFirstContactCounts) {
  PartTable table;
  add_tool(1, table);
  add_tool(2, table);
  const std::vector<ToolVolume> volumes(4);
  const std::vector<std::uint32_t> part_of_volume{0, 1, 2, 2};
  std::vector<Touch> touches(6);
  const std::array<std::uint32_t, 6> faces{4, 9, 2, 7, 5, 7};
  const std::array<float, 6> times{0.f, 0.f, 0.1f, 0.4f, 0.6f, 0.5f};
  for (std::size_t i = 0; i < 6; ++i) touches[i].face = FaceId(faces[i]), touches[i].time = times[i];
  const std::vector<std::uint32_t> first{0, 1, 2, 4, 6};
  PartTouches out;
  collect({touches, first}, {volumes, part_of_volume, table}, out);
  ASSERT_EQ(out.touches.size(), 5u);
  const std::array<std::uint32_t, 5> expected{4, 9, 2, 5, 7};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(out.touches[i].face, FaceId(expected[i]));
  EXPECT_EQ(out.touches[4].time, 0.4f);
  EXPECT_EQ(out.part, (std::vector<std::uint8_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(out.part_first, (std::vector<std::uint32_t>{0, 1, 2, 5}));
  EXPECT_EQ(out.tool_first, (std::vector<std::uint32_t>{0, 1, 5}));
  std::vector<FaceId> tip;
  std::vector<std::uint32_t> tip_first;
  find_tip_faces(out, table, tip, tip_first);
  EXPECT_EQ(tip, (std::vector<FaceId>{FaceId(4), FaceId(2), FaceId(5), FaceId(7)}));
  EXPECT_EQ(tip_first, (std::vector<std::uint32_t>{0, 1, 4}));
}

}  // namespace
}  // namespace trocar::instrument_body_test

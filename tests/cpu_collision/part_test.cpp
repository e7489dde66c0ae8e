// Tests parts of instruments: their motion against its definition, and moving triangles.
#include "geometry/part.hpp"
#include "cpu_collision/reference.hpp"
#include "cpu_collision/solids/convex_body.hpp"
#include "cpu_collision/trees/motion_crossing.hpp"
#include "geometry/closest.hpp"
#include "geometry/error.hpp"
#include "geometry/refine.hpp"
#include "mesh/exact_sign.hpp"
#include "tests/cpu_collision/random_parts.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

// Compares the motion of a part with its definition: end poses, an even spin, the path of the tip, velocities by finite
// differences, and the bounds of speed and acceleration.

// Compares the distance of convex hulls with that of pairs of triangles, with closed forms, and with its own proof: a
// slab that separates the hulls.

using glm::dvec3;
using test::Dice;

Triangle random_face(Dice& dice, double size) {
  const dvec3 at = dice.in_cube(dice.pick(2) ? 0.02 : 0.002) + dvec3(0.0, 0.0, dice.uniform(0.0, 0.01));
  const auto corner = [&] { return dvec3(glm::vec3(at + dice.in_cube(size))); };
  Triangle face{corner(), corner(), corner()};
  const int kind = dice.pick(8);
  if (kind == 0) face.c = face.b;                   // a segment
  if (kind == 1) face.b = face.c = face.a;          // a point
  if (kind == 2) face.c = 0.5 * (face.a + face.b);  // three corners on a line
  return face;
}

TEST(HullDistance, EqualsTheDistanceOfPairsOfTriangles) {
  Dice dice(1310);
  std::printf("seed 1310\n");
  int met = 0;
  for (int i = 0; i < 30000; ++i) {
    const PartShape shape = test::random_part(dice);
    const Triangle face = random_face(dice, dice.log_uniform(1e-5, 0.02));
    const std::array<dvec3, 3> corners{face.a, face.b, face.c};
    const HullDistance found = hull_distance(shape.corners, corners);
    const double expected = reference_part_distance(shape, RigidFrame{}, face);
    ASSERT_NEAR(found.distance, expected, kDistanceError) << "case " << i << " corners " << shape.corners.size();
    ASSERT_NEAR(glm::distance(found.on_first, found.on_second), found.distance, 1e-9) << "case " << i;
    met += expected == 0.0;
  }
  EXPECT_GT(met, 300);
}

// A plane through each closest point, across the line between them, has its hull behind it: no other points are closer.
TEST(HullDistance, IsProvenByASlab) {
  Dice dice(1311);
  std::printf("seed 1311\n");
  for (int i = 0; i < 30000; ++i) {
    std::vector<dvec3> first, second;
    const dvec3 apart = dice.log_uniform(1e-6, 0.1) * dice.direction();
    for (int k = dice.pick(12); k >= 0; --k) first.push_back(dice.in_cube(0.01));
    for (int k = dice.pick(12); k >= 0; --k) second.push_back(apart + dice.in_cube(0.01));
    const HullDistance found = hull_distance(first, second);
    if (found.distance < 1e-9) continue;
    const dvec3 n = (found.on_second - found.on_first) / found.distance;
    double high = -1.0, low = 1.0;
    for (const dvec3& p : first) high = std::max(high, glm::dot(n, p - found.on_first));
    for (const dvec3& p : second) low = std::min(low, glm::dot(n, p - found.on_first));
    ASSERT_GE(low - high, found.distance - kDistanceError) << "case " << i;
  }
}

// A search that may end beyond a range gives the same bits within it and a lower bound beyond. Half of the ranges are
// next to the distance itself.
TEST(HullDistance, EndsEarlyOnlyBeyondTheRange) {
  Dice dice(1313);
  std::printf("seed 1313\n");
  int near = 0, early = 0;
  for (int i = 0; i < 30000; ++i) {
    const PartShape shape = test::random_part(dice);
    const Triangle face = random_face(dice, dice.log_uniform(1e-5, 0.02));
    const std::array<dvec3, 3> corners{face.a, face.b, face.c};
    const HullDistance whole = hull_distance(shape.corners, corners);
    const double ranges[] = {dice.log_uniform(1e-6, 0.1), whole.distance + dice.uniform(-2e-9, 2e-9), whole.distance};
    for (const double range : ranges) {
      const HullDistance found = hull_distance(shape.corners, corners, range);
      ASSERT_LE(found.distance, whole.distance + kDistanceError) << "case " << i;
      if (whole.distance > range) {
        ASSERT_GT(found.distance, range) << "case " << i;
        early += found.distance != whole.distance;
        continue;
      }
      ASSERT_EQ(found.distance, whole.distance) << "case " << i;
      ASSERT_EQ(found.on_first, whole.on_first) << "case " << i;
      ASSERT_EQ(found.on_second, whole.on_second) << "case " << i;
      ++near;
    }
  }
  std::printf("%d searches within the range, %d ended early\n", near, early);
  EXPECT_GT(near, 10000);
  EXPECT_GT(early, 10000);
}

TEST(HullDistance, DegenerateHulls) {
  const std::vector<dvec3> point{{0, 0, 0}}, twice{{0, 0, 0}, {0, 0, 0}}, segment{{-1, 0, 1}, {1, 0, 1}},
      collinear{{-1, 0, 1}, {0, 0, 1}, {1, 0, 1}, {1, 0, 1}}, flat{{-1, -1, 2}, {1, -1, 2}, {1, 1, 2}, {-1, 1, 2}};
  EXPECT_EQ(hull_distance(point, point).distance, 0.0);
  EXPECT_EQ(hull_distance(twice, point).distance, 0.0);
  EXPECT_NEAR(hull_distance(point, segment).distance, 1.0, 1e-12);
  EXPECT_NEAR(hull_distance(collinear, point).distance, 1.0, 1e-12);
  EXPECT_NEAR(hull_distance(segment, flat).distance, 1.0, 1e-12);
  EXPECT_NEAR(hull_distance(flat, flat).distance, 0.0, 1e-12);
  EXPECT_NEAR(hull_distance(flat, collinear).distance, 1.0, 1e-12);
}

// The exit of a ray from a ball, and from a box with a ball: closed forms. The exit of a random hull: stepping.
TEST(ExitDistance, EqualsClosedFormsAndStepping) {
  const std::vector<dvec3> ball{{0, 0, 0}};
  EXPECT_NEAR(exit_distance(ball, 2.0, {0, 0, 1}, {0, 0, 1}), 1.0, 1e-8);
  EXPECT_NEAR(exit_distance(ball, 2.0, {0, 0, -5}, {0, 0, 1}), 7.0, 1e-8);
  EXPECT_NEAR(exit_distance(ball, 2.0, {0, 1, -5}, {0, 0, 1}), 5.0 + std::sqrt(3.0), 1e-8);
  EXPECT_EQ(exit_distance(ball, 2.0, {0, 0, 5}, {0, 0, 1}), 0.0);
  EXPECT_EQ(exit_distance(ball, 2.0, {0, 3, -5}, {0, 0, 1}), 0.0);
  Dice dice(1312);
  std::printf("seed 1312\n");
  for (int i = 0; i < 300; ++i) {
    const PartShape shape = test::random_part(dice);
    const dvec3 point = dice.in_cube(0.01), direction = dice.direction();
    const double exit = exit_distance(shape.corners, shape.radius, point, direction);
    constexpr double kStride = 2e-5;
    double last = 0.0;
    for (double along = 0.0; along < 0.06; along += kStride) {
      const std::array<dvec3, 1> at{point + along * direction};
      if (hull_distance(shape.corners, at).distance <= shape.radius) last = along;
    }
    // A ray that only grazes the part may leave it between two samples.
    if (last == 0.0 && exit < kStride) continue;
    const std::array<dvec3, 1> beyond{point + (exit + kStride) * direction};
    EXPECT_GE(exit, last - 1e-8) << "case " << i;
    EXPECT_GT(hull_distance(shape.corners, beyond).distance, shape.radius) << "case " << i;
    if (last > 0.0) {
      EXPECT_LE(exit, last + kStride + 1e-8) << "case " << i;
    }
  }
}

// Tests the shape of a part: polytope and ball together have the box of the drawn points, no corner is left that lies
// nearly inside the others, and none is left out that does not.

}  // namespace
}  // namespace trocar

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;
using test::Dice;

struct Box {
  dvec3 low{1e9}, high{-1e9};
};

template <class Points>
Box box_of_points(const Points& points, double radius) {
  Box box;
  for (const auto& p : points)
    box.low = glm::min(box.low, dvec3(p) - radius), box.high = glm::max(box.high, dvec3(p) + radius);
  return box;
}

TEST(PartHull, HasTheBoxOfTheDrawnPoints) {
  Dice dice(1340);
  std::printf("seed 1340\n");
  for (int round = 0; round < 300; ++round) {
    const dvec3 centre = dice.in_cube(0.05), size{dice.log_uniform(1e-3, 1e-2), dice.log_uniform(1e-3, 1e-2), 0.01};
    std::vector<vec3> points;
    // The middles of the sides make the box, whatever is left out elsewhere.
    for (int axis = 0; axis < 3; ++axis)
      for (const double sign : {-1.0, 1.0}) {
        dvec3 off(0.0);
        off[axis] = sign * size[axis];
        points.emplace_back(centre + off);
      }
    for (int k = dice.pick(10); k > 0; --k) points.emplace_back(centre + 0.8 * size * dice.in_cube(1.0));
    const double radius = dice.log_uniform(1e-5, 5e-3), least = std::min({size.x, size.y, size.z});
    const PartShape shape = part_hull(points, radius);
    ASSERT_NEAR(shape.radius, std::min(radius, least), 1e-8) << round;
    const Box drawn = box_of_points(points, 0.0), made = box_of_points(shape.corners, shape.radius);
    for (int axis = 0; axis < 3; ++axis) {
      // Along this axis a middle sticks out of the others by at least a fifth of the polytope's half side. If that is
      // little, the middle may be left out.
      const bool thin = 0.2 * (size[axis] - shape.radius) < kNearlyInside;
      const double lost = thin ? kNearlyInside : 0.0;
      EXPECT_GE(made.low[axis], drawn.low[axis] - 2e-8) << "round " << round << " axis " << axis;
      EXPECT_LE(made.low[axis], drawn.low[axis] + lost + 2e-8) << "round " << round << " axis " << axis;
      EXPECT_LE(made.high[axis], drawn.high[axis] + 2e-8) << "round " << round << " axis " << axis;
      EXPECT_GE(made.high[axis], drawn.high[axis] - lost - 2e-8) << "round " << round << " axis " << axis;
    }
    // Corners, faces and hull belong together.
    for (const glm::uvec3& face : shape.faces)
      for (int k = 0; k < 3; ++k) ASSERT_LT(face[k], shape.corners.size());
    ASSERT_LE(shape.corners.size(), kMostCorners);
    ASSERT_EQ(shape.side, 0.0);
    ASSERT_EQ(shape.hinge_z, 0.0);
  }
}

double apart(std::vector<dvec3> others, std::size_t corner) {
  const std::array<dvec3, 1> alone{others[corner]};
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(corner));
  return hull_distance(others, alone).distance;
}

TEST(PartHull, LeavesOutWhatIsNearlyInsideAndNothingElse) {
  Dice dice(1341);
  std::printf("seed 1341\n");
  int left_out = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<vec3> points;
    for (int k = 0; k < 12; ++k) points.emplace_back(0.01 * dice.in_cube(1.0));
    for (int k = 0; k < 6; ++k)
      points.push_back(
          0.5f * (points[static_cast<std::size_t>(dice.pick(12))] + points[static_cast<std::size_t>(dice.pick(12))]) +
          vec3(dice.in_cube(4e-5)));
    const ConvexBody drawn = convex_hull(points);
    const PartShape shape = part_hull(points, 1e-6);
    for (std::size_t k = 0; k < shape.corners.size(); ++k)
      ASSERT_GE(apart(shape.corners, k), kNearlyInside - 1e-8) << round;
    // With a ball of a micrometre the shrinking moves a corner by a few micrometres.
    for (const dvec3& vertex : drawn.vertices) {
      const std::array<dvec3, 1> alone{vertex};
      ASSERT_LT(hull_distance(shape.corners, alone).distance, 3.0 * kNearlyInside) << round;
    }
    left_out += static_cast<int>(drawn.vertices.size() - shape.corners.size());
  }
  std::printf("%d corners left out\n", left_out);
  EXPECT_GT(left_out, 50);
}

// The nearest corner goes first: of the two ends of a short side of a square only one goes, and the apex of a flat roof
// goes or stays by its height.
TEST(PartHull, HandMadeRoofs) {
  for (const bool low : {true, false}) {
    const float height = low ? 2.5e-5f : 3.5e-5f;
    const std::vector<vec3> roof{{-0.01f, -0.01f, 0.f}, {0.01f, -0.01f, 0.f},     {0.01f, 0.01f, 0.f},
                                 {-0.01f, 0.01f, 0.f},  {0.f, 0.f, 0.f + height}, {0.f, 0.f, -0.01f}};
    EXPECT_EQ(part_hull(roof, 1e-9).corners.size(), low ? 5u : 6u);
  }
  const std::vector<vec3> square{
      {0.f, 0.f, 0.f}, {0.01f, 0.f, 0.f}, {0.01f, 0.01f, 0.f}, {0.f, 0.01f, 0.f}, {2e-5f, 0.f, 0.f}};
  EXPECT_EQ(part_hull(square, 1e-9).corners.size(), 4u);
}

TEST(PartHull, FlatShapesAndTooManyCorners) {
  const PartShape point = part_hull(std::vector<vec3>{{0.01f, 0.f, 0.f}}, 1e-3);
  ASSERT_EQ(point.corners.size(), 1u);
  EXPECT_EQ(point.corners[0], dvec3(vec3(0.01f, 0.f, 0.f)));
  EXPECT_EQ(point.radius, kSmallestRadius);
  ASSERT_EQ(point.faces.size(), 1u);
  EXPECT_EQ(point.faces[0], glm::uvec3(0, 0, 0));
  const PartShape segment = part_hull(std::vector<vec3>{{0, 0, 0}, {0, 0, 0.01f}}, 1e-3);
  ASSERT_EQ(segment.corners.size(), 2u);
  ASSERT_EQ(segment.faces.size(), 1u);
  EXPECT_EQ(segment.faces[0], glm::uvec3(0, 0, 1));
  EXPECT_NEAR(glm::distance(segment.corners[0], segment.corners[1]), double(0.01f) - 2.0 * kSmallestRadius, 1e-8);
  Dice dice(1342);
  std::vector<vec3> ball;
  for (int k = 0; k < 400; ++k) ball.emplace_back(0.01 * dice.direction());
  EXPECT_THROW(part_hull(ball, 1e-4), InputError);
  ball.resize(60);
  EXPECT_LE(part_hull(ball, 1e-4).corners.size(), 60u);
}

}  // namespace
}  // namespace trocar::solids

namespace trocar {
namespace {

double difference(const RigidFrame& a, const RigidFrame& b) {
  double most = glm::distance(a.origin, b.origin);
  for (int axis = 0; axis < 3; ++axis) most = std::max(most, glm::distance(a.axes[axis], b.axes[axis]));
  return most;
}

TEST(PartMotion, BeginsAndEndsInThePosesOfTheInstrument) {
  Dice dice(1301);
  std::printf("seed 1301\n");
  for (int i = 0; i < 20000; ++i) {
    const ToolStep step =
        dice.pick(2) ? test::random_step(dice) : test::step_with(dice, dice.in_cube(0.3), 0.15, 0.15, 0.01, 0.0025);
    const InstrumentPose before = test::random_pose(dice, pose_at(step, 0.0)),
                         after = test::random_pose(dice, pose_at(step, 1.0));
    const InstrumentMotion motion = instrument_motion(before, after);
    EXPECT_LT(difference(frame_at(motion, 1.0), tool_frame(after.shaft, after.roll)), 1e-9) << test::words(motion);
    EXPECT_NEAR(opening_at(motion, 1.0), after.opening, 1e-15);
    if (motion.shaft.tip_before != step.tip_before) continue;  // at rest in the end pose
    EXPECT_LT(difference(frame_at(motion, 0.0), tool_frame(before.shaft, before.roll)), 1e-9);
    EXPECT_EQ(opening_at(motion, 0.0), before.opening);
  }
}

// The frame's origin stays a radius beyond the tip, its z axis on the shaft, and its spin about the shaft is even: the
// angle between a frame that only swings and this one grows in proportion to time.
TEST(PartMotion, FollowsTheShaftAndSpinsEvenly) {
  test::for_every_motion(1302, 5000, [](Dice& dice, const InstrumentMotion& motion) {
    const double t = dice.uniform(0.0, 1.0);
    const RigidFrame frame = frame_at(motion, t);
    const ToolPose shaft = pose_at(motion.shaft, t);
    const dvec3 d = glm::normalize(shaft.tip - shaft.pivot);
    ASSERT_LT(glm::distance(frame.axes[2], -d), 1e-9) << test::words(motion);
    ASSERT_LT(glm::distance(frame.origin, shaft.tip + shaft.radius * d), 1e-9);
    InstrumentMotion unspun = motion;
    unspun.spin = 0.0;
    const dvec3 x = frame_at(unspun, t).axes[0];
    const double angle = std::atan2(glm::dot(glm::cross(x, frame.axes[0]), d), glm::dot(x, frame.axes[0]));
    ASSERT_NEAR(angle, motion.spin * t, 1e-9) << test::words(motion);
  });
}

TEST(PartMotion, TheHingeTurnsEachSideByHalfTheOpening) {
  PartShape jaw;
  jaw.corners = {{0.0, 0.001, 0.0}}, jaw.hinge_z = 0.016;
  for (const double side : {1.0, -1.0}) {
    jaw.side = side;
    const InstrumentMotion still = instrument_at_rest({{{0, 0, 0.2}, {0, 0, 0}, 0.0025}, 0.0, 0.8});
    const RigidFrame tool = tool_frame({{0, 0, 0.2}, {0, 0, 0}, 0.0025}, 0.0), frame = frame_at(still, jaw, 0.3);
    const dvec3 hinge = tool.to_world({0, 0, 0.016});
    EXPECT_NEAR(glm::distance(frame.to_world({0, 0, 0.016}), hinge), 0.0, 1e-15);
    EXPECT_NEAR(std::acos(glm::dot(frame.axes[2], tool.axes[2])), 0.4, 1e-12);
    // Side +1 opens towards +y: its end lies there.
    EXPECT_GT(side * glm::dot(frame.to_world({0, 0, 0}) - tool.origin, tool.axes[1]), 0.005);
  }
}

TEST(PartMotion, VelocityIsTheDerivativeAndStaysWithinTheBounds) {
  constexpr double kStep = 1e-5;
  test::for_every_motion(1304, 10000, [](Dice& dice, const InstrumentMotion& motion) {
    const PartShape shape = test::random_part(dice);
    const double t = dice.uniform(2.0 * kStep, 1.0 - 2.0 * kStep);
    const MotionBounds bounds = motion_bounds(motion, shape);
    const PartVelocity velocity = velocity_at(motion, shape, t);
    for (const dvec3& corner : shape.corners) {
      const auto at = [&](double time) { return frame_at(motion, shape, time).to_world(corner); };
      const dvec3 before = at(t - kStep), now = at(t), after = at(t + kStep);
      const dvec3 slope = (after - before) / (2.0 * kStep), exact = velocity.at(now);
      const double third = 1e-7 * bounds.speed + 20.0 * kStep * bounds.acceleration;
      ASSERT_LT(glm::distance(slope, exact), 1e-9 + third) << test::words(motion);
      ASSERT_LE(glm::length(exact), bounds.speed * (1.0 + 1e-9) + 1e-12) << test::words(motion);
      const double curvature = glm::length(velocity_at(motion, shape, t + kStep).at(after) -
                                           velocity_at(motion, shape, t - kStep).at(before)) /
                               (2.0 * kStep);
      ASSERT_LE(curvature, bounds.acceleration * (1.0 + 1e-6) + 1e-9) << test::words(motion);
    }
  });
}

// A tip that passes the trocar, or nearly, has no continuous motion: the parts rest in the end pose.
TEST(PartMotion, PastTheTrocarAPartRestsAtTheEnd) {
  const InstrumentPose before{{{0, 0, 0}, {0, 0, -0.1}, 0.0025}, 0.3, 0.2};
  for (const dvec3& tip : {dvec3(0, 0, 0.1), dvec3(1e-3, 0, -1e-3), dvec3(0.1, 0, 0.1)}) {
    const InstrumentPose after{{{0, 0, 0}, tip, 0.0025}, 0.1, 0.7};
    const InstrumentMotion motion = instrument_motion(before, after);
    for (const double t : {0.0, 0.5, 1.0})
      EXPECT_LT(difference(frame_at(motion, t), tool_frame(after.shaft, after.roll)), 1e-12);
    EXPECT_EQ(opening_at(motion, 0.0), 0.7);
  }
}

// The swing and its axis have closed forms, down to the angle below which the shaft keeps its direction.
TEST(PartMotion, SwingsByTheAngleBetweenTheShafts) {
  Dice dice(1306);
  std::printf("seed 1306\n");
  for (int i = 0; i < 2000; ++i) {
    const dvec3 d = dice.direction(), side = dice.across(d), pivot = dice.in_cube(1e-3);
    const double angle = dice.log_uniform(1e-11, 1.9), arm = dice.uniform(0.02, 0.3),
                 longer = arm * dice.uniform(1.0, 2.0);
    const InstrumentPose before{{pivot, pivot + arm * d, 0.0025}, 0.0, 0.0},
        after{{pivot, pivot + longer * (std::cos(angle) * d + std::sin(angle) * side), 0.0025}, 0.0, 0.0};
    const InstrumentMotion motion = instrument_motion(before, after);
    ASSERT_NEAR(motion.swing, angle, 1e-15 + 1e-14 * angle) << i;
    ASSERT_NEAR(glm::dot(motion.swing_axis, glm::cross(d, side)), 1.0, 1e-4) << i;
    ASSERT_NEAR(glm::length(motion.swing_axis), 1.0, 1e-12) << i;
  }
  const InstrumentPose before{{{0, 0, 0}, {0, 0, -0.2}, 0.0025}, 0.0, 0.0};
  for (const double tip : {0.0, 1e-14}) {
    const InstrumentMotion still = instrument_motion(before, {{{0, 0, 0}, {tip, 0, -0.2}, 0.0025}, 0.0, 0.0});
    EXPECT_EQ(still.swing, 0.0);
    EXPECT_EQ(still.swing_axis, dvec3(0.0));
  }
}

// The two limits beyond which a part rests at its end, from both sides.
TEST(PartMotion, MovesUpToTheLargestSwingAndDownToTheNearestTip) {
  const auto moves = [](const dvec3& from, const dvec3& to) {
    return instrument_motion({{{0, 0, 0}, from, 0.0025}, 0.0, 0.0}, {{{0, 0, 0}, to, 0.0025}, 0.0, 0.0})
               .shaft.tip_before == from;
  };
  for (const double angle : {0.0, 1.0, kLargestPartSwing - 1e-9})
    EXPECT_TRUE(moves({0.1, 0, 0}, {0.1 * std::cos(angle), 0.1 * std::sin(angle), 0})) << angle;
  for (const double angle : {kLargestPartSwing + 1e-9, 2.5, 3.0})
    EXPECT_FALSE(moves({0.1, 0, 0}, {0.1 * std::cos(angle), 0.1 * std::sin(angle), 0})) << angle;
  for (const double slack : {1e-9, 1e-3}) {
    const double far = kNearestToPivot + slack, near = kNearestToPivot - slack;
    EXPECT_TRUE(moves({0.003, far, 0}, {-0.003, far, 0}));  // nearest between the ends
    EXPECT_FALSE(moves({0.003, near, 0}, {-0.003, near, 0}));
    EXPECT_TRUE(moves({0, far, 0}, {0, 0.1, 0}));  // nearest at one end
    EXPECT_FALSE(moves({0, near, 0}, {0, 0.1, 0}));
    EXPECT_TRUE(moves({0, 0.1, 0}, {0, far, 0}));
    EXPECT_FALSE(moves({0, 0.1, 0}, {0, near, 0}));
  }
}

// A point is pivot + S Z (h - D e). Its bounds for motions with one rate each, or all: the first derivative is the sum
// of rate times arm, the second that of squared rates times arms, of own accelerations, and twice each pair of rates.
TEST(PartMotion, BoundsOfHandMadeMotions) {
  constexpr double kTip = 0.16, kHalfStep = 0.012, kRadius = 0.0025;
  PartShape shape;
  shape.corners = {{0.003, -0.004, 0.02}, {0.001, 0.0, 0.001}, {0.0, 0.002, -0.001}}, shape.hinge_z = 0.015;
  const double to_hinge = glm::length(dvec3(0.003, -0.004, 0.005)), far_hinge = glm::length(dvec3(0.0, 0.002, -0.016));
  for (int kind = 0; kind < 16; ++kind) {
    const bool swings = kind & 1, spins = kind & 2, slides = kind & 8;
    shape.side = kind & 4 ? -1.0 : 0.0;
    // The tip moves across the shaft, past its nearest point, or along the shaft.
    dvec3 from(0, 0, -kTip), to = from;
    if (swings) from.x = -kHalfStep, to.x = kHalfStep;
    if (slides && !swings) to.z -= 0.02;
    const double moved = glm::distance(from, to), farthest = std::max(glm::length(from), glm::length(to));
    InstrumentMotion motion =
        instrument_motion({{{0, 0, 0}, from, kRadius}, 0.0, 0.3}, {{{0, 0, 0}, to, kRadius}, 0.0, 1.1});
    motion.spin = spins ? -0.7 : 0.0;
    const bool opens = shape.side != 0.0;
    const double from_hinge = std::max(to_hinge, far_hinge);
    const double arm = farthest + kRadius + (opens ? 0.015 + from_hinge : glm::length(shape.corners[0]));
    const double across = opens ? from_hinge : 0.005;
    const double swing = swings ? moved / kTip : 0.0, spin = spins ? 0.7 : 0.0, turn = opens ? 0.4 : 0.0;
    const double speeds[] = {swing * arm, spin * across, turn * from_hinge, moved};
    const double slide_acceleration = moved * moved / kTip, swing_acceleration = 2.0 * swing * moved / kTip * arm;
    const double pairs = swing * (speeds[1] + speeds[2] + speeds[3]) + spin * speeds[2];
    const MotionBounds bounds = motion_bounds(motion, shape);
    // Across the shaft the tip comes nearer and moves away again, fastest at the ends.
    const double slide = swings ? moved * kHalfStep / farthest : moved;
    EXPECT_NEAR(bounds.speed, speeds[0] + speeds[1] + speeds[2] + slide, 1e-15) << kind;
    EXPECT_NEAR(
        bounds.acceleration,
        swing * speeds[0] + spin * speeds[1] + turn * speeds[2] + slide_acceleration + swing_acceleration + 2.0 * pairs,
        1e-15)
        << kind;
  }
}

// Without a swing the bound of the speed is the speed of the fastest corner.
TEST(PartMotion, BoundOfTheSpeedIsTightWithoutASwing) {
  test::for_every_motion(1307, 2000, [](Dice& dice, const InstrumentMotion& moving) {
    PartShape shape = test::random_part(dice);
    InstrumentMotion motion = instrument_at_rest({pose_at(moving.shaft, 1.0), 0.0, 0.2});
    if (dice.pick(2)) {
      shape.side = 0.0, motion.spin = dice.uniform(-3.0, 3.0);
    } else {
      motion.opening_after = dice.uniform(-1.0, 1.0);
      for (dvec3& corner : shape.corners) corner.x = 0.0;  // the hinge is parallel to x
    }
    double fastest = 0.0;
    const PartVelocity velocity = velocity_at(motion, shape, 0.5);
    for (const dvec3& corner : shape.corners)
      fastest = std::max(fastest, glm::length(velocity.at(frame_at(motion, shape, 0.5).to_world(corner))));
    ASSERT_NEAR(motion_bounds(motion, shape).speed, fastest, 1e-12) << test::words(motion);
  });
}

// The volumes of a moving part contain every point that it passes: sampled over random parts and motions, and over
// every switch of case. Camera and half-spaces are those of a box (tests/geometry/tool_volume_test.cpp).

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
  shape.corners = {{0.001, 0.002, 0.0}, {-0.001, 0.0, 0.008}}, shape.radius = 0.0005;
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
  shape.corners = {{0.008, 0.0, 0.0}}, shape.radius = 0.0005;
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

// Compares the exact test of a moving part with the reference, with dense sampling in time, and with the test of a
// shaft where the two coincide.

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
    capsule.corners = {{0, 0, radius}, {0, 0, radius + length}}, capsule.radius = radius;
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
  ball.corners = {{0, 0, 0}}, ball.faces = {{0, 0, 0}}, ball.radius = 0.002;
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
  ball.corners = {{0, 0, 0}}, ball.faces = {{0, 0, 0}}, ball.radius = 0.002;
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
      if (refine_touch(volume.step, face, touch))
        expected.push_back(touch);
      else
        ++apart;
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

// Tests moving triangles on named cases, on meetings that are exact in binary fractions (also in nearly one plane), and
// on random motions, compared with dense sampling by the exact test.

constexpr double kTolerance = 1e-8;
constexpr double kSampled = 1e-12;  // m  rounding of the distances that check the answers

MovingPoint still(const dvec3& p) { return {p, p}; }

TEST(MotionCrossing, CornerThroughFace) {
  const MovingPoint a = still({0, 0, 0}), b = still({1, 0, 0}), c = still({0, 1, 0});
  const auto through = corner_meets_face({{0.2, 0.2, 1}, {0.2, 0.2, -3}}, a, b, c, kTolerance);
  ASSERT_TRUE(through);
  EXPECT_NEAR(through->time, 0.25, 1e-6);
  EXPECT_LE(through->time, 0.25);
  EXPECT_LE(through->apart, kTolerance);
  EXPECT_TRUE(corner_meets_face({{0.5, 0.5, 1}, {0.5, 0.5, -1}}, a, b, c, kTolerance));     // through the long side
  EXPECT_TRUE(corner_meets_face({{0, 0, 1}, {0, 0, 0}}, a, b, c, kTolerance));              // ends on a corner
  EXPECT_FALSE(corner_meets_face({{0.6, 0.6, 1}, {0.6, 0.6, -1}}, a, b, c, kTolerance));    // beside it
  EXPECT_FALSE(corner_meets_face({{0.2, 0.2, 1}, {0.2, 0.2, 1e-6}}, a, b, c, kTolerance));  // stops short
  EXPECT_TRUE(corner_meets_face(still({0.2, 0.2, 0}), a, b, c, kTolerance));                // lies on it
  EXPECT_FALSE(corner_meets_face(still({0.2, 0.2, 1}), a, b, c, kTolerance));
}

TEST(MotionCrossing, EdgeThroughEdge) {
  const MovingPoint a = still({-1, 0, 0}), b = still({1, 0, 0});
  const auto crossing = edge_meets_edge(a, b, {{0, -1, 1}, {0, -1, -1}}, {{0, 1, 1}, {0, 1, -1}}, kTolerance);
  ASSERT_TRUE(crossing);
  EXPECT_NEAR(crossing->time, 0.5, 1e-6);
  EXPECT_FALSE(edge_meets_edge(a, b, {{2, -1, 1}, {2, -1, -1}}, {{2, 1, 1}, {2, 1, -1}}, kTolerance));
  // These are two parallel edges that slide onto each other, and edges without length.
  EXPECT_TRUE(edge_meets_edge(a, b, {{-1, 1, 0}, {-1, -1, 0}}, {{1, 1, 0}, {1, -1, 0}}, kTolerance));
  EXPECT_TRUE(edge_meets_edge(a, a, {{-1, 1, 0}, {-1, -1, 0}}, {{-1, 1, 0}, {-1, -1, 0}}, kTolerance));
  EXPECT_FALSE(edge_meets_edge(a, a, still({1, 0, 0}), still({1, 1, 0}), kTolerance));
}

dvec3 between(const dvec3& a, const dvec3& b, double t) { return a + t * (b - a); }
Triangle at(const MovingTriangle& m, double t) {
  return {between(m.before.a, m.after.a, t), between(m.before.b, m.after.b, t), between(m.before.c, m.after.c, t)};
}

// Points and velocities that are multiples of 1/64, with the last axis multiplied by `flatness`, then sheared so that
// the nearly common plane is oblique to the axes: every position of a motion is exact in double.
struct ExactDice {
  Dice dice;
  double flatness;

  int whole(int most) { return dice.pick(2 * most + 1) - most; }
  dvec3 vector(int most) { return dvec3(whole(most), whole(most), whole(most) * flatness) / 64.0; }
  // A moving point that is at `position` at `time`.
  MovingPoint through(const dvec3& position, double time) {
    const dvec3 velocity = vector(64);
    return {sheared(position - time * velocity), sheared(position + (1.0 - time) * velocity)};
  }
  static dvec3 sheared(const dvec3& p) { return {p.x, p.y - p.x, p.z + p.x + 2.0 * p.y}; }
};

struct ExactMeeting {
  double time;
  std::array<MovingPoint, 4> points;
};

// The first point meets the triangle of the others.
ExactMeeting corner_on_face(ExactDice& dice) {
  const double time = dice.dice.pick(17) / 16.0;
  const dvec3 a = dice.vector(64), b = dice.vector(64), c = dice.vector(64);
  const int u = dice.dice.pick(9), v = dice.dice.pick(9 - u);
  const dvec3 at = a + u / 8.0 * (b - a) + v / 8.0 * (c - a);
  return {time, {dice.through(at, time), dice.through(a, time), dice.through(b, time), dice.through(c, time)}};
}

// The edge of the first two points meets the edge of the last two.
ExactMeeting edge_on_edge(ExactDice& dice) {
  const double time = dice.dice.pick(17) / 16.0;
  const dvec3 a = dice.vector(64), b = dice.vector(64), along = 8.0 * dice.vector(8);
  const dvec3 at = a + dice.dice.pick(9) / 8.0 * (b - a), c = at - dice.dice.pick(9) / 8.0 * along;
  return {time, {dice.through(a, time), dice.through(b, time), dice.through(c, time), dice.through(c + along, time)}};
}

dvec3 position_at(const MovingPoint& p, double time) { return p.before + time * (p.after - p.before); }

double distance_at(const ExactMeeting& made, bool edges, double time) {
  const auto& p = made.points;
  const dvec3 q[] = {position_at(p[0], time), position_at(p[1], time), position_at(p[2], time),
                     position_at(p[3], time)};
  return edges ? closest_triangles({q[0], q[1], q[1]}, {q[2], q[3], q[3]}).distance
               : closest_segment_triangle(q[0], q[0], {q[1], q[2], q[3]}).distance;
}

constexpr double kFlatnesses[] = {1.0, 0x1p-8, 0x1p-16, 0x1p-24, 0x1p-30, 0.0};
constexpr int kExactCases = 4000;  // of each flatness

// No meeting is missed or late, and the features are at most as far apart as reported: the tolerance, except for a few
// motions within nearly one plane.
constexpr double kMostBeyond = 0.005;  // 1  of all cases

TEST(MotionCrossing, ExactMeetingsOfFeatures) {
  std::printf("seed 31\n");
  double most = 0.0;
  int beyond = 0;
  for (const double flatness : kFlatnesses) {
    ExactDice dice{Dice(31), flatness};
    for (int k = 0; k < kExactCases; ++k) {
      const bool edges = k % 2;
      const ExactMeeting made = edges ? edge_on_edge(dice) : corner_on_face(dice);
      const auto& p = made.points;
      const auto met = edges ? edge_meets_edge(p[0], p[1], p[2], p[3], kTolerance)
                             : corner_meets_face(p[0], p[1], p[2], p[3], kTolerance);
      ASSERT_TRUE(met) << "flatness " << flatness << ", case " << k;
      ASSERT_LE(met->time, made.time) << "flatness " << flatness << ", case " << k;
      const double apart = distance_at(made, edges, met->time);
      ASSERT_LE(apart, met->apart + kSampled) << "flatness " << flatness << ", case " << k;
      beyond += met->apart > kTolerance;
      most = std::max(most, apart);
    }
  }
  const auto cases = static_cast<int>(std::size(kFlatnesses)) * kExactCases;
  EXPECT_LE(beyond, kMostBeyond * cases);
  std::printf("%d cases, %d of them reported farther apart than the tolerance; at most %.1e m apart\n", cases, beyond,
              most);
}

TEST(MotionCrossing, ExactMeetingsOfTriangles) {
  std::printf("seed 32\n");
  int cases = 0, beyond = 0;
  for (const double flatness : kFlatnesses) {
    ExactDice dice{Dice(32), flatness};
    for (int k = 0; k < kExactCases / 4; ++k) {
      const bool edges = k % 2;
      const ExactMeeting made = edges ? edge_on_edge(dice) : corner_on_face(dice);
      const MovingPoint more[] = {dice.through(dice.vector(64), made.time), dice.through(dice.vector(64), made.time)};
      const auto triangle = [](const MovingPoint& a, const MovingPoint& b, const MovingPoint& c) {
        return MovingTriangle{{a.before, b.before, c.before}, {a.after, b.after, c.after}};
      };
      const auto& p = made.points;
      const MovingTriangle first = edges ? triangle(p[0], p[1], more[0]) : triangle(p[0], more[0], more[1]);
      const MovingTriangle second = edges ? triangle(p[2], p[3], more[1]) : triangle(p[1], p[2], p[3]);
      const auto met = triangles_meet(first, second, kTolerance);
      ASSERT_TRUE(met && triangles_meet_at_all(first, second, kTolerance)) << flatness << ", case " << k;
      ASSERT_LE(met->time, made.time) << "flatness " << flatness << ", case " << k;
      ASSERT_LE(closest_triangles(at(first, met->time), at(second, met->time)).distance, met->apart + kSampled)
          << "flatness " << flatness << ", case " << k;
      ++cases;
      beyond += met->apart > kTolerance;
    }
  }
  EXPECT_LE(beyond, kMostBeyond * cases);
  std::printf("%d cases, %d of them reported farther apart than the tolerance\n", cases, beyond);
}

TEST(MotionCrossing, RandomMotionsAgainstSampling) {
  Dice dice(9);
  int meetings = 0, apart = 0;
  for (int k = 0; k < 6000; ++k) {
    const auto triangle = [&](const dvec3& centre) {
      return Triangle{centre + dice.in_cube(0.3), centre + dice.in_cube(0.3), centre + dice.in_cube(0.3)};
    };
    const dvec3 goal = dice.in_cube(0.5);
    const MovingTriangle first{triangle(dice.in_cube(0.2)), triangle(dice.in_cube(0.2))},
        second{triangle(goal + dice.direction()), triangle(goal - dice.direction())};
    double least = 1e30, first_meeting = 2.0;
    for (int i = 0; i <= 400; ++i) {
      const double time = i / 400.0, gap = closest_triangles(at(first, time), at(second, time)).distance;
      least = std::min(least, gap);
      if (gap == 0.0) first_meeting = std::min(first_meeting, time);
    }
    if (closest_triangles(first.before, second.before).distance == 0.0) continue;
    const auto met = triangles_meet(first, second, kTolerance);
    ASSERT_EQ(met.has_value(), triangles_meet_at_all(first, second, kTolerance)) << "seed 9, case " << k;
    if (first_meeting <= 1.0) {
      ASSERT_TRUE(met) << "seed 9, case " << k;
      ASSERT_LE(met->time, first_meeting) << "seed 9, case " << k;
      ++meetings;
    }
    // Samples are at most 1/800 of the motion from the time of meeting.
    ASSERT_FALSE(least > 0.02 && met) << "seed 9, case " << k;
    if (!met) ++apart;
    if (!met) continue;
    ASSERT_LE(closest_triangles(at(first, met->time), at(second, met->time)).distance, kTolerance + kSampled)
        << "seed 9, case " << k;
  }
  EXPECT_GT(meetings, 200);
  EXPECT_GT(apart, 300);
  std::printf("%d met, %d did not\n", meetings, apart);
}

// Tests the filters of moving triangles one by one. A filter that lets more pairs through changes no usual answer,
// since the search decides them; here the tolerance is so large that the search accepts everything that reaches it.
// Also pins the answers of searches that end at their limit, and tests the allowance for rounding.

namespace motion_crossing_filters_test {

constexpr std::uint32_t kSeed = 271;
constexpr double kEverything = 1e3;  // m  a tolerance above every distance here
constexpr double kGapRounding = 1.6e-14;

using Corners = std::array<MovingPoint, 3>;

dvec3 position_at(const MovingPoint& p, double time) { return p.before + time * (p.after - p.before); }
MovingPoint still(const dvec3& p) { return {p, p}; }

MovingTriangle triangle_of(const Corners& p) {
  return {{p[0].before, p[1].before, p[2].before}, {p[0].after, p[1].after, p[2].after}};
}

// ---- twin of the test for separation throughout the step ----

bool separates(const Corners& p, const Corners& q, const dvec3& direction) {
  bool p_above = true, q_above = true;
  for (const double time : {0.0, 1.0})
    for (const MovingPoint& a : p)
      for (const MovingPoint& b : q) {
        const double height = glm::dot(position_at(a, time) - position_at(b, time), direction);
        p_above = p_above && height > 0.0;
        q_above = q_above && height < 0.0;
      }
  return p_above || q_above;
}

bool separated_at_once(const Corners& p, const Corners& q) {
  std::vector<dvec3> directions{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  std::array<dvec3, 3> a, b;
  dvec3 apart(0.0);
  for (std::size_t k = 0; k < 3; ++k) {
    a[k] = position_at(p[k], 0.5), b[k] = position_at(q[k], 0.5);
    apart += b[k] - a[k];
  }
  const dvec3 normal_a = glm::cross(a[1] - a[0], a[2] - a[0]), normal_b = glm::cross(b[1] - b[0], b[2] - b[0]);
  directions.insert(directions.end(), {apart, normal_a, normal_b});
  for (std::size_t k = 0; k < 3; ++k) {
    const dvec3 side_a = a[(k + 1) % 3] - a[k];
    directions.push_back(glm::cross(side_a, normal_a));
    directions.push_back(glm::cross(b[(k + 1) % 3] - b[k], normal_b));
    for (std::size_t l = 0; l < 3; ++l) directions.push_back(glm::cross(side_a, b[(l + 1) % 3] - b[l]));
  }
  return std::any_of(directions.begin(), directions.end(), [&](const dvec3& d) { return separates(p, q, d); });
}

Corners part_of(const Corners& p, double from, double to) {
  Corners part;
  for (std::size_t k = 0; k < 3; ++k) part[k] = {position_at(p[k], from), position_at(p[k], to)};
  return part;
}

// Throughout the step, or throughout each half, six times.
bool separated(const Corners& p, const Corners& q, int halvings = 6) {
  if (separated_at_once(p, q)) return true;
  return halvings > 0 && separated(part_of(p, 0.0, 0.5), part_of(q, 0.0, 0.5), halvings - 1) &&
         separated(part_of(p, 0.5, 1.0), part_of(q, 0.5, 1.0), halvings - 1);
}

bool any_feature_meets(const Corners& p, const Corners& q) {
  for (std::size_t k = 0; k < 3; ++k) {
    if (corner_meets_face(p[k], q[0], q[1], q[2], kEverything)) return true;
    if (corner_meets_face(q[k], p[0], p[1], p[2], kEverything)) return true;
    for (std::size_t l = 0; l < 3; ++l)
      if (edge_meets_edge(p[k], p[(k + 1) % 3], q[l], q[(l + 1) % 3], kEverything)) return true;
  }
  return false;
}

// Triangles that pass each other closely: separated along an axis of any kind, early, late or throughout, or not.
TEST(MotionCrossingFilters, TrianglesAreSeparatedAsByTheTwin) {
  Dice dice(kSeed);
  int apart = 0, apart_by_halves = 0, together = 0, proofs = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    Corners p, q;
    const double far = dice.uniform(0.0, 1.5);
    const dvec3 drift = far * dice.direction();
    const double aside = dice.uniform(0.0, 1.2);
    const dvec3 start = aside * dice.direction();
    const double bend = trial % 3 ? 0.05 : 0.8, flat = trial % 4 ? 1.0 : 1e-3;
    for (std::size_t k = 0; k < 3; ++k) {
      p[k].before = dice.in_cube(0.6), p[k].after = p[k].before + dice.in_cube(bend);
      q[k].before = start + dice.in_cube(0.6) * dvec3(1, 1, flat),
      q[k].after = q[k].before + drift + dice.in_cube(bend);
    }
    const bool expected = !separated(p, q) && any_feature_meets(p, q);
    ASSERT_EQ(triangles_meet(triangle_of(p), triangle_of(q), kEverything).has_value(), expected) << "trial " << trial;
    ASSERT_EQ(triangles_meet_at_all(triangle_of(p), triangle_of(q), kEverything), expected) << "trial " << trial;
    ASSERT_EQ(one_direction_separates(triangle_of(p), triangle_of(q)), separated_at_once(p, q)) << "trial " << trial;
    const bool proof = newton_finds_a_meeting(triangle_of(p), triangle_of(q));
    ASSERT_TRUE(expected || !proof) << "trial " << trial;
    ++(expected ? together : apart);
    proofs += proof;
    apart_by_halves += separated(p, q) && !separated_at_once(p, q);
  }
  EXPECT_GT(apart, 1000);
  EXPECT_GT(together, 1000);
  EXPECT_GT(apart_by_halves, 50);
  EXPECT_EQ(proofs, 1336) << "Newton's method starts in the middle of the domain and makes eight steps";
}

// Newton's method proves a meeting for each kind of pair of features, at any time of the step.
TEST(MotionCrossingFilters, NewtonFindsMeetings) {
  Dice dice(kSeed + 5);
  int found = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    // The corners of a large triangle stay away; the other one passes through it, or beside it.
    const dvec3 through = dice.in_cube(0.5), direction = dice.direction();
    const double time = dice.uniform(0.05, 0.95);
    Corners p, q;
    for (std::size_t k = 0; k < 3; ++k) {
      p[k].before = dice.in_cube(1.0), p[k].after = p[k].before + dice.in_cube(0.1);
      const dvec3 at = through + dice.in_cube(0.2);
      q[k] = {at - time * direction, at + (1.0 - time) * direction + dice.in_cube(0.05)};
    }
    const bool proof = newton_finds_a_meeting(triangle_of(p), triangle_of(q));
    found += proof;
    if (proof) {
      ASSERT_TRUE(triangles_meet(triangle_of(p), triangle_of(q), 1e-9)) << "trial " << trial;
    }
  }
  EXPECT_EQ(found, 617);
}

// ---- twin of the test whether a gap may be zero ----

// The gap base + u along_u + v along_v at the corners of the domain of time, u and v.
bool excludes_zero(const MovingPoint& base, const MovingPoint& along_u, const MovingPoint& along_v) {
  std::vector<dvec3> values;
  dvec3 sum(0.0);
  for (const double time : {0.0, 1.0})
    for (const double u : {0.0, 1.0})
      for (const double v : {0.0, 1.0}) {
        values.push_back(position_at(base, time) + u * position_at(along_u, time) + v * position_at(along_v, time));
        sum += values.back();
      }
  const dvec3 u = position_at(along_u, 0.5), v = position_at(along_v, 0.5), normal = glm::cross(u, v);
  for (const dvec3& direction :
       {dvec3(1, 0, 0), dvec3(0, 1, 0), dvec3(0, 0, 1), sum, normal, glm::cross(normal, u), glm::cross(normal, v)}) {
    const auto above = [&](const dvec3& value) { return glm::dot(value, direction) > 0.0; };
    const auto below = [&](const dvec3& value) { return glm::dot(value, direction) < 0.0; };
    if (std::all_of(values.begin(), values.end(), above) || std::all_of(values.begin(), values.end(), below))
      return true;
  }
  return false;
}

MovingPoint from_to(const MovingPoint& from, const MovingPoint& to) {
  return {to.before - from.before, to.after - from.after};
}

TEST(MotionCrossingFilters, GapsExcludeZeroAsByTheTwin) {
  Dice dice(kSeed + 1);
  int counts[2][2] = {};
  for (int trial = 0; trial < 20000; ++trial) {
    std::array<MovingPoint, 4> p;
    const dvec3 away = dice.uniform(0.0, 1.5) * dice.direction();
    const double flat = trial % 3 ? 1.0 : 1e-2;
    for (MovingPoint& point : p)
      point.before = dice.in_cube(0.6) * dvec3(1, 1, flat), point.after = point.before + dice.in_cube(0.2);
    p[0].before += away, p[0].after += away;
    const bool corner = excludes_zero(from_to(p[0], p[1]), from_to(p[1], p[2]), from_to(p[1], p[3]));
    const auto met = corner_meets_face(p[0], p[1], p[2], p[3], kEverything);
    ASSERT_EQ(met.has_value(), !corner) << "trial " << trial;
    ++counts[0][corner];
    p[1].before += away, p[1].after += away;
    const bool edge = excludes_zero(from_to(p[2], p[0]), from_to(p[0], p[1]), from_to(p[3], p[2]));
    const auto crossed = edge_meets_edge(p[0], p[1], p[2], p[3], kEverything);
    ASSERT_EQ(crossed.has_value(), !edge) << "trial " << trial;
    ++counts[1][edge];
    for (const auto& meeting : {met, crossed}) {
      if (!meeting) continue;
      ASSERT_EQ(meeting->time, 0.0);
      ASSERT_EQ(meeting->apart, kEverything);
    }
  }
  for (const auto& of_kind : counts)
    for (const int count : of_kind) EXPECT_GT(count, 500);
}

// ---- rounding ----

dvec3 turned(const dvec3& p, int by) { return by == 0 ? p : by == 1 ? dvec3(p.z, p.x, p.y) : dvec3(p.y, p.z, p.x); }

// A corner that rests above a face by less than the rounding of the largest coordinate meets it.
TEST(MotionCrossingFilters, AllowsForTheRoundingOfTheLargestCoordinate) {
  for (int turn = 0; turn < 3; ++turn)
    for (const double side : {1.0, -1.0})
      for (int far = -1; far < 16; ++far) {
        // One coordinate of one position is 1000 m, in the plane of the face.
        const double largest = far < 0 ? 1.0 : 1000.0;
        for (const auto& [share, meets] : {std::pair{0.95, true}, {1.05, false}}) {
          const double height = side * share * kGapRounding * largest;
          std::array<MovingPoint, 4> p{still({0.2, 0.2, height}), still({0, 0, 0}), still({1, 0, 0}), still({0, 1, 0})};
          if (far >= 0) {
            MovingPoint& point = p[static_cast<std::size_t>(far / 4)];
            // Only motions that keep the corner above the face at the other end of the step.
            (far % 2 ? point.before : point.after)[far / 2 % 2] = far < 8 ? -1000.0 : 1000.0;
          }
          for (MovingPoint& point : p) point = {turned(point.before, turn), turned(point.after, turn)};
          const auto met = corner_meets_face(p[0], p[1], p[2], p[3], 1.0);
          ASSERT_EQ(met.has_value(), meets) << "turn " << turn << ", side " << side << ", far " << far;
        }
      }
}

TEST(MotionCrossingFilters, AllowsForRoundingAlongObliqueNormals) {
  for (const double side : {1.0, -1.0})
    for (const auto& [share, meets] : {std::pair{0.95, true}, {1.05, false}}) {
      const dvec3 shift(side * share * kGapRounding);
      const Corners face{still({1, 0, 0}), still({0, 1, 0}), still({0, 0, 1})};
      EXPECT_EQ(corner_meets_face(still(dvec3(0.25, 0.25, 0.5) + shift), face[0], face[1], face[2], 1.0).has_value(),
                meets);
      Corners above = face;
      for (MovingPoint& point : above) point = still(point.before + shift);
      EXPECT_EQ(triangles_meet(triangle_of(face), triangle_of(above), 1.0).has_value(), meets);
      EXPECT_EQ(triangles_meet_at_all(triangle_of(face), triangle_of(above), 1.0), meets);
    }
}

// Triangles at rest, one just above the other, where one corner of one of them is 1000 m away: its rounding counts.
TEST(MotionCrossingFilters, AllowsForTheRoundingOfEachCorner) {
  for (std::size_t far = 0; far < 6; ++far)
    for (const auto& [share, meets] : {std::pair{0.95, true}, {1.05, false}}) {
      const double height = share * kGapRounding * 1000.0;
      Corners low{still({0, 0, 0}), still({1, 0, 0}), still({0, 1, 0})}, high = low;
      for (MovingPoint& point : high) point = still(point.before + dvec3(0.0, 0.0, height));
      MovingPoint& moved = far < 3 ? low[far] : high[far - 3];
      moved = still(dvec3(far % 3 == 1 ? 1000.0 : -1000.0, far % 3 == 2 ? 900.0 : -900.0, moved.before.z));
      EXPECT_EQ(triangles_meet(triangle_of(low), triangle_of(high), 1.0).has_value(), meets) << "corner " << far;
      EXPECT_EQ(triangles_meet_at_all(triangle_of(low), triangle_of(high), 1.0), meets) << "corner " << far;
    }
}

// ---- answers of searches, pinned: IEEE arithmetic gives the same on every machine ----

struct Sums {
  int meetings = 0;
  double time = 0.0, apart = 0.0;

  void add(const std::optional<Meeting>& met) {
    if (!met) return;
    ++meetings;
    time += met->time;
    apart += met->apart;
  }
};

std::array<MovingPoint, 4> random_points(Dice& dice, double flatness) {
  std::array<MovingPoint, 4> p;
  for (MovingPoint& point : p) {
    point.before = dice.in_cube(0.5) * dvec3(1, 1, flatness), point.after = dice.in_cube(0.5) * dvec3(1, 1, flatness);
    for (dvec3* at : {&point.before, &point.after}) *at = {at->x, at->y - at->x, at->z + at->x + 2.0 * at->y};
  }
  return p;
}

struct Pinned {
  double flatness, tolerance;
  int trials;
  Sums corners, edges;
};

void expect_sums(const Sums& sums, const Sums& expected) {
  EXPECT_EQ(sums.meetings, expected.meetings);
  EXPECT_NEAR(sums.time, expected.time, 1e-10 * expected.time);
  EXPECT_NEAR(sums.apart, expected.apart, 1e-8 * expected.apart);
}

TEST(MotionCrossingFilters, SearchesGiveThePinnedMeetings) {
  const Pinned pinned[] = {
      {1.0, 0.05, 2000, {175, 88.505859375, 8.75}, {441, 221.732421875, 22.05}},
      {1.0, 1e-6, 500, {47, 23.2753887177, 4.7e-05}, {123, 58.2759450078, 0.000123}},
      {1.0, 0.0, 300, {29, 14.0168462903, 9.87728533713e-13}, {76, 36.1526790932, 2.63581083297e-12}},
      {0.0, 0.0, 12, {8, 4.24335229788, 2.27188745434e-13}, {10, 4.14142902519, 2.95730471056e-13}},
      {1e-11, 1e-9, 40, {5, 2.09756742552, 5e-09}, {12, 6.64817477297, 1.2e-08}},
      {0.0, 1e-9, 40, {23, 9.81116698333, 2.3e-08}, {27, 9.85392698803, 2.7e-08}},  // within one oblique plane
  };
  for (const Pinned& expected : pinned) {
    SCOPED_TRACE(testing::Message() << "flatness " << expected.flatness << ", tolerance " << expected.tolerance);
    Dice dice(kSeed + 2);
    Sums corners, edges;
    for (int trial = 0; trial < expected.trials; ++trial) {
      const auto p = random_points(dice, expected.flatness);
      corners.add(corner_meets_face(p[0], p[1], p[2], p[3], expected.tolerance));
      edges.add(edge_meets_edge(p[0], p[1], p[2], p[3], expected.tolerance));
    }
    expect_sums(corners, expected.corners);
    expect_sums(edges, expected.edges);
  }
}

}  // namespace motion_crossing_filters_test

// Tests the meetings of two moving meshes against all pairs of faces, and on cases with a known first contact.

struct Moved {
  TriangleMesh mesh;
  std::vector<glm::vec3> after;

  MovingMesh motion() const { return {mesh.positions, after, mesh.faces}; }
};

Moved moved(TriangleMesh mesh, const glm::vec3& by) {
  Moved result{std::move(mesh), {}};
  for (const glm::vec3& p : result.mesh.positions) result.after.push_back(p + by);
  return result;
}

TEST(MeshesMeet, TwoCubesMeetWhenTheirSidesDo) {
  // The gap between their sides is 0.04 m, and the first moves by 0.1 m.
  const Moved left = moved(shapes::cube(0.1f, {-0.07f, 0.f, 0.f}), {0.1f, 0.f, 0.f});
  const Moved right = moved(shapes::cube(0.1f, {0.07f, 0.01f, 0.013f}), glm::vec3(0.f));
  const auto meetings = meshes_meet(left.motion(), right.motion());
  const auto contact = first_contact(meetings);
  ASSERT_TRUE(contact);
  EXPECT_LE(contact->time, 0.4 + 1e-6);
  EXPECT_GT(contact->time, 0.4 - 1e-4);
  EXPECT_LE(contact->apart, 1e-6);
  EXPECT_TRUE(meshes_meet(right.motion(), right.motion()).size() > 0) << "equal meshes touch at the start";
}

TEST(MeshesMeet, WhatCrossesAtTheStartMeetsAtTimeZero) {
  const Moved a = moved(shapes::icosphere(2, 0.05f), glm::vec3(0.f));
  const Moved b = moved(shapes::icosphere(2, 0.05f, {0.04f, 0.f, 0.f}), {0.001f, 0.f, 0.f});
  const auto meetings = meshes_meet(a.motion(), b.motion());
  ASSERT_FALSE(meetings.empty());
  EXPECT_EQ(first_contact(meetings)->time, 0.0);
}

TEST(MeshesMeet, MeshesThatPassAtADistanceOrAreEmptyDoNotMeet) {
  const Moved a = moved(shapes::cube(0.1f), {0.3f, 0.f, 0.f});
  const Moved b = moved(shapes::cube(0.1f, {0.15f, 0.1003f, 0.f}), glm::vec3(0.f));
  EXPECT_TRUE(meshes_meet(a.motion(), b.motion()).empty());
  EXPECT_TRUE(meshes_meet(a.motion(), {}).empty());
  EXPECT_FALSE(first_contact({}));
}

// The same pairs as a test of all pairs, for meshes that deform at random.
TEST(MeshesMeet, FindsThePairsOfAllPairs) {
  for (const std::uint32_t seed : {1u, 2u, 3u, 4u}) {
    std::mt19937 random(seed);
    const auto number = [&](float most) { return most * (2.f * static_cast<float>(random() >> 8) / 16777216.f - 1.f); };
    const auto deformed = [&](TriangleMesh mesh, const glm::vec3& by) {
      Moved result = moved(std::move(mesh), by);
      for (glm::vec3& p : result.after)
        for (int axis = 0; axis < 3; ++axis) p[axis] += number(0.01f);
      return result;
    };
    const Moved a = deformed(shapes::icosphere(2, 0.05f), {0.03f, 0.f, 0.f});
    const Moved b = deformed(shapes::random_soup(seed, 200, 0.2f, 0.03f), {-0.01f, 0.005f, 0.f});
    const auto meetings = meshes_meet(a.motion(), b.motion());
    std::size_t next = 0, at_start = 0;
    for (std::uint32_t f = 0; f < a.mesh.faces.size(); ++f)
      for (std::uint32_t g = 0; g < b.mesh.faces.size(); ++g) {
        glm::vec3 first[3], second[3];
        for (int k = 0; k < 3; ++k) {
          first[k] = a.mesh.positions[a.mesh.faces[f][k]];
          second[k] = b.mesh.positions[b.mesh.faces[g][k]];
        }
        const bool crosses = solids::faces_cross_exactly(first, second);
        const auto meeting = triangles_meet(
            {triangle_of(a.mesh.positions, a.mesh.faces[f]), triangle_of(a.after, a.mesh.faces[f])},
            {triangle_of(b.mesh.positions, b.mesh.faces[g]), triangle_of(b.after, b.mesh.faces[g])}, 1e-6);
        if (!crosses && !meeting) continue;
        ASSERT_LT(next, meetings.size()) << "seed " << seed << ": pair " << f << ", " << g << " is missing";
        EXPECT_EQ(meetings[next].first, FaceId(f));
        EXPECT_EQ(meetings[next].second, FaceId(g));
        EXPECT_EQ(meetings[next].time, crosses ? 0.0 : meeting->time);
        at_start += crosses ? 1 : 0;
        ++next;
      }
    EXPECT_EQ(next, meetings.size());
    EXPECT_GT(next, at_start + 10) << "seed " << seed << ": the case must have meetings during the motion";
  }
}

}  // namespace
}  // namespace trocar

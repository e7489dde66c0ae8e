// Compares tool volumes with their definition: the capsule cover contains the true sweep, every plane touches it, and
// the cameras, evaluated in float as in OpenGL, classify points in the same way as the half-spaces. Also tests invalid
// poses, the frame of a tool, the clip of a face by a volume, and view pyramids.
#include "geometry/tool_volume.hpp"

#include <glm/gtc/matrix_transform.hpp>

#include "geometry/error.hpp"
#include "geometry/part.hpp"
#include "geometry/view_pyramid.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace tool_volume_test {

using glm::dvec3;
using test::Dice;

constexpr std::uint32_t kSeed = 1999;
constexpr int kRandomSteps = 100000;
constexpr double kBand = 1e-6;         // m  the borderline band
constexpr double kContainment = 1e-7;  // m  allowed error from rounding a plane to float

double height(const glm::vec4& plane, const dvec3& at) { return glm::dot(dvec3(plane), at) + plane.w; }

// Returns the signed distance to the nearest plane: above 0 inside.
double depth_inside(const ToolVolume& volume, const dvec3& at) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < volume.plane_count; ++i) least = std::min(least, height(volume.planes[i], at));
  return least;
}

// Returns the distance from each plane to the true sweep: 0 when the plane touches it, negative when it cuts into it.
double clearance(const glm::vec4& plane, const ToolStep& step) {
  return std::min({height(plane, step.pivot), height(plane, step.tip_before), height(plane, step.tip_after)}) -
         step.radius;
}

double angle_of(const ToolStep& step) {
  const dvec3 a = step.tip_before - step.pivot, b = step.tip_after - step.pivot;
  return std::atan2(glm::length(glm::cross(a, b)), glm::dot(a, b));
}

std::string words(const ToolStep& step) {
  char text[400];
  std::snprintf(text, sizeof text,
                "pivot %.17g %.17g %.17g tips %.17g %.17g %.17g -> %.17g %.17g %.17g radius %.17g angle %.9g",
                step.pivot.x, step.pivot.y, step.pivot.z, step.tip_before.x, step.tip_before.y, step.tip_before.z,
                step.tip_after.x, step.tip_after.y, step.tip_after.z, step.radius, angle_of(step));
  return text;
}

template <class Check>
void for_every_step(std::uint32_t seed, int random_steps, Check check) {
  std::printf("seed %u\n", seed);
  Dice dice(seed);
  for (const ToolStep& step : test::switch_steps(dice)) {
    check(dice, step);
    if (testing::Test::HasFailure()) return;
  }
  for (int i = 0; i < random_steps && !testing::Test::HasFailure(); ++i) check(dice, test::random_step(dice));
}

TEST(CapsuleCover, ContainsTheTrueSweep) {
  double worst = 1.0;
  for_every_step(kSeed, kRandomSteps, [&](Dice& dice, const ToolStep& step) {
    const ToolVolume volume = swept_volume(step, Cover::Capsule);
    for (int i = 0; i < volume.plane_count; ++i) worst = std::min(worst, clearance(volume.planes[i], step));
    for (int i = 0; i < 20; ++i) worst = std::min(worst, depth_inside(volume, test::point_of_sweep(dice, step)));
    ASSERT_GE(worst, -kContainment) << words(step);
  });
  std::printf("deepest cut into the true sweep: %.3g m\n", -worst);
}

TEST(CapsuleCover, EveryPlaneTouchesTheTrueSweep) {
  int wedges = 0, boxes = 0;
  for_every_step(kSeed + 1, kRandomSteps, [&](Dice&, const ToolStep& step) {
    const ToolVolume volume = swept_volume(step, Cover::Capsule);
    const double angle = angle_of(step);
    const double sliding =
        glm::length(glm::cross(step.tip_before - step.pivot, step.tip_after - step.pivot)) /
        std::max(glm::length(step.tip_before - step.pivot), glm::length(step.tip_after - step.pivot));
    const double loose = angle < 1.001e-4 ? 2.0 * sliding : 0.0;
    for (int i = 0; i < volume.plane_count; ++i)
      ASSERT_LE(clearance(volume.planes[i], step), kContainment + loose) << words(step);
    ASSERT_EQ(volume.plane_count, volume.perspective ? 7 : 6);
    (volume.perspective ? wedges : boxes)++;
  });
  EXPECT_GT(wedges, kRandomSteps / 3);
  EXPECT_GT(boxes, kRandomSteps / 10);
}

TEST(CapsuleCover, IsAWedgeOnlyBetweenItsTwoAngles) {
  Dice dice(kSeed);
  for (int i = 0; i < 1000; ++i) {
    for (const double angle : {0.0, 0.99e-4, 2.01, 3.0, std::numbers::pi})
      EXPECT_FALSE(
          swept_volume(test::step_with(dice, dice.in_cube(0.3), 0.1, 0.12, angle, 0.0025), Cover::Capsule).perspective);
    for (const double angle : {1.01e-4, 0.1, 1.5, 1.99})
      EXPECT_TRUE(
          swept_volume(test::step_with(dice, dice.in_cube(0.3), 0.1, 0.12, angle, 0.0025), Cover::Capsule).perspective);
  }
}

// Repeats the clip test of the graphics hardware for one vertex, in float. `clip`: the vertex in clip coordinates,
// computed with the view matrix and then the projection matrix, or with their product.
bool camera_keeps(const ToolVolume& volume, const glm::vec3& at, const glm::vec4& clip) {
  bool keeps = true;
  for (int axis = 0; axis < 3; ++axis) keeps = keeps && -clip.w <= clip[axis] && clip[axis] <= clip.w;
  for (int i = 0; i < volume.plane_count; ++i)
    if (volume.clip_plane_mask >> i & 1u) keeps = keeps && glm::dot(volume.planes[i], glm::vec4(at, 1.f)) >= 0.f;
  return keeps;
}

// Returns a point to test a volume with: near the tool, near one plane, or anywhere in the room.
glm::vec3 probe(Dice& dice, const ToolVolume& volume) {
  const int kind = dice.pick(8);
  if (kind == 0) return glm::vec3(dice.in_cube(1.0));
  if (kind == 1) return glm::vec3(volume.step.pivot + volume.step.radius * dice.in_cube(3.0));
  dvec3 at = test::point_of_sweep(dice, volume.step);
  if (kind == 2) return glm::vec3(at);
  const glm::vec4& plane = volume.planes[dice.pick(volume.plane_count)];
  const double off = (dice.pick(2) ? 1.0 : -1.0) * dice.log_uniform(0.5e-6, 1e-4);
  if (kind == 3) at += dice.in_cube(0.3);
  return glm::vec3(at + (off - height(plane, at)) * dvec3(plane));
}

struct CameraCheck {
  double worst = 0.0;  // m, largest distance from the boundary at which camera and half-spaces disagree
  long inside = 0, outside = 0;

  void operator()(Dice& dice, const ToolVolume& volume, int probes) {
    const glm::mat4 product = volume.projection * volume.view;
    for (int i = 0; i < probes; ++i) {
      const glm::vec3 at = probe(dice, volume);
      const double depth = depth_inside(volume, dvec3(at));
      (depth >= 0.0 ? inside : outside)++;
      const glm::vec4 in_turn = volume.projection * (volume.view * glm::vec4(at, 1.f));
      const glm::vec4 by_product = product * glm::vec4(at, 1.f);
      const bool keeps = depth >= 0.0;
      if (camera_keeps(volume, at, in_turn) == keeps && camera_keeps(volume, at, by_product) == keeps) continue;
      worst = std::max(worst, std::abs(depth));
      ASSERT_LT(std::abs(depth), kBand) << words(volume.step) << " at " << at.x << " " << at.y << " " << at.z;
    }
  }
  void report() const {
    std::printf("%ld points inside, %ld outside; camera and half-spaces differ up to %.3g m from the boundary\n",
                inside, outside, worst);
    EXPECT_GT(inside, outside / 20);
  }
};

TEST(Camera, AgreesWithTheHalfSpacesOfTheCapsuleCover) {
  CameraCheck check;
  for_every_step(kSeed + 2, kRandomSteps,
                 [&](Dice& dice, const ToolStep& step) { check(dice, swept_volume(step, Cover::Capsule), 12); });
  check.report();
}

TEST(Camera, AgreesWithTheHalfSpacesOfThePaperCover) {
  CameraCheck check;
  for_every_step(kSeed + 3, kRandomSteps,
                 [&](Dice& dice, const ToolStep& step) { check(dice, swept_volume(step, Cover::Paper), 12); });
  check.report();
}

TEST(Camera, AgreesWithTheHalfSpacesOfTheStaticVolume) {
  CameraCheck check;
  for_every_step(kSeed + 4, kRandomSteps, [&](Dice& dice, const ToolStep& step) {
    check(dice, static_volume({step.pivot, step.tip_after, step.radius}), 12);
  });
  check.report();
}

// Returns the corners of a volume: points where three of its planes meet inside all others.
std::vector<dvec3> corners_of(const ToolVolume& volume) {
  std::vector<dvec3> corners;
  const int n = volume.plane_count;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j)
      for (int k = j + 1; k < n; ++k) {
        const dvec3 a(volume.planes[i]), b(volume.planes[j]), c(volume.planes[k]);
        const double volume_spanned = glm::dot(a, glm::cross(b, c));
        if (std::abs(volume_spanned) < 1e-6) continue;
        const dvec3 corner =
            -(double(volume.planes[i].w) * glm::cross(b, c) + double(volume.planes[j].w) * glm::cross(c, a) +
              double(volume.planes[k].w) * glm::cross(a, b)) /
            volume_spanned;
        if (depth_inside(volume, corner) > -1e-6) corners.push_back(corner);
      }
  return corners;
}

TEST(Camera, OwnNearFarTopAndBottomLieOutside) {
  long checked = 0;
  const auto check = [&](const ToolVolume& volume) {
    const std::vector<dvec3> corners = corners_of(volume);
    dvec3 middle(0.0);
    for (const dvec3& corner : corners) middle += corner / double(corners.size());
    for (const dvec3& corner : corners) {
      const dvec3 at = glm::mix(middle, corner, 0.999);
      if (depth_inside(volume, at) < kBand) continue;
      ++checked;
      const glm::dvec4 clip = glm::dmat4(volume.projection) * (glm::dmat4(volume.view) * glm::dvec4(at, 1.0));
      ASSERT_GT(clip.w, 0.0) << words(volume.step);
      ASSERT_LT(std::abs(clip.y), 0.9 * clip.w) << words(volume.step);
      ASSERT_LT(std::abs(clip.z), clip.w) << words(volume.step);
    }
  };
  for_every_step(kSeed + 5, kRandomSteps / 5, [&](Dice&, const ToolStep& step) {
    check(swept_volume(step, Cover::Capsule));
    check(swept_volume(step, Cover::Paper));
    check(static_volume({step.pivot, step.tip_after, step.radius}));
  });
  EXPECT_GT(checked, 200000);
}

// Drawing needs all three axes: the corners of a box extend over a large part of the picture in each.
TEST(Camera, BoxFillsItsPicture) {
  double least[3] = {2.0, 2.0, 2.0};
  for_every_step(kSeed + 6, 2000, [&](Dice&, const ToolStep& step) {
    const ToolVolume volume = static_volume({step.pivot, step.tip_after, step.radius});
    dvec3 low(1e9), high(-1e9);
    for (const dvec3& corner : corners_of(volume)) {
      const glm::dvec4 clip = glm::dmat4(volume.projection) * (glm::dmat4(volume.view) * glm::dvec4(corner, 1.0));
      low = glm::min(low, dvec3(clip) / clip.w);
      high = glm::max(high, dvec3(clip) / clip.w);
    }
    for (int axis = 0; axis < 3; ++axis) least[axis] = std::min(least[axis], high[axis] - low[axis]);
  });
  std::printf("least extent in the picture, -1 to 1: %g in x, %g in y, %g in z\n", least[0], least[1], least[2]);
  // The camera covers the whole width, but the volume only half of the height and of the depth, so that the camera's
  // own planes there clip nothing.
  EXPECT_NEAR(least[0], 2.0, 1e-3);
  EXPECT_NEAR(least[1], 1.0, 1e-3);
  EXPECT_NEAR(least[2], 1.0, 1e-3);
}

TEST(HalfSpaces, AreUnitFiniteAndFewEnough) {
  const auto check = [](const ToolVolume& volume) {
    ASSERT_LE(volume.plane_count, kMaxPlanes);
    ASSERT_EQ(volume.clip_plane_mask, (1u << volume.plane_count) - 1u - 3u);
    for (int i = 0; i < volume.plane_count; ++i) {
      ASSERT_NEAR(glm::length(dvec3(volume.planes[i])), 1.0, 2e-7);
      ASSERT_TRUE(std::isfinite(volume.planes[i].w));
    }
    for (int i = 0; i < 16; ++i) {
      ASSERT_TRUE(std::isfinite(volume.view[i / 4][i % 4]));
      ASSERT_TRUE(std::isfinite(volume.projection[i / 4][i % 4]));
    }
  };
  for_every_step(kSeed + 6, kRandomSteps, [&](Dice&, const ToolStep& step) {
    check(swept_volume(step, Cover::Capsule));
    check(swept_volume(step, Cover::Paper));
    check(static_volume({step.pivot, step.tip_after, step.radius}));
  });
}

TEST(StaticVolume, IsTheSquareBoxAroundTheShaft) {
  std::printf("seed %u\n", kSeed + 7);
  Dice dice(kSeed + 7);
  for (int i = 0; i < 20000; ++i) {
    const ToolStep step = test::random_step(dice);
    const ToolVolume volume = static_volume({step.pivot, step.tip_after, step.radius});
    const double length = glm::distance(step.tip_after, step.pivot);
    const dvec3 d = (step.tip_after - step.pivot) / length;
    dvec3 right = glm::cross(d, std::hypot(d.x, d.z) < 1e-3 ? dvec3(0, 0, 1) : dvec3(0, 1, 0));
    right = right / glm::length(right);
    const dvec3 up = glm::cross(right, d);
    ASSERT_EQ(volume.plane_count, 6);
    ASSERT_FALSE(volume.perspective);
    for (int j = 0; j < 20; ++j) {
      const dvec3 at = dvec3(probe(dice, volume)), r = at - step.pivot;
      const double depth = std::min({step.radius - std::abs(glm::dot(right, r)),
                                     step.radius - std::abs(glm::dot(up, r)), glm::dot(d, r), length - glm::dot(d, r)});
      ASSERT_NEAR(depth, depth_inside(volume, at), 3e-7);
    }
  }
}

TEST(StaticVolume, StepIsAtRestForEveryCover) {
  const ToolPose pose{{0, 0, 0}, {0, -0.1, 0}, 0.0025};
  const ToolVolume volume = static_volume(pose);
  EXPECT_EQ(volume.step.tip_before, pose.tip);
  EXPECT_EQ(volume.step.tip_after, pose.tip);
  // The paper cover falls back to the static volume where the tip moves by two radii or less, but keeps the motion.
  const ToolStep step{pose.pivot, pose.tip, pose.tip + dvec3(0.005, 0, 0), 0.0025};
  const ToolVolume paper = swept_volume(step, Cover::Paper);
  EXPECT_FALSE(paper.perspective);
  EXPECT_EQ(paper.step.tip_before, step.tip_before);
  const ToolVolume at_end = static_volume({step.pivot, step.tip_after, step.radius});
  for (int i = 0; i < 6; ++i) EXPECT_EQ(paper.planes[i], at_end.planes[i]);
}

// As in Bergeret 2000, section 5.2.2, the frustum has the corners g, d (near), p, p' (far), each moved up and down by
// s, and its apex is C = g - |gd| / (|pp'| - |gd|) (p - g).
TEST(PaperCover, HasTheCornersAndTheApexOfBergeret) {
  int frusta = 0;
  for_every_step(kSeed + 8, 20000, [&](Dice&, const ToolStep& step) {
    const ToolVolume volume = swept_volume(step, Cover::Paper);
    const dvec3 a = step.tip_before - step.pivot, b = step.tip_after - step.pivot, motion = b - a;
    const double wide = glm::length(motion), s = step.radius;
    const double sine = glm::length(glm::cross(a, b)) / (glm::length(a) * glm::length(b));
    if (std::abs(wide - 2.0 * s) > 1e-12 && std::abs(sine - 1e-4) > 1e-12) {
      ASSERT_EQ(volume.perspective, wide > 2.0 * s && sine >= 1e-4) << words(step);
    }
    if (!volume.perspective) return;
    ++frusta;
    const dvec3 u = motion / wide, y = glm::normalize(glm::cross(b, a));
    const dvec3 g = step.pivot - s * u, d = step.pivot + s * u;
    const struct {
      dvec3 at;
      int side, end;
    } corners[] = {{g, 0, 4}, {d, 1, 4}, {step.tip_before, 0, 5}, {step.tip_after, 1, 5}};
    for (const auto& corner : corners)
      for (const double sign : {-1.0, 1.0}) {
        const dvec3 at = corner.at + sign * s * y;
        ASSERT_GT(depth_inside(volume, at), -2e-7) << words(step);
        for (const int plane : {corner.side, corner.end, sign < 0.0 ? 2 : 3})
          ASSERT_NEAR(height(volume.planes[plane], at), 0.0, 2e-7) << words(step) << " plane " << plane;
      }
    const dvec3 apex = g - 2.0 * s / (wide - 2.0 * s) * (step.tip_before - g);
    const double far_away = glm::distance(apex, step.pivot);
    if (far_away > 10.0) return;
    ASSERT_NEAR(height(volume.planes[0], apex), 0.0, 4e-7 * (1.0 + far_away));
    ASSERT_NEAR(height(volume.planes[1], apex), 0.0, 4e-7 * (1.0 + far_away));
    const glm::dvec4 clip = glm::dmat4(volume.projection) * (glm::dmat4(volume.view) * glm::dvec4(apex, 1.0));
    ASSERT_NEAR(clip.w, 0.0, 4e-7 * (1.0 + far_away));
    ASSERT_NEAR(clip.x, 0.0, 4e-7 * (1.0 + far_away));
  });
  EXPECT_GT(frusta, 2000);
}

TEST(FrameVolume, FollowsTheRulesOfATrajectory) {
  const ToolPose before{{0.01, 0, 0}, {0.02, -0.1, 0}, 0.004}, now{{0, 0, 0}, {0.05, -0.1, 0}, 0.0025};
  const ToolStep moving{now.pivot, before.tip, now.tip, now.radius}, rest{now.pivot, now.tip, now.tip, now.radius};
  const auto same = [](const ToolVolume& got, const ToolVolume& want) {
    return got.plane_count == want.plane_count && got.planes == want.planes &&
           got.step.tip_before == want.step.tip_before && got.step.tip_after == want.step.tip_after &&
           got.step.pivot == want.step.pivot;
  };
  for (const ToolPose* earlier : {&before, static_cast<const ToolPose*>(nullptr)}) {
    const ToolStep step = earlier ? moving : rest;
    for (const Cover cover : {Cover::Paper, Cover::Capsule}) {
      EXPECT_TRUE(same(frame_volume(earlier, now, ToolMode::Static, cover, TouchSet::Volume), static_volume(now)));
      EXPECT_TRUE(same(frame_volume(earlier, now, ToolMode::Static, cover, TouchSet::Exact),
                       swept_volume(rest, Cover::Capsule)));
      EXPECT_TRUE(same(frame_volume(earlier, now, ToolMode::Swept, cover, TouchSet::Exact),
                       swept_volume(step, Cover::Capsule)));
    }
    EXPECT_TRUE(same(frame_volume(earlier, now, ToolMode::Swept, Cover::Capsule, TouchSet::Volume),
                     swept_volume(step, Cover::Capsule)));
    EXPECT_TRUE(same(frame_volume(earlier, now, ToolMode::Swept, Cover::Paper, TouchSet::Volume),
                     earlier ? swept_volume(step, Cover::Paper) : static_volume(now)));
  }
}

// The camera's own top, bottom, near and far planes keep exactly the distance that the clip test needs: on the volume's
// own ends |y| and |z| reach half of the smallest w, and nowhere more.
TEST(Camera, ClipsNoMoreAndNoLessThanTwiceTheVolume) {
  const auto check = [](const ToolVolume& volume) {
    double least_w = std::numeric_limits<double>::infinity(), most_y = 0.0, most_z = 0.0;
    for (const dvec3& corner : corners_of(volume)) {
      const glm::dvec4 clip = glm::dmat4(volume.projection) * (glm::dmat4(volume.view) * glm::dvec4(corner, 1.0));
      least_w = std::min(least_w, clip.w);
      most_y = std::max(most_y, std::abs(clip.y)), most_z = std::max(most_z, std::abs(clip.z));
    }
    EXPECT_NEAR(most_y / least_w, 0.5, 1e-3) << words(volume.step);
    EXPECT_NEAR(most_z / least_w, 0.5, 1e-3) << words(volume.step);
  };
  Dice dice(kSeed + 9);
  std::printf("seed %u\n", kSeed + 9);
  for (int i = 0; i < 300; ++i) {
    const double arm = dice.uniform(0.05, 0.25);
    const ToolStep step = test::step_with(dice, dice.in_cube(0.1), arm, arm * dice.uniform(0.95, 1.05),
                                          dice.uniform(0.2, 0.8), dice.uniform(0.002, 0.005));
    check(static_volume({step.pivot, step.tip_after, step.radius}));
    const ToolVolume paper = swept_volume(step, Cover::Paper);
    if (paper.perspective) check(paper);
  }
}

}  // namespace tool_volume_test

namespace {

// Tests the faults of poses and steps, their limits from both sides, and the poses of a step.

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
  for (int axis = 0; axis < 3; ++axis)
    for (const double sign : {-1.0, 1.0})
      for (dvec3 ToolPose::*point : {&ToolPose::pivot, &ToolPose::tip}) {
        pose = sound;
        (pose.*point)[axis] = sign * kLargestCoordinate;
        EXPECT_EQ(pose_fault(pose), "");
        (pose.*point)[axis] = sign * kLargestCoordinate * (1.0 + 1e-12);
        EXPECT_NE(pose_fault(pose).find("m is over 1000 m from the origin; check the unit"), std::string::npos);
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

// Tests rigid frames, the frame of a tool, and the boxes of slides and of wide swings, against their definitions.

using test::Dice;

RigidFrame random_frame(Dice& dice) {
  const dvec3 x = dice.direction(), y = dice.across(x);
  return {glm::dmat3(x, y, glm::cross(x, y)), dice.in_cube(1.0)};
}

TEST(RigidFrame, TakesPointsThereAndBack) {
  Dice dice(1350);
  std::printf("seed 1350\n");
  for (int i = 0; i < 1000; ++i) {
    const RigidFrame a = random_frame(dice), b = random_frame(dice), ab = relative(a, b);
    const dvec3 p = dice.in_cube(1.0);
    EXPECT_LT(glm::distance(a.to_world(p), a.origin + p.x * a.axes[0] + p.y * a.axes[1] + p.z * a.axes[2]), 1e-15);
    EXPECT_LT(glm::distance(a.to_local(a.to_world(p)), p), 2e-15);
    EXPECT_LT(glm::distance(a.to_world(ab.to_world(p)), b.to_world(p)), 4e-15);
    glm::dmat4 m(a.axes);
    m[3] = glm::dvec4(a.origin, 1.0);
    EXPECT_EQ(rigid_frame(m).axes, a.axes);
    EXPECT_EQ(rigid_frame(m).origin, a.origin);
  }
  EXPECT_EQ(RigidFrame{}.to_world({1, 2, 3}), dvec3(1, 2, 3));
}

// z points from tip to pivot, the origin lies a radius beyond the tip, and without a roll the axes are those of the
// world after the smallest rotation that takes the world's z there.
TEST(ToolFrame, IsTheSmallestRotationOfTheWorld) {
  Dice dice(1351);
  std::printf("seed 1351\n");
  for (int i = 0; i < 20000; ++i) {
    dvec3 z = dice.shaft_direction();
    if (dice.pick(4) == 0) z = glm::normalize(dvec3(0, 0, dice.pick(2) ? 1 : -1) + dice.log_uniform(1e-9, 1e-1) * z);
    const ToolPose pose{dice.in_cube(0.01), {}, dice.uniform(0.001, 0.01)};
    ToolPose tool = pose;
    tool.tip = pose.pivot - dice.uniform(0.05, 0.3) * z;
    const RigidFrame frame = tool_frame(tool, 0.0);
    ASSERT_LT(glm::distance(frame.axes[2], z), 1e-14) << i;
    ASSERT_LT(glm::distance(frame.origin, tool.tip - tool.radius * z), 1e-15) << i;
    ASSERT_LT(glm::distance(glm::cross(frame.axes[0], frame.axes[1]), frame.axes[2]), 1e-9) << i;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) ASSERT_NEAR(glm::dot(frame.axes[a], frame.axes[b]), a == b, 1e-9) << i;
    if (z.z < -1.0 + 1e-6) continue;  // the rotation has no axis there
    // Half a turn about the bisector of both directions, after half a turn about the world's z.
    const dvec3 bisector = glm::normalize(z + dvec3(0, 0, 1));
    for (int a = 0; a < 2; ++a) {
      dvec3 axis(0.0);
      axis[a] = -1.0;
      const dvec3 turned = 2.0 * glm::dot(axis, bisector) * bisector - axis;
      ASSERT_LT(glm::distance(frame.axes[a], turned), 1e-9) << i;
    }
  }
}

// The roll turns x towards -y seen from the trocar: about the direction from trocar to tip.
TEST(ToolFrame, RollsAboutTheShaft) {
  Dice dice(1352);
  std::printf("seed 1352\n");
  for (int i = 0; i < 1000; ++i) {
    const ToolPose pose{dice.in_cube(0.3), dice.in_cube(0.3), 0.0025};
    if (!pose_fault(pose).empty()) continue;
    const double roll = dice.uniform(-7.0, 7.0), c = std::cos(roll), s = std::sin(roll);
    const RigidFrame still = tool_frame(pose, 0.0), rolled = tool_frame(pose, roll);
    ASSERT_LT(glm::distance(rolled.axes[0], c * still.axes[0] - s * still.axes[1]), 1e-14);
    ASSERT_LT(glm::distance(rolled.axes[1], c * still.axes[1] + s * still.axes[0]), 1e-14);
    ASSERT_EQ(rolled.origin, still.origin);
  }
}

dvec3 forward_of(const ToolVolume& volume) { return -dvec3(volume.view[0][2], volume.view[1][2], volume.view[2][2]); }

// A swing of more than 2 rad: the box is aligned with the longer arm and the plane of motion, and its sides touch the
// pivot and the tips, widened by the radius.
TEST(SwingBox, IsAlignedWithTheLongerArm) {
  Dice dice(1353);
  std::printf("seed 1353\n");
  for (int i = 0; i < 2000; ++i) {
    const double before = dice.uniform(0.05, 0.2), after = dice.uniform(0.05, 0.2), radius = dice.uniform(0.001, 0.01);
    const ToolStep step = test::step_with(dice, dice.in_cube(0.1), before, after, dice.uniform(2.01, 3.1), radius);
    const ToolVolume volume = swept_volume(step, Cover::Capsule);
    const dvec3 a = step.tip_before - step.pivot, b = step.tip_after - step.pivot;
    const dvec3 longer = glm::normalize(after > before ? b : a), across = glm::normalize(glm::cross(a, b));
    ASSERT_LT(glm::distance(forward_of(volume), longer), 1e-6) << i;
    ASSERT_NEAR(std::abs(glm::dot(dvec3(volume.planes[2]), across)), 1.0, 1e-6) << i;
    const double width = double(volume.planes[0].w) + volume.planes[1].w,
                 height = double(volume.planes[2].w) + volume.planes[3].w,
                 depth = double(volume.planes[4].w) + volume.planes[5].w;
    const double shorter = std::min(before, after), angle = std::acos(glm::dot(a, b) / (before * after));
    ASSERT_NEAR(width, shorter * std::sin(angle) + 2.0 * radius, 1e-6) << i;
    ASSERT_NEAR(height, 2.0 * radius, 1e-6) << i;
    ASSERT_NEAR(depth, std::max(before, after) - shorter * std::cos(angle) + 2.0 * radius, 1e-6) << i;
  }
}

// A slide: the box around the deeper shaft, widened by the distance of the other tip from it.
TEST(SlideBox, HoldsTheDeeperShaft) {
  Dice dice(1354);
  std::printf("seed 1354\n");
  for (int i = 0; i < 2000; ++i) {
    const double before = dice.uniform(0.05, 0.2), after = dice.uniform(0.05, 0.2), radius = dice.uniform(0.001, 0.01);
    const double angle = dice.pick(2) ? 0.0 : dice.uniform(1e-6, 0.99e-4);
    const ToolStep step = test::step_with(dice, dice.in_cube(0.1), before, after, angle, radius);
    const ToolVolume volume = swept_volume(step, Cover::Capsule);
    const dvec3 deep = (after > before ? step.tip_after : step.tip_before) - step.pivot;
    ASSERT_LT(glm::distance(forward_of(volume), glm::normalize(deep)), 1e-6) << i;
    const double half = radius + std::min(before, after) * std::sin(angle);
    for (int side = 0; side < 2; ++side)
      ASSERT_NEAR(double(volume.planes[2 * side].w) + volume.planes[2 * side + 1].w, 2.0 * half, 4e-7) << i;
    ASSERT_NEAR(double(volume.planes[4].w) + volume.planes[5].w, glm::length(deep) + 2.0 * radius, 4e-7) << i;
  }
}

}  // namespace

// Compares the clip in double with an independent test: a convex volume and a triangle are disjoint exactly when a
// direction separates them. Only plane normals, the triangle's normal and cross products of edges need testing (SAT).
namespace convex_clip_test {

constexpr std::uint32_t kSeed = 20240;

// A volume given only by its planes, with its corners, found by intersecting planes three by three.
struct Hull {
  ToolVolume volume;
  std::vector<glm::dvec3> corners, normals, edges;
};

Hull hull_of(const ToolVolume& volume) {
  Hull hull{volume, {}, {}, {}};
  const int n = volume.plane_count;
  for (int i = 0; i < n; ++i) {
    const glm::dvec4 a(volume.planes[i]);
    hull.normals.emplace_back(a);
    for (int j = i + 1; j < n; ++j) {
      const glm::dvec4 b(volume.planes[j]);
      hull.edges.push_back(glm::cross(glm::dvec3(a), glm::dvec3(b)));
      for (int k = j + 1; k < n; ++k) {
        const glm::dvec4 c(volume.planes[k]);
        const glm::dmat3 rows{glm::dvec3(a), glm::dvec3(b), glm::dvec3(c)};
        if (std::abs(glm::determinant(rows)) < 1e-6) continue;
        const glm::dvec3 corner = glm::inverse(glm::transpose(rows)) * -glm::dvec3(a.w, b.w, c.w);
        bool inside = true;
        for (int p = 0; p < n; ++p) {
          const glm::dvec4 plane(volume.planes[p]);
          inside = inside && glm::dot(glm::dvec3(plane), corner) + plane.w > -1e-12;
        }
        if (inside) hull.corners.push_back(corner);
      }
    }
  }
  return hull;
}

// Returns the largest gap over all relevant directions, in metres: above 0 apart, below 0 sharing a point.
double separation(const Hull& hull, const Triangle& face) {
  const glm::dvec3 sides[] = {face.b - face.a, face.c - face.b, face.a - face.c};
  std::vector<glm::dvec3> directions = hull.normals;
  directions.push_back(glm::cross(sides[0], sides[1]));
  for (const glm::dvec3& edge : hull.edges)
    for (const glm::dvec3& side : sides) directions.push_back(glm::cross(edge, side));
  double widest = -std::numeric_limits<double>::infinity();
  for (const glm::dvec3& direction : directions) {
    const double length = glm::length(direction);
    if (length < 1e-12) continue;
    const glm::dvec3 unit = direction / length;
    double low = 1e300, high = -1e300, face_low = 1e300, face_high = -1e300;
    for (const glm::dvec3& corner : hull.corners) {
      low = std::min(low, glm::dot(unit, corner));
      high = std::max(high, glm::dot(unit, corner));
    }
    for (const glm::dvec3& corner : {face.a, face.b, face.c}) {
      face_low = std::min(face_low, glm::dot(unit, corner));
      face_high = std::max(face_high, glm::dot(unit, corner));
    }
    widest = std::max({widest, face_low - high, low - face_high});
  }
  return widest;
}

struct Random {
  std::mt19937 engine{kSeed};
  double in(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine); }
  glm::dvec3 point(double reach) { return {in(-reach, reach), in(-reach, reach), in(-reach, reach)}; }
  glm::dvec3 direction() {
    for (;;) {
      const glm::dvec3 p = point(1.0);
      if (glm::length(p) > 0.1 && glm::length(p) < 1.0) return glm::normalize(p);
    }
  }
};

// Returns a rotated box around the origin, up to 0.2 m long and down to 1 mm thin, its sides tilted by up to 0.2 rad,
// with 0 to 2 additional planes across it.
ToolVolume random_volume(Random& random) {
  const glm::dvec3 x = random.direction();
  const glm::dvec3 y = glm::normalize(glm::cross(x, random.direction())), z = glm::cross(x, y);
  ToolVolume volume;
  for (const glm::dvec3& axis : {x, y, z})
    for (const double side : {-1.0, 1.0}) {
      const glm::dvec3 normal = glm::normalize(side * axis + 0.2 * random.point(1.0));
      volume.planes[volume.plane_count++] = glm::vec4(normal, std::pow(10.0, random.in(-3.0, -1.0)));
    }
  for (int extra = random.engine() % 3; extra > 0; --extra)
    volume.planes[volume.plane_count++] = glm::vec4(random.direction(), random.in(0.0, 0.02));
  return volume;
}

Triangle random_face(Random& random) {
  const glm::dvec3 at = random.point(std::pow(10.0, random.in(-3.0, -1.0)));
  const double size = std::pow(10.0, random.in(-5.0, 0.0));
  Triangle face{at + random.point(size), at + random.point(size), at + random.point(size)};
  const auto kind = random.engine() % 8;
  if (kind == 0) face.b = face.c;                                          // a line
  if (kind == 1) face.b = face.c = face.a;                                 // a point
  if (kind == 2) face.c = glm::mix(face.a, face.b, random.in(-1.0, 2.0));  // collinear corners
  return face;
}

TEST(ConvexClip, AgreesWithSeparatingDirections) {
  Random random;
  int touching = 0, apart = 0;
  for (int v = 0; v < 3000; ++v) {
    const Hull hull = hull_of(random_volume(random));
    for (int f = 0; f < 40; ++f) {
      const Triangle face = random_face(random);
      const double gap = separation(hull, face);
      if (std::abs(gap) < 1e-9) continue;
      const bool touches = face_touches_volume(face, hull.volume);
      ASSERT_EQ(touches, gap < 0.0) << "seed " << kSeed << " volume " << v << " face " << f << " gap " << gap;
      (touches ? touching : apart) += 1;
    }
  }
  EXPECT_GT(touching, 2000);
  EXPECT_GT(apart, 2000);
}

ToolVolume unit_box() {
  ToolVolume volume;
  for (const glm::vec3 axis : {glm::vec3(1, 0, 0), glm::vec3(0, 1, 0), glm::vec3(0, 0, 1)}) {
    volume.planes[volume.plane_count++] = glm::vec4(axis, 1.f);
    volume.planes[volume.plane_count++] = glm::vec4(-axis, 1.f);
  }
  return volume;
}

TEST(ConvexClip, SharesOnlyBoundaryPoint) {
  const ToolVolume box = unit_box();
  EXPECT_TRUE(face_touches_volume({{1, 1, 1}, {2, 1, 1}, {1, 2, 1}}, box));   // a corner on a corner
  EXPECT_TRUE(face_touches_volume({{1, 0, 0}, {2, 1, 0}, {2, 0, 1}}, box));   // a corner on a side
  EXPECT_TRUE(face_touches_volume({{1, -5, 0}, {1, 5, 0}, {1, 5, 5}}, box));  // lies in a side
  EXPECT_FALSE(face_touches_volume({{1.0001, -5, 0}, {1.0001, 5, 0}, {1.0001, 5, 5}}, box));
  EXPECT_TRUE(face_touches_volume({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, box));  // a point on a corner
}

TEST(ConvexClip, HugeFaceWithoutCornerInside) {
  const ToolVolume box = unit_box();
  EXPECT_TRUE(face_touches_volume({{-1e3, -1e3, 0.5}, {1e3, -1e3, 0.5}, {0, 1e3, 0.5}}, box));
  EXPECT_FALSE(face_touches_volume({{-1e3, -1e3, 1.5}, {1e3, -1e3, 1.5}, {0, 1e3, 1.5}}, box));
  EXPECT_FALSE(face_touches_volume({{2.5, 0, 0}, {0, 2.5, 0}, {5, 5, 0}}, box));  // passes the edge x = y = 1 outside
}

}  // namespace convex_clip_test

namespace {

// Tests the view pyramid against the projection of sampled points, and that no visible sphere is left out.

struct Camera {
  glm::dvec3 eye;
  glm::dmat4 clip_from_world;
};

Camera random_camera(Dice& dice) {
  const glm::dvec3 eye = dice.in_cube(0.3), target = eye + dice.in_cube(1.0);
  const glm::dvec3 up = dice.in_cube(1.0);
  const double front = 0.005, back = 0.3 + dice.uniform(0.0, 2.0);
  const glm::dmat4 projection = dice.pick(4) == 0
                                    ? glm::ortho(-0.1, 0.15, -0.2, 0.1, front, back)
                                    : glm::perspective(dice.uniform(0.3, 2.2), dice.uniform(0.5, 2.5), front, back);
  return {eye, projection * glm::lookAt(eye, target, up)};
}

// By projection: the definition.
bool is_visible(const glm::dmat4& clip_from_world, const glm::dvec3& p) {
  const glm::dvec4 clip = clip_from_world * glm::dvec4(p, 1.0);
  return std::abs(clip.x) <= clip.w && std::abs(clip.y) <= clip.w && std::abs(clip.z) <= clip.w;
}

double least_height(const ViewPyramid& pyramid, const glm::dvec3& p) {
  double least = 1e30;
  for (const glm::dvec4& plane : pyramid.planes) least = std::min(least, glm::dot(glm::dvec3(plane), p) + plane.w);
  return least;
}

TEST(ViewPyramidOf, ContainsWhatTheCameraProjectsIntoThePicture) {
  Dice dice(1500);
  int visible = 0, compared = 0;
  for (int k = 0; k < 300; ++k) {
    const Camera camera = random_camera(dice);
    const ViewPyramid pyramid = view_pyramid(camera.clip_from_world);
    for (const glm::dvec4& plane : pyramid.planes) EXPECT_NEAR(glm::length(glm::dvec3(plane)), 1.0, 1e-12);
    for (int i = 0; i < 200; ++i) {
      const glm::dvec3 p = camera.eye + dice.in_cube(1.0);
      if (std::abs(least_height(pyramid, p)) < 1e-9) continue;
      EXPECT_EQ(contains(pyramid, p), is_visible(camera.clip_from_world, p));
      visible += contains(pyramid, p);
      ++compared;
    }
  }
  EXPECT_GT(visible, compared / 50);
  EXPECT_LT(visible, compared / 2);
}

// The front face is at the front distance, the sides have the opening angle.
TEST(ViewPyramidOf, ASimpleCameraHasTheExpectedPlanes) {
  const double quarter = 0.5 * std::acos(0.0);
  const ViewPyramid pyramid = view_pyramid(glm::perspective(2.0 * quarter, 1.0, 0.1, 5.0));
  EXPECT_TRUE(contains(pyramid, {0.0, 0.0, -0.11}));
  EXPECT_FALSE(contains(pyramid, {0.0, 0.0, -0.09}));
  EXPECT_TRUE(contains(pyramid, {0.99, 0.0, -1.0}));
  EXPECT_FALSE(contains(pyramid, {1.01, 0.0, -1.0}));
  EXPECT_TRUE(contains(pyramid, {0.0, -4.9, -4.95}));
  EXPECT_FALSE(contains(pyramid, {0.0, 0.0, -5.01}));
  EXPECT_FALSE(contains(pyramid, {0.0, 0.0, 1.0})) << "behind the camera";
}

TEST(ViewPyramidOf, NoSphereWithAVisiblePointIsLeftOut) {
  Dice dice(1501);
  int left_out = 0, kept = 0, kept_in_vain = 0;
  for (int k = 0; k < 4000; ++k) {
    const Camera camera = random_camera(dice);
    const ViewPyramid pyramid = view_pyramid(camera.clip_from_world);
    const BoundingSphere sphere{camera.eye + dice.in_cube(1.0), dice.uniform(0.0, 0.3)};
    bool any = is_visible(camera.clip_from_world, sphere.centre);
    for (int i = 0; i < 200 && !any; ++i) {
      glm::dvec3 offset = dice.in_cube(1.0);
      if (glm::length(offset) > 1.0) offset /= glm::length(offset);  // many on the surface
      any = is_visible(camera.clip_from_world, sphere.centre + sphere.radius * offset);
    }
    const bool may = may_see(pyramid, sphere);
    ASSERT_TRUE(may || !any) << "seed 1501, camera " << k;
    left_out += !may;
    kept += may;
    kept_in_vain += may && !any;
  }
  std::printf("seed 1501: %d spheres left out, %d kept, of these %d without a sampled visible point\n", left_out, kept,
              kept_in_vain);
  EXPECT_GT(left_out, 1500);
  EXPECT_LT(kept_in_vain, kept / 3);
}

TEST(BoundingSphereOf, HoldsEveryPoint) {
  EXPECT_LT(bounding_sphere({}).radius, 0.0);
  EXPECT_FALSE(may_see(view_pyramid(glm::perspective(1.0, 1.0, 0.1, 5.0)), bounding_sphere({})));
  const glm::vec3 one(1.f, 2.f, -3.f);
  EXPECT_EQ(bounding_sphere({&one, 1}).radius, 0.0);
  EXPECT_EQ(bounding_sphere({&one, 1}).centre, glm::dvec3(one));
  Dice dice(1502);
  for (int k = 0; k < 100; ++k) {
    std::vector<glm::vec3> points(1 + static_cast<std::size_t>(dice.pick(50)));
    for (glm::vec3& p : points) p = glm::vec3(dice.in_cube(0.2) + glm::dvec3(1.0));
    const BoundingSphere sphere = bounding_sphere(points);
    double farthest = 0.0;
    for (const glm::vec3& p : points) farthest = std::max(farthest, glm::distance(glm::dvec3(p), sphere.centre));
    EXPECT_NEAR(sphere.radius, farthest, 1e-12);
  }
}

}  // namespace

}  // namespace trocar

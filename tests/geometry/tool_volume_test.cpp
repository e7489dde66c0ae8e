// Compares tool volumes with their definition: the capsule cover contains the true sweep, every plane touches it, and
// the cameras, evaluated in float as in OpenGL, classify points in the same way as the half-spaces.
#include "geometry/tool_volume.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "tests/geometry/random_steps.hpp"

namespace trocar {
namespace {

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
    for (const double angle : {0.0, 0.99e-4, 2.01, 3.0, std::numbers::pi}) {
      EXPECT_FALSE(
          swept_volume(test::step_with(dice, dice.in_cube(0.3), 0.1, 0.12, angle, 0.0025), Cover::Capsule).perspective);
    }
    for (const double angle : {1.01e-4, 0.1, 1.5, 1.99}) {
      EXPECT_TRUE(
          swept_volume(test::step_with(dice, dice.in_cube(0.3), 0.1, 0.12, angle, 0.0025), Cover::Capsule).perspective);
    }
  }
}

// Repeats the clip test of the graphics hardware for one vertex, in float. `clip`: the vertex in clip coordinates,
// computed with the view matrix and then the projection matrix, or with their product.
bool camera_keeps(const ToolVolume& volume, const glm::vec3& at, const glm::vec4& clip) {
  bool keeps = true;
  for (int axis = 0; axis < 3; ++axis) keeps = keeps && -clip.w <= clip[axis] && clip[axis] <= clip.w;
  for (int i = 0; i < volume.plane_count; ++i) {
    if (volume.clip_plane_mask >> i & 1u) keeps = keeps && glm::dot(volume.planes[i], glm::vec4(at, 1.f)) >= 0.f;
  }
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
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
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
    }
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

// As in section 5.2.2 of the thesis, the frustum has the corners g, d (near), p, p' (far), each moved up and down by s,
// and its apex is C = g - |gd| / (|pp'| - |gd|) (p - g).
TEST(PaperCover, HasTheCornersAndTheApexOfTheThesis) {
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
    for (const auto& corner : corners) {
      for (const double sign : {-1.0, 1.0}) {
        const dvec3 at = corner.at + sign * s * y;
        ASSERT_GT(depth_inside(volume, at), -2e-7) << words(step);
        for (const int plane : {corner.side, corner.end, sign < 0.0 ? 2 : 3}) {
          ASSERT_NEAR(height(volume.planes[plane], at), 0.0, 2e-7) << words(step) << " plane " << plane;
        }
      }
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

}  // namespace
}  // namespace trocar

// Tests that a prepared tool is no wider than specified: slack, planes, corners, edges, box, and the borders between
// the answers about boxes and faces. A wider tool gives right answers and costs time. A mesh with coordinates of 100 km
// makes the slack 20 cm, so that the borders are visible.
#include <gtest/gtest.h>

#include <algorithm>

#include "cpu_collision/convex_tool.hpp"
#include "cpu_collision/trees/aabb.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using glm::vec3;
using test::Dice;

constexpr std::uint32_t kSeed = 1618;

// Returns a volume with these planes; its step is a point.
ToolVolume volume_of(std::initializer_list<glm::vec4> planes) {
  ToolVolume volume;
  for (const glm::vec4& plane : planes) volume.planes[static_cast<std::size_t>(volume.plane_count++)] = plane;
  return volume;
}

// The cube around `centre`. Plane 2 axis is the low side of the axis, plane 2 axis + 1 the high side.
ToolVolume cube_volume(float half, const glm::vec3& centre = glm::vec3(0.f)) {
  return volume_of({{1, 0, 0, half - centre.x},
                    {-1, 0, 0, half + centre.x},
                    {0, 1, 0, half - centre.y},
                    {0, -1, 0, half + centre.y},
                    {0, 0, 1, half - centre.z},
                    {0, 0, -1, half + centre.z}});
}

TEST(ConvexToolTight, SlackIsTheRoundingOfPlanesAndCoordinates) {
  Dice dice(kSeed);
  for (int trial = 0; trial < 200; ++trial) {
    const ToolVolume volume = test::random_volume(dice);
    const float largest = static_cast<float>(dice.uniform(0.0, 3.0));
    const ConvexTool tool = convex_tool(volume, largest);
    float farthest = 0.f;
    for (int i = 0; i < volume.plane_count; ++i) farthest = std::max(farthest, std::abs(volume.planes[i].w));
    ASSERT_FLOAT_EQ(tool.slack, 1e-6f * (2.f * largest + farthest));
    ASSERT_EQ(tool.plane_count, volume.plane_count);
    for (int i = 0; i < kMaxPlanes; ++i) {
      const FourPlanes& group = tool.lanes[static_cast<std::size_t>(i / 4)];
      const bool used = i < volume.plane_count;
      const glm::vec4 plane = used ? volume.planes[i] : glm::vec4(0.f, 0.f, 0.f, 1e30f);
      ASSERT_EQ(glm::vec3(plane), glm::vec3(group.x[i % 4], group.y[i % 4], group.z[i % 4])) << i;
      ASSERT_FLOAT_EQ(group.offset[i % 4], plane.w + (used ? tool.slack : 0.f)) << i;
    }
  }
}

// The exact set: every plane moves outwards by the rounding of its own offset and of all points of the sweep.
TEST(ConvexToolTight, ExactSetMovesPlanesByTheirRounding) {
  Dice dice(kSeed + 1);
  for (int trial = 0; trial < 200; ++trial) {
    ToolStep step = test::random_step(dice);
    const dvec3 away = trial % 2 ? 300.0 * dice.direction() : dvec3(0.0);
    step.pivot += away, step.tip_before += away, step.tip_after += away;
    const ToolVolume volume = swept_volume(step, Cover::Capsule);
    const ConvexTool exact = convex_tool(volume, 1.f, TouchSet::Exact), plain = convex_tool(volume, 1.f);
    const double arm = std::max(glm::length(step.tip_before - step.pivot), glm::length(step.tip_after - step.pivot));
    const double extent =
        std::abs(step.pivot.x) + std::abs(step.pivot.y) + std::abs(step.pivot.z) + 2.0 * (arm + step.radius);
    for (int i = 0; i < volume.plane_count; ++i) {
      const double offset = volume.planes[i].w;
      ASSERT_EQ(plain.planes[i], glm::dvec4(volume.planes[i]));
      ASSERT_EQ(dvec3(exact.planes[i]), dvec3(volume.planes[i]));
      const double moved = exact.planes[i].w - offset;
      ASSERT_NEAR(moved, 0x1p-23 * (extent + std::abs(offset)), 1e-9 * moved + 4e-16 * std::abs(offset)) << trial;
    }
  }
}

void expect_corners_of_a_cube(const ConvexTool& tool, const dvec3& centre, double half, double rounding) {
  ASSERT_EQ(tool.corner_count, 8);
  for (int k = 0; k < 8; ++k) {
    const dvec3 corner = centre + half * dvec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1);
    EXPECT_TRUE(std::any_of(tool.corners.begin(), tool.corners.begin() + 8,
                            [&](const dvec3& found) { return glm::length(found - corner) <= rounding; }));
  }
  ASSERT_EQ(tool.edge_count, 12);
  int along[3] = {};
  for (int k = 0; k < 12; ++k)
    for (int axis = 0; axis < 3; ++axis) along[axis] += std::abs(std::abs(tool.edges[k][axis]) - 1.0) < 1e-9;
  for (const int count : along) EXPECT_EQ(count, 4);
}

// From a cube of 4 picometres at the origin to one of 8 m at a distance of a kilometre.
TEST(ConvexToolTight, FindsTheCornersAndEdgesOfACubeOfAnySize) {
  for (const float half : {0x1p-38f, 0x1p-20f, 0x1p-6f, 4.f}) {
    const ConvexTool tool = convex_tool(cube_volume(half), 1.f);
    expect_corners_of_a_cube(tool, dvec3(0.0), half, 1e-12 * half);
    for (int k = 0; k < 3; ++k) {
      // No other box is smaller than the one along the world's axes.
      EXPECT_EQ(vec3(tool.box.axis_x[k], tool.box.axis_y[k], tool.box.axis_z[k]),
                vec3(k == 0 ? 1.f : 0.f, k == 1 ? 1.f : 0.f, k == 2 ? 1.f : 0.f));
      EXPECT_FLOAT_EQ(tool.box.extent[k], half + tool.slack);
    }
  }
  expect_corners_of_a_cube(convex_tool(cube_volume(4.f, {1000.f, -500.f, 750.f}), 1.f), {1000.0, -500.0, 750.0}, 4.0,
                           1e-9);
}

// Corners lie on their planes to the rounding of double, a kilometre from the origin too: one correction of the
// residual.
TEST(ConvexToolTight, CornersAreCorrectedForTheirResidual) {
  Dice dice(kSeed + 6);
  long double worst = 0.0L;
  for (int trial = 0; trial < 400; ++trial) {
    const dvec3 pivot = dice.in_cube(900.0);
    const ToolVolume volume = static_volume({pivot, pivot + dice.uniform(0.05, 0.3) * dice.direction(), 0.005});
    const ConvexTool tool = convex_tool(volume, 1.f);
    for (int i = 0; i < tool.corner_count; ++i) {
      const dvec3& corner = tool.corners[i];
      std::vector<long double> off;
      for (int k = 0; k < tool.plane_count; ++k) {
        const glm::dvec4& n = tool.planes[k];
        off.push_back(std::abs((long double)n.x * corner.x + (long double)n.y * corner.y + (long double)n.z * corner.z +
                               (long double)n.w));
      }
      std::sort(off.begin(), off.end());
      worst = std::max(worst, off[2]);
    }
  }
  EXPECT_LT(worst, 3.5e-13L);
}

// A solid's corners, edges and faces obey Euler's formula, also a kilometre from the origin, where corners are found
// only up to rounding. Planes without a corner are no faces.
TEST(ConvexToolTight, CornersEdgesAndFacesObeyEuler) {
  Dice dice(kSeed + 2);
  int solid = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const dvec3 pivot = trial % 2 ? dice.in_cube(600.0) : dice.in_cube(0.3);
    const ToolVolume volume = static_volume({pivot, pivot + dice.uniform(0.05, 0.3) * dice.direction(), 0.005});
    const ConvexTool tool = convex_tool(volume, 1.f);
    ASSERT_EQ(tool.corner_count, 8) << "trial " << trial << ", seed " << kSeed + 2;
    ASSERT_EQ(tool.edge_count, 12) << "trial " << trial << ", seed " << kSeed + 2;
    ++solid;
  }
  EXPECT_EQ(solid, 400);
}

double box_volume(const ConvexTool& tool, const std::array<dvec3, 3>& axes) {
  double volume = 1.0;
  for (const dvec3& axis : axes) {
    double low = 1e30, high = -1e30;
    for (int i = 0; i < tool.corner_count; ++i) {
      low = std::min(low, glm::dot(axis, tool.corners[i])), high = std::max(high, glm::dot(axis, tool.corners[i]));
    }
    volume *= high - low;
  }
  return volume;
}

// The box is the smallest among the world's axes and those of every plane normal with every edge across it, and it is
// tight around the corners but for the slack.
TEST(ConvexToolTight, BoxIsTheSmallest) {
  Dice dice(kSeed + 3);
  int skew = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const ToolVolume volume = test::random_volume(dice);
    const ConvexTool tool = convex_tool(volume, 0.3f);
    if (tool.corner_count < 6) continue;
    const double world = box_volume(tool, {dvec3(1, 0, 0), dvec3(0, 1, 0), dvec3(0, 0, 1)});
    double smallest = world;
    for (int i = 0; i < tool.plane_count; ++i) {
      const dvec3 n = glm::normalize(dvec3(tool.planes[i]));
      for (int j = 0; j < tool.edge_count; ++j) {
        if (std::abs(glm::dot(n, tool.edges[j])) > 1e-6) continue;
        const dvec3 v = glm::normalize(glm::cross(n, tool.edges[j]));
        smallest = std::min(smallest, box_volume(tool, {n, glm::cross(v, n), v}));
      }
    }
    skew += smallest < 0.9 * world;
    double found = 1.0;
    for (int k = 0; k < 3; ++k) {
      const dvec3 axis(tool.box.axis_x[k], tool.box.axis_y[k], tool.box.axis_z[k]);
      double low = 1e30, high = -1e30;
      for (int i = 0; i < tool.corner_count; ++i) {
        low = std::min(low, glm::dot(axis, tool.corners[i])), high = std::max(high, glm::dot(axis, tool.corners[i]));
      }
      ASSERT_NEAR(tool.box.extent[k], 0.5 * (high - low) + tool.slack, 2e-7 * (high - low) + 1e-7) << trial;
      ASSERT_NEAR(glm::dot(axis, dvec3(xyz(tool.box.centre))), 0.5 * (high + low), 2e-7) << trial;
      found *= high - low;
    }
    ASSERT_LE(found, smallest * 1.0001 + 1e-15) << "trial " << trial << ", seed " << kSeed + 3;
    ASSERT_EQ(tool.box.extent[3], 0.f);
  }
  EXPECT_GT(skew, 200);
}

// ---- borders of the answers: the cube |x| <= 1 with a slack of 0.2 m ----

constexpr float kLargest = 1e5f, kSlack = 0.200001f;

ObbNode box_at(const glm::vec3& centre, float half) {
  ObbNode box = with_axes({1, 0, 0}, {0, 1, 0}, {0, 0, 1});
  box.centre = lanes(centre);
  box.extent = first_three(lanes(half));
  return box;
}

glm::vec3 along(int side, float distance) {
  glm::vec3 at(0.f);
  at[side / 2] = side % 2 ? distance : -distance;
  return at;
}

// With six planes, and with the same cube in planes 2 to 7 behind two that exclude nothing.
std::vector<ToolVolume> both_cubes() {
  ToolVolume late = cube_volume(1.f);
  std::rotate(late.planes.begin(), late.planes.begin() + 6, late.planes.end());
  late.planes[0] = {0.6f, 0.8f, 0.f, 9.f}, late.planes[1] = {0.f, 0.6f, -0.8f, 9.f};
  late.plane_count = 8;
  return {cube_volume(1.f), late};
}

TEST(ConvexToolTight, BoxesAreInsideOutsideOrCrossing) {
  for (const ToolVolume& volume : both_cubes()) {
    const ConvexTool tool = convex_tool(volume, kLargest);
    ASSERT_NEAR(tool.slack, kSlack, 1e-5 + (volume.plane_count == 8 ? 1e-5 : 0.0));
    const Aabb::Tool by_axes(tool);
    const auto expect_answer = [&](const glm::vec3& centre, float half, BoxAnswer answer) {
      EXPECT_EQ(box_meets(tool, box_at(centre, half)), answer) << centre.x << " " << centre.y << " " << centre.z;
      EXPECT_EQ(meets(by_axes, Aabb{lanes(centre - half), lanes(centre + half)}), answer)
          << centre.x << " " << centre.y << " " << centre.z;
    };
    for (int side = 0; side < 6; ++side) {
      expect_answer(along(side, 0.69f), 0.1f, BoxAnswer::Inside);
      expect_answer(along(side, 0.71f), 0.1f, BoxAnswer::Crosses);
      expect_answer(along(side, 1.29f), 0.1f, BoxAnswer::Crosses);
      expect_answer(along(side, 1.31f), 0.1f, BoxAnswer::Outside);
    }
    expect_answer({0.6f, -0.6f, 0.6f}, 0.15f, BoxAnswer::Inside);
    expect_answer({0.f, 0.f, 0.f}, 3.f, BoxAnswer::Crosses);
  }
}

TEST(ConvexToolTight, FacesAreInOutOrUnclear) {
  for (const ToolVolume& volume : both_cubes()) {
    const ConvexTool tool = convex_tool(volume, kLargest);
    const auto answer_of = [&](const glm::vec3& a, const glm::vec3& b, const glm::vec3& c) {
      return face_quick(tool, lanes(a), lanes(b), lanes(c));
    };
    for (int side = 0; side < 6; ++side) {
      const glm::vec3 b = along((side + 2) % 6, 5.f), c = along((side + 3) % 6, 5.f);  // beyond two other planes
      for (const auto& [distance, answer] :
           {std::pair{0.79f, FaceAnswer::In}, {0.81f, FaceAnswer::Unclear}, {1.3f, FaceAnswer::Unclear}}) {
        const glm::vec3 a = along(side, distance);
        EXPECT_EQ(answer_of(a, b, c), answer) << side << " " << distance;
        EXPECT_EQ(answer_of(c, a, b), answer) << side << " " << distance;
        EXPECT_EQ(answer_of(b, c, a), answer) << side << " " << distance;
      }
      const glm::vec3 near = along(side, 1.19f), beyond = along(side, 1.21f);
      EXPECT_EQ(answer_of(near, beyond, beyond), FaceAnswer::Unclear);
      EXPECT_EQ(answer_of(beyond, near, beyond), FaceAnswer::Unclear);
      EXPECT_EQ(answer_of(beyond, beyond, near), FaceAnswer::Unclear);
      EXPECT_EQ(answer_of(beyond, beyond + b, beyond + c), FaceAnswer::Out);
    }
  }
}

// The box of axis-aligned nodes: around all corners, grown by the slack, and no larger.
TEST(ConvexToolTight, AxisAlignedBoxIsTight) {
  Dice dice(kSeed + 4);
  for (int trial = 0; trial < 200; ++trial) {
    const ConvexTool tool = convex_tool(test::random_volume(dice), 0.3f);
    if (tool.corner_count == 0) continue;
    dvec3 low(1e30), high(-1e30);
    for (int i = 0; i < tool.corner_count; ++i)
      low = glm::min(low, tool.corners[i]), high = glm::max(high, tool.corners[i]);
    const Aabb box = box_of(tool);
    for (int axis = 0; axis < 3; ++axis) {
      ASSERT_NEAR(box.low[axis], low[axis] - tool.slack, 1e-7);
      ASSERT_NEAR(box.high[axis], high[axis] + tool.slack, 1e-7);
    }
  }
}

}  // namespace
}  // namespace trocar

// Tests the decisions of a tree traversal: compares the 15-axis test with alternating projections, and the tests of
// boxes and faces against a volume with sampling and with the reference's margin.
#include <gtest/gtest.h>

#include <algorithm>

#include "cpu_collision/convex_tool.hpp"
#include "cpu_collision/reference.hpp"
#include "cpu_collision/trees/aabb.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::convex_tool_test {
namespace {

using test::Dice;

constexpr unsigned kSeed = 31337;

ObbNode random_box(Dice& dice, double spread, double size) {
  const glm::dvec3 a = dice.shaft_direction(), b = dice.across(a);
  ObbNode box = with_axes(glm::vec3(a), glm::vec3(b), glm::vec3(glm::cross(a, b)));
  box.centre = lanes(glm::vec3(dice.in_cube(spread)));
  const auto side = [&] { return dice.pick(8) ? dice.log_uniform(0.01 * size, size) : 0.0; };
  box.extent = lanes(glm::vec3(side(), side(), side()));
  return box;
}

glm::dvec3 axis(const ObbNode& box, int k) { return {box.axis_x[k], box.axis_y[k], box.axis_z[k]}; }

glm::dvec3 nearest_in(const ObbNode& box, const glm::dvec3& point) {
  const glm::dvec3 centre(xyz(box.centre));
  glm::dvec3 result = centre;
  for (int k = 0; k < 3; ++k) {
    const double half = box.extent[k];
    result += axis(box, k) * std::clamp(glm::dot(axis(box, k), point - centre), -half, half);
  }
  return result;
}

// Returns the distance of two boxes by alternating projections: slow, and without separating axes. -1 when it has not
// converged.
double box_distance(const ObbNode& a, const ObbNode& b) {
  glm::dvec3 on_b(xyz(b.centre)), on_a = on_b;
  for (int k = 0; k < 3000; ++k) {
    on_a = nearest_in(a, on_b);
    const glm::dvec3 next = nearest_in(b, on_a);
    if (glm::distance(next, on_b) < 1e-13 || glm::distance(next, on_a) < 1e-9) return glm::distance(next, on_a);
    on_b = next;
  }
  return -1.0;
}

TEST(ConvexTool, FifteenAxesDecideBoxes) {
  Dice dice(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  int apart = 0, together = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const ObbNode a = random_box(dice, 0.06, 0.1), b = random_box(dice, 0.06, 0.1);
    const double distance = box_distance(a, b);
    if (distance > 2e-5) {
      ASSERT_FALSE(boxes_overlap(a, b)) << "trial " << trial << ", distance " << distance;
      ++apart;
    } else if (distance >= 0.0 && distance <= 1e-9) {
      ASSERT_TRUE(boxes_overlap(a, b)) << "trial " << trial;
      ++together;
    }
  }
  EXPECT_GT(apart, 1000);
  EXPECT_GT(together, 1000);
}

// Tests parallel boxes, whose edge pairs have no axis: rounding must not separate touching boxes.
TEST(ConvexTool, FifteenAxesOnParallelBoxes) {
  Dice dice(kSeed + 1);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 1);
  for (int trial = 0; trial < 20000; ++trial) {
    const ObbNode a = random_box(dice, 0.2, 0.1);
    ObbNode b = a;
    const glm::vec3 inside(dice.uniform(-0.99, 0.99), dice.uniform(-0.99, 0.99), dice.uniform(-0.99, 0.99));
    glm::dvec3 centre(xyz(a.centre));
    for (int k = 0; k < 3; ++k) centre += axis(a, k) * double(inside[k] * 2.f * a.extent[k]);
    b.centre = lanes(glm::vec3(centre));
    for (int k = 0; k < 3; ++k) b.extent[k] += 1e-6f;
    ASSERT_TRUE(boxes_overlap(a, b)) << "trial " << trial;
  }
}

bool holds(const ToolVolume& volume, const glm::dvec3& point, double slack) {
  for (int i = 0; i < volume.plane_count; ++i) {
    if (glm::dot(glm::dvec3(volume.planes[i]), point) + volume.planes[i].w < -slack) return false;
  }
  return true;
}

glm::dvec3 middle_of(const ConvexTool& tool) {
  glm::dvec3 sum(0.0);
  for (int i = 0; i < tool.corner_count; ++i) sum += tool.corners[i];
  return sum / double(tool.corner_count);
}

// Returns the point where a ray from inside exits the volume.
glm::dvec3 leave(const ToolVolume& volume, const glm::dvec3& from, const glm::dvec3& direction) {
  double exit = 1e3;
  for (int i = 0; i < volume.plane_count; ++i) {
    const glm::dvec3 n(volume.planes[i]);
    const double speed = glm::dot(n, direction);
    if (speed < 0.0) exit = std::min(exit, std::max(0.0, -(glm::dot(n, from) + volume.planes[i].w) / speed));
  }
  return from + exit * direction;
}

// The corners span the volume: no corner lies outside it, and no boundary point lies beyond them in any direction.
TEST(ConvexTool, CornersSpanTheVolume) {
  Dice dice(kSeed + 2);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 2);
  std::vector<ToolVolume> volumes;
  for (const ToolStep& step : test::switch_steps(dice)) {
    volumes.push_back(swept_volume(step, Cover::Capsule));
    volumes.push_back(swept_volume(step, Cover::Paper));
  }
  for (int trial = 0; trial < 5000; ++trial) volumes.push_back(test::random_volume(dice));
  int flat = 0;
  for (std::size_t trial = 0; trial < volumes.size(); ++trial) {
    SCOPED_TRACE(testing::Message() << "trial " << trial);
    const ConvexTool tool = convex_tool(volumes[trial], 0.3f);
    if (tool.corner_count < 6) {
      ++flat;  // a paper cover thinner than rounding
      continue;
    }
    ASSERT_GE(tool.edge_count, 9);
    for (int i = 0; i < tool.corner_count; ++i) ASSERT_TRUE(holds(volumes[trial], tool.corners[i], 1e-10));
    const glm::dvec3 middle = middle_of(tool);
    for (int sample = 0; sample < 6; ++sample) {
      const glm::dvec3 skin = leave(volumes[trial], middle, dice.direction()), u = dice.direction();
      double furthest = -1e30;
      for (int i = 0; i < tool.corner_count; ++i) furthest = std::max(furthest, glm::dot(u, tool.corners[i]));
      ASSERT_LE(glm::dot(u, skin), furthest + 1e-9);
      for (int k = 0; k < 3; ++k) {
        ASSERT_LE(std::abs(glm::dot(axis(tool.box, k), skin - glm::dvec3(xyz(tool.box.centre)))), tool.box.extent[k]);
      }
    }
  }
  EXPECT_LT(flat, 50);
}

// Tests an empty volume: by rounding, no point is inside two opposite planes. It touches nothing.
TEST(ConvexTool, EmptyVolume) {
  ToolVolume volume = static_volume({{0, 0, 0.2}, {0, 0, 0}, 0.01});
  volume.planes[5] = -volume.planes[4];
  volume.planes[5].w -= 1e-7f;
  const ConvexTool tool = convex_tool(volume, 0.3f);
  EXPECT_EQ(tool.corner_count, 0);
  EXPECT_EQ(box_meets(tool, tool.box), BoxAnswer::Outside);
  EXPECT_FALSE(face_meets(tool, {{-1, -1, 0.1}, {1, -1, 0.1}, {0, 1, 0.1}}));
}

TEST(ConvexTool, BoxAnswersAreCertain) {
  Dice dice(kSeed + 3);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 3);
  int counts[3] = {};
  for (int trial = 0; trial < 5000; ++trial) {
    const ToolVolume volume = test::random_volume(dice);
    const ConvexTool tool = convex_tool(volume, 0.5f);
    for (int repeat = 0; repeat < 4; ++repeat) {
      ObbNode box = random_box(dice, 0.3, repeat % 2 ? 0.2 : 0.002);
      if (repeat >= 2) box.centre = lanes(glm::vec3(test::point_of_sweep(dice, volume.step)));
      const BoxAnswer answer = box_meets(tool, box);
      ++counts[int(answer)];
      if (answer == BoxAnswer::Crosses) continue;
      for (int sample = 0; sample < 40; ++sample) {
        glm::dvec3 point(xyz(box.centre));
        for (int k = 0; k < 3; ++k)
          point += axis(box, k) * (box.extent[k] * (sample % 2 ? dice.uniform(-1, 1) : dice.pick(2) * 2.0 - 1.0));
        if (answer == BoxAnswer::Inside) {
          ASSERT_TRUE(holds(volume, point, 0.0)) << "trial " << trial;
        } else {
          ASSERT_FALSE(holds(volume, point, 0.0)) << "trial " << trial;
        }
      }
    }
  }
  EXPECT_GT(counts[int(BoxAnswer::Outside)], 1000);
  EXPECT_GT(counts[int(BoxAnswer::Crosses)], 1000);
  EXPECT_GT(counts[int(BoxAnswer::Inside)], 100);
}

Triangle random_face(Dice& dice, const ToolVolume& volume) {
  const glm::dvec3 near = test::point_of_sweep(dice, volume.step) + dice.direction() * dice.log_uniform(1e-4, 0.05);
  const double size = dice.log_uniform(1e-4, 0.1);
  Triangle face{near, near + dice.in_cube(size), near + dice.in_cube(size)};
  switch (dice.pick(8)) {
    case 0:
      face.c = face.b;
      break;  // a segment
    case 1:
      face.b = face.c = face.a;
      break;  // a point
    case 2:
      face.c = 0.3 * face.a + 0.7 * face.b;
      break;  // a needle
    default:
      break;
  }
  return face;
}

// Tests that the separating axes and the reference agree if the margin exceeds a nanometre, which is far below the
// borderline distance.
TEST(ConvexTool, FacesAgreeWithTheReference) {
  Dice dice(kSeed + 4);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 4);
  int in = 0, out = 0, close = 0;
  for (int trial = 0; trial < 40000; ++trial) {
    const ToolVolume volume = test::random_volume(dice);
    const ConvexTool tool = convex_tool(volume, 0.5f);
    Triangle face = random_face(dice, volume);
    if (trial % 2) {
      // Push the face along a random direction until it just touches.
      const glm::dvec3 away = dice.direction();
      double near = 0.0, far = 2.0;
      const auto moved = [&](double t) { return Triangle{face.a + t * away, face.b + t * away, face.c + t * away}; };
      if (reference_margin(volume, face) < 0.0) continue;
      for (int k = 0; k < 60; ++k)
        (reference_margin(volume, moved(0.5 * (near + far))) > 0.0 ? near : far) = 0.5 * (near + far);
      face = moved(near + (dice.pick(2) ? 1.0 : -1.0) * dice.log_uniform(3e-9, 1e-5));
      ++close;
    }
    const double margin = reference_margin(volume, face);
    ++(margin >= 0.0 ? in : out);
    if (std::abs(margin) > 1e-9) {
      ASSERT_EQ(face_meets(tool, face), margin >= 0.0) << "trial " << trial << ", margin " << margin;
    }
    const FaceAnswer quick =
        face_quick(tool, lanes(glm::vec3(face.a)), lanes(glm::vec3(face.b)), lanes(glm::vec3(face.c)));
    const Triangle rounded{glm::vec3(face.a), glm::vec3(face.b), glm::vec3(face.c)};
    if (quick == FaceAnswer::In) {
      ASSERT_GE(reference_margin(volume, rounded), 0.0) << "trial " << trial;
    }
    if (quick == FaceAnswer::Out) {
      ASSERT_LT(reference_margin(volume, rounded), 0.0) << "trial " << trial;
    }
  }
  EXPECT_GT(in, 5000);
  EXPECT_GT(out, 5000);
  EXPECT_GT(close, 5000);
}

// The same at every case switch, where planes nearly coincide.
TEST(ConvexTool, FacesAgreeWithTheReferenceAtCaseSwitches) {
  Dice dice(kSeed + 5);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 5);
  const std::vector<ToolStep> steps = test::switch_steps(dice);
  for (std::size_t trial = 0; trial < steps.size(); ++trial) {
    for (const Cover cover : {Cover::Paper, Cover::Capsule}) {
      const ToolVolume volume = swept_volume(steps[trial], cover);
      const ConvexTool tool = convex_tool(volume, 0.5f);
      for (int repeat = 0; repeat < 5; ++repeat) {
        const Triangle face = random_face(dice, volume);
        const double margin = reference_margin(volume, face);
        if (std::abs(margin) <= 1e-8) continue;
        ASSERT_EQ(face_meets(tool, face), margin >= 0.0) << "trial " << trial << ", margin " << margin;
      }
    }
  }
}

// Tests that a prepared tool is no wider than specified: slack, planes, corners, edges, box, and the borders between
// the answers about boxes and faces. A wider tool gives right answers and costs time. A mesh with coordinates of 100 km
// makes the slack 20 cm, so that the borders are visible.

namespace convex_tool_tight_test {

using glm::dvec3;
using glm::vec3;

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

}  // namespace convex_tool_tight_test

}  // namespace
}  // namespace trocar::convex_tool_test

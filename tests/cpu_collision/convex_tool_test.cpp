// Tests the decisions of a tree traversal: compares the 15-axis test with alternating projections, and the tests of
// boxes and faces against a volume with sampling and with the reference's margin.
#include "cpu_collision/convex_tool.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cpu_collision/reference.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar {
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

}  // namespace
}  // namespace trocar

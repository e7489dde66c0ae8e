// Tests the measurements of tasks: distance along the surface, intermittent contact, paths, lines on tissue, zones in
// the picture.
#include <gtest/gtest.h>

#include <random>

#include "sim/session/surface_marks.hpp"
#include "sim/task/tissue_line.hpp"
#include "sim/task/watches.hpp"
#include "tests/sim/task_support.hpp"

namespace trocar {
namespace {

TEST(TaskParts, DistanceFromATargetIsMeasuredAlongTheSurface) {
  EXPECT_DOUBLE_EQ(beside(std::hypot(0.004, 0.0025), 0.0025), 0.004);
  EXPECT_EQ(beside(0.0025, 0.0025), 0.0);
  EXPECT_EQ(beside(0.001, 0.0025), 0.0) << "the tip is pressed in";
}

TEST(TaskParts, IntermittentContactBeginsOnceAndEndsLate) {
  Lasting contact(0.1);
  EXPECT_FALSE(contact.see(false, 0.0));
  EXPECT_FALSE(contact.now());
  EXPECT_TRUE(contact.see(true, 1.0));
  EXPECT_FALSE(contact.see(false, 1.05));
  EXPECT_TRUE(contact.now());
  EXPECT_FALSE(contact.see(true, 1.09)) << "the same contact";
  contact.see(false, 1.25);
  EXPECT_FALSE(contact.now());
  EXPECT_TRUE(contact.see(true, 1.3));
}

TEST(TaskParts, PathLengthAndStraightLineDistance) {
  PathMeter path;
  for (const glm::dvec3& tip : {glm::dvec3(0, 0, 0), glm::dvec3(3, 0, 0), glm::dvec3(3, 4, 0)}) path.see(tip);
  path.reach();
  path.see({3, 4, 1});
  EXPECT_DOUBLE_EQ(path.reached(), 7.0);
  EXPECT_DOUBLE_EQ(path.direct(), 5.0);
  EXPECT_DOUBLE_EQ(path.length(), 8.0);
  EXPECT_TRUE(std::isnan(ratio(1.0, 0.0)));
}

TEST(TaskParts, LinesFollowTheSurfaceInShortSteps) {
  const TriangleMesh ball = shapes::icosphere(4, 0.05f);
  const TaskStage stage{{"ball"}, {"probe"}, {ball.view()}};
  TaskScene task;
  task.locations = {{"ball", {0.f, 0.f, 0.05f}}, {"ball", {0.05f, 0.f, 0.f}}};
  const TissueLine line(task, stage);
  EXPECT_NEAR(line.length(), 0.05 * 1.5708, 0.001) << "a quarter of a great circle";
  for (const glm::vec3& point : line.points()) EXPECT_NEAR(glm::length(point), 0.05f, 0.0003f);
  const auto above = line.nearest({0.0, 0.0, 0.06}, 0, line.steps());
  EXPECT_NEAR(above.away, 0.01, 1e-4);
  EXPECT_NEAR(above.along, 0.0, 1e-4);
  EXPECT_TRUE(line.nearest({-0.02, 0.0, 0.05}, 0, line.steps()).beyond);
  EXPECT_FALSE(line.nearest({0.03, 0.0, 0.04}, 0, line.steps()).beyond);
}

// Many marks at once equal the marks one by one and lie at the expected positions.
TEST(TaskParts, MarksOfManyPoints) {
  const TriangleMesh ball = shapes::icosphere(3, 0.05f);
  std::mt19937 random(5);
  std::uniform_real_distribution<float> any(-0.06f, 0.06f);
  std::vector<glm::vec3> points;
  for (int k = 0; k < 20; ++k) points.emplace_back(any(random), any(random), any(random));
  const auto marks = nearest_marks(3, ball.view(), points);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const SurfaceMark one = nearest_mark(3, ball.view(), points[k]);
    EXPECT_TRUE(marks[k].organ == one.organ && marks[k].vertex == one.vertex && marks[k].weight == one.weight);
    EXPECT_NEAR(glm::length(position_of(one, ball.positions)), 0.05f, 0.001f);
  }
}

// Compares with sampling: points of the shaft's surface, projected by the scope, are inside the zone or not.
TEST(TaskParts, AShaftIsInAZoneIfItsProjectedSurfaceIs) {
  const std::vector<glm::dvec2> square = {{-0.2, -0.2}, {0.2, -0.2}, {0.2, 0.2}, {-0.2, 0.2}};
  const planar::Zone zone(square, planar::ZoneKind::Forbidden);
  const ScopePose scope{{0, -0.3, 0.4}, {0, -0.1, 0.25}, 0.0, 0.0, 55.0};
  const ScopeAxes axes = axes_of(scope);
  std::mt19937 random(11);
  std::uniform_real_distribution<double> any(-0.06, 0.06), turn(0.0, 6.283185307179586);
  int inside = 0;
  for (int k = 0; k < 300; ++k) {
    const glm::dvec3 middle = scope.eye + 0.15 * axes.forward;
    const ToolPose tool{middle + glm::dvec3(0.12, any(random), 0.05),
                        middle + glm::dvec3(any(random), any(random), 0.0), 0.0025};
    // The outline of a thin shaft is, to first order, its axis shifted by the radius across the picture.
    bool sampled = false, nearly = false;
    for (int i = 0; i <= 400; ++i) {
      const glm::dvec3 point = glm::mix(tool.tip, tool.pivot, i / 400.0);
      for (int j = 0; j < 24; ++j) {
        const double angle = j * 6.283185307179586 / 24;
        const glm::dvec3 across = std::cos(angle) * axes.right + std::sin(angle) * axes.up;
        for (const double size : {0.85, 1.0, 1.15}) {
          const auto seen =
              planar::project_tool(image_camera(scope, 1.0), tool.pivot, point + size * tool.radius * across);
          const bool in = seen.visible && zone.contains(seen.shaft.b);
          if (size == 1.0) sampled = sampled || in;
          nearly = nearly || in;
        }
      }
    }
    const ZoneDepth depth = depth_in_zone(zone, scope, tool);
    inside += depth.half_heights > 0.0;
    if (sampled == nearly) {
      EXPECT_EQ(depth.half_heights > 0.0, sampled) << "seed 11, case " << k;
    }
  }
  EXPECT_GT(inside, 50);
  EXPECT_LT(inside, 290);
}

TEST(TaskParts, DepthInAZoneIsMeasuredAtTheInstrument) {
  const std::vector<glm::dvec2> half = {{0.0, -5.0}, {9.0, -5.0}, {9.0, 5.0}, {0.0, 5.0}};
  const planar::Zone zone(half, planar::ZoneKind::Forbidden);
  const ScopePose scope{{0, 0, 0.4}, {0, 0, 0.2}, 0.0, 0.0, 90.0};  // half height = depth
  // Across the picture at depth 100 mm, its tip 30 mm inside, and its end 2 mm farther.
  const ZoneDepth depth = depth_in_zone(zone, scope, {{-0.1, 0, 0.1}, {0.030, 0, 0.1}, 0.002});
  EXPECT_NEAR(depth.metres, 0.032, 1e-6);
  EXPECT_NEAR(depth.half_heights, 0.32, 1e-5);
  EXPECT_LT(depth_in_zone(zone, scope, {{-0.1, 0, 0.1}, {-0.0021, 0, 0.1}, 0.002}).half_heights, 0.0);
  EXPECT_GT(depth_in_zone(zone, scope, {{-0.1, 0, 0.1}, {-0.0019, 0, 0.1}, 0.002}).half_heights, 0.0);
  EXPECT_LT(depth_in_zone(zone, scope, {{0.1, 0, 0.5}, {0.030, 0, 0.45}, 0.002}).half_heights, 0.0)
      << "behind the lens";
}

// A mark is removed when no face contains it: dividing its face keeps it, removing the part around it does not.
TEST(MarkWatch, FollowsDividedFacesAndNoticesRemovedOnes) {
  const std::vector<glm::vec3> rest = {{0, 0, 0}, {0.01f, 0, 0}, {0, 0.01f, 0}, {0.005f, 0.005f, 0}};
  const SurfaceMark mark{0, {0, 1, 2}, {0.5f, 0.4f, 0.1f}}, other{0, {0, 1, 2}, {0.5f, 0.1f, 0.4f}};
  const std::vector<SurfaceMark> marks = {mark, other};
  MarkWatch watch(marks);
  const std::vector<glm::uvec3> whole = {{0, 1, 2}}, halves = {{0, 1, 3}, {0, 3, 2}}, half = {{0, 3, 2}};
  const std::vector<FaceId> first = {FaceId(0)}, both = {FaceId(1), FaceId(2)}, last = {FaceId(2)};
  const auto removed = [&] { return std::vector<int>(watch.removed().begin(), watch.removed().end()); };
  watch.look(0, {rest, whole}, first);
  EXPECT_EQ(removed(), (std::vector<int>{0, 0}));
  watch.look(0, {rest, halves}, both);
  EXPECT_EQ(removed(), (std::vector<int>{0, 0}));
  watch.look(0, {rest, half}, last);
  EXPECT_EQ(removed(), (std::vector<int>{1, 0}));
  watch.look(0, {rest, whole}, first);
  EXPECT_EQ(removed(), (std::vector<int>{1, 0})) << "removed marks stay removed";
  watch.look(1, {rest, {}}, {});
  EXPECT_EQ(removed(), (std::vector<int>{1, 0})) << "another organ";
  watch.rewind();
  watch.look(0, {rest, whole}, first);
  EXPECT_EQ(removed(), (std::vector<int>{0, 0}));
  watch.look(0, {rest, {}}, {});
  EXPECT_EQ(removed(), (std::vector<int>{1, 1}));
}

}  // namespace
}  // namespace trocar

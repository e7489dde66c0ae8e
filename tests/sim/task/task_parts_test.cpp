// Tests the measurements of tasks: distance along the surface, intermittent contact, paths, lines on tissue, zones in
// the picture.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "sim/session/surface_marks.hpp"
#include "sim/task/duct.hpp"
#include "sim/task/performer.hpp"
#include "sim/task/tissue_line.hpp"
#include "sim/task/watches.hpp"
#include "tests/sim/task/task_support.hpp"
#include "tests/support/shapes.hpp"

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

// Tests the depth of burns: distance from the surface at rest, bounded by the surfaces of neighbours.

namespace {

// The depth of a hole is the distance of its walls from the surface at rest.
TEST(BurnDepth, IsTheDistanceFromTheSurfaceAtRest) {
  const TriangleMesh flat{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, {{0, 1, 2}, {1, 3, 2}}};
  BurnWatch burns(flat.view(), {});
  EXPECT_EQ(burns.deepest(), 0.0);
  burns.add({});
  EXPECT_EQ(burns.deepest(), 0.0);
  const std::vector<glm::vec3> walls = {{0.5f, 0.5f, -0.25f}, {0.2f, 0.2f, -0.5f}, {0.3f, 0.3f, 0.f}};
  burns.add(walls);
  EXPECT_NEAR(burns.deepest(), 0.5, 1e-7);
}

// Where a neighbour overlaps the organ at rest, its surface bounds the organ.
TEST(BurnDepth, DoesNotCountTissueInsideANeighbour) {
  const TriangleMesh flat{{{-9, -9, 0}, {9, -9, 0}, {0, 9, 0}}, {{0, 1, 2}}};
  const TriangleMesh ball = shapes::sphere_of(2000, 1.f);  // down to z = -1
  const std::vector<MeshView> neighbours = {ball.view()};
  BurnWatch burns(flat.view(), neighbours);
  burns.add(std::vector<glm::vec3>{{0.1f, 0.f, -0.5f}});
  EXPECT_EQ(burns.deepest(), 0.0);
  burns.add(std::vector<glm::vec3>{{0.f, 0.f, -1.25f}});
  EXPECT_NEAR(burns.deepest(), 0.25, 1e-3);
  burns.add(std::vector<glm::vec3>{{3.f, 0.f, -0.5f}});
  EXPECT_NEAR(burns.deepest(), 0.5, 1e-7) << "away from the neighbour";
}

}  // namespace

// Tests points on the line through a duct, also before its start and behind its end.

namespace {

TEST(DuctLine, PointsLieAlongIt) {
  const std::vector<glm::dvec3> line = {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}};
  EXPECT_EQ(point_on_line(line, -1.0), line[0]);
  EXPECT_EQ(point_on_line(line, 0.25), glm::dvec3(0.25, 0, 0));
  EXPECT_EQ(point_on_line(line, 2.0), glm::dvec3(1, 1, 0));
  EXPECT_EQ(point_on_line(line, 9.0), line[2]);
}

}  // namespace

// Tests the lines of ducts as scripted trainees see them.

namespace {

// A straight duct along x, organ 1, held by two fibres of organ 0 near its ends; organ 2 is a duct without fibres.
class Ducts : public ::testing::Test {
 protected:
  std::vector<std::vector<glm::dvec3>> lines_ = {
      {}, {{0, 0, 0}, {0.02, 0, 0}, {0.04, 0, 0}}, {{0, 0.1, 0}, {0.04, 0.1, 0}}};
  std::vector<StageFibre> fibres_ = {{0, {}, 0, 1}, {0, {}, 1, 0}};
  std::vector<FibreEnds> ends_ = {{{0.002f, 0, 0.01f}, {0.002f, 0, 0.001f}}, {{0.038f, 0, 0.001f}, {0.038f, 0, 0.01f}}};
};

TEST_F(Ducts, ClearanceAtRestIsTheDistanceFromTheLines) {
  const DuctPoints ducts(lines_, fibres_, ends_);
  std::mt19937 random(3501);
  std::printf("seed 3501\n");
  const auto number = [&] { return 0.2 * (static_cast<double>(random()) / 4294967296.0 - 0.5); };
  const auto distance = [](const glm::dvec3& p, double y) {
    const glm::dvec3 nearest(std::clamp(p.x, 0.0, 0.04), y, 0.0);
    return glm::distance(p, nearest);
  };
  for (int round = 0; round < 1000; ++round) {
    const double x = number(), y = number(), z = number(), u = number(), v = number(), w = number();
    const glm::dvec3 from(x, y, z), to(u, v, w);
    EXPECT_NEAR(ducts.clearance(from, from), std::min(distance(from, 0.0), distance(from, 0.1)), 1e-9);
    double sampled = INFINITY;
    for (int k = 0; k <= 400; ++k) {
      const glm::dvec3 p = glm::mix(from, to, k / 400.0);
      sampled = std::min({sampled, distance(p, 0.0), distance(p, 0.1)});
    }
    EXPECT_LE(ducts.clearance(from, to), sampled + 1e-9);
    EXPECT_GE(ducts.clearance(from, to), sampled - 1e-3);
  }
}

// Each half follows the end of the fibre that is nearest to it, whichever end of the fibre that is.
TEST_F(Ducts, MoveWithTheNearestEndOfAFibre) {
  DuctPoints ducts(lines_, fibres_, ends_);
  ends_[0].b += glm::vec3(0, 0, 0.03f);
  ends_[1].b += glm::vec3(0, 0, 0.05f);  // the other organ's
  ducts.follow(ends_);
  const auto near = [&](const glm::dvec3& p) { return ducts.clearance(p, p); };
  EXPECT_NEAR(near({0.002, 0, 0.03}), 0.0, 1e-8);
  EXPECT_NEAR(near({0.035, 0, 0.0}), 0.0, 1e-8);
  EXPECT_GT(near({0.005, 0, 0.0}), 0.01);
  EXPECT_NEAR(near({0.02, 0.1, 0.0}), 0.0, 1e-8);
}

TEST_F(Ducts, WithoutDuctsEverythingIsClear) {
  DuctPoints none({}, fibres_, ends_);
  none.follow(ends_);
  EXPECT_EQ(none.clearance({0, 0, 0}, {1, 1, 1}), INFINITY);
  EXPECT_EQ(DuctPoints().clearance({0, 0, 0}, {1, 1, 1}), INFINITY);
}

}  // namespace

// Tests the measurement of tremor: the filter against the closed form of its gain, and the choice of frames.

namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;

// Amplitude of the filter's answer to a sine wave of 1 m, after it has settled.
double gain(double frequency, double dt) {
  TremorFilter filter;
  filter.begin({});
  double most = 0.0;
  for (int k = 0; k * dt < 20.0; ++k) {
    const double value = filter.step({std::sin(kTurn * frequency * k * dt), 0.0, 0.0}, dt).x;
    if (k * dt > 10.0) most = std::max(most, std::abs(value));
  }
  return most;
}

// |H|^2 = 1 / (1 + (tan(pi f0 dt) / tan(pi f dt))^8) for the bilinear transform of the analogue filter.
TEST(TremorFilter, HasTheGainOfAFourthOrderButterworthFilter) {
  for (const double dt : {1.0 / 60.0, 1.0 / 240.0})
    for (const double frequency : {0.7, 2.3, 4.0, 5.0, 6.3, 9.1, 13.7}) {
      const double ratio = std::tan(0.5 * kTurn * TremorFilter::kLowest * dt) / std::tan(0.5 * kTurn * frequency * dt);
      const double expected = 1.0 / std::sqrt(1.0 + std::pow(ratio, 8.0));
      EXPECT_NEAR(gain(frequency, dt), expected, 0.004) << frequency << " Hz, step " << dt;
    }
}

TEST(TremorFilter, TheStartPositionDoesNotMatter) {
  TremorFilter near, far;
  near.begin({}), far.begin({3.0, -2.0, 1.0});
  for (int k = 0; k < 200; ++k) {
    const glm::dvec3 at(0.001 * std::sin(0.7 * k), 0.002 * k, 0.0);
    EXPECT_LT(glm::distance(near.step(at, 0.01), far.step(at + glm::dvec3(3.0, -2.0, 1.0), 0.01)), 1e-12);
  }
}

class Tremor : public ::testing::Test {
 protected:
  Tremor() {
    task_.kind = TaskKind::TouchTargets;
    task_.locations = {{"sheet", {0.f, 0.f, 0.f}}};
    task_.most_tremor = 0.0002;
  }
  // Moves the tip along `path` for `duration`, in frames of the support's step.
  template <typename Path>
  double measured(double duration, const Path& path) {
    TremorWatch watch(task_, frames_.stage());
    const TaskRun marks(task_, frames_.stage());
    for (double time = 0.0; time < duration; time += frames_.kDt) {
      frames_.tool.pose.tip = path(time);
      watch.step(frames_.kept(marks), time > 0.0 ? frames_.kDt : 0.0);
    }
    return watch.rms();
  }
  TaskScene task_;
  test::HandMadeFrames frames_;
};

TEST_F(Tremor, IsTheRootMeanSquareOfASineWave) {
  const double rms = measured(6.0, [](double t) { return glm::dvec3(0.0004 * std::sin(kTurn * 9.0 * t), 0.0, 0.05); });
  EXPECT_NEAR(rms, 0.0004 / std::sqrt(2.0), 0.00001);
}

TEST_F(Tremor, ATraceAtSteadySpeedHasNone) {
  EXPECT_LT(measured(4.0, [](double t) { return glm::dvec3(0.02 * t, 0.0, 0.05); }), 2e-6);
}

TEST_F(Tremor, FastMovementIsLeftOut) {
  // Back and forth by 60 mm in half a second, with a rest of a second in between.
  const auto path = [](double t) {
    const double turn = std::fmod(t, 3.0);
    const double there = minimum_jerk(turn / 0.5) - minimum_jerk((turn - 1.5) / 0.5);
    return glm::dvec3(0.06 * there, 0.0, 0.05);
  };
  EXPECT_LT(measured(12.0, path), 0.00006);
}

TEST_F(Tremor, HasNoValueWithoutSlowMovementOrInLongSteps) {
  EXPECT_TRUE(std::isnan(measured(0.9, [](double) { return glm::dvec3(0.0, 0.0, 0.05); }))) << "too short";
  EXPECT_TRUE(std::isnan(measured(5.0, [](double t) { return glm::dvec3(0.1 * t, 0.0, 0.05); }))) << "fast";
  TremorWatch watch(task_, frames_.stage());
  const TaskRun marks(task_, frames_.stage());
  for (int k = 0; k < 200; ++k) watch.step(frames_.kept(marks), 0.06);
  EXPECT_TRUE(std::isnan(watch.rms())) << "16 frames a second";
}

TEST_F(Tremor, IsGradedOnlyWithALimit) {
  TaskRun graded(task_, frames_.stage());
  frames_.show(graded, 300);
  EXPECT_NEAR(test::part_of(graded.result(), "task_tremor"), 0.0, 1e-9);
  task_.most_tremor = 0.0;
  TaskRun plain(task_, frames_.stage());
  frames_.show(plain, 300);
  for (const Metric& part : plain.result().parts) EXPECT_NE(part.id, "task_tremor");
}

}  // namespace

}  // namespace trocar

// Tests zones and the projected tool: compares distances with the outline and dense sampling, and the projection with
// hand-computed perspective cameras. A frame must not allocate.
#include "geometry/planar/zone.hpp"

#include <gtest/gtest.h>

#include <glm/gtc/matrix_transform.hpp>
#include <limits>

#include "geometry/error.hpp"
#include "tests/geometry/planar_polygons.hpp"
#include "tests/support/allocation_counter.hpp"

namespace trocar::planar {
namespace {

using namespace test;

double outline_distance(Corners c, const dvec2& p) {
  double best = 1e300;
  for (std::size_t i = 0; i < c.size(); ++i) best = std::min(best, distance(Segment{c[i], c[(i + 1) % c.size()]}, p));
  return best;
}

double signed_twin(Corners c, const dvec2& p) {
  const double away = outline_distance(c, p);
  return locate_in_polygon(c, p) == Location::Inside ? -away : away;
}

// An outline of a few corners in the image, and its corners as doubles.
struct RandomZone {
  SimpleWhole whole;
  double scale;
  Zone zone;
};

RandomZone random_zone(Dice& dice) {
  SimpleWhole whole = simple_whole(dice, static_cast<int>(dice.log_uniform(3.0, dice.pick(10) ? 12.0 : 40.0)));
  const double scale = std::exp2(-std::ceil(std::log2(static_cast<double>(whole.reach))));
  Zone zone(scaled(whole.corners, scale), ZoneKind::Forbidden);
  return {std::move(whole), scale, std::move(zone)};
}

TEST(PlanarZone, PointDistanceAgreesWithTheOutline) {
  Dice dice(24);
  Tally tally{"point to zone"};
  int wrong = 0;
  long inside = 0;
  while (tally.cases < kCases) {
    const RandomZone random = random_zone(dice);
    const std::vector<Whole>& c = random.whole.corners;
    for (int k = 0; k < 200; ++k, ++tally.cases) {
      const std::size_t i = dice.pick(c.size());
      const Whole at = point_about(dice, c[i], c[dice.pick(c.size())], random.whole.reach);
      const dvec2 p = scaled(at, random.scale);
      const Location location = locate_by_winding(c, at);
      const ZoneDistance d = random.zone.distance(p);
      const double expected = outline_distance(random.zone.outline(), p);
      wrong += random.zone.contains(p) != (location != Location::Outside);
      wrong += std::abs(d.distance - (location == Location::Inside ? -expected : expected)) > 1e-14 || d.on_tool != p;
      wrong += std::abs(glm::length(d.on_zone - p) - expected) > 1e-14;
      tally.degenerate += location == Location::Boundary;
      inside += location == Location::Inside;
    }
  }
  std::printf("    %ld inside\n", inside);
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarZone, ShaftDistanceAgreesWithSampling) {
  Dice dice(25);
  Tally tally{"shaft to zone"};
  int wrong = 0;
  long inside = 0;
  while (tally.cases < kCases / 10) {
    const RandomZone random = random_zone(dice);
    const std::vector<Whole>& c = random.whole.corners;
    const Corners outline = random.zone.outline();
    for (int k = 0; k < 50; ++k, ++tally.cases) {
      const auto end = [&] {
        return point_about(dice, c[dice.pick(c.size())], c[dice.pick(c.size())], random.whole.reach);
      };
      const Segment shaft{scaled(end(), random.scale), scaled(end(), random.scale)};
      const ZoneDistance d = random.zone.distance(shaft);
      double exact = 1e300;  // valid when the shaft is outside
      for (std::size_t i = 0; i < c.size(); ++i)
        exact = std::min(exact, distance(shaft, Segment{outline[i], outline[(i + 1) % c.size()]}));
      if (exact > 0.0 && locate_in_polygon(outline, shaft.a) == Location::Outside) {
        wrong += std::abs(d.distance - exact) > 1e-14;
      } else {
        // No sample is deeper than the reported depth, and the reported point has that depth.
        constexpr int kSamples = 40;
        double deepest = 0.0;
        for (int s = 0; s <= kSamples; ++s)
          deepest = std::min(deepest, signed_twin(outline, point_at(shaft, s / double(kSamples))));
        wrong += d.distance > deepest + kDepthTolerance || d.distance > 0.0;
        wrong += d.distance < deepest - 0.5 * glm::length(shaft.b - shaft.a) / kSamples - 1e-12;
        wrong += std::abs(signed_twin(outline, d.on_tool) - d.distance) > 1e-12;
        ++inside;
      }
      wrong += distance(shaft, d.on_tool) > 1e-14 || outline_distance(outline, d.on_zone) > 1e-14;
      wrong += std::abs(glm::length(d.on_tool - d.on_zone) - std::abs(d.distance)) > 1e-14;
      tally.degenerate += shaft.a == shaft.b || exact == 0.0;
    }
  }
  std::printf("    %ld inside\n", inside);
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarZone, HandMadeCases) {
  // A U: the notch between its arms is outside.
  const std::vector<dvec2> u{{-0.5, -0.5}, {0.5, -0.5},  {0.5, 0.5},  {0.3, 0.5},
                             {0.3, -0.1},  {-0.3, -0.1}, {-0.3, 0.5}, {-0.5, 0.5}};
  const Zone zone(u, ZoneKind::Safe);
  EXPECT_NEAR(zone.distance(dvec2(0.0, 0.2)).distance, 0.3, 1e-15);
  EXPECT_NEAR(zone.distance(dvec2(0.0, -0.3)).distance, -0.2, 1e-15);
  EXPECT_NEAR(zone.distance(Segment{{0.0, 0.9}, {0.0, 0.1}}).distance, 0.2, 1e-15);
  EXPECT_NEAR(zone.distance(Segment{{-0.9, -0.3}, {0.9, -0.3}}).distance, -0.2, 1e-6);
  EXPECT_EQ(zone.distance(Segment{{0.5, -1.0}, {0.5, 1.0}}).distance, 0.0);  // along a side
  EXPECT_THROW(Zone(std::vector<dvec2>{{0.0, 0.0}, {1.0, 1.0}}, ZoneKind::Safe), InputError);
}

TEST(PlanarZone, DoesNotAllocatePerFrame) {
  Dice dice(26);
  const RandomZone random = random_zone(dice);
  const std::uint64_t before = allocations_so_far();
  double sum = 0.0;
  for (int i = 0; i < 1000; ++i) {
    const dvec2 a(dice.uniform(-1.0, 1.0), dice.uniform(-1.0, 1.0)),
        b(dice.uniform(-1.0, 1.0), dice.uniform(-1.0, 1.0));
    sum += random.zone.distance(a).distance + random.zone.distance(Segment{a, b}).distance;
  }
  EXPECT_EQ(allocations_so_far(), before);
  EXPECT_TRUE(std::isfinite(sum));
}

// Returns a 60 degree endoscope 10 cm above the origin, looking down -y with +z up in the image.
ImageCamera endoscope(double aspect) {
  const glm::dmat4 view = glm::lookAt(glm::dvec3(0.0, 0.1, 0.0), glm::dvec3(0.0), glm::dvec3(0.0, 0.0, 1.0));
  return {glm::perspective(glm::radians(60.0), aspect, 0.005, 1.0) * view, aspect};
}

TEST(PlanarZone, ProjectsByTheTangentOfTheAngle) {
  const ImageCamera camera = endoscope(16.0 / 9.0);
  const ImageTool tool = project_tool(camera, {0.0, 0.0, 0.0}, {0.02, 0.05, 0.01});
  ASSERT_TRUE(tool.visible && tool.tip_visible);
  const double half = std::tan(glm::radians(30.0));
  EXPECT_NEAR(tool.shaft.a.x, 0.0, 1e-15);
  EXPECT_NEAR(tool.shaft.a.y, 0.0, 1e-15);
  // Looking down -y with +z up, +x is to the left.
  EXPECT_NEAR(tool.shaft.b.x, -0.02 / 0.05 / half, 1e-12);
  EXPECT_NEAR(tool.shaft.b.y, 0.01 / 0.05 / half, 1e-12);
  // A length is the same on both axes for every shape of the image.
  const ImageTool square = project_tool(endoscope(1.0), {0.0, 0.0, 0.0}, {0.02, 0.05, 0.01});
  EXPECT_NEAR(square.shaft.b.x, tool.shaft.b.x, 1e-12);
}

// A shaft that comes from behind the camera: every visible point of it projects onto the cut segment, none beside it.
TEST(PlanarZone, ShaftFromBehindTheCameraIsCutAtTheNearPlane) {
  const ImageCamera camera = endoscope(1.5);
  Dice dice(27);
  int cut = 0, behind = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto random_point = [&] {
      return glm::dvec3(dice.uniform(-0.1, 0.1), dice.uniform(-0.1, 0.3), dice.uniform(-0.1, 0.1));
    };
    const glm::dvec3 pivot = random_point(), tip = random_point();
    const ImageTool tool = project_tool(camera, pivot, tip);
    const auto in_front = [](const glm::dvec3& p) { return 0.1 - p.y >= 0.005; };
    ASSERT_EQ(tool.visible, in_front(pivot) || in_front(tip));
    if (!tool.visible) {
      ++behind;
      continue;
    }
    ASSERT_EQ(tool.tip_visible, in_front(tip));
    cut += !in_front(pivot) || !in_front(tip);
    const double size = 1.0 + glm::length(tool.shaft.a) + glm::length(tool.shaft.b);
    for (int s = 0; s <= 20; ++s) {
      const glm::dvec3 p = glm::mix(pivot, tip, s / 20.0);
      if (!in_front(p)) continue;
      const glm::dvec4 clip = camera.view_projection * glm::dvec4(p, 1.0);
      const dvec2 image(camera.aspect * clip.x / clip.w, clip.y / clip.w);
      ASSERT_LE(distance(tool.shaft, image), 1e-12 * size);
    }
  }
  std::printf("    %d cut at the near plane, %d entirely behind it\n", cut, behind);
  EXPECT_GT(cut, 3000);
}

TEST(PlanarZone, NonFinitePoseIsNotVisible) {
  const ImageCamera camera = endoscope(1.0);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (int axis = 0; axis < 3; ++axis) {
      glm::dvec3 broken(0.0);
      broken[axis] = bad;
      EXPECT_FALSE(project_tool(camera, broken, glm::dvec3(0.01)).visible);
      EXPECT_FALSE(project_tool(camera, glm::dvec3(0.01), broken).visible);
      EXPECT_FALSE(project_tool(camera, glm::dvec3(0.01), -broken).visible);
    }
  }
}

// Tests a complete frame: a pose moves into a forbidden zone, and the distance changes sign where the tip crosses.
TEST(PlanarZone, ToolEntersZone) {
  const ImageCamera camera = endoscope(16.0 / 9.0);
  const double half = std::tan(glm::radians(30.0)), edge = 0.02 / 0.1 / half;  // of x = -0.02 m at 0.1 m depth
  const Zone zone(std::vector<dvec2>{{edge, -0.4}, {edge + 0.6, -0.4}, {edge + 0.6, 0.4}, {edge, 0.4}},
                  ZoneKind::Forbidden);
  for (int mm = 0; mm <= 30; ++mm) {
    const ImageTool tool = project_tool(camera, {0.04, 0.0, 0.0}, {-0.001 * mm, 0.0, 0.0});
    const ZoneDistance d = zone.distance(tool.shaft);
    const double past = (0.001 * mm - 0.02) / 0.1 / half;  // distance of the tip beyond the edge
    EXPECT_NEAR(d.distance, -past, 2e-6) << mm << " mm";
  }
}

}  // namespace
}  // namespace trocar::planar

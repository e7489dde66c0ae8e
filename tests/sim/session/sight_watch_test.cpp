// Tests what organs hide from the scope: against all faces, on organs that move and lose faces; how near to a surface a
// point is visible; and the time that a frame takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

#include "geometry/closest.hpp"
#include "mesh/organ_maker.hpp"
#include "sim/session/sight_watch.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

Organ sight_organ(TriangleMesh mesh) {
  Organ organ;
  organ.positions = mesh.positions;
  organ.mesh = std::move(mesh);
  return organ;
}

void find_box(Organ& organ) {
  organ.box = {glm::vec3(1e30f), glm::vec3(-1e30f)};
  for (const glm::vec3& p : organ.positions)
    organ.box.low = glm::min(organ.box.low, p), organ.box.high = glm::max(organ.box.high, p);
}

// The twin: every face of every organ.
bool hidden_by_any_face(const std::vector<Organ>& organs, const glm::dvec3& eye, const SightPoint& point) {
  const auto end = sight_end(eye, point);
  if (!end) return false;
  for (const Organ& organ : organs)
    for (const glm::uvec3& face : organ.mesh.faces)
      if (line_meets_triangle(eye, *end - eye, 1.0, triangle_of(organ.positions, face))) return true;
  return false;
}

struct Draws {
  std::mt19937 bits{7};
  double next(double low, double high) { return low + (high - low) * double(bits()) / 4294967295.0; }
  glm::dvec3 point(double size) {
    const double x = next(-size, size), y = next(-size, size), z = next(-size, size);
    return {x, y, z};
  }
};

// With a watch, its tree follows the change; without one it is rebuilt later.
void remove_face(std::vector<Organ>& organs, std::uint32_t slot, SightWatch* watch) {
  Organ& organ = organs[0];
  organ.mesh.faces.erase(organ.mesh.faces.begin() + slot);
  organ.topology_before = organ.topology++;
  organ.change.removed = organ.removed_slots = {FaceId(slot)};
  if (watch) watch->follow_changes(organs);
  organ.change.clear();
}

TEST(SightWatch, EqualsTheTestOfAllFacesWhileOrgansMoveAndLoseFaces) {
  std::vector<Organ> organs;
  organs.push_back(sight_organ(shapes::icosphere(3, 0.04f)));
  organs.push_back(sight_organ(shapes::torus(40, 20, 0.08f, 0.02f)));
  organs.push_back(sight_organ(shapes::grid(20, 20, 0.2f, 0.2f)));
  Draws draws;
  SightWatch watch;
  std::size_t hidden = 0, all = 0;
  for (int frame = 0; frame < 150; ++frame) {
    for (Organ& organ : organs) {
      for (glm::vec3& p : organ.positions) p += glm::vec3(draws.point(0.0005));
      find_box(organ);
    }
    const glm::dvec3 eye = draws.point(0.2);
    std::vector<SightPoint> points;
    for (int k = 0; k < 12; ++k) {
      // Half of the points are vertices.
      const Organ& organ = organs[static_cast<std::size_t>(k) % organs.size()];
      const std::size_t vertex = draws.bits() % organ.positions.size();
      points.push_back({k % 2 == 0 ? draws.point(0.12) : glm::dvec3(organ.positions[vertex]), k % 3 * 0.001});
    }
    watch.look(organs, eye, points);
    for (std::size_t k = 0; k < points.size(); ++k) {
      EXPECT_EQ(watch.hidden()[k] != 0, hidden_by_any_face(organs, eye, points[k])) << "frame " << frame << ", " << k;
      hidden += watch.hidden()[k], ++all;
    }
    if (frame % 10 == 9) remove_face(organs, draws.bits() % 100, frame % 20 == 19 ? &watch : nullptr);
  }
  std::printf("%zu of %zu points are hidden\n", hidden, all);
  EXPECT_GT(hidden, all / 10);
  EXPECT_LT(hidden, all * 9 / 10);
}

TEST(SightWatch, OwnSurfaceDoesNotHideATargetInFrontOfItAndTheFarSideIsHidden) {
  std::vector<Organ> organs;
  organs.push_back(sight_organ(shapes::icosphere(4, 0.05f)));
  find_box(organs[0]);
  const glm::dvec3 eye(0.0, 0.0, 0.2);
  std::vector<SightPoint> points;
  std::vector<bool> far_side;
  for (const glm::vec3& p : organs[0].positions) {
    // The horizon is where the line of sight is tangent to the ball, at z = 0.05^2 / 0.2; the mesh is not smooth there.
    if (std::abs(p.z - 0.0125f) < 0.006f) continue;
    points.push_back({glm::dvec3(p), kBeforeTarget});
    far_side.push_back(p.z < 0.0125f);
  }
  SightWatch watch;
  watch.look(organs, eye, points);
  for (std::size_t k = 0; k < points.size(); ++k) EXPECT_EQ(watch.hidden()[k] != 0, far_side[k]) << points[k].at.z;
}

TEST(SightWatch, ThinCoversAndPointsAtTheLensAreVisible) {
  std::vector<Organ> organs;
  organs.push_back(sight_organ(shapes::grid(4, 4, 0.1f, 0.1f)));  // in the plane z = 0
  find_box(organs[0]);
  const glm::dvec3 eye(0.011, 0.007, 0.1);
  const SightPoint points[] = {{{0.011, 0.007, -0.0009}, 0.001},
                               {{0.011, 0.007, -0.0011}, 0.001},
                               {{0.011, 0.007, -0.02}, 0.001},
                               {{0.011, 0.007, 0.02}, 0.001},
                               {eye, 0.001},
                               {{0.2, 0.007, -0.02}, 0.001}};
  SightWatch watch;
  watch.look(organs, eye, points);
  const std::vector<std::uint8_t> expected = {0, 1, 1, 0, 0, 0};
  EXPECT_TRUE(std::ranges::equal(watch.hidden(), expected));
  watch.look({}, eye, points);
  EXPECT_TRUE(std::ranges::all_of(watch.hidden(), [](std::uint8_t hidden) { return hidden == 0; }));
}

TEST(SightWatch, MasksHave32Points) {
  const HiddenPoints hidden{0x80000001u, 2u};
  EXPECT_TRUE(hidden.tip(0) && hidden.tip(31) && !hidden.tip(1) && !hidden.tip(32) && !hidden.tip(64));
  EXPECT_TRUE(hidden.mark(1) && !hidden.mark(0) && !hidden.mark(33));
}

// Prints the time of a frame: a moving organ of 30,000 faces and six points beyond it.
TEST(SightWatch, TakesLittleTime) {
  std::vector<Organ> organs;
  organs.push_back(sight_organ(make_organ("liver", {.faces = 30000})));
  find_box(organs[0]);
  const glm::dvec3 low(organs[0].box.low), high(organs[0].box.high), middle = 0.5 * (low + high);
  const glm::dvec3 eye = middle + glm::dvec3(0.0, 0.0, 0.25);
  std::vector<SightPoint> points;
  for (int k = 0; k < 6; ++k) points.push_back({middle + glm::dvec3(0.02 * (k - 3), 0.01 * k, -0.05), kBeforeTarget});
  SightWatch watch;
  std::vector<double> ms;
  for (int frame = 0; frame < 200; ++frame) {
    for (glm::vec3& p : organs[0].positions) p.x += 1e-6f;
    find_box(organs[0]);
    const auto start = std::chrono::steady_clock::now();
    watch.look(organs, eye, points);
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(ms.begin(), ms.end());
  std::printf("%zu faces, 6 points: median %.3f ms, p90 %.3f ms\n", organs[0].mesh.faces.size(), ms[100], ms[180]);
  EXPECT_LT(ms[0], 2.0) << "the tree is not refitted but rebuilt";
}

}  // namespace

// Tests tips inside organs: depth and shortest path out of balls, overlapping organs, changing faces.

namespace {

Organ organ_of(TriangleMesh mesh) {
  Organ organ;
  organ.positions = mesh.positions;
  organ.mesh = std::move(mesh);
  organ.box = {glm::vec3(1e30f), glm::vec3(-1e30f)};
  for (const glm::vec3& p : organ.positions) {
    organ.box.low = glm::min(organ.box.low, p);
    organ.box.high = glm::max(organ.box.high, p);
  }
  return organ;
}

TEST(TipWatch, DepthInABall) {
  std::vector<Organ> organs;
  organs.push_back(organ_of(shapes::icosphere(4, 0.1f)));
  TipWatch watch;
  const glm::dvec3 tips[] = {{0.0, 0.0, 0.07}, {0.0, 0.0, 0.12}, {0.3, 0.0, 0.0}, {0.09, 0.09, 0.0}};
  watch.look(organs, tips);
  ASSERT_EQ(watch.buried().size(), 4u);
  ASSERT_TRUE(watch.buried()[0]);
  EXPECT_NEAR(watch.buried()[0]->depth, 0.03f, 5e-4f);
  EXPECT_GT(watch.buried()[0]->out.z, 0.99f);
  for (int k = 1; k < 4; ++k) EXPECT_FALSE(watch.buried()[k]) << k;  // the last one is in the box, not in the ball
}

TEST(TipWatch, DeepestOfSeveralOrgans) {
  std::vector<Organ> organs;
  organs.push_back(organ_of(shapes::icosphere(3, 0.1f)));
  organs.push_back(organ_of(shapes::icosphere(3, 0.1f, {0.08f, 0.f, 0.f})));
  TipWatch watch;
  const glm::dvec3 tips[] = {{0.06, 0.0, 0.0}};
  watch.look(organs, tips);
  ASSERT_TRUE(watch.buried()[0]);
  EXPECT_EQ(watch.buried()[0]->organ, 1u);
}

// The tree follows positions, and new faces when the organ's topology number changes.
TEST(TipWatch, FollowsTheOrgan) {
  std::vector<Organ> organs;
  organs.push_back(organ_of(shapes::icosphere(3, 0.1f)));
  TipWatch watch;
  const glm::dvec3 tips[] = {{0.0, 0.0, 0.05}};
  watch.look(organs, tips);
  EXPECT_TRUE(watch.buried()[0]);
  for (glm::vec3& p : organs[0].positions) p.z -= 0.06f;
  watch.look(organs, tips);
  EXPECT_FALSE(watch.buried()[0]);
  const std::uint32_t topology = organs[0].topology;
  organs[0] = organ_of(shapes::torus(40, 20, 0.1f, 0.03f));
  organs[0].topology = topology + 1;
  const glm::dvec3 in_the_ring[] = {{0.1, 0.0, 0.0}}, in_the_hole[] = {{0.0, 0.0, 0.0}};
  watch.look(organs, in_the_ring);
  ASSERT_TRUE(watch.buried()[0]);
  EXPECT_NEAR(watch.buried()[0]->depth, 0.03f, 1e-3f);
  watch.look(organs, in_the_hole);
  EXPECT_FALSE(watch.buried()[0]);
}

}  // namespace

}  // namespace trocar

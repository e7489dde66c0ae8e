// Compares the solid angle with closed forms, and ray parity with the winding number on closed organs and for
// degenerate rays.
#include "cpu_collision/solids/point_in_solid.hpp"
#include "geometry/refine.hpp"
#include "mesh/exact_sign.hpp"
#include "mesh/face_tree.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/organ_maker.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;

TEST(SolidAngle, ClosedForms) {
  constexpr double kPi = std::numbers::pi;
  // The octant's triangle seen from the origin covers an eighth of the sphere, with the sign of its orientation.
  const Triangle octant{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  EXPECT_NEAR(solid_angle(dvec3(0), octant), kPi / 2.0, 1e-14);
  EXPECT_NEAR(solid_angle(dvec3(0), {octant.a, octant.c, octant.b}), -kPi / 2.0, 1e-14);
  // Two right triangles make a square of side s; seen from height h over its middle it covers
  // 4 asin(s^2 / (s^2 + 4 h^2)).
  const double side = 2.0, h = 0.7;
  const dvec3 eye(0, 0, -h);
  const Triangle half_one{{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}}, half_two{{-1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
  EXPECT_NEAR(solid_angle(eye, half_one) + solid_angle(eye, half_two),
              4.0 * std::asin(side * side / (side * side + 4.0 * h * h)), 1e-14);
  EXPECT_EQ(solid_angle(dvec3(3, 0, 0), {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}), 0.0);
  EXPECT_NEAR(solid_angle(dvec3(0.2, 0.2, 1e-9), {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}}), 2.0 * kPi, 1e-7);
}

TEST(SolidAngle, WindingNumberOfOpenAndTurnedSurfaces) {
  const TriangleMesh ball = shapes::icosphere(3);
  EXPECT_NEAR(winding_number(ball.view(), dvec3(0.01, 0.02, 0.03)), 1.0, 1e-12);
  EXPECT_NEAR(winding_number(shapes::turned(ball).view(), dvec3(0.01, 0.02, 0.03)), -1.0, 1e-12);
  EXPECT_NEAR(winding_number(ball.view(), dvec3(0.2, 0, 0)), 0.0, 1e-12);
  TriangleMesh open = ball;
  open.faces.resize(open.faces.size() - 8);
  const double value = winding_number(open.view(), dvec3(0));
  EXPECT_GT(value, 0.9);
  EXPECT_LT(value, 1.0);
  EXPECT_EQ(point_in_solid_by_winding(open.view(), dvec3(0)).location, PointLocation::Inside);
  const TriangleMesh twice = shapes::joined(ball, ball);
  EXPECT_NEAR(winding_number(twice.view(), dvec3(0)), 2.0, 1e-12);
}

// Returns a random point, half of the time in and around the box, half of the time close to the surface.
vec3 a_point(test::Dice& dice, const TriangleMesh& mesh, const SolidBox& box) {
  const dvec3 middle = 0.5 * (dvec3(box.low) + dvec3(box.high)), half = 0.5 * (dvec3(box.high) - dvec3(box.low));
  if (dice.pick(2)) return vec3(middle + 1.1 * half * dice.in_cube(1.0));
  const dvec3 on(mesh.positions[dice.pick(static_cast<int>(mesh.positions.size()))]);
  return vec3(on + dice.log_uniform(2e-6, 1e-2) * dice.direction());
}

void both_agree(const char* name, const TriangleMesh& mesh, int points, std::uint32_t seed) {
  test::Dice dice(seed);
  const SolidBox box = box_of(mesh.positions);
  const FaceTree tree = build_face_tree(mesh.view());
  int compared = 0, inside = 0, rays = 0;
  while (compared < points) {
    const vec3 point = a_point(dice, mesh, box);
    if (distance_to_surface(tree, dvec3(point)) <= 1e-6) continue;
    const PointAnswer by_ray = point_in_solid(mesh.view(), box, point, {16, static_cast<std::uint32_t>(compared)});
    const PointAnswer by_angle = point_in_solid_by_winding(mesh.view(), dvec3(point));
    ASSERT_EQ(by_ray.location, by_angle.location) << name << " seed " << seed << " point " << compared;
    ASSERT_FALSE(by_ray.by_winding);
    inside += by_ray.location == PointLocation::Inside;
    rays += by_ray.rays;
    ++compared;
  }
  EXPECT_GT(inside, points / 10) << name;
  EXPECT_LT(inside, points * 9 / 10) << name;
  std::cout << name << ": " << points << " points, " << inside << " inside, " << rays << " rays, seed " << seed << "\n";
}

TEST(PointInSolid, BothAgreeOnClosedShapes) {
  const std::uint32_t seed = std::random_device{}();
  both_agree("sphere", shapes::icosphere(3), 4000, seed);
  both_agree("torus", shapes::torus(40, 20), 4000, seed);
  both_agree("cube", shapes::cube(), 20000, seed);
  both_agree("liver", make_liver({.faces = 4000}), 1500, seed);
}

TEST(PointInSolid, BothAgreeOnAScannedLiver) {
  const auto file = shared_file("organs/openhelp/Liver.stl");
  if (!file) GTEST_SKIP() << "no shared test data";
  both_agree("OpenHELP liver", load_mesh(*file), 600, std::random_device{}());
}

TEST(PointInSolid, PointsOnTheSurface) {
  const TriangleMesh cube = shapes::cube(2.f);
  const SolidBox box = box_of(cube.positions);
  for (const vec3& p : {vec3(1, 1, 1), vec3(1, 0.5f, 1), vec3(1, 0.25f, 0.5f), vec3(0, 0, -1), vec3(-1, 0, 0)})
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      const PointAnswer answer = point_in_solid(cube.view(), box, p, {16, seed});
      EXPECT_EQ(answer.location, PointLocation::OnSurface) << p.x << " " << p.y << " " << p.z;
      EXPECT_EQ(answer.rays, 1);
    }
  const TriangleMesh ball = shapes::icosphere(3);
  for (const vec3& p : ball.positions)
    EXPECT_EQ(point_in_solid(ball.view(), box_of(ball.positions), p).location, PointLocation::OnSurface);
}

// Points in the planes of faces and in line with edges and vertices, where degenerate rays are most likely.
TEST(PointInSolid, PointsInLineWithCorners) {
  // The solid is two cubes offset along the diagonal, so that planes of faces run through the inside.
  const TriangleMesh steps = shapes::joined(shapes::cube(2.f), shapes::cube(2.f, vec3(3, 3, 3)));
  const SolidBox box = box_of(steps.positions);
  for (int x = -6; x <= 18; ++x)
    for (int y = -6; y <= 18; ++y)
      for (int z = -6; z <= 18; ++z) {
        const vec3 p = 0.5f * vec3(x, y, z);
        const auto location_in = [&p](float low, float high) {
          const float deepest = std::min({p.x - low, p.y - low, p.z - low, high - p.x, high - p.y, high - p.z});
          return deepest > 0 ? PointLocation::Inside : deepest == 0 ? PointLocation::OnSurface : PointLocation::Outside;
        };
        const PointLocation one = location_in(-1, 1), two = location_in(2, 4);
        const PointLocation expected = one != PointLocation::Outside ? one : two;
        ASSERT_EQ(point_in_solid(steps.view(), box, p).location, expected) << p.x << " " << p.y << " " << p.z;
      }
}

// Constructed rays that meet an edge or a vertex, or lie in a face.
TEST(PointInSolid, DegenerateRaysAreRecognised) {
  const auto contact = [](const vec3& from, const vec3& to, const vec3& a, const vec3& b, const vec3& c) {
    ParityRay ray = draw_ray(from, {vec3(-1), vec3(1)}, 1, 0);
    const dvec3 d = dvec3(to) - dvec3(from);
    const dvec3 u =
        glm::normalize(glm::cross(d, std::abs(d.x) < 0.5 * glm::length(d) ? dvec3(1, 0, 0) : dvec3(0, 1, 0)));
    ray = {from, to, u, glm::normalize(glm::cross(d, u)), d, 1e-12, glm::dot(d, d)};
    return ray_contact(ray, a, b, c);
  };
  const vec3 a(0, 0, 0), b(4, 0, 0), c(0, 4, 0);
  EXPECT_EQ(contact({1, 1, 9}, {1, 1, -9}, a, b, c), RayContact::Crossed);
  EXPECT_EQ(contact({1, 0, 9}, {1, 0, -9}, a, b, c), RayContact::Degenerate);
  EXPECT_EQ(contact({0, 0, 9}, {0, 0, -9}, a, b, c), RayContact::Degenerate);
  EXPECT_EQ(contact({-9, 1, 0}, {9, 1, 0}, a, b, c), RayContact::Degenerate);
  EXPECT_EQ(contact({-9, 0, 0}, {9, 0, 0}, a, b, c), RayContact::Degenerate);
  EXPECT_EQ(contact({1, 1, 0}, {9, 1, 0}, a, b, c), RayContact::StartsOnFace);
  EXPECT_EQ(contact({1, 1, 0}, {9, 1, 9}, a, b, c), RayContact::StartsOnFace);
  EXPECT_EQ(contact({-1, 1, 9}, {-1, 1, -9}, a, b, c), RayContact::Missed);
  EXPECT_EQ(contact({1, 1, -1}, {1, 1, -9}, a, b, c), RayContact::Missed);
  // A face without area never changes parity; a ray that meets it is discarded.
  EXPECT_EQ(contact({1, 0, 9}, {1, 0, -9}, a, b, {2, 0, 0}), RayContact::Degenerate);
  EXPECT_EQ(contact({1, 1, 9}, {1, 1, -9}, a, b, {2, 0, 0}), RayContact::Missed);
  // A ray that starts in line with the face but leaves the line misses it.
  EXPECT_EQ(contact({6, 0, 0}, {9, 3, 8}, a, b, {2, 0, 0}), RayContact::Missed);
}

TEST(PointInSolid, WithoutRaysTheWindingNumberDecides) {
  const TriangleMesh ball = shapes::icosphere(2);
  const PointAnswer answer = point_in_solid(ball.view(), box_of(ball.positions), vec3(0.01f), {0, 1});
  EXPECT_TRUE(answer.by_winding);
  EXPECT_EQ(answer.location, PointLocation::Inside);
}

TEST(PointInSolid, CandidatesOfACallerGiveTheSameAnswer) {
  const TriangleMesh mesh = make_liver({.faces = 4000});
  const SolidBox box = box_of(mesh.positions);
  std::vector<SolidBox> boxes;
  for (const glm::uvec3& f : mesh.faces) {
    const vec3 corners[] = {mesh.positions[f.x], mesh.positions[f.y], mesh.positions[f.z]};
    boxes.push_back(box_of(corners));
  }
  // Faces whose box meets the segment's box.
  const auto candidates = [&](const ParityRay& ray, const auto& visit) {
    const vec3 low = glm::min(ray.from, ray.to), high = glm::max(ray.from, ray.to);
    for (std::uint32_t f = 0; f < boxes.size(); ++f) {
      const bool near =
          glm::all(glm::lessThanEqual(boxes[f].low, high)) && glm::all(glm::lessThanEqual(low, boxes[f].high));
      if (near && visit(f)) return;
    }
  };
  test::Dice dice(7);
  std::uint64_t allocated = 0;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const vec3 point = a_point(dice, mesh, box);
    const std::uint64_t before = allocations_so_far();
    const PointAnswer fast = point_in_solid(mesh.view(), box, point, candidates, {16, i});
    const PointAnswer slow = point_in_solid(mesh.view(), box, point, {16, i});
    allocated += allocations_so_far() - before;
    ASSERT_EQ(fast.location, slow.location);
    ASSERT_EQ(fast.rays, slow.rays);
  }
  EXPECT_EQ(allocated, 0u);
}

TEST(PointInSolid, PointsThatAreNotFiniteAreOutside) {
  const TriangleMesh ball = shapes::icosphere(2);
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const vec3& p : {vec3(nan, 0, 0), vec3(0, infinity, 0), vec3(0, 0, -infinity)})
    EXPECT_EQ(point_in_solid(ball.view(), box_of(ball.positions), p).location, PointLocation::Outside);
}

// Tests the depth of a tip: in a sphere against its radius, in a liver with and without a tree.

TEST(TipDepth, OnASphere) {
  const TriangleMesh ball = shapes::icosphere(4, 0.05f);
  const SolidBox box = box_of(ball.positions);
  test::Dice dice(1);
  for (int i = 0; i < 300; ++i) {
    const dvec3 direction = dice.direction();
    const double radius = dice.uniform(0.005, 0.08);
    if (std::abs(radius - 0.05) < 2e-4) continue;
    const TipDepth answer = tip_depth(ball.view(), box, radius * direction);
    EXPECT_EQ(answer.location, radius < 0.05 ? PointLocation::Inside : PointLocation::Outside);
    EXPECT_NEAR(answer.depth, 0.05 - radius, 2e-4);
    EXPECT_NEAR(glm::distance(answer.on_surface, radius * direction), std::abs(answer.depth), 1e-12);
    EXPECT_GT(glm::dot(answer.out, direction), radius < 0.01 ? 0.0 : 0.9);
    EXPECT_FALSE(answer.by_winding);
  }
  const TipDepth on = tip_depth(ball.view(), box, dvec3(ball.positions[7]));
  EXPECT_EQ(on.location, PointLocation::OnSurface);
  EXPECT_EQ(on.depth, 0.0);
  EXPECT_GT(glm::dot(on.out, glm::normalize(dvec3(ball.positions[7]))), 0.9);
  EXPECT_EQ(tip_depth(ball.view(), box, dvec3(NAN, 0, 0)).depth, -INFINITY);
}

// The direction outwards is that of the nearest point, also beside an edge or a corner; on the surface it is the
// normal.
TEST(TipDepth, OutPointsAlongTheShortestPath) {
  const TriangleMesh cube = shapes::cube(0.1f);
  const SolidBox box = box_of(cube.positions);
  const auto tree = make_surface_tree({});
  tree->rebuild(cube.view());
  test::Dice dice(3);
  for (int i = 0; i < 300; ++i) {
    const dvec3 tip = dice.in_cube(0.08);
    for (const TipDepth& answer : {tip_depth(cube.view(), box, tip), tip_depth(*tree, cube.view(), box, tip)}) {
      ASSERT_NE(answer.depth, 0.0);
      ASSERT_NEAR(glm::distance(answer.out, (answer.on_surface - tip) / answer.depth), 0.0, 1e-12);
      ASSERT_NEAR(glm::length(answer.out), 1.0, 1e-12);
    }
  }
  const dvec3 on(0.03, 0.02, double(0.05f));
  for (const TipDepth& answer : {tip_depth(cube.view(), box, on), tip_depth(*tree, cube.view(), box, on)}) {
    EXPECT_EQ(answer.location, PointLocation::OnSurface);
    EXPECT_EQ(answer.out, dvec3(0, 0, 1));
  }
}

TEST(TipDepth, TreeAndBruteForceAgree) {
  const TriangleMesh liver = make_liver({.faces = 4000});
  const SolidBox box = box_of(liver.positions);
  const auto tree = make_surface_tree({});
  tree->rebuild(liver.view());
  test::Dice dice(2);
  int inside = 0;
  std::uint64_t allocated = 0;
  for (int i = 0; i < 400; ++i) {
    const dvec3 at(liver.positions[dice.pick(static_cast<int>(liver.positions.size()))]);
    const dvec3 tip = at + dice.log_uniform(1e-5, 3e-2) * dice.direction();
    const std::uint64_t before = allocations_so_far();
    const TipDepth fast = tip_depth(*tree, liver.view(), box, tip);
    if (i >= 100) allocated += allocations_so_far() - before;
    const TipDepth slow = tip_depth(liver.view(), box, tip);
    ASSERT_EQ(fast.location, slow.location);
    ASSERT_NEAR(fast.depth, slow.depth, 1e-12);
    ASSERT_NEAR(glm::distance(fast.on_surface, slow.on_surface), 0.0, 1e-6);
    inside += fast.location == PointLocation::Inside;
  }
  EXPECT_GT(inside, 100);
  EXPECT_EQ(allocated, 0u);
}

// Compares the exact contacts of edges, faces and points with the distance of closest points, for all segments of a
// small grid: there bodies either meet or are far apart.

using test::Dice;

constexpr double kMeets = 1e-9;  // of a grid of unit 1

vec3 grid_point(int k) { return {static_cast<float>(k % 3), static_cast<float>(k / 3 % 3), static_cast<float>(k / 9)}; }

FloatTriangle random_triangle(Dice& dice) {
  return {grid_point(dice.pick(27)), grid_point(dice.pick(27)), grid_point(dice.pick(27))};
}

Triangle in_double(const FloatTriangle& t) { return {dvec3(t.a), dvec3(t.b), dvec3(t.c)}; }

TEST(ExactEdge, AgreesWithClosestPointsOnAGrid) {
  Dice dice(1360);
  std::printf("seed 1360\n");
  int wrong = 0, of_kind[5] = {};
  for (int round = 0; round < 300; ++round) {
    const FloatTriangle t = random_triangle(dice);
    const Triangle face = in_double(t);
    const dvec3 normal = glm::cross(face.b - face.a, face.c - face.a);
    const auto height = [&](const vec3& p) { return glm::dot(normal, dvec3(p) - face.a); };  // exact
    for (int k = 0; k < 729; ++k) {
      const vec3 from = grid_point(k % 27), to = grid_point(k / 27);
      const EdgeContact contact = exact_edge_contact(from, to, t);
      ++of_kind[static_cast<int>(contact)];
      const bool meets = closest_segment_triangle(dvec3(from), dvec3(to), face).distance < kMeets;
      wrong += (contact != EdgeContact::Apart) != meets;
      if (contact == EdgeContact::Apart) continue;
      const bool starts_on = height(from) == 0.0, ends_on = height(to) == 0.0;
      wrong += (contact == EdgeContact::InPlane) != (starts_on && ends_on);
      wrong += (contact == EdgeContact::EndOn) != (starts_on != ends_on);
      if (contact != EdgeContact::Crosses && contact != EdgeContact::Border) continue;
      // At a border the crossing lies on a side.
      const dvec3 at = glm::mix(dvec3(from), dvec3(to), height(from) / (height(from) - height(to)));
      double to_side = 1.0;
      for (const auto& [p, q] : {std::pair{face.a, face.b}, std::pair{face.b, face.c}, std::pair{face.c, face.a}})
        to_side = std::min(to_side, closest_segment_triangle(p, q, {at, at, at}).distance);
      wrong += (contact == EdgeContact::Border) != (to_side < kMeets);
    }
  }
  EXPECT_EQ(wrong, 0);
  for (const int count : of_kind) EXPECT_GT(count, 1000);
}

TEST(ExactEdge, FacesCrossWhereTheirDistanceIsZero) {
  Dice dice(1361);
  std::printf("seed 1361\n");
  int wrong = 0, cross = 0;
  for (int round = 0; round < 40000; ++round) {
    const FloatTriangle s = random_triangle(dice), t = random_triangle(dice);
    const vec3 first[3] = {s.a, s.b, s.c}, second[3] = {t.a, t.b, t.c};
    const bool expected = closest_triangles(in_double(s), in_double(t)).distance < kMeets;
    wrong += faces_cross_exactly(first, second) != expected;
    cross += expected;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(cross, 5000);
  EXPECT_LT(cross, 35000);
}

TEST(ExactEdge, PointsLieOnTheFaceWhereTheirDistanceIsZero) {
  Dice dice(1362);
  std::printf("seed 1362\n");
  int wrong = 0, on = 0;
  for (int round = 0; round < 4000; ++round) {
    const FloatTriangle t = random_triangle(dice);
    for (int k = 0; k < 27; ++k) {
      const dvec3 p(grid_point(k));
      const bool expected = closest_segment_triangle(p, p, in_double(t)).distance < kMeets;
      wrong += exactly_on(grid_point(k), t) != expected;
      on += expected;
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(on, 1000);
}

}  // namespace
}  // namespace trocar::solids

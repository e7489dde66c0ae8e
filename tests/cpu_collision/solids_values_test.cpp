// Tests the parts of solids whose faults cost time or accuracy without changing a usual answer: adjacency of bodies,
// spheres, rays, and the lengths of walks. Pinned values come from IEEE arithmetic and are the same on every machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu_collision/solids/closest_features.hpp"
#include "cpu_collision/solids/convex_pieces.hpp"
#include "cpu_collision/solids/point_in_solid.hpp"
#include "tests/cpu_collision/solids_bodies.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;
using test::Dice;

constexpr std::uint32_t kSeed = 606;

// Edges join the corners of their faces, and each vertex lists its edges once.
void expect_consistent(const ConvexBody& body) {
  for (std::uint32_t f = 0; f < body.faces.size(); ++f) {
    for (int i = 0; i < 3; ++i) {
      const ConvexBody::Face& face = body.faces[f];
      const ConvexBody::Edge& edge = body.edges[face.edge[i]];
      EXPECT_EQ(std::minmax(edge.vertex[0], edge.vertex[1]), std::minmax(face.vertex[i], face.vertex[(i + 1) % 3]));
      EXPECT_TRUE(edge.face[0] == f || edge.face[1] == f);
    }
  }
  for (std::uint32_t v = 0; v < body.vertices.size(); ++v) {
    const auto incident = body.incident_edges_of(v);
    std::size_t expected = 0;
    for (std::uint32_t e = 0; e < body.edges.size(); ++e) {
      if (body.edges[e].vertex[0] != v && body.edges[e].vertex[1] != v) continue;
      ++expected;
      EXPECT_EQ(std::count(incident.begin(), incident.end(), e), 1);
    }
    EXPECT_EQ(incident.size(), expected);
  }
}

TEST(SolidValues, TriangleBodyIsATwoSidedSheet) {
  const Triangle t{{1, 1, 2}, {4, 1, 2}, {1, 5, 2}};
  const ConvexBody body = triangle_body(t);
  EXPECT_EQ(body.dimension, 2);
  ASSERT_EQ(body.faces.size(), 2u);
  ASSERT_EQ(body.edges.size(), 3u);
  expect_consistent(body);
  EXPECT_EQ(body.faces[0].normal, dvec3(0, 0, 1));
  EXPECT_EQ(body.faces[0].offset, 2.0);
  EXPECT_EQ(body.faces[1].normal, dvec3(0, 0, -1));
  EXPECT_EQ(body.faces[1].offset, -2.0);
  for (std::uint32_t f = 0; f < 2; ++f) {
    const Triangle corners = body.corners(f);
    EXPECT_EQ(glm::normalize(glm::cross(corners.b - corners.a, corners.c - corners.a)), body.faces[f].normal);
  }
  for (const ConvexBody::Edge& edge : body.edges) {
    EXPECT_FALSE(edge.flat);
    EXPECT_NE(edge.face[0], edge.face[1]);
  }
  EXPECT_EQ(body.low, dvec3(1, 1, 2));
  EXPECT_EQ(body.high, dvec3(4, 5, 2));
  EXPECT_EQ(body.centre, dvec3(2.0, 7.0 / 3.0, 2.0));
  EXPECT_NEAR(body.radius, std::sqrt(1.0 + 64.0 / 9.0), 1e-15);
  EXPECT_EQ(body.volume(), 0.0);
}

// A face without area bounds nothing: no point is above it.
TEST(SolidValues, FaceWithoutAreaBoundsNothing) {
  const ConvexBody body = triangle_body({{1, 1, 1}, {2, 2, 2}, {3, 3, 3}});
  for (const ConvexBody::Face& face : body.faces) {
    EXPECT_EQ(face.normal, dvec3(0.0));
    EXPECT_EQ(face.offset, std::numeric_limits<double>::infinity());
  }
  ConvexBody other = triangle_body({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}});
  reset_triangle(other, {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}});
  EXPECT_EQ(other.faces[1].offset, std::numeric_limits<double>::infinity());
  EXPECT_EQ(other.low, dvec3(1, 1, 1));
  // A triangle of a tenth of a micrometre still has both sides.
  reset_triangle(other, {{0, 0, 0}, {1e-7, 0, 0}, {0, 1e-7, 0}});
  EXPECT_EQ(other.faces[0].normal, dvec3(0, 0, 1));
  EXPECT_EQ(other.faces[1].offset, 0.0);
}

ConvexBody brick(const vec3& low, const vec3& high) {
  std::vector<vec3> points;
  for (int k = 0; k < 8; ++k)
    points.emplace_back(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z);
  return convex_hull(points);
}

TEST(SolidValues, BrickHasItsVolumeSphereAndHeights) {
  const ConvexBody body = brick({1, 2, 3}, {3, 6, 11});
  EXPECT_NEAR(body.volume(), 64.0, 1e-12);
  EXPECT_NEAR(glm::distance(body.centre, {2, 4, 7}), 0.0, 1e-14);
  EXPECT_NEAR(body.radius, std::sqrt(1.0 + 4.0 + 16.0), 1e-14);
  EXPECT_EQ(body.low, dvec3(1, 2, 3));
  EXPECT_EQ(body.high, dvec3(3, 6, 11));
  expect_consistent(body);
  EXPECT_EQ(std::count_if(body.edges.begin(), body.edges.end(), [](const auto& e) { return e.flat; }), 6);
  std::uint32_t face = 99;
  EXPECT_NEAR(height_above(body, {2, 4, 7}, face), -1.0, 1e-14);
  EXPECT_NEAR(height_above(body, {2, 4, 12.5}, face), 1.5, 1e-14);
  EXPECT_EQ(body.faces[face].normal, dvec3(0, 0, 1));
  EXPECT_NEAR(height_above(body, {0.25, 4, 12.5}, face), 1.5, 1e-14);
  EXPECT_NEAR(height_above(body, {-2, 4, 12.5}, face), 3.0, 1e-14);
  EXPECT_EQ(body.faces[face].normal, dvec3(-1, 0, 0));
}

std::vector<vec3> cloud(Dice& dice, int points, const dvec3& scale) {
  std::vector<vec3> result;
  for (int k = 0; k < points; ++k) result.emplace_back(scale * (k % 2 ? dice.direction() : dice.in_cube(1.0)));
  return result;
}

// The order of vertices and faces, and Ritter's spheres.
TEST(SolidValues, HullsHaveThePinnedOrderAndSpheres) {
  Dice dice(kSeed);
  double radii = 0.0, order = 0.0, faces = 0.0;
  for (int trial = 0; trial < 40; ++trial) {
    const ConvexBody body = convex_hull(cloud(dice, 10 + 3 * trial, {1.0, 0.7, trial % 4 ? 0.5 : 0.01}));
    expect_consistent(body);
    radii += body.radius;
    for (const dvec3& v : body.vertices) EXPECT_LE(glm::distance(v, body.centre), body.radius);
    for (std::size_t v = 0; v < body.vertices.size(); ++v) order += double(v + 1) * body.vertices[v].x;
    for (std::size_t f = 0; f < body.faces.size(); ++f) faces += double((f + 1) * (body.faces[f].vertex[0] + 1) % 101);
  }
  EXPECT_NEAR(radii, 44.0062618952, 1e-9);
  EXPECT_NEAR(order, -276.231431356, 1e-8);
  EXPECT_EQ(faces, 117359.0);
}

// ---- rays ----

void expect_near(const vec3& a, const vec3& b, float by) {
  for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(a[axis], b[axis], by);
}

TEST(SolidValues, RaysAreLongEnoughAndHaveTheirFrame) {
  const SolidBox box{{-1.f, -2.f, -3.f}, {1.f, 2.f, 3.f}};
  dvec3 sum(0.0), squares(0.0);
  for (int number = 0; number < 400; ++number) {
    const ParityRay ray = draw_ray({0.25f, 0.5f, -1.f}, box, 3, number);
    const dvec3 d = dvec3(ray.to) - dvec3(ray.from);
    const double length = 1.5 * std::sqrt(4.0 + 16.0 + 36.0);
    ASSERT_NEAR(glm::length(d), length, 1e-5);
    ASSERT_EQ(ray.d, d);
    ASSERT_NEAR(ray.length, glm::dot(d, d), 1e-12);
    ASSERT_NEAR(ray.band, 1e-13 * length, 1e-18);
    ASSERT_NEAR(glm::dot(ray.u, d), 0.0, 1e-12);
    ASSERT_NEAR(glm::dot(ray.v, d), 0.0, 1e-12);
    ASSERT_NEAR(glm::dot(ray.u, ray.v), 0.0, 1e-14);
    ASSERT_NEAR(glm::length(ray.u), 1.0, 1e-14);
    ASSERT_NEAR(glm::length(ray.v), 1.0, 1e-14);
    sum += d / length;
    squares += d * d / (length * length);
  }
  // Uniform directions: the means are 0 and 1/3, within three standard deviations.
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_NEAR(sum[axis] / 400.0, 0.0, 0.09);
    EXPECT_NEAR(squares[axis] / 400.0, 1.0 / 3.0, 0.045);
  }
  // The generator is SplitMix64, and the same everywhere.
  const ParityRay first = draw_ray(vec3(0.f), box, 1, 0), third = draw_ray(vec3(0.f), box, 1, 2),
                  other = draw_ray(vec3(0.f), box, 2, 0);
  expect_near(first.to, {-0.00999982189f, -9.50041676f, 5.97845984f}, 1e-6f);
  expect_near(third.to, {-5.25020123f, 8.83669662f, 4.51089525f}, 1e-6f);
  EXPECT_NE(first.to, other.to);
}

TEST(SolidValues, WindingAnswersDrawNoRay) {
  const TriangleMesh ball = shapes::icosphere(2);
  for (const dvec3& point : {dvec3(0.0), dvec3(0.3, 0.0, 0.0)}) {
    const PointAnswer answer = point_in_solid_by_winding(ball.view(), point);
    EXPECT_EQ(answer.rays, 0);
    EXPECT_TRUE(answer.by_winding);
    EXPECT_EQ(answer.location, point.x == 0.0 ? PointLocation::Inside : PointLocation::Outside);
  }
  const PointAnswer none = point_in_solid(ball.view(), box_of(ball.positions), vec3(0.f), {.most_rays = 0});
  EXPECT_EQ(none.rays, 0);
  EXPECT_TRUE(none.by_winding);
  const PointAnswer one = point_in_solid(ball.view(), box_of(ball.positions), vec3(0.01f, 0.02f, 0.03f));
  EXPECT_EQ(one.rays, 1);
  EXPECT_FALSE(one.by_winding);
}

// ---- convex pieces ----

struct PinnedPieces {
  TriangleMesh mesh;
  PieceParams params;
  std::size_t pieces;
  double volume, deviation, deviations;  // sums over the nodes, weighted by their numbers; largest of the leaves; sum
};

// The cuts that the search chooses, by their result.
TEST(SolidValues, PiecesHaveThePinnedVolumesAndDeviations) {
  TriangleMesh bent = shapes::joined(shapes::cube(0.01f), shapes::cube(0.01f, {0.006f, 0.007f, 0.002f}));
  TriangleMesh skew = shapes::torus(12, 6, 0.01f, 0.003f);
  for (vec3& p : skew.positions) p = {p.x + 0.3f * p.z, 0.7f * p.y, p.z - 0.2f * p.x};
  TriangleMesh soup = shapes::random_soup(3, 12, 0.02f, 0.01f);
  for (TriangleMesh* mesh : {&bent, &skew, &soup})
    for (vec3& p : mesh->positions) p += vec3(0.05f, -0.03f, 0.02f);
  const PinnedPieces pinned[] = {{bent, {1e-4, 4}, 4, 1.909968516e-05, 0.001476190718, 0.009415585214},
                                 {skew, {1e-3, 5}, 5, 1.54213329e-05, 0.001711535266, 0.02419058213},
                                 {soup, {3e-4, 4}, 4, 5.838212762e-06, 0.004244182574, 0.02911425393}};
  for (const PinnedPieces& expected : pinned) {
    const ConvexPieces pieces = convex_pieces(expected.mesh.view(), expected.params);
    double volume = 0.0, deviations = 0.0;
    for (std::size_t k = 0; k < pieces.nodes.size(); ++k) {
      volume += double(k + 1) * pieces.nodes[k].hull.volume();
      deviations += pieces.nodes[k].deviation;
    }
    EXPECT_EQ(pieces.pieces(), expected.pieces);
    EXPECT_NEAR(volume, expected.volume, 1e-7 * expected.volume);
    EXPECT_NEAR(pieces.deviation(), expected.deviation, 1e-7 * expected.deviation);
    EXPECT_NEAR(deviations, expected.deviations, 1e-7 * expected.deviations);
  }
}

TEST(SolidValues, DeviationsArePinned) {
  TriangleMesh ring = shapes::torus(20, 10, 0.01f, 0.003f);
  const PieceError error(ring.view());
  Dice dice(kSeed + 1);
  double sum = 0.0;
  for (int trial = 0; trial < 6; ++trial) {
    const dvec3 scale(0.004 + 0.0012 * trial, trial % 3 ? 0.006 : 0.0005, 0.01);
    sum += error.deviation(convex_hull(cloud(dice, 12, scale)));
  }
  EXPECT_NEAR(sum, 0.0589736504249, 1e-9);
  EXPECT_EQ(error.deviation(convex_hull(std::vector<vec3>{{0, 0, 0}, {0.1f, 0, 0}})), 0.0);
}

// The posed box contains the root's box and touches it on every side.
TEST(SolidValues, PosedBoxIsTight) {
  Dice dice(kSeed + 2);
  const ConvexPieces pieces = convex_pieces(shapes::cube(0.02f, {0.01f, 0.02f, -0.03f}).view());
  const PieceFaces faces(pieces);
  for (int trial = 0; trial < 50; ++trial) {
    const RigidFrame pose = test::random_pose(dice, 0.1);
    const PieceFaces::Box box = faces.box(pose);
    dvec3 low(1e9), high(-1e9);
    for (const dvec3& v : pieces.nodes[0].hull.vertices)
      low = glm::min(low, pose.to_world(v)), high = glm::max(high, pose.to_world(v));
    EXPECT_LE(glm::length(box.low - low), 1e-15);
    EXPECT_LE(glm::length(box.high - high), 1e-15);
  }
}

// ---- walks to the closest features ----

struct Walks {
  long steps = 0, searched = 0, overlapping = 0, features = 0;
  double distances = 0.0;
};

// Bodies of all thicknesses; cold and warm starts.
TEST(SolidValues, WalksHaveThePinnedLengths) {
  Dice dice(kSeed + 3);
  Walks walks;
  for (int trial = 0; trial < 400; ++trial) {
    const auto body = [&](int kind) {
      const double thin[] = {1.0, 0.1, 1e-3, 1e-6, 0.0};
      return convex_hull(cloud(dice, 4 + kind % 23, {0.05, 0.04, 0.05 * thin[kind % 5]}));
    };
    const ConvexBody first = body(trial), second = body(trial / 5);
    FeaturePair pair;
    for (int pose = 0; pose < 4; ++pose) {
      const glm::dmat3 axes = test::rotation(dice.direction(), 0.7 * pose);
      const double far = dice.uniform(0.0, 0.2);
      const RigidFrame at{axes, far * dice.direction()};
      if (pose == 2 && !first.faces.empty()) pair.first = {FeatureKind::Face, 0};
      const FeatureDistance answer = closest_features(first, {}, second, at, pair);
      walks.steps += answer.steps;
      walks.searched += answer.searched;
      walks.overlapping += answer.overlapping;
      walks.features += static_cast<long>(pair.first.kind) * 7 + static_cast<long>(pair.first.id) * 3 +
                        static_cast<long>(pair.second.kind) * 5 + static_cast<long>(pair.second.id);
      walks.distances += answer.distance;
    }
  }
  EXPECT_EQ(walks.steps, 6941);
  EXPECT_EQ(walks.searched, 0);
  EXPECT_EQ(walks.overlapping, 330);
  EXPECT_EQ(walks.features, 71387);
  EXPECT_NEAR(walks.distances, 83.283268691, 1e-8);
}

}  // namespace
}  // namespace trocar::solids

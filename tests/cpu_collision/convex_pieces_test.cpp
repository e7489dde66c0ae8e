// Tests that the pieces contain the whole surface and the inside of a closed one, and that their measured error is
// within its limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>

#include "cpu_collision/solids/closest_features.hpp"
#include "cpu_collision/solids/convex_body.hpp"
#include "cpu_collision/solids/convex_pieces.hpp"
#include "cpu_collision/solids/point_in_solid.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/organ_maker.hpp"
#include "tests/cpu_collision/solids_support.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::solids {
namespace {

// Tests that the hull's surface is exactly closed and convex, and contains every point.

using glm::dvec3;
using glm::vec3;

TEST(ConvexHull, FlatLineAndPoint) {
  const ConvexBody square =
      convex_hull(std::vector<vec3>{{0, 0, 1}, {2, 0, 1}, {2, 2, 1}, {0, 2, 1}, {1, 1, 1}, {1, 0, 1}});
  EXPECT_EQ(square.dimension, 2);
  EXPECT_EQ(square.vertices.size(), 4u);
  EXPECT_EQ(square.faces.size(), 4u);
  EXPECT_EQ(square.volume(), 0.0);
  expect_exact_hull({{0, 0, 1}, {2, 2, 1}}, square);
  const ConvexBody line = convex_hull(std::vector<vec3>{{0, 0, 0}, {3, 3, 3}, {1, 1, 1}, {-2, -2, -2}});
  EXPECT_EQ(line.dimension, 1);
  ASSERT_EQ(line.vertices.size(), 2u);
  EXPECT_EQ(line.edges.size(), 1u);
  EXPECT_NEAR(line.radius, 2.5 * std::sqrt(3.0), 1e-12);
  const ConvexBody point = convex_hull(std::vector<vec3>{{1, 2, 3}, {1, 2, 3}});
  EXPECT_EQ(point.dimension, 0);
  EXPECT_EQ(point.vertices.size(), 1u);
  EXPECT_EQ(point.radius, 0.0);
}

// Edges of nearly collinear points: the removed points lie within a micrometre of the hull, and no thin face remains.
TEST(ConvexHull, TidyHullHasNoThinFaces) {
  test::Dice dice(4);
  for (int round = 0; round < 50; ++round) {
    std::vector<vec3> points;
    const dvec3 a = dice.in_cube(0.05), b = dice.in_cube(0.05), c = dice.in_cube(0.05), d = dice.in_cube(0.05);
    for (int i = 0; i <= 20; ++i) {
      for (const dvec3& p : {glm::mix(a, b, i / 20.0), glm::mix(b, c, i / 20.0), glm::mix(c, d, i / 20.0)}) {
        points.emplace_back(p);
      }
    }
    const ConvexBody body = tidy_hull(points, 1e-7);
    for (std::uint32_t f = 0; f < body.faces.size(); ++f) {
      const Triangle t = body.corners(f);
      const double longest = std::max({glm::distance(t.a, t.b), glm::distance(t.b, t.c), glm::distance(t.c, t.a)});
      EXPECT_GE(glm::length(glm::cross(t.b - t.a, t.c - t.a)), 1e-7 * longest);
    }
    std::uint32_t face = 0;
    for (const vec3& p : points) EXPECT_LE(height_above(body, dvec3(p), face), 1e-6);
  }
}

TEST(ConvexHull, BadInputIsRejected) {
  EXPECT_THROW(convex_hull({}), InputError);
  EXPECT_THROW(convex_hull(std::vector<vec3>{{0, 0, std::numeric_limits<float>::quiet_NaN()}}), InputError);
}

// The ends of collinear points in every direction of a grid, in any order.
TEST(ConvexHull, LinesInEveryDirection) {
  for (int k = 0; k < 27; ++k) {
    const vec3 along(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1), from(0.25f, -0.5f, 2.f);
    if (along == vec3(0.f)) continue;
    for (const std::array<float, 4>& order :
         {std::array{0.f, 3.f, 1.f, -2.f}, std::array{3.f, -2.f, 1.f, 0.f}, std::array{-2.f, 1.f, 3.f, 0.f}}) {
      std::vector<vec3> points;
      for (const float t : order) points.push_back(from + t * along);
      const ConvexBody line = convex_hull(points);
      ASSERT_EQ(line.dimension, 1) << k;
      ASSERT_EQ(line.vertices.size(), 2u) << k;
      const dvec3 low(from - 2.f * along), high(from + 3.f * along);
      EXPECT_TRUE((line.vertices[0] == low && line.vertices[1] == high) ||
                  (line.vertices[0] == high && line.vertices[1] == low))
          << k;
      EXPECT_EQ(line.volume(), 0.0);
      EXPECT_TRUE(line.faces.empty());
    }
  }
}

using test::Dice;

// Omitted thin faces, and rounding of cut corners.
constexpr double kRounding = 1e-6;  // m

double outside_of(const ConvexBody& body, const dvec3& point) {
  const ConvexBody dot = triangle_body({point, point, point});
  FeaturePair pair;
  return closest_features(body, {}, dot, {}, pair).distance;
}

double outside_of_all(const ConvexPieces& pieces, const dvec3& point) {
  double least = 1e9;
  for (const PieceNode& node : pieces.nodes) {
    if (node.leaf() && least > 0.0) least = std::min(least, outside_of(node.hull, point));
  }
  return least;
}

// Checks corners and random points of every face, and that children lie within their parents.
void expect_cover(const ConvexPieces& pieces, const MeshView& mesh, std::uint32_t seed) {
  Dice dice(seed);
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    for (const dvec3& corner : {t.a, t.b, t.c}) ASSERT_LE(outside_of_all(pieces, corner), kRounding);
    for (int i = 0; i < 4; ++i) {
      const double u = dice.uniform(0, 1), v = dice.uniform(0, 1);
      const dvec3 point = t.a + (1.0 - std::sqrt(u)) * (t.b - t.a) + std::sqrt(u) * v * (t.c - t.a);
      ASSERT_LE(outside_of_all(pieces, point), kRounding);
    }
  }
  for (const PieceNode& node : pieces.nodes) {
    if (node.leaf()) continue;
    for (const std::uint32_t child : node.child) {
      for (const dvec3& v : pieces.nodes[child].hull.vertices) ASSERT_LE(outside_of(node.hull, v), kRounding);
    }
  }
}

void expect_contains_the_inside(const ConvexPieces& pieces, const TriangleMesh& mesh) {
  Dice dice(5);
  const SolidBox box = box_of(mesh.positions);
  int inside = 0;
  for (int i = 0; i < 4000; ++i) {
    const vec3 point = glm::mix(box.low, box.high, vec3(0.5 + 0.5 * dice.in_cube(1.0)));
    if (point_in_solid(mesh.view(), box, point).location != PointLocation::Inside) continue;
    ASSERT_LE(outside_of_all(pieces, dvec3(point)), kRounding);
    ++inside;
  }
  EXPECT_GT(inside, 100);
}

TEST(ConvexPieces, AConvexBodyIsOnePiece) {
  for (const TriangleMesh& mesh : {shapes::cube(), shapes::icosphere(2), shapes::grid(4, 4)}) {
    const ConvexPieces pieces = convex_pieces(mesh.view());
    EXPECT_EQ(pieces.pieces(), 1u);
    EXPECT_LT(pieces.deviation(), 1e-7);
    expect_cover(pieces, mesh.view(), 1);
  }
}

TEST(ConvexPieces, TwoCubesAreTwoPieces) {
  const TriangleMesh mesh = shapes::joined(shapes::cube(0.01f), shapes::cube(0.01f, vec3(0.03f, 0.02f, 0.01f)));
  const ConvexPieces pieces = convex_pieces(mesh.view());
  EXPECT_EQ(pieces.pieces(), 2u);
  EXPECT_LT(pieces.deviation(), 1e-7);
  EXPECT_GT(pieces.nodes[0].deviation, 5e-3);
  for (const PieceNode& node : pieces.nodes) {
    if (node.leaf()) {
      EXPECT_NEAR(node.hull.volume(), 1e-6, 1e-11);
    }
  }
  expect_cover(pieces, mesh.view(), 1);
}

TEST(ConvexPieces, ATorus) {
  const TriangleMesh mesh = shapes::torus(32, 12, 0.01f, 0.003f);
  const ConvexPieces pieces = convex_pieces(mesh.view(), {.largest_deviation = 1e-3, .most_pieces = 12});
  std::cout << pieces.pieces() << " pieces, distance " << pieces.deviation() * 1e3 << " mm, one hull "
            << pieces.nodes[0].deviation * 1e3 << " mm\n";
  // The hull of a torus closes the hole with a sheet that is up to 7 mm from the surface.
  EXPECT_NEAR(pieces.nodes[0].deviation, 7e-3, 1.2e-3);
  EXPECT_LE(pieces.deviation(), 1e-3);
  expect_cover(pieces, mesh.view(), 1);
  expect_contains_the_inside(pieces, mesh);
}

// Tests surfaces of any kind: single triangles, soups, sheets, faces without area.
TEST(ConvexPieces, DirtySurfaces) {
  TriangleMesh flat = shapes::grid(3, 3, 0.01f, 0.01f), one{{{0, 0, 0}, {0.01f, 0, 0}, {0, 0.01f, 0}}, {{0, 1, 2}}};
  TriangleMesh line{{{0, 0, 0}, {0.01f, 0, 0}, {0.02f, 0, 0}}, {{0, 1, 2}, {1, 2, 0}}};
  for (const TriangleMesh& mesh : {flat, one, line, shapes::random_soup(3, 30, 0.02f, 0.01f)}) {
    const ConvexPieces pieces = convex_pieces(mesh.view(), {.most_pieces = 8});
    EXPECT_LE(pieces.pieces(), 8u);
    expect_cover(pieces, mesh.view(), 1);
  }
  EXPECT_THROW(convex_pieces(TriangleMesh{}.view()), InputError);
  EXPECT_THROW(convex_pieces(one.view(), {.largest_deviation = 0.0}), InputError);
  EXPECT_THROW(convex_pieces(one.view(), {.most_pieces = 0}), InputError);
}

TEST(ConvexPieces, SharedInstruments) {
  for (const char* name : {"maryland_dissector_jaw_left", "maryland_dissector_jaw_right", "atraumatic_forceps_jaw_left",
                           "dissection_electrode", "instrument_shaft"}) {
    const auto file = shared_file(std::string("instruments/") + name + ".stl");
    if (!file) GTEST_SKIP() << "no shared test data";
    const TriangleMesh whole = load_mesh(*file);
    const bool hook = std::string_view(name) == "dissection_electrode";
    // The hook's tip is the part beyond the shaft.
    const CutMesh tip = part_beyond(whole.view(), {0, 0, 1}, hook ? -0.002 : -1.0);
    const PieceParams params{.largest_deviation = 5e-4, .most_pieces = 8};
    const ConvexPieces pieces = convex_pieces(tip.view(), params);
    std::cout << name << ": " << tip.faces.size() << " faces, " << pieces.pieces() << " pieces, distance "
              << pieces.deviation() * 1e3 << " mm, one hull " << pieces.nodes[0].deviation * 1e3 << " mm\n";
    EXPECT_LE(pieces.pieces(), 8u);
    EXPECT_GE(pieces.pieces(), 2u);
    EXPECT_LT(pieces.deviation(), 6e-4) << name;
    expect_cover(pieces, tip.view(), 1);
  }
}

// Compares every answer of pieces against faces with the separating axes of piece and face, and with triangle
// distances.

// Returns the widest gap over all separating axes of a convex body and a triangle, m; negative when none separates.
double widest_gap(const ConvexBody& body, const Triangle& t) {
  const dvec3 corners[] = {t.a, t.b, t.c}, sides[] = {t.b - t.a, t.c - t.b, t.a - t.c};
  double widest = -1e9;
  const auto try_axis = [&](const dvec3& axis) {
    const double length = glm::length(axis);
    if (length < 1e-14) return;
    double low = 1e9, high = -1e9, face_low = 1e9, face_high = -1e9;
    for (const dvec3& v : body.vertices)
      low = std::min(low, glm::dot(axis, v)), high = std::max(high, glm::dot(axis, v));
    for (const dvec3& v : corners) {
      face_low = std::min(face_low, glm::dot(axis, v)), face_high = std::max(face_high, glm::dot(axis, v));
    }
    widest = std::max({widest, (face_low - high) / length, (low - face_high) / length});
  };
  const dvec3 normal = glm::cross(sides[0], sides[1]);
  try_axis(normal);
  for (const dvec3& side : sides) try_axis(glm::cross(normal, side));
  for (const auto& f : body.faces) try_axis(f.normal);
  for (const auto& e : body.edges) {
    const dvec3 direction = body.vertices[e.vertex[1]] - body.vertices[e.vertex[0]];
    for (const dvec3& side : sides) try_axis(glm::cross(direction, side));
    for (const auto& f : body.faces) try_axis(glm::cross(direction, f.normal));  // sheets
  }
  return widest;
}

TEST(PieceFaces, AgainstSeparatingAxes) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  int touching = 0, close_calls = 0;
  for (int round = 0; round < 4000; ++round) {
    const ConvexBody body = convex_hull(test::random_cloud(dice, 0.01, 12));
    if (body.dimension < 2) continue;
    ConvexPieces pieces;
    pieces.nodes.push_back({body, {PieceNode::kNone, PieceNode::kNone}, 0.0});
    PieceFaces query(pieces);
    for (int i = 0; i < 5; ++i) {
      const Triangle face = test::random_face(dice, dice.in_cube(0.012), dice.log_uniform(1e-3, 2e-2));
      const double gap = widest_gap(body, face);
      if (std::abs(gap) < 1e-11) {
        ++close_calls;
        continue;
      }
      const bool touches = query.touches({}, face);
      ASSERT_EQ(touches, gap < 0.0) << "seed " << seed << " gap " << gap << " dimension " << body.dimension;
      touching += touches;
    }
  }
  std::cout << "seed " << seed << ": " << touching << " touching, " << close_calls << " too close to decide\n";
  EXPECT_GT(touching, 1000);
}

// Tests pieces of a torus at random orientations on the surface of an organ.
TEST(PieceFaces, TouchedFacesOfAnOrgan) {
  const TriangleMesh ring = shapes::torus(24, 10, 0.02f, 0.006f), organ = make_liver({.faces = 2000});
  const ConvexPieces pieces = convex_pieces(ring.view(), {.largest_deviation = 2e-3, .most_pieces = 8});
  PieceFaces query(pieces);
  Dice dice(17);
  std::size_t touched = 0, in_box = 0;
  for (int round = 0; round < 6; ++round) {
    RigidFrame pose = test::random_pose(dice, 0.0);
    pose.origin = dvec3(organ.positions[dice.pick(static_cast<int>(organ.positions.size()))]);
    const auto all = query.touched(pose, organ.view());
    const std::vector<FaceId> expected(all.begin(), all.end());
    // The candidates come from a box query.
    const PieceFaces::Box box = query.box(pose);
    std::vector<FaceId> candidates;
    for (std::uint32_t f = 0; f < organ.faces.size(); ++f) {
      const Triangle t = triangle_of(organ.positions, organ.faces[f]);
      const dvec3 low = glm::min(glm::min(t.a, t.b), t.c), high = glm::max(glm::max(t.a, t.b), t.c);
      if (glm::all(glm::lessThanEqual(low, box.high)) && glm::all(glm::lessThanEqual(box.low, high))) {
        candidates.push_back(FaceId(f));
      }
      // The answer is compared with the distance from some faces to every piece.
      const bool candidate = !candidates.empty() && candidates.back() == FaceId(f);
      if (!candidate && f % 50) continue;
      double least = 1e9;
      for (const PieceNode& node : pieces.nodes) {
        if (!node.leaf()) continue;
        const ConvexBody face = triangle_body(t);
        least = std::min(least, test::slow_distance(node.hull, pose, face, {}).distance);
      }
      if (least > 1e-12) {
        EXPECT_FALSE(std::binary_search(expected.begin(), expected.end(), FaceId(f)));
      }
      if (least == 0.0) {
        EXPECT_TRUE(std::binary_search(expected.begin(), expected.end(), FaceId(f)));
      }
    }
    const std::uint64_t before = allocations_so_far();
    const auto fast = query.touched(pose, organ.view(), candidates);
    EXPECT_EQ(allocations_so_far(), before);
    EXPECT_TRUE(std::equal(fast.begin(), fast.end(), expected.begin(), expected.end()));
    touched += fast.size(), in_box += candidates.size();
  }
  std::cout << touched << " touched of " << in_box << " in the box\n";
  EXPECT_GT(touched, 30u);
}

// The box of a turned brick is that of its corners; the first question allocates nothing.
TEST(PieceFaces, BoxIsThatOfTheTurnedCorners) {
  Dice dice(19);
  for (int round = 0; round < 200; ++round) {
    const vec3 low(dice.in_cube(0.01)), high = low + vec3(dice.uniform(0.001, 0.01), dice.uniform(0.001, 0.01), 0.005);
    std::vector<vec3> corners;
    for (int k = 0; k < 8; ++k)
      corners.emplace_back(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z);
    ConvexPieces pieces;
    pieces.nodes.push_back({convex_hull(corners), {PieceNode::kNone, PieceNode::kNone}, 0.0});
    PieceFaces query(pieces);
    const RigidFrame pose = test::random_pose(dice, 0.1);
    dvec3 least(1e9), most(-1e9);
    for (const vec3& corner : corners) {
      least = glm::min(least, pose.to_world(dvec3(corner)));
      most = glm::max(most, pose.to_world(dvec3(corner)));
    }
    const PieceFaces::Box box = query.box(pose);
    for (int axis = 0; axis < 3; ++axis) {
      ASSERT_NEAR(box.low[axis], least[axis], 1e-12);
      ASSERT_NEAR(box.high[axis], most[axis], 1e-12);
    }
    const dvec3 inside = pose.to_world(0.5 * dvec3(low + high)), beside = inside + dvec3(0.05, 0, 0);
    const std::uint64_t before = allocations_so_far();
    ASSERT_TRUE(query.touches(pose, {inside, inside, inside}));
    ASSERT_FALSE(query.touches(pose, {beside, beside, beside}));
    ASSERT_EQ(allocations_so_far(), before);
  }
}

// Tests the search over all pairs of features, which replaces a walk that ends early. Usual bodies never need it; here
// the vertices of a body have lost their incident edges, so that its walks end where they start.

constexpr std::uint32_t kSeed = 88;
constexpr double kClose = 2e-10;  // m, of bodies of 0.1 m

// A solid, a sheet, a segment or a point.
ConvexBody random_body(Dice& dice, int dimension) {
  std::vector<vec3> points;
  for (int k = 0; k < 12; ++k) {
    const dvec3 flat(dimension > 0 ? 1.0 : 0.0, dimension > 1 ? 1.0 : 0.0, dimension > 2 ? 1.0 : 0.0);
    points.emplace_back(0.05 * flat * dice.direction());
  }
  return convex_hull(points);
}

ConvexBody without_incident_edges(ConvexBody body) {
  std::fill(body.first_incident_edge.begin(), body.first_incident_edge.end(), 0u);
  return body;
}

bool holds(const ConvexBody& body, const RigidFrame& pose, const dvec3& point) {
  const dvec3 local = pose.to_local(point);
  return std::all_of(body.faces.begin(), body.faces.end(),
                     [&](const auto& face) { return glm::dot(face.normal, local) <= face.offset + 1e-12; });
}

struct Counts {
  int searched = 0, apart = 0, touching = 0, nested = 0;
  long steps = 0;
};

void expect_the_slow_answer(const ConvexBody& a, const RigidFrame& at_a, const ConvexBody& b, const RigidFrame& at_b,
                            Counts& counts) {
  FeaturePair pair;
  const FeatureDistance fast = closest_features(without_incident_edges(a), at_a, without_incident_edges(b), at_b, pair);
  const test::SlowDistance slow = test::slow_distance(a, at_a, b, at_b);
  counts.searched += fast.searched;
  counts.steps += fast.steps;
  if (slow.surfaces < kClose && slow.surfaces > 0.0) return;
  ASSERT_EQ(fast.overlapping, slow.distance == 0.0);
  ASSERT_NEAR(fast.distance, slow.distance, kClose);
  ASSERT_NEAR(glm::distance(fast.on_first, fast.on_second), fast.distance, 1e-12);
  if (fast.overlapping) {
    ASSERT_TRUE(a.dimension < 3 || holds(a, at_a, fast.on_first));
    ASSERT_TRUE(b.dimension < 3 || holds(b, at_b, fast.on_first));
  }
  ++(!fast.overlapping ? counts.apart : slow.surfaces > 0.0 ? counts.nested : counts.touching);
}

TEST(SolidSearch, ReplacesWalksThatEndEarly) {
  Dice dice(kSeed);
  Counts counts;
  for (int trial = 0; trial < 2000; ++trial) {
    const ConvexBody a = random_body(dice, trial % 4), b = random_body(dice, trial / 4 % 4);
    const RigidFrame at_a = test::random_pose(dice, 0.1);
    RigidFrame at_b = test::random_pose(dice, 0.0);
    const double apart = dice.uniform(0.0, trial % 3 ? 0.15 : 0.04);
    at_b.origin = at_a.origin + apart * dice.direction();
    ASSERT_NO_FATAL_FAILURE(expect_the_slow_answer(a, at_a, b, at_b, counts))
        << "trial " << trial << ", seed " << kSeed;
  }
  // A small body within a large one, and the reverse.
  for (int trial = 0; trial < 200; ++trial) {
    ConvexBody large = random_body(dice, 3), small = random_body(dice, trial % 4);
    std::vector<vec3> points;
    for (const dvec3& v : small.vertices) points.emplace_back(0.02 * v);
    small = convex_hull(points);
    const RigidFrame at = test::random_pose(dice, 0.1);
    const RigidFrame inside{test::rotation(dice.direction(), 1.0), at.origin + dice.in_cube(0.01)};
    ASSERT_NO_FATAL_FAILURE(expect_the_slow_answer(large, at, small, inside, counts)) << "trial " << trial;
    ASSERT_NO_FATAL_FAILURE(expect_the_slow_answer(small, inside, large, at, counts)) << "trial " << trial;
  }
  EXPECT_EQ(counts.searched, 1488);
  EXPECT_EQ(counts.steps, 2315);
  EXPECT_GT(counts.apart, 500);
  EXPECT_GT(counts.touching, 100);
  EXPECT_GT(counts.nested, 100);
}

// Two cubes side by side, face to face, edge to edge or corner to corner: the border between touching and apart, for
// the walk from every pair of corners and for the search.
TEST(SolidSearch, TouchingEndsAtItsShareOfTheSize) {
  std::vector<vec3> points;
  for (int k = 0; k < 8; ++k) points.emplace_back(k & 1, k & 2 ? 1 : 0, k & 4 ? 1 : 0);
  const ConvexBody cube = convex_hull(points), cut = without_incident_edges(cube);
  const double touching = kTouching * 2.0 * cube.radius;
  for (const dvec3& side : {dvec3(1, 0, 0), dvec3(1, 1, 0), dvec3(1, 1, 1)}) {
    for (const double gap : {-0.25, -1e-6, 0.0, 0.5 * touching, 4.0 * touching, 1e-9, 0.5}) {
      RigidFrame at_b;
      at_b.origin = side + gap * glm::normalize(side);
      for (std::uint32_t corners = 0; corners < 64; ++corners) {
        for (const ConvexBody* body : {&cube, &cut}) {
          FeaturePair pair{{FeatureKind::Vertex, corners % 8}, {FeatureKind::Vertex, corners / 8}};
          const FeatureDistance found = closest_features(*body, {}, *body, at_b, pair);
          ASSERT_EQ(found.overlapping, gap < touching) << gap << " from " << corners;
          ASSERT_NEAR(found.distance, gap < touching ? 0.0 : gap, 1e-15) << gap << " from " << corners;
          ASSERT_LT(glm::distance(found.on_first, found.on_second), found.distance + 1e-15);
          if (found.overlapping) {
            ASSERT_TRUE(holds(cube, {}, found.on_first));
            ASSERT_TRUE(holds(cube, at_b, found.on_first));
          }
        }
      }
    }
  }
}

// Tests the parts of solids whose faults cost time or accuracy without changing a usual answer: adjacency of bodies,
// spheres, rays, and the lengths of walks. Pinned values come from IEEE arithmetic and are the same on every machine.

namespace solids_values_test {

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

}  // namespace solids_values_test

}  // namespace
}  // namespace trocar::solids

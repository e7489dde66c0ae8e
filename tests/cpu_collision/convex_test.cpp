// Tests convex solids: pieces contain the whole surface and the inside of a closed one, with a measured error within
// its limit; and the convex hull of a tool, with the decisions of a tree traversal.
#include "cpu_collision/convex_tool.hpp"
#include "cpu_collision/reference.hpp"
#include "cpu_collision/solids/closest_features.hpp"
#include "cpu_collision/solids/convex_body.hpp"
#include "cpu_collision/solids/convex_pieces.hpp"
#include "cpu_collision/solids/point_in_solid.hpp"
#include "cpu_collision/trees/aabb.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/organ_maker.hpp"
#include "tests/cpu_collision/solids_support.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::solids {
namespace {

// Tests that the pieces contain the whole surface and the inside of a closed one, and that their measured error is
// within its limit.

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
    for (int i = 0; i <= 20; ++i)
      for (const dvec3& p : {glm::mix(a, b, i / 20.0), glm::mix(b, c, i / 20.0), glm::mix(c, d, i / 20.0)})
        points.emplace_back(p);
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
  for (const PieceNode& node : pieces.nodes)
    if (node.leaf() && least > 0.0) least = std::min(least, outside_of(node.hull, point));
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
    for (const std::uint32_t child : node.child)
      for (const dvec3& v : pieces.nodes[child].hull.vertices) ASSERT_LE(outside_of(node.hull, v), kRounding);
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
  for (const PieceNode& node : pieces.nodes)
    if (node.leaf()) {
      EXPECT_NEAR(node.hull.volume(), 1e-6, 1e-11);
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
    for (const dvec3& v : corners)
      face_low = std::min(face_low, glm::dot(axis, v)), face_high = std::max(face_high, glm::dot(axis, v));
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
      if (glm::all(glm::lessThanEqual(low, box.high)) && glm::all(glm::lessThanEqual(box.low, high)))
        candidates.push_back(FaceId(f));
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
  for (const dvec3& side : {dvec3(1, 0, 0), dvec3(1, 1, 0), dvec3(1, 1, 1)})
    for (const double gap : {-0.25, -1e-6, 0.0, 0.5 * touching, 4.0 * touching, 1e-9, 0.5}) {
      RigidFrame at_b;
      at_b.origin = side + gap * glm::normalize(side);
      for (std::uint32_t corners = 0; corners < 64; ++corners)
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

// Tests the parts of solids whose faults cost time or accuracy without changing a usual answer: adjacency of bodies,
// spheres, rays, and the lengths of walks. Pinned values come from IEEE arithmetic and are the same on every machine.

namespace solids_values_test {

constexpr std::uint32_t kSeed = 606;

// Edges join the corners of their faces, and each vertex lists its edges once.
void expect_consistent(const ConvexBody& body) {
  for (std::uint32_t f = 0; f < body.faces.size(); ++f)
    for (int i = 0; i < 3; ++i) {
      const ConvexBody::Face& face = body.faces[f];
      const ConvexBody::Edge& edge = body.edges[face.edge[i]];
      EXPECT_EQ(std::minmax(edge.vertex[0], edge.vertex[1]), std::minmax(face.vertex[i], face.vertex[(i + 1) % 3]));
      EXPECT_TRUE(edge.face[0] == f || edge.face[1] == f);
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

namespace trocar {
namespace {

// Tests the decisions of a tree traversal: compares the 15-axis test with alternating projections, and the tests of
// boxes and faces against a volume with sampling and with the reference's margin.

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
  for (int i = 0; i < volume.plane_count; ++i)
    if (glm::dot(glm::dvec3(volume.planes[i]), point) + volume.planes[i].w < -slack) return false;
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
      for (int k = 0; k < 3; ++k)
        ASSERT_LE(std::abs(glm::dot(axis(tool.box, k), skin - glm::dvec3(xyz(tool.box.centre)))), tool.box.extent[k]);
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
  for (std::size_t trial = 0; trial < steps.size(); ++trial)
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
    for (int i = 0; i < tool.corner_count; ++i)
      low = std::min(low, glm::dot(axis, tool.corners[i])), high = std::max(high, glm::dot(axis, tool.corners[i]));
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
      for (int i = 0; i < tool.corner_count; ++i)
        low = std::min(low, glm::dot(axis, tool.corners[i])), high = std::max(high, glm::dot(axis, tool.corners[i]));
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
  box.centre = lanes(centre), box.extent = first_three(lanes(half));
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
  late.planes[0] = {0.6f, 0.8f, 0.f, 9.f}, late.planes[1] = {0.f, 0.6f, -0.8f, 9.f}, late.plane_count = 8;
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
}  // namespace trocar

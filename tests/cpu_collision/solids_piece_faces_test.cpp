// Compares every answer of pieces against faces with the separating axes of piece and face, and with triangle
// distances.
#include "cpu_collision/solids/convex_pieces.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "mesh/organ_maker.hpp"
#include "tests/cpu_collision/solids_bodies.hpp"
#include "tests/geometry/random_faces.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;
using test::Dice;

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

}  // namespace
}  // namespace trocar::solids

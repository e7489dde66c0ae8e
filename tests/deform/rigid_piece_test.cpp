// Tests where convex pieces meet: against closed forms for balls, capsules and boxes, against directions tried one by
// one for pieces that overlap, and against the same pieces moved and exchanged.
#include "deform/rigid/piece.hpp"

#include "deform/rigid/body.hpp"
#include "geometry/error.hpp"
#include "tests/support/test.hpp"

namespace trocar::rigid_piece_test {
namespace {

constexpr std::uint32_t kSeed = 5070;

// Owns its piece.
struct Posed : PosedPiece {
  std::shared_ptr<const ConvexPiece> own;
};
Posed posed(const ConvexPiece& piece, const RigidFrame& frame = {}) {
  Posed out;
  out.own = std::make_shared<const ConvexPiece>(piece);
  pose(*out.own, frame, out);
  return out;
}

struct Random {
  std::mt19937 generator;
  explicit Random(std::uint32_t seed) : generator(seed) {}
  double number(double low, double high) {
    return low + (high - low) * static_cast<double>(generator()) / 4294967295.0;
  }
  glm::dvec3 vector(double size) {
    const double x = number(-size, size), y = number(-size, size), z = number(-size, size);
    return {x, y, z};
  }
  glm::dvec3 direction() {
    for (;;) {
      const glm::dvec3 d = vector(1.0);
      if (const double length = glm::length(d); length > 0.1 && length < 1.0) return d / length;
    }
  }
  RigidFrame frame(double size) {
    const glm::dvec3 axis = direction();
    const double angle = number(0.0, 3.0);
    return {glm::mat3_cast(turn_about(axis, angle)), vector(size)};
  }
  ConvexPiece piece() {
    const int kind = static_cast<int>(number(0.0, 3.999));
    const double radius = number(5e-4, 2e-3);
    if (kind == 0) return ball_piece(radius);
    if (kind == 1) return capsule_piece(vector(0.01), vector(0.01), radius);
    std::vector<glm::dvec3> corners;
    const int count = kind == 2 ? 4 : 12;
    for (int k = 0; k < count; ++k) corners.push_back(vector(0.01));
    return make_piece(corners, radius);
  }
};

double least_gap(const PieceMeeting& m) {
  double least = INFINITY;
  for (int k = 0; k < m.count; ++k) least = std::min(least, m.point[k].gap);
  return least;
}

TEST(RigidPiece, RefusesWhatIsNoPiece) {
  const std::vector<glm::dvec3> none, many(65, glm::dvec3(0.0)), nan{glm::dvec3(NAN, 0, 0)}, far{glm::dvec3(11, 0, 0)};
  EXPECT_THROW(make_piece(none, 1e-3), InputError);
  EXPECT_THROW(make_piece(many, 1e-3), InputError);
  EXPECT_THROW(make_piece(nan, 1e-3), InputError);
  EXPECT_THROW(make_piece(far, 1e-3), InputError);
  for (const double radius : {0.0, -1e-3, 5e-5, 2.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    EXPECT_THROW(ball_piece(radius), InputError) << radius;
}

TEST(RigidPiece, EqualCornersAreOnePoint) {
  const std::vector<glm::dvec3> same(5, glm::dvec3(0.01, 0.0, 0.0));
  const ConvexPiece piece = make_piece(same, 1e-3);
  EXPECT_TRUE(piece.faces.empty());
  EXPECT_TRUE(piece.edges.empty());
  const PieceMeeting m = meet(posed(piece), posed(ball_piece(1e-3)), 0.01);
  ASSERT_EQ(m.count, 1);
  EXPECT_NEAR(m.point[0].gap, 0.008, 1e-9);
  // In the same point any direction will do.
  const PieceMeeting middle = meet(posed(ball_piece(1e-3)), posed(ball_piece(2e-3)), 0.0);
  ASSERT_EQ(middle.count, 1);
  EXPECT_NEAR(glm::length(middle.normal), 1.0, 1e-12);
  EXPECT_NEAR(middle.point[0].gap, -3e-3, 1e-12);
}

TEST(RigidPiece, ABoxHasSixFacesAndTwelveEdges) {
  const ConvexPiece box = box_piece({0.01, 0.02, 0.03}, 1e-3);
  ASSERT_EQ(box.faces.size(), 6u);
  EXPECT_EQ(box.edges.size(), 12u);
  for (const PieceFace& face : box.faces) EXPECT_EQ(face.loop.size(), 4u);
  const std::vector<glm::dvec3> flat{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  EXPECT_EQ(make_piece(flat, 1e-3).faces.size(), 2u);
  EXPECT_EQ(make_piece(flat, 1e-3).edges.size(), 4u);
}

TEST(RigidPiece, BallsAndCapsulesMeetInOnePoint) {
  const Posed capsule = posed(capsule_piece({-0.01, 0, 0}, {0.01, 0, 0}, 2e-3));
  const PieceMeeting m = meet(capsule, posed(ball_piece(1e-3, {0.004, 0.0, 0.0032})), 1e-3);
  ASSERT_EQ(m.count, 1);
  EXPECT_NEAR(m.point[0].gap, 0.2e-3, 1e-9);
  EXPECT_NEAR(glm::distance(m.normal, glm::dvec3(0, 0, 1)), 0.0, 1e-9);
  EXPECT_NEAR(glm::distance(m.point[0].at, glm::dvec3(0.004, 0.0, 0.0021)), 0.0, 1e-8);
  EXPECT_EQ(meet(capsule, posed(ball_piece(1e-3, {0.004, 0.0, 0.0042})), 1e-3).count, 0);
}

TEST(RigidPiece, ABoxLiesOnFourPointsALyingCapsuleOnTwo) {
  const Posed floor = posed(box_piece({0.2, 0.2, 0.02}, 1e-3), {glm::dmat3(1.0), {0, 0, -0.01}});
  const Posed box = posed(box_piece({0.02, 0.03, 0.01}, 1e-3), {glm::dmat3(1.0), {0.01, 0.0, 0.005}});
  const PieceMeeting on_box = meet(floor, box, 5e-4);
  ASSERT_EQ(on_box.count, 4);
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(on_box.point[k].gap, 0.0, 1e-12);
  EXPECT_NEAR(glm::distance(on_box.normal, glm::dvec3(0, 0, 1)), 0.0, 1e-15);
  const PieceMeeting on_capsule = meet(floor, posed(capsule_piece({0, 0, 0.0021}, {0.02, 0, 0.0021}, 2e-3)), 5e-4);
  ASSERT_EQ(on_capsule.count, 2);
  for (int k = 0; k < 2; ++k) EXPECT_NEAR(on_capsule.point[k].gap, 1e-4, 1e-12);
  // Beyond the rim of a table nothing carries.
  const PieceMeeting half =
      meet(floor, posed(box_piece({0.02, 0.02, 0.01}, 1e-3), {glm::dmat3(1.0), {0.099, 0, 0.005}}), 5e-4);
  ASSERT_EQ(half.count, 4);
  for (int k = 0; k < 4; ++k) EXPECT_LE(half.point[k].at.x, 0.099 + 1e-6);
}

TEST(RigidPiece, ParallelCapsulesMeetInTwoPointsCrossedOnesInOne) {
  const Posed low = posed(capsule_piece({-0.01, 0, 0}, {0.01, 0, 0}, 1e-3));
  const PieceMeeting side = meet(low, posed(capsule_piece({-0.005, 0, 0.0021}, {0.02, 0, 0.0021}, 1e-3)), 5e-4);
  ASSERT_EQ(side.count, 2);
  EXPECT_NEAR(std::min(side.point[0].at.x, side.point[1].at.x), -0.005, 1e-9);
  EXPECT_NEAR(std::max(side.point[0].at.x, side.point[1].at.x), 0.01, 1e-9);
  const PieceMeeting cross = meet(low, posed(capsule_piece({0, -0.01, 0.0021}, {0, 0.01, 0.0021}, 1e-3)), 5e-4);
  ASSERT_EQ(cross.count, 1);
  EXPECT_NEAR(cross.point[0].gap, 1e-4, 1e-9);
}

// Exchanged and moved together, two pieces meet in the same way.
TEST(RigidPiece, MeetingsDoNotDependOnOrderOrPlace) {
  std::cout << "seed " << kSeed << "\n";
  Random random(kSeed);
  int met = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const ConvexPiece a = random.piece(), b = random.piece();
    const RigidFrame fa = random.frame(0.006), fb = random.frame(0.006), move = random.frame(0.3);
    const auto moved = [&](const RigidFrame& f) { return RigidFrame{move.axes * f.axes, move.to_world(f.origin)}; };
    const PieceMeeting one = meet(posed(a, fa), posed(b, fb), 1e-3), other = meet(posed(b, fb), posed(a, fa), 1e-3),
                       far = meet(posed(a, moved(fa)), posed(b, moved(fb)), 1e-3);
    ASSERT_EQ(one.count > 0, other.count > 0) << trial;
    if (one.count == 0) continue;
    ++met;
    EXPECT_NEAR(least_gap(one), least_gap(far), 2e-5) << trial;
    // Hulls that meet deeply may lie on either of two faces.
    if (least_gap(one) > -a.radius - b.radius) {
      EXPECT_NEAR(least_gap(one), least_gap(other), 2e-5) << trial;
    }
  }
  EXPECT_GT(met, 1000);
}

// The least gap is the largest separation over all directions, less the radii. While the hulls are apart this is their
// distance; where they overlap it is the shortest way out.
TEST(RigidPiece, GapsAreTheLargestSeparationOverDirectionsTriedOneByOne) {
  std::cout << "seed " << kSeed + 1 << "\n";
  Random random(kSeed + 1);
  int apart = 0, overlapping = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const ConvexPiece pa = random.piece(), pb = random.piece();
    const Posed a = posed(pa, random.frame(0.006)), b = posed(pb, random.frame(0.006));
    const PieceMeeting m = meet(a, b, 2e-3);
    const auto separation = [&](const glm::dvec3& d) {
      double low = INFINITY, high = -INFINITY;
      for (const glm::dvec3& p : b.corners()) low = std::min(low, glm::dot(p, d));
      for (const glm::dvec3& p : a.corners()) high = std::max(high, glm::dot(p, d));
      return low - high - pa.radius - pb.radius;
    };
    double best = -INFINITY;
    glm::dvec3 along(0.0);
    for (int k = 0; k < 4000; ++k) {
      const glm::dvec3 d = random.direction();
      if (const double s = separation(d); s > best) best = s, along = d;
    }
    for (double size = 0.1; size > 1e-7; size *= 0.97)
      for (int k = 0; k < 6; ++k) {
        const glm::dvec3 d = glm::normalize(along + random.vector(size));
        if (const double s = separation(d); s > best) best = s, along = d;
      }
    if (m.count == 0) {
      EXPECT_GT(best, 2e-3 - 1e-6) << trial;
      continue;
    }
    if (best > -pa.radius - pb.radius) {
      ++apart;
      EXPECT_NEAR(least_gap(m), best, 4e-5) << trial << " count " << m.count;
    } else {
      // No direction that was tried is a shorter way out.
      ++overlapping;
      EXPECT_GT(separation(m.normal), best - 4e-5) << trial;
      EXPECT_GT(least_gap(m), separation(m.normal) - 1e-6) << trial << " count " << m.count;
      EXPECT_LT(least_gap(m), 0.0) << trial << " count " << m.count;
    }
  }
  EXPECT_GT(apart, 60);
  EXPECT_GT(overlapping, 60);
}

}  // namespace
}  // namespace trocar::rigid_piece_test

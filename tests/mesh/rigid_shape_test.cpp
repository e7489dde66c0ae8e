// Tests the shapes of rigid bodies: closed surfaces, pieces that fill them, and what is refused.
#include "mesh/rigid_shape.hpp"

#include "geometry/closest.hpp"
#include "mesh/mesh_report.hpp"
#include "tests/support/test.hpp"

namespace trocar::rigid_shape_test {
namespace {

RigidShape ring() {
  RigidShape shape;
  shape.form = RigidForm::Ring;
  return shape;
}
RigidShape board() {
  RigidShape shape;
  shape.form = RigidForm::Board;
  shape.size = {0.1, 0.08, 0.01};
  shape.pegs = {{0.02, 0.0, 0.0}, {-0.02, 0.01, 0.0}};
  return shape;
}

double volume_of(const TriangleMesh& mesh) {
  double six = 0.0;
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    six += glm::dot(t.a, glm::cross(t.b, t.c));
  }
  return six / 6.0;
}

// Distance of a point from the nearest piece; negative only where it lies in the rounding of a piece.
double distance_from(const std::vector<RigidPiece>& pieces, const glm::dvec3& point) {
  double least = INFINITY;
  for (const RigidPiece& piece : pieces)
    least = std::min(least, hull_distance(piece.corners, std::span(&point, 1)).distance - piece.radius);
  return least;
}

TEST(RigidShape, RefusesWhatIsNoBody) {
  EXPECT_EQ(rigid_fault({}), "");
  EXPECT_EQ(rigid_fault(ring()), "");
  EXPECT_EQ(rigid_fault(board()), "");
  const auto refused = [](RigidShape shape, auto change) {
    change(shape);
    return !rigid_fault(shape).empty();
  };
  EXPECT_TRUE(refused({}, [](RigidShape& s) { s.size.y = 0.0; }));
  EXPECT_TRUE(refused({}, [](RigidShape& s) { s.size.z = NAN; }));
  EXPECT_TRUE(refused({}, [](RigidShape& s) { s.round = 0.0; }));
  EXPECT_TRUE(refused({}, [](RigidShape& s) { s.round = NAN; }));
  EXPECT_TRUE(refused(ring(), [](RigidShape& s) { s.wall = 0.002; }));
  EXPECT_TRUE(refused(ring(), [](RigidShape& s) { s.side = 0.012; }));
  EXPECT_TRUE(refused(ring(), [](RigidShape& s) { s.height = 0.0; }));
  EXPECT_TRUE(refused(board(), [](RigidShape& s) { s.pegs[0].x = 0.0495; }));
  EXPECT_TRUE(refused(board(), [](RigidShape& s) { s.pegs[0].z = 1e-3; }));
  EXPECT_TRUE(refused(board(), [](RigidShape& s) { s.peg_height = 0.002; }));
}

TEST(RigidShape, SurfacesAreClosedAndTurnOutward) {
  for (const RigidShape& shape : {RigidShape{}, ring(), board()}) {
    TriangleMesh mesh = own_surface(shape);
    mesh.faces = welded_faces(mesh.positions, mesh.faces);
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
    for (const glm::uvec3& f : mesh.faces)
      for (int k = 0; k < 3; ++k) ++edges[{f[k], f[(k + 1) % 3]}];
    for (const auto& [edge, count] : edges) {
      EXPECT_EQ(count, 1);
      EXPECT_EQ(edges.count({edge.second, edge.first}), 1u);
    }
    EXPECT_GT(volume_of(mesh), 0.0);
  }
  EXPECT_NEAR(volume_of(own_surface({})), 8e-6, 1e-11);
}

TEST(RigidShape, PiecesFillTheSurface) {
  for (const RigidShape& shape : {ring(), board()}) {
    const std::vector<RigidPiece> pieces = own_pieces(shape);
    const TriangleMesh mesh = own_surface(shape);
    for (const glm::vec3& p : mesh.positions) {
      // The surface has sharp edges along its outline, where pieces are round.
      EXPECT_LT(distance_from(pieces, glm::dvec3(p)), 0.75 * shape.round) << p.x << " " << p.y << " " << p.z;
    }
    for (const glm::uvec3& face : mesh.faces) {
      const Triangle t = triangle_of(mesh.positions, face);
      const glm::dvec3 normal = glm::cross(t.b - t.a, t.c - t.a);
      // The feet of pegs stand on the board.
      if (!(glm::length(normal) > 0.0) || (normal.z < 0.0 && std::abs(t.a.z) < 1e-9)) continue;
      const glm::dvec3 outside = (t.a + t.b + t.c) / 3.0 + 3e-4 * glm::normalize(normal);
      EXPECT_GT(distance_from(pieces, outside), 0.0);
    }
  }
}

TEST(RigidShape, ARingHasItsHoleAndItsWall) {
  const RigidShape shape = ring();
  const std::vector<RigidPiece> pieces = own_pieces(shape);
  const double inner = shape.side / (2.0 * std::sqrt(3.0));
  // Along the normal of a long side, which points to -y.
  EXPECT_NEAR(distance_from(pieces, {0.0, 0.0, 0.0}), inner - shape.wall, 1e-9);
  EXPECT_NEAR(distance_from(pieces, {0.0, -inner - 1e-3, 0.0}), 1e-3, 1e-9);
  EXPECT_NEAR(distance_from(pieces, {0.0, 0.5 * shape.wall - inner, 0.5 * shape.height + 1e-3}), 1e-3, 1e-9);
}

TEST(RigidShape, TurnsAndMoves) {
  RigidShape shape;
  shape.at = {0.1, 0.2, 0.3}, shape.turn_deg = {0.0, 0.0, 90.0}, shape.size = {0.04, 0.02, 0.01};
  const TriangleMesh mesh = rigid_surface(shape);
  glm::vec3 low(1.f), high(-1.f);
  for (const glm::vec3& p : mesh.positions) low = glm::min(low, p), high = glm::max(high, p);
  EXPECT_NEAR(low.x, 0.09f, 1e-6f);
  EXPECT_NEAR(high.y, 0.22f, 1e-6f);
  EXPECT_NEAR(high.z, 0.305f, 1e-6f);
}

}  // namespace
}  // namespace trocar::rigid_shape_test

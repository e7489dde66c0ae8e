// Tests the repair of meshes: sound organs that were damaged on purpose become what they were, holes are closed, and
// what cannot be repaired is refused with one sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <random>
#include <set>

#include "geometry/error.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/repair.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::repair_test {
namespace {

using Corner = std::array<float, 3>;
using Oriented = std::array<Corner, 3>;  // the lowest corner first, then in order

// The faces as positions, independent of the numbers of vertices and the order of faces.
std::multiset<Oriented> surface_of(const TriangleMesh& mesh) {
  std::multiset<Oriented> faces;
  for (const glm::uvec3& f : mesh.faces) {
    Oriented face;
    for (int k = 0; k < 3; ++k) face[k] = {mesh.positions[f[k]].x, mesh.positions[f[k]].y, mesh.positions[f[k]].z};
    std::rotate(face.begin(), std::min_element(face.begin(), face.end()), face.end());
    faces.insert(face);
  }
  return faces;
}

class Damage {
 public:
  explicit Damage(unsigned seed) : random_(seed) { std::printf("seed %u\n", seed); }

  std::uint32_t pick(std::size_t count) { return static_cast<std::uint32_t>(random_() % count); }

  // Gives some faces vertices of their own.
  void add_seams(TriangleMesh& mesh) {
    for (glm::uvec3& face : mesh.faces)
      for (int k = 0; k < 3; ++k)
        if (pick(3) == 0) {
          mesh.positions.push_back(mesh.positions[face[k]]);
          face[k] = static_cast<std::uint32_t>(mesh.positions.size() - 1);
        }
  }
  void turn_faces(TriangleMesh& mesh) {
    for (glm::uvec3& face : mesh.faces)
      if (pick(4) == 0) std::swap(face.y, face.z);
  }
  void add_copies(TriangleMesh& mesh) {
    for (int k = 0; k < 20; ++k) {
      const glm::uvec3 face = mesh.faces[pick(mesh.faces.size())];
      mesh.faces.push_back(k % 2 ? glm::uvec3(face.y, face.x, face.z) : face);
    }
  }
  void add_degenerate(TriangleMesh& mesh) {
    for (int k = 0; k < 20; ++k) {
      const glm::uvec3 face = mesh.faces[pick(mesh.faces.size())];
      mesh.faces.push_back({face.x, face.x, face.y});
    }
  }
  void add_loose_pieces(TriangleMesh& mesh) {
    mesh = shapes::joined(mesh, shapes::random_soup(pick(1000), 3, 0.5f));
    mesh.positions.emplace_back(9.f);  // without faces
  }
  // Removes all faces at some vertices.
  void pierce(TriangleMesh& mesh, int holes) {
    for (int k = 0; k < holes; ++k) {
      const std::uint32_t v = mesh.faces[pick(mesh.faces.size())].x;
      std::erase_if(mesh.faces, [v](const glm::uvec3& f) { return f.x == v || f.y == v || f.z == v; });
    }
  }

 private:
  std::mt19937 random_;
};

TriangleMesh organ(const std::string& name) { return load_mesh(repository_file("data/organs/" + name + ".obj")); }

std::string refusal(const TriangleMesh& mesh, const RepairParams& params = {}) {
  try {
    repair(mesh, params);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Repair, LeavesASoundMeshUnchanged) {
  for (const std::string name : {"liver", "stomach", "gallbladder"}) {
    const TriangleMesh mesh = organ(name);
    const Repaired result = repair(mesh);
    EXPECT_EQ(result.mesh.faces, mesh.faces) << name;
    EXPECT_EQ(result.mesh.positions, mesh.positions) << name;
    EXPECT_EQ(result.counts.farthest, 0.0);
  }
}

TEST(Repair, WithoutHolesTheSurfaceIsAsBefore) {
  Damage damage(101);
  for (const TriangleMesh& mesh : {organ("gallbladder"), shapes::torus(20, 12), shapes::cube()}) {
    TriangleMesh damaged = mesh;
    damage.add_copies(damaged);
    damage.add_degenerate(damaged);
    damage.turn_faces(damaged);
    damage.add_seams(damaged);
    damage.add_loose_pieces(damaged);
    ASSERT_FALSE(mesh_report(damaged.view()).sound());
    const Repaired result = repair(damaged);
    EXPECT_EQ(surface_of(result.mesh), surface_of(mesh));
    EXPECT_EQ(result.mesh.positions.size(), mesh.positions.size());
    EXPECT_EQ(result.counts.loose_faces, 3u);
    EXPECT_EQ(result.counts.dropped_faces, 40u);
    EXPECT_GE(result.counts.unused_vertices, 1u);
    EXPECT_EQ(result.counts.farthest, 0.0);
    EXPECT_TRUE(result.report.sound());
  }
}

TEST(Repair, ClosesHoles) {
  Damage damage(102);
  for (const std::string name : {"liver", "stomach", "gallbladder"}) {
    const TriangleMesh mesh = organ(name);
    TriangleMesh damaged = mesh;
    damage.pierce(damaged, 40);
    damage.turn_faces(damaged);
    damage.add_seams(damaged);
    const MeshReport before = mesh_report(damaged.view());
    EXPECT_GT(before.welded.boundary_edges, 150u);
    const Repaired result = repair(damaged);
    EXPECT_TRUE(result.report.sound()) << name;
    EXPECT_TRUE(result.report.solid.fault.empty()) << result.report.solid.fault;
    EXPECT_GE(result.counts.closed_holes, 30u);
    const MeshReport whole = mesh_report(mesh.view());
    EXPECT_NEAR(result.report.volume / whole.volume, 1.0, 0.003) << name;
    EXPECT_NEAR(result.report.area / whole.area, 1.0, 0.003) << name;
    EXPECT_EQ(result.report.welded.euler_characteristic, whole.welded.euler_characteristic);
    EXPECT_GT(result.counts.farthest, 0.0);
    EXPECT_LT(result.counts.farthest, 2.0 * whole.median_edge);
    std::printf("%s: %zu open edges, %zu holes closed with %zu faces, at most %.2f mm from the old surface\n",
                name.c_str(), before.welded.boundary_edges, result.counts.closed_holes, result.counts.new_faces,
                result.counts.farthest * 1e3);
  }
}

TEST(Repair, ClosesAWideHole) {
  TriangleMesh mesh = shapes::icosphere(4, 0.05f);
  std::erase_if(mesh.faces, [&](const glm::uvec3& f) { return mesh.positions[f.x].z > 0.03f; });
  const std::string refused = refusal(mesh);
  EXPECT_NE(refused.find("mm long, and at most 100 mm are allowed"), std::string::npos) << refused;
  const Repaired result = repair(mesh, {.longest_boundary = 1.0});
  EXPECT_EQ(result.counts.closed_holes, 1u);
  // A cap of height about 0.02 is missing from a sphere of radius 0.05; the lid is nearly plane.
  const double ball = 4.0 / 3.0 * std::numbers::pi * 1.25e-4, cap = std::numbers::pi * 4e-4 * (0.15 - 0.02) / 3.0;
  EXPECT_NEAR(result.report.volume / (ball - cap), 1.0, 0.03);
  EXPECT_NEAR(result.counts.farthest, 0.04, 0.004);  // the middle of the lid, from its rim
}

TEST(Repair, ReplacesFacesWithoutArea) {
  TriangleMesh mesh = shapes::icosphere(3, 0.05f);
  const TriangleMesh whole = mesh;
  // A vertex on a side that only one of its two faces has, and a flat face between.
  for (const std::uint32_t f : {10u, 200u, 700u}) {
    const glm::uvec3 face = mesh.faces[f];
    const auto middle = static_cast<std::uint32_t>(mesh.positions.size());
    mesh.positions.push_back(0.5f * (mesh.positions[face.x] + mesh.positions[face.y]));
    mesh.faces[f] = {face.x, middle, face.z};
    mesh.faces.push_back({middle, face.y, face.z});
    mesh.faces.push_back({face.x, face.y, middle});
  }
  // A side split just beside its end: two needles.
  const HalfEdges adjacency = half_edges(mesh.positions.size(), mesh.faces);
  const std::uint32_t h = 3 * 400, over = adjacency.opposite[h];
  const std::uint32_t u = adjacency.vertex[h], w = adjacency.end(h), a = adjacency.end(next_in_face(h)),
                      b = adjacency.end(next_in_face(over));
  const auto near = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.push_back(glm::mix(mesh.positions[u], mesh.positions[w], 1e-5f));
  mesh.faces[face_of(h)] = {near, w, a};
  mesh.faces[face_of(over)] = {w, near, b};
  mesh.faces.push_back({u, near, a});
  mesh.faces.push_back({near, u, b});
  ASSERT_EQ(mesh_report(mesh.view()).zero_area_faces, 5u);
  ASSERT_TRUE(mesh_report(mesh.view()).welded.closed());

  const Repaired result = repair(mesh);
  EXPECT_TRUE(result.report.sound());
  EXPECT_EQ(result.counts.replaced_faces, 4u);  // the two needles are one
  EXPECT_LT(result.counts.farthest, 1e-6);
  EXPECT_NEAR(result.report.volume / mesh_report(whole.view()).volume, 1.0, 1e-5);
}

TEST(Repair, JoinsEdgesThatAreCloseTogether) {
  // Two halves of a ball, 0.02 mm apart.
  TriangleMesh upper = shapes::sphere_of(2000, 0.05f), lower = upper;
  std::vector<float> heights;
  for (const glm::uvec3& f : upper.faces) heights.push_back(upper.positions[f.x].z);
  const auto is_upper = [&](const glm::uvec3& f) {
    return (upper.positions[f.x].z + upper.positions[f.y].z + upper.positions[f.z].z) > 0.f;
  };
  std::erase_if(upper.faces, [&](const glm::uvec3& f) { return !is_upper(f); });
  std::erase_if(lower.faces, is_upper);
  for (glm::vec3& p : lower.positions) p.z -= 2e-5f;
  const TriangleMesh parts = shapes::joined(upper, lower);
  EXPECT_NE(refusal(parts), "");
  const Repaired result = repair(parts, {.join_distance = 1e-4});
  EXPECT_EQ(result.report.welded.components, 1u);
  EXPECT_EQ(result.counts.closed_holes, 0u);
  EXPECT_NEAR(result.counts.farthest, 2e-5, 1e-6);
}

TEST(Repair, RefusesWithOneSentence) {
  TriangleMesh three = shapes::cube();
  three.positions.emplace_back(0.3f);
  three.faces.push_back({three.faces[0].x, three.faces[0].y, 8});
  three = shapes::joined(three, shapes::cube());
  EXPECT_NE(refusal(three).find("more than two faces meet at"), std::string::npos) << refusal(three);

  const TriangleMesh crossing = shapes::joined(shapes::icosphere(2, 0.05f), shapes::icosphere(2, 0.05f, {0.03f, 0, 0}));
  EXPECT_NE(refusal(crossing).find("of faces would cross"), std::string::npos) << refusal(crossing);

  TriangleMesh strip;  // of Moebius
  const int steps = 30;
  for (int k = 0; k < steps; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / steps;
    const glm::dvec3 out(std::cos(angle), std::sin(angle), 0.0);
    const glm::dvec3 across = 0.01 * (std::cos(angle / 2) * out + std::sin(angle / 2) * glm::dvec3(0, 0, 1));
    strip.positions.emplace_back(0.05 * out - across);
    strip.positions.emplace_back(0.05 * out + across);
  }
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(steps); ++k) {
    const bool last = k + 1 == static_cast<std::uint32_t>(steps);
    const std::uint32_t a = 2 * k, b = a + 1, c = last ? 1 : a + 2, d = last ? 0 : a + 3;
    strip.faces.push_back({a, c, b});
    strip.faces.push_back({b, c, d});
  }
  EXPECT_NE(refusal(strip).find("only one side"), std::string::npos) << refusal(strip);

  EXPECT_NE(refusal({}), "");
  EXPECT_NE(refusal(shapes::cube(), {.join_distance = -1e-3}).find("at least 0"), std::string::npos);
  EXPECT_NE(refusal(shapes::cube(), {.longest_boundary = std::nan("")}).find("at least 0"), std::string::npos);
  EXPECT_NE(refusal(shapes::random_soup(1, 3)).find("no face remains"), std::string::npos);
  TriangleMesh plate = shapes::grid(4, 4);  // its rim is its only boundary: closing it folds it flat
  EXPECT_NE(refusal(plate, {.longest_boundary = 1.0}), "");
}

TEST(Repair, TheSofaLiverOfSeveralPiecesTurnsOutward) {
  const auto file = shared_file("organs/sofa/liver.vtk");
  if (!file) GTEST_SKIP() << "no shared test data";
  const TriangleMesh liver = load_mesh(*file);
  ASSERT_FALSE(mesh_report(liver.view()).outward());
  const Repaired result = repair(liver);
  EXPECT_TRUE(result.report.sound());
  EXPECT_EQ(result.mesh.faces.size(), liver.faces.size());
}

// Tests the triangulation of holes: against all triangulations of small boundaries, and on plane outlines of any shape.

using Points = std::vector<glm::dvec3>;

bool none_taken(std::uint32_t, std::uint32_t) { return false; }

double cost_of(const Points& corners, const std::vector<glm::uvec3>& faces) {
  double sum = 0.0;
  for (const glm::uvec3& f : faces) sum += fill_cost(corners[f.x], corners[f.y], corners[f.z]);
  return sum;
}

double area_of(const Points& corners, const std::vector<glm::uvec3>& faces) {
  double sum = 0.0;
  for (const glm::uvec3& f : faces)
    sum += 0.5 * glm::length(glm::cross(corners[f.y] - corners[f.x], corners[f.z] - corners[f.x]));
  return sum;
}

// The least cost over all triangulations of the corners from i to j, by plain recursion.
double least(const Points& corners, const EdgeTaken& taken, std::uint32_t i, std::uint32_t j) {
  if (j - i < 2) return 0.0;
  const bool last = i == 0 && j + 1 == corners.size();
  double best = INFINITY;
  if (!last && taken(i, j)) return best;
  for (std::uint32_t m = i + 1; m < j; ++m)
    best = std::min(best, least(corners, taken, i, m) + least(corners, taken, m, j) +
                              fill_cost(corners[i], corners[m], corners[j]));
  return best;
}

// Every edge of the boundary belongs to one face in its direction, every other edge to two in opposite directions.
void expect_closes(const std::vector<glm::uvec3>& faces, std::uint32_t corners) {
  EXPECT_EQ(faces.size(), corners - 2);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> net;
  for (const glm::uvec3& f : faces)
    for (int k = 0; k < 3; ++k) ++net[{f[k], f[(k + 1) % 3]}], --net[{f[(k + 1) % 3], f[k]}];
  for (const auto& [edge, count] : net) {
    const bool along = edge.second == (edge.first + 1) % corners, against = edge.first == (edge.second + 1) % corners;
    EXPECT_EQ(count, along ? 1 : against ? -1 : 0) << edge.first << " to " << edge.second;
  }
}

TEST(HoleFill, IsTheCheapestOfAllTriangulations) {
  const unsigned seed = 41;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> part(-0.01, 0.01);
  int impossible = 0;
  for (int round = 0; round < 300; ++round) {
    Points corners(3 + random() % 7);
    for (glm::dvec3& p : corners) p = {part(random), part(random), part(random)};
    std::vector<std::pair<std::uint32_t, std::uint32_t>> used;
    for (std::size_t k = random() % (3 * corners.size()); k > 0; --k)
      used.emplace_back(random() % corners.size(), random() % corners.size());
    const EdgeTaken taken = [&](std::uint32_t a, std::uint32_t b) {
      return std::find(used.begin(), used.end(), std::pair(a, b)) != used.end();
    };
    const std::vector<glm::uvec3> faces = fill_hole(corners, taken);
    const double best = least(corners, taken, 0, static_cast<std::uint32_t>(corners.size() - 1));
    if (faces.empty()) {
      EXPECT_EQ(best, INFINITY);
      ++impossible;
      continue;
    }
    expect_closes(faces, static_cast<std::uint32_t>(corners.size()));
    EXPECT_NEAR(cost_of(corners, faces), best, 1e-15);
  }
  EXPECT_GE(impossible, 5);
  EXPECT_LT(impossible, 150);
}

TEST(HoleFill, ClosesAPlaneHoleExactlyWhateverItsOutline) {
  for (const int points : {5, 12, 60}) {
    Points star;  // its tips reach far beyond its notches
    double area = 0.0;
    for (int k = 0; k < 2 * points; ++k) {
      const double angle = std::numbers::pi * k / points, radius = k % 2 ? 0.004 : 0.02;
      star.emplace_back(radius * std::cos(angle), radius * std::sin(angle), 0.0);
    }
    for (std::size_t k = 0; k < star.size(); ++k) {
      const glm::dvec3 &p = star[k], &q = star[(k + 1) % star.size()];
      area += 0.5 * (p.x * q.y - p.y * q.x);
    }
    const std::vector<glm::uvec3> faces = fill_hole(star, none_taken);
    expect_closes(faces, static_cast<std::uint32_t>(star.size()));
    EXPECT_NEAR(area_of(star, faces) / area, 1.0, 1e-9) << points;
  }
}

TEST(HoleFill, BetweenEqualAreasTheShorterSidesDecide) {
  const Points kite{{-0.03, 0, 0}, {0, -0.01, 0}, {0.03, 0, 0}, {0, 0.01, 0}};
  for (const glm::uvec3& face : fill_hole(kite, none_taken))
    EXPECT_TRUE((face.x == 1 || face.y == 1 || face.z == 1) && (face.x == 3 || face.y == 3 || face.z == 3));
}

// Corners on straight lines: no face may lie on one.
TEST(HoleFill, AvoidsFacesWithoutArea) {
  Points square;
  for (int side = 0; side < 4; ++side)
    for (int k = 0; k < 10; ++k) {
      const double along = 0.002 * k - 0.01;
      square.push_back(side == 0   ? glm::dvec3(along, -0.01, 0)
                       : side == 1 ? glm::dvec3(0.01, along, 0)
                       : side == 2 ? glm::dvec3(-along, 0.01, 0)
                                   : glm::dvec3(-0.01, -along, 0));
    }
  const std::vector<glm::uvec3> faces = fill_hole(square, none_taken);
  expect_closes(faces, 40);
  for (const glm::uvec3& f : faces) {
    const glm::dvec3 normal = glm::cross(square[f.y] - square[f.x], square[f.z] - square[f.x]);
    EXPECT_GT(normal.z, 1e-7);
  }
  EXPECT_NEAR(area_of(square, faces), 4e-4, 1e-12);
}

TEST(HoleFill, ATriangleIsOneFace) {
  const Points corners{{0, 0, 0}, {0.01, 0, 0}, {0, 0.01, 0}};
  EXPECT_EQ(fill_hole(corners, none_taken), std::vector<glm::uvec3>{glm::uvec3(0, 1, 2)});
}

}  // namespace
}  // namespace trocar::repair_test

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "app/view/tissue_texture.hpp"
#include "mesh/organ_maker.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

// Square of the radius minus square of the distance to the axis, of the piece for which it is largest.
double by_all_pieces(const std::vector<VesselPiece>& pieces, const glm::dvec3& p) {
  double most = -1e9;
  for (const VesselPiece& piece : pieces) {
    const glm::dvec3 from(piece.from), way = glm::dvec3(piece.to) - from;
    const double squared = glm::dot(way, way);
    const double share = squared > 0.0 ? std::clamp(glm::dot(p - from, way) / squared, 0.0, 1.0) : 0.0;
    const double radius = glm::mix(double{piece.from_radius}, double{piece.to_radius}, share);
    const double distance = glm::distance(p, from + share * way);
    most = std::max(most, radius * radius - distance * distance);
  }
  return most;
}

// Divides every face into four, `times` times.
TriangleMesh divided(TriangleMesh mesh, int times) {
  for (; times > 0; --times) {
    std::map<std::pair<unsigned, unsigned>, unsigned> middles;
    std::vector<glm::uvec3> faces;
    const auto middle = [&](unsigned a, unsigned b) {
      const auto [found, added] = middles.try_emplace(std::minmax(a, b), static_cast<unsigned>(mesh.positions.size()));
      if (added) mesh.positions.push_back(0.5f * (mesh.positions[a] + mesh.positions[b]));
      return found->second;
    };
    for (const glm::uvec3& f : mesh.faces) {
      const unsigned ab = middle(f.x, f.y), bc = middle(f.y, f.z), ca = middle(f.z, f.x);
      for (const glm::uvec3& part : {glm::uvec3(f.x, ab, ca), {ab, f.y, bc}, {ca, bc, f.z}, {ab, bc, ca}})
        faces.push_back(part);
    }
    mesh.faces = faces;
  }
  return mesh;
}

// The loops of the part of a surface whose corners are all `inside`: connected pieces minus Euler's number.
int loops_of(const TriangleMesh& mesh, const std::vector<bool>& inside) {
  std::vector<unsigned> leader(mesh.positions.size());
  std::iota(leader.begin(), leader.end(), 0u);
  const auto find = [&](unsigned v) {
    while (leader[v] != v) v = leader[v] = leader[leader[v]];
    return v;
  };
  int vertices = 0, pieces = 0, faces = 0;
  std::map<std::pair<unsigned, unsigned>, int> edges;
  for (const glm::uvec3& f : mesh.faces) {
    for (int k = 0; k < 3; ++k) {
      const unsigned a = f[k], b = f[(k + 1) % 3];
      if (!inside[a] || !inside[b]) continue;
      edges[std::minmax(a, b)] = 1;
      leader[find(a)] = find(b);
    }
    faces += inside[f.x] && inside[f.y] && inside[f.z];
  }
  for (unsigned v = 0; v < mesh.positions.size(); ++v)
    if (inside[v]) ++vertices, pieces += find(v) == v;
  return pieces - (vertices - static_cast<int>(edges.size()) + faces);
}

void expect_no_loops(const TriangleMesh& organ, const TriangleMesh& fine, VesselTreeParams params,
                     std::initializer_list<std::uint32_t> seeds) {
  for (const std::uint32_t seed : seeds) {
    params.seed = seed;
    const std::vector<VesselPiece> pieces = grow_vessels(organ.view(), params);
    ASSERT_GT(pieces.size(), 50u);
    std::vector<bool> inside;
    for (const glm::vec3& p : fine.positions) inside.push_back(by_all_pieces(pieces, glm::dvec3(p)) > 0.0);
    EXPECT_EQ(loops_of(fine, inside), 0) << "seed " << seed;
  }
}

TEST(VesselTree, VesselsOfEverySeedHaveNoClosedLoop) {
  const TriangleMesh organ = make_gallbladder({.faces = 3000});
  // Edges of a third of a millimetre resolve the thinnest vessels.
  expect_no_loops(organ, divided(organ, 3), {}, {1, 2, 3, 4, 5, 6, 7, 8});
}

// Vessels that approach the same one from far away do not meet before it.
TEST(VesselTree, WideClearancesMakeNoLoops) {
  const TriangleMesh organ = make_stomach({.faces = 10000});
  VesselTreeParams params;
  params.end_radius = 0.0014f;
  params.most_radius = 0.0020f;
  params.clearance = 0.014f;
  params.shortest = 0.025f;
  expect_no_loops(organ, divided(organ, 2), params, {1, 2, 7, 8});
}

// The counter of loops finds the one of a belt.
TEST(VesselTree, ABeltAroundABallWouldBeALoop) {
  const TriangleMesh ball = shapes::icosphere(4, 0.05f);
  std::vector<bool> belt, cap;
  for (const glm::vec3& p : ball.positions) belt.push_back(std::abs(p.z) < 0.01f), cap.push_back(p.z > 0.02f);
  EXPECT_EQ(loops_of(ball, belt), 1);
  EXPECT_EQ(loops_of(ball, cap), 0);
}

// One piece ends at each point, so the pieces form trees; the cubes of the radii of those that begin there add up.
TEST(VesselTree, RadiiFollowMurraysLaw) {
  const TriangleMesh organ = make_stomach({.faces = 6000});
  VesselTreeParams params;
  params.most_radius = 1.f;
  const std::vector<VesselPiece> pieces = grow_vessels(organ.view(), params);
  const auto key = [](const glm::vec3& p) { return std::array{p.x, p.y, p.z}; };
  std::map<std::array<float, 3>, double> flows_on;  // cubes of the radii of the pieces that begin here
  std::map<std::array<float, 3>, int> comes_from;   // pieces that end here
  for (const VesselPiece& piece : pieces) {
    EXPECT_GE(piece.from_radius, piece.to_radius);
    flows_on[key(piece.from)] += std::pow(double{piece.to_radius}, 3.0);
    ++comes_from[key(piece.to)];
  }
  const double end = std::pow(double{params.end_radius}, 3.0);
  std::size_t joints = 0;
  for (const VesselPiece& piece : pieces) {
    EXPECT_EQ(comes_from[key(piece.to)], 1);
    const auto further = flows_on.find(key(piece.to));
    const double cube = std::pow(double{piece.to_radius}, 3.0);
    if (further == flows_on.end()) {
      EXPECT_NEAR(cube, end, 1e-6 * end);
    } else if (std::abs(further->second - cube) > 1e-4 * cube) {
      // A vessel that was an end before another one joined at its very end keeps its own share.
      EXPECT_NEAR(further->second + end, cube, 1e-4 * cube);
    }
    joints += further != flows_on.end() && further->second > 1.5 * end;
  }
  EXPECT_GT(joints, 20u);
}

TEST(VesselTree, MostOfTheSurfaceHasAVesselNearby) {
  const TriangleMesh organ = make_stomach({.faces = 10000});
  const std::vector<VesselPiece> pieces = grow_vessels(organ.view());
  std::size_t near = 0;
  for (const glm::vec3& p : organ.positions) near += by_all_pieces(pieces, glm::dvec3(p)) > -0.012 * 0.012;
  EXPECT_GT(static_cast<double>(near), 0.95 * static_cast<double>(organ.positions.size()));
}

TEST(VesselTree, TheSeedDecides) {
  const TriangleMesh organ = make_stomach({.faces = 4000});
  const auto grown = [&](std::uint32_t seed) {
    VesselTreeParams params;
    params.seed = seed;
    std::vector<std::array<float, 3>> ends;
    for (const VesselPiece& piece : grow_vessels(organ.view(), params))
      ends.push_back({piece.to.x, piece.to.y, piece.to.z});
    return ends;
  };
  EXPECT_EQ(grown(7), grown(7));
  EXPECT_NE(grown(7), grown(8));
}

// As when its file is in other units than it says.
TEST(VesselTree, AnOrganOfKilometresHasFewTrees) {
  TriangleMesh organ = make_stomach({.faces = 20000});
  for (glm::vec3& p : organ.positions) p *= 1e4f;
  const std::vector<VesselPiece> pieces = grow_vessels(organ.view());
  std::set<std::array<float, 3>> begins, ends;
  for (const VesselPiece& piece : pieces) {
    begins.insert({piece.from.x, piece.from.y, piece.from.z});
    ends.insert({piece.to.x, piece.to.y, piece.to.z});
  }
  std::size_t roots = 0;
  for (const auto& begin : begins) roots += !ends.contains(begin);
  EXPECT_GT(roots, 0u);
  EXPECT_LE(roots, 12u);
}

TEST(VesselTree, DegenerateMeshesHaveNoVesselsOrFew) {
  EXPECT_TRUE(grow_vessels({}).empty());
  const std::vector<glm::vec3> corners{{0, 0, 0},    {0.1f, 0, 0}, {0, 0.1f, 0},
                                       {0.1f, 0, 0}, {0, 0.1f, 0}, {0.1f, 0.1f, 0}};
  EXPECT_TRUE(grow_vessels({corners, {}}).empty());
  const std::vector<glm::uvec3> point{{0, 0, 0}}, line{{0, 1, 3}}, seam{{0, 1, 2}, {3, 5, 4}};
  EXPECT_TRUE(grow_vessels({corners, point}).empty());
  EXPECT_LE(grow_vessels({corners, line}).size(), 1u);
  EXPECT_LE(grow_vessels({corners, seam}).size(), 3u);
}

TEST(VesselVolume, IsTheDistanceToAllPieces) {
  const TriangleMesh organ = make_stomach({.faces = 4000});
  const std::vector<VesselPiece> pieces = grow_vessels(organ.view());
  const VesselVolume volume = make_vessel_volume(pieces, organ.positions);
  const double unit = double{kVesselReach} * double{kVesselReach}, cell = double{volume.cell};
  std::mt19937 random(11);
  std::normal_distribution<float> shift(0.f, 0.0008f);
  glm::vec3 low = organ.positions[0], high = low;
  for (const glm::vec3& p : organ.positions) low = glm::min(low, p), high = glm::max(high, p);
  int compared = 0, same_side = 0;
  for (int k = 0; k < 3000; ++k) {
    const VesselPiece& piece = pieces[random() % pieces.size()];
    const glm::vec3 p = glm::mix(piece.from, piece.to, 0.5f) + glm::vec3(shift(random), shift(random), shift(random));
    if (p != glm::clamp(p, low, high)) continue;
    const double exact = std::clamp(by_all_pieces(pieces, glm::dvec3(p)) / unit, -1.0, 1.0);
    // A squared distance between texels errs by at most cell^2 / 4 for each axis across; at kinks, where the nearest
    // piece changes or the range ends, by more.
    EXPECT_NEAR(double{volume.inside(p)}, exact, 1.5 * cell * cell / unit);
    ++compared;
    same_side += (volume.inside(p) > 0.f) == (exact > 0.0);
  }
  EXPECT_GT(compared, 2000);
  EXPECT_GT(same_side, 0.93 * compared);
  EXPECT_FLOAT_EQ(volume.inside({1.f, 1.f, 1.f}), -1.f);
}

TEST(VesselVolume, KeepsItsLimitOfTexels) {
  const TriangleMesh ball = shapes::icosphere(3, 0.05f);
  for (const std::size_t most : {1000u, 100000u, 8000000u}) {
    const VesselVolume volume = make_vessel_volume({}, ball.positions, {.most_texels = most});
    EXPECT_LE(volume.texels.size(), most);
    EXPECT_EQ(volume.texels.size(), static_cast<std::size_t>(volume.size.x) * static_cast<std::size_t>(volume.size.y) *
                                        static_cast<std::size_t>(volume.size.z));
    EXPECT_GE(volume.cell, 0.0005f);
  }
  const std::vector<glm::vec3> rod{{0.f, 0.f, 0.f}, {2.f, 0.01f, 0.01f}};
  const VesselVolume narrow = make_vessel_volume({}, rod, {.most_side = 256});
  EXPECT_LE(narrow.size.x, 256);
  EXPECT_TRUE(make_vessel_volume({}, {}).texels.empty());
  EXPECT_FLOAT_EQ(VesselVolume().inside({0.f, 0.f, 0.f}), -1.f);
}

}  // namespace
}  // namespace trocar

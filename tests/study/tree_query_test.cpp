// Compares queries of segments, rays and points with a loop over all faces, also for degenerate lines and meshes.
#include <gtest/gtest.h>

#include <algorithm>

#include "cpu_collision/trees/surface_tree.hpp"
#include "geometry/closest.hpp"
#include "geometry/refine.hpp"
#include "mesh/triangle_mesh.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/study/all_trees.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

using test::Dice;

constexpr unsigned kSeed = 31;
constexpr double kEndless = std::numeric_limits<double>::infinity();

struct Line {
  glm::dvec3 from, to;
};

std::vector<FaceId> crossed_by_all(const TriangleMesh& mesh, const Line& line) {
  std::vector<FaceId> faces;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f)
    if (line_meets_triangle(line.from, line.to - line.from, 1.0, triangle_of(mesh.positions, mesh.faces[f])))
      faces.push_back(FaceId(f));
  return faces;
}

double first_of_all(const TriangleMesh& mesh, const Line& line) {
  double first = kEndless;
  for (const glm::uvec3& face : mesh.faces)
    if (const auto t = line_meets_triangle(line.from, line.to - line.from, kEndless, triangle_of(mesh.positions, face)))
      first = std::min(first, *t);
  return first;
}

// Returns the closest face; among equally close faces the one with the lowest number.
SurfacePoint closest_of_all(const TriangleMesh& mesh, const glm::dvec3& point) {
  SurfacePoint best{FaceId(0), {}, kEndless};
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    const ClosestPoints found = closest_segment_triangle(point, point, triangle_of(mesh.positions, mesh.faces[f]));
    if (found.distance < best.distance) best = {FaceId(f), found.on_second, found.distance};
  }
  return best;
}

// Lines through vertices, along edges, through nothing, of zero length, along axes, far and near.
std::vector<Line> lines_for(const TriangleMesh& mesh, Dice& dice, int count) {
  const auto vertex = [&] { return glm::dvec3(mesh.positions[dice.pick(int(mesh.positions.size()))]); };
  std::vector<Line> lines;
  for (int k = 0; k < count; ++k) {
    const glm::dvec3 a = vertex(), b = vertex(), far = dice.direction() * dice.log_uniform(0.01, 10.0);
    switch (k % 6) {
      case 0:
        lines.push_back({a + far, a - far});
        break;
      case 1:
        lines.push_back({a, b});
        break;
      case 2:
        lines.push_back({a, a});
        break;
      case 3: {
        glm::dvec3 along(0.0);
        along[dice.pick(3)] = 1.0;
        lines.push_back({a - along, a + along});
        break;
      }
      case 4:
        lines.push_back({dice.in_cube(0.3), dice.in_cube(0.3)});
        break;
      default:
        lines.push_back({far, far + dice.in_cube(0.01)});
    }
  }
  return lines;
}

TEST(TreeQuery, LinesAndPointsAgreeWithALoop) {
  Dice dice(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  TriangleMesh point{{{0.01f, 0.02f, 0.03f}}, std::vector<glm::uvec3>(20, glm::uvec3(0))};
  std::size_t found = 0;
  for (const TriangleMesh& mesh : {point, shapes::cube(), shapes::grid(20, 20), shapes::icosphere(3),
                                   shapes::torus(40, 20), shapes::random_soup(kSeed, 800)}) {
    const std::vector<Line> lines = lines_for(mesh, dice, 120);
    for (const std::string& name : all_tree_names()) {
      SCOPED_TRACE(testing::Message() << name << ", " << mesh.faces.size() << " faces");
      const auto tree = make_surface_tree(*tree_plan(name, kAllTreeVolumes));
      tree->rebuild(mesh.view());
      for (const Line& line : lines) {
        const std::vector<FaceId> wanted = crossed_by_all(mesh, line);
        const auto crossed = tree->crossed(line.from, line.to);
        ASSERT_TRUE(std::equal(crossed.begin(), crossed.end(), wanted.begin(), wanted.end()));
        found += wanted.size();
        const auto near = tree->along(line.from, line.to);
        for (const FaceId face : wanted) ASSERT_NE(std::find(near.begin(), near.end(), face), near.end());
        const double first = first_of_all(mesh, line);
        const auto hit = tree->first_hit(line.from, line.to - line.from);
        ASSERT_EQ(hit ? hit->t : kEndless, first);
        const auto closest = tree->closest(line.from, kEndless);
        ASSERT_TRUE(closest);
        const SurfacePoint nearest = closest_of_all(mesh, line.from);
        ASSERT_EQ(closest->distance, nearest.distance);
        ASSERT_EQ(closest->face, nearest.face);
        ASSERT_NEAR(glm::distance(closest->point, line.from), closest->distance, 1e-12);
      }
    }
  }
  EXPECT_GT(found, 10000u);
}

TEST(TreeQuery, ClosestWithinALimit) {
  const TriangleMesh mesh = shapes::icosphere(3, 0.1f);
  for (const std::string& name : all_tree_names()) {
    const auto tree = make_surface_tree(*tree_plan(name, kAllTreeVolumes));
    tree->rebuild(mesh.view());
    EXPECT_TRUE(tree->closest({0.0, 0.0, 0.15}, 0.051)) << name;
    EXPECT_FALSE(tree->closest({0.0, 0.0, 0.15}, 0.049)) << name;
    EXPECT_LT(tree->counters().volume_tests, tree->node_count() / 2) << name;
  }
}

TEST(TreeQuery, AroundFindsTheFacesAtAPoint) {
  Dice dice(kSeed + 1);
  const TriangleMesh mesh = shapes::torus(40, 20);
  for (const std::string& name : all_tree_names()) {
    const auto tree = make_surface_tree(*tree_plan(name, kAllTreeVolumes));
    tree->rebuild(mesh.view());
    for (int k = 0; k < 50; ++k) {
      const std::uint32_t f = static_cast<std::uint32_t>(dice.pick(int(mesh.faces.size())));
      const Triangle face = triangle_of(mesh.positions, mesh.faces[f]);
      const auto around = tree->around((face.a + face.b + face.c) / 3.0);
      EXPECT_NE(std::find(around.begin(), around.end(), FaceId(f)), around.end()) << name;
      EXPECT_LT(around.size(), mesh.faces.size() / 4) << name;
    }
  }
}

TEST(TreeQuery, EmptyMesh) {
  for (const std::string& name : all_tree_names()) {
    const auto tree = make_surface_tree(*tree_plan(name, kAllTreeVolumes));
    tree->rebuild({});
    EXPECT_TRUE(tree->crossed({0, 0, 0}, {1, 1, 1}).empty());
    EXPECT_TRUE(tree->along({0, 0, 0}, {1, 1, 1}).empty());
    EXPECT_FALSE(tree->first_hit({0, 0, 0}, {1, 1, 1}));
    EXPECT_FALSE(tree->closest({0, 0, 0}, kEndless));
    EXPECT_TRUE(tree->around({0, 0, 0}).empty());
    EXPECT_TRUE(tree->self_crossing().pairs.empty());
    EXPECT_TRUE(tree->self_crossing_on_the_way({}).pairs.empty());
  }
}

}  // namespace
}  // namespace trocar

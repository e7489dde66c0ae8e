// Pins the cost of queries on trees: the numbers of volumes and faces tested on fixed scenes. Wider volumes, worse
// splits and weaker tests give the same answers at a higher cost; only these numbers show it. The arithmetic is IEEE,
// so they are the same on every machine. A deliberate change of the trees changes them: then compare the sums before
// pinning the new ones.
#include <gtest/gtest.h>

#include <array>

#include "cpu_collision/trees/surface_tree.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

using glm::dvec3;

struct Cost {
  std::uint64_t volumes = 0, faces = 0, found = 0;
  bool operator==(const Cost&) const = default;

  void add(const CostCounters& counters, std::size_t answers) {
    volumes += counters.volume_tests;
    faces += counters.face_tests;
    found += answers;
  }
};

std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << "{" << cost.volumes << ", " << cost.faces << ", " << cost.found << "}";
}

enum Query { kTouchedVolume, kTouchedExact, kCrossed, kAlong, kFirstHit, kClosest, kAround, kCrossing, kSelf, kMotion };
constexpr std::size_t kQueries = 10;
using Costs = std::array<Cost, kQueries>;

// A ball in a ring, skewed, so that no symmetry hides an axis.
TriangleMesh scene() {
  TriangleMesh mesh = shapes::joined(shapes::icosphere(3, 0.07f, {0.02f, 0.01f, 0.f}), shapes::torus(48, 20));
  for (glm::vec3& p : mesh.positions) p = {1.2f * p.x + 0.3f * p.z, p.y - 0.2f * p.x, 0.8f * p.z + 0.1f * p.y};
  return mesh;
}

std::vector<glm::vec3> moved(const std::vector<glm::vec3>& positions, float by) {
  std::vector<glm::vec3> result = positions;
  for (glm::vec3& p : result) p = {p.x + by * p.y, p.y - 0.5f * by * p.z, p.z + by * p.x * 20.f * p.y};
  return result;
}

// A spiral of points around and in the scene, by formula.
std::vector<dvec3> points() {
  std::vector<dvec3> result;
  dvec3 arm(0.16, 0.01, 0.02);
  for (int k = 0; k < 60; ++k) {
    result.push_back(arm * (0.2 + 0.02 * k) + dvec3(0.0, 0.0, 0.0015 * (k - 30)));
    arm = {0.8 * arm.x - 0.6 * arm.y, 0.6 * arm.x + 0.8 * arm.y, 0.9 * arm.z + 0.05 * arm.x};
  }
  return result;
}

std::vector<ToolVolume> tools(Cover cover) {
  std::vector<ToolVolume> result;
  const std::vector<dvec3> at = points();
  for (std::size_t k = 0; k + 2 < at.size(); k += 6) {
    const dvec3 pivot = at[k] + dvec3(0.02, 0.03, 0.25);
    result.push_back(swept_volume({pivot, at[k], k % 4 ? at[k] : at[k] + 0.2 * (at[k + 1] - at[k]), 0.004}, cover));
  }
  result.push_back(swept_volume({{0.0, 0.3, 0.0}, {0.3, -0.3, 0.01}, {-0.3, -0.3, 0.02}, 0.08}, cover));  // holds nodes
  return result;
}

Costs costs_of(SurfaceTree& tree, const SurfaceTree& other, const std::vector<glm::vec3>& after) {
  Costs costs;
  for (const auto& [query, set, cover] : {std::tuple{kTouchedVolume, TouchSet::Volume, Cover::Paper},
                                          std::tuple{kTouchedExact, TouchSet::Exact, Cover::Capsule}}) {
    for (const ToolVolume& tool : tools(cover)) {
      const std::size_t touches = tree.touched(std::span(&tool, 1), set).touches.size();
      costs[query].add(tree.counters(), touches);
    }
  }
  const std::vector<dvec3> at = points();
  for (std::size_t k = 0; k + 1 < at.size(); ++k) {
    const dvec3 to = k % 3 ? at[k + 1] : at[(k + 7) % at.size()];
    const auto crossed = tree.crossed(at[k], to).size();
    costs[kCrossed].add(tree.counters(), crossed);
    const auto along = tree.along(at[k], to).size();
    costs[kAlong].add(tree.counters(), along);
    const auto hit = tree.first_hit(at[k], to - at[k]).has_value();
    costs[kFirstHit].add(tree.counters(), hit);
    const auto closest = tree.closest(at[k], k % 2 ? 0.02 : 1.0).has_value();
    costs[kClosest].add(tree.counters(), closest);
    const auto around = tree.around(at[k]).size();
    costs[kAround].add(tree.counters(), around);
  }
  const PairAnswer crossing = tree.crossing(other);
  costs[kCrossing].add(crossing.cost, crossing.pairs.size());
  const PairAnswer self = tree.self_crossing();
  costs[kSelf].add(self.cost, self.pairs.size());
  const PairAnswer motion = tree.self_crossing_on_the_way(after);
  costs[kMotion].add(motion.cost, motion.pairs.size());
  return costs;
}

struct Pinned {
  const char* name;
  bool tight;
  Costs costs;
};

TEST(TreeCost, QueriesTestThePinnedNumbers) {
  const Pinned pinned[] = {
      {"aabb",
       false,
       {{{381, 264, 3285},
         {415, 303, 3292},
         {2923, 1066, 49},
         {2923, 0, 1066},
         {2947, 1119, 39},
         {2174, 1347, 48},
         {907, 0, 129},
         {4801, 13868, 506},
         {15699, 72109, 213},
         {31617, 156870, 1585}}}},
      {"aabb-refit",
       false,
       {{{403, 233, 3285},
         {455, 282, 3292},
         {3157, 1049, 49},
         {3157, 0, 1049},
         {3105, 1127, 39},
         {2416, 1509, 48},
         {939, 0, 120},
         {5137, 14938, 506},
         {15780, 73879, 213},
         {32128, 161162, 1585}}}},
      {"aabb:middle-refit",
       false,
       {{{235, 4287, 3285},
         {242, 3861, 3292},
         {1784, 30573, 49},
         {1784, 0, 30573},
         {1668, 29410, 39},
         {1425, 27803, 48},
         {742, 0, 17368},
         {6587, 1023172, 506},
         {11452, 1663987, 213},
         {21519, 2013750, 1585}}}},
      {"aabb:octree",
       false,
       {{{607, 192, 3285},
         {646, 244, 3292},
         {3369, 681, 49},
         {3369, 0, 681},
         {3360, 693, 39},
         {3015, 1046, 48},
         {1266, 0, 88},
         {8955, 8095, 506},
         {25931, 52527, 213},
         {49350, 111125, 1585}}}},
      {"obb",
       false,
       {{{1689, 275, 3285},
         {1729, 329, 3292},
         {8953, 744, 49},
         {8953, 0, 744},
         {8857, 819, 39},
         {10554, 2545, 48},
         {5099, 0, 25},
         {13057, 15679, 506},
         {33422, 83651, 213},
         {70030, 193094, 1585}}}},
      {"obb-refit",
       false,
       {{{1729, 287, 3285},
         {1795, 322, 3292},
         {9141, 899, 49},
         {9141, 0, 899},
         {9115, 1055, 39},
         {10588, 2648, 48},
         {5105, 0, 75},
         {14237, 18203, 506},
         {37466, 82523, 213},
         {76654, 190574, 1585}}}},
      {"obb-refit",
       true,
       {{{473, 265, 3285},
         {515, 305, 3292},
         {3009, 801, 49},
         {3009, 0, 801},
         {3025, 939, 39},
         {2596, 1393, 48},
         {933, 0, 52},
         {6499, 16593, 506},
         {18714, 80209, 213},
         {76654, 190574, 1585}}}},
  };
  const TriangleMesh mesh = scene();
  TriangleMesh sheet = shapes::grid(24, 24, 0.3f, 0.3f);
  for (glm::vec3& p : sheet.positions) p = {p.x, 0.9f * p.y, 0.3f * p.x - 0.1f * p.y};
  for (const Pinned& expected : pinned) {
    TreePlan plan = *tree_plan(expected.name);
    plan.leaf_faces = 6;
    plan.tight = expected.tight;
    const auto tree = make_surface_tree(plan), other = make_surface_tree(plan);
    tree->rebuild(mesh.view());
    other->rebuild(sheet.view());
    tree->update(moved(mesh.positions, 0.2f));
    std::vector<glm::vec3> after = moved(mesh.positions, 0.2f);
    for (std::size_t v = 0; v < 642; ++v)
      after[v] += glm::vec3(0.02f, 0.03f, 0.01f);  // the ball moves through the ring
    const Costs costs = costs_of(*tree, *other, after);
    for (std::size_t query = 0; query < kQueries; ++query)
      EXPECT_EQ(costs[query], expected.costs[query]) << expected.name << ", query " << query;
  }
}

// A needle through a triangle and a point in it, listed before and after it.
TEST(TreeCost, FacesWithoutAreaCrossNothing) {
  const std::vector<glm::vec3> positions{{0, 0, 0},        {1, 0, 0},       {0, 1, 0},
                                         {0.2f, 0.2f, -1}, {0.2f, 0.2f, 1}, {0.3f, 0.3f, 0}};
  const glm::uvec3 triangle(0, 1, 2), needle(3, 4, 4), point(5, 5, 5);
  for (const std::vector<glm::uvec3>& faces : std::vector<std::vector<glm::uvec3>>{
           {triangle, needle}, {needle, triangle}, {triangle, point}, {point, triangle}, {needle, point, triangle}}) {
    for (const TreeVolume& volume : kTreeVolumes) {
      const auto tree = make_surface_tree(*tree_plan(volume.name));
      tree->rebuild({positions, faces});
      EXPECT_TRUE(tree->self_crossing().pairs.empty()) << volume.name;
    }
  }
}

TEST(TreeCost, NamesAreThoseOfTheCommandLine) {
  for (const char* name : {"aabb", "aabb-refit", "aabb:median", "aabb:middle-refit", "aabb:octree", "obb", "obb-refit"})
    EXPECT_EQ(make_surface_tree(*tree_plan(name))->name(), name);
  EXPECT_EQ(make_surface_tree(*tree_plan("aabb:mean"))->name(), "aabb");
}

}  // namespace
}  // namespace trocar

// Tests that a frame of any tree allocates nothing after a warm-up, for every query, by counting calls of operator new.
#include <gtest/gtest.h>

#include "cpu_collision/trees/surface_tree.hpp"
#include "mesh/triangle_mesh.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/study/all_trees.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

constexpr int kFrames = 20;

struct Frames {
  std::vector<std::vector<glm::vec3>> positions;  // [frame][vertex]
  std::vector<ToolVolume> tools;                  // two a frame
};

Frames deforming(const TriangleMesh& mesh) {
  test::Dice dice(5);
  Frames frames{std::vector<std::vector<glm::vec3>>(kFrames, mesh.positions), {}};
  for (std::vector<glm::vec3>& positions : frames.positions) {
    for (glm::vec3& p : positions) p *= float(dice.uniform(0.95, 1.05));
    for (int k = 0; k < 2; ++k) {
      const glm::dvec3 tip(positions[dice.pick(int(positions.size()))]);
      frames.tools.push_back(swept_volume({tip * 3.0, tip, tip + dice.in_cube(0.05), 0.005}, Cover::Capsule));
    }
  }
  return frames;
}

// Makes every query in each frame. Returns the number of touched faces plus the number of pairs. The caller's first run
// is the warm-up.
std::size_t run(SurfaceTree& tree, const SurfaceTree& other, const SurfaceTree& of_another_kind, const Frames& frames) {
  std::size_t found = 0;
  for (std::size_t k = 0; k < frames.positions.size(); ++k) {
    tree.update(frames.positions[k]);
    for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact})
      found += tree.touched(std::span(frames.tools).subspan(2 * k, 2), set).touches.size();
    const glm::dvec3 point(0.01 * double(k), 0.02, 0.2);
    tree.crossed(point, -point);
    tree.along(point, -point);
    tree.first_hit(point, -point);
    tree.closest(point, 1.0);
    tree.around(point);
    found += tree.crossing(other).pairs.size();
    found += tree.crossing(of_another_kind).pairs.size();
  }
  return found;
}

TEST(TreeAllocation, NoneAfterWarmUp) {
  const TriangleMesh mesh = shapes::icosphere(4), other = shapes::icosphere(2, 0.1f, {0.07f, 0.f, 0.f});
  const Frames frames = deforming(mesh);
  std::vector<std::string> names = all_tree_names();
  for (const char* name : {"aabb:median", "aabb:middle", "kdop14:octree"}) names.push_back(name);
  for (const std::string& name : names) {
    const auto tree = make_surface_tree(*tree_plan(name, kAllTreeVolumes)),
               against = make_surface_tree(*tree_plan(name, kAllTreeVolumes));
    tree->rebuild(mesh.view());
    against->rebuild(other.view());
    const auto another = make_surface_tree(*tree_plan(name.starts_with("aabb") ? "sphere" : "aabb", kAllTreeVolumes));
    another->rebuild(other.view());
    EXPECT_GT(run(*tree, *against, *another, frames), 100u) << name;
    const std::uint64_t before = allocations_so_far();
    run(*tree, *against, *another, frames);
    EXPECT_EQ(allocations_so_far() - before, 0u) << name;
  }
}

}  // namespace
}  // namespace trocar

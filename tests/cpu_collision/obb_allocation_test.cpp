// A frame of `obb` or `obb-refit` allocates nothing once warm: operator new is counted.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "cpu_collision/queries.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/shapes.hpp"

namespace {

std::size_t allocations = 0;

void* counted(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace trocar {
namespace {

constexpr int kFrames = 40;

// The same frames, deforming differently each, as the warm-up.
void run(TouchQuery& query, const std::vector<std::vector<glm::vec3>>& frames, const std::vector<ToolVolume>& tools) {
  for (std::size_t k = 0; k < frames.size(); ++k) {
    query.update(frames[k]);
    for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact})
      query.touched(std::span(tools).subspan(2 * k, 2), set);
  }
}

TEST(ObbAllocation, NoneOnceWarm) {
  const TriangleMesh mesh = shapes::icosphere(4);
  test::Dice dice(5);
  std::vector<std::vector<glm::vec3>> frames(kFrames, mesh.positions);
  std::vector<ToolVolume> tools;
  for (std::vector<glm::vec3>& positions : frames) {
    for (glm::vec3& p : positions) p *= float(dice.uniform(0.95, 1.05));
    for (int k = 0; k < 2; ++k) {
      const glm::dvec3 tip(positions[dice.pick(int(positions.size()))]);
      tools.push_back(swept_volume({tip * 3.0, tip, tip + dice.in_cube(0.05), 0.005}, Cover::Capsule));
    }
  }
  for (const TreeUpdate update : {TreeUpdate::Rebuild, TreeUpdate::Refit}) {
    const auto query = make_obb_query(update);
    query->rebuild(mesh.view());
    run(*query, frames, tools);
    const std::size_t before = allocations;
    run(*query, frames, tools);
    EXPECT_EQ(allocations - before, 0u) << query->name();
  }
}

}  // namespace
}  // namespace trocar

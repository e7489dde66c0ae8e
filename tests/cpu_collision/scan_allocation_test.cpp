// Tests that update() and touched() never call operator new after a warm-up, and that memory_bytes() counts what a
// query holds. This test replaces operator new, so it is a program of its own.
#include <malloc.h>

#include <atomic>
#include <new>

#include "cpu_collision/queries.hpp"
#include "tests/cpu_collision/scan_support.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"

namespace {

std::atomic<long> allocations{0};
std::atomic<long> held{0};  // bytes

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = alignment ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                           : std::malloc(size ? size : 1);
  if (!memory) throw std::bad_alloc();
  held += static_cast<long>(malloc_usable_size(memory));
  return memory;
}

void counted_free(void* memory) {
  held -= static_cast<long>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) { return counted(size, std::size_t(alignment)); }
void operator delete(void* memory) noexcept { counted_free(memory); }
void operator delete(void* memory, std::size_t) noexcept { counted_free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { counted_free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { counted_free(memory); }

namespace trocar {
namespace {

TEST(ScanAllocation, AFrameAllocatesNothing) {
  test::ScanDice dice(20250613);
  const TriangleMesh mesh = shapes::icosphere(5);
  const auto query = make_scan_query(best_scan_kernels());
  query->rebuild(mesh.view());
  std::vector<ToolVolume> tools;
  for (int t = 0; t < 40; ++t) tools.push_back(swept_volume(test::random_step(dice), Cover::Capsule));
  std::vector<std::vector<glm::vec3>> frames;
  for (int f = 0; f < 5; ++f) frames.push_back(test::moved(mesh.positions, dice, 0.002));

  std::size_t touches = 0;
  const auto play = [&] {
    for (const auto& positions : frames) {
      query->update(positions);
      for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact})
        for (std::size_t t = 0; t < tools.size(); t += 2)
          touches += query->touched(std::span(tools).subspan(t, 2), set).touches.size();
    }
  };
  play();
  const long before = allocations;
  play();
  EXPECT_EQ(allocations - before, 0);
  EXPECT_GT(touches, 1000u);
}

// After a build, questions and local changes of faces. malloc rounds small blocks up by less than 32 bytes,
// and large ones to whole pages.
TEST(MemoryBytes, IsWhatAQueryHolds) {
  const TriangleMesh guest = shapes::torus(60, 30);
  const auto other = make_surface_tree(*tree_plan("aabb"));
  other->rebuild(guest.view());
  for (const std::string name : {"scan", "aabb", "aabb-refit", "aabb:octree-refit", "obb", "obb-refit"}) {
    TriangleMesh mesh = shapes::icosphere(4);
    test::Dice dice(99);
    std::vector<ToolVolume> tools;
    for (int t = 0; t < 6; ++t)
      tools.push_back(swept_volume({dice.in_cube(0.2), dice.in_cube(0.1), dice.in_cube(0.1), 0.01}, Cover::Capsule));
    std::unique_ptr<TouchQuery> query;
    double actual = 0.0;
    const auto expect_counted = [&](const char* what, const auto& action) {
      const long before = held;
      action();
      actual += static_cast<double>(held - before);
      EXPECT_NEAR(static_cast<double>(query->memory_bytes()), actual, 2000.0 + 0.02 * actual) << name << " " << what;
    };
    SurfaceTree* tree = nullptr;
    expect_counted("made", [&] {
      if (name == "scan") {
        query = make_scan_query();
      } else {
        auto made = make_surface_tree(*tree_plan(name));
        tree = made.get();
        query = std::move(made);
      }
    });
    expect_counted("built", [&] { query->rebuild(mesh.view()); });
    expect_counted("asked", [&] { query->touched(tools, TouchSet::Exact); });
    for (int change = 0; change < 12; ++change) {
      const std::vector<FaceId> removed = test::split_faces(dice, mesh, 10);
      expect_counted("changed", [&] { query->change_faces(mesh.view(), removed); });
    }
    if (tree == nullptr) continue;
    expect_counted("crossed", [&] { tree->crossing(*other); });
    expect_counted("crossed itself", [&] { tree->self_crossing(); });
    std::vector<glm::vec3> after = mesh.positions;
    for (glm::vec3& p : after) p.x += 0.001f;
    expect_counted("moved", [&] { tree->self_crossing_on_the_way(after); });
  }
}

}  // namespace
}  // namespace trocar

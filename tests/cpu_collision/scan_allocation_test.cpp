// Tests that update() and touched() never call operator new after a warm-up. This test replaces operator new, so it is
// a program of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/cpu_collision/scan_support.hpp"
#include "tests/support/shapes.hpp"

namespace {

std::atomic<long> allocations{0};

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = alignment ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                           : std::malloc(size ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) { return counted(size, std::size_t(alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

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
      for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact}) {
        for (std::size_t t = 0; t < tools.size(); t += 2)
          touches += query->touched(std::span(tools).subspan(t, 2), set).touches.size();
      }
    }
  };
  play();
  const long before = allocations;
  play();
  EXPECT_EQ(allocations - before, 0);
  EXPECT_GT(touches, 1000u);
}

}  // namespace
}  // namespace trocar

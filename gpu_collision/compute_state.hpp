// Saves the OpenGL state that `compute` changes in a shared context and restores it at the end of a scope, so that a
// renderer is not affected.   Tested in tests/gpu_collision/compute_test.cpp (GoodGuest)
#pragma once

#include <array>
#include <cstdint>

namespace trocar::gl {

// Bindings of the shaders: texture units kFirstUnit .. kFirstUnit + 3, storage blocks kFirstBlock .. kFirstBlock + 3,
// and one uniform block. These are among the last ones that every context provides; few renderers use them.
constexpr unsigned kFirstUnit = 10, kUnits = 4;
constexpr unsigned kReplyBlock = 4, kWorkBlock = 5, kCountersBlock = 6, kRecordsBlock = 7;
constexpr unsigned kFirstBlock = kReplyBlock, kBlocks = 4;
constexpr unsigned kToolsBlock = 9;

class DispatchGuard {
 public:
  DispatchGuard();
  ~DispatchGuard();
  DispatchGuard(const DispatchGuard&) = delete;
  DispatchGuard& operator=(const DispatchGuard&) = delete;

 private:
  struct Block {
    int name = 0;
    std::int64_t start = 0, size = 0;  // bytes; size 0: the whole buffer
  };
  int program_ = 0, dispatch_indirect_ = 0, storage_ = 0, uniform_ = 0, active_texture_ = 0;
  std::array<int, kUnits> textures_{};
  std::array<Block, kBlocks> blocks_;
  Block tools_;
};

}  // namespace trocar::gl

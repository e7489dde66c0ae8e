// Saves the OpenGL state that `compute` changes and restores it at the end of a scope, so that a renderer sharing the
// context is not affected.   Tested in tests/gpu_collision/compute_test.cpp (GoodGuest)
#pragma once

#include <array>
#include <cstdint>

namespace trocar::gl {

// Bindings of the shaders: texture units kFirstUnit .. kFirstUnit + 4, storage blocks kWorkBlock and kAnswerBlock.
// These are the last ones that every context provides; few renderers use them.
constexpr unsigned kFirstUnit = 10, kUnits = 5, kWorkBlock = 6, kAnswerBlock = 7;

// State that a transfer changes: buffer bindings, and the texture of the active unit.
class BindingsGuard {
 public:
  BindingsGuard();
  ~BindingsGuard();
  BindingsGuard(const BindingsGuard&) = delete;
  BindingsGuard& operator=(const BindingsGuard&) = delete;

 private:
  int active_texture_ = 0, texture_buffer_ = 0, copy_read_ = 0, copy_write_ = 0;
};

// Additional state that a dispatch changes: program, texture units, storage blocks. Must live within a BindingsGuard,
// because it leaves another texture unit active.
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
  int program_ = 0, dispatch_indirect_ = 0, storage_ = 0;
  std::array<int, kUnits> textures_{};
  std::array<Block, 2> blocks_;  // kWorkBlock, kAnswerBlock
};

}  // namespace trocar::gl

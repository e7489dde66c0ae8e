// The part of the OpenGL state that `compute` changes, put back at the end of a scope, so that a renderer sharing the
// context notices nothing.   Tested in tests/gpu_collision/compute_test.cpp (GoodGuest)
#pragma once

#include <array>
#include <cstdint>

namespace trocar::gl {

// Bindings of the shaders: texture units kFirstUnit .. kFirstUnit + 5, storage blocks kWorkBlock and kAnswerBlock. The
// last ones that every context has, where few renderers bind anything.
constexpr unsigned kFirstUnit = 10, kUnits = 6, kWorkBlock = 6, kAnswerBlock = 7;

// What a transfer changes: buffers, and the texture of the active unit.
class BindingsGuard {
 public:
  BindingsGuard();
  ~BindingsGuard();
  BindingsGuard(const BindingsGuard&) = delete;
  BindingsGuard& operator=(const BindingsGuard&) = delete;

 private:
  int active_texture_ = 0, texture_buffer_ = 0, copy_read_ = 0, copy_write_ = 0;
};

// What a dispatch changes beside that: program, texture units, storage blocks. Lives within a BindingsGuard, for it
// leaves another texture unit active.
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

// The two ways between host and GPU that `compute` needs each frame: positions out, a short answer back. Both use
// persistently mapped buffers where the context has them (OpenGL 4.4 or ARB_buffer_storage), else plain copies.
// Nothing allocates after resize(). What the driver does wrong is raised in a FaultWatch.   Tested through
// tests/gpu_collision/compute_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "gpu_collision/gl_fault.hpp"
#include "gpu_collision/gl_objects.hpp"

namespace trocar::gl {

// A texture that shows a buffer's values one by one. Mesa's software driver reads these several times faster than
// storage blocks (it gathers for a whole vector at once), GPUs as fast.
class BufferTexture {
 public:
  explicit BufferTexture(Enum format);
  ~BufferTexture();
  BufferTexture(const BufferTexture&) = delete;
  BufferTexture& operator=(const BufferTexture&) = delete;

  // New storage under the same buffer name. `data` may be null.
  void fill(const void* data, std::size_t bytes);
  void bind(unsigned unit) const;  // makes that texture unit active
  Name buffer() const { return buffer_.name(); }
  std::size_t bytes() const { return bytes_; }

 private:
  Enum format_;
  Buffer buffer_;
  Name texture_ = 0;
  std::size_t bytes_ = 0;
};

// A fence in the command stream. Move-only by being neither copied nor moved: it lives in an array.
class Fence {
 public:
  Fence() = default;
  ~Fence() { reset(); }
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  void set(FaultWatch& fault);  // after the commands so far
  // Until they are done, kLongestWait at most; at once when never set. False, and a fault raised, when they are not.
  bool wait(FaultWatch& fault);
  void reset();

 private:
  void* sync_ = nullptr;
};

// Positions on their way to a buffer of the GPU, through host memory that the CPU may go on reading.
class PositionUpload {
 public:
  // In `parts` transfers, each started as soon as its positions are copied.
  PositionUpload(bool persistent, unsigned parts, FaultWatch& fault)
      : persistent_(persistent), parts_(parts), fault_(fault) {}

  void resize(std::size_t vertices);
  // Copies `positions` and queues their transfer into `target`.
  void send(std::span<const glm::vec3> positions, Name target);
  // What was sent last. Stays as it is until the second next send(), or for as long as it is pinned.
  std::span<const glm::vec3> newest() const { return {slots_[newest_].data, vertices_}; }
  void pin_newest() { pinned_ = newest_; }
  std::span<const glm::vec3> pinned() const { return {slots_[pinned_].data, vertices_}; }
  void unpin() { pinned_ = kNone; }
  std::size_t memory_bytes() const { return kSlots * vertices_ * sizeof(glm::vec3); }

 private:
  static constexpr unsigned kSlots = 3, kNone = kSlots;  // one newest, one pinned, one to write
  struct Slot {
    Buffer buffer;                // when persistent
    std::vector<glm::vec3> host;  // when not
    glm::vec3* data = nullptr;
    Fence in_use;
  };
  void send_in_parts(std::span<const glm::vec3> positions, Slot& slot, Name target);

  bool persistent_;
  unsigned parts_;
  FaultWatch& fault_;
  std::array<Slot, kSlots> slots_;
  std::size_t vertices_ = 0;
  unsigned newest_ = 0, pinned_ = kNone;
};

// The first bytes of a GPU buffer, brought to the host behind the commands that fill it. One transfer at a time; grows
// to the longest one.
class ReadBackBuffer {
 public:
  ReadBackBuffer(bool persistent, FaultWatch& fault) : persistent_(persistent), fault_(fault) {}

  void request(Name source, std::size_t bytes);  // queues the copy
  std::span<const std::byte> fetch();            // waits for it; nothing after a fault
  std::size_t size() const { return capacity_; }

 private:
  void grow(std::size_t bytes);

  bool persistent_;
  FaultWatch& fault_;
  std::size_t capacity_ = 0, bytes_ = 0;
  Name source_ = 0;
  Buffer buffer_;
  std::vector<std::byte> host_;
  const std::byte* data_ = nullptr;
  Fence done_;
};

}  // namespace trocar::gl

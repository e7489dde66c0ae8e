// Makes the two transfers of each frame of `compute`: positions to the GPU, a short answer back to the host. Both use
// persistently mapped buffers where the context has them (OpenGL 4.4 or ARB_buffer_storage), otherwise plain copies.
// PositionUpload allocates only in resize(), ReadBackBuffer only to grow. Driver errors are raised in a FaultWatch.
// Tested through tests/gpu_collision/compute_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "gpu_collision/gl_fault.hpp"
#include "gpu_collision/gl_objects.hpp"

namespace trocar::gl {

// Returns a size with an eighth in reserve, in any unit: for data that grow with every cut.
std::size_t with_spare_room(std::size_t needed);

// A texture whose values lie in a buffer. Mesa's software driver reads these several times faster than storage blocks
// (it gathers for a whole vector at once); GPUs read both equally fast.
class BufferTexture {
 public:
  explicit BufferTexture(Enum format);
  ~BufferTexture();
  BufferTexture(const BufferTexture&) = delete;
  BufferTexture& operator=(const BufferTexture&) = delete;

  // Gives the buffer new storage under the same name. `data` may be null.
  void fill(const void* data, std::size_t bytes);
  // Replaces a part of the storage. If it lies beyond the end, the buffer gets larger storage, with some in reserve,
  // and `data` from byte 0 on is copied there; so `data` must hold everything up to the end of the part.
  void write(const std::byte* data, std::size_t first, std::size_t bytes);
  void bind(unsigned unit) const;  // makes that texture unit active
  Name buffer() const { return buffer_.name(); }
  std::size_t bytes() const { return bytes_; }

 private:
  Enum format_;
  Buffer buffer_;
  Name texture_ = 0;
  std::size_t bytes_ = 0;
};

// A fence in the command stream. Neither copyable nor movable.
class Fence {
 public:
  Fence() = default;
  ~Fence() { reset(); }
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  void set(FaultWatch& fault);  // after all commands so far
  // Waits for these commands, kLongestWait at most; returns at once when never set. Returns false, and raises a fault,
  // when they do not finish.
  bool wait(FaultWatch& fault);
  void reset();

 private:
  void* sync_ = nullptr;
};

// Uploads positions to a GPU buffer, through host memory that the CPU may continue to read.
class PositionUpload {
 public:
  // Prepares the upload. `parts`: number of transfers, each started as soon as its positions are copied.
  PositionUpload(bool persistent, unsigned parts, FaultWatch& fault)
      : persistent_(persistent), parts_(parts), fault_(fault) {}

  // These forget the positions. resize() makes new room, with some in reserve; grow() only if there is too little.
  void resize(std::size_t vertices);
  void grow(std::size_t vertices);
  // Copies `positions` and queues their transfer into `target`.
  void send(std::span<const glm::vec3> positions, Name target);
  // Returns the positions sent last. Valid until the second next send(), or while pinned.
  std::span<const glm::vec3> newest() const { return {slots_[newest_].data, vertices_}; }
  void pin_newest() { pinned_ = newest_; }
  std::span<const glm::vec3> pinned() const { return {slots_[pinned_].data, vertices_}; }
  std::size_t memory_bytes() const { return kSlots * capacity_ * sizeof(glm::vec3); }

 private:
  static constexpr unsigned kSlots = 3, kNone = kSlots;  // one newest, one pinned, one being written
  struct Slot {
    Buffer buffer;                // if persistent
    std::vector<glm::vec3> host;  // if not
    glm::vec3* data = nullptr;
    Fence in_use;
  };
  void send_in_parts(std::span<const glm::vec3> positions, Slot& slot, Name target);

  bool persistent_;
  unsigned parts_;
  FaultWatch& fault_;
  std::array<Slot, kSlots> slots_;
  std::size_t vertices_ = 0, capacity_ = 0;
  unsigned newest_ = 0, pinned_ = kNone;
};

// The first bytes of a GPU buffer, copied to the host after the commands that fill it. One transfer at a time; grows to
// the longest one.
class ReadBackBuffer {
 public:
  ReadBackBuffer(bool persistent, FaultWatch& fault) : persistent_(persistent), fault_(fault) {}

  void request(Name source, std::size_t bytes);  // queues the copy
  std::span<const std::byte> fetch();            // waits for it; empty after a fault
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

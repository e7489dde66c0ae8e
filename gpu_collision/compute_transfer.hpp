// Makes the transfers of each frame of `compute`: positions to the GPU, a short answer back to the host. Both go
// through buffers in host memory that stay mapped (OpenGL 4.4). No binding changes here: every call names its buffer.
// Driver errors are raised in a FaultWatch.   Tested through tests/gpu_collision/compute_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>

#include "gpu_collision/gl_objects.hpp"
#include "gpu_collision/submissions.hpp"

namespace trocar::gl {

void delete_texture(Name name);
using Texture = Owned<delete_texture>;

// Returns a size with an eighth in reserve, in any unit: for data that grow with every cut.
std::size_t with_spare_room(std::size_t needed);

// A buffer in GPU memory. Its name stays the same for its lifetime.
class DeviceBuffer {
 public:
  DeviceBuffer();
  // Gives the buffer new storage. `data` may be null.
  void fill(const void* data, std::size_t bytes);
  // Replaces a part of the storage. If it lies beyond the end, the buffer gets larger storage, with some in reserve,
  // and `data` from byte 0 on is copied there; so `data` must hold everything up to the end of the part.
  void write(const std::byte* data, std::size_t first, std::size_t bytes);
  Name name() const { return buffer_.name(); }
  std::size_t bytes() const { return bytes_; }

 private:
  Buffer buffer_;
  std::size_t bytes_ = 0;
};

// A buffer in host memory, mapped for its lifetime: the host and the GPU both access it without a copy.
class MappedBuffer {
 public:
  // Makes storage that replaces the former. Wait first for the submissions that use it. Raises OutOfMemory.
  void allocate(std::size_t bytes, FaultWatch& fault);
  std::byte* data() const { return data_; }  // nullptr before allocate() and after a fault
  Name name() const { return buffer_.name(); }
  std::size_t bytes() const { return bytes_; }

 private:
  Buffer buffer_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// A texture whose values are those of a buffer. Mesa's software driver reads it several times faster than storage
// blocks (it gathers for a whole vector at once); GPUs read both equally fast.
class BufferTexture {
 public:
  explicit BufferTexture(Enum format);
  // Shows this buffer; call again when it has new storage.
  void show(Name buffer);
  Name name() const { return texture_.name(); }

 private:
  Enum format_;
  Texture texture_;
};

// A device buffer and the texture of its values.
class TexelBuffer {
 public:
  explicit TexelBuffer(Enum format) : texture_(format) { fill(nullptr, 0); }
  void fill(const void* data, std::size_t bytes);
  void write(const std::byte* data, std::size_t first, std::size_t bytes);  // as DeviceBuffer
  Name buffer() const { return buffer_.name(); }
  Name texture() const { return texture_.name(); }
  std::size_t bytes() const { return buffer_.bytes(); }

 private:
  DeviceBuffer buffer_;
  BufferTexture texture_;
};

// Uploads positions to a GPU buffer, through host memory that the CPU may continue to read.
class PositionUpload {
 public:
  PositionUpload(Submissions& submissions, FaultWatch& fault) : submissions_(submissions), fault_(fault) {}

  // These forget the positions. resize() makes new room, with some in reserve; grow() only if there is too little.
  void resize(std::size_t vertices);
  void grow(std::size_t vertices);
  // Copies `positions` and queues their transfer into `target`.
  void send(std::span<const glm::vec3> positions, Name target);
  // Returns the positions sent last. Valid until the next send().
  std::span<const glm::vec3> newest() const { return {positions_of(slots_[newest_]), vertices_}; }
  std::size_t memory_bytes() const { return slots_.size() * slots_[0].buffer.bytes(); }

 private:
  struct Slot {
    MappedBuffer buffer;
    std::uint64_t submission = 0;  // of its last transfer
  };
  static glm::vec3* positions_of(const Slot& slot) { return reinterpret_cast<glm::vec3*>(slot.buffer.data()); }

  Submissions& submissions_;
  FaultWatch& fault_;
  std::array<Slot, 2> slots_;  // the newest, and the one before
  std::size_t vertices_ = 0, capacity_ = 0;
  unsigned newest_ = 0;
};

}  // namespace trocar::gl

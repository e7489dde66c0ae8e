// Holds the buffers of `compute`: in GPU memory for the organ, in mapped host memory (OpenGL 4.4) for the tools and the
// answer. No binding changes here: every call names its buffer.   Tested through tests/gpu_collision/compute_test.cpp
#pragma once

#include <cstddef>
#include <glm/glm.hpp>
#include <span>

#include "gpu_collision/gl_fault.hpp"
#include "gpu_collision/gl_objects.hpp"

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

// The positions of an organ in GPU memory. New ones go through a second buffer, which no shader reads: NVIDIA's driver
// (580) uploads into such a buffer two to three times faster (docs/results.md).
class PositionBuffer {
 public:
  PositionBuffer();
  void write(std::span<const glm::vec3> positions);
  Name buffer() const { return positions_.buffer(); }
  Name texture() const { return positions_.texture(); }
  std::size_t bytes() const { return upload_.bytes() + positions_.bytes(); }

 private:
  DeviceBuffer upload_;
  TexelBuffer positions_;  // floats
};

}  // namespace trocar::gl

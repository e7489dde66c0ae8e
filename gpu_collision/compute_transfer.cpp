#include "gpu_collision/compute_transfer.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <cassert>

namespace trocar::gl {
namespace {

Buffer new_buffer() {
  GLuint name = 0;
  glCreateBuffers(1, &name);
  return Buffer(name);
}

}  // namespace

void delete_texture(Name name) { glDeleteTextures(1, &name); }

std::size_t with_spare_room(std::size_t needed) { return needed + needed / 8; }

DeviceBuffer::DeviceBuffer() : buffer_(new_buffer()) {}

void DeviceBuffer::fill(const void* data, std::size_t bytes) {
  constexpr std::size_t kLeast = 16;  // an empty mesh also needs storage
  glNamedBufferData(name(), static_cast<GLsizeiptr>(std::max(bytes, kLeast)), nullptr, GL_DYNAMIC_DRAW);
  if (data != nullptr && bytes > 0) glNamedBufferSubData(name(), 0, static_cast<GLsizeiptr>(bytes), data);
  bytes_ = bytes;
}

void DeviceBuffer::write(const std::byte* data, std::size_t first, std::size_t bytes) {
  const std::size_t end = first + bytes;
  const bool grows = end > bytes_;
  if (grows) fill(nullptr, with_spare_room(end));
  if (grows) first = 0, bytes = end;
  if (bytes == 0) return;
  glNamedBufferSubData(name(), static_cast<GLintptr>(first), static_cast<GLsizeiptr>(bytes), data + first);
}

void MappedBuffer::allocate(std::size_t bytes, FaultWatch& fault) {
  constexpr GLbitfield kAccess = GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT | GL_MAP_READ_BIT | GL_MAP_WRITE_BIT;
  buffer_ = new_buffer();
  glNamedBufferStorage(name(), static_cast<GLsizeiptr>(bytes), nullptr, kAccess | GL_CLIENT_STORAGE_BIT);
  data_ = static_cast<std::byte*>(glMapNamedBufferRange(name(), 0, static_cast<GLsizeiptr>(bytes), kAccess));
  bytes_ = bytes;
  if (data_ == nullptr) fault.raise(TouchFault::OutOfMemory);
}

BufferTexture::BufferTexture(Enum format) : format_(format) {
  GLuint name = 0;
  glCreateTextures(GL_TEXTURE_BUFFER, 1, &name);
  texture_ = Texture(name);
}

void BufferTexture::show(Name buffer) { glTextureBuffer(name(), format_, buffer); }

void TexelBuffer::fill(const void* data, std::size_t bytes) {
  buffer_.fill(data, bytes);
  texture_.show(buffer_.name());
}

void TexelBuffer::write(const std::byte* data, std::size_t first, std::size_t bytes) {
  const std::size_t before = buffer_.bytes();
  buffer_.write(data, first, bytes);
  if (buffer_.bytes() != before) texture_.show(buffer_.name());
}

void PositionUpload::resize(std::size_t vertices) {
  vertices_ = vertices;
  newest_ = 0;
  capacity_ = with_spare_room(vertices);
  for (Slot& slot : slots_) {
    if (!submissions_.wait(slot.submission, fault_)) return;
    slot.buffer.allocate(std::max<std::size_t>(capacity_, 1) * sizeof(glm::vec3), fault_);
  }
}

void PositionUpload::grow(std::size_t vertices) {
  if (vertices > capacity_) return resize(vertices);
  vertices_ = vertices;
}

void PositionUpload::send(std::span<const glm::vec3> positions, Name target) {
  assert(positions.size() == vertices_);
  if (vertices_ == 0 || fault_.any()) return;
  // Positions without a query have no fence yet. One placed now does not wait for this frame's picture.
  if (!submissions_.finished(slots_[newest_].submission)) submissions_.mark(fault_);
  newest_ = 1 - newest_;
  Slot& slot = slots_[newest_];
  if (!submissions_.wait(slot.submission, fault_)) return;
  std::copy(positions.begin(), positions.end(), positions_of(slot));
  glCopyNamedBufferSubData(slot.buffer.name(), target, 0, 0, static_cast<GLsizeiptr>(positions.size_bytes()));
  slot.submission = submissions_.add();
}

}  // namespace trocar::gl

#include "gpu_collision/compute_transfer.hpp"

#include <glad/gl.h>

#include <algorithm>

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

PositionBuffer::PositionBuffer() : positions_(GL_R32F) {}

void PositionBuffer::write(std::span<const glm::vec3> positions) {
  const std::size_t bytes = positions.size_bytes();
  if (bytes == 0) return;
  if (bytes > positions_.bytes()) positions_.fill(nullptr, with_spare_room(bytes));
  upload_.write(reinterpret_cast<const std::byte*>(positions.data()), 0, bytes);
  glCopyNamedBufferSubData(upload_.name(), positions_.buffer(), 0, 0, static_cast<GLsizeiptr>(bytes));
}

}  // namespace trocar::gl

#include "gpu_collision/compute_transfer.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <cassert>
#include <chrono>

namespace trocar::gl {
namespace {

constexpr GLbitfield kMapped = GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT | GL_MAP_READ_BIT;

// Makes a buffer in host memory that stays mapped for its lifetime.
Buffer make_mapped_buffer(std::size_t bytes, GLbitfield access, void*& data) {
  Buffer buffer = make_buffer();
  glBindBuffer(GL_COPY_READ_BUFFER, buffer.name());
  glBufferStorage(GL_COPY_READ_BUFFER, static_cast<GLsizeiptr>(bytes), nullptr, access | GL_CLIENT_STORAGE_BIT);
  data = glMapBufferRange(GL_COPY_READ_BUFFER, 0, static_cast<GLsizeiptr>(bytes), access);
  return buffer;
}

}  // namespace

std::size_t with_spare_room(std::size_t needed) { return needed + needed / 8; }

BufferTexture::BufferTexture(Enum format) : format_(format), buffer_(make_buffer()) { glGenTextures(1, &texture_); }

BufferTexture::~BufferTexture() { glDeleteTextures(1, &texture_); }

void BufferTexture::fill(const void* data, std::size_t bytes) {
  constexpr std::size_t kLeast = 16;  // an empty mesh also needs a texture
  glBindBuffer(GL_COPY_WRITE_BUFFER, buffer_.name());
  glBufferData(GL_COPY_WRITE_BUFFER, static_cast<GLsizeiptr>(std::max(bytes, kLeast)), nullptr, GL_DYNAMIC_DRAW);
  if (data != nullptr && bytes > 0) {
    glBufferSubData(GL_COPY_WRITE_BUFFER, 0, static_cast<GLsizeiptr>(bytes), data);
  }
  glBindTexture(GL_TEXTURE_BUFFER, texture_);
  glTexBuffer(GL_TEXTURE_BUFFER, format_, buffer_.name());
  bytes_ = bytes;
}

void BufferTexture::write(const std::byte* data, std::size_t first, std::size_t bytes) {
  const std::size_t end = first + bytes;
  const bool grows = end > bytes_;
  if (grows) fill(nullptr, with_spare_room(end));
  glBindBuffer(GL_COPY_WRITE_BUFFER, buffer_.name());
  if (grows) first = 0, bytes = end;
  if (bytes == 0) return;
  glBufferSubData(GL_COPY_WRITE_BUFFER, static_cast<GLintptr>(first), static_cast<GLsizeiptr>(bytes), data + first);
}

void BufferTexture::bind(unsigned unit) const {
  glActiveTexture(GL_TEXTURE0 + unit);
  glBindTexture(GL_TEXTURE_BUFFER, texture_);
}

void Fence::set(FaultWatch& fault) {
  reset();
  sync_ = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  if (sync_ == nullptr) fault.raise(TouchFault::DriverError);
}

// Polls first, because a blocking wait can put the thread to sleep for longer than the GPU needs.
bool Fence::wait(FaultWatch& fault) {
  if (sync_ == nullptr) return !fault.any();
  const auto sync = static_cast<GLsync>(sync_);
  constexpr int kPolls = 1000;  // a few hundred microseconds
  GLenum state = glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, 0);
  for (int i = 0; i < kPolls && state == GL_TIMEOUT_EXPIRED; ++i) state = glClientWaitSync(sync, 0, 0);
  if (state == GL_TIMEOUT_EXPIRED) {
    state = glClientWaitSync(sync, 0, static_cast<GLuint64>(std::chrono::nanoseconds(kLongestWait).count()));
  }
  reset();
  if (state == GL_ALREADY_SIGNALED || state == GL_CONDITION_SATISFIED) return true;
  fault.raise(state == GL_TIMEOUT_EXPIRED ? TouchFault::TimedOut : TouchFault::DriverError);
  return false;
}

void Fence::reset() {
  if (sync_ != nullptr) glDeleteSync(static_cast<GLsync>(sync_));
  sync_ = nullptr;
}

void PositionUpload::resize(std::size_t vertices) {
  vertices_ = vertices;
  newest_ = 0;
  pinned_ = kNone;
  capacity_ = with_spare_room(vertices);
  for (Slot& slot : slots_) {
    slot.in_use.wait(fault_);
    if (persistent_ && vertices > 0) {
      void* data = nullptr;
      slot.buffer = make_mapped_buffer(capacity_ * sizeof(glm::vec3), kMapped | GL_MAP_WRITE_BIT, data);
      slot.data = static_cast<glm::vec3*>(data);
      if (data == nullptr) fault_.raise(TouchFault::OutOfMemory);
    } else {
      slot.host.resize(capacity_);
      slot.data = slot.host.data();
    }
  }
}

void PositionUpload::grow(std::size_t vertices) {
  if (vertices > capacity_) return resize(vertices);
  vertices_ = vertices;
  newest_ = 0;
  pinned_ = kNone;
}

void PositionUpload::send(std::span<const glm::vec3> positions, Name target) {
  assert(positions.size() == vertices_);
  if (vertices_ == 0 || fault_.any()) return;
  unsigned next = (newest_ + 1) % kSlots;
  if (next == pinned_) next = (next + 1) % kSlots;
  newest_ = next;
  Slot& slot = slots_[next];
  if (!slot.in_use.wait(fault_)) return;
  if (persistent_) {
    send_in_parts(positions, slot, target);
    slot.in_use.set(fault_);
  } else {
    std::copy(positions.begin(), positions.end(), slot.data);
    glBindBuffer(GL_COPY_WRITE_BUFFER, target);
    glBufferSubData(GL_COPY_WRITE_BUFFER, 0, static_cast<GLsizeiptr>(positions.size_bytes()), positions.data());
  }
}

// The GPU fetches a part while the next one is copied.
void PositionUpload::send_in_parts(std::span<const glm::vec3> positions, Slot& slot, Name target) {
  glBindBuffer(GL_COPY_READ_BUFFER, slot.buffer.name());
  glBindBuffer(GL_COPY_WRITE_BUFFER, target);
  const std::size_t part = (vertices_ + parts_ - 1) / parts_;
  for (std::size_t first = 0; first < vertices_; first += part) {
    const std::size_t count = std::min(part, vertices_ - first);
    std::copy_n(positions.begin() + static_cast<std::ptrdiff_t>(first), count, slot.data + first);
    const auto offset = static_cast<GLintptr>(first * sizeof(glm::vec3));
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, offset, offset,
                        static_cast<GLsizeiptr>(count * sizeof(glm::vec3)));
    if (parts_ > 1) glFlush();
  }
}

void ReadBackBuffer::grow(std::size_t bytes) {
  done_.wait(fault_);
  capacity_ = bytes;
  if (persistent_) {
    void* data = nullptr;
    buffer_ = make_mapped_buffer(bytes, kMapped, data);
    data_ = static_cast<const std::byte*>(data);
    if (data == nullptr) fault_.raise(TouchFault::OutOfMemory);
  } else {
    host_.resize(bytes);
    data_ = host_.data();
  }
}

void ReadBackBuffer::request(Name source, std::size_t bytes) {
  if (bytes > capacity_) grow(bytes);
  source_ = source;
  bytes_ = bytes;
  if (!persistent_ || fault_.any()) return;
  glBindBuffer(GL_COPY_READ_BUFFER, source);
  glBindBuffer(GL_COPY_WRITE_BUFFER, buffer_.name());
  glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, static_cast<GLsizeiptr>(bytes_));
  done_.set(fault_);
}

std::span<const std::byte> ReadBackBuffer::fetch() {
  if (fault_.any()) return {};
  if (persistent_) {
    if (!done_.wait(fault_)) return {};
  } else {
    glBindBuffer(GL_COPY_READ_BUFFER, source_);
    glGetBufferSubData(GL_COPY_READ_BUFFER, 0, static_cast<GLsizeiptr>(bytes_), host_.data());
  }
  return {data_, bytes_};
}

}  // namespace trocar::gl

#include "gpu_collision/position_store.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <cassert>

namespace trocar::gl {
namespace {

// Binds to the copy target, which is not part of a vertex array, and restores the old binding.
class CopyTarget {
 public:
  explicit CopyTarget(Name buffer) {
    glGetIntegerv(GL_COPY_WRITE_BUFFER_BINDING, &before_);
    glBindBuffer(GL_COPY_WRITE_BUFFER, buffer);
  }
  ~CopyTarget() { glBindBuffer(GL_COPY_WRITE_BUFFER, static_cast<GLuint>(before_)); }
  CopyTarget(const CopyTarget&) = delete;
  CopyTarget& operator=(const CopyTarget&) = delete;

 private:
  GLint before_ = 0;
};

}  // namespace

void fill_buffer(const Buffer& buffer, const void* data, std::size_t bytes) {
  const CopyTarget target(buffer.name());
  glBufferData(GL_COPY_WRITE_BUFFER, static_cast<GLsizeiptr>(bytes), data, GL_DYNAMIC_DRAW);
}

void PositionStore::rebuild(const MeshView& mesh) {
  mesh_.positions.assign(mesh.positions.begin(), mesh.positions.end());
  mesh_.faces.assign(mesh.faces.begin(), mesh.faces.end());
  fill_buffer(buffer_, mesh_.positions.data(), mesh_.positions.size() * sizeof(glm::vec3));
}

void PositionStore::update(std::span<const glm::vec3> positions) {
  assert(positions.size() == mesh_.positions.size());
  std::copy(positions.begin(), positions.end(), mesh_.positions.begin());
  const CopyTarget target(buffer_.name());
  glBufferSubData(GL_COPY_WRITE_BUFFER, 0, static_cast<GLsizeiptr>(positions.size_bytes()), positions.data());
}

std::size_t PositionStore::memory_bytes() const {
  const std::size_t positions = mesh_.positions.capacity() * sizeof(glm::vec3);
  return 2 * positions + mesh_.faces.capacity() * sizeof(glm::uvec3);
}

}  // namespace trocar::gl

#include "gpu_collision/position_store.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <cassert>

namespace trocar::gl {
namespace {

// Binds to the target of vertex data, which is not part of a vertex array, and restores the old binding. After a write
// through another target, or without one, the first drawing on NVIDIA's driver (580) can see the data from before it.
class ArrayTarget {
 public:
  explicit ArrayTarget(Name buffer) {
    glGetIntegerv(GL_ARRAY_BUFFER_BINDING, &before_);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
  }
  ~ArrayTarget() { glBindBuffer(GL_ARRAY_BUFFER, static_cast<GLuint>(before_)); }
  ArrayTarget(const ArrayTarget&) = delete;
  ArrayTarget& operator=(const ArrayTarget&) = delete;

 private:
  GLint before_ = 0;
};

}  // namespace

void fill_buffer(const Buffer& buffer, const void* data, std::size_t bytes) {
  const ArrayTarget target(buffer.name());
  glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(bytes), data, GL_DYNAMIC_DRAW);
}

void PositionStore::rebuild(const MeshView& mesh) {
  mesh_.positions.assign(mesh.positions.begin(), mesh.positions.end());
  mesh_.faces.assign(mesh.faces.begin(), mesh.faces.end());
  fill_buffer(buffer_, mesh_.positions.data(), mesh_.positions.size() * sizeof(glm::vec3));
}

void PositionStore::update(std::span<const glm::vec3> positions) {
  assert(positions.size() == mesh_.positions.size());
  std::copy(positions.begin(), positions.end(), mesh_.positions.begin());
  const ArrayTarget target(buffer_.name());
  glBufferSubData(GL_ARRAY_BUFFER, 0, static_cast<GLsizeiptr>(positions.size_bytes()), positions.data());
}

std::size_t PositionStore::memory_bytes() const {
  const std::size_t positions = mesh_.positions.capacity() * sizeof(glm::vec3);
  return 2 * positions + mesh_.faces.capacity() * sizeof(glm::uvec3);
}

}  // namespace trocar::gl

#include "gpu_collision/drawn_query.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "geometry/error.hpp"

namespace trocar::gl {

void delete_framebuffer(Name name) { glDeleteFramebuffers(1, &name); }
void delete_renderbuffer(Name name) { glDeleteRenderbuffers(1, &name); }

OnePixelTarget::OnePixelTarget() {
  GLint bound_framebuffer = 0, bound_renderbuffer = 0;
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &bound_framebuffer);
  glGetIntegerv(GL_RENDERBUFFER_BINDING, &bound_renderbuffer);
  GLuint framebuffer = 0, colour = 0;
  glGenFramebuffers(1, &framebuffer);
  glGenRenderbuffers(1, &colour);
  framebuffer_ = Owned<delete_framebuffer>(framebuffer);
  colour_ = Owned<delete_renderbuffer>(colour);
  glBindRenderbuffer(GL_RENDERBUFFER, colour);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 1, 1);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
  glFramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour);
  glDrawBuffer(GL_NONE);
  const GLenum status = glCheckFramebufferStatus(GL_DRAW_FRAMEBUFFER);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(bound_framebuffer));
  glBindRenderbuffer(GL_RENDERBUFFER, static_cast<GLuint>(bound_renderbuffer));
  if (status != GL_FRAMEBUFFER_COMPLETE) throw RunError("the OpenGL driver refuses a framebuffer of one pixel");
}

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

namespace trocar {
namespace {

// Minimum margin beyond the volume: well above the rounding of planes and positions near the origin.
constexpr double kSmallestMargin = 2e-6;  // m
// Margin in float steps of the largest number, between a vertex and its height over a plane. Mesa's clipper needs 1.
constexpr double kRoundingSteps = 16.0;

}  // namespace

bool decide_candidates(const ToolVolume& tool, TouchSet set, const MeshView& mesh, std::vector<FaceId>& candidates,
                       TouchCollector& collector) {
  std::sort(candidates.begin(), candidates.end());
  if (!candidates.empty() && index(candidates.back()) >= mesh.faces.size()) return false;
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  if (set == TouchSet::Volume) {
    std::erase_if(candidates, [&](FaceId face) {
      return !face_touches_volume(triangle_of(mesh.positions, mesh.faces[index(face)]), tool);
    });
  }
  collector.add_tool(tool, set, mesh, candidates);
  return true;
}

double candidate_margin(double scale) {
  return kSmallestMargin + kRoundingSteps * std::numeric_limits<float>::epsilon() * scale;
}

}  // namespace trocar

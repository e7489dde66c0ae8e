#include "gpu_collision/occlusion_state.hpp"

#include <glad/gl.h>

namespace trocar {
namespace {

// These features are switched off, because they can keep a point from counting as one sample, or make a shader without
// clip distances undefined. GL_ALPHA_TEST, which core contexts do not have, comes last.
constexpr GLenum kSwitchedOff[] = {
    GL_RASTERIZER_DISCARD, GL_SCISSOR_TEST,   GL_PRIMITIVE_RESTART, GL_PROGRAM_POINT_SIZE, GL_CLIP_DISTANCE0,
    GL_CLIP_DISTANCE1,     GL_CLIP_DISTANCE2, GL_CLIP_DISTANCE3,    GL_CLIP_DISTANCE4,     GL_CLIP_DISTANCE5,
    GL_CLIP_DISTANCE6,     GL_CLIP_DISTANCE7, GL_ALPHA_TEST};

GLuint unsigned_name(GLint name) { return static_cast<GLuint>(name); }

}  // namespace

OcclusionState::OcclusionState(const GlInfo& info, unsigned framebuffer) : compatibility_(info.compatibility_profile) {
  static_assert(std::size(kSwitchedOff) == kFeatures);
  save();
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
  glViewport(0, 0, 1, 1);
  for (int i = 0; i < kFeatures; ++i) {
    if (enabled_[i]) glDisable(kSwitchedOff[i]);
  }
}

void OcclusionState::save() {
  glGetIntegerv(GL_CURRENT_PROGRAM, &program_);
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &framebuffer_);
  glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &vertex_array_);
  glGetIntegerv(GL_VIEWPORT, viewport_.data());
  glGetIntegerv(GL_COPY_READ_BUFFER_BINDING, &read_buffer_);
  for (int i = 0; i < kFeatures; ++i) {
    enabled_[i] = (kSwitchedOff[i] != GL_ALPHA_TEST || compatibility_) && glIsEnabled(kSwitchedOff[i]);
  }
  save_feedback_buffer();
}

void OcclusionState::save_feedback_buffer() {
  glGetIntegerv(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, &feedback_buffer_);
  glGetIntegeri_v(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 0, &feedback_slot_);
  GLint64 start = 0, size = 0;
  glGetInteger64i_v(GL_TRANSFORM_FEEDBACK_BUFFER_START, 0, &start);
  glGetInteger64i_v(GL_TRANSFORM_FEEDBACK_BUFFER_SIZE, 0, &size);
  feedback_start_ = start;
  feedback_size_ = size;
}

OcclusionState::~OcclusionState() {
  for (int i = 0; i < kFeatures; ++i) {
    if (enabled_[i]) glEnable(kSwitchedOff[i]);
  }
  if (feedback_size_ > 0) {
    glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, unsigned_name(feedback_slot_), feedback_start_, feedback_size_);
  } else {
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, unsigned_name(feedback_slot_));
  }
  glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, unsigned_name(feedback_buffer_));
  glBindBuffer(GL_COPY_READ_BUFFER, unsigned_name(read_buffer_));
  glViewport(viewport_[0], viewport_[1], viewport_[2], viewport_[3]);
  glBindVertexArray(unsigned_name(vertex_array_));
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, unsigned_name(framebuffer_));
  glUseProgram(unsigned_name(program_));
}

}  // namespace trocar

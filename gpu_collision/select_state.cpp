#include "gpu_collision/select_state.hpp"

#include <glad/gl.h>

#include "gpu_collision/gl_objects.hpp"

namespace trocar {
namespace {

// The transform group includes the clip control; the client's vertex arrays include the binding of GL_ARRAY_BUFFER.
constexpr GLbitfield kServerState = GL_TRANSFORM_BIT | GL_ENABLE_BIT | GL_POLYGON_BIT | GL_VIEWPORT_BIT;

// Disables every array of the default vertex array: an enabled one with a stale pointer would be read.
void disable_client_arrays() {
  for (const GLenum array : {GL_VERTEX_ARRAY, GL_NORMAL_ARRAY, GL_COLOR_ARRAY, GL_SECONDARY_COLOR_ARRAY, GL_INDEX_ARRAY,
                             GL_EDGE_FLAG_ARRAY, GL_FOG_COORD_ARRAY}) {
    glDisableClientState(array);
  }
  GLint texture_units = 0, attributes = 0;
  glGetIntegerv(GL_MAX_TEXTURE_COORDS, &texture_units);
  glGetIntegerv(GL_MAX_VERTEX_ATTRIBS, &attributes);
  for (GLint unit = 0; unit < texture_units; ++unit) {
    glClientActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
    glDisableClientState(GL_TEXTURE_COORD_ARRAY);
  }
  for (GLint i = 0; i < attributes; ++i) glDisableVertexAttribArray(static_cast<GLuint>(i));
}

}  // namespace

SelectState::SelectState(const GlInfo& info, unsigned framebuffer)
    : has_pipelines_(gl::at_least(info, 4, 1)), has_clip_control_(gl::at_least(info, 4, 5)) {
  save();
  enter(framebuffer);
}

void SelectState::save() {
  glGetIntegerv(GL_CURRENT_PROGRAM, &program_);
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &framebuffer_);
  glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &vertex_array_);
  glGetFloatv(GL_MODELVIEW_MATRIX, model_view_.data());
  glGetFloatv(GL_PROJECTION_MATRIX, projection_.data());
  glGetPointerv(GL_SELECTION_BUFFER_POINTER, &selection_);
  glGetIntegerv(GL_SELECTION_BUFFER_SIZE, &selection_size_);
  discards_ = glIsEnabled(GL_RASTERIZER_DISCARD);
  if (has_pipelines_) glGetIntegerv(GL_PROGRAM_PIPELINE_BINDING, &pipeline_);
}

void SelectState::enter(unsigned framebuffer) {
  glPushAttrib(kServerState);
  glBindVertexArray(0);
  glPushClientAttrib(GL_CLIENT_VERTEX_ARRAY_BIT);
  glUseProgram(0);
  if (has_pipelines_) glBindProgramPipeline(0);
  if (has_clip_control_) glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
  glViewport(0, 0, 1, 1);
  for (const GLenum feature : {GL_RASTERIZER_DISCARD, GL_CULL_FACE, GL_DEPTH_CLAMP}) {
    glDisable(feature);
  }
  glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
  disable_client_arrays();
  glBindBuffer(GL_ARRAY_BUFFER, 0);
}

SelectState::~SelectState() {
  glMatrixMode(GL_PROJECTION);
  glLoadMatrixf(projection_.data());
  glMatrixMode(GL_MODELVIEW);
  glLoadMatrixf(model_view_.data());
  glPopClientAttrib();
  glBindVertexArray(static_cast<GLuint>(vertex_array_));
  glPopAttrib();
  glUseProgram(static_cast<GLuint>(program_));
  if (has_pipelines_) glBindProgramPipeline(static_cast<GLuint>(pipeline_));
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(framebuffer_));
  if (discards_) glEnable(GL_RASTERIZER_DISCARD);
  glSelectBuffer(selection_size_, static_cast<GLuint*>(selection_));
}

}  // namespace trocar

#include "app/view/small_target.hpp"

#include <glad/gl.h>

#include <algorithm>

namespace trocar {

SmallTarget::~SmallTarget() { free(); }

void SmallTarget::free() {
  glDeleteFramebuffers(1, &framebuffer_);
  glDeleteTextures(1, &colour_);
  glDeleteRenderbuffers(1, &depth_);
}

void SmallTarget::begin(const glm::ivec2& size) {
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &outer_);
  if (size != size_) {
    free();
    size_ = size;
    glGenFramebuffers(1, &framebuffer_);
    glGenTextures(1, &colour_);
    glGenRenderbuffers(1, &depth_);
    glBindTexture(GL_TEXTURE_2D, colour_);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size.x, size.y, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
      glTexParameteri(GL_TEXTURE_2D, filter, GL_LINEAR);
    for (const GLenum axis : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
      glTexParameteri(GL_TEXTURE_2D, axis, GL_CLAMP_TO_EDGE);
    glBindRenderbuffer(GL_RENDERBUFFER, depth_);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, size.x, size.y);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, colour_, 0);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth_);
  }
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
}

void SmallTarget::end(const glm::ivec2& full_size, double field) {
  glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(outer_));
  glViewport(0, 0, full_size.x, full_size.y);
  glClear(GL_COLOR_BUFFER_BIT);
  glDisable(GL_DEPTH_TEST);
  const int half = std::min(full_size.x / 2 + 1, static_cast<int>(0.5 * full_size.y * field) + 1);
  glEnable(GL_SCISSOR_TEST);
  glScissor(full_size.x / 2 - half, 0, 2 * half, full_size.y);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, colour_);
  upscale_.use();
  glBindVertexArray(empty_.name());
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glDisable(GL_SCISSOR_TEST);
  glBindTexture(GL_TEXTURE_2D, 0);
}

}  // namespace trocar

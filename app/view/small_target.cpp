#include "app/view/small_target.hpp"

#include <glad/gl.h>

#include <algorithm>

namespace trocar {

SmallTarget::~SmallTarget() { free(); }

void SmallTarget::free() {
  glDeleteFramebuffers(2, framebuffers_);
  glDeleteTextures(2, colours_);
  glDeleteRenderbuffers(1, &depth_);
}

void SmallTarget::allocate(const glm::ivec2& size) {
  free();
  size_ = size;
  glGenFramebuffers(2, framebuffers_);
  glGenTextures(2, colours_);
  glGenRenderbuffers(1, &depth_);
  glBindRenderbuffer(GL_RENDERBUFFER, depth_);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, size.x, size.y);
  for (int k = 0; k < 2; ++k) {
    glBindTexture(GL_TEXTURE_2D, colours_[k]);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size.x, size.y, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
      glTexParameteri(GL_TEXTURE_2D, filter, GL_LINEAR);
    for (const GLenum axis : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
      glTexParameteri(GL_TEXTURE_2D, axis, GL_CLAMP_TO_EDGE);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers_[k]);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, colours_[k], 0);
  }
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffers_[0]);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth_);
}

void SmallTarget::begin(const glm::ivec2& size) {
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &outer_);
  if (size != size_) allocate(size);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffers_[0]);
}

void SmallTarget::copy(unsigned texture, const glm::ivec2& size, double field) {
  const int half = std::min(size.x / 2 + 1, static_cast<int>(0.5 * size.y * field) + 2);
  glViewport(0, 0, size.x, size.y);
  glScissor(size.x / 2 - half, 0, 2 * half, size.y);
  glBindTexture(GL_TEXTURE_2D, texture);
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

void SmallTarget::end(const glm::ivec2& full_size, double field) {
  glDisable(GL_DEPTH_TEST);
  glEnable(GL_SCISSOR_TEST);
  glActiveTexture(GL_TEXTURE0);
  glBindVertexArray(empty_.name());
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffers_[1]);
  smooth_.use();
  smooth_.set("texel", 1.f / glm::vec2(size_));
  copy(colours_[0], size_, field);
  glDisable(GL_SCISSOR_TEST);
  glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(outer_));
  glClear(GL_COLOR_BUFFER_BIT);
  glEnable(GL_SCISSOR_TEST);
  upscale_.use();
  copy(colours_[1], full_size, field);
  glDisable(GL_SCISSOR_TEST);
  glBindTexture(GL_TEXTURE_2D, 0);
}

}  // namespace trocar

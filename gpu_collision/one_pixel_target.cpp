#include "gpu_collision/one_pixel_target.hpp"

#include <glad/gl.h>

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

}  // namespace trocar::gl

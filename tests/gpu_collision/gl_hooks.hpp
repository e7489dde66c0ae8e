// Installs a hook that sees every OpenGL call before it is made, through the loader. One object at a time.
#pragma once

#include <glad/gl.h>

namespace trocar {

class GlHooks {
 public:
  explicit GlHooks(GLADprecallback before) {
    gladSetGLPreCallback(before);
    gladSetGLPostCallback(ignore);
    gladInstallGLDebug();
  }
  ~GlHooks() { gladUninstallGLDebug(); }
  GlHooks(const GlHooks&) = delete;
  GlHooks& operator=(const GlHooks&) = delete;

 private:
  static void ignore(void*, const char*, GLADapiproc, int, ...) {}
};

}  // namespace trocar

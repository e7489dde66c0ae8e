#include "tests/gpu_collision/gl_hooks.hpp"

#include <glad/gl.h>

namespace trocar {
namespace {

void ignore(void*, const char*, GLADapiproc, int, ...) {}

}  // namespace

GlHooks::GlHooks(GlHook before) {
  gladSetGLPreCallback(before);
  gladSetGLPostCallback(ignore);
  gladInstallGLDebug();
}

GlHooks::~GlHooks() { gladUninstallGLDebug(); }

}  // namespace trocar

#include "web/gl/page_context.hpp"

#include <GLES3/gl3.h>
#include <emscripten/html5.h>

#include "gpu_collision/gl_fault.hpp"

namespace trocar {
namespace {

class PageContext final : public GlContext {
 public:
  PageContext(EMSCRIPTEN_WEBGL_CONTEXT_HANDLE handle, GlInfo info) : handle_(handle), info_(std::move(info)) {
    share();
  }
  ~PageContext() override { emscripten_webgl_destroy_context(handle_); }
  PageContext(const PageContext&) = delete;
  PageContext& operator=(const PageContext&) = delete;
  const GlInfo& info() const override { return info_; }
  void make_current() override { emscripten_webgl_make_context_current(handle_); }

 private:
  EMSCRIPTEN_WEBGL_CONTEXT_HANDLE handle_;
  GlInfo info_;
};

std::string text_of(GLenum name) {
  const GLubyte* text = glGetString(name);
  return text ? reinterpret_cast<const char*>(text) : "";
}

}  // namespace

GlContext::GlContext() : submissions_(std::make_unique<gl::Submissions>()) {}
GlContext::~GlContext() = default;
// The page is told by an event.
bool GlContext::lost() { return lost_; }

std::unique_ptr<GlContext> make_page_context(const char* canvas, std::string& why) {
  EmscriptenWebGLContextAttributes attributes;
  emscripten_webgl_init_context_attributes(&attributes);
  attributes.majorVersion = 2;
  attributes.alpha = false;
  attributes.antialias = true;
  attributes.powerPreference = EM_WEBGL_POWER_PREFERENCE_HIGH_PERFORMANCE;
  const EMSCRIPTEN_WEBGL_CONTEXT_HANDLE handle = emscripten_webgl_create_context(canvas, &attributes);
  if (handle <= 0) {
    why = "this browser offers no WebGL 2; switch on hardware acceleration or use a newer browser";
    return nullptr;
  }
  emscripten_webgl_make_context_current(handle);
  GlInfo info;
  info.vendor = text_of(GL_VENDOR);
  info.renderer = text_of(GL_RENDERER);
  info.version = text_of(GL_VERSION);
  // OpenGL ES 3.0 has what the view needs of OpenGL 3.3.
  info.major = 3, info.minor = 3;
  return std::make_unique<PageContext>(handle, std::move(info));
}

}  // namespace trocar

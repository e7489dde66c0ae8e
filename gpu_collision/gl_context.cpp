// Makes OpenGL contexts off-screen through EGL, or adopts the context of a window library. Only this file uses EGL. An
// off-screen context needs no display server: Mesa is used through its surfaceless platform, other drivers through the
// EGL device platform. A GPU driver is preferred to a software driver when both are installed. Based on:
// EGL_MESA_platform_surfaceless, EGL_EXT_platform_device, EGL_KHR_surfaceless_context. Tested in
// tests/gpu_collision/gl_context_test.cpp
#include "gpu_collision/gl_context.hpp"

// glad needs this order: EGL first includes its own platform types.
#include <glad/egl.h>
#include <glad/gl.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string_view>
#include <vector>

#include "geometry/error.hpp"
#include "gpu_collision/gl_fault.hpp"

namespace trocar {
namespace {

// ---- The process ----

std::atomic<pid_t> gl_process{0};  // the one that made off-screen contexts; 0: none

void require_gl_process() {
  if (!gl_was_forked()) return;
  throw RunError(
      "OpenGL was used before the fork, and its driver does not work in the new process; use spawn to start processes "
      "(multiprocessing.get_context('spawn'))");
}

// ---- Properties of the current context ----

std::string gl_string(GLenum name) {
  const GLubyte* text = glGetString(name);
  return text ? reinterpret_cast<const char*>(text) : "";
}

bool is_software(std::string_view renderer) {
  constexpr std::array<std::string_view, 4> kNames{"llvmpipe", "softpipe", "swrast", "Software Rasterizer"};
  for (const std::string_view name : kNames) {
    if (renderer.find(name) != std::string_view::npos) return true;
  }
  return false;
}

bool is_compatibility(int version) {
  if (version >= GLAD_MAKE_VERSION(3, 2)) {
    GLint mask = 0;
    glGetIntegerv(GL_CONTEXT_PROFILE_MASK, &mask);
    return (mask & GL_CONTEXT_COMPATIBILITY_PROFILE_BIT) != 0;
  }
  if (version < GLAD_MAKE_VERSION(3, 1)) return true;
  GLint count = 0;
  glGetIntegerv(GL_NUM_EXTENSIONS, &count);
  for (GLint i = 0; i < count; ++i) {
    const auto* name = reinterpret_cast<const char*>(glGetStringi(GL_EXTENSIONS, static_cast<GLuint>(i)));
    if (name && std::strcmp(name, "GL_ARB_compatibility") == 0) return true;
  }
  return false;
}

// Loads the entry points of the current context; returns the version, 0 without a usable context. The loader's hooks
// stay off until a test installs them.
int load_entry_points(GLADloadfunc loader) {
  const int version = gladLoadGL(loader);
  gladUninstallGLDebug();
  return version;
}

// Loads the entry points of the current context and describes it; false when there is no usable context.
bool load_gl(GLADloadfunc loader, GlInfo& info) {
  const int version = load_entry_points(loader);
  if (version == 0) return false;
  info.major = GLAD_VERSION_MAJOR(version);
  info.minor = GLAD_VERSION_MINOR(version);
  info.vendor = gl_string(GL_VENDOR);
  info.renderer = gl_string(GL_RENDERER);
  info.version = gl_string(GL_VERSION);
  info.compatibility_profile = is_compatibility(version);
  info.software = is_software(info.renderer);
  return true;
}

// ---- EGL ----

bool has_word(const char* list, std::string_view word) {
  if (list == nullptr) return false;
  std::string_view rest = list;
  while (!rest.empty()) {
    const std::size_t end = rest.find(' ');
    if (rest.substr(0, end) == word) return true;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return false;
}

// Returns the candidate displays, best first. Skips a software EGL device when the surfaceless platform offers the same
// driver.
std::vector<EGLDisplay> candidate_displays() {
  std::vector<EGLDisplay> displays;
  const char* extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  if (eglGetPlatformDisplayEXT == nullptr) return displays;
  if (has_word(extensions, "EGL_MESA_platform_surfaceless")) {
    displays.push_back(eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr));
  }
  if (has_word(extensions, "EGL_EXT_platform_device") && eglQueryDevicesEXT != nullptr) {
    std::array<EGLDeviceEXT, 16> devices{};
    EGLint count = 0;
    if (!eglQueryDevicesEXT(static_cast<EGLint>(devices.size()), devices.data(), &count)) count = 0;
    for (EGLint i = 0; i < count; ++i) {
      const char* of_device = eglQueryDeviceStringEXT ? eglQueryDeviceStringEXT(devices[i], EGL_EXTENSIONS) : nullptr;
      if (has_word(of_device, "EGL_MESA_device_software") && !displays.empty()) continue;
      displays.push_back(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr));
    }
  }
  std::erase(displays, EGL_NO_DISPLAY);
  return displays;
}

struct ContextRequest {
  int major, minor;
  bool compatibility;
};

// Newest first; `select` needs the compatibility profile, so it is requested before core at each version.
constexpr std::array<ContextRequest, 6> kRequests{
    {{4, 5, true}, {4, 5, false}, {4, 3, true}, {4, 3, false}, {3, 3, true}, {3, 3, false}}};

// Requests notification of a lost context; retries without this attribute, because some drivers reject it.
EGLContext create_egl_context(EGLDisplay display, EGLConfig config, const ContextRequest& request) {
  const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION_KHR,
                               request.major,
                               EGL_CONTEXT_MINOR_VERSION_KHR,
                               request.minor,
                               EGL_CONTEXT_OPENGL_PROFILE_MASK_KHR,
                               request.compatibility ? EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT_KHR
                                                     : EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT_KHR,
                               EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_KHR,
                               EGL_LOSE_CONTEXT_ON_RESET_KHR,
                               EGL_NONE};
  if (EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, attributes)) return context;
  std::array<EGLint, 7> silent{};
  std::copy_n(std::begin(attributes), 6, silent.begin());
  silent.back() = EGL_NONE;
  return eglCreateContext(display, config, EGL_NO_CONTEXT, silent.data());
}

EGLContext create_egl_context(EGLDisplay display, EGLConfig config) {
  for (const ContextRequest& request : kRequests)
    if (EGLContext context = create_egl_context(display, config, request)) return context;
  const EGLint any[] = {EGL_NONE};
  return eglCreateContext(display, config, EGL_NO_CONTEXT, any);
}

class EglContext final : public GlContext {
 public:
  // Returns nullptr, with the reason in `why`, when `display` offers no OpenGL.
  static std::unique_ptr<EglContext> create(EGLDisplay display, std::string& why);
  ~EglContext() override { release(); }
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;

  const GlInfo& info() const override { return info_; }
  void make_current() override {
    require_gl_process();
    bind();
  }
  void leave() override { eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT); }

 private:
  explicit EglContext(EGLDisplay display) : display_(display) {}
  bool bind() { return eglBindAPI(EGL_OPENGL_API) && eglMakeCurrent(display_, surface_, surface_, context_); }
  void release();

  EGLDisplay display_;
  EGLSurface surface_ = EGL_NO_SURFACE;
  EGLContext context_ = EGL_NO_CONTEXT;
  GlInfo info_;
};

std::unique_ptr<EglContext> EglContext::create(EGLDisplay display, std::string& why) {
  EGLint major = 0, minor = 0;
  if (!eglInitialize(display, &major, &minor) || !gladLoaderLoadEGL(display)) {
    why = "EGL cannot start a display driver";
    return nullptr;
  }
  if (eglBindAPI == nullptr || !eglBindAPI(EGL_OPENGL_API)) {
    why = "this EGL driver offers no desktop OpenGL";
    return nullptr;
  }
  const char* extensions = eglQueryString(display, EGL_EXTENSIONS);
  const bool surfaceless = has_word(extensions, "EGL_KHR_surfaceless_context");

  const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, surfaceless ? 0 : EGL_PBUFFER_BIT,
                           EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0) {
    if (!surfaceless || !has_word(extensions, "EGL_KHR_no_config_context")) {
      why = "this EGL driver has no configuration for desktop OpenGL";
      return nullptr;
    }
    config = nullptr;
  }

  std::unique_ptr<EglContext> result(new EglContext(display));
  result->context_ = create_egl_context(display, config);
  if (!surfaceless && result->context_ != EGL_NO_CONTEXT) {
    const EGLint one_pixel[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
    result->surface_ = eglCreatePbufferSurface(display, config, one_pixel);
  }
  if (result->context_ == EGL_NO_CONTEXT || !result->bind()) {
    why = "this EGL driver refuses an OpenGL context";
    return nullptr;
  }
  gl_process.store(getpid());
  if (!load_gl(reinterpret_cast<GLADloadfunc>(eglGetProcAddress), result->info_)) {
    why = "this EGL driver gives a context without OpenGL entry points";
    return nullptr;
  }
  return result;
}

// Leaves the display initialised: it belongs to the process (EGL returns the same one each time), and other contexts
// may use it.
void EglContext::release() {
  if (gl_was_forked()) return;
  if (context_ != EGL_NO_CONTEXT) {
    if (eglGetCurrentContext() == context_) {
      eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    }
    eglDestroyContext(display_, context_);
  }
  if (surface_ != EGL_NO_SURFACE) eglDestroySurface(display_, surface_);
}

// ---- A context made by a window library ----

class AdoptedContext final : public GlContext {
 public:
  explicit AdoptedContext(GlInfo info) : info_(std::move(info)) { share(); }
  const GlInfo& info() const override { return info_; }
  // The window library makes its own context current.
  void make_current() override {}

 private:
  GlInfo info_;
};

}  // namespace

GlContext::GlContext() : submissions_(std::make_unique<gl::Submissions>()) {}

GlContext::~GlContext() = default;

bool GlContext::lost() {
  const auto status = glGetGraphicsResetStatus ? glGetGraphicsResetStatus : glGetGraphicsResetStatusARB;
  // A driver reports the loss once, and may report no error after the reset.
  if (!lost_ && status) lost_ = status() != GL_NO_ERROR;
  return lost_;
}

bool gl_was_forked() {
  const pid_t first = gl_process.load();
  return first != 0 && first != getpid();
}

std::unique_ptr<GlContext> make_offscreen_context(std::string& why) {
  require_gl_process();
  // The loader's table of entry points belongs to the process.
  static std::mutex loading;
  const std::lock_guard lock(loading);
  if (!gladLoaderLoadEGL(EGL_NO_DISPLAY)) {
    why = "libEGL.so.1 cannot be loaded; install libegl1 and a driver (libgl1-mesa-dri)";
    return nullptr;
  }
  why = "EGL finds no driver; install libegl-mesa0 and libgl1-mesa-dri, or the GPU's own driver";
  std::unique_ptr<EglContext> software;
  for (EGLDisplay display : candidate_displays()) {
    std::unique_ptr<EglContext> context = EglContext::create(display, why);
    if (!context) continue;
    if (!context->info().software) {
      software.reset();
      context->make_current();
      why.clear();
      return context;
    }
    if (!software) software = std::move(context);
  }
  if (!software) return nullptr;
  // Another candidate may have become current: bind this context again and load its entry points.
  software->make_current();
  load_entry_points(reinterpret_cast<GLADloadfunc>(eglGetProcAddress));
  why.clear();
  return software;
}

std::unique_ptr<GlContext> adopt_current_context(GlLoader loader, std::string& why) {
  GlInfo info;
  if (loader == nullptr || !load_gl(reinterpret_cast<GLADloadfunc>(loader), info)) {
    why = "no OpenGL context is current on this thread";
    return nullptr;
  }
  why.clear();
  return std::make_unique<AdoptedContext>(std::move(info));
}

}  // namespace trocar

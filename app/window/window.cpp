#include "app/window/window.hpp"

#include <fmt/format.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>

namespace trocar {

struct Window::Content {
  GLFWwindow* window = nullptr;
  std::unique_ptr<GlContext> context;
  WindowInput input;
  glm::dvec2 pointer{0.0};
  bool pointer_known = false, focused = false, filled = false;
  glm::ivec4 place{0};  // of the window when it does not fill the screen: left, top, width, height

  ~Content() {
    context.reset();
    if (window) glfwDestroyWindow(window);
    glfwTerminate();
  }
};

namespace {

struct KeyName {
  int glfw_key;
  Key key;
};

constexpr KeyName kKeyNames[] = {{GLFW_KEY_ESCAPE, Key::Escape},
                                 {GLFW_KEY_ENTER, Key::Enter},
                                 {GLFW_KEY_KP_ENTER, Key::Enter},
                                 {GLFW_KEY_SPACE, Key::Space},
                                 {GLFW_KEY_TAB, Key::Tab},
                                 {GLFW_KEY_LEFT, Key::Left},
                                 {GLFW_KEY_RIGHT, Key::Right},
                                 {GLFW_KEY_UP, Key::Up},
                                 {GLFW_KEY_DOWN, Key::Down},
                                 {GLFW_KEY_HOME, Key::Home},
                                 {GLFW_KEY_END, Key::End},
                                 {GLFW_KEY_DELETE, Key::Delete},
                                 {GLFW_KEY_COMMA, Key::Comma},
                                 {GLFW_KEY_PERIOD, Key::Period},
                                 {GLFW_KEY_F1, Key::F1},
                                 {GLFW_KEY_F2, Key::F2},
                                 {GLFW_KEY_F11, Key::F11},
                                 {GLFW_KEY_A, Key::A},
                                 {GLFW_KEY_C, Key::C},
                                 {GLFW_KEY_D, Key::D},
                                 {GLFW_KEY_E, Key::E},
                                 {GLFW_KEY_G, Key::G},
                                 {GLFW_KEY_H, Key::H},
                                 {GLFW_KEY_L, Key::L},
                                 {GLFW_KEY_N, Key::N},
                                 {GLFW_KEY_O, Key::O},
                                 {GLFW_KEY_P, Key::P},
                                 {GLFW_KEY_Q, Key::Q},
                                 {GLFW_KEY_R, Key::R},
                                 {GLFW_KEY_S, Key::S},
                                 {GLFW_KEY_T, Key::T},
                                 {GLFW_KEY_W, Key::W},
                                 {GLFW_KEY_X, Key::X},
                                 {GLFW_KEY_Y, Key::Y},
                                 {GLFW_KEY_Z, Key::Z},
                                 {GLFW_KEY_LEFT_CONTROL, Key::Control},
                                 {GLFW_KEY_RIGHT_CONTROL, Key::Control},
                                 {GLFW_KEY_LEFT_SHIFT, Key::Shift},
                                 {GLFW_KEY_RIGHT_SHIFT, Key::Shift}};

Key key_of(int glfw_key) {
  for (const KeyName& name : kKeyNames)
    if (name.glfw_key == glfw_key) return name.key;
  return Key::Other;
}

int overlap(int from, int length, int other_from, int other_length) {
  return std::max(std::min(from + length, other_from + other_length) - std::max(from, other_from), 0);
}

// Returns the monitor that shows most of the window; null without monitors.
GLFWmonitor* monitor_below(const glm::ivec4& place) {
  int count = 0;
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  GLFWmonitor* best = count > 0 ? monitors[0] : nullptr;
  int largest = 0;
  for (int k = 0; k < count; ++k) {
    glm::ivec2 corner;
    glfwGetMonitorPos(monitors[k], &corner.x, &corner.y);
    const GLFWvidmode* mode = glfwGetVideoMode(monitors[k]);
    const int area =
        overlap(place.x, place.z, corner.x, mode->width) * overlap(place.y, place.w, corner.y, mode->height);
    if (area > largest) best = monitors[k], largest = area;
  }
  return best;
}

std::string last_glfw_error() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text ? text : "no reason given";
}

// Tries the compatibility profile first, for the `select` backend, then core profiles.
GLFWwindow* open_window(const std::string& title, int width, int height, int samples) {
  struct Wish {
    int major, minor, profile;
  };
  for (const Wish wish : {Wish{4, 5, GLFW_OPENGL_COMPAT_PROFILE}, Wish{4, 3, GLFW_OPENGL_CORE_PROFILE},
                          Wish{3, 3, GLFW_OPENGL_CORE_PROFILE}}) {
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, wish.major);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, wish.minor);
    glfwWindowHint(GLFW_OPENGL_PROFILE, wish.profile);
    glfwWindowHint(GLFW_SAMPLES, samples);
    // The driver must report a lost context.
    glfwWindowHint(GLFW_CONTEXT_ROBUSTNESS, GLFW_LOSE_CONTEXT_ON_RESET);
    if (GLFWwindow* window = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr)) return window;
  }
  return nullptr;
}

}  // namespace

Window::Window(std::unique_ptr<Content> content) : content_(std::move(content)) {}
Window::~Window() = default;

std::unique_ptr<Window> Window::open(const std::string& title, int width, int height, std::string& why) {
  glfwSetErrorCallback(nullptr);
  if (!glfwInit()) {
    why = fmt::format("no display: {}", last_glfw_error());
    return nullptr;
  }
  auto content = std::make_unique<Content>();
  // Asks for four samples a pixel, or one on software OpenGL.
  for (const int samples : {4, 0}) {
    content->context.reset();
    if (content->window) glfwDestroyWindow(content->window);
    content->window = open_window(title, width, height, samples);
    if (!content->window) {
      why = fmt::format("no window with OpenGL 3.3: {}", last_glfw_error());
      return nullptr;
    }
    glfwMakeContextCurrent(content->window);
    glfwSwapInterval(1);
    content->context = adopt_current_context(glfwGetProcAddress, why);
    if (!content->context) return nullptr;
    if (!content->context->info().software) break;
  }
  glfwSetWindowUserPointer(content->window, &content->input);
  glfwSetKeyCallback(content->window, [](GLFWwindow* window, int key, int, int action, int) {
    if (action == GLFW_PRESS)
      static_cast<WindowInput*>(glfwGetWindowUserPointer(window))->pressed.push_back(key_of(key));
  });
  glfwSetMouseButtonCallback(content->window, [](GLFWwindow* window, int button, int action, int) {
    if (button == GLFW_MOUSE_BUTTON_LEFT && action == GLFW_PRESS)
      static_cast<WindowInput*>(glfwGetWindowUserPointer(window))->left_pressed = true;
  });
  glfwSetScrollCallback(content->window, [](GLFWwindow* window, double, double notches) {
    static_cast<WindowInput*>(glfwGetWindowUserPointer(window))->wheel += notches;
  });
  return std::unique_ptr<Window>(new Window(std::move(content)));
}

GlContext& Window::context() { return *content_->context; }

const WindowInput& Window::poll() {
  Content& c = *content_;
  c.input.pressed.clear();
  c.input.left_pressed = false;
  c.input.wheel = 0.0;
  glfwPollEvents();
  const bool focused = glfwGetWindowAttrib(c.window, GLFW_FOCUSED) == GLFW_TRUE;
  c.input.focus_lost = c.focused && !focused;
  c.focused = focused;
  glm::dvec2 now;
  glfwGetCursorPos(c.window, &now.x, &now.y);
  c.input.pointer_motion = c.pointer_known ? glm::dvec2(now.x - c.pointer.x, c.pointer.y - now.y) : glm::dvec2(0.0);
  c.pointer = now;
  c.input.pointer = now;
  c.pointer_known = true;
  const auto held = [&](int button) { return glfwGetMouseButton(c.window, button) == GLFW_PRESS; };
  c.input.left_button = held(GLFW_MOUSE_BUTTON_LEFT);
  c.input.right_button = held(GLFW_MOUSE_BUTTON_RIGHT);
  c.input.held.fill(false);
  for (const KeyName& name : kKeyNames)
    if (glfwGetKey(c.window, name.glfw_key) == GLFW_PRESS) c.input.held[static_cast<std::size_t>(name.key)] = true;
  return c.input;
}

bool Window::closing() const { return glfwWindowShouldClose(content_->window) != 0; }

glm::ivec2 Window::size() const {
  glm::ivec2 pixels;
  glfwGetFramebufferSize(content_->window, &pixels.x, &pixels.y);
  return pixels;
}

void Window::capture_pointer(bool captured) {
  const int mode = captured ? GLFW_CURSOR_DISABLED : GLFW_CURSOR_NORMAL;
  if (glfwGetInputMode(content_->window, GLFW_CURSOR) == mode) return;
  glfwSetInputMode(content_->window, GLFW_CURSOR, mode);
  content_->pointer_known = false;
}

void Window::fill_screen(bool filled) {
  Content& c = *content_;
  if (filled == c.filled) return;
  if (filled) {
    glfwGetWindowPos(c.window, &c.place.x, &c.place.y);
    glfwGetWindowSize(c.window, &c.place.z, &c.place.w);
    GLFWmonitor* monitor = monitor_below(c.place);
    if (!monitor) return;
    const GLFWvidmode* mode = glfwGetVideoMode(monitor);
    glfwSetWindowMonitor(c.window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
  } else {
    glfwSetWindowMonitor(c.window, nullptr, c.place.x, c.place.y, c.place.z, c.place.w, GLFW_DONT_CARE);
  }
  c.filled = filled;
  c.pointer_known = false;
}

void Window::show() { glfwSwapBuffers(content_->window); }
void* Window::handle() const { return content_->window; }

}  // namespace trocar

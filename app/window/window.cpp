#include "app/window/window.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>

namespace trocar {
namespace {

bool is_modifier(const InputEvent& event) {
  return event.kind == InputEvent::Kind::Key && event.code >= GLFW_KEY_LEFT_SHIFT && event.code <= GLFW_KEY_RIGHT_SUPER;
}

// A key such as Enter or Delete, which works on the text that was typed before it.
bool edits(const InputEvent& event) {
  return event.kind == InputEvent::Kind::Key && event.down && event.code >= GLFW_KEY_ESCAPE && !is_modifier(event);
}

bool is_press(const InputEvent& event) {
  return event.kind == InputEvent::Kind::Key && event.down && !is_modifier(event);
}

}  // namespace

void InputQueue::add(const InputEvent& event) {
  if (event.kind == InputEvent::Kind::Motion && !waiting_.empty() && waiting_.back().kind == InputEvent::Kind::Motion)
    waiting_.back() = event;
  else
    waiting_.push_back(event);
}

void InputQueue::forget_motion() {
  std::erase_if(waiting_, [](const InputEvent& event) { return event.kind == InputEvent::Kind::Motion; });
}

// Whether the event may happen in the same picture as those before it.
bool InputQueue::fits(const InputEvent& event) const {
  const auto none = [&](auto&& is) { return std::ranges::none_of(picture_, is); };
  const auto is_motion = [](const InputEvent& one) { return one.kind == InputEvent::Kind::Motion; };
  const auto is_button = [](const InputEvent& one) { return one.kind == InputEvent::Kind::Button; };
  const auto is_text = [](const InputEvent& one) { return one.kind == InputEvent::Kind::Text; };
  const auto is_same = [&](const InputEvent& one) { return one.kind == event.kind && one.code == event.code; };
  switch (event.kind) {
    case InputEvent::Kind::Motion:
    case InputEvent::Kind::Wheel:
      return none(is_button);
    case InputEvent::Kind::Button:  // the panels first learn where the pointer is
      return none(is_same) && none(is_motion) && none(is_press) && none(is_text);
    case InputEvent::Kind::Key:
      if (!none(is_same) || !none(is_button)) return false;
      if (is_modifier(event)) return none(is_press);
      return !edits(event) || none(is_text);
    case InputEvent::Kind::Text:
      return none(is_button) && none(edits);
  }
  return true;
}

std::span<const InputEvent> InputQueue::next_picture() {
  picture_.clear();
  while (!waiting_.empty() && fits(waiting_.front())) {
    picture_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  return picture_;
}

struct Window::Content {
  GLFWwindow* window = nullptr;
  std::unique_ptr<GlContext> context;
  InputQueue queue;
  KeyLayout layout;
  std::string labels;  // of the layout, one after the other
  WindowInput input;
  // [GLFW's code] what the keys that are down mean: when they went down, and in the picture.
  std::array<Key, GLFW_KEY_LAST + 1> meaning, down;
  std::array<int, GLFW_KEY_LAST + 1> position{};  // [GLFW's code] of the key with this label
  glm::dvec2 heard{0.0};                          // pixels, where the latest event saw the pointer
  glm::dvec2 released_at{-1.0};                   // pixels, where the pointer was put when it was last released
  bool pointer_known = false, focused = false, filled = false;
  glm::ivec4 place{0};  // of the window when it does not fill the screen: left, top, width, height

  static Content& of(GLFWwindow* window) { return *static_cast<Content*>(glfwGetWindowUserPointer(window)); }
  void hear();
  void hear_key(int key, int action, int modifiers);
  void forget_motion();
  void notice_return();
  void follow_layout();
  void take(const InputEvent& event);
  void point_at(const glm::dvec2& pointer, bool known);

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

// Keys without a letter.
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
                                 {GLFW_KEY_PAGE_UP, Key::PageUp},
                                 {GLFW_KEY_PAGE_DOWN, Key::PageDown},
                                 {GLFW_KEY_INSERT, Key::Insert},
                                 {GLFW_KEY_KP_4, Key::Left},
                                 {GLFW_KEY_KP_6, Key::Right},
                                 {GLFW_KEY_KP_8, Key::Up},
                                 {GLFW_KEY_KP_2, Key::Down},
                                 {GLFW_KEY_KP_7, Key::Home},
                                 {GLFW_KEY_KP_1, Key::End},
                                 {GLFW_KEY_KP_9, Key::PageUp},
                                 {GLFW_KEY_KP_3, Key::PageDown},
                                 {GLFW_KEY_KP_5, Key::Insert},
                                 {GLFW_KEY_KP_0, Key::Space},
                                 {GLFW_KEY_DELETE, Key::Delete},
                                 {GLFW_KEY_F1, Key::F1},
                                 {GLFW_KEY_F2, Key::F2},
                                 {GLFW_KEY_F11, Key::F11},
                                 {GLFW_KEY_LEFT_CONTROL, Key::Control},
                                 {GLFW_KEY_RIGHT_CONTROL, Key::Control},
                                 {GLFW_KEY_LEFT_SHIFT, Key::Shift},
                                 {GLFW_KEY_RIGHT_SHIFT, Key::Shift}};

Key meaning_of(int glfw_key, bool control, const KeyLayout& layout) {
  for (const KeyName& name : kKeyNames)
    if (name.glfw_key == glfw_key) return name.key;
  return layout.key_at(glfw_key, control);
}

// GLFW names printable keys by what a US keyboard has at their position.
static_assert(GLFW_KEY_A == 'A' && GLFW_KEY_COMMA == ',' && GLFW_KEY_WORLD_2 == kMostPositions - 1);

std::string keyboard_label(int position) {
  const char* label = glfwGetKeyName(position, 0);
  return label ? label : "";
}

std::string labels_of_keyboard() {
  std::string labels;
  for (int letter = 'A'; letter <= 'Z'; ++letter) labels += keyboard_label(letter) + ' ';
  return labels;
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

// Notes every event with the pointer's position and the key's meaning at its time.
void Window::Content::hear() {
  input.layout = &layout;
  meaning.fill(Key::Other);
  down.fill(Key::Other);
  forget_motion();
  glfwSetKeyCallback(window, [](GLFWwindow* from, int key, int, int action, int modifiers) {
    of(from).hear_key(key, action, modifiers);
  });
  glfwSetCharCallback(window, [](GLFWwindow* from, unsigned letter) {
    of(from).queue.add({.kind = InputEvent::Kind::Text, .letter = letter});
  });
  glfwSetMouseButtonCallback(window, [](GLFWwindow* from, int button, int action, int) {
    of(from).queue.add(
        {.kind = InputEvent::Kind::Button, .code = button, .down = action == GLFW_PRESS, .pointer = of(from).heard});
  });
  glfwSetCursorPosCallback(window, [](GLFWwindow* from, double x, double y) {
    of(from).heard = {x, y};
    of(from).queue.add({.kind = InputEvent::Kind::Motion, .pointer = {x, y}});
  });
  glfwSetScrollCallback(window, [](GLFWwindow* from, double, double notches) {
    of(from).queue.add({.kind = InputEvent::Kind::Wheel, .wheel = notches});
  });
}

void Window::Content::hear_key(int key, int action, int modifiers) {
  if (action == GLFW_REPEAT || key < 0 || key > GLFW_KEY_LAST) return;
  const auto k = static_cast<std::size_t>(key);
  if (action == GLFW_PRESS) {
    meaning[k] = meaning_of(key, (modifiers & GLFW_MOD_CONTROL) != 0, layout);
    position[k] = layout.position_by_label(key);
  }
  queue.add({.kind = InputEvent::Kind::Key,
             .code = key,
             .down = action == GLFW_PRESS,
             .key = meaning[k],
             .position = position[k]});
}

// The pointer's coordinates have changed, which is no motion.
void Window::Content::forget_motion() {
  queue.forget_motion();
  glfwGetCursorPos(window, &heard.x, &heard.y);
  pointer_known = false;
}

// GLFW 3.3 on X11 reports no motion to the place where it put the released pointer, also when the pointer returns there
// later.
void Window::Content::notice_return() {
  if (heard == released_at || glfwGetInputMode(window, GLFW_CURSOR) != GLFW_CURSOR_NORMAL) return;
  glm::dvec2 now;
  glfwGetCursorPos(window, &now.x, &now.y);
  if (now != released_at) return;
  heard = now;
  queue.add({.kind = InputEvent::Kind::Motion, .pointer = now});
}

// The user may switch between layouts while the program runs.
void Window::Content::follow_layout() {
  std::string now = labels_of_keyboard();
  if (now == labels) return;
  labels = std::move(now);
  layout = KeyLayout(keyboard_label);
}

void Window::Content::point_at(const glm::dvec2& pointer, bool known) {
  if (pointer_known) input.pointer_motion += glm::dvec2(pointer.x - input.pointer.x, input.pointer.y - pointer.y);
  input.pointer = pointer;
  pointer_known = pointer_known || known;
}

void Window::Content::take(const InputEvent& event) {
  switch (event.kind) {
    case InputEvent::Kind::Motion:
      point_at(event.pointer, false);
      break;
    case InputEvent::Kind::Wheel:
      input.wheel += event.wheel;
      break;
    case InputEvent::Kind::Button:
      point_at(event.pointer, false);
      if (event.code == GLFW_MOUSE_BUTTON_LEFT) input.left_button = event.down;
      if (event.code == GLFW_MOUSE_BUTTON_RIGHT) input.right_button = event.down;
      if (event.code == GLFW_MOUSE_BUTTON_LEFT && event.down) input.left_pressed = true;
      break;
    case InputEvent::Kind::Key:
      if (event.down) input.pressed.push_back(event.key);
      down[static_cast<std::size_t>(event.code)] = event.down ? event.key : Key::Other;
      input.held.fill(false);
      for (const Key key : down) input.held[static_cast<std::size_t>(key)] = key != Key::Other;
      break;
    case InputEvent::Kind::Text:
      break;
  }
}

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
  glfwSetWindowUserPointer(content->window, content.get());
  content->hear();
  return std::unique_ptr<Window>(new Window(std::move(content)));
}

GlContext& Window::context() { return *content_->context; }

const WindowInput& Window::poll() {
  Content& c = *content_;
  c.input.pressed.clear();
  c.input.left_pressed = false;
  c.input.wheel = 0.0;
  c.input.pointer_motion = glm::dvec2(0.0);
  c.follow_layout();
  glfwPollEvents();
  c.notice_return();
  const bool focused = glfwGetWindowAttrib(c.window, GLFW_FOCUSED) == GLFW_TRUE;
  c.input.focus_lost = c.focused && !focused;
  c.focused = focused;
  bool clicked = false;
  for (const InputEvent& event : c.queue.next_picture()) {
    c.take(event);
    clicked = clicked || event.kind == InputEvent::Kind::Button;
  }
  // A click stays where the button went down; the pointer follows in the next picture.
  if (!clicked && c.queue.empty()) c.point_at(c.heard, true);
  return c.input;
}

const WindowInput& Window::input() const { return content_->input; }
std::span<const InputEvent> Window::events() const { return content_->queue.picture(); }

void Window::stay_open() { glfwSetWindowShouldClose(content_->window, GLFW_FALSE); }
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
  content_->forget_motion();
  if (!captured) content_->released_at = content_->heard;
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
  c.forget_motion();
}

void Window::show() { glfwSwapBuffers(content_->window); }
void* Window::handle() const { return content_->window; }

}  // namespace trocar

#include "app/window/interactive.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "app/device/haptic_stub.hpp"
#include "app/device/mouse_device.hpp"
#include "app/device/script_device.hpp"
#include "app/session/session_recorder.hpp"
#include "app/support/interrupt.hpp"
#include "app/view/view.hpp"
#include "app/window/overlay.hpp"
#include "app/window/window.hpp"

namespace trocar {
namespace {

using Clock = std::chrono::steady_clock;

constexpr float kOrbitPerPixel = 0.005f;  // rad
constexpr double kRollRate = 150.0;       // degrees/s, of a key held
constexpr int kNoteFrames = 180;
// The tissue is never stepped over more than this at once: on a slow machine time slows down instead.
constexpr double kLongestStep = 1.0 / 30.0;  // s

// The scope's camera turned about its target by the right button.
struct Orbit {
  float yaw = 0.f, pitch = 0.f;  // rad

  ScopePose camera(const ScopeScene& scope) const {
    const glm::vec3 back = scope.eye - scope.target;
    const glm::vec3 right = glm::normalize(glm::cross(glm::vec3(0, 1, 0), back));
    const glm::vec3 up = glm::normalize(glm::cross(back, right));
    const float distance = glm::length(back);
    const glm::vec3 turned =
        std::cos(pitch) * (std::cos(yaw) * back / distance - std::sin(yaw) * right) + std::sin(pitch) * up;
    ScopePose pose = scope_looking_at(scope.target + distance * turned, scope.target, 0.0, 0.0, scope.rod);
    pose.field_of_view_deg = scope.field_of_view_deg;
    return pose;
  }
};

struct Hands {
  std::vector<MouseDevice*> mice;  // [instrument], null where another device holds it
};

std::unique_ptr<Device> make_device(const InstrumentScene& instrument, Hands& hands) {
  hands.mice.push_back(nullptr);
  if (instrument.device == "script") return make_script_device({instrument.pivot, instrument.tip, instrument.script});
  if (instrument.device == "trajectory") return make_trajectory_device(load_trajectory(instrument.trajectory));
  if (instrument.device == "haptic") {
    const auto path =
        std::shared_ptr<Device>(make_script_device({instrument.pivot, instrument.tip, instrument.script}));
    return std::make_unique<HapticStub>(instrument.pivot, instrument.tip, [path](double time) {
      return path->pose({0, time}).tip;
    });
  }
  auto mouse = std::make_unique<MouseDevice>(instrument.pivot, instrument.tip);
  hands.mice.back() = mouse.get();
  return mouse;
}

class Interactive {
 public:
  Interactive(const Scene& scene, const InteractiveOptions& options, Window& window)
      : scene_(scene),
        options_(options),
        window_(window),
        backends_(&window.context()),
        session_(scene, backends_, options.backend,
                 options.check ? std::vector<CheckPlan>{{"obb-refit", 1}} : std::vector<CheckPlan>{},
                 [this](const InstrumentScene& instrument) { return make_device(instrument, hands_); }),
        overlay_(window) {
    drawn_organs(session_, organs_);
    view_.emplace(window.context(), organs_);
    select_next(hands_.mice.size() - 1);
    if (options.record) toggle_recording();
  }

  void run() {
    catch_interrupts();
    auto last = Clock::now();
    for (std::size_t frame = 0; !window_.closing() && !quit_ && !interrupted(); ++frame) {
      if (options_.frames > 0 && frame == options_.frames) break;
      const auto now = Clock::now();
      const double elapsed = std::chrono::duration<double>(now - last).count();
      last = now;
      state_.frame_ms += 0.1 * (elapsed * 1e3 - state_.frame_ms);
      handle_input(window_.poll(), elapsed);
      advance(frame, elapsed);
      draw();
      window_.show();
    }
    if (!options_.picture.empty()) save_screen_png(options_.picture, window_.size().x, window_.size().y);
    if (recorder_) recorder_->close();
  }

 private:
  void handle_input(const WindowInput& input, double elapsed) {
    for (const Key key : input.pressed) handle_key(key);
    use_tips(input, elapsed);
    const ScopeAxes axes = axes_of(orbit_.camera(scene_.scope));
    if (input.right_button) {
      orbit_.yaw += kOrbitPerPixel * static_cast<float>(input.pointer_motion.x);
      orbit_.pitch =
          std::clamp(orbit_.pitch - kOrbitPerPixel * static_cast<float>(input.pointer_motion.y), -1.2f, 1.2f);
      return;
    }
    if (MouseDevice* mouse = hands_.mice[state_.selected]) {
      mouse->set_screen(axes.right, axes.up);
      mouse->move(input.pointer_motion.x, input.pointer_motion.y);
      mouse->insert(input.wheel);
    }
  }

  // Jaws, pedal and roll. Jaws obey the button's way down and up only: an instrument that is left by Tab while the
  // button is down stays closed, as with a ratchet. The pedal is that of the instrument in the hand.
  void use_tips(const WindowInput& input, double elapsed) {
    const bool pedal = input.down(Key::E) || input.down(Key::Space);
    for (std::size_t k = 0; k < hands_.mice.size(); ++k)
      if (MouseDevice* mouse = hands_.mice[k]) mouse->set_energy(pedal && k == state_.selected);
    const bool button_moved = input.left_button != button_was_down_;
    button_was_down_ = input.left_button;
    MouseDevice* mouse = hands_.mice[state_.selected];
    if (!mouse) return;
    if (button_moved) mouse->set_grip(input.left_button ? 0.0 : 1.0);
    const int clockwise =
        (input.down(Key::W) || input.down(Key::Right) ? 1 : 0) - (input.down(Key::Q) || input.down(Key::Left) ? 1 : 0);
    mouse->roll(clockwise * kRollRate * std::min(elapsed, kLongestStep));
  }

  void handle_key(Key key) {
    switch (key) {
      case Key::Escape:
        quit_ = true;
        break;
      case Key::F1:
        state_.help = !state_.help;
        break;
      case Key::H:
        state_.details = !state_.details;
        break;
      case Key::Tab:
        select_next(state_.selected);
        break;
      case Key::G:
        settings_.show_touched = !settings_.show_touched;
        break;
      case Key::C:
        session_.set_checking(!session_.checking());
        break;
      case Key::R:
        toggle_recording();
        break;
      case Key::P:
        picture_wanted_ = true;
        break;
      default:
        break;
    }
  }

  void select_next(std::size_t from) {
    for (std::size_t k = 1; k <= hands_.mice.size(); ++k) {
      const std::size_t candidate = (from + k) % hands_.mice.size();
      if (hands_.mice[candidate]) {
        state_.selected = candidate;
        return;
      }
    }
  }

  void toggle_recording() {
    if (recorder_) {
      recorder_->close();
      recorder_.reset();
      note(fmt::format("recording written to {}", recording_.string()));
    } else {
      std::error_code ignored;
      std::filesystem::create_directories(options_.folder, ignored);
      recording_ = free_name("session", ".h5");
      recorder_.emplace(recording_, scene_, session_, gl_description(backends_));
    }
    state_.recording = recorder_.has_value();
  }

  // session.h5, session-2.h5, ...: never over an older one.
  std::filesystem::path free_name(const std::string& stem, const std::string& extension) const {
    for (int number = 1;; ++number) {
      const auto name = number == 1 ? stem + extension : fmt::format("{}-{}{}", stem, number, extension);
      if (!std::filesystem::exists(options_.folder / name)) return options_.folder / name;
    }
  }

  void advance(std::size_t frame, double elapsed) {
    const double dt = frame == 0 ? 1.0 / scene_.frame_rate : std::clamp(elapsed, 1e-4, kLongestStep);
    time_ += dt;
    session_.step({frame, time_}, dt);
    if (recorder_) recorder_->append(session_, time_);
    if (note_frames_ > 0 && --note_frames_ == 0) state_.note.clear();
  }

  void draw() {
    drawn_organs(session_, organs_);
    drawn_tools(session_, tools_);
    const glm::ivec2 size = window_.size();
    settings_.time = time_;
    view_->draw(organs_, tools_, orbit_.camera(scene_.scope), scene_.scope.lens, {}, settings_, size.x, size.y);
    if (picture_wanted_) save_picture(size);
    overlay_.draw(session_, state_);
  }

  void save_picture(const glm::ivec2& size) {
    picture_wanted_ = false;
    std::error_code ignored;
    std::filesystem::create_directories(options_.folder, ignored);
    const auto file = free_name("picture", ".png");
    save_screen_png(file, size.x, size.y);
    note(fmt::format("picture saved to {}", file.string()));
  }

  void note(std::string text) {
    state_.note = std::move(text);
    note_frames_ = kNoteFrames;
  }

  Scene scene_;
  InteractiveOptions options_;
  Window& window_;
  Backends backends_;
  Hands hands_;
  Session session_;
  std::optional<SessionRecorder> recorder_;
  std::filesystem::path recording_;
  std::vector<DrawnOrgan> organs_;
  std::vector<DrawnTool> tools_;
  std::optional<View> view_;
  Overlay overlay_;
  OverlayState state_;
  ViewSettings settings_;
  Orbit orbit_;
  double time_ = 0.0;
  int note_frames_ = 0;
  bool quit_ = false, picture_wanted_ = false, button_was_down_ = false;
};

}  // namespace

bool run_interactive(const Scene& scene, const InteractiveOptions& options, std::string& why) {
  const auto window =
      Window::open(scene.title.empty() ? "Trocar" : "Trocar: " + scene.title, options.width, options.height, why);
  if (!window) return false;
  Interactive(scene, options, *window).run();
  return true;
}

}  // namespace trocar

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "app/window/input/hands.hpp"
#include "tests/mouse/mouse_hand.hpp"

namespace trocar::test {
namespace {

constexpr double kFine = 0.25;         // 1    of all movements, while Shift is held
constexpr double kNear = 0.006;        // m    from here on, movements are fine
constexpr double kMostPixels = 40.0;   // px   in a picture
constexpr double kReached = 0.0008;    // m
constexpr double kMoved = 0.0012;      // m    another instrument is taken when it is this far from its pose
constexpr double kTurned = 2.0;        // deg
constexpr double kTurnedFar = 10.0;    // deg
constexpr double kJaws = 0.3;          // 1    wanted aperture below which a handle is closed
constexpr int kFirm = 20, kClick = 4;  // pictures

void hold(Key key, WindowInput& input) { input.held[static_cast<std::size_t>(key)] = true; }

double whole(double value, double most) { return std::clamp(std::round(value), -most, most); }

}  // namespace

MouseHand::MouseHand(const Scene& scene) {
  for (const InstrumentScene& instrument : scene.instruments) {
    devices_.push_back(make_window_device(instrument, hands_));
    handles_.push_back({instrument.kind != InstrumentKind::Scissors, false, 0});
  }
  scope_ = make_window_scope(scene.scope, scene.file.parent_path(), hands_);
}

DevicePose MouseHand::rest_pose(std::size_t instrument) {
  constexpr double kLong = 10.0;  // s  many time constants of the smoothing
  return devices_[instrument]->pose({0, time_ += kLong});
}

// Is the instrument away from its pose, or its handle or pedal not as wanted?
bool MouseHand::busy(const DevicePose& wanted, std::size_t k) {
  return glm::distance(rest_pose(k).tip, wanted.tip) > kMoved || (wanted.grip < kJaws) != handles_[k].closed ||
         wanted.energy != Diathermy::Off;
}

// The handle's swing that brings the shaft to the wanted direction: the sum of a movement across the picture and the
// old direction is parallel to the new one. The tip moves against the hand.
void MouseHand::swing(const DevicePose& now, const DevicePose& wanted, const ScopeAxes& axes,
                      WindowInput& input) const {
  const glm::dvec3 from = glm::normalize(now.tip - now.pivot), to = glm::normalize(wanted.tip - wanted.pivot);
  const double facing = glm::dot(to, axes.forward);
  const double scale = std::abs(facing) > 0.05 ? glm::dot(from, axes.forward) / facing : 1.0;
  const glm::dvec3 across = from - scale * to;
  const double per_pixel = MouseParams().swing_per_pixel * (input.down(Key::Shift) ? kFine : 1.0);
  input.pointer_motion = {whole(glm::dot(across, axes.right) / per_pixel, kMostPixels),
                          whole(glm::dot(across, axes.up) / per_pixel, kMostPixels)};
}

void MouseHand::work_jaws(bool close, Handle& handle, WindowInput& input) {
  if (!handle.ratchet) {
    handle.closed = close;
    input.left_button = close;
    return;
  }
  if (handle.pictures_down == 0 && close == handle.closed) return;
  const int needed = handle.closed ? kClick : kFirm;
  input.left_button = handle.pictures_down < needed;
  if (input.left_button)
    ++handle.pictures_down;
  else
    handle.closed = !handle.closed, handle.pictures_down = 0;
}

WindowInput MouseHand::reach(std::span<const DevicePose> wanted, const ScopeAxes& axes) {
  WindowInput input;
  const std::size_t k = hands_.in_hand();
  if (k >= wanted.size()) {  // the scope
    input.pressed.push_back(Key::Tab);
    return input;
  }
  Handle& handle = handles_[k];
  const DevicePose now = rest_pose(k);
  const double left = glm::distance(now.tip, wanted[k].tip);
  if (left < kReached && handle.pictures_down == 0 && !busy(wanted[k], k))
    for (std::size_t other = 0; other < wanted.size(); ++other)
      if (other != k && busy(wanted[other], other)) {
        input.pressed.push_back(Key::Tab);
        return input;
      }
  const double turn = wanted[k].roll_deg - now.roll_deg;
  if (left < kNear && std::abs(turn) < kTurnedFar) hold(Key::Shift, input);
  const double fine = input.down(Key::Shift) ? kFine : 1.0;
  swing(now, wanted[k], axes, input);
  const double deeper = glm::distance(wanted[k].tip, wanted[k].pivot) - glm::distance(now.tip, now.pivot);
  input.wheel = whole(deeper / (fine * MouseParams().insert_per_notch), 1.0);
  if (std::abs(turn) > kTurned * fine) hold(turn > 0.0 ? Key::W : Key::Q, input);
  if (wanted[k].energy == Diathermy::Cut) hold(Key::E, input);
  if (wanted[k].energy == Diathermy::Coagulate) hold(Key::R, input);
  work_jaws(wanted[k].grip < kJaws, handle, input);
  return input;
}

void MouseHand::felt(const WindowInput& input, const ScopeAxes& axes, double elapsed) {
  if (std::ranges::count(input.pressed, Key::Tab) > 0) hands_.take_next();
  WindowInput moved = input;
  moved.left_button = moved.left_pressed = false;
  hands_.move(moved, axes, elapsed, {});
  constexpr double kLong = 10.0;  // s  in which an instrument takes all notches of the wheel
  hands_.move({}, axes, kLong, {});
}

namespace {

std::unique_ptr<Practice> practice_in(const std::filesystem::path& folder, const Scene& scene, GlContext* window) {
  PracticePlan plan;
  plan.backend = "scan", plan.folder = folder;
  return std::make_unique<Practice>(scene, plan, window);
}

// The pixels and notches make the hand unsteady enough.
HandStyle steady() {
  HandStyle style = style_of(Skill::Expert);
  style.tremor = style.sway = 0.0;
  return style;
}

}  // namespace

MouseAttempt::MouseAttempt(const Scene& scene, std::uint32_t seed, const std::filesystem::path& folder,
                           GlContext* window)
    : tick_(1.0 / scene.frame_rate),
      screen_(practice_in(folder, scene, window), settings_, ghost_, folder, window),
      expert_(scene, steady(), seed),
      hand_(scene) {
  settings_.quality = Quality::Low;
  hand_.take(practice().hands().in_hand());
  for (const InstrumentScene& instrument : scene.instruments) wanted_.push_back(expert_.device_of(instrument.name));
  expert_.begin(stage_of(practice().session()), practice().task()->marks());
}

WindowInput MouseAttempt::next_input() {
  if (hand_.in_hand() != practice().hands().in_hand()) throw std::logic_error("another instrument is in the hand");
  Session& session = practice().session();
  if (session.frames() > frames_) expert_.see(observer_.observe(session, practice().time()), practice().task()->feed());
  frames_ = session.frames();
  std::vector<DevicePose> poses;
  for (const auto& device : wanted_) poses.push_back(device->pose({}));
  return hand_.reach(poses, axes_of(session.scope().pose));
}

bool MouseAttempt::step(const WindowInput& arrived, double elapsed) {
  const ScopeAxes axes = axes_of(practice().session().scope().pose);
  count(arrived);
  screen_.step(arrived, elapsed, true);
  hand_.felt(arrived, axes, double(practice().session().frames() - frames_) * tick_);
  return practice().phase() == Phase::Running;
}

void MouseAttempt::count(const WindowInput& input) {
  ++counts_.pictures;
  counts_.tabs += static_cast<std::size_t>(std::ranges::count(input.pressed, Key::Tab));
  counts_.presses += input.left_button && !was_down_;
  counts_.notches += static_cast<std::size_t>(std::abs(input.wheel));
  counts_.pixels += glm::length(input.pointer_motion);
  was_down_ = input.left_button;
}

}  // namespace trocar::test

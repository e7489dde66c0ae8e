#include "sim/device/mouse_device.hpp"

#include <algorithm>

#include "geometry/elementary.hpp"

namespace trocar {

void GripRatchet::press(double time) {
  pressed_ = true;
  pressed_at_ = time;
  was_closed_ = closed_;
  if (!closed_) firm_ = false;
  closed_ = true;
}

void GripRatchet::advance(double time) {
  if (pressed_ && time - pressed_at_ >= params_.click) firm_ = true;
}

void GripRatchet::release(double time) {
  if (!pressed_) return;
  advance(time);
  if (was_closed_ && time - pressed_at_ < params_.click) closed_ = false;
  let_go();
}

void GripRatchet::let_go() {
  pressed_ = false;
  if (!params_.latches) closed_ = false;
}

namespace {

RatchetParams ratchet_of(const HeldTool& tool, RatchetParams params) {
  params.latches = params.latches && tool.ratchet;
  return params;
}

}  // namespace

MouseDevice::MouseDevice(const HeldTool& tool, const MouseParams& params)
    : HandDevice(tool, params.fulcrum), params_(params), ratchet_(ratchet_of(tool, params.ratchet)) {}

MouseDevice::MouseDevice(const glm::dvec3& pivot, const glm::dvec3& tip, const MouseParams& params)
    : MouseDevice(HeldTool{pivot, tip, glm::dvec3(0.0), {}, 0.0}, params) {}

void MouseDevice::move(double right_pixels, double up_pixels) {
  swing(params_.swing_per_pixel * right_pixels, params_.swing_per_pixel * up_pixels);
}

DevicePose MouseDevice::pose(const FrameClock& clock) {
  const double dt = started_ ? std::max(clock.time - time_, 0.0) : 0.0;
  time_ = clock.time;
  started_ = true;
  ratchet_.advance(time_);
  const double travel = dt / params_.jaw_travel;
  grip_ = ratchet_.closed() ? std::max(grip_ - travel, 0.0) : std::min(grip_ + travel, 1.0);
  set_jaws(grip_);
  DevicePose pose = follow(params_.smoothing > 0.0 ? 1.0 - elementary::exp(-dt / params_.smoothing) : 1.0);
  pose.grip_force = ratchet_.force();
  return pose;
}

namespace {

constexpr double kRollRate = 150.0;   // degrees/s, while a key is held
constexpr double kFine = 0.25;        // 1          of all movements
constexpr double kInsertRate = 10.0;  // notches/s  while a key is held
constexpr double kWheelTime = 0.06;   // s          time constant with which an instrument takes notches of the wheel

}  // namespace

void MouseHands::set_scope(MouseDevice* scope) {
  scope_ = scope;
  in_hand_ = mice_.size();
  take_next();
}

void MouseHands::take_next() {
  const std::size_t count = mice_.size() + 1;
  for (std::size_t k = 1; k <= count; ++k) {
    const std::size_t candidate = (in_hand_ + k) % count;
    if (candidate < mice_.size() ? mice_[candidate] != nullptr : scope_ != nullptr) {
      in_hand_ = candidate;
      return;
    }
  }
  in_hand_ = count;
}

void MouseHands::take(std::size_t number) {
  const bool moved = number < mice_.size() ? mice_[number] != nullptr : number == mice_.size() && scope_ != nullptr;
  if (moved) in_hand_ = number;
}

MouseDevice* MouseHands::held(bool scope) const {
  if (scope && scope_) return scope_;
  return in_hand_ < mice_.size() ? mice_[in_hand_] : in_hand_ == mice_.size() ? scope_ : nullptr;
}

void MouseHands::rest() {
  for (MouseDevice* mouse : mice_)
    if (mouse) mouse->set_energy(Diathermy::Off);
  if (pressed_) pressed_->let_go();
  pressed_ = nullptr;
  notches_ = 0.0;
}

// A press belongs to the instrument that was selected when it began, even if another one is selected meanwhile. The
// button may go down and up again between two pictures.
void MouseHands::work_jaws(const HandInput& input) {
  const bool went_down = input.jaws_pressed || (input.jaws_down && !button_was_down_);
  button_was_down_ = input.jaws_down;
  if (pressed_ && (went_down || !input.jaws_down)) {
    pressed_->release();
    pressed_ = nullptr;
  }
  MouseDevice* mouse = held(false);
  if (!went_down || !mouse || mouse == scope_) return;
  mouse->press();
  if (input.jaws_down) {
    pressed_ = mouse;
  } else {
    mouse->release();
  }
}

void MouseHands::push(MouseDevice& mouse, const HandInput& input, double elapsed, double speed) {
  if (turned_ != &mouse) {
    if (turned_) turned_->insert(notches_);  // they were turned for it
    turned_ = &mouse, notches_ = 0.0;
  }
  notches_ += speed * input.wheel;
  const double taken = notches_ * (1.0 - elementary::exp(-elapsed / kWheelTime));
  notches_ -= taken;
  mouse.insert(taken + speed * input.insert * kInsertRate * elapsed);
}

// The pedals belong to the selected instrument.
void MouseHands::move(const HandInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings) {
  const Diathermy pedal = pedals(input.cut, input.coagulate);
  for (std::size_t k = 0; k < mice_.size(); ++k)
    if (mice_[k]) mice_[k]->set_energy(k == in_hand_ ? pedal : Diathermy::Off);
  work_jaws(input);
  MouseDevice* mouse = held(input.scope);
  if (!mouse) return;
  mouse->set_screen(axes.right, axes.up);
  mouse->set_fulcrum(settings.fulcrum);
  const double fine = input.fine ? kFine : 1.0, speed = fine * settings.speed;
  mouse->move(speed * input.motion.x, speed * input.motion.y);
  push(*mouse, input, elapsed, speed);
  mouse->roll(fine * input.roll * kRollRate * elapsed);
}

}  // namespace trocar

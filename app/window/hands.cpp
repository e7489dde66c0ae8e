#include "app/window/hands.hpp"

#include <cmath>

namespace trocar {
namespace {

constexpr double kRollRate = 150.0;   // degrees/s, while a key is held
constexpr double kFine = 0.25;        // 1          of all movements, while Shift is held
constexpr double kInsertRate = 10.0;  // notches/s  while a key is held
constexpr double kWheelTime = 0.06;   // s          time constant with which an instrument takes notches of the wheel

int keys(const WindowInput& input, Key more, Key less) {
  return (input.down(more) ? 1 : 0) - (input.down(less) ? 1 : 0);
}

}  // namespace

void Hands::set_scope(MouseDevice* scope) {
  scope_ = scope;
  in_hand_ = mice_.size();
  take_next();
}

void Hands::take_next() {
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

void Hands::take(std::size_t number) {
  const bool moved = number < mice_.size() ? mice_[number] != nullptr : number == mice_.size() && scope_ != nullptr;
  if (moved) in_hand_ = number;
}

MouseDevice* Hands::held(bool scope) const {
  if (scope && scope_) return scope_;
  return in_hand_ < mice_.size() ? mice_[in_hand_] : in_hand_ == mice_.size() ? scope_ : nullptr;
}

void Hands::rest() {
  for (MouseDevice* mouse : mice_)
    if (mouse) mouse->set_energy(Diathermy::Off);
  if (pressed_) pressed_->let_go();
  pressed_ = nullptr;
  notches_ = 0.0;
}

void Hands::tell(const ScopeAxes& axes, const HandSettings& settings) {
  for (HandDevice* hand : devices_.hands) {
    hand->set_screen(axes.right, axes.up);
    hand->set_fulcrum(settings.fulcrum);
  }
}

// A press belongs to the instrument that was selected when it began, even if Tab selects another one meanwhile. The
// button may go down and up again between two polls.
void Hands::work_jaws(const WindowInput& input) {
  const bool went_down = input.left_pressed || (input.left_button && !button_was_down_);
  button_was_down_ = input.left_button;
  if (pressed_ && (went_down || !input.left_button)) {
    pressed_->release();
    pressed_ = nullptr;
  }
  MouseDevice* mouse = held(false);
  if (!went_down || !mouse || mouse == scope_) return;
  mouse->press();
  if (input.left_button) {
    pressed_ = mouse;
  } else {
    mouse->release();
  }
}

// The pedals belong to the selected instrument.
void Hands::move(const WindowInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings) {
  tell(axes, settings);
  const Diathermy pedal = pedals(input.down(Key::E) || input.down(Key::Space), input.down(Key::R));
  for (std::size_t k = 0; k < mice_.size(); ++k)
    if (mice_[k]) mice_[k]->set_energy(k == in_hand_ ? pedal : Diathermy::Off);
  work_jaws(input);
  MouseDevice* mouse = held(input.right_button);
  if (!mouse) return;
  mouse->set_screen(axes.right, axes.up);
  mouse->set_fulcrum(settings.fulcrum);
  const double fine = input.down(Key::Shift) ? kFine : 1.0, speed = fine * settings.speed;
  mouse->move(speed * input.pointer_motion.x, speed * input.pointer_motion.y);
  if (turned_ != mouse) {
    if (turned_) turned_->insert(notches_);  // they were turned for it
    turned_ = mouse, notches_ = 0.0;
  }
  notches_ += speed * input.wheel;
  const double taken = notches_ * (1.0 - std::exp(-elapsed / kWheelTime));
  notches_ -= taken;
  mouse->insert(taken + speed * keys(input, Key::Up, Key::Down) * kInsertRate * elapsed);
  const int clockwise =
      (input.down(Key::W) || input.down(Key::Right) ? 1 : 0) - (input.down(Key::Q) || input.down(Key::Left) ? 1 : 0);
  mouse->roll(fine * clockwise * kRollRate * elapsed);
}

}  // namespace trocar

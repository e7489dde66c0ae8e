#include "sim/device/grip_ratchet.hpp"

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

}  // namespace trocar

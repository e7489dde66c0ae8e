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

void GripRatchet::open() { pressed_ = was_closed_ = closed_ = firm_ = false; }

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

double share_of_way(double at) {
  const double t = std::clamp(at, 0.0, 1.0);
  return t * t * (3.0 - 2.0 * t);
}

void MouseDevice::withdraw(double less_deep, bool at_once) {
  if (!leaving_) {
    ratchet_.open();
    set_pedal(Diathermy::Off);
    push(-less_deep);
  }
  leaving_ = true;
  if (at_once) way_ = 1.0;
}

void MouseDevice::bring_in() { leaving_ = false; }

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
  // Open jaws let go before the instrument leaves.
  if (leaving_ && grip_ >= 1.0) way_ = std::min(way_ + dt / params_.travel, 1.0);
  if (!leaving_ && way_ > 0.0) way_ = std::max(way_ - dt / params_.travel, 0.0);
  if (way_ > 0.0) {
    const glm::dvec3 shaft = pose.tip - pose.pivot;
    const double depth = glm::length(shaft), out = limits().shallowest;
    pose.tip = pose.pivot + (depth + share_of_way(way_) * (out - depth)) / depth * shaft;
  }
  return pose;
}

namespace {

constexpr double kWheelTime = 0.06;  // s  time constant with which an instrument takes notches of the wheel
constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

}  // namespace

void MouseHands::add(MouseDevice* instrument, const HeldKind& kind) {
  mice_.push_back(instrument);
  kinds_.push_back(kind);
  chosen_.push_back(false);
}

void MouseHands::set_scope(MouseDevice* scope) {
  scope_ = scope;
  hand(HandSide::Other).holds = kNothing;
  hand(HandSide::Main).holds = mice_.size();
  take_next();
}

bool MouseHands::can_take(std::size_t number) const {
  return number < mice_.size() ? mice_[number] != nullptr : number == mice_.size() && scope_ != nullptr;
}

bool MouseHands::share_port(std::size_t a, std::size_t b) const {
  return a < kinds_.size() && b < kinds_.size() && !kinds_[a].port.empty() && kinds_[a].port == kinds_[b].port;
}

HandSide MouseHands::side_for(std::size_t number) const {
  const std::size_t other = in_hand(HandSide::Other);
  return both_ && (other == number || share_port(other, number)) ? HandSide::Other : HandSide::Main;
}

void MouseHands::use_other_hand(bool used) {
  if (used == both_) return;
  both_ = used;
  Hand& other = hand(HandSide::Other);
  other.holds = kNothing;
  if (used) take_next(HandSide::Other);
}

// The other hand takes only what is free: neither in the main hand nor of a port that this has.
void MouseHands::take_next(HandSide side) {
  const std::size_t count = mice_.size() + 1, main = in_hand();
  Hand& hand = this->hand(side);
  const std::size_t from = hand.holds < count ? hand.holds : count - 1;
  for (std::size_t k = 1; k <= count; ++k) {
    const std::size_t candidate = (from + k) % count;
    if (!can_take(candidate)) continue;
    if (side == HandSide::Other && (candidate == main || share_port(candidate, main))) continue;
    return take(candidate, side);
  }
  if (side == HandSide::Main) hand.holds = count;
}

void MouseHands::take(std::size_t number, HandSide side) {
  if (!can_take(number)) return;
  Hand &takes = hand(side), &gives = hand(side == HandSide::Main ? HandSide::Other : HandSide::Main);
  const std::size_t before = takes.holds;
  takes.holds = number;
  if (!both_) return;
  if (gives.holds == number || share_port(gives.holds, number))
    gives.holds = can_take(before) && !share_port(before, number) && before != number ? before : kNothing;
}

MouseDevice* MouseHands::held(const Hand& hand, bool scope) const {
  if (scope && scope_) return scope_;
  return hand.holds < mice_.size() ? mice_[hand.holds] : hand.holds == mice_.size() ? scope_ : nullptr;
}

void MouseHands::rest() {
  for (MouseDevice* mouse : mice_)
    if (mouse) mouse->set_energy(Diathermy::Off);
  for (Hand& hand : hands_) {
    if (hand.pressed) hand.pressed->let_go();
    hand.pressed = nullptr;
    hand.notches = 0.0;
  }
}

// A press belongs to the instrument that was selected when it began, even if another one is selected meanwhile. The
// button may go down and up again between two pictures.
void MouseHands::work_jaws(Hand& hand, const HandInput& input) {
  const bool went_down = input.jaws_pressed || (input.jaws_down && !hand.button_was_down);
  hand.button_was_down = input.jaws_down;
  if (hand.pressed && (went_down || !input.jaws_down)) {
    hand.pressed->release();
    hand.pressed = nullptr;
  }
  MouseDevice* mouse = held(hand, false);
  if (!went_down || !mouse || mouse == scope_ || mouse->is_leaving()) return;
  mouse->press();
  if (input.jaws_down) {
    hand.pressed = mouse;
  } else {
    mouse->release();
  }
}

void MouseHands::push(Hand& hand, MouseDevice& mouse, const HandInput& input, double elapsed, double speed) {
  if (hand.turned != &mouse) {
    if (hand.turned) hand.turned->insert(hand.notches);  // they were turned for it
    hand.turned = &mouse, hand.notches = 0.0;
  }
  hand.notches += speed * input.wheel;
  const double taken = hand.notches * (1.0 - elementary::exp(-elapsed / kWheelTime));
  hand.notches -= taken;
  const double notches_per_second = rates_.insert / MouseParams().insert_per_notch;
  mouse.insert(taken + speed * input.insert * notches_per_second * elapsed);
}

void MouseHands::press_pedals(const HandInput& main, const HandInput& other) {
  const Diathermy pedal = pedals(main.cut || other.cut, main.coagulate || other.coagulate);
  const std::size_t first = in_hand(), second = in_hand(HandSide::Other);
  const bool to_other =
      second < kinds_.size() && kinds_[second].pedal && !(first < kinds_.size() && kinds_[first].pedal);
  const std::size_t worked = to_other ? second : first;
  for (std::size_t k = 0; k < mice_.size(); ++k)
    if (mice_[k]) mice_[k]->set_energy(k == worked && !mice_[k]->is_leaving() ? pedal : Diathermy::Off);
}

// An instrument comes in when those that share its port are out. At the start, those that are not in a hand are out;
// the first time they come to their place of the scene.
void MouseHands::exchange() {
  for (std::size_t k = 0; k < mice_.size(); ++k) {
    if (!mice_[k] || kinds_[k].port.empty()) continue;
    const bool in_a_hand = k == in_hand() || k == in_hand(HandSide::Other);
    bool rival_in_hand = false, rival_chosen = false, rival_inside = false;
    for (std::size_t other = 0; other < mice_.size(); ++other) {
      if (other == k || !mice_[other] || !share_port(k, other)) continue;
      rival_in_hand |= other == in_hand() || other == in_hand(HandSide::Other);
      rival_chosen |= chosen_[other];
      rival_inside |= !mice_[other]->is_out();
    }
    // While no hand holds one of them, the last one stays in; at the start that is the first.
    chosen_[k] = in_a_hand || (!rival_in_hand && (chosen_[k] || (!began_ && !rival_chosen)));
    if (!chosen_[k])
      mice_[k]->withdraw(began_ ? exchange_.less_deep : 0.0, !began_);
    else if (!rival_inside)
      mice_[k]->bring_in();
    else if (began_)
      mice_[k]->withdraw(exchange_.less_deep);
  }
  began_ = true;
}

void MouseHands::move_hand(Hand& hand, const HandInput& input, const ScopeAxes& axes, double elapsed,
                           const HandSettings& settings) {
  work_jaws(hand, input);
  MouseDevice* mouse = held(hand, input.scope);
  if (!mouse) return;
  mouse->set_screen(axes.right, axes.up);
  mouse->set_fulcrum(settings.fulcrum);
  const double fine = input.fine ? rates_.fine : 1.0, speed = fine * settings.speed;
  mouse->move(speed * input.motion.x, speed * input.motion.y);
  const bool swings = input.swing != glm::dvec2(0.0);
  if (swings) {
    const double risen = rates_.slow_start > 0.0 ? std::min(hand.keys_held / rates_.slow_start, 1.0) : 1.0;
    const double share = input.slow_start ? rates_.start + (1.0 - rates_.start) * risen : 1.0;
    const double swung = fine * share * glm::radians(rates_.swing_deg) * elapsed;
    mouse->swing_by(swung * input.swing.x, swung * input.swing.y);
  }
  hand.keys_held = swings ? hand.keys_held + elapsed : 0.0;
  push(hand, *mouse, input, elapsed, speed);
  mouse->roll(fine * input.roll * rates_.roll_deg * elapsed);
}

void MouseHands::move(const HandInput& main, const HandInput& other, const ScopeAxes& axes, double elapsed,
                      const HandSettings& settings) {
  exchange();
  press_pedals(main, other);
  move_hand(hand(HandSide::Main), main, axes, elapsed, settings);
  if (both_) move_hand(hand(HandSide::Other), other, axes, elapsed, settings);
}

void MouseHands::move_scope(const HandInput& input, const ScopeAxes& axes, double elapsed,
                            const HandSettings& settings) {
  HandInput of_scope = input;
  of_scope.scope = true;
  of_scope.jaws_down = of_scope.jaws_pressed = false;
  assistant_.holds = mice_.size();
  if (scope_) move_hand(assistant_, of_scope, axes, elapsed, settings);
}

}  // namespace trocar

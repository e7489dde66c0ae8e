#include "app/window/input/hands.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <charconv>

#include "geometry/error.hpp"
#include "geometry/translate.hpp"

namespace trocar {
namespace {

bool fits(const GamepadInfo& pad, const std::string& which) {
  if (which.empty()) return true;
  int number = 0;
  const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), number);
  if (error == std::errc{} && end == which.data() + which.size()) return pad.number == number;
  return pad.name.find(which) != std::string::npos;
}

// Returns true when other code, for example a window, has initialised GLFW. GLFW does not count its users:
// glfwTerminate() ends it for all of them.
bool glfw_runs() { return glfwGetTimerFrequency() != 0; }

// Returns GLFW's number of the gamepad that matches `which`, or -1 when there is none.
int find_gamepad(const std::string& which) {
  for (const GamepadInfo& pad : list_gamepads())
    if (pad.mapped && fits(pad, which)) return GLFW_JOYSTICK_1 + pad.number - 1;
  return -1;
}

}  // namespace

std::vector<GamepadInfo> list_gamepads() {
  std::vector<GamepadInfo> pads;
  for (int id = GLFW_JOYSTICK_1; id <= GLFW_JOYSTICK_LAST; ++id) {
    if (!glfwJoystickPresent(id)) continue;
    const bool mapped = glfwJoystickIsGamepad(id) == GLFW_TRUE;
    const char* name = mapped ? glfwGetGamepadName(id) : glfwGetJoystickName(id);
    pads.push_back({id - GLFW_JOYSTICK_1 + 1, name ? name : "unnamed", mapped});
  }
  return pads;
}

std::optional<std::vector<GamepadInfo>> gamepads_of_this_machine() {
  if (glfw_runs()) return list_gamepads();
  if (!glfwInit()) return std::nullopt;
  auto pads = list_gamepads();
  glfwTerminate();
  return pads;
}

GamepadSource glfw_gamepad(const std::string& which) {
  // While no gamepad matches, searches only once per kLookEvery calls (a second at 60 frames per second).
  return [which, id = -1, calls = 0]() mutable {
    constexpr int kLookEvery = 60;
    GamepadState state;
    GLFWgamepadstate read{};
    if (id < 0 && calls++ % kLookEvery == 0) id = find_gamepad(which);
    if (id < 0 || !glfwGetGamepadState(id, &read)) {
      id = -1;
      return state;
    }
    state.connected = true;
    std::copy(std::begin(read.axes), std::end(read.axes), state.axes.begin());
    std::transform(std::begin(read.buttons), std::end(read.buttons), state.buttons.begin(),
                   [](unsigned char pressed) { return pressed == GLFW_PRESS; });
    return state;
  };
}

namespace {

std::unique_ptr<EvdevMouse> open_second_mouse(const std::string& which) {
  return std::make_unique<EvdevMouse>(find_mouse(list_mice(), which));
}

// An instrument that shares its device with others stands still while another one follows the device. Its device is not
// read meanwhile; the guard brings the instrument back to it smoothly.
class SharedDevice final : public Device {
 public:
  SharedDevice(std::unique_ptr<Device> device, const Hands& hands, std::size_t number)
      : device_(std::move(device)), hands_(hands), number_(number) {}

  DevicePose pose(const FrameClock& clock) override {
    if (!parked()) last_ = device_->pose(clock);
    return last_;
  }
  DeviceHealth health() const override { return parked() ? DeviceHealth::Stale : device_->health(); }
  void suspend() override { device_->suspend(); }
  void feel(const Felt& felt) override { device_->feel(felt); }

 private:
  bool parked() const { return hands_.is_parked(number_); }

  std::unique_ptr<Device> device_;
  const Hands& hands_;
  std::size_t number_;
  DevicePose last_;
};

// Devices of which each instrument has its own: a script and a recorded motion; or that are alone: a SpaceMouse.
bool can_be_shared(const InstrumentScene& instrument) {
  return instrument.device == "gamepad" || instrument.device == "igtl";
}

}  // namespace

void Hands::choose(HandsBy by, CameraBy camera, const std::string& second_mouse) {
  if (by == by_ && camera == camera_ && second_mouse == which_) return;
  by_ = by, camera_ = camera, which_ = second_mouse;
  mouse_.reset();
  tried_ = false;
  fault_.clear();
  use_other_hand(moves_two_hands(by));
}

void Hands::set_hardware(GamepadSource pad, std::function<std::unique_ptr<EvdevMouse>(const std::string&)> open_mouse) {
  pad_ = std::move(pad);
  open_mouse_ = std::move(open_mouse);
}

void Hands::read_devices() {
  fault_ = hands_fault(by_, camera_);
  state_.pad_before = state_.pad;
  if (by_ == HandsBy::TwoSticks || camera_ == CameraBy::Gamepad) {
    if (!pad_) pad_ = glfw_gamepad("");
    state_.pad = pad_();
    if (!state_.pad.connected)
      fault_ = tr("No gamepad is connected; connect one, or choose other hands in the settings (F2)");
  }
  if (by_ != HandsBy::TwoMice && camera_ != CameraBy::SecondMouse) return;
  if (!mouse_ && !tried_) open_mouse();
  state_.second_mouse = mouse_ ? mouse_->read() : MouseCounts{};
  if (!mouse_)
    fault_ = mouse_fault_;
  else if (!state_.second_mouse.connected)
    fault_ = tr("The second mouse is disconnected; connect it, pause and go on");
}

void Hands::open_mouse() {
  tried_ = true;
  try {
    mouse_ = open_mouse_ ? open_mouse_(which_) : open_second_mouse(which_);
  } catch (const InputError& error) {
    mouse_fault_ = error.what();
    if (mouse_fault_[0] >= 'a' && mouse_fault_[0] <= 'z')
      mouse_fault_[0] = static_cast<char>(mouse_fault_[0] - 'a' + 'A');
  }
}

void Hands::rest() {
  MouseHands::rest();
  mouse_.reset();
  tried_ = false;
}

void Hands::take(std::size_t number, HandSide side) {
  MouseHands::take(number, side);
  if (number >= sources_.size() || sources_[number].empty()) return;
  for (std::size_t k = 0; k < sources_.size(); ++k)
    if (sources_[k] == sources_[number]) parked_[k] = k != number;
}

bool Hands::is_parked(std::size_t number) const { return number < parked_.size() && parked_[number]; }

void Hands::add_other(const std::string& source) {
  const bool shared = !source.empty() && std::ranges::find(sources_, source) != sources_.end();
  sources_.push_back(source);
  parked_.push_back(shared);
}

void Hands::tell(const ScopeAxes& axes, const HandSettings& settings) {
  for (HandDevice* hand : devices_.rates) {
    hand->set_screen(axes.right, axes.up);
    hand->set_fulcrum(settings.fulcrum);
  }
}

void Hands::move(const WindowInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings) {
  tell(axes, settings);
  read_devices();
  const HandsInput hands = hands_input(by_, camera_, input, state_);
  if (hands.main_next) take_next();
  if (hands.other_next) take_next(HandSide::Other);
  MouseHands::move(hands.main, hands.other, axes, elapsed, settings);
  MouseHands::move_scope(hands.scope, axes, elapsed, settings);
}

std::unique_ptr<Device> make_window_device(const InstrumentScene& instrument, Hands& hands) {
  auto device = make_device(instrument, hands.devices());
  const std::size_t number = hands.devices().mice.size() - 1;
  const bool pedal = instrument.kind == InstrumentKind::Hook || instrument.kind == InstrumentKind::Suction;
  hands.add(hands.devices().mice.back(), {instrument.port, pedal});
  const bool shared = can_be_shared(instrument);
  hands.add_other(shared ? instrument.device + ":" + instrument.source : "");
  if (!shared) return device;
  return std::make_unique<SharedDevice>(std::move(device), hands, number);
}

std::unique_ptr<Device> make_window_scope(const ScopeScene& scope, const std::filesystem::path& folder, Hands& hands) {
  auto device = make_scope_device(scope, folder, hands.devices());
  hands.set_scope(hands.devices().scope_mouse);
  return device;
}

}  // namespace trocar

#include "app/window/window_devices.hpp"

#include "app/device/haptic_stub.hpp"
#include "app/device/script_device.hpp"

namespace trocar {

std::unique_ptr<Device> make_window_device(const InstrumentScene& instrument, Hands& hands) {
  if (instrument.device == "mouse") {
    auto mouse = std::make_unique<MouseDevice>(instrument.pivot, instrument.tip);
    hands.add(mouse.get());
    return mouse;
  }
  hands.add(nullptr);
  if (instrument.device == "trajectory") return make_trajectory_device(load_trajectory(instrument.trajectory));
  if (instrument.device == "haptic") {
    const auto path =
        std::shared_ptr<Device>(make_script_device({instrument.pivot, instrument.tip, instrument.script}));
    return std::make_unique<HapticStub>(instrument.pivot, instrument.tip, [path](double time) {
      return path->pose({0, time}).tip;
    });
  }
  return make_script_device({instrument.pivot, instrument.tip, instrument.script});
}

std::unique_ptr<Device> make_window_scope(const ScopeScene& scope, Hands& hands) {
  if (scope.device != "mouse") {
    hands.set_scope(nullptr);
    return nullptr;
  }
  const ScopePose pose = scope.pose();
  auto mouse = std::make_unique<MouseDevice>(pose.port, pose.eye);
  mouse->roll(scope.spin_deg);
  hands.set_scope(mouse.get());
  return mouse;
}

}  // namespace trocar

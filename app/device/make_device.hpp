// From a scene's words to devices: the one place that knows every device by its name (device_names() in scene.hpp).
// Tested in tests/app/make_device_test.cpp
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "app/device/gamepad_device.hpp"
#include "app/device/mouse_device.hpp"
#include "app/device/spacemouse_device.hpp"
#include "app/scene/scene.hpp"

namespace trocar {

// What devices need from the program, and what the program needs to know of them.
struct DeviceContext {
  bool fulcrum = true;                                       // of every device in a hand
  std::function<GamepadSource(const std::string&)> gamepad;  // by InstrumentScene::source; empty: glfw_gamepad
  std::unique_ptr<SpaceMouseReader> spacemouse;              // made when a scene names it; outlives the devices
  // Of the devices made so far; they live as long as the session that holds them.
  std::vector<MouseDevice*> mice;  // [instrument] null where another device holds it
  std::vector<HandDevice*> hands;  // want to know the picture's axes: set_screen, once a frame
  MouseDevice* scope_mouse = nullptr;
};

// A person or a tracker moves an instrument or the scope of this scene; false: scripts and recorded motions move all.
bool has_live_device(const Scene& scene);

// To be called once for each instrument, in their order. Errors: InputError naming the instrument: a hand that starts
// out of its limits, a source that cannot be understood, a file that cannot be read, no SpaceMouse daemon. A gamepad or
// an OpenIGTLink server that is not there yet is no error: the device is Lost until it comes.
std::unique_ptr<Device> make_device(const InstrumentScene& scene, DeviceContext& context);

// The same for the scope; null for "script": it stays. "trajectory" and `source` = "S.h5": as it was recorded there;
// `folder`: of the scene file.
std::unique_ptr<Device> make_scope_device(const ScopeScene& scene, const std::filesystem::path& folder,
                                          DeviceContext& context);

}  // namespace trocar

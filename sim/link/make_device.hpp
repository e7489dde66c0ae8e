// Creates devices from a scene; the only file that maps the names of device_names() (scene.hpp) to classes. Connects to
// spacenavd, the daemon that reads SpaceMice.
// Tested in tests/sim/device/make_device_test.cpp and spacemouse_device_test.cpp
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "sim/device/hand_device.hpp"
#include "sim/device/mouse_device.hpp"
#include "sim/record/record_sink.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

// Declares the connection to spacenavd, the daemon that reads SpaceMice.

// Receives events from spacenavd. libspnav has one connection per process, so only one reader can exist at a time.
class SpaceMouseReader {
 public:
  // Connects. Throws InputError when the daemon does not answer, or a reader exists already.
  SpaceMouseReader();
  ~SpaceMouseReader();
  // Returns the latest state. Never waits for the daemon.
  SpaceMouseState state() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

// Returns true when spacenavd answers, or when a reader exists: libspnav cannot open a second connection to test it.
bool spacenavd_answers();

// Settings that devices get from the program, and pointers to the created devices.
struct DeviceContext {
  bool fulcrum = true;  // fulcrum setting of every hand-held device
  // Finds a gamepad by InstrumentScene::source. Empty: the program reads no gamepads.
  std::function<GamepadSource(const std::string&)> gamepad = {};
  std::unique_ptr<SpaceMouseReader> spacemouse = {};  // created when a scene uses it; must outlive the devices
  // The devices created so far; they live as long as the session that owns them.
  std::vector<MouseDevice*> mice = {};  // [instrument] null when another device moves it
  std::vector<RateDevice*> rates = {};  // gamepads and SpaceMice: call set_screen() of each once per frame
  MouseDevice* scope_mouse = nullptr;
};

// Returns what a run with the devices of this scene is: an Attempt with a live device, a Replay if something follows
// recorded motion, otherwise a Script.
Activity activity_of(const Scene& scene);

// Makes the device of an instrument. Call it once per instrument, in their order. Throws InputError with the
// instrument's name for a hand-held device that starts outside its limits, an invalid source, a file that cannot be
// read, no SpaceMouse daemon, two SpaceMouse devices. A gamepad or an OpenIGTLink server that is not available yet is
// not an error: the device is Lost until then.
std::unique_ptr<Device> make_device(const InstrumentScene& scene, DeviceContext& context);

// Does the same for the scope; null for "script", which never moves it. "trajectory" with `source` = "S.h5" replays the
// motion of the scope in that recording. `folder`: folder of the scene file. Throws InputError also for "haptic".
std::unique_ptr<Device> make_scope_device(const ScopeScene& scene, const std::filesystem::path& folder,
                                          DeviceContext& context);

}  // namespace trocar

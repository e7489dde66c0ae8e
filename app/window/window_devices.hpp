// Makes the devices of a session in the window and registers mouse devices in `hands`.
// Tested in tests/app/window_path_test.sh
#pragma once

#include <memory>

#include "app/window/input/hands.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

// Makes the device of an instrument. Call once for each instrument, in the scene's order. Throws InputError when the
// device cannot be made.
std::unique_ptr<Device> make_window_device(const InstrumentScene& instrument, Hands& hands);
// Returns the scope's device, or null where nothing moves it; call after the instruments. `folder`: of the scene.
std::unique_ptr<Device> make_window_scope(const ScopeScene& scope, const std::filesystem::path& folder, Hands& hands);

}  // namespace trocar

#include "app/window/window_devices.hpp"

namespace trocar {

std::unique_ptr<Device> make_window_device(const InstrumentScene& instrument, Hands& hands) {
  auto device = make_device(instrument, hands.devices());
  hands.add(hands.devices().mice.back());
  return device;
}

std::unique_ptr<Device> make_window_scope(const ScopeScene& scope, const std::filesystem::path& folder, Hands& hands) {
  auto device = make_scope_device(scope, folder, hands.devices());
  hands.set_scope(hands.devices().scope_mouse);
  return device;
}

}  // namespace trocar

// The user's choice of the device of each instrument and of the scope, and its fields: address, file, number. Needs no
// window.   Tested in tests/app/device_watch_test.cpp
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/scene/scene.hpp"

namespace trocar {

struct DeviceChoice {
  std::string holds;                 // name of the instrument; "scope"
  std::string device;                // one of device_names()
  std::string source;                // InstrumentScene::source, ScopeScene::source
  std::filesystem::path trajectory;  // of an instrument; the scope's file is `source`
  AxisScale axes;                    // of a hand-held device
  Registration registration;         // of a tracker
  bool typed = false;                // the user typed the file, so it may lie in any folder

  bool operator==(const DeviceChoice&) const = default;
};

// Returns the choices that a scene makes: [instrument], then the scope's.
std::vector<DeviceChoice> device_choices(const Scene& scene);
// Returns the scene with these devices.
Scene with_devices(const Scene& scene, const std::vector<DeviceChoice>& choices);
// Returns the scene without the files that the user typed, for the check of files that the scene names by itself.
Scene without_typed_files(Scene scene, const std::vector<DeviceChoice>& choices);

// The parts of an OpenIGTLink source as text fields; `port` may be wrong while the user types.
struct IgtlFields {
  std::string host, port, tool;
};
IgtlFields igtl_fields(const std::string& source);
std::string igtl_source_text(const IgtlFields& fields);

// Returns what a device is, in a few words: "Mouse and keyboard", ...
std::string device_label(const std::string& device);

}  // namespace trocar

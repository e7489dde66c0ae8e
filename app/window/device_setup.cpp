#include "app/window/device_setup.hpp"

#include "sim/scene/scene_access.hpp"

namespace trocar {

std::vector<DeviceChoice> device_choices(const Scene& scene) {
  std::vector<DeviceChoice> choices;
  for (const InstrumentScene& instrument : scene.instruments)
    choices.push_back({instrument.name, instrument.device, instrument.source, instrument.trajectory, instrument.axes,
                       instrument.registration});
  choices.push_back({"scope", scene.scope.device, scene.scope.source, {}, scene.scope.axes, scene.scope.registration});
  return choices;
}

Scene with_devices(const Scene& scene, const std::vector<DeviceChoice>& choices) {
  Scene chosen = scene;
  for (std::size_t k = 0; k < chosen.instruments.size(); ++k) {
    chosen.instruments[k].device = choices[k].device;
    chosen.instruments[k].source = choices[k].source;
    chosen.instruments[k].trajectory = choices[k].trajectory;
    chosen.instruments[k].axes = choices[k].axes;
    chosen.instruments[k].registration = choices[k].registration;
  }
  chosen.scope.device = choices.back().device;
  chosen.scope.source = choices.back().source;
  chosen.scope.axes = choices.back().axes;
  chosen.scope.registration = choices.back().registration;
  return chosen;
}

Scene without_typed_files(Scene scene, const std::vector<DeviceChoice>& choices) {
  for (std::size_t k = 0; k < scene.instruments.size(); ++k)
    if (choices[k].typed) scene.instruments[k].trajectory.clear();
  if (choices.back().typed && scene.scope.device == "trajectory") scene.scope.source.clear();
  return scene;
}

IgtlFields igtl_fields(const std::string& source) {
  IgtlFields fields;
  const auto slash = source.find('/');
  if (slash != std::string::npos) fields.tool = source.substr(slash + 1);
  const std::string address = source.substr(0, slash);
  const auto colon = address.rfind(':');
  fields.host = address.substr(0, colon);
  if (colon != std::string::npos) fields.port = address.substr(colon + 1);
  if (fields.host.empty()) fields.host = IgtlSource().host;
  if (colon == std::string::npos) fields.port = std::to_string(IgtlSource().port);
  return fields;
}

std::string igtl_source_text(const IgtlFields& fields) { return fields.host + ":" + fields.port + "/" + fields.tool; }

std::string device_label(const std::string& device) {
  struct Label {
    const char *device, *label;
  };
  constexpr Label kLabels[] = {{"mouse", "Mouse and keyboard"},
                               {"gamepad", "Gamepad"},
                               {"spacemouse", "SpaceMouse"},
                               {"igtl", "Tracker (OpenIGTLink)"},
                               {"haptic", "Simulated force-feedback device"},
                               {"script", "Script"},
                               {"trajectory", "Recorded motion"}};
  for (const Label& label : kLabels)
    if (device == label.device) return label.label;
  return device;
}

}  // namespace trocar

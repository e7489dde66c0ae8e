// The devices of the selected scene on the start screen: what the user chose, and what is missing before Start.
// Tested in tests/app/device_watch_test.cpp, driven in tests/app/window_path_test.sh
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/window/input/device_watch.hpp"

namespace trocar {

class StartDevices {
 public:
  // Takes the devices of a scene, or those that were chosen for it before.
  void select(const Scene& scene);
  void use(std::vector<DeviceChoice> choices);
  const std::vector<DeviceChoice>& choices() const { return choices_; }
  std::string& device(std::size_t k) { return choices_[k].device; }

  // Reads the devices of the scene; call once a frame. `scene`: without choices.
  void watch(const Scene& scene, const SceneAccess& access, double elapsed);
  // Closes all devices, so that a session can open them.
  void rest();
  // Draws what is missing, if anything, below the choice of a device. `from`: units.
  void draw_fault(std::size_t k, float from) const;
  // Returns whether Start would fail, because a device cannot be made.
  bool blocks() const { return watch_ && watch_->blocks(); }
  // Draws in one line why Start would fail; nothing when it would not.
  void draw_why_not() const;
  // Returns everything that is missing, for tests and remote control.
  std::string faults() const;

 private:
  std::vector<DeviceChoice> choices_, watched_;
  std::map<std::filesystem::path, std::vector<DeviceChoice>> kept_;  // by the scene's file
  std::filesystem::path selected_, scene_;                           // `scene_`: that is watched
  std::unique_ptr<DeviceWatch> watch_;
  double time_ = 0.0;  // s
};

}  // namespace trocar

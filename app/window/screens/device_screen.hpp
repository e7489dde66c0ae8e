// Shows the devices of a scene: kind, address or file of each, what is missing, and a live picture of what it sends,
// without a session.   Driven in tests/app/window_path_test.sh
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/window/input/device_watch.hpp"
#include "app/window/screen.hpp"

namespace trocar {

class DeviceScreen final : public Screen {
 public:
  // `scene`: without choices. `access`: what the user allowed so far.
  DeviceScreen(Scene scene, std::vector<DeviceChoice> choices, SceneAccess access);
  ~DeviceScreen() override;

  void step(const WindowInput& input, double elapsed, bool listens) override;
  Ask panels() override;
  ScreenStatus status() const override;

  const std::vector<DeviceChoice>& choices() const { return choices_; }
  const SceneAccess& access() const { return access_; }

 private:
  void select(std::size_t k);
  void device_list();
  void kind_choice();
  void fields();
  void igtl_fields_of(DeviceChoice& choice);
  void file_fields_of(DeviceChoice& choice);
  void axis_fields(AxisScale& axes);
  void registration_fields(Registration& registration);
  void host_question(const std::string& host);
  void what_it_does() const;
  void live_picture();
  bool has_aperture() const;
  void numbers() const;

  Scene scene_;
  std::vector<DeviceChoice> choices_;
  SceneAccess access_;
  std::unique_ptr<DeviceWatch> watch_;
  std::size_t selected_ = 0;
  IgtlFields igtl_;
  std::string file_, source_;  // text fields of the selected device
  double time_ = 0.0, wheel_ = 0.0;
  bool changed_ = false, escape_ = false;
};

}  // namespace trocar

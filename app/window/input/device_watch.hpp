// Opens the devices of a scene without a session, to show what they send and to say what is missing before Start. A
// frame never waits: connections are made in the devices' own threads; a file is read once, when it was chosen.
// Units: metres, seconds, degrees.   Tested in tests/app/device_watch_test.cpp
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/window/device_setup.hpp"
#include "sim/device/joints.hpp"
#include "sim/link/make_device.hpp"
#include "sim/scene/scene_access.hpp"

namespace trocar {

class IgtlDevice;

// What a device sends now.
struct DeviceReading {
  std::string fault;                // what is missing, one sentence; empty: nothing
  bool blocks = false;              // Start would fail: it cannot be made
  std::string state;                // what it is doing, a few words: "connected to localhost:18944"
  std::string asks_host;            // a machine that the user has not allowed yet; empty: none
  std::optional<DevicePose> pose;   // empty: nothing is received
  Joints joints;                    // of `pose`
  std::optional<double> rate, age;  // Hz, s   of the data received; empty where the device is read at each frame
};

// How a watch finds hardware; tests inject their own.
struct DeviceHardware {
  std::function<GamepadSource(const std::string&)> gamepad;
  std::function<std::vector<std::string>()> gamepads;  // names of the connected ones that can be used
};
DeviceHardware hardware_of_this_machine();

class DeviceWatch {
 public:
  // Opens these devices of a scene. `access`: files and machines that the user allowed.
  DeviceWatch(const Scene& scene, std::vector<DeviceChoice> choices, const SceneAccess& access,
              DeviceHardware hardware = hardware_of_this_machine());
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

  // Reads every device; call once a frame. `time`: s, since the watch began.
  void read(double time);
  // [instrument], then the scope's.
  const std::vector<DeviceReading>& readings() const { return readings_; }
  const JointLimits& limits(std::size_t k) const { return slots_[k].limits; }
  // Moves what the mouse holds, as in a session, in pixels and notches; nothing where another device moves it.
  void move_mouse(std::size_t k, double right, double up, double wheel);
  // Returns the registration with which the pose that a tracker sends now is the start pose; nothing without a pose.
  std::optional<Registration> registration_of_start(std::size_t k) const;
  // Returns whether a device cannot be made at all.
  bool blocks() const;

 private:
  struct Slot {
    std::unique_ptr<Device> device;
    IgtlDevice* igtl = nullptr;
    MouseDevice* mouse = nullptr;
    RemoteCentre centre;
    DevicePose start;
    JointLimits limits;
    DeviceChoice choice;
    std::string state;     // of a device that only plays
    double length = 0.0;   // s    of a recorded motion, which is repeated; 0: none
    double again = 0.0;    // s    when to try again
    double counted = 0.0;  // s    when the rate was counted last
    std::uint64_t poses = 0;
    std::optional<double> rate;
  };

  void open(std::size_t k, double time);
  std::unique_ptr<Device> make(std::size_t k);
  void describe(std::size_t k, const DevicePose& pose);
  void describe_igtl(std::size_t k, double time);
  void describe_gamepad(std::size_t k);

  Scene scene_;
  SceneAccess access_;
  DeviceHardware hardware_;
  DeviceContext context_;  // must outlive the devices
  std::vector<Slot> slots_;
  std::vector<DeviceReading> readings_;
};

}  // namespace trocar

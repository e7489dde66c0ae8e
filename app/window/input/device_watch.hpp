// The devices of a scene before Start: which the user chose, what they send, and what is missing.
// Units: metres, seconds, degrees.   Tested in tests/app/window_input_test.cpp; driven in tests/app/window_path_test.sh
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/device/joints.hpp"
#include "sim/link/make_device.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/scene_access.hpp"

namespace trocar {

// The user's choice of the device of an instrument or the scope, and its fields: address, file, number.
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

// Opens the devices of a scene without a session, to show what they send and to say what is missing before Start. A
// frame never waits: connections are made in the devices' own threads; a file is read once, when it was chosen.
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

// The devices of the selected scene on the start screen: what the user chose, and what is missing before Start.
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

// Logs all that a session takes from outside: for each frame its clock, its duration, the field of view and the pauses,
// and for each device its poses. A session that gets the same inputs again gives the same bits
// (sim/inputs/input_rerun.hpp).
// Units: metres, degrees, seconds.   Tested in tests/sim/input_rerun_test.cpp
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/device/device.hpp"

namespace trocar {

// What a device returned in a frame in which that was another pose or health than in the frame before.
struct LoggedPose {
  std::uint32_t frame = 0;
  DevicePose pose;
  DeviceHealth health = DeviceHealth::Good;
};

// Equal in all bits: -0 differs from 0.
bool same_bits(const DevicePose& a, const DevicePose& b);

inline constexpr const char* kScopeName = "scope";  // of the scope's device

struct LoggedDevice {
  std::string name;  // of its instrument; kScopeName
  bool follows_ticks = false;
  std::vector<LoggedPose> poses;  // ascending frames; the first is frame 0
};

// What a frame gave.
struct FrameSums {
  std::uint64_t checksum = 0;  // checksum_with_faces()
  std::uint32_t touched = 0;   // faces
  friend bool operator==(const FrameSums&, const FrameSums&) = default;
};

struct LoggedFrame {
  FrameClock clock;
  double step = 0.0;               // s    simulated duration
  double field_of_view_deg = 0.0;  // deg
  bool suspended = false;          //      the devices were suspended before this frame (Session::suspend_devices)
  FrameSums sums;
};

struct InputLog {
  std::vector<LoggedDevice> devices;  // of the instruments, in the scene's order, then of the scope if it has one
  std::vector<LoggedFrame> frames;
};

// Adds a device to the log and returns one that does the same and is logged. `log` must outlive it.
std::unique_ptr<Device> logged(InputLog& log, const std::string& name, std::unique_ptr<Device> device);

// Returns a device that gives the poses of a logged one again, one frame for each call. `log` must outlive it.
std::unique_ptr<Device> replayed(const InputLog& log, std::size_t device);

}  // namespace trocar

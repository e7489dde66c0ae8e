// Logs all that a session takes from outside, runs it again from the log and compares the two: for each frame its
// clock, its duration, the field of view and the pauses, and for each device its poses. A session that gets the same
// inputs again gives the same bits.   Units: metres, degrees, seconds.   Tested in
// tests/sim/recording/attempt_file_test.cpp
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/device/device.hpp"
#include "sim/record/record_sink.hpp"
#include "sim/session/session.hpp"

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

// Runs a session whose devices are logged, so that each frame is in the log before anything that follows from it: a
// pause at a task's end belongs to the next frame, not to the last one.

class InputLogger {
 public:
  // The devices of `session` are those of logged(log, ...). Both must outlive this object.
  InputLogger(InputLog& log, Session& session) : log_(log), session_(session) {}

  // Suspends the devices; logged with the next frame.
  void suspend_devices();
  // Runs one frame of `duration` s.
  void step(const FrameClock& clock, double duration, double field_of_view_deg);
  // Adds what the last frame gave, for comparison.
  void set_sums(const FrameSums& sums) { log_.frames.back().sums = sums; }

 private:
  InputLog& log_;
  Session& session_;
  bool suspended_ = false;  // since the last frame
};

// Runs a session again from its logged inputs, frame by frame, and compares it with the first run.

// Returns a function that opens the sink of `open` and in addition sets `sums` to those of each frame that is appended.
// `sums` must outlive the sink.
OpenSink with_sums(OpenSink open, FrameSums& sums);

// A sink that stores nothing.
OpenSink no_recording();

class InputRerun {
 public:
  // `log` and `backends` must outlive this object. Throws the errors of Session, and InputError when the log belongs to
  // a scene with other instruments.
  InputRerun(const InputLog& log, const Scene& scene, BackendMaker& backends, const std::string& backend,
             const std::vector<CheckPlan>& checks = {});

  // Runs the next frame. Returns its clock; nothing when the log has ended.
  std::optional<FrameClock> step();
  Session& session() { return *session_; }

 private:
  const InputLog& log_;
  std::optional<Session> session_;
  std::size_t next_ = 0;
};

}  // namespace trocar

// A session that a program drives frame by frame: it sets the pose or the joint velocities of the instruments, or lets
// scripts and trajectories move them, and reads state, forces, touched faces, the task's grading and pictures.
// Units: metres, degrees, seconds, newtons.   Tested in tests/python/session_test.py
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/compare/backends.hpp"
#include "app/view/view.hpp"
#include "python/bindings.hpp"
#include "sim/device/joints.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/scene/scene.hpp"

namespace trocar::python {

// Who moves the instruments that have no trajectory.
enum class Driver { Caller, Scripts };

struct DrivenParams {
  std::string backend;  // empty: the scene's
  std::string check;    // backend of the check; empty: none
  Driver driver = Driver::Caller;
  std::map<std::string, std::filesystem::path> trajectories;  // by instrument
  std::optional<std::uint32_t> anatomy;                       // seed of a variation
  std::optional<int> level;                                   // of the task; empty: the scene as written
  bool allow_outside = false;                                 // the scene may read files in any folder
  std::filesystem::path record;                               // recording to write; empty: none
  bool force = false;                                         // write it over a recording that exists
};

// Joint velocities of one instrument.
struct JointRates {
  double pan_deg = 0.0, tilt_deg = 0.0, spin_deg = 0.0;  // deg/s
  double depth = 0.0;                                    // m/s
  double grip = 0.0;                                     // 1/s  of the aperture, 0 closed .. 1 open
};

// The largest joint velocities: what they move in a frame stays far below the limits of coordinates and angles.
constexpr JointRates kFastest{36000.0, 36000.0, 36000.0, 100.0, 1000.0};

// What one instrument does in a frame.
struct Driving {
  JointRates rates;
  Diathermy energy;
};

class DrivenSession : public OneAtATime {
 public:
  static constexpr const char* kName = "Session";

  // Throws the errors of load_scene(), Session and Recorder.
  DrivenSession(const std::filesystem::path& scene, const DrivenParams& params);
  ~DrivenSession();

  // Sets the pose that the instrument has in the next frames. Its pivot stays. Throws InputError for a pose that no
  // instrument can take.
  void command(std::size_t tool, const DevicePose& pose);
  // The same for all instruments by velocities during one frame, within their joint limits. Throws InputError, before
  // anything moves, for a velocity beyond kFastest.
  // [tool]
  void drive(std::span<const Driving> all);
  // Makes a frame. Throws RunError when the recording has failed or is closed, and in a process that was forked from
  // that of a session whose threads do not exist there.
  void step();
  void close_recording();

  const Scene& scene() const { return scene_; }
  Session& session() { return loop_->session(); }
  const Session& session() const { return loop_->session(); }
  double time() const { return loop_->time(); }  // s  of the last frame
  double tick() const { return loop_->tick_length(); }
  bool has_task() const { return loop_->task(); }
  const TaskRun& task() const { return *loop_->task(); }
  Joints joints(std::size_t tool) const;  // as commanded
  // Returns the joints with which the tip of the instrument is at this point.
  Joints joints_to(std::size_t tool, const glm::dvec3& point) const;
  // Returns the targets of the task, with their state after the last frame.
  std::vector<DrawnTarget> targets() const;
  const DevicePose& commanded(std::size_t tool) const { return hands_[tool].pose; }
  bool uses_gl() const { return on_gl_ || view_; }  // in a frame

  // Draws the scope's view. Returns the pixels from the top row down.
  std::vector<glm::u8vec3> picture(int width, int height, Quality quality);

  // The whole state as bytes, and back (Session::save). The task starts again: the bytes do not contain it.
  std::vector<std::byte> save() const { return session().save(); }
  void restore(std::span<const std::byte> bytes);

 private:
  struct Hand {
    DevicePose pose;
    RemoteCentre centre;
  };
  std::unique_ptr<Device> device_of(const InstrumentScene& instrument, const DrivenParams& params);
  void require_own_threads() const;
  void require_rates(const InstrumentScene& instrument, const JointRates& rates) const;

  Scene scene_;
  const int process_;  // in which it was made
  Backends backends_;
  std::vector<Hand> hands_;  // [tool]
  bool on_gl_ = false;
  bool ends_ = false;        // the destructor must not throw
  std::optional<GlUse> gl_;  // during a call of the loop
  std::unique_ptr<SessionLoop> loop_;
  bool closed_ = false;  // the recording is complete
  std::optional<View> view_;
  std::vector<DrawnOrgan> organs_;
  std::vector<DrawnTool> tools_;
  DrawnBonds bonds_;
  DrawnMarks marks_;
};

}  // namespace trocar::python

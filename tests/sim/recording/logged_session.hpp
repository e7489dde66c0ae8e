// Lets a scripted trainee perform a task with logged devices, as the program in the browser does, with a pause.
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "deform/model_version.hpp"
#include "sim/inputs/attempt_file.hpp"
#include "sim/inputs/input_rerun.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/support/process.hpp"
#include "sim/task/performer.hpp"
#include "sim/task/session_observer.hpp"

namespace trocar::test {

// The trainee's device with the properties of a live one: the session guards it after a pause.
class AsLiveDevice final : public Device {
 public:
  explicit AsLiveDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}
  DevicePose pose(const FrameClock& clock) override { return device_->pose(clock); }
  DeviceHealth health() const override { return device_->health(); }
  void feel(const Felt& felt) override { device_->feel(felt); }

 private:
  std::unique_ptr<Device> device_;
};

// A session whose devices are logged.
class LoggedSession {
 public:
  LoggedSession(InputLog& log, const Scene& scene, const DeviceMaker& make_device)
      : session_(
            scene, backends_, "scan", {},
            [&](const InstrumentScene& instrument) { return logged(log, instrument.name, make_device(instrument)); }),
        logger_(log, session_),
        recorder_(with_sums(no_recording(), sums_), scene, session_, "") {}

  void step(const FrameClock& clock, double step, double field_of_view_deg, bool suspended) {
    if (suspended) logger_.suspend_devices();
    logger_.step(clock, step, field_of_view_deg);
    recorder_.append(session_, clock);
    logger_.set_sums(sums_);
  }
  Session& session() { return session_; }
  InputLogger& logger() { return logger_; }

 private:
  CpuBackends backends_;
  FrameSums sums_;
  Session session_;
  InputLogger logger_;
  SessionRecorder recorder_;
};

// Performs the task of the scene until it ends, or for this number of frames. The wall time is a quarter longer than
// the simulated time, because the machine is slow; frame 40 follows a pause.
inline AttemptFile perform_logged(const Scene& scene, const std::string& file,
                                  std::size_t frames = std::numeric_limits<std::size_t>::max()) {
  AttemptFile attempt{.program = kVersion,
                      .date = "2026-03-04 05:06:07",
                      .model_version = kModelVersion,
                      .scene = file,
                      .scene_text = scene.text,
                      .seed = 7};
  attempt.run = {.clock = ScoreClock::Wall, .activity = Activity::Attempt, .person = "zoe"};
  Performer performer(scene, style_of(Skill::Clumsy), attempt.seed);
  LoggedSession run(attempt.log, scene, [&](const InstrumentScene& instrument) {
    return std::make_unique<AsLiveDevice>(performer.device_of(instrument.name));
  });
  Session& session = run.session();
  session.set_scope_device(logged(attempt.log, kScopeName, performer.scope_device()));
  const TaskStage stage = stage_of(session);
  TaskRun task(*scene.task, stage);
  session.set_marks(task.marks(), task.watched_marks());
  performer.begin(stage, task.marks());
  SessionObserver observer;
  for (std::uint64_t frame = 0; !task.feed().finished && frame < frames; ++frame) {
    const double time = static_cast<double>(frame) / scene.frame_rate;
    const FrameClock clock{frame, time, 1.25 * time, 0.25 * time};
    run.step(clock, 1.0 / scene.frame_rate, scene.scope.field_of_view_deg, frame == 40);
    const Observation& seen = observer.observe(session, clock.wall);
    task.step(seen);
    performer.see(seen, task.feed());
  }
  attempt.ending = ending_of(&task);
  attempt.score = task.result().score;
  attempt.events = task.result().events;
  return attempt;
}

}  // namespace trocar::test

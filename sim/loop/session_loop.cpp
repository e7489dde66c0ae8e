#include "sim/loop/session_loop.hpp"

#include <cassert>
#include <utility>

namespace trocar {

// Holds what the backends need for the time of a call.
class SessionLoop::Use {
 public:
  explicit Use(const BackendUse& use) : use_(use) {
    if (use_.enter) use_.enter();
  }
  ~Use() {
    if (use_.leave) use_.leave();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  const BackendUse& use_;
};

SessionLoop::SessionLoop(const Scene& scene, BackendMaker& backends, const LoopPlan& plan)
    : scene_(scene),
      use_(plan.use),
      clock_(plan.clock),
      has_task_(plan.task && scene.task),
      wall_(plan.wall),
      tick_(1.0 / scene.frame_rate),
      log_(plan.log) {
  const Use use(use_);
  if (plan.trainee && has_task_) performer_.emplace(scene, plan.trainee->style, plan.trainee->seed);
  own_ = std::make_unique<Session>(scene, backends, plan.backend, plan.checks,
                                   [&](const InstrumentScene& instrument) { return device_of(instrument, plan); });
  session_ = own_.get();
  session_->set_scope_device(scope_device(plan));
  if (log_) logger_.emplace(*log_, *session_);
  begin_task();
}

SessionLoop::SessionLoop(const Scene& scene, Session& session, ScoreClock clock)
    : scene_(scene),
      clock_(clock),
      has_task_(scene.task.has_value()),
      wall_(true),
      tick_(1.0 / scene.frame_rate),
      session_(&session) {
  begin_task();
}

SessionLoop::~SessionLoop() {
  const Use use(use_);
  recorder_.reset();
  own_.reset();
}

std::unique_ptr<Device> SessionLoop::device_of(const InstrumentScene& instrument, const LoopPlan& plan) {
  auto device = performer_ ? performer_->device_of(instrument.name) : plan.device(instrument);
  return log_ ? logged(*log_, instrument.name, std::move(device)) : std::move(device);
}

std::unique_ptr<Device> SessionLoop::scope_device(const LoopPlan& plan) {
  auto device = performer_ ? performer_->scope_device() : plan.scope ? plan.scope() : nullptr;
  return log_ && device ? logged(*log_, kScopeName, std::move(device)) : std::move(device);
}

void SessionLoop::begin_task() {
  if (!has_task_) return;
  const TaskStage stage = stage_of(*session_);
  task_.emplace(*scene_.task, stage);
  session_->set_marks(task_->marks(), task_->watched_marks());
  if (performer_) performer_->begin(stage, task_->marks());
}

void SessionLoop::record(const OpenSink& open, const std::string& gl, const RunNote& run) {
  recorder_ = std::make_unique<SessionRecorder>(open, scene_, *session_, gl, run);
}

void SessionLoop::step() { step({frame_, static_cast<double>(frame_) * tick_}, tick_); }

void SessionLoop::step(const FrameClock& clock, double dt) {
  tick(clock, dt);
  publish();
}

void SessionLoop::tick(const FrameClock& clock, double dt) {
  const Use use(use_);
  if (logger_)
    logger_->step(clock, dt, session_->scope().pose.field_of_view_deg);
  else
    session_->step(clock, dt);
  follow(clock);
}

void SessionLoop::begin_tick(const FrameClock& clock, double dt) {
  const Use use(use_);
  assert(!logger_);
  session_->ask(clock, dt);
}

void SessionLoop::end_tick(const FrameClock& clock) {
  const Use use(use_);
  session_->settle();
  follow(clock);
}

void SessionLoop::follow(const FrameClock& clock) {
  time_ = clock.time;
  score_time_ = clock_ == ScoreClock::Wall ? clock.wall : clock.time;
  ++frame_;
  append(clock);
  follow_task();
}

void SessionLoop::append(const FrameClock& clock) {
  if (!recorder_) return;
  if (wall_)
    recorder_->append(*session_, clock);
  else
    recorder_->append(*session_, clock.time);
}

void SessionLoop::follow_task() {
  if (!task_) return;
  seen_ = &observer_.observe(*session_, score_time_);
  task_->step(*seen_);
  if (performer_) performer_->see(*seen_, task_->feed());
}

void SessionLoop::publish() {
  if (publish_) publish_(*session_);
}

void SessionLoop::suspend_devices() {
  if (logger_)
    logger_->suspend_devices();
  else
    session_->suspend_devices();
}

void SessionLoop::restore(std::span<const std::byte> block) {
  const Use use(use_);  // every query is rebuilt
  session_->restore(block);
  suspend_devices();  // what the guards of the devices saw before does not count
  frame_ = session_->frames();
  time_ = score_time_ = frame_ > 0 ? static_cast<double>(frame_ - 1) * tick_ : 0.0;
  begin_task();
}

void SessionLoop::close() {
  if (!recorder_) return;
  const auto recorder = std::move(recorder_);
  recorder->close(ending_of(task()));
}

void SessionLoop::abandon() {
  static_cast<void>(recorder_.release());
  static_cast<void>(own_.release());
  use_ = {};
}

}  // namespace trocar

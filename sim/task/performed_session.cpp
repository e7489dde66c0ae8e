#include "sim/task/performed_session.hpp"

namespace trocar {

PerformedSession::PerformedSession(const Scene& scene, const HandStyle& style, std::uint32_t seed,
                                   BackendMaker& backends, const std::string& backend)
    : frame_time_(1.0 / scene.frame_rate),
      performer_(scene, style, seed),
      session_(scene, backends, backend, {},
               [this](const InstrumentScene& instrument) { return performer_.device_of(instrument.name); }),
      stage_(stage_of(session_)),
      task_(*scene.task, stage_) {
  session_.set_scope_device(performer_.scope_device());
  session_.set_marks(task_.marks(), task_.watched_marks());
  performer_.begin(stage_, task_.marks());
}

void PerformedSession::step() {
  time_ = static_cast<double>(frame_) * frame_time_;
  session_.step({frame_, time_}, frame_time_);
  seen_ = &observer_.observe(session_, time_);
  task_.step(*seen_);
  performer_.see(*seen_, task_.feed());
  ++frame_;
}

}  // namespace trocar

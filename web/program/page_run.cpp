#include "web/program/page_run.hpp"

namespace trocar {

void PageRun::start() {
  if (phase_ == PagePhase::Ready) phase_ = PagePhase::Running;
}

void PageRun::pause() {
  if (phase_ != PagePhase::Running) return;
  phase_ = PagePhase::Paused;
  interrupted();
}

void PageRun::resume() {
  if (phase_ == PagePhase::Paused) phase_ = PagePhase::Running;
}

void PageRun::finish() {
  if (phase_ == PagePhase::Ended) return;
  phase_ = PagePhase::Ended;
  interrupted();
}

void PageRun::begin(Session& session, ScoreClock clock) {
  session_ = &session;
  clock_ = clock;
  recorder_.emplace(with_sums(no_recording(), sums_), scene_, *session_, "");
  if (!scene_.task) return;
  task_.emplace(*scene_.task, stage_of(*session_));
  session_->set_marks(task_->marks(), task_->watched_marks());
}

void PageRun::follow(const FrameClock& clock) {
  time_ = clock.time;
  score_time_ = clock_ == ScoreClock::Wall ? clock.wall : clock.time;
  lost_ = clock.lost;
  recorder_->append(*session_, clock);
  if (!task_) return;
  seen_ = &observer_.observe(*session_, score_time_);
  task_->step(*seen_);
  if (task_->feed().finished) finish();
}

}  // namespace trocar

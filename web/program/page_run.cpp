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

void PageRun::note(const FrameClock& clock) {
  lost_ = clock.lost;
  if (task() && task()->feed().finished) finish();
}

}  // namespace trocar

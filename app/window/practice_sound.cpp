#include "app/window/practice_sound.hpp"

#include <algorithm>

namespace trocar {
namespace {

// How much of the task is done: targets, steps, and the task itself.
std::size_t reached_of(const TaskRun& task) {
  DrawnMarks marks;
  task.draw(marks);
  const auto done = std::ranges::count(marks.targets, MarkState::Done, &DrawnTarget::state);
  return static_cast<std::size_t>(done) + task.feed().step.value_or(0) + (task.feed().done ? 1 : 0);
}

}  // namespace

SoundCues sound_of(const Practice& practice, bool pulse) {
  SoundCues cues;
  if (practice.task()) {
    cues.errors = practice.task()->feed().errors;
    cues.reached = reached_of(*practice.task());
  }
  if (!practice.running()) return cues;
  cues.pulse = pulse;
  for (const Instrument& instrument : practice.session().instruments()) {
    if (instrument.kind != InstrumentKind::Hook) continue;
    cues.cut = cues.cut || instrument.energy == Diathermy::Cut;
    cues.coagulate = cues.coagulate || instrument.energy == Diathermy::Coagulate;
  }
  return cues;
}

}  // namespace trocar

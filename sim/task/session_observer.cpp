#include "sim/task/session_observer.hpp"

namespace trocar {

TaskStage stage_of(const Session& session) {
  TaskStage stage;
  for (const Organ& organ : session.organs()) {
    stage.organs.push_back(organ.name);
    stage.surfaces.push_back(organ.mesh.view());
  }
  stage.lines = session.clips().lines();
  for (const Instrument& instrument : session.instruments()) {
    stage.instruments.push_back(instrument.name);
    stage.jaws.push_back(instrument.jaws);
  }
  return stage;
}

const Observation& SessionObserver::observe(const Session& session, double time) {
  tools_.resize(session.instruments().size());
  organs_.resize(session.organs().size());
  for (std::size_t k = 0; k < tools_.size(); ++k) {
    const Instrument& instrument = session.instruments()[k];
    const auto& buried = session.buried_tips()[k];
    tools_[k] = {instrument.pose,  instrument.roll_deg,         instrument.grip, instrument.energy, instrument.heats,
                 instrument.force, buried ? buried->depth : 0.f};
  }
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    const Organ& organ = session.organs()[k];
    // Pressures of the tips come after those of the shafts.
    const std::span<const float> pressure = std::span(organ.touch_pressure).first(organ.touches_by_id.touches.size());
    organs_[k] = {organ.touches_by_id, pressure, static_cast<std::uint32_t>(organ.change.removed.size()),
                  organ.touched.part};
  }
  seen_ = {time,
           tools_,
           organs_,
           session.marks(),
           session.marks_removed(),
           session.scope().pose,
           session.scope().lens,
           session.clips().clips(),
           session.clips().tubes()};
  return seen_;
}

}  // namespace trocar

#include "sim/task/session_observer.hpp"

namespace trocar {

TaskStage stage_of(const Session& session) {
  TaskStage stage;
  for (const Organ& organ : session.organs()) {
    stage.organs.push_back(organ.name);
    stage.surfaces.push_back(organ.mesh.view());
    stage.injuries.push_back(injury_of(session.bleeding().vessel(stage.injuries.size())));
  }
  stage.lines = session.clips().lines();
  stage.tissue = session.bonds().names();
  for (std::size_t f = 0; f < session.bonds().bonds().fibres.size(); ++f) {
    const Fibre& fibre = session.bonds().bonds().fibres[f];
    stage.fibres.push_back(
        {session.bonds().groups()[f], 0.5f * (fibre.a.point + fibre.b.point), fibre.a.organ, fibre.b.organ});
  }
  stage.pegs.assign(session.rigid().pegs().begin(), session.rigid().pegs().end());
  stage.peg_height = session.rigid().peg_height();
  for (const Instrument& instrument : session.instruments()) {
    stage.instruments.push_back(instrument.name);
    stage.jaws.push_back(instrument.jaws);
    stage.kinds.push_back(instrument.kind);
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
    organs_[k] = {
        organ.touches,         organ.touch_pressure,       static_cast<std::uint32_t>(organ.change.removed.size()),
        organ.touched.part,    session.queried_surface(k), organ.change.new_rest,
        session.film().look(k)};
  }
  const Bonds& bonds = session.bonds().bonds();
  fibre_ends_.resize(bonds.fibres.size());
  for (std::size_t f = 0; f < fibre_ends_.size(); ++f) fibre_ends_[f] = session.queried_ends(f);
  seen_ = {time,
           tools_,
           organs_,
           session.marks(),
           session.marks_removed(),
           session.scope().pose,
           session.scope().lens,
           session.clips().clips(),
           session.clips().tubes(),
           {bonds.intact, fibre_ends_, bonds.broken, bonds.broken_how},
           {},
           session.hidden()};
  const SessionBleeding& bleeding = session.bleeding();
  if (bleeding.possible()) seen_.bleeding = {bleeding.sources(), bleeding.lost(), session.film().amounts()};
  return seen_;
}

}  // namespace trocar

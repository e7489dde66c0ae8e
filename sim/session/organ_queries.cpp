#include "sim/session/organ_queries.hpp"

namespace trocar {

OrganQueries::OrganQueries(BackendChoice backend, std::size_t organs, std::size_t instruments)
    : backend_(std::move(backend)), encounters_(organs, instruments), asked_(organs) {
  clashes_.reserve(instruments * instruments / 2);
}

void OrganQueries::take_over(BackendChoice backend, BackendTimes& times) {
  backend_ = std::move(backend);
  times.name = backend_.name;
  times.start_again();
}

void OrganQueries::find_encounters(TissueWorld& world, const Instruments& instruments, double dt) {
  world.measure();
  for (std::size_t k = 0; k < world.organs().size(); ++k)
    encounters_.set_organ(k, world.organs()[k].box, world.reach_of(k, dt));
  for (std::size_t k = 0; k < instruments.size(); ++k) encounters_.set_instrument(k, instruments.box(k));
  encounters_.update();
  for (std::size_t k = 0; k < asked_.size(); ++k)
    asked_[k].split(instruments.frame_volumes(), encounters_.instruments_near(k));
  clashes_.clear();
  for (const auto& [first, second] : encounters_.instrument_pairs())
    clashes_.push_back(clash_of(first, instruments.list()[first].pose, second, instruments.list()[second].pose));
}

// Submits the queries of all organs before it waits for the first. Stops at the first fault.
TouchFault OrganQueries::ask_each(std::vector<Organ>& organs, const FrameVolumes& frame) {
  for (std::size_t k = 0; k < organs.size(); ++k) trocar::ask(organs[k], asked_[k]);
  for (std::size_t k = 0; k < organs.size(); ++k) {
    take_answer(organs[k], asked_[k], frame);
    if (organs[k].query->fault() != TouchFault::None) return organs[k].query->fault();
  }
  return TouchFault::None;
}

void OrganQueries::ask(TissueWorld& world, const Instruments& instruments, std::size_t frame, BackendTimes& times,
                       std::vector<BackendFault>& faults, StageMs& stage_ms) {
  StageTimes sum;
  bool anyone = false;
  float failing_ms = 0.f;
  const FrameVolumes frame_volumes = instruments.frame_volumes();
  TouchFault fault = TouchFault::None;
  {
    const StageTimer timer(failing_ms);
    fault = ask_each(world.organs(), frame_volumes);
    if (fault != TouchFault::None) {
      faults.push_back({frame, backend_.name, fault, false});
      for (Organ& organ : world.organs()) use_scan(organ);
      take_over({"scan", sentence_of(faults.back())}, times);
    }
  }
  if (fault == TouchFault::None) failing_ms = 0.f;
  if (fault != TouchFault::None) ask_each(world.organs(), frame_volumes);
  for (std::size_t k = 0; k < world.organs().size(); ++k) {
    Organ& organ = world.organs()[k];
    if (asked_[k].anyone()) sum_up(*organ.query, sum);
    anyone = anyone || asked_[k].anyone();
    times.touched += organ.answered.size();
  }
  stage_ms[kUpdate] = static_cast<float>(sum.update_ms);
  stage_ms[kQuery] = static_cast<float>(sum.query_ms()) + failing_ms;
  if (anyone) times.keep(sum);
}

}  // namespace trocar

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
  const std::span<const ToolVolume> volumes = instruments.volumes(), tips = instruments.tip_volumes();
  for (std::size_t k = 0; k < world.organs().size(); ++k)
    encounters_.set_organ(k, world.organs()[k].box, world.reach_of(k, dt));
  for (std::size_t k = 0; k < volumes.size(); ++k)
    encounters_.set_instrument(k, united(box_of(volumes[k].step), box_of(tips[k].step)));
  encounters_.update();
  for (std::size_t k = 0; k < asked_.size(); ++k) asked_[k].split(volumes, tips, encounters_.instruments_near(k));
  clashes_.clear();
  for (const auto& [first, second] : encounters_.instrument_pairs())
    clashes_.push_back(clash_of(first, instruments.list()[first].pose, second, instruments.list()[second].pose));
}

// Stops at the first fault.
TouchFault OrganQueries::ask_each(std::vector<Organ>& organs) {
  for (std::size_t k = 0; k < organs.size(); ++k) {
    trocar::ask(organs[k], asked_[k]);
    if (organs[k].query->fault() != TouchFault::None) return organs[k].query->fault();
  }
  return TouchFault::None;
}

void OrganQueries::ask(TissueWorld& world, Instruments& instruments, std::size_t frame, BackendTimes& times,
                       std::vector<BackendFault>& faults, StageMs& stage_ms) {
  StageTimes sum;
  bool anyone = false;
  float settle_ms = 0.f, failing_ms = 0.f;
  TouchFault fault = TouchFault::None;
  {
    const StageTimer timer(failing_ms);
    fault = ask_each(world.organs());
    if (fault != TouchFault::None) {
      faults.push_back({frame, backend_.name, fault, false});
      for (Organ& organ : world.organs()) use_scan(organ);
      take_over({"scan", sentence_of(faults.back())}, times);
    }
  }
  if (fault == TouchFault::None) failing_ms = 0.f;
  if (fault != TouchFault::None) ask_each(world.organs());
  for (std::size_t k = 0; k < world.organs().size(); ++k) {
    Organ& organ = world.organs()[k];
    if (asked_[k].anyone()) sum_up(*organ.query, sum);
    anyone = anyone || asked_[k].anyone();
    times.touched += organ.touched.size();
    const StageTimer timer(settle_ms);
    instruments.settle_tips(organ, encounters_.instruments_near(k));
  }
  stage_ms[kUpdate] = static_cast<float>(sum.update_ms);
  stage_ms[kQuery] = static_cast<float>(sum.query_ms()) + settle_ms + failing_ms;
  if (anyone) times.keep(sum);
}

}  // namespace trocar

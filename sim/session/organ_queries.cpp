#include "sim/session/organ_queries.hpp"

#include <cmath>

#include "geometry/closest.hpp"

namespace trocar {

NearPairs::NearPairs(std::size_t organs, std::size_t instruments)
    : organs_(organs), alone_(organs), surface_(organs), instrument_(instruments), first_near_(organs + 1, 0) {
  // The ids of the objects are the organs' numbers first, then the instruments'.
  for (std::size_t k = 0; k < organs + instruments; ++k) sweep_.add({});
}

void NearPairs::set_organ(std::size_t organ, const broad::Box& surface, const broad::Box& reach) {
  surface_[organ] = surface;
  sweep_.set(broad::ObjectId(static_cast<std::uint32_t>(organ)), united(surface, reach));
}

void NearPairs::set_instrument(std::size_t instrument, const broad::Box& box) {
  instrument_[instrument] = box;
  sweep_.set(broad::ObjectId(static_cast<std::uint32_t>(organs_ + instrument)), box);
}

void NearPairs::update() {
  sweep_.update();
  near_.clear();
  organ_pairs_.clear();
  instrument_pairs_.clear();
  const auto organs = static_cast<std::uint32_t>(organs_);
  std::uint32_t listed = 0;  // organs whose instruments are all listed
  const auto close_until = [&](std::uint32_t organ) {
    while (listed < organ) first_near_[++listed] = static_cast<std::uint32_t>(near_.size());
  };
  for (const broad::Pair& pair : sweep_.pairs()) {
    const std::uint32_t first = index(pair.first), second = index(pair.second);
    if (first >= organs) {
      instrument_pairs_.push_back({first - organs, second - organs});
    } else if (second < organs) {
      if (!alone_[first] && !alone_[second]) organ_pairs_.push_back({first, second});
    } else if (overlap(surface_[first], instrument_[second - organs])) {
      close_until(first);
      near_.push_back(second - organs);
    }
  }
  close_until(organs);
}

std::span<const std::uint32_t> NearPairs::instruments_near(std::size_t organ) const {
  return std::span(near_).subspan(first_near_[organ], first_near_[organ + 1] - first_near_[organ]);
}

InstrumentClash clash_of(std::uint32_t first, const ToolPose& a, std::uint32_t second, const ToolPose& b) {
  const closest::Segment shaft_a = closest::segment(a.pivot, a.tip), shaft_b = closest::segment(b.pivot, b.tip);
  const closest::SegmentPair pair = closest::closest_segments(shaft_a, shaft_b);
  const glm::dvec3 on_a = shaft_a.p + pair.u * shaft_a.d, on_b = shaft_b.p + pair.v * shaft_b.d;
  const double apart = std::sqrt(pair.squared), distance = apart - a.radius - b.radius;
  // `share` leads from a's axis to the point halfway between the surfaces. Where the axes cross, the direction is
  // undefined.
  const double share = apart > 0.0 ? (a.radius + 0.5 * distance) / apart : 0.0;
  return {first, second, distance, on_a + share * (on_b - on_a)};
}

OrganQueries::OrganQueries(BackendChoice backend, std::size_t organs, std::size_t instruments)
    : backend_(std::move(backend)), near_pairs_(organs, instruments), asked_(organs) {
  clashes_.reserve(instruments * instruments / 2);
}

void OrganQueries::take_over(BackendChoice backend, BackendTimes& times) {
  backend_ = std::move(backend);
  times.name = backend_.name;
  times.start_again();
}

void OrganQueries::find_near_pairs(TissueWorld& world, const Instruments& instruments, double dt) {
  world.measure();
  for (std::size_t k = 0; k < world.organs().size(); ++k)
    near_pairs_.set_organ(k, world.organs()[k].box, world.reach_of(k, dt));
  for (std::size_t k = 0; k < instruments.size(); ++k) near_pairs_.set_instrument(k, instruments.box(k));
  near_pairs_.update();
  for (std::size_t k = 0; k < asked_.size(); ++k)
    asked_[k].split(instruments.frame_volumes(), near_pairs_.instruments_near(k));
  clashes_.clear();
  for (const auto& [first, second] : near_pairs_.instrument_pairs())
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
    times.touched += asked_[k].touches.size();
  }
  stage_ms[kUpdate] = static_cast<float>(sum.update_ms);
  stage_ms[kQuery] = static_cast<float>(sum.query_ms()) + failing_ms;
  if (anyone) times.keep(sum);
}

}  // namespace trocar

// Plans how a performer divides connective tissue with the hook: strand by strand, the most stretched of the near ones
// first, away from what must not burn; and how it frees a hook that tissue has caught.
// Tested in tests/sim/hand_movement_test.cpp, tests/sim/operation_test.cpp, tests/sim/recorded_task_test.cpp
#include <algorithm>
#include <optional>

#include "mesh/tube_shape.hpp"
#include "sim/task/performer.hpp"
#include "sim/task/task_goal.hpp"

namespace trocar {
namespace {

// From the strand to the tip; the wire ends a radius of the shaft beyond the tip.
constexpr double kBeyond = 0.0027;  // m
// Strands this near are divided without withdrawing the hook if they are at least this long: shorter ones lie hidden,
// and on a straight path to them the hook would pierce an organ.
constexpr double kClose = 0.008, kExposed = 0.0008;  // m
// By how much a strand may be further away when it is longer by 1: long ones are exposed, short ones lie hidden between
// the organs.
constexpr double kStretched = 5.0;
constexpr double kForTaut = 0.03, kForTry = 0.01, kForUnsafe = 0.1;  // m   nearer; further
constexpr double kForFront = 0.05;  // m   nearer, when all strands around it are divided
constexpr double kForCooked = 1.5;  // m/s  further, where a hollow organ is burnt
constexpr double kHot = 0.002;      // m    in front of the strand, where the hook becomes hot
constexpr double kTooDeep = 0.012;  // m    beyond the strand, of a faulty trainee
constexpr double kStop = 0.3;       // N   the hook does not press harder on an organ
// N   on a hook that moves out, at strands of a duct or vessel and elsewhere: it is caught.
constexpr double kCaughtAtDuct = 0.25, kCaught = 0.4;
constexpr double kStrandWait = 0.05;  // s   at a strand that does not break
// For which organs may burn at the first attempt at a strand; each further one may take half as long again.
constexpr double kHeat = 0.06, kMostHeat = 0.1;  // s

// Metal that is hot keeps this far from the lines of ducts and vessels, whose radius is up to 3 mm; at strands where it
// cannot, it works last. The foot of the hook is kFoot long.
constexpr double kClearOfHeat = 0.0045, kUnsafe = 0.0035, kFoot = 0.0035;  // m
constexpr double kWayOut = 0.012;  // m   on which the foot of a hook that moves out may catch a duct

glm::dvec3 along_strand(const FibreEnds& ends, double share) {
  return glm::mix(glm::dvec3(ends.a), glm::dvec3(ends.b), share);
}

}  // namespace

// A strand is divided away from ducts and vessels; else near the organ that has no limit for burns, or away from a
// hollow one, which a burn may open.
void Performer::choose_aims(const TaskStage& stage) {
  constexpr double kSafe = 0.0055;  // m   shorter strands lie too near to the duct or vessel
  constexpr double kNear = 0.3, kFromTube = 0.55, kFromHollow = 0.7;  // 1
  const auto limited = [&](std::uint32_t organ) {
    return organ < stage.organs.size() && std::ranges::count(task_.limits, stage.organs[organ], &TaskLimit::organ) > 0;
  };
  const auto tube = [&](std::uint32_t organ) { return organ < stage.lines.size() && !stage.lines[organ].empty(); };
  limited_ = tubes_ = hollow_ = 0;
  for (std::uint32_t organ = 0; organ < stage.lines.size(); ++organ)
    if (tube(organ)) tubes_ |= organ_bit(organ);
  for (const TaskLimit& limit : task_.limits) {
    limited_ |= organ_bit(organ_of(stage, limit.organ));
    if (limit.most_bile_ml > 0.0) hollow_ |= organ_bit(organ_of(stage, limit.organ));
  }
  const auto hollow = [&](std::uint32_t organ) { return organ != kWall && (hollow_ & organ_bit(organ)) != 0; };
  fibres_ = stage.fibres;
  aim_at_.clear();
  shortest_.clear();
  for (const StageFibre& fibre : stage.fibres) {
    const bool a = tube(fibre.a) || limited(fibre.a), b = tube(fibre.b) || limited(fibre.b);
    shortest_.push_back(tube(fibre.a) || tube(fibre.b) ? kSafe : 0.0);
    if (tube(fibre.a) != tube(fibre.b))
      aim_at_.push_back(tube(fibre.a) ? kFromTube : 1.0 - kFromTube);
    else if (a && b && hollow(fibre.a) != hollow(fibre.b))
      aim_at_.push_back(hollow(fibre.a) ? kFromHollow : 1.0 - kFromHollow);
    else
      aim_at_.push_back(a == b ? 0.5 : b ? kNear : 1.0 - kNear);
  }
}

// The hook has burnt an organ at a strand: strands of this tissue are divided further away from it, and those nearby
// later.
void Performer::aim_away(const Observation& seen, std::uint32_t fibre, std::uint32_t heats) {
  constexpr double kShift = 0.1, kFurthest = 0.1;  // 1
  constexpr double kNearby = 0.006, kLater = 0.5;  // m, tries
  const bool a = (heats & organ_bit(fibres_[fibre].a)) != 0, b = (heats & organ_bit(fibres_[fibre].b)) != 0;
  const double shift = a == b ? 0.0 : a ? kShift : -kShift;
  for (std::size_t f = 0; f < fibres_.size(); ++f) {
    if (fibres_[f].group != fibres_[fibre].group) continue;
    aim_at_[f] = std::clamp(aim_at_[f] + shift, kFurthest, 1.0 - kFurthest);
    if (glm::distance(middle_of(seen.fibres.ends[f]), middle_of(seen.fibres.ends[fibre])) < kNearby)
      tries_[f] += kLater;
  }
}

// The hook burns a hollow organ for `dt` seconds. A second burn beside it would go deeper: strands nearby are
// divided later.
void Performer::note_burn(const Observation& seen, double dt) {
  constexpr double kNearby = 0.004;  // m
  for (std::size_t f = 0; f < fibres_.size(); ++f)
    if (glm::distance(middle_of(seen.fibres.ends[f]), tip_) < kNearby) cooked_[f] += dt;
}

// Returns the direction in which strands of a step are fewer.
glm::dvec3 Performer::free_side(const Observation& seen, std::size_t step, std::uint32_t fibre) const {
  constexpr double kAround = 0.02;  // m
  const glm::dvec3 at = middle_of(seen.fibres.ends[fibre]);
  glm::dvec3 sum(0.0);
  for (const std::uint32_t f : steps_->fibres(step)) {
    const glm::dvec3 other = middle_of(seen.fibres.ends[f]);
    if (seen.fibres.intact[f] && glm::distance(at, other) < kAround) sum += at - other;
  }
  return sum;
}

// Of the points around the planned one, chooses the nearest at which the hot metal stays clear of ducts and vessels,
// and the foot, too, when it moves out, or the clearest. The foot lies across strand and shaft: it points away from a
// near duct or vessel, else to the side that is free, because under tissue that is still joined it would be caught.
Performer::StrandAim Performer::aim_at_strand(const Observation& seen, std::size_t step, std::uint32_t fibre) const {
  constexpr double kStep = 0.1, kFirst = 0.1, kLast = 0.9;  // 1
  constexpr double kPerShare = 0.002;  // m  of clearance for which the aim moves by the whole strand
  const FibreEnds& ends = seen.fibres.ends[fibre];
  const glm::dvec3 pivot = instruments_[tool_of_kind(InstrumentKind::Hook)].pivot;
  const glm::dvec3 across = glm::cross(glm::dvec3(ends.b - ends.a), pivot - middle_of(ends));
  const glm::dvec3 side = glm::length(across) > 0.0 ? glm::normalize(across) : glm::dvec3(0.0);
  const glm::dvec3 free = free_side(seen, step, fibre);
  StrandAim best{.share = aim_at_[fibre], .foot = free, .clearance = INFINITY};
  double most = -INFINITY;
  for (double moved = 0.0; duct_points_ && moved < kLast - kFirst; moved += kStep)
    for (const double sign : {1.0, -1.0}) {
      const double share = std::clamp(aim_at_[fibre] + sign * moved, kFirst, kLast);
      const glm::dvec3 at = along_strand(ends, share), out = at + kHot * glm::normalize(pivot - at);
      const double wire = duct_points_->clearance(at, out);
      for (const double towards : {1.0, -1.0}) {
        const glm::dvec3 tip = at + towards * kFoot * side;
        const double clearance = std::min(wire, duct_points_->clearance(at, tip));
        const double way_out = duct_points_->clearance(tip, tip + kWayOut * glm::normalize(pivot - tip));
        const bool to_free = towards * glm::dot(side, free) >= 0.0;
        const double worth = std::min(clearance, kClearOfHeat) + std::min(way_out, kClearOfHeat) - kPerShare * moved +
                             (to_free ? 1e-4 : 0.0);
        if (worth > most) most = worth, best = {share, to_free ? free : towards * side, clearance};
      }
    }
  return best;
}

// Returns the share of the strands of the same tissue around a strand, at rest, that are divided: it is on the front of
// the dissection, or behind it, where the hook can reach it.
double Performer::divided_around(const Observation& seen, std::uint32_t fibre) const {
  constexpr double kAround = 0.008;  // m
  double all = 0.0, divided = 0.0;
  for (std::size_t f = 0; f < fibres_.size(); ++f) {
    if (f == fibre || fibres_[f].group != fibres_[fibre].group) continue;
    if (double(glm::distance(fibres_[f].rest, fibres_[fibre].rest)) > kAround) continue;
    all += 1.0, divided += seen.fibres.intact[f] ? 0.0 : 1.0;
  }
  return all > 0.0 ? divided / all : 1.0;
}

// Returns the strand that is divided next.
std::optional<std::uint32_t> Performer::next_strand(const Observation& seen, std::size_t step) const {
  const std::size_t tool = tool_of_kind(InstrumentKind::Hook);
  const glm::dvec3 pivot = instruments_[tool].pivot, now = poses_[tool].tip;
  std::optional<std::uint32_t> best;
  double most = -INFINITY;
  for (const std::uint32_t f : steps_->fibres(step)) {
    if (!seen.fibres.intact[f]) continue;
    const FibreEnds& ends = seen.fibres.ends[f];
    const double length = glm::distance(ends.a, ends.b);
    const bool unsafe = length < shortest_[f] || aim_at_strand(seen, step, f).clearance < kUnsafe;
    const double worth = kStretched * length + (length > kTaut ? kForTaut : 0.0) + kForFront * divided_around(seen, f) -
                         kForTry * tries_[f] - (unsafe ? kForUnsafe : 0.0) - kForCooked * cooked_[f] -
                         0.5 * glm::distance(middle_of(ends), now) - glm::distance(middle_of(ends), pivot);
    if (worth > most) most = worth, best = f;
  }
  return best;
}

// Counts an attempt at a strand, and the attempts since any was divided.
void Performer::count_attempt(const Observation& seen, std::size_t step, std::uint32_t fibre) {
  const std::ptrdiff_t left =
      std::ranges::count_if(steps_->fibres(step), [&](std::uint32_t f) { return seen.fibres.intact[f] != 0; });
  fruitless_ = left == left_ ? fruitless_ + 1 : 0;
  left_ = left;
  ++tries_[fibre];
}

// Must the hook move out before it goes to a strand? It must when the strand is far away or hidden, when it presses on
// an organ, or when it would take a duct or vessel along that lies between.
bool Performer::moves_out_before(const Observation& seen, std::uint32_t fibre, const StrandAim& aimed) const {
  const std::size_t tool = tool_of_kind(InstrumentKind::Hook);
  const FibreEnds& ends = seen.fibres.ends[fibre];
  const glm::dvec3 pivot = instruments_[tool].pivot, now = poses_[tool].tip;
  const glm::dvec3 wire = now - kBeyond * glm::normalize(pivot - now);
  return pressed_ || glm::distance(middle_of(ends), now) > kClose ||
         glm::length(glm::dvec3(ends.b - ends.a)) < kExposed ||
         (duct_points_ && duct_points_->clearance(wire, along_strand(ends, aimed.share)) < kUnsafe);
}

// Moves the hook to the next strand, or tissue so that the strand is exposed.
void Performer::plan_dissect(const Observation& seen, std::size_t step) {
  const std::size_t tool = tool_of_kind(InstrumentKind::Hook);
  if (duct_points_) duct_points_->follow(seen.fibres.ends);
  const std::optional<std::uint32_t> fibre = next_strand(seen, step);
  if (!fibre) {
    then([now = poses_[tool].tip](const Observation&, double) { return now; }).tool = tool;
    return;
  }
  count_attempt(seen, step, *fibre);
  caught_from_ = shortest_[*fibre] > 0.0 ? kCaughtAtDuct : kCaught;
  if (swing(seen, step, *fibre) || pull_on(seen, step, *fibre)) return;
  plan_strand(seen, *fibre, aim_at_strand(seen, step, *fibre));
}

// Moves the hook to a strand. The wire crosses the strand, and its foot points along the tissue. It is hot only in the
// tissue.
void Performer::plan_strand(const Observation& seen, std::uint32_t fibre, const StrandAim& aimed) {
  const std::size_t tool = tool_of_kind(InstrumentKind::Hook);
  const FibreEnds& ends = seen.fibres.ends[fibre];
  const glm::dvec3 strand(ends.b - ends.a);
  const auto across = glm::length(strand) > 1e-4 ? std::optional(glm::normalize(strand)) : std::nullopt;
  const double away = glm::distance(middle_of(ends), poses_[tool].tip);
  const auto at = [=, error = aim(), pivot = instruments_[tool].pivot](double back) -> Goal {
    return [=](const Observation& later, double) {
      const glm::dvec3 target = along_strand(later.fibres.ends[fibre], aimed.share) + error;
      return target + (back + kBeyond) * glm::normalize(pivot - target);
    };
  };
  if (moves_out_before(seen, fibre, aimed)) {
    pressed_ = false;
    back_out(tool);
    Move& before = then(at(kBack));
    before.tool = tool, before.across = across, before.foot = aimed.foot, before.wait = 0.2;
  }
  const auto slide = [=, this](double back) -> Move& {
    Move& move = then([this, goal = at(back)](const Observation& later, double share) {
      return glm::mix(from_, goal(later, 1.0), share);
    });
    move.tool = tool, move.across = across, move.foot = aimed.foot, move.stop = kStop, move.fibre = fibre;
    return move;
  };
  if (style_.mistake == Fault::DeepBurn) {
    then(at(-kTooDeep)).tool = tool;
    moves_.back().energy = Diathermy::Cut, moves_.back().wait = 1.0;
    return;
  }
  if (away > kHot) slide(kHot).duration = std::max(0.1, (std::min(away, kBack) - kHot) / kApproach);
  Move& cut = slide(0.0);
  cut.energy = Diathermy::Cut, cut.spare = limited_ | tubes_;
  cut.most_heat = std::min(kHeat * (0.5 + 0.5 * tries_[fibre]), kMostHeat);
  cut.duration = std::max(0.1, std::min(away, kHot) / style_.slide);
  cut.wait = kStrandWait;
}

// Moves the hook, whose foot has caught tissue, back on the path on which it came; if that does not help, pushes it a
// little in and turns it by a third. Then it moves out again.
void Performer::free_hook() {
  constexpr double kIn = 0.003, kThird = 120.0;  // m, deg
  constexpr int kMostAttempts = 6;
  const std::size_t tool = tool_of_kind(InstrumentKind::Hook);
  const glm::dvec3 now = poses_[tool].tip;
  if (freed_ == 0 && !way_in_.empty()) {
    const double took = way_in_.back().time - way_in_.front().time;
    way_in_.push_back({now, poses_[tool].roll_deg, last_});
    Move& back = then([=, way = way_in_](const Observation&, double share) {
      const double at = (1.0 - share) * double(way.size() - 1);
      const auto k = std::min(static_cast<std::size_t>(at), way.size() - 2);
      return glm::mix(way[k].tip, way[k + 1].tip, at - double(k));
    });
    back.tool = tool, back.duration = 2.0 * std::max(0.5, took);
    back.roll = way_in_.front().roll_deg, back.withdraws = true, back.stop = 2.0 * caught_from_;
  } else {
    const glm::dvec3 in = now - kIn * glm::normalize(instruments_[tool].pivot - now);
    Move& move = then([=](const Observation&, double share) { return glm::mix(now, in, share); });
    move.tool = tool, move.duration = kThird / kSlowTurn, move.roll = poses_[tool].roll_deg + kThird;
  }
  back_out(tool);
  if (++freed_ > kMostAttempts) moves_.back().stop = 0.0;
}

}  // namespace trocar

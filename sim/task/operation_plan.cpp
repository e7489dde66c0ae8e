// Plans how a performer does the steps of an operation, one after the other. The grasper holds what it has retracted
// while another instrument works.   Hook: hook_plan.cpp; clips: clip_plan.cpp.   Tested in
// tests/sim/operation_test.cpp, tests/sim/recorded_task_test.cpp
#include <algorithm>
#include <memory>
#include <optional>

#include "geometry/elementary.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/task/duct_line.hpp"
#include "sim/task/performer.hpp"
#include "sim/task/task_goal.hpp"

namespace trocar {
namespace {

constexpr double kGraspAbove = 0.012;  // m    above the surface, before a grasp
constexpr double kInJaws = 0.005;      // m    of a duct, from the tip of the grasper
constexpr double kGraspForce = 1.5;    // N    of open jaws on the tissue that they grasp
constexpr double kAgainForce = 0.4;    // N    the same, later: the tissue may hang loosely, and would be pushed away
constexpr int kMostGrasps = 8;         // of one grasper, of tissue that slipped out
constexpr double kDuctSlope = 1e-3;    // m    over which the direction of a duct is measured
constexpr double kFurther = 1.25;      // 1    distance of a retraction, relative to the wanted one
constexpr double kLiftSpeed = 0.012;   // m/s  of retracted tissue
constexpr double kPullOut = 0.03;      // m/s  of loose tissue: faster, it slips out of the jaws
// Strands shorter than kTaut are put under tension first: the grasper that holds nearest to them pulls by kPull more,
// up to kMostPull, while no strand near them is longer than kPullUpTo. With failed attempts at a strand, or kForFailure
// since any strand was divided, both limits grow, as long as the grasper feels less than kGentle.
constexpr double kPullUpTo = 0.007, kUpToMore = 0.001, kUpToMost = 0.011;    // m
constexpr double kPull = 0.002, kMostPull = 0.006, kMostPullBefore = 0.004;  // m
constexpr double kMostMore = 0.030;                                          // m
constexpr double kForFailure = 3.0;                                          // 1
constexpr double kGentle = 1.0;                                              // N
constexpr double kMostTries = 3.0;                                           // at a strand, before more tension
constexpr int kBeforeSwing = 8;                                              // attempts
constexpr double kSwing = 0.008;                                             // m    to each side
constexpr double kAfterPull = 0.5;                                           // s   tissue comes to rest

}  // namespace

void Performer::plan_operation(const Observation& seen, const TaskFeed& feed) {
  // The tissue is at rest when the operation begins.
  if (!duct_points_ && !seen.fibres.ends.empty()) duct_points_.emplace(lines_, fibres_, seen.fibres.ends);
  std::size_t step = feed.step.value_or(0);
  if (style_.mistake == Fault::NoView)
    while (step + 1 < steps_->size() && steps_->at(step).kind == StepKind::Dissect && steps_->at(step).before_division)
      ++step;
  if (caught_) return free_hook();
  if (steps_->at(step).kind != StepKind::Dissect && withdraw(tool_of_kind(InstrumentKind::Hook))) return;
  if (pull_before(seen, step)) return;
  if (steps_->at(step).kind == StepKind::Dissect && hold_again(seen, step)) return;
  switch (steps_->at(step).kind) {
    case StepKind::Retract:
      return plan_retract(seen, step);
    case StepKind::Dissect:
      return plan_dissect(seen, step);
    case StepKind::Divide:
      return plan_clip(seen);
    case StepKind::Remove:
      return plan_remove(seen, step);
  }
}

// Takes an instrument out of the field, with open jaws. Returns whether it was in it.
bool Performer::withdraw(std::size_t tool) {
  constexpr double kAtHome = 0.01;  // m
  constexpr double kOpening = 0.4;  // s
  if (tool == instruments_.size()) return false;
  const glm::dvec3 now = poses_[tool].tip, home = instruments_[tool].tip;
  if (glm::distance(now, home) < kAtHome) return false;
  const double grip = has_jaws(instruments_[tool].kind) ? 1.0 : 0.0;
  const auto move_to = [&](const glm::dvec3& place) -> Move& {
    Move& move = then([place](const Observation&, double) { return place; });
    move.tool = tool, move.grip = grip;
    return move;
  };
  if (poses_[tool].grip < grip) move_to(now).duration = kOpening;
  back_out(tool);
  move_to(home);
  return true;
}

// Moves an instrument a little towards its trocar.
void Performer::back_out(std::size_t tool) {
  Move& move = then([this, pivot = instruments_[tool].pivot](const Observation&, double share) {
    return from_ + share * kBack * glm::normalize(pivot - from_);
  });
  move.tool = tool, move.duration = kBack / kApproach;
  if (instruments_[tool].kind == InstrumentKind::Hook) move.withdraws = true, move.stop = caught_from_;
}

std::size_t Performer::grasper_named(const std::string& name) const {
  const auto named = std::ranges::find(instruments_, name, &InstrumentScene::name);
  if (named == instruments_.end()) return tool_of_kind(InstrumentKind::Grasper);
  return static_cast<std::size_t>(named - instruments_.begin());
}

std::size_t Performer::grasper_of(std::size_t step) const { return grasper_named(steps_->at(step).instrument); }

// Does the grasper of a step hold its target? It has slipped out when it is far from the tip.
bool Performer::holds(const Observation& seen, std::size_t step) const {
  constexpr double kHeld = 0.01;  // m
  const std::size_t tool = grasper_of(step);
  const glm::dvec3 target(seen.marks[steps_->mark_of(step)]);
  return poses_[tool].grip < 0.1 && glm::distance(target, poses_[tool].tip) < kHeld;
}

// Moves a grasper that holds tissue.
void Performer::pull(std::size_t tool, const glm::dvec3& by, double wait) {
  const glm::dvec3 from = poses_[tool].tip;
  Move& move = then([=](const Observation&, double share) { return from + share * by; });
  move.tool = tool, move.grip = 0.0, move.duration = kPull / kLiftSpeed, move.wait = wait;
}

// Returns how to grasp a duct at a mark; none at a mark on another organ.
std::optional<Performer::DuctGrip> Performer::duct_grip(std::size_t mark) const {
  const SurfaceMark& on = steps_->marks()[mark - task_.locations.size()];
  const std::vector<glm::dvec3>& line = lines_[on.organ];
  if (line.empty()) return std::nullopt;
  const double along = trocar::along_line(line, rest_[mark]);
  return DuctGrip{point_on_line(line, along) - rest_[mark],
                  glm::normalize(point_on_line(line, along + kDuctSlope) - point_on_line(line, along - kDuctSlope))};
}

// Opens the jaws, moves onto the target, closes, and pulls. The jaws stay closed.
void Performer::plan_retract(const Observation& seen, std::size_t step) {
  const std::size_t tool = grasper_of(step), mark = steps_->mark_of(step);
  const glm::dvec3 error = aim();
  const glm::dvec3 up = glm::normalize(glm::dvec3(steps_->at(step).direction));
  if (holds(seen, step)) return pull(tool, kPull * up, steps_->at(step).hold + 0.3);
  swung_[tool] = glm::dvec3(0.0);
  const std::optional<DuctGrip> duct = duct_grip(mark);
  const glm::dvec3 pivot = instruments_[tool].pivot;
  // The jaws close around a duct, from the trocar's direction; other tissue is grasped along its normal at rest. When
  // that has failed again, it may have turned over, and is grasped from the trocar's direction as well.
  const bool along_shaft = duct || (grasped_again_[tool] > 0 && grasped_again_[tool] % 2 == 0);
  const glm::dvec3 aside = error + (duct ? duct->to_centre : glm::dvec3(0.0));
  const auto around = [=](double back) -> Goal {
    return [=](const Observation& later, double) {
      const glm::dvec3 centre = glm::dvec3(later.marks[mark]) + aside;
      return centre + back * glm::normalize(pivot - centre);
    };
  };
  const auto along = [=, this](const Observation& later, double share) {
    return around(instruments_[tool].radius - depth_)(later, share);
  };
  const Goal over = along_shaft ? around(kBack) : above(mark, kGraspAbove, error);
  Goal target = onto(mark, error);
  if (along_shaft) target = along;
  if (duct) target = around(-kInJaws);
  const auto add = [&](Goal goal, double grip) -> Move& {
    Move& move = then(std::move(goal));
    move.tool = tool, move.grip = grip;
    if (duct) move.across = duct->direction;
    return move;
  };
  add(over, 1.0).wait = 0.3;
  Move& press = add(target, 1.0);
  press.force = std::max(grasped_again_[tool] > 0 ? kAgainForce : kGraspForce, style_.force);
  press.wait = style_.careless ? 0.0 : 0.4;
  Move& close = add(target, 0.0);
  close.force = press.force, close.duration = 0.6, close.wait = 0.3;
  const auto start = std::make_shared<std::optional<glm::dvec3>>();
  // What leaves the field is pulled out later.
  const bool leaves = steps_->at(step).kind == StepKind::Remove;
  const double height = leaves ? kPull : kFurther * steps_->at(step).lift;
  Move& lift = add(
      [=, this](const Observation&, double share) {
        if (!*start) *start = tip_;
        return **start + share * height * up;
      },
      0.0);
  lift.duration = height / kLiftSpeed;
  lift.wait = steps_->at(step).hold + 0.5;
}

// Moves what graspers hold to where this step wants it, once; grasps again what has slipped out. Returns whether it
// does.
bool Performer::pull_before(const Observation& seen, std::size_t next) {
  for (const StepPull& wanted : steps_->at(next).pulls) {
    const std::size_t tool = grasper_named(wanted.instrument);
    for (std::size_t step = 0; step < steps_->size(); ++step) {
      if (steps_->at(step).kind != StepKind::Retract || grasper_of(step) != tool) continue;
      if (!holds(seen, step)) {
        if (grasp_again(seen, step)) return true;
        continue;
      }
      if (pulled_for_[tool] == next) continue;
      pulled_for_[tool] = next;
      swung_[tool] = glm::dvec3(0.0), pulled_[tool] = 0.0;
      const std::size_t mark = steps_->mark_of(step);
      const glm::dvec3 by = rest_[mark] + glm::dvec3(wanted.to) - glm::dvec3(seen.marks[mark]);
      pull(tool, by, kAfterPull);
      moves_.back().duration = std::max(0.5, glm::length(by) / kLiftSpeed);
      return true;
    }
  }
  return false;
}

// Grasps again what has slipped out in a retraction, unless that has failed too often. Returns whether it does.
bool Performer::grasp_again(const Observation& seen, std::size_t retraction) {
  const std::size_t tool = grasper_of(retraction);
  if (grasped_again_[tool] == kMostGrasps) return false;
  pulled_for_[tool] = kNone;
  if (withdraw(tool_of_kind(InstrumentKind::Hook))) return true;
  ++grasped_again_[tool];
  plan_retract(seen, retraction);
  return true;
}

// Is a step the last one before `next` in which its grasper retracts?
bool Performer::retracts_last(std::size_t step, std::size_t next) const {
  for (std::size_t later = step + 1; later < next; ++later)
    if (steps_->at(later).kind == StepKind::Retract && grasper_of(later) == grasper_of(step)) return false;
  return steps_->at(step).kind == StepKind::Retract;
}

// A dissection without tension fails: grasps again what the last retraction of a grasper has lost. A careless hand does
// not notice. Returns whether it does.
bool Performer::hold_again(const Observation& seen, std::size_t next) {
  if (style_.careless) return false;
  for (std::size_t step = 0; step < next; ++step)
    if (retracts_last(step, next) && !holds(seen, step) && grasp_again(seen, step)) return true;
  return false;
}

// Returns the direction in which a step pulls what a retraction holds.
glm::dvec3 Performer::pulls_along(std::size_t step, std::size_t retraction) const {
  for (const StepPull& pull : steps_->at(step).pulls)
    if (grasper_named(pull.instrument) == grasper_of(retraction) && glm::length(pull.to) > 0.f)
      return glm::normalize(glm::dvec3(pull.to));
  return glm::normalize(glm::dvec3(steps_->at(retraction).direction));
}

// Returns the retraction whose grasper holds nearest to a strand, among those that may move.
std::optional<std::size_t> Performer::nearest_hold(const Observation& seen, std::uint32_t fibre,
                                                   const std::function<bool(std::size_t tool)>& may) const {
  std::optional<std::size_t> best;
  double nearest = INFINITY;
  for (std::size_t step = 0; step < steps_->size(); ++step) {
    if (steps_->at(step).kind != StepKind::Retract || !holds(seen, step) || !may(grasper_of(step))) continue;
    const double away = glm::distance(poses_[grasper_of(step)].tip, middle_of(seen.fibres.ends[fibre]));
    if (away < nearest) best = step, nearest = away;
  }
  return best;
}

// Pulls further on what the nearest grasper holds when a strand is slack and none near it is stretched far. Returns
// whether it does.
bool Performer::pull_on(const Observation& seen, std::size_t dissected, std::uint32_t fibre) {
  constexpr double kNearby = 0.015;  // m
  const auto length = [&](std::uint32_t f) {
    return double(glm::distance(seen.fibres.ends[f].a, seen.fibres.ends[f].b));
  };
  const glm::dvec3 at = middle_of(seen.fibres.ends[fibre]);
  double longest = 0.0;
  for (std::size_t step = 0; step < steps_->size(); ++step)
    for (const std::uint32_t f : steps_->fibres(step))
      if (seen.fibres.intact[f] && shortest_[f] == 0.0 && glm::distance(middle_of(seen.fibres.ends[f]), at) < kNearby)
        longest = std::max(longest, length(f));
  const bool taut = length(fibre) >= std::max(kTaut, shortest_[fibre]) && tries_[fibre] <= kMostTries;
  const bool on_duct = shortest_[fibre] > 0.0;
  const double failed = on_duct ? 0.0 : std::max({0.0, tries_[fibre] - 1.0, double(fruitless_) / kForFailure});
  const double up_to = std::min(kPullUpTo + kUpToMore * failed, kUpToMost);
  if (taut || longest >= std::max(up_to, 3.0 * shortest_[fibre])) return false;
  const double usual = steps_->at(dissected).before_division ? kMostPullBefore : kMostPull;
  const double most = usual + std::min(kPull * failed, kMostMore);
  const std::optional<std::size_t> best = nearest_hold(seen, fibre, [&](std::size_t tool) {
    const bool gentle = glm::length(glm::dvec3(seen.tools[tool].force)) < kGentle;
    return pulled_[tool] + kPull <= usual || (gentle && pulled_[tool] + kPull <= most);
  });
  if (!best) return false;
  const std::size_t tool = grasper_of(*best);
  pulled_[tool] += kPull;
  pull(tool, kPull * pulls_along(dissected, *best), 0.1);
  return true;
}

// When attempts have divided nothing for a while, moves what the nearest grasper holds to the other side, so that other
// strands are exposed. Returns whether it does.
bool Performer::swing(const Observation& seen, std::size_t dissected, std::uint32_t fibre) {
  if (shortest_[fibre] > 0.0 || fruitless_ < kBeforeSwing || fruitless_ % kBeforeSwing != 0) return false;
  const std::optional<std::size_t> held = nearest_hold(seen, fibre, [](std::size_t) { return true; });
  if (!held) return false;
  const std::size_t tool = grasper_of(*held);
  const glm::dvec3 view = instruments_[tool_of_kind(InstrumentKind::Hook)].pivot - poses_[tool].tip;
  const glm::dvec3 side = glm::cross(pulls_along(dissected, *held), view);
  if (!(glm::length(side) > 0.0)) return false;
  const double sign = glm::dot(swung_[tool], side) > 0.0 ? -1.0 : 1.0;
  const glm::dvec3 to = sign * kSwing * glm::normalize(side), by = to - swung_[tool];
  pull(tool, by, kAfterPull);
  moves_.back().duration = glm::length(by) / kLiftSpeed;
  swung_[tool] = to;
  ++fruitless_;
  return true;
}

// Pulls what the grasper holds out of the field; grasps again what it has lost. Then other graspers let go.
void Performer::plan_remove(const Observation& seen, std::size_t step) {
  const std::size_t tool = grasper_of(step);
  const glm::dvec3 tip = poses_[tool].tip, pivot = instruments_[tool].pivot;
  if (!holds(seen, step)) {
    ++grasped_again_[tool];
    return plan_retract(seen, step);
  }
  for (std::size_t other = 0; other < steps_->size(); ++other)
    if (steps_->at(other).kind == StepKind::Retract && grasper_of(other) != tool && withdraw(grasper_of(other))) return;
  const double way = kFurther * steps_->at(step).lift;
  const glm::dvec3 out = tip + way * glm::normalize(pivot - tip);
  Move& move = then([=](const Observation&, double share) { return glm::mix(tip, out, share); });
  move.tool = tool, move.grip = 0.0;
  move.duration = way / kPullOut, move.wait = steps_->at(step).hold + 0.5;
}

}  // namespace trocar

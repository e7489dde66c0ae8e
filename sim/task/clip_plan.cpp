// Plans how a performer clips and divides ducts: the next clip or the cut that the tissue still lacks, one duct after
// the other. The jaws close across the duct, near their tips.
// Tested in tests/sim/clip_and_cut_test.cpp and tests/sim/clip_movement_test.cpp
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "geometry/elementary.hpp"
#include "geometry/part.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/task/duct_line.hpp"
#include "sim/task/performer.hpp"

namespace trocar {
namespace {

// Distances of the clips from the target along the duct: the first and the second one on the side that stays, and the
// one on the other side.
constexpr double kFar = 0.0085, kNear = 0.004, kOther = 0.0045;  // m
constexpr double kBack = 0.030;                                  // m  in front of the duct, before and after
// From the middle of the duct to the end of the instrument: between the legs of a clip; between the blades.
constexpr double kLegs = 0.0045, kBlades = 0.0075;       // m
constexpr double kBladesOpen = 0.6;                      // 1   aperture: wider blades push the duct away
constexpr double kIn = 0.8;                              // s   of the last movement to the duct, and back
constexpr double kAgain = 0.001;                         // m
constexpr double kNearer = 0.001, kMostNearer = 0.0025;  // m  towards the target, after the second failed clip
constexpr double kSlope = 5e-4;                          // m   over which the direction of a duct is measured
// While jaws or blades go around a duct and close, they feel at most 0.07 N when it lies between them, and more when
// they push it aside.
constexpr double kAside = 0.1;          // N
constexpr double kAlmostClosed = 0.15;  // 1   aperture: it is too late to give way
constexpr int kMostAside = 3;           // times at the same point that a hand gives way
constexpr double kClear = 0.0025;       // m   of a cut from the middle of a clip; a nearer one may be cut off

}  // namespace

// A clumsy trainee forgets the clip on the other side of the last duct, and is content with one on the side that stays.
void Performer::plan_clip(const Observation& seen) {
  for (std::size_t mark = 0; mark < ducts_.size(); ++mark) {
    const Duct& duct = ducts_[mark];
    if (seen.tubes[duct.organ].divided) continue;
    int staying = 0, leaving = 0;
    for (const PlacedClip& placed : seen.clips) {
      if (!placed.on() || placed.clip.organ != duct.organ || placed.closed < kClosesTube) continue;
      ++((double(placed.along) < duct.along) == duct.starts ? staying : leaving);
    }
    const double towards = duct.starts ? -1.0 : 1.0;
    const bool hasty = style_.careless && attempts_ > 1, last = mark + 1 == ducts_.size();
    const std::size_t applier = tool_of_kind(InstrumentKind::ClipApplier);
    if (style_.mistake == Fault::Unclipped || task_.rules.clips_staying == 0.0)
      return close_on(seen, mark, tool_of_kind(InstrumentKind::Scissors), duct.along, kBlades, kBladesOpen);
    if (style_.mistake == Fault::WrongDuct && !wrong_duct_.line.empty())
      return close_on(seen, kNone, applier, wrong_duct_.along, kLegs, 1.0);
    const auto clip = [&](double beside) {
      if (const double planned = duct.along + beside; planned != clip_planned_)
        clip_planned_ = planned, clip_tries_ = 0;
      if (!gave_way_) ++clip_tries_;
      // Where no clip closes, the duct may run too near to an organ: the next ones move towards the target.
      const double nearer = std::min(kNearer * std::max(clip_tries_ - 2, 0), kMostNearer);
      close_on(seen, mark, applier, duct.along + beside - std::copysign(nearer, beside), kLegs, 1.0);
    };
    if (staying < (hasty ? 1 : static_cast<int>(task_.rules.clips_staying)))
      return clip(towards * (staying == 0 ? kFar : kNear));
    if (leaving == 0 && !(hasty && last)) return clip(-towards * kOther);
    return close_on(seen, mark, tool_of_kind(InstrumentKind::Scissors), cut_between_clips(seen, duct), kBlades,
                    kBladesOpen);
  }
  then([tip = tip_](const Observation&, double) { return tip; });
}

// Returns where to cut a duct, m along it: at the target, or where a clip is too near to it, in the middle between the
// clips on both sides, as far as the tolerance permits.
double Performer::cut_between_clips(const Observation& seen, const Duct& duct) const {
  double before = -INFINITY, after = INFINITY;
  for (const PlacedClip& placed : seen.clips) {
    if (!placed.on() || placed.clip.organ != duct.organ) continue;
    const auto at = static_cast<double>(placed.along);
    if (at < duct.along) before = std::max(before, at);
    if (at >= duct.along) after = std::min(after, at);
  }
  const bool clear = duct.along - before >= kClear && after - duct.along >= kClear;
  if (style_.careless || clear || !std::isfinite(before) || !std::isfinite(after)) return duct.along;
  return std::clamp(0.5 * (before + after), duct.along - task_.tolerance, duct.along + task_.tolerance);
}

// Returns where a point of a duct is now. Between marks on the duct the motion is interpolated.
glm::dvec3 Performer::point_of(const Observation& seen, const Duct& duct, std::size_t mark, double along) const {
  const auto moved = [&](std::size_t k, const glm::dvec3& rest) { return glm::dvec3(seen.marks[k]) - rest; };
  if (mark == kNone) return point_on_line(duct.line, along);
  const glm::dvec3 at = point_on_line(duct.line, along), middle = moved(mark, duct.rest);
  if (!steps_) return at + middle;
  const double share = (along - duct.along) / OperationSteps::kDuctSpan;
  const std::size_t k = steps_->duct_mark(mark) + (share > 0.0 ? 1 : 0);
  return at + glm::mix(middle, moved(k, duct.around[share > 0.0 ? 1 : 0]), std::min(std::abs(share), 1.5));
}

// Moves an instrument to a point of a duct, closes it there, opens it, and withdraws it. `mark`: kNone for the wrong
// duct, which is taken to be at rest. `beyond`: m, of its end from the middle of the duct.
void Performer::close_on(const Observation& seen, std::size_t mark, std::size_t tool, double along, double beyond,
                         double aperture) {
  const Duct& duct = mark == kNone ? wrong_duct_ : ducts_[mark];
  const glm::dvec3 pivot = instruments_[tool].pivot, error = aim(), home = instruments_[tool].tip;
  const glm::dvec3 direction =
      glm::normalize(point_of(seen, duct, mark, along + kSlope) - point_of(seen, duct, mark, along - kSlope));
  const double again = depth_of_next(along, beyond);
  const double from_tip = again - instruments_[tool].radius;
  // From the moment of closing, the hand stays where it is: a cut duct springs away.
  const auto closed_at = std::make_shared<std::optional<glm::dvec3>>();
  const auto goal = [=, this](double further, bool closing) -> Goal {
    return [=, this](const Observation& later, double) {
      const glm::dvec3 at = *closed_at ? **closed_at : point_of(later, duct, mark, along);
      if (closing) *closed_at = at;
      const glm::dvec3 target = at + error;
      return target + (from_tip + further) * glm::normalize(target - pivot);
    };
  };
  const auto move = [&](Goal to, double grip, double wait) -> Move& {
    Move& added = then(std::move(to));
    added.tool = tool, added.across = direction, added.grip = grip, added.wait = wait;
    return added;
  };
  const auto slide = [=](const Goal& from, const Goal& to) -> Goal {
    return [=](const Observation& seen, double share) { return glm::mix(from(seen, 1.0), to(seen, 1.0), share); };
  };
  const Goal before = goal(-kBack, false), in = goal(0.0, false), close = goal(0.0, true);
  const auto give_way_in = [&](Move& added) -> Move& {
    if (!style_.careless && times_aside_ < kMostAside) added.way_out = {before, aperture};
    return added;
  };
  move(before, aperture, 0.3);
  give_way_in(move(slide(before, in), aperture, 0.1)).duration = kIn;
  give_way_in(move(close, 0.0, 0.25)).duration = 0.4;
  move(close, 1.0, 0.1).duration = 0.4;
  move(slide(in, before), 1.0, 0.0).duration = kIn;
  move([home](const Observation&, double) { return home; }, 1.0, 0.0);
}

// Returns how far the instrument goes beyond the middle of a duct, m. Another attempt at the same point goes a little
// further or less far, unless the duct was pushed aside.
double Performer::depth_of_next(double along, double beyond) {
  if (along != last_along_)
    last_along_ = along, last_beyond_ = beyond, times_aside_ = 0;
  else if (!gave_way_)
    last_beyond_ += (last_beyond_ > beyond + 1e-3 ? -2.0 : 1.0) * kAgain;
  gave_way_ = false;
  return last_beyond_;
}

// A hand that feels how its instrument pushes a duct aside opens it, moves out, and aims again.
void Performer::give_way(const Observation& seen) {
  if (start_ < 0.0 || !moves_.front().way_out || poses_[tool_].grip < kAlmostClosed) return;
  if (glm::length(glm::dvec3(seen.tools[tool_].force)) <= kAside) return;
  const WayOut out = *moves_.front().way_out;
  moves_.clear();
  then(out.goal).grip = out.aperture;
  start_ = -1.0;
  gave_way_ = true, ++times_aside_;
}

// Rolls the instrument until its jaws, which turn about its x axis, close across the duct, or its hook crosses a
// strand; of the two ways the one that points the hook's foot towards `foot`, else the nearer one.
void Performer::turn_across(const glm::dvec3& direction, const glm::dvec3& foot, double dt) {
  DevicePose& pose = poses_[tool_];
  const ToolPose tool{pose.pivot, pose.tip, instruments_[tool_].radius};
  const RigidFrame now = tool_frame(tool, glm::radians(pose.roll_deg));
  const RigidFrame quarter = tool_frame(tool, glm::radians(pose.roll_deg + 90.0));
  double ahead = glm::dot(now.axes[0], direction), aside = glm::dot(quarter.axes[0], direction);
  // The foot lies along the y axis, which turns with x.
  const glm::dvec3 y = ahead * now.axes[1] + aside * quarter.axes[1];
  if (foot == glm::dvec3(0.0) ? ahead < 0.0 : glm::dot(y, foot) < 0.0) ahead = -ahead, aside = -aside;
  const double wanted = glm::degrees(elementary::atan2(aside, ahead));
  pose.roll_deg += std::clamp(wanted, -kTurn * dt, kTurn * dt);
}

}  // namespace trocar

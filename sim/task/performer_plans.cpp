// Plans the movements of a performer for each kind of task: one attempt after the other until the task is done. The
// task's progress determines the next attempt, so that a failed step is repeated.   Tested in
// tests/sim/task/performer_test.cpp
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "deform/contact/grasp.hpp"
#include "geometry/elementary.hpp"
#include "geometry/part.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/task/duct.hpp"
#include "sim/task/performer.hpp"
#include "sim/task/task_goal.hpp"
#include "sim/task/watches.hpp"

namespace trocar {
namespace {

constexpr double kAbove = 0.012;     // m   above the surface, before and after a touch
constexpr double kGraspForce = 1.5;  // N   of open jaws on the tissue that they grasp

// Returns the next one of n steps.
std::size_t step_of(double progress, std::size_t n) {
  return std::min(static_cast<std::size_t>(progress * double(n)), n - 1);
}

// Returns the position of the scope's tip from which a target is in the middle of the picture, at a distance. An
// oblique view leaves the line from the port through the target, so the tip is found by iteration; each step reduces
// the error by the distance over the depth of the rod.
glm::dvec3 eye_before(const glm::dvec3& port, const glm::dvec3& target, double distance, double angle_deg,
                      double spin_deg) {
  constexpr int kSteps = 24;
  glm::dvec3 eye = target - distance * glm::normalize(target - port);
  if (angle_deg == 0.0) return eye;
  for (int step = 0; step < kSteps; ++step) eye = target - distance * axes_of({port, eye, spin_deg, angle_deg}).forward;
  return eye;
}

}  // namespace

void Performer::plan(const Observation& seen, const TaskFeed& feed) {
  ++attempts_;
  // In an operation an expert does not stop to think; in peg transfer the pause is before a ring.
  const bool thinks = task_.kind != TaskKind::Operation || style_.pause > HandStyle{}.pause;
  if (thinks && task_.kind != TaskKind::PegTransfer) pause();
  switch (task_.kind) {
    case TaskKind::TouchTargets:
    case TaskKind::KeepOut:
      return plan_touch(feed);
    case TaskKind::NavigateCamera:
      return plan_camera(feed);
    case TaskKind::FollowCurve:
    case TaskKind::BurnLine:
      return plan_line(feed);
    case TaskKind::LiftOrgan:
      return plan_lift();
    case TaskKind::ClipAndCut:
      return plan_clip(seen);
    case TaskKind::Operation:
      return plan_operation(seen, feed);
    case TaskKind::PegTransfer:
      return plan_pegs(seen);
  }
}

// The plan goes above the target, down, holds, and goes back. With zones, a careful trainee draws back far before it
// crosses over.
void Performer::plan_touch(const TaskFeed& feed) {
  const std::size_t next = step_of(feed.progress, normals_.size());
  const bool careful = !task_.zones.empty() && !style_.careless;
  const double back = careful ? 0.055 : 0.0;
  const std::size_t wrong = step_of(chance(), normals_.size());
  const bool early = out_of_order(next);
  const std::size_t mark = blunders() ? wrong : early ? next + 1 : next;
  if (early) early_ = next;
  const glm::dvec3 error = aim();
  const double force = style_.force * (blunders() ? 2.0 : 1.0);
  const Goal over = above(mark, kAbove, error);
  if (careful) then(drawn_back(over, back));
  then(over);
  pause();
  Move& hold = then(onto(mark, 0.7 * error));
  hold.force = force;
  hold.wait = task_.hold + (style_.careless ? 1.5 : 0.4);
  hold.enough = double(next + 1) / double(normals_.size());
  then(over);
  if (careful) then(drawn_back(over, back));
}

// Points the scope at the target, close enough.
void Performer::plan_camera(const TaskFeed& feed) {
  const std::size_t next = step_of(feed.progress, normals_.size());
  const double half = elementary::tan(glm::radians(0.5 * double(scope_.field_of_view_deg)));
  const double readable = task_.tolerance / (0.15 * half);
  const glm::dvec3 port = poses_[tool_].pivot;
  const double angle = scope_.angle_deg, spin = poses_[tool_].roll_deg;
  const auto look = [=](std::size_t mark, double distance, const glm::dvec3& error) -> Goal {
    return [=](const Observation& seen, double) {
      return eye_before(port, glm::dvec3(seen.marks[mark]) + error, distance, angle, spin);
    };
  };
  if (style_.careless) {
    // First another target, or much too close.
    const std::size_t other = step_of(chance(), normals_.size());
    then(blunders() ? look(next, 0.012, aim()) : look(other, 1.4 * readable, 8.0 * aim()));
    pause();
  }
  Move& hold = then(look(next, (style_.careless ? 0.9 : 0.75) * readable, 2.0 * aim()));
  hold.wait = task_.hold + (style_.careless ? 2.0 : 0.5);
  hold.enough = double(next + 1) / double(normals_.size());
}

// The plan goes from the next point of the line to its end, in contact.
void Performer::plan_line(const TaskFeed& feed) {
  const bool burning = task_.kind == TaskKind::BurnLine;
  const std::size_t last = normals_.size() - 1;
  // A line with unburnt gaps is burnt again from its start, a little deeper.
  const std::size_t first = burning ? 0 : std::min(step_of(feed.progress, normals_.size()), last - 1);
  const double deeper = burning ? 0.0015 * double(attempts_ - 1) : 0.0;
  const bool clumsy = style_.careless;
  const std::size_t begin = first > 0 && clumsy ? first - 1 : first;
  then(above(begin, kAbove, aim()));
  pause();
  Move& down = then(onto(begin, aim()));
  down.energy = burning && clumsy ? Diathermy::Cut : Diathermy::Off, down.deeper = deeper;
  slide_along(begin, last, deeper, burning ? Diathermy::Cut : Diathermy::Off);
  if (burning && clumsy) {
    // Beyond the end, with the pedal still down.
    const double x = chance() - 0.5, y = chance() - 0.5;
    const glm::dvec3 beyond = 0.012 * glm::dvec3(x, y, 0.0);
    then(onto(last, beyond)).energy = Diathermy::Cut;
  }
  then(above(last, kAbove, glm::dvec3(0.0)));
}

void Performer::slide_along(std::size_t first, std::size_t last, double deeper, Diathermy energy) {
  const double radius = instruments_[tool_].radius;
  const double turns = 2.0 + 3.0 * chance(), phase = 6.0 * chance();
  Move& move = then([=, this](const Observation& seen, double share) {
    const double at = double(first) + share * double(last - first);
    const auto mark = std::min(static_cast<std::size_t>(at + 0.5), last);
    const glm::dvec3 n = normals_[mark], along = glm::dvec3(seen.marks[last]) - glm::dvec3(seen.marks[first]);
    const glm::dvec3 aside = glm::normalize(glm::cross(n, along));
    const double off = style_.wander * elementary::sin(6.28 * turns * share + phase);
    const double height = std::max(style_.wander * elementary::sin(9.0 * turns * share), 0.0) - depth_;
    return along_line(seen, first, last, share) + (radius + height) * n + off * aside;
  });
  move.duration = 0.003 * double(last - first) / style_.slide + 0.4;
  // A heavy hand still follows the line; it only presses more.
  move.energy = energy, move.heavy = 1.0, move.deeper = deeper;
}

// The plan opens the jaws, moves onto the target, closes, lifts, and holds. The clumsy trainee first grasps off target,
// then releases too early, and finally lifts much too high.
void Performer::plan_lift() {
  const bool clumsy = style_.careless, beside = clumsy && (attempts_ == 1 || blunders());
  const bool drops = clumsy && (attempts_ <= 2 || blunders());
  const glm::dvec3 error = aim() + (beside ? glm::dvec3(0.009, -0.004, 0.003) : glm::dvec3(0.0));
  const glm::dvec3 up = glm::normalize(glm::dvec3(0.0, 1.0, 1.0));
  then(above(0, kAbove, error)).grip = 1.0;
  pause();
  const Goal target = onto(0, error);
  Move& press = then(target);
  press.force = kGraspForce, press.wait = clumsy ? 0.0 : 0.3;
  // From the moment of closing, the hand stays where it is: what it holds would take it along, and move with it.
  const auto closed_at = std::make_shared<std::optional<glm::dvec3>>();
  Move& close = then([=](const Observation& seen, double share) {
    if (!*closed_at) *closed_at = target(seen, share);
    return **closed_at;
  });
  close.grip = 0.0, close.duration = 0.6, close.wait = 0.2;
  // Relative to the jaws' position, not to the target: the target moves with the jaws.
  const auto start = std::make_shared<std::optional<glm::dvec3>>();
  const double height = drops ? 0.6 * task_.lift : (clumsy ? 2.6 : 1.25) * task_.lift;
  Move& lift = then([=, this](const Observation&, double share) {
    if (!*start) *start = tip_;
    return **start + share * height * up;
  });
  lift.duration = clumsy ? 1.0 : 1.8;
  lift.wait = drops ? 0.3 : task_.hold + 1.0;
  Move& release = then([=](const Observation&, double) { return **start + height * up; });
  release.grip = 1.0, release.duration = 0.5;
}

// Plans peg transfer, one ring at a time: a hand lifts it by a long side, the other takes another side in the air and
// places it on a free peg of the other side of the board. The jaws come from above, one on each side of the wall. Each
// plan is one stage, chosen from what the hands hold: so a grasp that failed is tried again.

namespace {

// Aperture before a ring is grasped beside a peg, and in the air; to let go of it.
constexpr double kAroundWall = 0.16, kInTheAir = 0.32, kLetGo = 0.36;  // 1
constexpr double kOverRing = 0.020, kInto = 0.0065;                    // m  above its upper side, and below it
constexpr double kIntoInAir = 0.0055;                                  // m  below it, in the air
constexpr double kOverBoard = 0.003;                                   // m  of the end of the jaws
constexpr double kHandOver = 0.050;                                    // m  height of its middle in the air
constexpr double kOverPeg = 0.005;                                     // m  above the end of a peg
constexpr double kAbovePlace = 0.003;                                  // m  a ring is let go so high
constexpr double kOnPeg = 0.0045, kDownOnPeg = 0.6;                    // m, 1  from a peg's axis; of its height
// A ring is held by jaws that are closed and yet this far apart, and that both touched it so lately.
constexpr double kClosed = 0.01, kJawsApart = 0.02, kHeldLasts = 0.15;  // 1, 1, s
constexpr double kHangs = 0.006;                                        // m  above the board
constexpr double kStuck = 4.0;                                          // N  at which a ring is raised again
constexpr double kUpright = 0.8, kStillFrame = 2e-4, kStillFor = 0.15;  // cosine; m in a frame; s
constexpr double kServo = 0.15;         // 1    of the error that a hand corrects in a frame
constexpr double kFastestDown = 0.002;  // m   in a frame
constexpr double kSides = 0.4;          // 1    cost of a side at which a grasp failed
constexpr double kTipOver = 1.4;        // rad  by which a ring that lies on its side is turned
constexpr double kJawEnd = 0.0012;      // m    radius of the end of closed jaws

double across_peg(const glm::dvec3& off) { return std::sqrt(off.x * off.x + off.y * off.y); }

}  // namespace

Performer::RingPlace Performer::ring_at(const Observation& seen, std::uint32_t organ) const {
  const std::span<const glm::vec3> points = seen.organs[organ].surface.positions;
  RingPlace ring;
  const std::size_t row =
      points.size() / 6;  // vertices of one of the six corners of its outline (mesh/rigid_shape.hpp)
  std::array<glm::dvec3, 6> middle{};
  for (std::size_t k = 0; k < 6; ++k)
    for (std::size_t i = 0; i < row; ++i) middle[k] += glm::dvec3(points[k * row + i]) / static_cast<double>(row);
  for (const glm::dvec3& p : middle) ring.middle += p / 6.0;
  for (std::size_t k = 0; k < 3; ++k) {
    const glm::dvec3 arm = 0.5 * (middle[2 * k] + middle[2 * k + 1]) - ring.middle;
    ring.inner = glm::length(arm);
    ring.out[k] = arm / ring.inner;
  }
  ring.up = glm::normalize(glm::cross(ring.out[0], ring.out[1]));
  ring.lowest = ring.highest = ring.middle.z;
  for (const glm::vec3& p : points) {
    ring.half_height = std::max(ring.half_height, glm::dot(glm::dvec3(p) - ring.middle, ring.up));
    ring.lowest = std::min(ring.lowest, static_cast<double>(p.z));
    ring.highest = std::max(ring.highest, static_cast<double>(p.z));
  }
  if (ring.up.z < 0.0) ring.up = -ring.up;
  return ring;
}

// How badly jaws fit around a side of the ring: its wall should lie along the instrument, on the hand's own side.
double Performer::misfit(const RingPlace& ring, const glm::dvec3& middle, std::size_t tool, std::size_t side) const {
  const glm::dvec3 shaft = glm::normalize(poses_[tool].pivot - middle);
  const double own = poses_[tool].pivot.x < poses_[1 - tool].pivot.x ? -1.0 : 1.0;
  return std::abs(glm::dot(ring.out[side], shaft)) - 0.1 * own * ring.out[side].x +
         kSides * rings_failed_[3 * tool + side];
}

// Sees which rings are between closed jaws, and which move.
void Performer::watch_rings(const Observation& seen) {
  for (std::size_t k = 0; k < rings_.size(); ++k) {
    const glm::vec3 now = seen.organs[rings_[k]].surface.positions[0];
    if (glm::distance(now, ring_points_[k]) > kStillFrame) ring_moved_[k] = seen.time;
    ring_points_[k] = now;
  }
  for (std::size_t tool = 0; tool < rings_held_.size(); ++tool) {
    HeldRing& held = rings_held_[tool];
    if (poses_[tool].grip > kClosed || !(seen.tools[tool].grip > kJawsApart)) {
      held.time = -1.0;
      continue;
    }
    for (const std::uint32_t organ : rings_) {
      const SeenOrgan& ring = seen.organs[organ];
      bool upper = false, lower = false;
      for (std::uint32_t i = ring.touches.first[tool]; !ring.part.empty() && i < ring.touches.first[tool + 1]; ++i)
        upper |= ring.part[i] == 1, lower |= ring.part[i] == 2;
      if (upper && lower) held = {organ, seen.time};
    }
  }
}

std::optional<std::uint32_t> Performer::ring_in(const Observation& seen, std::size_t tool) const {
  const HeldRing& held = rings_held_[tool];
  if (held.time < 0.0 || seen.time - held.time > kHeldLasts) return {};
  return held.organ;
}

void Performer::take_ring(std::uint32_t organ, std::size_t tool, std::size_t side, double aperture,
                          const glm::dvec3& error) {
  const glm::dvec3 pivot = poses_[tool].pivot;
  const double radius = instruments_[tool].radius;
  // The tip for which the end of the jaws is `from` .. `to` above the upper side of the wall, along the instrument.
  const double into = aperture == kInTheAir ? kIntoInAir : kInto;
  const auto tip_at = [=, this](double from, double to) -> Goal {
    return [=, this](const Observation& seen, double share) {
      const RingPlace ring = ring_at(seen, organ);
      const glm::dvec3 top = ring.middle + ring.inner * ring.out[side] + ring.half_height * ring.up + error;
      const glm::dvec3 shaft = glm::normalize(pivot - top);
      glm::dvec3 end = top + glm::mix(from, to, share) * shaft;
      end.z = std::max(end.z, ring.lowest + kOverBoard);
      return end + radius * shaft;
    };
  };
  Move& over = then(tip_at(kOverRing, kOverRing));
  over.tool = tool, over.grip = aperture;
  over.across = rings_across_;
  Move& down = then(tip_at(kOverRing, -into));
  down.tool = tool, down.across = rings_across_, down.duration = 0.38;
  const auto closed_at = std::make_shared<std::optional<glm::dvec3>>();
  // A ring in the air does not move between the jaws: the hand follows it. On its peg it does.
  const bool in_air = aperture == kInTheAir;
  const Goal around = tip_at(-into, -into);
  Move& close = then([=, this](const Observation& seen, double share) {
    if (!*closed_at) *closed_at = tip_;
    return in_air ? around(seen, share) : **closed_at;
  });
  close.tool = tool, close.grip = 0.0, close.duration = 0.25;
  rings_failed_[3 * tool + side] += 1.0;
}

// Moves what a hand holds: a point of the ring's axis, `along(seen)` from its middle, comes to `to`. The hand corrects
// what it sees.
Performer::Move& Performer::carry_ring(std::uint32_t organ, std::size_t tool, const glm::dvec3& to, double duration,
                                       const std::function<double(const RingPlace&)>& along) {
  const auto off = std::make_shared<std::optional<glm::dvec3>>();
  const double least = instruments_[tool].radius + kOverBoard;
  Move& carry = then([=, this](const Observation& seen, double share) {
    const RingPlace ring = ring_at(seen, organ);
    const glm::dvec3 at = ring.middle + (along ? along(ring) : 0.0) * ring.up;
    if (!*off) *off = at - tip_;
    // What the ring's point is off the tip, slowly followed: it swings.
    **off += kServo * (at - tip_ - **off);
    glm::dvec3 goal = glm::mix(from_, to - **off, share);
    goal.z = std::max(goal.z, least);
    return goal;
  });
  carry.tool = tool, carry.grip = 0.0, carry.duration = duration, carry.carries = true;
  return carry;
}

void Performer::let_go(std::size_t tool) {
  const auto start = std::make_shared<std::optional<glm::dvec3>>();
  const glm::dvec3 pivot = poses_[tool].pivot;
  Move& open = then([=, this](const Observation&, double) {
    if (!*start) *start = tip_;
    return **start;
  });
  open.tool = tool, open.grip = kLetGo, open.duration = 0.2;
  Move& back =
      then([=](const Observation&, double share) { return **start + share * 0.035 * glm::normalize(pivot - **start); });
  back.tool = tool, back.grip = kLetGo, back.duration = 0.28;
}

// Whether a ring hangs on open jaws.
bool Performer::hangs_on(const Observation& seen, std::size_t tool) const {
  return poses_[tool].grip > kClosed && std::ranges::any_of(rings_, [&](std::uint32_t organ) {
           const RingPlace ring = ring_at(seen, organ);
           return ring.lowest > kHangs && glm::distance(ring.middle, poses_[tool].tip) < 2.0 * ring.half_height;
         });
}

void Performer::grasp_here(std::size_t tool) {
  const glm::dvec3 here = poses_[tool].tip;
  Move& close = then([here](const Observation&, double) { return here; });
  close.tool = tool, close.grip = 0.0, close.duration = 0.25;
}

// Turns a ring that lies on its side over an edge, until it stands: the closed jaws push its upper wall along its axis.
void Performer::stand_up(const RingPlace& ring, std::size_t tool) {
  const glm::dvec3 pivot = poses_[tool].pivot;
  const double radius = instruments_[tool].radius, length = 2.0 * ring.half_height;
  const double below = ring.middle.z - ring.lowest, high = ring.highest - ring.lowest - 0.002;
  glm::dvec3 along = glm::normalize(glm::dvec3(ring.up.x, ring.up.y, 0.0));
  // Of the two ways the one that ends farther from the pegs.
  const auto room = [&](const glm::dvec3& way) {
    const glm::dvec3 end = ring.middle + (ring.half_height + below) * way;
    double least = INFINITY;
    for (const glm::dvec3& peg : pegs_) least = std::min(least, across_peg(end - peg));
    return least;
  };
  if (room(-along) > room(along)) along = -along;
  const glm::dvec3 edge = ring.middle + ring.half_height * along - glm::dvec3(0.0, 0.0, below);
  const auto tip_at = [=](double turned, double off) {
    const double c = elementary::cos(turned), s = elementary::sin(turned);
    const double x = -(length + kJawEnd + off), z = high;
    const glm::dvec3 end = edge + (c * x + s * z) * along + glm::dvec3(0.0, 0.0, c * z - s * x - kJawEnd);
    return end + radius * glm::normalize(pivot - end);
  };
  const glm::dvec3 before = tip_at(0.0, 0.008);
  Move& over = then([=](const Observation&, double) { return before + glm::dvec3(0.0, 0.0, 0.02); });
  over.tool = tool, over.grip = 0.0;
  Move& down =
      then([=](const Observation&, double share) { return before + glm::dvec3(0.0, 0.0, 0.02 * (1.0 - share)); });
  down.tool = tool, down.grip = 0.0, down.duration = 0.3;
  Move& onto = then([=](const Observation&, double share) { return tip_at(0.0, 0.008 * (1.0 - share)); });
  onto.tool = tool, onto.grip = 0.0, onto.duration = 0.3;
  Move& turn = then([=](const Observation&, double share) { return tip_at(kTipOver * share, 0.0); });
  turn.tool = tool, turn.grip = 0.0, turn.duration = 0.8;
  Move& away = then([=](const Observation&, double share) { return tip_at(kTipOver, 0.025 * share); });
  away.tool = tool, away.grip = 0.0, away.duration = 0.3, away.wait = 0.2;
}

// The ring that waits: it is not yet on the other side, handed over. Standing ones first.
std::optional<std::uint32_t> Performer::next_ring(const Observation& seen) {
  std::optional<std::uint32_t> next;
  double least = INFINITY;
  bool all = true;
  for (std::size_t k = 0; k < rings_.size(); ++k) {
    const RingPlace ring = ring_at(seen, rings_[k]);
    if (!seen_point(seen.scope, seen.lens, ring.middle).visible) continue;
    const bool over = (ring.middle.x > above_middle().x) != (ring_side_ != rings_back_);
    const bool on_peg = std::ranges::any_of(pegs_, [&](const glm::dvec3& peg) {
      return across_peg(ring.middle - peg) < kOnPeg && ring.middle.z < kDownOnPeg * peg_height_;
    });
    if (rings_handed_[k] != 0 && over && on_peg) continue;
    all = false;
    const double cost = static_cast<double>(k) + (ring.up.z < kUpright ? 100.0 : 0.0) + 10.0 * ring_tries_[k];
    if (cost < least) least = cost, next = rings_[k];
  }
  if (!all || rings_back_) return next;
  rings_back_ = true;
  std::ranges::fill(rings_handed_, 0), std::ranges::fill(ring_tries_, 0.0);
  return next_ring(seen);
}

// The first free peg on the other side.
std::optional<glm::dvec3> Performer::free_peg(const Observation& seen, std::uint32_t carried) const {
  for (const glm::dvec3& peg : pegs_) {
    if ((peg.x > above_middle().x) == (ring_side_ != rings_back_)) continue;
    const bool free = std::ranges::none_of(rings_, [&](std::uint32_t organ) {
      return organ != carried && across_peg(ring_at(seen, organ).middle - peg) < 0.012;
    });
    if (free) return peg;
  }
  return {};
}

void Performer::plan_pegs(const Observation& seen) {
  const std::size_t first = instruments_[0].name == task_.instrument ? 0 : 1;
  const std::size_t giver = rings_back_ ? 1 - first : first, taker = 1 - giver;
  const std::optional<std::uint32_t> given = ring_in(seen, giver), taken = ring_in(seen, taker);
  for (const std::size_t tool : {giver, taker})
    if (poses_[tool].grip < kClosed && !ring_in(seen, tool)) return let_go(tool);
  if (given && taken && *given == *taken) {
    rings_handed_[index_of_ring(*given)] = 1;
    std::ranges::fill(rings_failed_, 0.0);
    return let_go(giver);
  }
  if (taken) return place_ring(seen, *taken, taker);
  if (given) return hand_over(seen, *given, giver, taker);
  for (const std::size_t tool : {giver, taker})
    if (hangs_on(seen, tool)) return grasp_here(tool);
  const std::optional<std::uint32_t> next = next_ring(seen);
  pause();
  if (!next || seen.time - ring_moved_[index_of_ring(*next)] < kStillFor) return;
  lift_ring(seen, *next, rings_back_ ? 1 - first : first);
}

void Performer::lift_ring(const Observation& seen, std::uint32_t organ, std::size_t giver) {
  const RingPlace place = ring_at(seen, organ);
  const std::size_t index = index_of_ring(organ);
  rings_handed_[index] = 0, ring_tries_[index] += 1.0;
  if (place.up.z < kUpright) return stand_up(place, giver);
  const glm::dvec3 air = above_middle();
  std::size_t mine = 0;
  double least = INFINITY;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      const double cost = misfit(place, place.middle, giver, a) + misfit(place, air, 1 - giver, b);
      if (a != b && cost < least) least = cost, mine = a;
    }
  const double clumsy = style_.careless && blunders() ? 0.006 : 0.0;
  rings_across_ = glm::cross(place.up, place.out[mine]);
  take_ring(organ, giver, mine, kAroundWall, aim() + clumsy * place.out[mine]);
}

void Performer::hand_over(const Observation& seen, std::uint32_t organ, std::size_t giver, std::size_t taker) {
  const RingPlace place = ring_at(seen, organ);
  const glm::dvec3 air = above_middle();
  if (glm::distance(place.middle, air) > 0.01) {
    const double lift = peg_height_ + place.half_height + kOverPeg;
    if (place.middle.z < lift - 0.002) carry_ring(organ, giver, {place.middle.x, place.middle.y, lift}, 0.42);
    carry_ring(organ, giver, air, std::max(glm::distance(place.middle, air) / style_.speed, 0.4));
    return;
  }
  std::size_t held = 0, other = 0;
  double nearest = INFINITY, least = INFINITY;
  for (std::size_t k = 0; k < 3; ++k) {
    const double away = glm::distance(poses_[giver].tip, place.middle + place.inner * place.out[k]);
    if (away < nearest) nearest = away, held = k;
  }
  for (std::size_t k = 0; k < 3; ++k)
    if (const double cost = misfit(place, place.middle, taker, k); k != held && cost < least) least = cost, other = k;
  rings_across_ = glm::cross(place.up, place.out[other]);
  take_ring(organ, taker, other, kInTheAir, 0.5 * aim());
}

void Performer::place_ring(const Observation& seen, std::uint32_t organ, std::size_t taker) {
  const std::optional<glm::dvec3> peg = free_peg(seen, organ);
  const RingPlace place = ring_at(seen, organ);
  const bool down = peg && across_peg(place.middle - *peg) < 2.0 * kOnPeg && place.middle.z < kDownOnPeg * peg_height_;
  if (!peg || down) return let_go(taker);
  // The lower end of the hole comes over the peg; then the hole goes down along it, centred where the peg ends in it.
  const double half = place.half_height;
  const auto lower_end = [half](const RingPlace&) { return -half; };
  const glm::dvec3 over = *peg + glm::dvec3(0.0, 0.0, peg_height_ + kOverPeg);
  const glm::dvec3 end = place.middle - half * place.up;
  carry_ring(organ, taker, over, std::max(glm::distance(end, over) / style_.speed, 0.4), lower_end).wait = 0.25;
  lower_ring(organ, taker, *peg, half);
  let_go(taker);
}

// Lowers a ring along a peg. The hand gives the plan up when the ring sits on the peg's end.
void Performer::lower_ring(std::uint32_t organ, std::size_t tool, const glm::dvec3& peg, double half) {
  const double top = peg.z + peg_height_, from = top + kOverPeg, to = peg.z + kAbovePlace;
  const double least = instruments_[tool].radius + kOverBoard;
  Move& down = then([=, this](const Observation& seen, double share) {
    const RingPlace ring = ring_at(seen, organ);
    // The point of the axis that the peg's end has reached is centred on the peg; the lower end goes down in time.
    const double along = std::clamp(top - ring.middle.z, -half, 0.0);
    const glm::dvec3 at = ring.middle + along * ring.up;
    const double lowest = ring.middle.z - half * ring.up.z;
    const glm::dvec3 error(peg.x - at.x, peg.y - at.y, glm::mix(from, to, share) - lowest);
    glm::dvec3 goal = tip_ + kServo * glm::dvec3(error.x, error.y, 0.0);
    goal.z = std::max(tip_.z + std::clamp(error.z, -kFastestDown, kFastestDown), least);
    return goal;
  });
  down.tool = tool, down.grip = 0.0, down.duration = 0.5, down.stop = kStuck, down.wait = 0.1;
  down.carries = true;
}

std::size_t Performer::index_of_ring(std::uint32_t organ) const {
  return static_cast<std::size_t>(std::ranges::find(rings_, organ) - rings_.begin());
}

glm::dvec3 Performer::above_middle() const {
  glm::dvec3 middle(0.0, 0.0, kHandOver);
  for (const glm::dvec3& peg : pegs_) middle += peg / static_cast<double>(pegs_.size());
  return middle;
}

// Plans how a performer clips and divides ducts: the next clip or the cut that the tissue still lacks, one duct after
// the other. The jaws close across the duct, near their tips.
// Tested in tests/sim/task/task_run_test.cpp and tests/sim/task/performer_test.cpp

namespace {

// Distances of the clips from the target along the duct: the first and the second one on the side that stays, and the
// one on the other side.
constexpr double kFar = 0.0085, kNear = 0.004, kOther = 0.0045;  // m
constexpr double kBack = 0.030;                                  // m  in front of the duct, before and after
// From the middle of the duct to the end of the instrument: between the legs of a clip; between the blades.
constexpr double kLegs = 0.0045, kBlades = 0.0075;       // m
constexpr double kThickInBlades = 0.004;                 // m    the same; the thicker, the nearer to the tips
constexpr int kBites = 4;                                // of scissors, before they are withdrawn
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
// Scissors that touch an organ behind the duct are drawn back at this speed, as far as the duct stays between the
// blades.
constexpr double kDrawBack = 0.006, kMostBack = 0.0035;  // m/s, m
constexpr double kClear = 0.0025;  // m   of a cut from the middle of a clip; a nearer one may be cut off

}  // namespace

// A clumsy trainee forgets the clip on the other side of the last duct, and is content with one on the side that stays.
void Performer::plan_clip(const Observation& seen) {
  for (std::size_t mark = 0; mark < ducts_.size(); ++mark) {
    const Duct& duct = ducts_[mark];
    if (seen.tubes[duct.organ].divided) {
      if (clip_stump(seen, mark)) return;
      continue;
    }
    int staying = 0, leaving = 0;
    for (const PlacedClip& placed : seen.clips) {
      if (!placed.on() || placed.clip.organ != duct.organ || placed.closed < kClosesTube) continue;
      ++((double(placed.along) < duct.along) == duct.starts ? staying : leaving);
    }
    const double towards = duct.starts ? -1.0 : 1.0;
    const bool hasty = style_.careless && attempts_ > 1, last = mark + 1 == ducts_.size();
    const std::size_t applier = tool_of_kind(InstrumentKind::ClipApplier);
    if (style_.mistake == Fault::Unclipped || task_.rules.clips_staying == 0.0)
      return close_on(seen, duct, tool_of_kind(InstrumentKind::Scissors), duct.along, kThickInBlades, kBladesOpen);
    if (style_.mistake == Fault::WrongDuct && !wrong_duct_.line.empty())
      return close_on(seen, wrong_duct_, applier, wrong_duct_.along, kLegs, 1.0);
    const auto clip = [&](double beside) {
      if (const double planned = duct.along + beside; planned != clip_planned_)
        clip_planned_ = planned, clip_tries_ = 0;
      if (!gave_way_) ++clip_tries_;
      // Where no clip closes, the duct may run too near to an organ: the next ones move towards the target.
      const double nearer = std::min(kNearer * std::max(clip_tries_ - 2, 0), kMostNearer);
      close_on(seen, duct, applier, duct.along + beside - std::copysign(nearer, beside), kLegs, 1.0);
    };
    if (staying < (hasty ? 1 : static_cast<int>(task_.rules.clips_staying)))
      return clip(towards * (staying == 0 ? kFar : kNear));
    if (leaving == 0 && !(hasty && last)) return clip(-towards * kOther);
    return close_on(seen, duct, tool_of_kind(InstrumentKind::Scissors), cut_between_clips(seen, duct), kBlades,
                    kBladesOpen);
  }
  then([tip = tip_](const Observation&, double) { return tip; });
}

// Puts another clip on a stump that has lost one, where it lies farthest from those that are left. A careless hand does
// not look back. Returns whether it does.
bool Performer::clip_stump(const Observation& seen, std::size_t mark) {
  const Duct& duct = ducts_[mark];
  const TubeState& tube = seen.tubes[duct.organ];
  const auto left = static_cast<double>(duct.starts ? tube.clips_at_start : tube.clips_at_end);
  if (style_.careless || !steps_ || left >= task_.rules.clips_staying) return false;
  const double towards = duct.starts ? -1.0 : 1.0;
  double best = kFar, most = -INFINITY;
  for (const double beside : {kFar, kNear}) {
    double room = INFINITY;
    for (const PlacedClip& placed : seen.clips)
      if (placed.on() && placed.clip.organ == duct.organ)
        room = std::min(room, std::abs(double(placed.along) - duct.along - towards * beside));
    if (room > most) most = room, best = beside;
  }
  close_on(seen, duct, tool_of_kind(InstrumentKind::ClipApplier), duct.along + towards * best, kLegs, 1.0);
  return true;
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

// Returns where a point of a duct is now. Between marks on the duct the motion is interpolated; that of a stump is the
// motion of the mark on its side.
glm::dvec3 Performer::point_of(const Observation& seen, const Duct& duct, double along) const {
  const auto moved = [&](std::size_t k, const glm::dvec3& rest) { return glm::dvec3(seen.marks[k]) - rest; };
  if (duct.mark == kNone) return point_on_line(duct.line, along);
  const glm::dvec3 at = point_on_line(duct.line, along), middle = moved(duct.mark, duct.rest);
  if (!steps_) return at + middle;
  const double share = (along - duct.along) / OperationSteps::kDuctSpan;
  const std::size_t k = steps_->duct_mark(duct.span) + (share > 0.0 ? 1 : 0);
  const double beside = seen.tubes[duct.organ].divided ? 1.0 : std::min(std::abs(share), 1.5);
  return at + glm::mix(middle, moved(k, duct.around[share > 0.0 ? 1 : 0]), beside);
}

// Moves an instrument to a point of a duct and closes it there; unless it holds on, opens it and withdraws it.
// `beyond`: m, of its end from the middle of the duct.
void Performer::close_on(const Observation& seen, const Duct& duct, std::size_t tool, double along, double beyond,
                         double aperture, bool holds_on) {
  const glm::dvec3 pivot = instruments_[tool].pivot, error = aim(), home = instruments_[tool].tip;
  const glm::dvec3 direction =
      glm::normalize(point_of(seen, duct, along + kSlope) - point_of(seen, duct, along - kSlope));
  const double again = depth_of_next(along, beyond);
  const double from_tip = again - instruments_[tool].radius;
  backed_ = 0.0;
  // From the moment of closing, the hand stays where it is: a cut duct springs away.
  const auto closed_at = std::make_shared<std::optional<glm::dvec3>>();
  const auto goal = [=, this](double further, bool closing) -> Goal {
    return [=, this](const Observation& later, double) {
      const glm::dvec3 at = *closed_at ? **closed_at : point_of(later, duct, along);
      if (closing) *closed_at = at;
      const glm::dvec3 target = at + error;
      return target + (from_tip + further - backed_) * glm::normalize(target - pivot);
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
  if (holds_on) return;
  const bool bites = instruments_[tool].kind == InstrumentKind::Scissors && !style_.careless;
  const Goal follow = [=](const Observation& later, double share) {
    closed_at->reset();
    return in(later, share);
  };
  for (int bite = 1; bites && bite < kBites; ++bite) {
    Move& open = move(follow, aperture, 0.1);
    open.duration = 0.4, open.undivided = duct.organ;
    Move& again = give_way_in(move(close, 0.0, 0.25));
    again.duration = 0.4, again.undivided = duct.organ;
  }
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

// Draws scissors at a duct back from an organ with a limit, which they would cut together with it.
void Performer::draw_back(const Observation& seen, double dt) {
  if (start_ < 0.0 || !moves_.front().way_out || instruments_[tool_].kind != InstrumentKind::Scissors) return;
  for (std::uint32_t organ = 0; organ < seen.organs.size(); ++organ)
    if ((limited_ & ~tubes_ & organ_bit(organ)) != 0 && touches(seen, organ, tool_)) {
      backed_ = std::min(backed_ + kDrawBack * dt, kMostBack);
      return;
    }
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
  pose.roll_deg += std::clamp(wanted, -kWristSpeed * dt, kWristSpeed * dt);
}

// Plans how a performer divides connective tissue with the hook: strand by strand, the most stretched of the near ones
// first, away from what must not burn; and how it frees a hook that tissue has caught.
// Tested in tests/sim/task/performer_test.cpp, tests/sim/task/task_run_test.cpp, tests/sim/task/observer_test.cpp

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
constexpr double kStop = 0.15;      // N   the hook does not press harder on an organ
// N   on a hook that moves out, at strands of a duct or vessel and elsewhere: it is caught.
constexpr double kCaughtAtDuct = 0.25, kCaught = 0.4;
constexpr double kStrandWait = 0.05;  // s   at a strand that does not break
// For which organs may burn at the first attempt at a strand; each further one may take half as long again.
constexpr double kHeat = 0.06, kMostHeat = 0.1;  // s

// Metal that is hot keeps this far from the walls of ducts and vessels; at strands where it cannot, it works last. The
// foot of the hook is kFoot long.
constexpr double kClearOfHeat = 0.0030, kUnsafe = 0.0020, kFoot = 0.0035;  // m
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
  duct_points_ = DuctPoints(stage);
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
  for (double moved = 0.0; !duct_points_.empty() && moved < kLast - kFirst; moved += kStep)
    for (const double sign : {1.0, -1.0}) {
      const double share = std::clamp(aim_at_[fibre] + sign * moved, kFirst, kLast);
      const glm::dvec3 at = along_strand(ends, share), out = at + kHot * glm::normalize(pivot - at);
      const double wire = duct_points_.clearance(at, out);
      for (const double towards : {1.0, -1.0}) {
        const glm::dvec3 tip = at + towards * kFoot * side;
        const double clearance = std::min(wire, duct_points_.clearance(at, tip));
        const double way_out = duct_points_.clearance(tip, tip + kWayOut * glm::normalize(pivot - tip));
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
         duct_points_.clearance(wire, along_strand(ends, aimed.share)) < kUnsafe;
}

// Moves the hook to the next strand, or tissue so that the strand is exposed.
void Performer::plan_dissect(const Observation& seen, std::size_t step) {
  const std::size_t tool = tool_of_kind(InstrumentKind::Hook);
  duct_points_.follow(seen.organs);
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

namespace {

constexpr double kForHeight = 2.0;     // 1    in front of the window: what lies nearer to the eye goes first
constexpr double kForLineTry = 0.004;  // m    nearer, for each attempt
constexpr double kPlunge = 0.0025;     // m    into what is removed
constexpr double kMelting = 0.15;      // s    there
constexpr double kNarrow = 0.0013;     // m    clearance in a window that is narrower than twice kUnsafe
constexpr double kClosest = 0.00105;   // m    clearance where nothing else is left
constexpr double kBefore = 0.00005;    // m    nearer than planned, where hot metal goes out
// m  from the wall of a duct or vessel, where hot metal goes out at once: it burns within 0.95 mm of the wire's middle
constexpr double kTooNear = 0.00125;
constexpr double kBare = 0.0048;        // m    of the wire, above the tip, is hot too
constexpr double kLessDeep = 0.0005;    // m
constexpr double kMostLineTries = 2.0;  // of one line, before another way is tried
constexpr double kDeeper = 0.003;       // m    more, by mistake
constexpr double kBeside = 0.001;       // m    beside a line that lies too near to a duct
constexpr double kOver = 0.008;         // m    in front of what covers it: there the hook moves from line to line
constexpr double kWindowClose = 0.025;  // m    so near, it goes to the next line without moving out

}  // namespace

// Returns where hot metal that goes this far into what covers a window keeps away from ducts and vessels: on the line,
// or beside it where that is too near, since fat melts around the metal.
Performer::LineAim Performer::aim_at(const WindowLine& line, double depth) const {
  const glm::dvec3 pivot = instruments_[tool_of_kind(InstrumentKind::Hook)].pivot;
  LineAim best{.clearance = -INFINITY};
  for (const double beside : {0.0, kBeside, -kBeside, 2.0 * kBeside, -2.0 * kBeside}) {
    const glm::dvec3 at = line.front + beside * line.across, shaft = glm::normalize(pivot - at);
    for (const double side : {1.0, -1.0}) {
      const glm::dvec3 foot = side * glm::cross(line.across, shaft);
      const double clearance = clearance_of(at, foot, depth);
      if (clearance > best.clearance) best = {at, foot, clearance};
    }
    if (best.clearance >= kUnsafe) break;
  }
  return best;
}

// Returns the distance of hot metal from ducts and vessels when it is `depth` beyond a point, with its foot pointing
// to `foot`.
double Performer::clearance_of(const glm::dvec3& at, const glm::dvec3& foot, double depth) const {
  const glm::dvec3 shaft = glm::normalize(instruments_[tool_of_kind(InstrumentKind::Hook)].pivot - at),
                   end = at - depth * shaft;
  return std::min(duct_points_.clearance(end, end + (kBare + kBeyond) * shaft),
                  duct_points_.clearance(end, end + kFoot * foot));
}

// Does the wire of the hook, or its foot, come too near to a duct or vessel, as these lie now?
bool Performer::comes_too_near(const Observation& seen, double clear) {
  duct_points_.follow(seen.organs);
  const DevicePose& pose = poses_[tool_];
  const RigidFrame frame = tool_frame({pose.pivot, pose.tip, instruments_[tool_].radius}, glm::radians(pose.roll_deg));
  const glm::dvec3 shaft = glm::normalize(pose.pivot - pose.tip), from = pose.tip + kBare * shaft,
                   end = pose.tip - kBeyond * shaft;
  return std::min({duct_points_.clearance(from, end), duct_points_.clearance(end, end + kFoot * frame.axes[1])}) <
         clear;
}

// Returns the line of a window that is freed next: what lies high above the window first, then what is near to the
// hook; none where the hot metal would come nearer than `clear` to a duct or vessel, or that was tried `most` times.
std::optional<std::size_t> Performer::next_line(std::span<const WindowLine> lines, double clear, double most) const {
  const glm::dvec3 now = poses_[tool_of_kind(InstrumentKind::Hook)].tip;
  std::optional<std::size_t> best;
  double best_worth = -INFINITY;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const WindowLine& line = lines[k];
    if (line.free || line_tries_[k] >= most || aim_at(line, 0.0).clearance < clear) continue;
    const double worth = kForHeight * glm::dot(line.front - line.at, line.normal) - glm::distance(line.front, now) -
                         kForLineTry * line_tries_[k];
    if (worth > best_worth) best_worth = worth, best = k;
  }
  return best;
}

// Moves the hook onto what covers a window and a little into it, hot, with the foot along the window's sides; where
// nothing else is left, closer to a duct than it likes. A careless hand is hot at the nearest line, however near a duct
// may be.
void Performer::plan_clear(const Observation& seen, std::size_t step) {
  const std::size_t tool = tool_of_kind(InstrumentKind::Hook);
  duct_points_.follow(seen.organs);
  const std::span<const WindowLine> lines = steps_->look_through(step, seen).lines();
  line_tries_.resize(lines.size());
  double clear = style_.careless ? -INFINITY : kUnsafe;
  std::optional<std::size_t> next = next_line(lines, clear, style_.careless ? INFINITY : kMostLineTries);
  for (const double closer : {kNarrow, kClosest})
    if (!next) next = next_line(lines, clear = closer, kMostLineTries);
  if (!next) next = next_line(lines, clear, INFINITY);
  if (!next) {
    then([now = poses_[tool].tip](const Observation&, double) { return now; }).tool = tool;
    return;
  }
  ++line_tries_[*next];
  const WindowLine line = lines[*next];
  double depth = kPlunge;
  while (depth > 0.0 && aim_at(line, depth).clearance < std::min(clear, kNarrow)) depth -= kLessDeep;
  if (blunders()) depth += kDeeper;
  const LineAim aimed =
      style_.careless ? LineAim{.at = line.front, .foot = aim_at(line, depth).foot} : aim_at(line, depth);
  const glm::dvec3 pivot = instruments_[tool].pivot, target = aimed.at + 0.5 * aim();
  // The tissue breathes: the hook goes with the line.
  const ClearWindow* window = steps_->window(step);
  const auto at = [=](const Observation& later, double back) {
    const glm::dvec3 now = target + window->place_of(later, *next) - line.at;
    return now + (back + kBeyond) * glm::normalize(pivot - now);
  };
  const auto slide_to = [&](double back, double duration) -> Move& {
    Move& move = then(
        [this, at, back](const Observation& later, double share) { return glm::mix(from_, at(later, back), share); });
    move.tool = tool, move.across = line.across, move.foot = aimed.foot, move.duration = duration, move.stop = kStop;
    return move;
  };
  caught_from_ = kCaught;
  if (pressed_ || glm::distance(target, poses_[tool].tip) > kWindowClose) {
    pressed_ = false;
    back_out(tool);
    Move& before = then([at](const Observation& later, double) { return at(later, kBack); });
    before.tool = tool, before.across = line.across, before.foot = aimed.foot, before.wait = 0.2;
    slide_to(kOver, (kBack - kOver) / kApproach);
  } else {
    slide_to(kOver, std::max(0.1, glm::distance(at(seen, kOver), poses_[tool].tip) / kApproach));
  }
  // It goes cold past what must not burn.
  const double least = style_.careless ? 0.0 : std::min(kTooNear, clear - kBefore);
  double hot = kHot;
  while (hot > -depth && clearance_of(aimed.at, aimed.foot, -hot) < least) hot -= kLessDeep;
  slide_to(hot, (kOver - hot) / kApproach);
  Move& melt = slide_to(-depth, std::max(0.1, (hot + depth) / style_.slide));
  melt.energy = Diathermy::Cut, melt.spare = limited_ | tubes_, melt.most_heat = kHeat, melt.wait = kMelting;
  melt.clear = least;
  slide_to(kOver, (kOver + depth) / kApproach).stop = 0.0;
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

// Plans how a performer does the steps of an operation, one after the other. The grasper holds what it has retracted
// while another instrument works.   Tested in
// tests/sim/task/task_run_test.cpp, tests/sim/task/observer_test.cpp

namespace {

constexpr double kGraspAbove = 0.012;  // m    above the surface, before a grasp
constexpr double kInJaws = 0.005;      // m    of a duct, from the tip of the grasper
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
constexpr int kGoodView = 5;                                                 // of 6
constexpr int kMostClears = 16;                                              // attempts, before the first clip
constexpr double kAfterPull = 0.5;                                           // s   tissue comes to rest
// The scope's tip from small structures, and where it may be without moving on.
constexpr double kCloseUp = 0.085, kCloseEnough = 0.02;  // m

}  // namespace

// Before the first clip, one who takes care looks at the critical view: fat falls back, and closes a window that was
// open. Returns the step that is cleared again.
std::optional<std::size_t> Performer::clears_again(const Observation& seen) {
  if (style_.careless || style_.mistake || !seen.clips.empty() || cleared_again_ == kMostClears) return std::nullopt;
  const std::optional<CriticalView> view = steps_->view(seen);
  if (!view || view->points() >= kGoodView) return std::nullopt;
  for (std::size_t step = 0; step < steps_->size(); ++step)
    if (steps_->at(step).kind == StepKind::Clear) return ++cleared_again_, step;
  return std::nullopt;
}

void Performer::plan_operation(const Observation& seen, const TaskFeed& feed) {
  std::size_t step = feed.step.value_or(0);
  if (style_.mistake == Fault::NoView)
    while (step + 1 < steps_->size() && steps_->at(step).kind != StepKind::Retract && steps_->at(step).before_division)
      ++step;
  if (caught_) return free_hook();
  if (steps_->at(step).kind == StepKind::Divide)
    if (const auto again = clears_again(seen)) return plan_clear(seen, *again);
  const bool by_hook = steps_->at(step).kind == StepKind::Dissect || steps_->at(step).kind == StepKind::Clear;
  if (!by_hook && withdraw(tool_of_kind(InstrumentKind::Hook))) return;
  if (pull_before(seen, step)) return;
  if (by_hook && hold_again(seen, step)) return;
  if (look_at(seen, step)) return;
  switch (steps_->at(step).kind) {
    case StepKind::Retract:
      return plan_retract(seen, step);
    case StepKind::Dissect:
      return plan_dissect(seen, step);
    case StepKind::Clear:
      return plan_clear(seen, step);
    case StepKind::Divide:
      return plan_clip(seen);
    case StepKind::Remove:
      return plan_remove(seen, step);
    case StepKind::StopBleeding:
      return plan_stop(seen, step);
    case StepKind::Suck:
      return plan_suck(seen, std::nullopt);
  }
}

// Moves the scope to the small structures of a step, or back to where it was for other steps, once for each step: it
// may not reach so far. Returns whether it moves.
bool Performer::look_at(const Observation& seen, std::size_t step) {
  if (style_.careless || looked_for_ == step) return false;
  looked_for_ = step;
  glm::dvec3 wanted = scope_.pose().eye;
  const auto near = [&](const glm::dvec3& target) {
    return eye_before(poses_.back().pivot, target, kCloseUp, scope_.angle_deg, poses_.back().roll_deg);
  };
  if (steps_->at(step).kind == StepKind::Clear) {
    const ClearWindow& window = *steps_->window(step);
    wanted = near(window.place_of(seen, window.lines().size() / 2));
  } else if (steps_->at(step).kind == StepKind::Divide) {
    wanted = near(point_of(seen, ducts_.front(), ducts_.front().along));
  }
  if (!(glm::distance(wanted, poses_.back().tip) > kCloseEnough)) return false;
  then([wanted](const Observation&, double) { return wanted; }).tool = instruments_.size();
  return true;
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

// How a performer stops a bleeding: one who takes care holds the vessel where it bleeds, sucks until it is to be seen,
// and closes a clip between the hole and the supply; then all blood is sucked away.

namespace {

constexpr int kMostHolds = 2;                 // times that the vessel is grasped
constexpr std::size_t kLooksAt = 3;           // places that are sucked dry before the clip
constexpr double kFromHole = 0.0075;          // m   of a clip along the vessel
constexpr double kNextClip = 0.0015;          // m   further, after a clip that did not help
constexpr double kTipReaches = 0.010;         // m   suction takes what is so near
constexpr double kTipAbove = 0.0015;          // m   of its tip above the blood
constexpr double kSuckStop = 0.5;             // N   more tissue is in the way
constexpr double kOut = 0.045;                // m   of the tip from the blood, on the way to another pool
constexpr double kRoom = 0.008;               // m   of the axis of the suction from the walls of ducts
constexpr double kSamePool = 0.02;            // m
constexpr double kSuckFor = 0.15;             // s
constexpr std::size_t kLastPlaces = 8;        // are not sucked again at once
constexpr std::size_t kMostCandidates = 256;  // places that are compared
constexpr float kShown = 0.15f;               // 1   fainter blood is not seen

// Returns the mean area of some faces, m^2: a fine mesh has more vertices in the same pool.
double mean_area(const MeshView& surface) {
  constexpr std::size_t kSome = 128;
  const std::size_t stride = 1 + surface.faces.size() / kSome;
  double sum = 0.0;
  std::size_t count = 0;
  for (std::size_t f = 0; f < surface.faces.size(); f += stride, ++count) {
    const Triangle face = triangle_of(surface.positions, surface.faces[f]);
    sum += 0.5 * double(glm::length(glm::cross(face.b - face.a, face.c - face.a)));
  }
  return count > 0 ? sum / double(count) : 0.0;
}

}  // namespace

void Performer::plan_stop(const Observation& seen, std::size_t step) {
  const Duct& duct = injured_[step];
  const std::size_t grasper = grasper_of(step);
  const std::optional<BleedState> bleeding = bleeding_of(seen.bleeding, duct.organ);
  const bool clipped = bleeding == BleedState::Closed;
  if (!bleeding || clipped) {
    then([tip = tip_](const Observation&, double) { return tip; }).wait = 0.2;
    return;
  }
  if (bleeding == BleedState::Flows && !style_.careless && grasper < instruments_.size()) {
    if (holds(seen, step) && withdraw(grasper)) return;
    if (!gave_way_) ++grasped_again_[grasper];
    if (grasped_again_[grasper] <= kMostHolds) return close_on(seen, duct, grasper, duct.along, kLegs, 1.0, true);
  }
  const std::size_t pump = tool_of_kind(InstrumentKind::Suction);
  if (pump < instruments_.size()) {
    if (sucked_.size() < kLooksAt) return plan_suck(seen, point_of(seen, duct, duct.along));
    if (withdraw(pump)) return;
  }
  // The clumsy trainee first clips the wrong side of the hole.
  const auto clips =
      std::ranges::count(seen.clips, duct.organ, [](const PlacedClip& placed) { return placed.clip.organ; });
  const bool wrong = (style_.careless && clips == 0) || blunders();
  const double beside = (kFromHole + kNextClip * double(clips)) * (duct.starts == wrong ? 1.0 : -1.0);
  close_on(seen, duct, tool_of_kind(InstrumentKind::ClipApplier), duct.along + beside, kLegs, 1.0);
}

// Moves the tip of the suction to where most blood lies, and sucks there: around a place, or everywhere with all other
// instruments withdrawn.
void Performer::plan_suck(const Observation& seen, const std::optional<glm::dvec3>& near) {
  const std::size_t pump = tool_of_kind(InstrumentKind::Suction);
  for (std::size_t tool = 0; tool < instruments_.size(); ++tool)
    if (!near && tool != pump && withdraw(tool)) return;
  duct_points_.follow(seen.organs);
  const std::optional<glm::dvec3> most = most_blood(seen, near);
  sucked_.push_back(most.value_or(glm::dvec3(0.0)));
  if (!most) return then([tip = tip_](const Observation&, double) { return tip; }), void();
  const glm::dvec3 pivot = instruments_[pump].pivot, place = *most + aim();
  const auto at = [=, radius = instruments_[pump].radius](double back) -> Goal {
    const glm::dvec3 goal = place + (radius + kTipAbove + back) * glm::normalize(pivot - place);
    return [=](const Observation&, double) { return goal; };
  };
  const auto move = [&](double back, Diathermy pedal) -> Move& {
    Move& added = then(at(back));
    added.tool = pump, added.energy = pedal;
    return added;
  };
  // Over the same pool the tip stays down, unless a duct lies between. The first pedal of suction is that of cutting.
  const glm::dvec3 now = poses_[pump].tip;
  const bool slides = glm::distance(now, place) < kSamePool && duct_points_.clearance(now, at(0.0)(seen, 1.0)) > kRoom;
  if (!slides) {
    if (glm::distance(now, instruments_[pump].tip) > kSamePool) {
      Move& out =
          then([now, away = kOut * glm::normalize(pivot - now)](const Observation&, double) { return now + away; });
      out.tool = pump;
    }
    move(kOut, Diathermy::Off);
  }
  Move& suck = move(0.0, Diathermy::Cut);
  suck.wait = kSuckFor, suck.stop = kSuckStop;
}

// Is a place to be seen, and is there room for the suction in front of it, towards its trocar?
bool Performer::is_open(const Observation& seen, const glm::dvec3& place) const {
  constexpr double kFrom = 0.003, kTo = 0.05, kTip = 0.004;  // m, from the place
  const InstrumentScene& pump = instruments_[tool_of_kind(InstrumentKind::Suction)];
  const auto is_free = [&](const glm::dvec3& out) {
    return std::ranges::none_of(seen.organs, [&](const SeenOrgan& organ) {
      return std::ranges::any_of(organ.surface.positions, [&](const glm::vec3& vertex) {
        const glm::dvec3 from = glm::dvec3(vertex) - place;
        const double along = glm::dot(from, out);
        return along > kFrom && along < kTo && glm::distance(from, along * out) < pump.radius;
      });
    });
  };
  const glm::dvec3 out = glm::normalize(pump.pivot - place);
  if (style_.careless) return is_free(out);
  return duct_points_.clearance(place + kTip * out, place + kTo * out) > kRoom && is_free(out) &&
         is_free(glm::normalize(seen.scope.eye - place));
}

// Returns the place around which most blood is to be seen, not one where it has just been sucked in vain.
std::optional<glm::dvec3> Performer::most_blood(const Observation& seen, const std::optional<glm::dvec3>& near) const {
  struct Wet {
    glm::dvec3 at;
    double amount;
  };
  std::vector<Wet> wet;
  for (const SeenOrgan& organ : seen.organs) {
    const double area = mean_area(organ.surface);
    for (std::size_t v = 0; v < std::min(organ.fluid.size(), organ.surface.positions.size()); ++v)
      if (organ.fluid[v].x > kShown)
        wet.push_back({glm::dvec3(organ.surface.positions[v]), area * double(organ.fluid[v].x)});
  }
  const auto worth = [&](const Wet& place) {
    double sum = 0.0;
    for (const Wet& other : wet)
      if (glm::distance(other.at, place.at) < kTipReaches) sum += other.amount;
    const std::size_t last = sucked_.size() - std::min(sucked_.size(), kLastPlaces);
    for (std::size_t k = last; k < sucked_.size(); ++k)
      if (glm::distance(sucked_[k], place.at) < 0.5 * kTipReaches) sum *= 0.3;
    return sum;
  };
  std::vector<std::pair<double, glm::dvec3>> places;
  const std::size_t stride = 1 + wet.size() / kMostCandidates;
  for (std::size_t k = 0; k < wet.size(); k += stride) places.emplace_back(worth(wet[k]), wet[k].at);
  std::ranges::stable_sort(places, std::ranges::greater{}, [](const auto& place) { return place.first; });
  for (const auto& [sum, at] : places)
    if ((!near || glm::distance(*near, at) < kSamePool) && is_open(seen, at)) return at;
  return std::nullopt;
}

}  // namespace trocar

// Plans the movements of a performer for each kind of task: one attempt after the other until the task is done. The
// task's progress determines the next attempt, so that a failed step is repeated.   Tested in
// tests/sim/performer_test.cpp
#include <algorithm>

#include "deform/contact/grasp.hpp"
#include "geometry/elementary.hpp"
#include "sim/task/performer.hpp"

namespace trocar {
namespace {

constexpr double kAbove = 0.012;  // m   above the surface, before and after a touch

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
  if (task_.kind != TaskKind::Operation) pause();
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
  then(target);
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

}  // namespace trocar

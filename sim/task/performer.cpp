#include "sim/task/performer.hpp"

#include <algorithm>
#include <cmath>
#include <glm/gtc/constants.hpp>

#include "geometry/elementary.hpp"
#include "geometry/part.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/device/joints.hpp"
#include "sim/scene/task_scene.hpp"

namespace trocar {
namespace {

constexpr double kShortestReach = 0.3;  // s
constexpr double kPressing = 4.0;       // 1/s   rate relative to the style's depth, while a force is felt
constexpr double kReturn = 0.15;        // s     time constant of going deeper again when no force is felt
constexpr double kNothingFelt = 0.01;   // N
constexpr double kJaws = 3.0;           // 1/s   from open to closed in a third of a second
// s     longest heat on a duct or vessel, and on a hollow organ, which a deep burn opens
constexpr double kDuctHeat = 0.03, kHollowHeat = 0.05;
constexpr double kStillFelt = 0.06;  // N     an instrument that feels more after it has moved out is caught
constexpr double kAtOnce = 0.05;     // s     a force that is felt so soon after the start was there before
constexpr int kWaves = 3;            // of each axis, of tremor and of sway
// m/s   twice the peak of a reaching movement: no hand follows tissue that springs away faster
constexpr double kFastest = 0.3;

class PerformerDevice final : public Device {
 public:
  explicit PerformerDevice(const DevicePose& pose) : pose_(&pose) {}
  DevicePose pose(const FrameClock&) override { return *pose_; }
  bool follows_ticks() const override { return true; }

 private:
  const DevicePose* pose_;
};

glm::dvec3 normal_of(const MeshView& surface, const SurfaceMark& mark) {
  const Triangle face = triangle_of(surface.positions, mark.vertex);
  return glm::normalize(glm::cross(face.b - face.a, face.c - face.a));
}

glm::dvec3 towards(const glm::dvec3& from, const glm::dvec3& to, double most) {
  const double length = glm::distance(from, to);
  return length > most ? from + (to - from) * (most / length) : to;
}

}  // namespace

HandStyle style_of(Skill skill) {
  if (skill == Skill::Expert) return {};
  if (skill == Skill::Average)
    return {.speed = 0.050,
            .slide = 0.013,
            .tremor = 0.00015,
            .sway = 0.0006,
            .aim_error = 0.0010,
            .press = 0.002,
            .force = 0.7,
            .wander = 0.0015,
            .pause = 0.5,
            .blunder = 0.1};
  return {.speed = 0.035,
          .slide = 0.010,
          .tremor = 0.0004,
          .sway = 0.0020,
          .aim_error = 0.0035,
          .press = 0.004,
          .force = 2.4,
          .wander = 0.006,
          .pause = 0.9,
          .blunder = 0.45,
          .careless = true};
}

HandStyle style_with(Fault fault, double dose) {
  HandStyle style = style_of(Skill::Expert);
  switch (fault) {
    case Fault::Tremor:
      style.tremor += 0.0012 * dose;
      break;
    case Fault::Force:
      style.force += 3.0 * dose, style.heavy += 8.0 * dose, style.yielding += 0.25 * dose;
      break;
    case Fault::Detour:
      style.detour = 1.5 * dose, style.wander = 0.008 * dose;
      break;
    case Fault::Slowness:
      style.speed /= 1.0 + 2.0 * dose, style.slide /= 1.0 + 0.5 * dose, style.pause += 4.0 * dose;
      break;
    case Fault::WrongOrder:
      style.wrong_order = dose;
      break;
    case Fault::Unclipped:
    case Fault::WrongDuct:
    case Fault::DeepBurn:
    case Fault::NoView:
      if (dose > 0.0) style.mistake = fault;
      break;
  }
  return style;
}

double minimum_jerk(double share) {
  const double s = std::clamp(share, 0.0, 1.0);
  return s * s * s * (10.0 + s * (6.0 * s - 15.0));
}

Performer::Performer(const Scene& scene, const HandStyle& style, std::uint32_t seed)
    : task_(scene.task.value_or(TaskScene{})),
      style_(style),
      random_(seed),
      instruments_(scene.instruments),
      scope_(scene.scope) {
  for (const InstrumentScene& instrument : instruments_)
    poses_.push_back({instrument.pivot, instrument.tip, 0.0, has_jaws(instrument.kind) ? 1.0 : 0.0});
  const ScopePose pose = scene.scope.pose();
  poses_.push_back({pose.port, pose.eye, pose.spin_deg});
  const auto named = [&](const InstrumentScene& instrument) { return instrument.name == task_.instrument; };
  if (task_.kind == TaskKind::NavigateCamera) {
    tool_ = instruments_.size();
  } else if (const auto found = std::find_if(instruments_.begin(), instruments_.end(), named);
             found != instruments_.end()) {
    tool_ = static_cast<std::size_t>(found - instruments_.begin());
  }
  pulled_.resize(instruments_.size());
  swung_.assign(instruments_.size(), glm::dvec3(0.0));
  grasped_again_.resize(instruments_.size());
  pulled_for_.assign(instruments_.size(), kNone);
  tip_ = poses_[tool_].tip;
  for (int wave = 0; wave < 2 * 3 * kWaves; ++wave) {
    const bool tremor = wave < 3 * kWaves;
    waves_.push_back(tremor ? 6.0 + 6.0 * chance() : 0.2 + 0.7 * chance());  // Hz
    waves_.push_back(glm::two_pi<double>() * chance());
  }
}

std::unique_ptr<Device> Performer::device_of(const std::string& instrument) {
  const auto named = [&](const InstrumentScene& scene) { return scene.name == instrument; };
  const auto found = std::find_if(instruments_.begin(), instruments_.end(), named);
  return std::make_unique<PerformerDevice>(poses_[static_cast<std::size_t>(found - instruments_.begin())]);
}

std::unique_ptr<Device> Performer::scope_device() { return std::make_unique<PerformerDevice>(poses_.back()); }

void Performer::begin(const TaskStage& stage, const std::vector<SurfaceMark>& marks) {
  normals_.clear();
  for (const SurfaceMark& mark : marks) normals_.push_back(normal_of(stage.surfaces[mark.organ], mark));
  rest_.clear();
  for (const SurfaceMark& mark : marks) rest_.emplace_back(position_of(mark, stage.surfaces[mark.organ].positions));
  lines_ = stage.lines;
  rings_.clear(), ring_points_.clear();
  for (const SurfaceMark& mark : marks) rings_.push_back(mark.organ);
  pegs_ = stage.pegs, peg_height_ = stage.peg_height;
  rings_handed_.assign(rings_.size(), 0), ring_tries_.assign(rings_.size(), 0.0);
  for (const std::uint32_t organ : rings_) ring_points_.push_back(stage.surfaces[organ].positions[0]);
  ring_moved_.assign(rings_.size(), -1.0);
  ducts_.clear();
  tries_.assign(stage.fibres.size(), 0.0);
  cooked_.assign(stage.fibres.size(), 0.0);
  if (task_.kind == TaskKind::Operation) steps_.emplace(task_, stage), choose_aims(stage);
  injured_.clear(), sucked_.clear();
  std::size_t span = task_.locations.size();
  for (std::size_t step = 0; steps_ && step < steps_->size(); ++step) {
    injured_.emplace_back();
    if (steps_->at(step).kind != StepKind::StopBleeding) continue;
    const std::size_t mark = steps_->mark_of(step);
    const StageInjury& injury = *stage.injuries[marks[mark].organ];
    injured_.back() = duct_at(stage, marks, mark, span++, injury.at, injury.supplied_from);
  }
  if (!divides_ducts(task_)) return;
  for (std::size_t k = 0; k < task_.locations.size(); ++k)
    ducts_.push_back(duct_at(stage, marks, k, k, task_.locations[k].location, task_.locations[k].stays));
  find_wrong_duct(stage);
}

// Returns a duct with a target. `mark`: of the target. `span`: its number in OperationSteps::duct_mark().
Performer::Duct Performer::duct_at(const TaskStage& stage, const std::vector<SurfaceMark>& marks, std::size_t mark,
                                   std::size_t span, const glm::vec3& target, TubeSide stays) const {
  const auto rest = [&](const SurfaceMark& at) {
    return glm::dvec3(position_of(at, stage.surfaces[at.organ].positions));
  };
  const std::vector<glm::dvec3>& line = stage.lines[marks[mark].organ];
  Duct duct{marks[mark].organ, line, trocar::along_line(line, glm::dvec3(target)), stays == TubeSide::Start,
            rest(marks[mark])};
  duct.mark = mark, duct.span = span;
  for (std::size_t side = 0; steps_ && side < 2; ++side)
    duct.around[side] = rest(marks[steps_->duct_mark(span) + side]);
  return duct;
}

// The duct that the first target's duct ends at, just beyond that end.
void Performer::find_wrong_duct(const TaskStage& stage) {
  constexpr double kBeyond = 0.015;  // m
  wrong_duct_ = {};
  const glm::dvec3 end = ducts_.front().line.back();
  double nearest = INFINITY;
  for (std::uint32_t k = 0; k < stage.lines.size(); ++k) {
    const bool target = std::ranges::count(ducts_, k, &Duct::organ) > 0;
    if (target || stage.lines[k].empty()) continue;
    const double along = trocar::along_line(stage.lines[k], end);
    const double away = glm::distance(end, point_on_line(stage.lines[k], along));
    if (!(away < nearest)) continue;
    nearest = away;
    wrong_duct_.organ = k, wrong_duct_.line = stage.lines[k], wrong_duct_.along = along + kBeyond;
  }
}

std::size_t Performer::tool_of_kind(InstrumentKind kind) const {
  const auto found = std::ranges::find(instruments_, kind, &InstrumentScene::kind);
  return static_cast<std::size_t>(found - instruments_.begin());
}

double Performer::chance() { return static_cast<double>(random_()) / 4294967296.0; }

// Returns the sum of twelve uniform random numbers: close enough to a normal distribution, and the same on every
// machine.
double Performer::normal() {
  double sum = -6.0;
  for (int k = 0; k < 12; ++k) sum += chance();
  return sum;
}

glm::dvec3 Performer::aim() {
  const double x = normal(), y = normal(), z = normal();
  return style_.aim_error * glm::dvec3(x, y, z);
}

glm::dvec3 Performer::shake(double time) const {
  glm::dvec3 sum(0.0);
  for (int wave = 0; wave < 2 * 3 * kWaves; ++wave) {
    const double size = wave < 3 * kWaves ? style_.tremor : style_.sway;
    sum[wave % 3] +=
        size / kWaves * elementary::sin(glm::two_pi<double>() * waves_[2 * wave] * time + waves_[2 * wave + 1]);
  }
  return sum;
}

// Returns the pose nearest to `tip` within the instrument's joint limits.
DevicePose Performer::within_reach(const glm::dvec3& tip) const {
  const DevicePose& now = poses_[tool_];
  DevicePose wanted = now;
  wanted.tip = tip;
  const bool is_scope = tool_ == instruments_.size();
  const ScopePose rest = scope_.pose();
  const glm::dvec3 axis = is_scope ? rest.eye - rest.port
                          : instruments_[tool_].axis == glm::dvec3(0.0)
                              ? instruments_[tool_].tip - instruments_[tool_].pivot
                              : instruments_[tool_].axis;
  const JointLimits& limits = is_scope ? scope_.limits : instruments_[tool_].limits;
  const RemoteCentre centre = remote_centre(now.pivot, axis);
  DevicePose pose = pose_of(centre, limits, limited(limits, joints_of(centre, limits, wanted)));
  pose.roll_deg = now.roll_deg, pose.grip = now.grip, pose.energy = now.energy;
  return pose;
}

void Performer::see(const Observation& seen, const TaskFeed& feed) {
  if (feed.finished) return;
  if (task_.kind == TaskKind::PegTransfer) watch_rings(seen);
  if (!moves_.empty() && moves_.front().carries && !ring_in(seen, moves_.front().tool)) moves_.clear(), start_ = -1.0;
  if (moves_.empty()) plan(seen, feed);
  while (start_ < 0.0 && moves_.front().undivided && seen.tubes[*moves_.front().undivided].divided) moves_.pop_front();
  give_way(seen);
  const double dt = last_ < 0.0 ? 0.0 : seen.time - last_, jaws = kJaws * dt;
  last_ = seen.time;
  draw_back(seen, dt);
  Move& move = moves_.front();
  if (start_ < 0.0 && move.tool != kNone && move.tool != tool_) {
    poses_[tool_].energy = Diathermy::Off;
    tool_ = move.tool, tip_ = poses_[tool_].tip;
  }
  DevicePose& pose = poses_[tool_];
  if (tool_ < instruments_.size()) felt_ = glm::length(glm::dvec3(seen.tools[tool_].force));
  press(move, dt);
  if (start_ < 0.0) {
    start_ = seen.time;
    from_ = tip_;
    length_ = glm::distance(move.goal(seen, 1.0), from_);
    const double path = length_ * std::sqrt(1.0 + 4.0 * style_.detour * style_.detour);
    duration_ = move.duration > 0.0 ? move.duration : std::max(kShortestReach, path / style_.speed);
  }
  const double share = minimum_jerk((seen.time - start_) / duration_);
  const glm::dvec3 wanted =
      move.duration > 0.0 ? move.goal(seen, share) : glm::mix(from_, move.goal(seen, 1.0), share) + bow(share);
  tip_ = towards(tip_, wanted, kFastest * dt);
  pose.grip += std::clamp(move.grip - pose.grip, -jaws, jaws);
  pose.energy = move.energy;
  pose = within_reach(tip_ + shake(seen.time));
  if (task_.kind == TaskKind::BurnLine) turn_hook(dt);
  if (move.across) turn_across(*move.across, move.foot, dt);
  if (move.roll) pose.roll_deg += std::clamp(*move.roll - pose.roll_deg, -kSlowTurn * dt, kSlowTurn * dt);
  const double waited = seen.time - start_ - duration_;
  heated_ = tool_ < instruments_.size() && (seen.tools[tool_].heats & move.spare) != 0 ? heated_ + dt : 0.0;
  const auto heats = [&](std::uint32_t organs) { return heated_ > 0.0 && (seen.tools[tool_].heats & organs) != 0; };
  const bool burnt = heated_ > (heats(tubes_) ? kDuctHeat : heats(hollow_) ? kHollowHeat : move.most_heat);
  const bool near = move.clear > 0.0 && comes_too_near(seen, move.clear);
  if (near) pose.energy = Diathermy::Off;
  const bool stopped = (move.stop > 0.0 && felt_ > move.stop) || burnt || near;
  if (heats(hollow_)) note_burn(seen, dt);
  if (burnt && move.fibre) aim_away(seen, *move.fibre, seen.tools[tool_].heats);
  if (move.fibre) way_in_.push_back({tip_, pose.roll_deg, seen.time});
  if (!stopped && (waited < 0.0 || (waited < move.wait && feed.progress < move.enough))) return;
  if (move.withdraws) {
    caught_ = stopped || (move.stop > 0.0 && felt_ > kStillFelt);
    if (!caught_) freed_ = 0, way_in_.clear();
  } else if (stopped && !burnt && seen.time - start_ < kAtOnce) {
    pressed_ = true;
  }
  if (stopped || (move.withdraws && caught_))
    moves_.clear();
  else
    moves_.pop_front();
  start_ = -1.0;
}

// Rolls the hook until its foot points into the tissue under the line.
void Performer::turn_hook(double dt) {
  DevicePose& pose = poses_[tool_];
  const ToolPose tool{pose.pivot, pose.tip, instruments_[tool_].radius};
  const RigidFrame now = tool_frame(tool, glm::radians(pose.roll_deg));
  const RigidFrame quarter = tool_frame(tool, glm::radians(pose.roll_deg + 90.0));
  glm::dvec3 out(0.0);
  for (const glm::dvec3& normal : normals_) out += normal;
  const double ahead = -glm::dot(now.axes[1], out), aside = -glm::dot(quarter.axes[1], out);
  const double wanted = glm::degrees(elementary::atan2(aside, ahead));
  pose.roll_deg += std::clamp(wanted, -kWristSpeed * dt, kWristSpeed * dt);
}

Performer::Move& Performer::then(Goal goal) {
  moves_.push_back({.goal = std::move(goal), .grip = moves_.empty() ? poses_[tool_].grip : moves_.back().grip});
  return moves_.back();
}

void Performer::pause() {
  const glm::dvec3 tip = tip_;
  if (moves_.empty()) then([tip](const Observation&, double) { return tip; });
  moves_.back().wait += style_.pause * (0.5 + chance());
}

// Returns the deviation of a reaching movement from the straight line: half a sine wave, towards the trocar.
glm::dvec3 Performer::bow(double share) const {
  if (style_.detour == 0.0) return glm::dvec3(0.0);
  const double height = style_.detour * length_ * elementary::sin(glm::pi<double>() * share);
  return height * glm::normalize(poses_[tool_].pivot - from_);
}

bool Performer::out_of_order(std::size_t target) const {
  const double share = std::min(style_.wrong_order, 1.0);
  return target != early_ && target + 1 < normals_.size() &&
         std::floor(double(target + 1) * share) > std::floor(double(target) * share);
}

// Sets the depth of the goal under a mark. Before a force is felt, it is the style's depth. From then on the goal
// follows the mark, which yields with the tissue, and slowly goes deeper until the wanted force is felt.
void Performer::press(const Move& move, double dt) {
  const double force = move.force > 0.0 ? move.force : style_.force;
  const double heavy = move.heavy > 0.0 ? move.heavy : style_.heavy;
  const double pressing = kPressing * dt * std::clamp(1.0 - felt_ / force, -1.0, 1.0);
  const double wanted = felt_ < kNothingFelt ? style_.press + move.deeper : style_.press * heavy * pressing;
  const double lag = wanted < depth_ ? style_.yielding : kReturn;
  depth_ = lag > 0.0 ? depth_ + (wanted - depth_) * std::min(1.0, dt / lag) : wanted;
}

// Returns a goal at `height` above a mark, along the normal at rest, measured from the instrument's surface, not its
// axis.
Performer::Goal Performer::above(std::size_t mark, double height, const glm::dvec3& error) const {
  const double radius = tool_ < instruments_.size() ? instruments_[tool_].radius : 0.0;
  const glm::dvec3 offset = (radius + height) * normals_[mark] + error;
  return [mark, offset](const Observation& seen, double) { return glm::dvec3(seen.marks[mark]) + offset; };
}

Performer::Goal Performer::onto(std::size_t mark, const glm::dvec3& error) const {
  return [=, this, surface = above(mark, 0.0, error)](const Observation& seen, double share) {
    return surface(seen, share) - depth_ * normals_[mark];
  };
}

// Returns the goal, retracted by `by` towards the trocar.
Performer::Goal Performer::drawn_back(const Goal& goal, double by) const {
  const glm::dvec3 pivot = poses_[tool_].pivot;
  return [goal, pivot, by](const Observation& seen, double share) {
    const glm::dvec3 tip = goal(seen, share);
    return tip + by * glm::normalize(pivot - tip);
  };
}

glm::dvec3 Performer::along_line(const Observation& seen, std::size_t first, std::size_t last, double share) const {
  const double at = double(first) + share * double(last - first);
  const auto k = std::min(static_cast<std::size_t>(at), last > first ? last - 1 : first);
  const std::size_t next = std::min(k + 1, last);
  return glm::mix(glm::dvec3(seen.marks[k]), glm::dvec3(seen.marks[next]), at - double(k));
}

}  // namespace trocar

#include "sim/task/watches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <glm/gtc/constants.hpp>
#include <limits>

#include "geometry/elementary.hpp"
#include "geometry/translate.hpp"

namespace trocar {

bool touches(const Observation& seen, std::size_t organ, std::size_t tool) {
  return !seen.organs[organ].touches.of_tool(tool).empty();
}

bool tip_touches(const Observation& seen, std::size_t organ, std::size_t tool) {
  const ToolPose& pose = seen.tools[tool].pose;
  const SeenOrgan& organ_seen = seen.organs[organ];
  const TouchList& list = organ_seen.touches;
  for (std::uint32_t i = list.first[tool]; i < list.first[tool + 1]; ++i) {
    if (!organ_seen.part.empty() && organ_seen.part[i] > 0) return true;
    if (glm::distance(glm::dvec3(list.touches[i].point), pose.tip) <= pose.radius + kTipReach) return true;
  }
  return false;
}

double beside(double distance, double radius) {
  return std::sqrt(std::max(0.0, (distance - radius) * (distance + radius)));
}

double ratio(double part, double whole) {
  return whole > 0.0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
}

void ForceWatch::step(const Observation& seen, double dt, TaskLog& log) {
  now_ = 0.0;
  for (std::size_t tool = 0; tool < seen.tools.size(); ++tool) {
    const double share = 1.0 - elementary::exp(-dt / kTimeConstant);
    felt_[tool] += share * (glm::dvec3(seen.tools[tool].force) - felt_[tool]);
    const double force = glm::length(felt_[tool]);
    now_ = std::max(now_, force);
    if (over_[tool].see(force > most_, seen.time))
      log.error(seen.time, trf("{} exceeded {:g} N", tr(instruments_[tool]), most_));
  }
  peak_ = std::max(peak_, now_);
  if (over()) time_over_ += dt;
}

void ForceWatch::add_metrics(PartList& parts) const {
  parts.add("task_overload_time", "Time of filtered force above the limit", "s", time_over_, 0.0, 2.0);
  parts.add("task_peak_force", "Peak filtered force", "N", peak_, most_, 2.0 * most_);
}

namespace {

constexpr double kSmoothing = 0.1;  // s   time constant of the speed

// Quality factors of the two sections of a fourth-order Butterworth filter, 1 / (2 cos(pi / 8)) and 1 / (2 cos(3 pi /
// 8)).
constexpr std::array<double, 2> kQuality = {0.541196100146197, 1.306562964876377};

}  // namespace

void TremorFilter::begin(const glm::dvec3& at) {
  start_ = at;
  sections_ = {};
}

glm::dvec3 TremorFilter::step(const glm::dvec3& at, double dt) {
  const double k = elementary::tan(glm::pi<double>() * kLowest * dt);
  glm::dvec3 value = at - start_;
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    const double scale = 1.0 / (1.0 + k / kQuality[s] + k * k);
    const glm::dvec3 out = scale * value + sections_[s].first;
    sections_[s].first = -2.0 * scale * value - 2.0 * (k * k - 1.0) * scale * out + sections_[s].second;
    sections_[s].second = scale * value - (1.0 - k / kQuality[s] + k * k) * scale * out;
    value = out;
  }
  return value;
}

TremorWatch::TremorWatch(const TaskScene& task, const TaskStage& stage)
    : most_(task.most_tremor), worst_(2.0 * task.most_tremor), of_scope_(task.kind == TaskKind::NavigateCamera) {
  if (!of_scope_) tools_ = tools_of(task, stage);
  hands_.resize(of_scope_ ? 1 : tools_.size());
}

void TremorWatch::step(const Observation& seen, double dt) {
  if (most_ <= 0.0) return;
  if (of_scope_) follow(hands_[0], seen.scope.eye, dt);
  for (std::size_t k = 0; k < tools_.size(); ++k) follow(hands_[k], seen.tools[tools_[k]].pose.tip, dt);
}

void TremorWatch::follow(Hand& hand, const glm::dvec3& tip, double dt) {
  if (!hand.begun || dt > kLongestStep) {
    hand.filter.begin(tip);
    hand.smooth = tip, hand.slow = 0.0, hand.begun = true;
    return;
  }
  const glm::dvec3 fast = hand.filter.step(tip, dt);
  hand.smooth += (1.0 - elementary::exp(-dt / kSmoothing)) * (tip - hand.smooth);
  const bool slow = glm::distance(tip, hand.smooth) < kSlow * kSmoothing;
  hand.slow = slow ? hand.slow + dt : 0.0;
  if (hand.slow < kSettled) return;
  hand.squares += glm::dot(fast, fast) * dt, hand.measured += dt;
}

double TremorWatch::rms() const {
  double most = std::numeric_limits<double>::quiet_NaN();
  for (const Hand& hand : hands_)
    if (hand.measured >= kEnough) most = std::fmax(most, std::sqrt(hand.squares / hand.measured));
  return most;
}

void TremorWatch::add_metrics(PartList& parts) const {
  if (most_ > 0.0)
    parts.add("task_tremor", "Tremor above 5 Hz while slow", "mm", rms() * 1e3, most_ * 1e3, worst_ * 1e3);
}

namespace {

constexpr double kNearPlane = 1e-3;  // m   near plane, as in image_camera

double depth_before(const ScopePose& scope, const glm::dvec3& forward, const glm::dvec3& point) {
  return std::max(glm::dot(point - scope.eye, forward), kNearPlane);
}

}  // namespace

ZoneDepth depth_in_zone(const planar::Zone& zone, const ScopePose& scope, const ToolPose& tool) {
  const planar::ImageTool seen = planar::project_tool(image_camera(scope, 1.0), tool.pivot, tool.tip);
  if (!seen.visible) return {};
  const planar::ZoneDistance found = zone.distance(seen.shaft);
  // Along a straight line the inverse depth is linear in the picture.
  const double share = planar::nearest_parameter(seen.shaft, found.on_tool);
  const glm::dvec3 forward = axes_of(scope).forward;
  const double pivot = depth_before(scope, forward, tool.pivot), tip = depth_before(scope, forward, tool.tip);
  const double depth = 1.0 / glm::mix(1.0 / pivot, 1.0 / tip, share);
  const double half_height = depth * elementary::tan(glm::radians(0.5 * scope.field_of_view_deg));  // m
  const double inside = tool.radius / half_height - found.distance;
  return {inside, inside * half_height};
}

ZoneWatch::ZoneWatch(const TaskScene& task, const TaskStage& stage) : instruments_(stage.instruments) {
  for (const TaskZone& zone : task.zones) zones_.emplace_back(zone.outline, planar::ZoneKind::Forbidden);
  inside_.assign(zones_.size() * instruments_.size(), Lasting(kAway));
  violated_.assign(zones_.size(), 0);
}

void ZoneWatch::step(const Observation& seen, double dt, TaskLog& log) {
  deepest_now_ = 0.0;
  for (std::size_t z = 0; z < zones_.size(); ++z) {
    violated_[z] = 0;
    for (std::size_t tool = 0; tool < seen.tools.size(); ++tool) {
      const ZoneDepth depth = depth_in_zone(zones_[z], seen.scope, seen.tools[tool].pose);
      if (inside_[z * instruments_.size() + tool].see(depth.half_heights > 0.0, seen.time)) {
        ++entries_;
        log.error(seen.time, trf("{} entered the forbidden zone", tr(instruments_[tool])));
      }
      if (depth.half_heights <= 0.0) continue;
      violated_[z] = 1;
      deepest_now_ = std::max(deepest_now_, depth.metres);
    }
  }
  if (deepest_now_ > 0.0) time_inside_ += dt;
  deepest_ = std::max(deepest_, deepest_now_);
}

void ZoneWatch::add_metrics(PartList& parts) const {
  if (zones_.empty()) return;
  parts.add("task_zone_entries", "Entries into the task's zones", "", static_cast<double>(entries_), 0.0, 4.0);
  parts.add("task_zone_time", "Time in the task's zones", "s", time_inside_, 0.0, 3.0);
  parts.add("task_zone_depth", "Depth in the task's zones", "mm", deepest_ * 1e3, 0.0, 10.0);
}

void ZoneWatch::draw(DrawnMarks& marks) const {
  for (std::size_t z = 0; z < zones_.size(); ++z) marks.zones.push_back({zones_[z].outline(), violated_[z] != 0});
}

BurnWatch::Solid::Solid(const MeshView& mesh) : surface(std::make_unique<TriangleMesh>()), tree(make_surface_tree({})) {
  surface->positions.assign(mesh.positions.begin(), mesh.positions.end());
  surface->faces.assign(mesh.faces.begin(), mesh.faces.end());
  tree->rebuild(surface->view());
  box = solids::box_of(surface->positions);
}

BurnWatch::BurnWatch(const MeshView& organ, std::span<const MeshView> neighbours) {
  solids_.emplace_back(organ);
  for (const MeshView& neighbour : neighbours)
    if (!neighbour.faces.empty()) solids_.emplace_back(neighbour);
}

void BurnWatch::add(std::span<const glm::vec3> walls) {
  for (const glm::vec3& p : walls) deepest_ = std::max(deepest_, depth_of(p));
}

// The slow test whether the point lies in a neighbour runs only when its depth would be the largest so far.
double BurnWatch::depth_of(const glm::vec3& p) const {
  double depth = std::numeric_limits<double>::infinity();
  for (const Solid& solid : solids_)
    if (const auto nearest = solid.tree->closest(glm::dvec3(p), depth)) depth = std::min(depth, nearest->distance);
  if (depth <= deepest_ || depth == std::numeric_limits<double>::infinity()) return 0.0;
  for (std::size_t k = 1; k < solids_.size(); ++k) {
    const Solid& solid = solids_[k];
    if (solids::point_in_solid(solid.surface->view(), solid.box, p).location == solids::PointLocation::Inside)
      return 0.0;
  }
  return depth;
}

void LossWatch::step(const Observation& seen, const std::string& name, TaskLog& log) {
  const FluidLoss lost = organ_ < seen.bleeding.lost.size() ? seen.bleeding.lost[organ_] : FluidLoss{};
  if (!before_) before_ = lost;
  if (blood_.exceeded((lost.blood - before_->blood) / kMillilitre))
    log.critical(seen.time, trf("the {} has lost more than {:g} ml of blood", tr(name), blood_.most));
  if (bile_.exceeded((lost.bile - before_->bile) / kMillilitre))
    log.error(seen.time, trf("the {} has spilt more than {:g} ml of bile", tr(name), bile_.most));
}

}  // namespace trocar

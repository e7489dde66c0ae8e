#include "app/window/ghost_show.hpp"

#include "app/window/ghost_file.hpp"

namespace trocar {
namespace {

constexpr float kCoincide = 0.0015f;  // m  nearer tips would only flicker

}  // namespace

std::string GhostShow::why_none(const Practice& practice, GhostMode mode) {
  if (mode == GhostMode::Off) return {};
  if (practice.plan().performer) return "The expert is at work: no ghost";
  if (!practice.task()) return "Free practice has no ghost: it has no task";
  if (!can_have_ghost(practice.scene())) return "This task has no ghost: the scope itself performs it";
  return {};
}

void GhostShow::prepare(const Scene& scene) {
  if (!can_have_ghost(scene)) return;
  if (maker_ && scene_ == scene.text) return;
  scene_ = scene.text;
  maker_ = std::make_unique<GhostMaker>(scene, ghost_folder());
}

std::span<const DrawnTool> GhostShow::tools(const Practice& practice, GhostMode mode) {
  tools_.clear();
  waits_ = false;
  if (mode == GhostMode::Off || !practice.task() || !why_none(practice, mode).empty()) return {};
  prepare(practice.scene());
  const std::vector<Instrument>& instruments = practice.session().instruments();
  tips_.clear();
  for (const Instrument& instrument : instruments) tips_.emplace_back(instrument.pose.tip);
  const bool ended = maker_->ended();
  maker_->pose(mode, practice.time(), practice.task()->feed().progress, tips_, poses_);
  waits_ = poses_.empty() && !ended;
  for (std::size_t k = 0; k < poses_.size() && k < instruments.size(); ++k) {
    if (glm::distance(poses_[k].tip, tips_[k]) < kCoincide) continue;
    DrawnTool tool;
    tool.pose = {instruments[k].pose.pivot, glm::dvec3(poses_[k].tip), instruments[k].pose.radius};
    tool.roll_deg = static_cast<double>(poses_[k].roll_deg);
    tool.grip = static_cast<double>(poses_[k].grip);
    tool.kind = instruments[k].kind;
    tool.limits = instruments[k].limits;
    tool.ghost = true;
    tools_.push_back(tool);
  }
  return tools_;
}

}  // namespace trocar

#include "sim/task/operation_steps.hpp"

#include <algorithm>

#include "mesh/tube_shape.hpp"
#include "sim/task/duct_line.hpp"
#include "sim/task/task_goal.hpp"

namespace trocar {
namespace {

// Returns the fibres of a layer or band, or those of them that are nearest to a point.
std::vector<std::uint32_t> fibres_of(const StepTissue& tissue, const TaskStage& stage) {
  const auto named = std::ranges::find(stage.tissue, tissue.name);
  const auto group = static_cast<std::uint32_t>(named - stage.tissue.begin());
  std::vector<std::uint32_t> fibres;
  for (std::uint32_t f = 0; f < stage.fibres.size(); ++f)
    if (stage.fibres[f].group == group) fibres.push_back(f);
  const auto away = [&](std::uint32_t f) { return glm::distance(stage.fibres[f].rest, tissue.near); };
  std::ranges::stable_sort(fibres, {}, away);
  fibres.resize(static_cast<std::size_t>(std::ceil(tissue.part * double(fibres.size()))));
  return fibres;
}

}  // namespace

OperationSteps::OperationSteps(const TaskScene& task, const TaskStage& stage)
    : jaws_(stage.jaws), grasps_(stage.grasps) {
  for (const TaskStep& scene : task.steps) {
    Step step{scene};
    for (const StepTissue& tissue : scene.tissue) {
      const std::vector<std::uint32_t> fibres = fibres_of(tissue, stage);
      step.fibres.insert(step.fibres.end(), fibres.begin(), fibres.end());
    }
    if (!scene.organ.empty()) {
      const std::uint32_t organ = organ_of(stage, scene.organ);
      step.mark = task.locations.size() + marks_.size();
      marks_.push_back(nearest_mark(organ, stage.surfaces[organ], scene.location));
    }
    steps_.push_back(std::move(step));
  }
  first_duct_mark_ = task.locations.size() + marks_.size();
  for (const TaskTarget& target : task.locations) {
    const std::uint32_t organ = organ_of(stage, target.organ);
    const std::vector<glm::dvec3>& line = stage.lines[organ];
    const double along = along_line(line, glm::dvec3(target.location));
    for (const double by : {-kDuctSpan, kDuctSpan})
      marks_.push_back(nearest_mark(organ, stage.surfaces[organ], glm::vec3(point_on_line(line, along + by))));
  }
}

void OperationSteps::step(const Observation& seen, double dt, double divided) {
  for (Step& step : steps_) {
    const bool last = step.scene.kind == StepKind::Remove;
    const auto others_done = [&] {
      return std::ranges::all_of(steps_, [&](const Step& other) { return &other == &step || other.done; });
    };
    switch (step.scene.kind) {
      case StepKind::Retract:
      case StepKind::Remove:
        follow_motion(seen, dt, !last || others_done(), step);
        break;
      case StepKind::Dissect: {
        const auto broken = std::ranges::count_if(
            step.fibres, [&](std::uint32_t f) { return f < seen.fibres.intact.size() && !seen.fibres.intact[f]; });
        const double share = step.fibres.empty() ? 1.0 : double(broken) / double(step.fibres.size());
        step.progress = std::max(step.progress, std::min(share / step.scene.share, 1.0));
        step.done = step.done || share >= step.scene.share;
        break;
      }
      case StepKind::Divide:
        step.progress = divided;
        step.done = divided >= 1.0;
        break;
    }
    if (step.done) step.progress = 1.0;
  }
}

// Returns the instrument whose closed jaws hold tissue near the point. An observation does not say what jaws hold.
std::optional<std::size_t> OperationSteps::holder(const Observation& seen, const glm::dvec3& point) const {
  constexpr double kNear = 0.015;  // m
  for (std::size_t tool = 0; tool < seen.tools.size() && tool < grasps_.size(); ++tool)
    if (grasps_[tool] && seen.tools[tool].grip < jaws_[tool].close_below &&
        glm::distance(seen.tools[tool].pose.tip, point) < kNear)
      return tool;
  return std::nullopt;
}

void OperationSteps::follow_motion(const Observation& seen, double dt, bool counts, Step& step) {
  const glm::dvec3 now(seen.marks[step.mark]);
  if (!step.rest) step.rest = now;
  const std::optional<std::size_t> tool = holder(seen, now);
  step.moved = glm::distance(now, *step.rest);
  // What has fallen and is grasped where it lies is far from its first position, but not nearer to the trocar.
  if (step.scene.kind == StepKind::Remove) {
    const auto away = [&](const glm::dvec3& from) { return glm::distance(from, seen.tools[*tool].pose.pivot); };
    step.moved = tool ? std::max(0.0, away(*step.rest) - away(now)) : 0.0;
  }
  if (!counts || step.done || !tool) return;
  constexpr double kForHolding = 0.2;  // 1   share of the progress
  step.held = step.moved >= step.scene.lift ? step.held + dt : 0.0;
  const double held = step.scene.hold > 0.0 ? std::min(step.held / step.scene.hold, 1.0) : 1.0;
  const double way = std::min(step.moved / step.scene.lift, 1.0);
  step.progress = std::max(step.progress, (1.0 - kForHolding) * way + kForHolding * held * double(way >= 1.0));
  step.done = step.moved >= step.scene.lift && step.held >= step.scene.hold;
}

std::optional<std::size_t> OperationSteps::current() const {
  const auto found = std::ranges::find(steps_, false, &Step::done);
  if (found == steps_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - steps_.begin());
}

bool OperationSteps::may_divide() const {
  return std::ranges::all_of(steps_, [](const Step& step) { return step.done || !step.scene.before_division; });
}

}  // namespace trocar

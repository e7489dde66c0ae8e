// Implements the task "clip and cut": ducts and vessels are closed by clips on both sides of a target and divided
// between them (sim/task/duct_watch.hpp). Critical errors end the task. Rules and sources: docs/tasks.md.
// Tested in tests/sim/clip_and_cut_test.cpp
#include <fmt/format.h>

#include "sim/task/cut_watch.hpp"
#include "sim/task/duct_watch.hpp"
#include "sim/task/task_goal.hpp"

namespace trocar {
namespace {

class ClipAndCut final : public TaskGoal {
 public:
  ClipAndCut(const TaskScene& task, const TaskStage& stage)
      : names_(stage.organs), marks_(marks_of(task, stage)), ducts_(task, stage) {}

  const std::vector<SurfaceMark>& marks() const override { return marks_; }

  void step(const Observation& seen, double, TaskLog& log) override {
    positions_.assign(seen.marks.begin(), seen.marks.end());
    ducts_.step(seen, log);
    if (ducts_.clips_now() > 0) warning_.clear();
    for (std::size_t k = 0; k < seen.organs.size(); ++k)
      if (!ducts_.is_tube(k) && seen.organs[k].faces_removed > 0 && cuts_.cut(seen.time)) {
        warning_ = fmt::format("the {} is cut", names_[k]);
        log.error(seen.time, warning_);
      }
  }

  double progress() const override { return ducts_.progress(); }

  void say(std::string& hint, std::string& warning) const override {
    ducts_.say(hint, warning);
    if (!warning_.empty()) warning = warning_;
  }

  void add_metrics(PartList& parts) const override {
    ducts_.add_metrics(parts);
    parts.add("task_other_cuts", "Cuts in organs that are not ducts", "", double(cuts_.count), 0.0, 3.0);
  }

  void draw(DrawnMarks& marks) const override { ducts_.draw(positions_, marks); }

 private:
  std::vector<std::string> names_;  // [organ]
  std::vector<SurfaceMark> marks_;
  std::vector<glm::vec3> positions_;  // [target] m
  DuctWatch ducts_;
  CutWatch cuts_;
  std::string warning_;
};

}  // namespace

std::unique_ptr<TaskGoal> make_clip_and_cut(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<ClipAndCut>(task, stage);
}

}  // namespace trocar

#include "app/window/editor_task_panels.hpp"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "app/window/editor_fields.hpp"
#include "app/window/widgets/theme.hpp"
#include "sim/scene/task_reader.hpp"

namespace trocar {
namespace {

void rule_fields(TaskScene& task) {
  using namespace editor_fields;
  TaskRules& rules = task.rules;
  number("Many errors", rules.many_errors, 1.0, 1.0, 50.0, "%.0f");
  switch (task.kind) {
    case TaskKind::NavigateCamera:
      number("Near enough", rules.readable, 1.0, 0.01, 1.0, "%.2f half heights");
      number("Too near", rules.too_near, 1e3, 0.0, 100.0, "%.0f mm");
      break;
    case TaskKind::TouchTargets:
    case TaskKind::KeepOut:
      number("Wrong after", rules.deliberate, 1.0, 0.0, 5.0, "%.2f s");
      break;
    case TaskKind::BurnLine:
      number("Enough", rules.enough, 1.0, 0.01, 1.0, "%.2f of the line");
      number("In air after", rules.off_tissue_after, 1.0, 0.0, 5.0, "%.2f s");
      break;
    case TaskKind::LiftOrgan:
      number("Drop above", rules.lifted, 1e3, 0.0, 50.0, "%.1f mm");
      number("Slipped by", rules.slipped, 1e3, 0.1, 50.0, "%.1f mm");
      break;
    case TaskKind::ClipAndCut:
    case TaskKind::Operation:
      number("Clips staying", rules.clips_staying, 1.0, 0.0, 10.0, "%.0f");
      break;
    case TaskKind::FollowCurve:
      break;
  }
}

}  // namespace

void task_fields(Editor& editor) {
  using namespace editor_fields;
  Scene& scene = editor.scene;
  theme::heading("Scene and task");
  words("Title", scene.title);
  bool task = scene.task.has_value();
  flag("Scored task", task);
  if (task != scene.task.has_value()) task ? (void)scene.task.emplace() : scene.task.reset();
  if (!scene.task) return;
  TaskScene& t = *scene.task;
  std::string kind(name_of(t.kind));
  const auto& kinds = task_kind_names();
  if (choice("Kind", kinds, kind)) t.kind = static_cast<TaskKind>(std::ranges::find(kinds, kind) - kinds.begin());
  words("Task title", t.title);
  theme::text("Instructions", theme::kQuiet);
  ImGui::InputTextMultiline("##instructions", &t.instructions, {-1.f, theme::px(64.f)});
  std::vector<std::string> names;
  for (const InstrumentScene& instrument : scene.instruments) names.push_back(instrument.name);
  choice("Instrument", names, t.instrument, "any");
}

void mark_fields(TaskScene& task) {
  using namespace editor_fields;
  theme::heading("Limits and pass marks");
  number("Target time", task.time_good, 1.0, 0.1, 3600.0, "%.0f s");
  number("Time limit", task.time_limit, 1.0, 0.2, 3600.0, "%.0f s");
  number("Force limit", task.most_force, 1.0, 0.01, 20.0, "%.2f N");
  number("Tremor limit", task.most_tremor, 1e3, 0.0, 10.0, "%.2f mm");
  theme::wrapped("Full grade up to target time, force and tremor limit; tremor 0: not graded.", theme::kQuiet);
  number("Tolerance", task.tolerance, 1e3, 0.1, 100.0, "%.1f mm");
  number("Hold", task.hold, 1.0, 0.0, 60.0, "%.1f s");
  if (task.kind == TaskKind::LiftOrgan) number("Lift", task.lift, 1e3, 0.1, 200.0, "%.0f mm");
  rule_fields(task);
  theme::wrapped("Many errors: with as many the grade for errors is 0.", theme::kQuiet);
  if (!task.levels.empty())
    theme::wrapped("The levels of this task keep their own values, which replace these.", theme::kQuiet);
}

void limit_fields(Editor& editor, TaskLimit& limit) {
  using namespace editor_fields;
  theme::heading("Limit of an organ");
  theme::wrapped("More than this is a critical error; 0: unlimited.", theme::kQuiet);
  std::vector<std::string> names;
  for (const OrganScene& organ : editor.scene.organs) names.push_back(organ.name);
  choice("Organ", names, limit.organ);
  number("Deepest burn", limit.deepest_burn, 1e3, 0.0, 50.0, "%.1f mm");
  flag("No diathermy", limit.no_diathermy);
  number("Blood", limit.most_blood_ml, 1.0, 0.0, 1000.0, "%.0f ml");
  number("Bile", limit.most_bile_ml, 1.0, 0.0, 1000.0, "%.0f ml");
}

}  // namespace trocar

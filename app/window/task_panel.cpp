#include "app/window/task_panel.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/window/widgets/theme.hpp"

namespace trocar {

std::string clock_text(double seconds) {
  const auto tenths = static_cast<long>(std::max(seconds, 0.0) * 10.0);
  return fmt::format("{}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10);
}

void draw_task(const TaskRun& task, StepPictures& pictures) {
  const TaskFeed& feed = task.feed();
  const theme::Panel panel("task", {{0.f, 0.f}, {8.f, 8.f}, {}, {214.f, 0.f}}, theme::PanelKind::Shown, 0.6f);
  {
    const theme::WithLetters small(theme::Letters::Small);
    theme::heading(task.task().title);
  }
  theme::wrapped(feed.hint);
  if (!feed.warning.empty()) theme::wrapped("! " + feed.warning, theme::kBad);
  ImGui::Spacing();
  if (feed.step) pictures.draw(task.task(), *feed.step);
  theme::bar(feed.progress, theme::kGreen, fmt::format("{:.0f} %", 100.0 * feed.progress));
  const double left = task.task().time_limit - feed.elapsed;
  theme::row("Time", clock_text(feed.elapsed), feed.elapsed > task.task().time_good ? theme::kYellow : theme::kText);
  theme::row("Remaining", clock_text(left), left < 15.0 ? theme::kBad : theme::kQuiet);
  theme::row("Errors", fmt::format("{}", feed.errors), feed.errors > 0 ? theme::kBad : theme::kGood);
  theme::row("Score", fmt::format("{:.0f}", feed.score));
}

}  // namespace trocar

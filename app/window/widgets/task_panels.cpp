#include "app/window/widgets/task_panels.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/window/widgets/theme.hpp"
#include "geometry/translate.hpp"
#include "sim/score/trainee_summary.hpp"

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
    theme::heading(tr(task.task().title));
  }
  theme::wrapped(feed.hint);
  if (!feed.warning.empty()) theme::wrapped("! " + feed.warning, theme::kBad);
  ImGui::Spacing();
  if (feed.step) pictures.draw(task.task(), *feed.step);
  theme::bar(feed.progress, theme::kGreen, fmt::format("{:.0f} %", 100.0 * feed.progress));
  if (feed.hold) theme::bar(*feed.hold, theme::kSkyBlue, tr("hold"));
  const double left = task.task().time_limit - feed.elapsed;
  theme::row("Time", clock_text(feed.elapsed), feed.elapsed > task.task().time_good ? theme::kYellow : theme::kText);
  theme::row("Remaining", clock_text(left), left < 15.0 ? theme::kBad : theme::kQuiet);
  theme::row("Errors", fmt::format("{}", feed.errors), feed.errors > 0 ? theme::kBad : theme::kGood);
  theme::row("Score", score_text(feed.score));
}

namespace {

constexpr double kSame = 0.05;      // s  a replay that begins so near to a moment shows it
constexpr double kExplained = 2.5;  // s  for which an error stays explained
constexpr float kTextFrom = 58.f;   // units
constexpr double kAnnounced = 0.1;  // s  before the error, its explanation appears

double begin_of(const TaskEvent& event) { return event.time - kBeforeEvent; }

// A line over the whole width that can be pressed.
bool event_line(const TaskEvent& event, const std::string& name, double begin, bool highlighted) {
  const float indent = ImGui::GetCursorPosX() + theme::px(kTextFrom);
  const std::string text = event.error ? "! " + event.text : event.text;
  const float width = std::max(ImGui::GetContentRegionAvail().x - theme::px(kTextFrom), 1.f);
  const float height = ImGui::CalcTextSize(text.c_str(), nullptr, false, width).y;
  const ImVec2 from = ImGui::GetCursorPos();
  const bool pressed = ImGui::Selectable(("##" + name).c_str(), highlighted, 0, {0.f, height});
  theme::note_item(name);
  ImGui::SetCursorPos(from);
  theme::text(clock_text(event.time - begin), theme::kQuiet);
  ImGui::SameLine(indent);
  theme::wrapped(text, event.error ? theme::kBad : theme::kText);
  return pressed;
}

}  // namespace

std::vector<std::string> event_names(std::span<const TaskEvent> events) {
  std::vector<std::string> names;
  int errors = 0, others = 0;
  for (const TaskEvent& event : events)
    names.push_back(event.error ? fmt::format("error {}", ++errors) : fmt::format("event {}", ++others));
  return names;
}

std::optional<double> next_error(std::span<const TaskEvent> events, double now) {
  std::optional<double> next;
  for (const TaskEvent& event : events)
    if (event.error && begin_of(event) > now + kSame && (!next || begin_of(event) < *next)) next = begin_of(event);
  return next;
}

std::optional<double> previous_error(std::span<const TaskEvent> events, double now) {
  std::optional<double> previous;
  for (const TaskEvent& event : events)
    if (event.error && begin_of(event) < now - kSame && (!previous || begin_of(event) > *previous))
      previous = begin_of(event);
  return previous;
}

const TaskEvent* error_at(std::span<const TaskEvent> events, double now) {
  const TaskEvent* explained = nullptr;
  for (const TaskEvent& event : events)
    if (event.error && event.time <= now + kAnnounced && now < event.time + kExplained) explained = &event;
  return explained;
}

std::optional<std::size_t> draw_events(std::span<const TaskEvent> events, double begin, std::optional<double> now) {
  if (events.empty()) theme::text(tr("No events"), theme::kQuiet);
  const auto after = [&](const TaskEvent& event) { return now && event.time > *now; };
  const auto passed = static_cast<std::size_t>(std::ranges::find_if(events, after) - events.begin());
  const std::vector<std::string> names = event_names(events);
  // The list scrolls to the highlighted line when another one becomes it.
  ImGuiStorage& kept = *ImGui::GetStateStorage();
  const ImGuiID id = ImGui::GetID("passed");
  const bool moved = kept.GetInt(id) != static_cast<int>(passed);
  kept.SetInt(id, static_cast<int>(passed));
  std::optional<std::size_t> pressed;
  for (std::size_t k = 0; k < events.size(); ++k) {
    const bool highlighted = now && k + 1 == passed;
    if (event_line(events[k], names[k], begin, highlighted)) pressed = k;
    if (highlighted && moved) ImGui::SetScrollHereY();
  }
  return pressed;
}

}  // namespace trocar

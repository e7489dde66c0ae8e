#include "app/window/course_panel.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include "app/window/widgets/theme.hpp"

namespace trocar {
namespace {

constexpr float kRowHeight = 40.f, kSignWidth = 30.f;  // units

glm::vec3 colour_of(StepState state) {
  switch (state) {
    case StepState::Passed:
      return theme::kGood;
    case StepState::Open:
      return theme::kSkyBlue;
    case StepState::RefresherDue:
      return theme::kYellow;
    case StepState::Locked:
      break;
  }
  return theme::kQuiet;
}

// A tick, a padlock, a ring; the text repeats it.
void draw_sign(StepState state, const ImVec2& middle) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto colour = theme::packed(colour_of(state));
  const float u = theme::px(1.f);
  const auto at = [&](float x, float y) { return ImVec2(middle.x + x * u, middle.y + y * u); };
  if (state == StepState::Locked) {
    list.AddRectFilled(at(-5.5f, -1.f), at(5.5f, 7.f), colour, 1.5f * u);
    list.PathArcTo(at(0.f, -1.f), 3.6f * u, -3.1416f, 0.f, 12);
    list.PathStroke(colour, 0, 1.7f * u);
    return;
  }
  list.AddCircle(middle, 7.5f * u, colour, 24, 1.7f * u);
  if (state == StepState::Open) return;
  list.PathLineTo(at(-3.5f, 0.3f));
  list.PathLineTo(at(-0.8f, 3.f));
  list.PathLineTo(at(3.8f, -3.f));
  list.PathStroke(colour, 0, 1.9f * u);
}

std::string state_line(const CourseView& view, std::size_t k) {
  const StepProgress& progress = view.progress[k];
  if (progress.state == StepState::Locked) return "needs: " + needs_text(view, k);
  std::string line = progress.state == StepState::Open ? passes_text(view.curriculum.steps[k], progress)
                                                       : fmt::format("{}, {}", state_name(progress.state),
                                                                     passes_text(view.curriculum.steps[k], progress));
  if (progress.attempts > 0)
    line += fmt::format("; {} {}", progress.attempts, progress.attempts == 1 ? "attempt" : "attempts");
  return line;
}

void row_text(const std::string& words, const ImVec2& from, const ImVec2& to, const glm::vec3& colour) {
  const ImVec4 clip(from.x, from.y, to.x, to.y);
  ImGui::GetWindowDrawList()->AddText(ImGui::GetFont(), ImGui::GetFontSize(), from, theme::packed(colour),
                                      words.c_str(), nullptr, 0.f, &clip);
}

}  // namespace

std::string progress_line(const LabDesk& desk) {
  if (desk.person().empty()) return {};
  if (!desk.view()) return desk.asking() ? "Asking the database..." : "";
  const CourseView& view = *desk.view();
  std::string line;
  if (!desk.why().empty())
    line = "The database does not answer. Known at this station: ";
  else if (!desk.known())
    return fmt::format("New id: Enter logs {} in, and so does Start.", desk.person());
  if (view.progress.empty()) return line + "no curriculum";
  line += fmt::format("{} of {} steps passed.", steps_passed(view), view.progress.size());
  if (view.next) line += fmt::format(" Next: {}.", step_title(view.curriculum.steps[*view.next]));
  return line;
}

void draw_step(const LabDesk& desk, std::size_t number) {
  if (!desk.view() || number >= desk.view()->progress.size()) return;
  const CourseView& view = *desk.view();
  const CourseStep& step = view.curriculum.steps[number];
  const StepProgress& progress = view.progress[number];
  ImGui::Spacing();
  if (progress.state == StepState::Locked)
    theme::wrapped(fmt::format("Step of the curriculum, locked; it needs: {}. Attempts count once it is open.",
                               needs_text(view, number)),
                   theme::kYellow);
  else
    theme::wrapped(
        fmt::format("Step of the curriculum, {}: {}.", state_name(progress.state), passes_text(step, progress)),
        progress.state == StepState::RefresherDue ? theme::kYellow : theme::kGood);
  theme::wrapped(fmt::format("A pass has {}.", criteria_text(step)), theme::kQuiet);
}

bool CoursePanel::row(const CourseView& view, std::size_t k, bool selected) {
  const CourseStep& step = view.curriculum.steps[k];
  const StepProgress& progress = view.progress[k];
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = theme::px(kRowHeight);
  bool pressed = ImGui::Selectable(fmt::format("##step{}", k).c_str(), selected, 0, {width, height});
  note_visible_item("step " + step.name);
  if (selected && focus_.fresh()) ImGui::SetItemDefaultFocus();
  if (focus_.moved_to(k) && !selected) pressed = true;
  if (selected && reveal_) ImGui::SetScrollHereY(0.5f), reveal_ = false;
  draw_sign(progress.state, {from.x + theme::px(14.f), from.y + 0.5f * height});
  const bool locked = progress.state == StepState::Locked;
  const float left = from.x + theme::px(kSignWidth), right = from.x + width - theme::px(6.f);
  const std::string best = progress.best ? fmt::format("best {:.0f}", *progress.best) : std::string();
  const theme::WithLetters small(theme::Letters::Small);
  const float best_at = right - ImGui::CalcTextSize(best.c_str()).x;
  row_text(best, {best_at, from.y + theme::px(5.f)}, {right, from.y + height}, theme::kQuiet);
  row_text(step_title(step), {left, from.y + theme::px(5.f)}, {best_at - theme::px(6.f), from.y + height},
           locked ? theme::kQuiet : theme::kText);
  row_text(state_line(view, k), {left, from.y + theme::px(21.f)}, {right, from.y + height}, colour_of(progress.state));
  return pressed;
}

std::optional<std::size_t> CoursePanel::draw(const LabDesk& desk, const std::optional<std::size_t>& selected) {
  focus_.begin();
  std::optional<std::size_t> pressed;
  if (desk.person().empty() || !desk.view()) {
    theme::wrapped(desk.person().empty() ? "Type an id as Person, or choose one, to see progress in the curriculum."
                                         : "Asking the database...",
                   theme::kQuiet);
    if (!desk.view()) return {};
  }
  const CourseView& view = *desk.view();
  theme::heading(view.curriculum.title);
  for (std::size_t k = 0; k < view.progress.size(); ++k)
    if (row(view, k, k == selected)) pressed = k;
  return pressed;
}

}  // namespace trocar

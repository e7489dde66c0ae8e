#include "app/window/screens/day_screen.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/window/widgets/theme.hpp"
#include "geometry/translate.hpp"
#include "sim/score/trainee_summary.hpp"

namespace trocar {
namespace {

constexpr std::size_t kMostPeople = 100;
constexpr float kDayHeight = 480.f, kBelowDay = 118.f;  // units: the table; the notes and the buttons below it

std::string count_text(std::size_t count) { return count > 0 ? fmt::format("{}", count) : ""; }

std::string latest_text(const LabAttempt& attempt) {
  const std::string title = attempt.title.empty() ? attempt.scene : tr(attempt.title);
  const std::string task = attempt.level > 1 ? trf("{}, level {}", title, attempt.level) : title;
  const std::string score = attempt.score ? score_text(*attempt.score) : "\u2013";
  return fmt::format("{}: {}, {}", local_text_of_date(attempt.started), task, score);
}

// "24 hours: 2 people. 7 days: 5 people. Stuck: 1 person. Attempts lost to a slow machine: 0 people."
std::string sums_of(const DayRows& day) {
  const auto in = [&](const auto& what) {
    const auto count = std::ranges::count_if(day.rows, what);
    return ntrf("{} person", "{} people", static_cast<unsigned long>(count), count);
  };
  return trf("24 hours: {}. 7 days: {}. Stuck: {}. Attempts lost to a slow machine: {}.",
             in([](const DayRow& row) { return row.in_a_day > 0; }),
             day.more ? trf("{} or more people", day.rows.size()) : in([](const DayRow&) { return true; }),
             in([](const DayRow& row) { return row.stuck(); }), in([](const DayRow& row) { return row.slow > 0; }));
}

}  // namespace

DayScreen::DayScreen(const LabStation& station, const Curriculum& curriculum)
    : station_(station), curriculum_(curriculum) {
  ask();
}

void DayScreen::ask() {
  fault_.clear();
  asking_ = Task<DayRows>([station = station_, curriculum = curriculum_] {
    LabDatabase lab = station.open_to_read();
    return day_rows(lab, curriculum, now_in_seconds(), kMostPeople);
  });
}

void DayScreen::step(const WindowInput& input, double, bool listens) {
  escape_ = listens && input.went_down(Key::Escape);
  auto answer = asking_.poll();
  if (!answer) return;
  fault_ = std::move(answer->fault);
  if (answer->value) day_ = std::move(answer->value);
}

// Where the person stands, and how many attempts there were no pass.
void DayScreen::step_cell(const DayRow& row) const {
  if (!row.step) return theme::text(tr("all steps are passed"), theme::kGood);
  const std::string title = step_title(curriculum_.steps[*row.step]);
  if (row.without_pass == 0) return theme::wrapped(title);
  theme::wrapped(row.stuck() ? trf("{}; stuck: {} without a pass", title, row.without_pass)
                             : trf("{}; {} without a pass", title, row.without_pass),
                 row.stuck() ? theme::kBad : theme::kText);
  for (const std::string& sentence : row.missed) theme::wrapped(sentence, theme::kQuiet);
}

void DayScreen::row(const DayRow& row) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const std::string& id = row.person.id;
  const std::string name = row.person.name.empty() ? id : id + ", " + row.person.name;
  if (ImGui::Selectable(fmt::format("{}##{}", name, id).c_str(), false, ImGuiSelectableFlags_SpanAllColumns))
    person_ = id;
  theme::note_words(name);
  theme::note_item("day of " + id);
  for (const std::string& words : {count_text(row.in_a_day), fmt::format("{}", row.in_a_week),
                                   fmt::format("{:.0f}", row.seconds_in_a_week / 60.0)}) {
    ImGui::TableNextColumn();
    theme::text(words);
  }
  ImGui::TableNextColumn();
  theme::text(count_text(row.slow), theme::kBad);
  ImGui::TableNextColumn();
  theme::wrapped(latest_text(row.latest));
  ImGui::TableNextColumn();
  theme::text(trf("{} of {}", row.steps, curriculum_.steps.size()));
  ImGui::TableNextColumn();
  step_cell(row);
}

void DayScreen::table() {
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp;
  const theme::Scope table = theme::table("day", 8, flags, theme::height_above(kDayHeight, kBelowDay));
  if (!table) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  for (const auto& [title, width] : {std::pair{tr("person"), 1.3f},
                                     {tr("24 hours"), 0.65f},
                                     {tr("7 days"), 0.6f},
                                     {tr("minutes"), 0.6f},
                                     {tr("too slow"), 0.65f},
                                     {tr("latest"), 2.1f},
                                     {tr("passed"), 0.7f},
                                     {tr("step"), 2.6f}}) {
    ImGui::TableSetupColumn(title, 0, width);
    theme::note_words(title);
  }
  ImGui::TableHeadersRow();
  for (const DayRow& one : day_->rows) row(one);
}

Ask DayScreen::panels() {
  person_.clear();
  const theme::Panel panel("day", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {1180.f, 676.f}}, theme::PanelKind::Used, 0.55f);
  theme::headline(tr("The instructor's day"));
  if (!fault_.empty()) theme::wrapped(fault_, theme::kBad);
  if (!day_) {
    if (fault_.empty()) theme::text(tr("Asking for attempts..."), theme::kQuiet);
  } else if (day_->rows.empty()) {
    theme::text(tr("No attempt in the last 7 days."), theme::kQuiet);
  } else {
    theme::wrapped(sums_of(*day_));
    table();
    theme::wrapped(
        trf("24 hours, 7 days: attempts. Minutes: in 7 days. Too slow: attempts of the 7 days that do not count, "
            "because the machine lost more than 3 % of the time. Stuck: {} or more attempts at a step without a "
            "pass.",
            kStuckAfter),
        theme::kQuiet);
  }
  Ask ask = escape_ ? Ask::Back : Ask::Nothing;
  if (theme::button("Ask again", 130.f, false, !asking_.busy())) this->ask();
  ImGui::SameLine();
  if (theme::button("Back", 130.f, true)) ask = Ask::Back;
  return person_.empty() ? ask : Ask::OpenLibrary;
}

ScreenStatus DayScreen::status() const {
  ScreenStatus status;
  status.phase = asking_.busy() ? "asking" : fault_.empty() ? "listing" : "fault";
  status.note = fault_;
  status.frames = day_ ? day_->rows.size() : 0;
  return status;
}

}  // namespace trocar

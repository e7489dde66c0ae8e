#include "app/window/library_screen.hpp"

#include <fmt/format.h>
#include <glad/gl.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <chrono>

#include "app/lab/lab_date.hpp"
#include "app/report/write_report.hpp"
#include "app/window/theme.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

constexpr float kPeopleWidth = 330.f, kLibraryHeight = 534.f, kLegendWidth = 190.f;  // units
constexpr std::size_t kMostPeople = 200, kMostShown = 500;

// One colour for each person; more people than colours share them.
glm::vec3 person_colour(std::size_t person) {
  constexpr glm::vec3 colours[] = {theme::kSkyBlue,   theme::kOrange, theme::kGreen, theme::kYellow,
                                   theme::kVermilion, theme::kPurple, theme::kBlue};
  return colours[person % std::size(colours)];
}

std::string task_label(const std::string& scene, int level) {
  if (scene.empty()) return "All tasks";
  std::string label = scene;
  std::replace(label.begin(), label.end(), '_', ' ');
  return level > 1 ? fmt::format("{}, level {}", label, level) : label;
}

std::string score_label(const std::optional<double>& score) {
  return score ? fmt::format("{:.0f}", *score) : std::string("\u2013");
}

// "best 92, last 88, 7 attempts"
std::string summary_of(const std::vector<double>& scores) {
  if (scores.empty()) return "no scored attempt";
  return fmt::format("best {:.0f}, last {:.0f}, {} {}", std::ranges::max(scores), scores.back(), scores.size(),
                     scores.size() == 1 ? "attempt" : "attempts");
}

// Whether a comes before b in the order of a column of the table.
bool before(const LabAttempt& a, const LabAttempt& b, int column) {
  switch (column) {
    case 1:
      return std::tie(a.scene, a.level) < std::tie(b.scene, b.level);
    case 2:
      return a.score < b.score;
    case 3:
      return a.seconds < b.seconds;
    case 4:
      return a.ending < b.ending;
    default:
      return a.started < b.started;
  }
}

}  // namespace

LibraryScreen::LibraryScreen(const LabStation& station)
    : station_(station), opening_(std::async(std::launch::async, [station] { return station.open(); })) {}

void LibraryScreen::note_opened() {
  if (!opening_.valid() || opening_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  try {
    lab_.emplace(opening_.get());
    search();
  } catch (const std::runtime_error& error) {
    fault_ = error.what();
  }
}

void LibraryScreen::search() {
  people_.clear();
  selected_.reset();
  for (PersonSummary& one : lab_->people({part_, PersonOrder::LastAttempt, kMostPeople}))
    people_.push_back({std::move(one)});
  if (!people_.empty()) select(0);
}

void LibraryScreen::select(std::size_t person) {
  selected_ = person;
  scene_.clear();
  standings_ = lab_->standings(people_[person].summary.person.id, "");
  choose_task("", 1);
}

void LibraryScreen::choose_attempt(std::size_t attempt) {
  attempt_ = attempt;
  own_ = own_recording(claim_of(attempts_[attempt]));
}

void LibraryScreen::choose_task(const std::string& scene, int level) {
  scene_ = scene, level_ = level;
  attempt_.reset();
  AttemptQuery query{.person = people_[*selected_].summary.person.id, .scene = scene, .most = kMostShown};
  if (!scene.empty()) query.level = level;
  attempts_ = lab_->attempts(query);
  compare();
}

void LibraryScreen::compare() {
  curves_.clear();
  if (scene_.empty()) return;
  for (std::size_t k = 0; k < people_.size(); ++k) {
    if (!people_[k].picked && k != selected_) continue;
    Curve curve{people_[k].summary.person.id, {}};
    for (const LabAttempt& one : lab_->attempts({curve.person, scene_, level_, kMostShown}))
      if (one.score) curve.scores.push_back(*one.score);
    std::reverse(curve.scores.begin(), curve.scores.end());
    curves_.push_back(std::move(curve));
  }
}

void LibraryScreen::step(const WindowInput& input, double, bool listens) {
  escape_ = listens && std::ranges::find(input.pressed, Key::Escape) != input.pressed.end();
  note_opened();
}

void LibraryScreen::picture(const glm::ivec2& size) {
  glViewport(0, 0, size.x, size.y);
  glClearColor(0.04f, 0.05f, 0.06f, 1.f);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

// A disc of the person's colour at the end of the line, as in the curves.
void LibraryScreen::mark_compared(const std::string& person) const {
  const auto curve = std::ranges::find(curves_, person, &Curve::person);
  if (curve == curves_.end()) return;
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  ImGui::GetWindowDrawList()->AddCircleFilled(
      {to.x - theme::px(12.f), 0.5f * (from.y + to.y)}, theme::px(5.f),
      theme::packed(person_colour(static_cast<std::size_t>(curve - curves_.begin()))));
}

void LibraryScreen::people_list() {
  ImGui::SetNextItemWidth(-1.f);
  if (ImGui::InputTextWithHint("##part", "part of an id or name", &part_)) search();
  theme::note_item("Search");
  ImGui::BeginChild("list", {0.f, 0.f}, false, ImGuiWindowFlags_NavFlattened);
  for (std::size_t k = 0; k < people_.size(); ++k) {
    const PersonSummary& one = people_[k].summary;
    ImGui::PushID(static_cast<int>(k));
    if (ImGui::Checkbox("##picked", &people_[k].picked) && selected_) compare();
    theme::note_item("Pick " + one.person.id);
    ImGui::SameLine();
    const std::string name = one.person.name.empty() ? one.person.id : one.person.id + ", " + one.person.name;
    const std::string label = fmt::format("{}  ({})", name, one.attempts);
    if (ImGui::Selectable(label.c_str(), k == selected_)) select(k);
    theme::note_item(one.person.id);
    mark_compared(one.person.id);
    ImGui::PopID();
  }
  if (people_.empty()) theme::text("No people", theme::kQuiet);
  ImGui::EndChild();
}

void LibraryScreen::task_choice() {
  theme::label("Task", 60.f, 300.f);
  if (!ImGui::BeginCombo("##task", task_label(scene_, level_).c_str())) return theme::note_item("Task");
  const auto entry = [&](const std::string& scene, int level) {
    const std::string label = task_label(scene, level);
    if (ImGui::Selectable(label.c_str(), scene == scene_ && level == level_)) choose_task(scene, level);
    theme::note_item(label);
  };
  entry("", 1);
  const std::vector<Standing> tasks = standings_;
  for (const Standing& standing : tasks) entry(standing.scene, standing.level);
  ImGui::EndCombo();
}

void LibraryScreen::sort_attempts() {
  ImGuiTableSortSpecs* order = ImGui::TableGetSortSpecs();
  if (!order || !order->SpecsDirty || order->SpecsCount == 0) return;
  const bool down = order->Specs[0].SortDirection == ImGuiSortDirection_Descending;
  const int column = order->Specs[0].ColumnIndex;
  std::stable_sort(attempts_.begin(), attempts_.end(), [&](const LabAttempt& a, const LabAttempt& b) {
    return down ? before(b, a, column) : before(a, b, column);
  });
  attempt_.reset();
  order->SpecsDirty = false;
}

void LibraryScreen::attempt_table() {
  constexpr ImGuiTableFlags flags =
      ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp;
  if (!ImGui::BeginTable("attempts", 5, flags, {0.f, ImGui::GetContentRegionAvail().y})) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("started (UTC)",
                          ImGuiTableColumnFlags_DefaultSort | ImGuiTableColumnFlags_PreferSortDescending, 1.4f);
  ImGui::TableSetupColumn("task", 0, 1.8f);
  ImGui::TableSetupColumn("score", ImGuiTableColumnFlags_PreferSortDescending, 0.6f);
  ImGui::TableSetupColumn("seconds", 0, 0.7f);
  ImGui::TableSetupColumn("ended", 0, 1.2f);
  ImGui::TableHeadersRow();
  sort_attempts();
  for (std::size_t k = 0; k < attempts_.size(); ++k) {
    const LabAttempt& one = attempts_[k];
    ImGui::TableNextColumn();
    const std::string label = fmt::format("{}##{}", text_of_date(one.started), one.key);
    if (ImGui::Selectable(label.c_str(), k == attempt_, ImGuiSelectableFlags_SpanAllColumns)) choose_attempt(k);
    theme::note_item(fmt::format("Attempt {}", k + 1));
    ImGui::TableNextColumn();
    theme::text(task_label(one.scene, one.level));
    ImGui::TableNextColumn();
    theme::text(score_label(one.score));
    ImGui::TableNextColumn();
    theme::text(fmt::format("{:.0f}", one.seconds));
    ImGui::TableNextColumn();
    theme::text(one.critical ? one.ending + ", critical error" : one.ending, one.critical ? theme::kBad : theme::kText);
  }
  ImGui::EndTable();
}

// The scores of the compared people against the number of the attempt.
void LibraryScreen::curves() const {
  const ImVec2 from = ImGui::GetCursorScreenPos(),
               size(ImGui::GetContentRegionAvail().x - theme::px(kLegendWidth), theme::px(210.f));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(from, {from.x + size.x, from.y + size.y}, IM_COL32(0, 0, 0, 90));
  std::size_t longest = 2;
  for (const Curve& curve : curves_) longest = std::max(longest, curve.scores.size());
  const auto at = [&](std::size_t attempt, double score) {
    const float x = static_cast<float>(attempt) / static_cast<float>(longest - 1);
    const float left = theme::px(34.f), top = theme::px(10.f), bottom = theme::px(10.f);
    return ImVec2(from.x + left + x * (size.x - left - theme::px(12.f)),
                  from.y + top + (1.f - static_cast<float>(score) / 100.f) * (size.y - top - bottom));
  };
  for (const int score : {0, 25, 50, 75, 100}) {
    const ImVec2 left = at(0, score), right = at(longest - 1, score);
    list.AddLine(left, right, IM_COL32(255, 255, 255, 28));
    list.AddText({from.x + theme::px(4.f), left.y - theme::px(8.f)}, theme::packed(theme::kQuiet),
                 fmt::format("{}", score).c_str());
  }
  for (std::size_t k = 0; k < curves_.size(); ++k) {
    const auto& scores = curves_[k].scores;
    const auto colour = theme::packed(person_colour(k));
    for (std::size_t a = 0; a + 1 < scores.size(); ++a)
      list.AddLine(at(a, scores[a]), at(a + 1, scores[a + 1]), colour, theme::px(2.f));
    for (std::size_t a = 0; a < scores.size(); ++a) list.AddCircleFilled(at(a, scores[a]), theme::px(3.5f), colour);
  }
  ImGui::Dummy(size);
  ImGui::SameLine();
  ImGui::BeginGroup();
  const theme::WithLetters small(theme::Letters::Small);
  theme::text("score of each attempt", theme::kQuiet);
  for (std::size_t k = 0; k < curves_.size(); ++k) {
    theme::text(curves_[k].person, person_colour(k));
    theme::text("   " + summary_of(curves_[k].scores), theme::kQuiet);
  }
  ImGui::EndGroup();
}

void LibraryScreen::write_report_page() {
  try {
    std::filesystem::path page = own_.file;
    page.replace_extension(".html");
    write_report({own_.file.string()}, page, true);
    report_ = page;
    note_ = fmt::format("Report written to {}", page.string());
  } catch (const std::runtime_error& error) {
    note_ = error.what();
  }
}

Ask LibraryScreen::buttons() {
  Ask ask = escape_ ? Ask::Back : Ask::Nothing;
  const bool here = attempt_ && own_.answer == Claimed::Ours;
  if (theme::button("Replay", 130.f, true, here)) {
    recording_ = own_.file;
    ask = Ask::OpenRecording;
  }
  ImGui::SameLine();
  if (theme::button("Report", 130.f, false, here)) write_report_page();
  ImGui::SameLine();
  if (theme::button("Start screen", 130.f)) ask = Ask::Back;
  if (attempt_ && !here) {
    ImGui::SameLine();
    theme::text(fmt::format("its recording {}", own_.why), theme::kQuiet);
  }
  return ask;
}

Ask LibraryScreen::panels() {
  const theme::Panel panel("library", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {1120.f, 676.f}}, theme::PanelKind::Used, 0.55f);
  {
    const theme::WithLetters large(theme::Letters::Heading);
    theme::text("People and attempts");
  }
  theme::text(without_password(station_.address()), theme::kQuiet);
  if (!fault_.empty() || !lab_) {
    theme::wrapped(fault_.empty() ? "Asking the database..." : fault_, fault_.empty() ? theme::kText : theme::kBad);
    return theme::button("Start screen", 130.f) || escape_ ? Ask::Back : Ask::Nothing;
  }
  Ask ask = Ask::Nothing;
  try {
    ImGui::BeginChild("people", {theme::px(kPeopleWidth), theme::px(kLibraryHeight)}, false,
                      ImGuiWindowFlags_NavFlattened);
    people_list();
    ImGui::EndChild();
    ImGui::SameLine(0.f, theme::px(24.f));
    ImGui::BeginChild("person", {0.f, theme::px(kLibraryHeight)}, false, ImGuiWindowFlags_NavFlattened);
    comparing_ = !curves_.empty();
    if (selected_) {
      task_choice();
      if (comparing_) curves();
      attempt_table();
    }
    ImGui::EndChild();
    theme::wrapped(note_.empty() ? "Tick people to compare them at a task." : note_, theme::kQuiet);
    ask = buttons();
  } catch (const RunError& error) {  // of the database
    fault_ = error.what();
  }
  return ask;
}

ScreenStatus LibraryScreen::status() const {
  ScreenStatus status;
  status.phase = !fault_.empty() ? "fault" : !lab_ ? "opening" : comparing_ ? "comparing" : "listing";
  status.file = report_;
  status.note = fault_.empty() ? note_ : fault_;
  status.frames = attempts_.size();
  return status;
}

}  // namespace trocar

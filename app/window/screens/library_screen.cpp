#include "app/window/screens/library_screen.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "app/window/screens/results_screen.hpp"
#include "app/window/widgets/theme.hpp"
#include "sim/score/trainee_summary.hpp"

namespace trocar {
namespace {

constexpr std::size_t kMostPeople = 200, kMostShown = 500;

LibraryAnswer::Curve curve_of(LabDatabase& lab, const std::string& person, const LibraryQuestion& question) {
  LibraryAnswer::Curve curve{person, {}};
  for (const LabAttempt& one : lab.attempts({person, question.scene, question.level, kMostShown}))
    if (one.score) curve.scores.push_back(*one.score);
  std::ranges::reverse(curve.scores);
  return curve;
}

LibraryAnswer answer_of(LabDatabase& lab, LibraryQuestion question) {
  LibraryAnswer answer;
  answer.people = lab.people({question.part, PersonOrder::LastAttempt, kMostPeople});
  if (question.person.empty() && !answer.people.empty()) question.person = answer.people.front().person.id;
  if (!question.person.empty()) {
    answer.standings = lab.standings(question.person, "");
    AttemptQuery query{.person = question.person, .scene = question.scene, .most = kMostShown};
    if (!question.scene.empty()) query.level = question.level;
    answer.attempts = lab.attempts(query);
  }
  if (!question.person.empty() && !question.scene.empty()) {
    answer.curves.push_back(curve_of(lab, question.person, question));
    for (const std::string& other : question.compared)
      if (other != question.person) answer.curves.push_back(curve_of(lab, other, question));
  }
  answer.question = std::move(question);
  return answer;
}

}  // namespace

void LibraryDesk::ask(LibraryQuestion question, double patience) {
  next_ = std::move(question);
  patience_ = patience;
}

void LibraryDesk::step(double elapsed) {
  if (auto result = task_.poll()) {
    fault_ = std::move(result->fault);
    if (result->value) {
      answer_ = std::move(*result->value);
      ++answers_;
    }
  }
  patience_ -= elapsed;
  if (!next_ || patience_ > 0.0 || task_.busy()) return;
  asked_ = *std::exchange(next_, std::nullopt);
  task_ = Task<LibraryAnswer>([station = station_, question = asked_] {
    LabDatabase lab = station.open_to_read();
    return answer_of(lab, question);
  });
}

namespace {

constexpr float kPeopleWidth = 330.f, kLibraryHeight = 534.f, kLegendWidth = 190.f;  // units
constexpr float kBelowLists = 64.f;                                                  // units: the note and the buttons
constexpr double kTyping = 0.25;  // s  of rest before what is typed is searched for

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
  return score ? score_text(*score) : std::string("\u2013");
}

// "best 92, last 88, 7 attempts"
std::string summary_of(const std::vector<double>& scores) {
  if (scores.empty()) return "no scored attempt";
  return fmt::format("best {}, last {}, {} {}", score_text(std::ranges::max(scores)), score_text(scores.back()),
                     scores.size(), scores.size() == 1 ? "attempt" : "attempts");
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

LibraryScreen::LibraryScreen(const LabStation& station, GlContext* context, bool technical)
    : context_(context), address_(technical ? without_password(station.address()) : ""), desk_(station) {
  ask();
}

void LibraryScreen::ask(double patience) {
  question_.compared.assign(picked_.begin(), picked_.end());
  desk_.ask(question_, patience);
}

// Selects the first of those who will be found.
void LibraryScreen::search() {
  question_.person.clear(), question_.scene.clear(), question_.level = 1;
  ask(kTyping);
}

void LibraryScreen::select(const std::string& person) {
  question_.person = person;
  choose_task("", 1);
}

void LibraryScreen::choose_attempt(const LabAttempt& attempt) {
  attempt_ = attempt.key;
  own_ = own_recording(claim_of(attempt));
}

void LibraryScreen::choose_task(const std::string& scene, int level) {
  question_.scene = scene, question_.level = level;
  ask();
}

void LibraryScreen::pick(const std::string& person, bool picked) {
  if (picked)
    picked_.insert(person);
  else
    picked_.erase(person);
  ask();
}

void LibraryScreen::take_answer() {
  if (taken_ == desk_.answers()) return;
  taken_ = desk_.answers();
  if (!desk_.asking()) question_.person = desk_.answer().question.person;
  attempts_ = desk_.answer().attempts;
  sort_again_ = true;
  if (!attempt()) attempt_.clear();
}

// Whether the answer is that of the person and the task who are selected.
bool LibraryScreen::up_to_date() const {
  const LibraryQuestion& answered = desk_.answer().question;
  return taken_ > 0 && answered.person == question_.person && answered.scene == question_.scene &&
         answered.level == question_.level;
}

const LabAttempt* LibraryScreen::attempt() const {
  const auto found = std::ranges::find(attempts_, attempt_, &LabAttempt::key);
  return found == attempts_.end() ? nullptr : &*found;
}

void LibraryScreen::step(const WindowInput& input, double elapsed, bool listens) {
  escape_ = listens && input.went_down(Key::Escape);
  desk_.step(elapsed);
  take_answer();
}

// A disc of the person's colour at the end of the line, as in the curves.
void LibraryScreen::mark_compared(const std::string& person) const {
  const auto& curves = desk_.answer().curves;
  const auto curve = std::ranges::find(curves, person, &LibraryAnswer::Curve::person);
  if (!up_to_date() || curve == curves.end()) return;
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  ImGui::GetWindowDrawList()->AddCircleFilled(
      {to.x - theme::px(12.f), 0.5f * (from.y + to.y)}, theme::px(5.f),
      theme::packed(person_colour(static_cast<std::size_t>(curve - curves.begin()))));
}

void LibraryScreen::people_list() {
  const theme::Scope people =
      theme::child("people", {theme::px(kPeopleWidth), theme::height_above(kLibraryHeight, kBelowLists)},
                   ImGuiWindowFlags_NavFlattened);
  ImGui::SetNextItemWidth(-1.f);
  if (ImGui::InputTextWithHint("##part", "part of an id or name", &question_.part)) search();
  theme::note_item("Search");
  const theme::Scope list = theme::child("list", {0.f, 0.f}, ImGuiWindowFlags_NavFlattened);
  const auto& found = desk_.answer().people;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const PersonSummary& one = found[k];
    const std::string& id = one.person.id;
    const theme::Scope scope = theme::with_id(k);
    bool picked = picked_.contains(id);
    if (ImGui::Checkbox("##picked", &picked)) pick(id, picked);
    theme::note_item("Pick " + id);
    ImGui::SameLine();
    const std::string name = one.person.name.empty() ? id : id + ", " + one.person.name;
    const std::string label = fmt::format("{}  ({})", name, one.attempts);
    if (ImGui::Selectable(label.c_str(), id == question_.person)) select(id);
    theme::note_item(id);
    mark_compared(id);
  }
  if (found.empty() && !desk_.asking()) theme::text("No people", theme::kQuiet);
}

void LibraryScreen::task_choice() {
  theme::label("Task", 60.f, 300.f);
  const theme::Scope list = theme::combo("##task", task_label(question_.scene, question_.level));
  if (!list) return theme::note_item("Task");
  const auto entry = [&](const std::string& scene, int level) {
    const std::string label = task_label(scene, level);
    const bool chosen = scene == question_.scene && level == question_.level;
    if (ImGui::Selectable(label.c_str(), chosen)) choose_task(scene, level);
    theme::note_item(label);
  };
  entry("", 1);
  if (desk_.answer().question.person != question_.person) return;
  for (const Standing& standing : desk_.answer().standings) entry(standing.scene, standing.level);
}

void LibraryScreen::sort_attempts() {
  ImGuiTableSortSpecs* order = ImGui::TableGetSortSpecs();
  if (!order || order->SpecsCount == 0 || !(order->SpecsDirty || sort_again_)) return;
  const bool down = order->Specs[0].SortDirection == ImGuiSortDirection_Descending;
  const int column = order->Specs[0].ColumnIndex;
  std::stable_sort(attempts_.begin(), attempts_.end(), [&](const LabAttempt& a, const LabAttempt& b) {
    return down ? before(b, a, column) : before(a, b, column);
  });
  order->SpecsDirty = sort_again_ = false;
}

void LibraryScreen::attempt_table() {
  constexpr ImGuiTableFlags flags =
      ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp;
  const theme::Scope table = theme::table("attempts", 5, flags, ImGui::GetContentRegionAvail().y);
  if (!table) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("started", ImGuiTableColumnFlags_DefaultSort | ImGuiTableColumnFlags_PreferSortDescending,
                          1.4f);
  ImGui::TableSetupColumn("task", 0, 1.8f);
  ImGui::TableSetupColumn("score", ImGuiTableColumnFlags_PreferSortDescending, 0.6f);
  ImGui::TableSetupColumn("seconds", 0, 0.7f);
  ImGui::TableSetupColumn("ended", 0, 1.2f);
  ImGui::TableHeadersRow();
  sort_attempts();
  for (std::size_t k = 0; k < attempts_.size(); ++k) {
    const LabAttempt& one = attempts_[k];
    ImGui::TableNextColumn();
    const std::string label = fmt::format("{}##{}", local_text_of_date(one.started), one.key);
    if (ImGui::Selectable(label.c_str(), one.key == attempt_, ImGuiSelectableFlags_SpanAllColumns)) choose_attempt(one);
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
}

// The scores of the compared people against the number of the attempt.
void LibraryScreen::curves() const {
  const auto& shown = desk_.answer().curves;
  const ImVec2 from = ImGui::GetCursorScreenPos(),
               size(ImGui::GetContentRegionAvail().x - theme::px(kLegendWidth), theme::px(210.f));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(from, {from.x + size.x, from.y + size.y}, IM_COL32(0, 0, 0, 90));
  std::size_t longest = 2;
  for (const LibraryAnswer::Curve& curve : shown) longest = std::max(longest, curve.scores.size());
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
  for (std::size_t k = 0; k < shown.size(); ++k) {
    const auto& scores = shown[k].scores;
    const auto colour = theme::packed(person_colour(k));
    for (std::size_t a = 0; a + 1 < scores.size(); ++a)
      list.AddLine(at(a, scores[a]), at(a + 1, scores[a + 1]), colour, theme::px(2.f));
    for (std::size_t a = 0; a < scores.size(); ++a) list.AddCircleFilled(at(a, scores[a]), theme::px(3.5f), colour);
  }
  ImGui::Dummy(size);
  ImGui::SameLine();
  const theme::Scope legend = theme::group();
  const theme::WithLetters small(theme::Letters::Small);
  theme::text("score of each attempt", theme::kQuiet);
  for (std::size_t k = 0; k < shown.size(); ++k) {
    theme::text(shown[k].person, person_colour(k));
    theme::text("   " + summary_of(shown[k].scores), theme::kQuiet);
  }
}

Ask LibraryScreen::buttons() {
  Ask ask = escape_ ? Ask::Back : Ask::Nothing;
  const LabAttempt* chosen = up_to_date() ? attempt() : nullptr;
  const bool here = chosen && own_.answer == Claimed::Ours;
  if (theme::button("Replay", 130.f, true, here)) {
    recording_ = own_.file;
    ask = Ask::OpenRecording;
  }
  ImGui::SameLine();
  if (theme::button("Report", 130.f, false, here)) note_ = write_report_page(own_.file, context_, report_);
  ImGui::SameLine();
  if (theme::button("Start screen", 130.f)) ask = Ask::Back;
  if (chosen && !here) {
    ImGui::SameLine();
    theme::text(fmt::format("its recording {}", own_.why), theme::kQuiet);
  }
  return ask;
}

// Before the first answer, and while the database does not give one.
Ask LibraryScreen::fault_panel() {
  const bool failed = !desk_.fault().empty() && !desk_.asking();
  theme::wrapped(failed ? desk_.fault() : "Asking for attempts...", failed ? theme::kBad : theme::kText);
  if (theme::button("Try again", 130.f, true, failed)) desk_.ask_again();
  ImGui::SameLine();
  return theme::button("Start screen", 130.f) || escape_ ? Ask::Back : Ask::Nothing;
}

void LibraryScreen::person_side() {
  const theme::Scope side =
      theme::child("person", {0.f, theme::height_above(kLibraryHeight, kBelowLists)}, ImGuiWindowFlags_NavFlattened);
  if (question_.person.empty()) return;
  task_choice();
  if (!up_to_date()) return theme::text("Asking for attempts...", theme::kQuiet);
  if (!desk_.answer().curves.empty()) curves();
  attempt_table();
}

Ask LibraryScreen::panels() {
  const theme::Panel panel("library", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {1120.f, 676.f}}, theme::PanelKind::Used, 0.55f);
  theme::headline("People and attempts");
  if (!address_.empty()) theme::text(address_, theme::kQuiet);
  if (!desk_.fault().empty() || desk_.answers() == 0) return fault_panel();
  people_list();
  ImGui::SameLine(0.f, theme::px(24.f));
  person_side();
  theme::wrapped(note_.empty() ? "Tick people to compare them at a task." : note_, theme::kQuiet);
  return buttons();
}

ScreenStatus LibraryScreen::status() const {
  ScreenStatus status;
  status.phase = desk_.asking()                  ? desk_.answers() == 0 ? "opening" : "asking"
                 : !desk_.fault().empty()        ? "fault"
                 : desk_.answer().curves.empty() ? "listing"
                                                 : "comparing";
  status.file = report_;
  status.note = desk_.fault().empty() ? note_ : desk_.fault();
  status.frames = up_to_date() ? attempts_.size() : 0;
  return status;
}

}  // namespace trocar

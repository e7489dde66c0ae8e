#include "app/window/screens/library_screen.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "app/lab/lab_course.hpp"
#include "app/window/screens/results_screen.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/translate.hpp"
#include "sim/score/trainee_summary.hpp"

namespace trocar {
namespace {

constexpr std::size_t kMostPeople = 200, kMostShown = 500, kMostOfACurve = 5000;

void add_curves(LabDatabase& lab, const Curriculum& curriculum, const LibraryQuestion& question,
                LibraryAnswer& answer) {
  const auto all = lab.attempts({.scene = question.scene, .level = question.level, .most = kMostOfACurve});
  const auto add = [&](const std::string& person) {
    answer.curves.push_back({person, lab_curve(person, all, question.metric, curriculum)});
  };
  add(question.person);
  for (const std::string& other : question.compared)
    if (other != question.person) add(other);
  answer.metrics = metrics_of(std::span(answer.attempts).first(std::min<std::size_t>(answer.attempts.size(), 1)));
}

LibraryAnswer answer_of(LabDatabase& lab, const Curriculum& curriculum, LibraryQuestion question) {
  LibraryAnswer answer;
  answer.people = lab.people({question.part, PersonOrder::LastAttempt, kMostPeople});
  if (question.person.empty() && !answer.people.empty()) question.person = answer.people.front().person.id;
  if (!question.person.empty()) {
    answer.standings = lab.standings(question.person, "");
    for (const Standing& s : answer.standings) {
      const auto latest = lab.attempts({.person = s.person, .scene = s.scene, .level = s.level, .most = 1});
      answer.titles.push_back(latest.empty() ? "" : latest.front().title);
    }
    AttemptQuery query{.person = question.person, .scene = question.scene, .most = kMostShown};
    if (!question.scene.empty()) query.level = question.level;
    answer.attempts = lab.attempts(query);
    answer.comments = lab.comments_of(question.person);
    if (!question.scene.empty()) add_curves(lab, curriculum, question, answer);
  }
  answer.question = std::move(question);
  return answer;
}

}  // namespace

void LibraryDesk::ask(LibraryQuestion question, double patience) {
  next_ = std::move(question);
  patience_ = patience;
}

void LibraryDesk::write(const LabComment& comment) {
  write_fault_.clear();
  writing_ = Task<bool>([station = station_, comment] {
    station.open_to_write().add_comments({&comment, 1});
    return true;
  });
}

void LibraryDesk::step(double elapsed) {
  if (auto result = writing_.poll()) {
    write_fault_ = std::move(result->fault);
    if (write_fault_.empty() && !next_) ask_again();
  }
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
  task_ = Task<LibraryAnswer>([station = station_, curriculum = curriculum_, question = asked_] {
    LabDatabase lab = station.open_to_read();
    return answer_of(lab, curriculum, question);
  });
}

namespace {

constexpr float kPeopleWidth = 330.f, kLibraryHeight = 534.f, kLegendWidth = 190.f;  // units
constexpr float kBelowLists = 64.f;                                                  // units: the note and the buttons
constexpr float kCurveHeight = 190.f, kLeastTable = 110.f;                           // units
constexpr double kTyping = 0.25;  // s  of rest before what is typed is searched for

// One colour for each person; more people than colours share them.
glm::vec3 person_colour(std::size_t person) {
  constexpr glm::vec3 colours[] = {theme::kSkyBlue,   theme::kOrange, theme::kGreen, theme::kYellow,
                                   theme::kVermilion, theme::kPurple, theme::kBlue};
  return colours[person % std::size(colours)];
}

// "Burn the line, level 2"; without a title the name of the scene.
std::string task_label(const std::string& title, const std::string& scene, int level) {
  std::string label = title.empty() ? scene : tr(title);
  if (title.empty()) std::replace(label.begin(), label.end(), '_', ' ');
  return level > 1 ? trf("{}, level {}", label, level) : label;
}

std::string score_label(const std::optional<double>& score) {
  return score ? score_text(*score) : std::string("\u2013");
}

std::string metric_label(const std::string& metric) { return metric.empty() ? tr("score") : metric_title(metric); }

std::string value_label(const std::string& metric, double value) {
  return metric.empty() ? score_text(value) : fmt::format("{:.4g}", value);
}

// "best 92, last 88, 7 attempts"; of a metric, whose best may be the least, "last 41.2, 7 attempts"
std::string summary_of(const LabCurve& curve) {
  const std::vector<double>& values = curve.values;
  if (values.empty()) return tr("no attempt has a value");
  const std::string last = value_label(curve.metric, values.back());
  const std::string count = ntrf("{} attempt", "{} attempts", values.size(), values.size());
  return curve.metric.empty() ? trf("best {}, last {}, {}", score_text(std::ranges::max(values)), last, count)
                              : trf("last {}, {}", last, count);
}

// Whether a comes before b in the order of a column of the table.
bool before(const LabAttempt& a, const LabAttempt& b, int column) {
  switch (column) {
    case 1:
      return std::tie(a.title, a.scene, a.level) < std::tie(b.title, b.scene, b.level);
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

LibraryScreen::LibraryScreen(const LabStation& station, const Curriculum& curriculum, GlContext* context,
                             bool technical, const std::string& person)
    : context_(context), address_(technical ? without_password(station.address()) : ""), desk_(station, curriculum) {
  question_.person = person;
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
  question_.scene = scene, question_.level = level, question_.metric.clear();
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
         answered.level == question_.level && answered.metric == question_.metric;
}

const LabAttempt* LibraryScreen::attempt() const {
  const auto found = std::ranges::find(attempts_, attempt_, &LabAttempt::key);
  return found == attempts_.end() ? nullptr : &*found;
}

void LibraryScreen::step(const WindowInput& input, double elapsed, bool listens) {
  escape_ = listens && input.went_down(Key::Escape);
  desk_.step(elapsed);
  take_answer();
  if (!sent_ || desk_.writing()) return;
  sent_ = false;
  comment_fault_ = desk_.write_fault();
  if (comment_fault_.empty()) comment_.clear(), note_ = tr("The comment is kept with the attempt.");
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
  if (ImGui::InputTextWithHint("##part", tr("part of an id or name"), &question_.part)) search();
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
  if (found.empty() && !desk_.asking()) theme::text(tr("No people"), theme::kQuiet);
}

void LibraryScreen::task_choice() {
  const LibraryAnswer& answer = desk_.answer();
  const bool known = answer.question.person == question_.person;
  std::vector<std::string> names{tr("All tasks")};
  std::size_t chosen = 0;
  for (std::size_t k = 0; known && k < answer.standings.size(); ++k) {
    const Standing& s = answer.standings[k];
    names.push_back(task_label(answer.titles[k], s.scene, s.level));
    if (s.scene == question_.scene && s.level == question_.level) chosen = k + 1;
  }
  const auto pressed = theme::choice("Task", names[chosen], names, 60.f, 300.f);
  if (pressed && *pressed == 0) choose_task("", 1);
  if (pressed && *pressed > 0) choose_task(answer.standings[*pressed - 1].scene, answer.standings[*pressed - 1].level);
}

// Of which metric the curves are.
void LibraryScreen::metric_choice() {
  std::vector<std::string> metrics{""}, names;
  for (const std::string& metric : desk_.answer().metrics) metrics.push_back(metric);
  for (const std::string& metric : metrics) names.push_back(metric_label(metric));
  theme::beside_or_below(360.f);
  // The label stands where the line has come to.
  const float from = ImGui::GetCursorPosX() / theme::px(1.f) + 60.f;
  if (const auto chosen = theme::choice("Curve", metric_label(question_.metric), names, from, 300.f)) {
    question_.metric = metrics[*chosen];
    ask();
  }
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
  const theme::Scope table =
      theme::table("attempts", 6, flags, std::max(ImGui::GetContentRegionAvail().y, theme::px(kLeastTable)));
  if (!table) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn(tr("started"), ImGuiTableColumnFlags_DefaultSort | ImGuiTableColumnFlags_PreferSortDescending,
                          1.4f);
  ImGui::TableSetupColumn(tr("task"), 0, 1.8f);
  ImGui::TableSetupColumn(tr("score"), ImGuiTableColumnFlags_PreferSortDescending, 0.6f);
  ImGui::TableSetupColumn(tr("seconds"), 0, 0.7f);
  ImGui::TableSetupColumn(tr("ended"), 0, 1.2f);
  ImGui::TableSetupColumn(tr("comments"), ImGuiTableColumnFlags_NoSort, 0.8f);
  ImGui::TableHeadersRow();
  sort_attempts();
  for (std::size_t k = 0; k < attempts_.size(); ++k) {
    const LabAttempt& one = attempts_[k];
    ImGui::TableNextColumn();
    const std::string label = fmt::format("{}##{}", local_text_of_date(one.started), one.key);
    if (ImGui::Selectable(label.c_str(), one.key == attempt_, ImGuiSelectableFlags_SpanAllColumns)) choose_attempt(one);
    theme::note_item(fmt::format("Attempt {}", k + 1));
    ImGui::TableNextColumn();
    theme::text(task_label(one.title, one.scene, one.level));
    ImGui::TableNextColumn();
    theme::text(score_label(one.score));
    ImGui::TableNextColumn();
    theme::text(fmt::format("{:.0f}", one.seconds));
    ImGui::TableNextColumn();
    theme::text(one.critical ? trf("{}, critical error", tr(one.ending)) : tr(one.ending),
                one.critical ? theme::kBad : theme::kText);
    ImGui::TableNextColumn();
    if (const std::size_t count = comments_at(one.key).size(); count > 0) theme::text(fmt::format("{}", count));
  }
}

std::vector<LabComment> LibraryScreen::comments_at(const std::string& key) const {
  std::vector<LabComment> comments = desk_.answer().comments;
  std::erase_if(comments, [&](const LabComment& comment) { return comment.attempt != key; });
  return comments;
}

namespace {

// Where values lie in the drawing of the curves.
class CurveField {
 public:
  CurveField(std::span<const LibraryAnswer::Curve> curves, const ImVec2& from, const ImVec2& size)
      : from_(from), size_(size) {
    std::vector<LabCurve> values;
    for (const LibraryAnswer::Curve& curve : curves) {
      values.push_back(curve.values);
      longest_ = std::max(longest_, curve.values.values.size());
    }
    range_ = curve_range(values);
  }
  ImVec2 at(std::size_t attempt, double value) const {
    const float x = static_cast<float>(attempt) / static_cast<float>(longest_ - 1);
    const auto y = static_cast<float>(std::clamp((value - range_.low) / (range_.high - range_.low), 0.0, 1.0));
    const float left = theme::px(46.f), top = theme::px(10.f), bottom = theme::px(24.f);
    return {from_.x + left + x * (size_.x - left - theme::px(12.f)),
            from_.y + top + (1.f - y) * (size_.y - top - bottom)};
  }
  float left() const { return at(0, range_.low).x; }
  float right() const { return at(longest_ - 1, range_.low).x; }
  const CurveRange& range() const { return range_; }
  std::size_t longest() const { return longest_; }

 private:
  ImVec2 from_, size_;
  CurveRange range_;
  std::size_t longest_ = 2;
};

void words_at(ImDrawList& list, const ImVec2& at, const glm::vec3& colour, const std::string& words) {
  theme::note_words(words);
  list.AddText(at, theme::packed(colour), words.c_str());
}

void draw_levels(ImDrawList& list, const CurveField& field, float from) {
  for (int part = 0; part <= 4; ++part) {
    const double value = std::lerp(field.range().low, field.range().high, 0.25 * part);
    const float y = field.at(0, value).y;
    list.AddLine({field.left(), y}, {field.right(), y}, IM_COL32(255, 255, 255, 28));
    list.AddText({from + theme::px(4.f), y - theme::px(8.f)}, theme::packed(theme::kQuiet),
                 fmt::format("{:.3g}", value).c_str());
  }
}

// The band of the others, which is a convex shape between any two attempts.
void draw_peers(ImDrawList& list, const CurveField& field, const LabCurve& curve) {
  const auto peers = shown_peers(curve);
  const auto colour = theme::packed(theme::kSkyBlue, 0.2f);
  const ImDrawListFlags flags = std::exchange(list.Flags, list.Flags & ~ImDrawListFlags_AntiAliasedFill);  // no seams
  for (std::size_t k = 0; k + 1 < peers.size(); ++k)
    list.AddQuadFilled(field.at(k, peers[k].low), field.at(k + 1, peers[k + 1].low), field.at(k + 1, peers[k + 1].high),
                       field.at(k, peers[k].high), colour);
  if (peers.size() == 1) {
    const ImVec2 low = field.at(0, peers[0].low), high = field.at(0, peers[0].high);
    list.AddRectFilled({low.x - theme::px(4.f), high.y}, {low.x + theme::px(4.f), low.y}, colour);
  }
  list.Flags = flags;
}

void draw_pass(ImDrawList& list, const CurveField& field, const LabCurve& curve) {
  if (!curve.pass) return;
  const float y = field.at(0, curve.pass->value).y, dash = theme::px(6.f);
  for (float x = field.left(); x < field.right(); x += 2.f * dash)
    list.AddLine({x, y}, {std::min(x + dash, field.right()), y}, theme::packed(theme::kBad), theme::px(1.5f));
  const theme::WithLetters small(theme::Letters::Small);
  const std::string words = curve.pass->at_most ? trf("pass: at most {:.4g}", curve.pass->value)
                                                : trf("pass: at least {:.4g}", curve.pass->value);
  words_at(list, {field.right() - ImGui::CalcTextSize(words.c_str()).x, y - theme::px(17.f)}, theme::kBad, words);
}

void draw_values(ImDrawList& list, const CurveField& field, const LabCurve& curve, const glm::vec3& colour) {
  const std::vector<double>& values = curve.values;
  for (std::size_t a = 0; a + 1 < values.size(); ++a)
    list.AddLine(field.at(a, values[a]), field.at(a + 1, values[a + 1]), theme::packed(colour), theme::px(2.f));
  for (std::size_t a = 0; a < values.size(); ++a) {
    const ImVec2 at = field.at(a, values[a]);
    const float r = theme::px(3.5f);
    list.AddCircleFilled(at, r, theme::packed(colour));
    if (ImGui::IsWindowHovered() &&
        ImGui::IsMouseHoveringRect({at.x - 2.f * r, at.y - 2.f * r}, {at.x + 2.f * r, at.y + 2.f * r}))
      ImGui::SetTooltip("%s", trf("attempt {}, {}: {}", a + 1, local_text_of_date(curve.attempts[a].started),
                                  value_label(curve.metric, values[a]))
                                  .c_str());
  }
}

// "attempt 1, 2026-11-21" at the left, the last one at the right.
void draw_dates(ImDrawList& list, const CurveField& field, const LabCurve& curve, float bottom) {
  if (curve.attempts.empty()) return;
  const theme::WithLetters small(theme::Letters::Small);
  bool brief = false;  // a narrow field has room for the dates alone
  const auto words = [&](std::size_t attempt) {
    const std::string date = local_text_of_date(curve.attempts[attempt].started).substr(0, 10);
    return brief ? date : trf("attempt {}, {}", attempt + 1, date);
  };
  brief = 2.3f * ImGui::CalcTextSize(words(0).c_str()).x > field.right() - field.left();
  const float y = bottom - theme::px(19.f);
  words_at(list, {field.left(), y}, theme::kQuiet, words(0));
  const std::size_t last = curve.attempts.size() - 1;
  if (last == 0) return;
  const std::string end = words(last);
  const float width = ImGui::CalcTextSize(end.c_str()).x;
  const float x = std::clamp(field.at(last, 0.0).x - 0.5f * width, field.left() + 1.1f * width, field.right() - width);
  words_at(list, {x, y}, theme::kQuiet, end);
}

}  // namespace

// The values of the person and of those who are compared, against the number of the attempt.
void LibraryScreen::curves() const {
  const auto& shown = desk_.answer().curves;
  const LabCurve& own = shown.front().values;
  if (!attempts_.empty())
    theme::heading(fmt::format("{}: {}", task_label(attempts_.front().title, attempts_.front().scene, question_.level),
                               metric_label(own.metric)));
  const ImVec2 from = ImGui::GetCursorScreenPos(), size(ImGui::GetContentRegionAvail().x - theme::px(kLegendWidth),
                                                        theme::height_above(kCurveHeight, kLeastTable));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(from, {from.x + size.x, from.y + size.y}, IM_COL32(0, 0, 0, 90));
  const CurveField field(shown, from, size);
  draw_levels(list, field, from.x);
  draw_peers(list, field, own);
  draw_pass(list, field, own);
  for (std::size_t k = 0; k < shown.size(); ++k) draw_values(list, field, shown[k].values, person_colour(k));
  draw_dates(list, field, own, from.y + size.y);
  ImGui::Dummy(size);
  ImGui::SameLine();
  const theme::Scope legend = theme::group();
  const theme::WithLetters small(theme::Letters::Small);
  for (std::size_t k = 0; k < shown.size(); ++k) {
    theme::text(shown[k].person, person_colour(k));
    theme::wrapped("   " + summary_of(shown[k].values), theme::kQuiet);
  }
  if (!shown_peers(own).empty())
    theme::wrapped(tr("The band holds the middle half of the others at their attempt of that number."), theme::kQuiet);
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
  const std::size_t comments = chosen ? comments_at(chosen->key).size() : 0;
  if (theme::button(comments == 0 ? msgid("Comment...") : msgid("Comments..."), 130.f, false, chosen)) {
    commenting_ = true;
    comment_fault_.clear();
  }
  ImGui::SameLine();
  if (theme::button("Day...", 90.f)) ask = Ask::OpenDay;
  ImGui::SameLine();
  if (theme::button("Start screen", 130.f)) ask = Ask::Back;
  if (chosen && !here) {
    ImGui::SameLine();
    theme::text(trf("its recording {}", own_.why), theme::kQuiet);
  }
  return ask;
}

// Before the first answer, and while the database does not give one.
Ask LibraryScreen::fault_panel() {
  const bool failed = !desk_.fault().empty() && !desk_.asking();
  theme::wrapped(failed ? desk_.fault() : tr("Asking for attempts..."), failed ? theme::kBad : theme::kText);
  if (theme::button("Try again", 130.f, true, failed)) desk_.ask_again();
  ImGui::SameLine();
  return theme::button("Start screen", 130.f) || escape_ ? Ask::Back : Ask::Nothing;
}

void LibraryScreen::person_side() {
  const theme::Scope side =
      theme::child("person", {0.f, theme::height_above(kLibraryHeight, kBelowLists)}, ImGuiWindowFlags_NavFlattened);
  if (question_.person.empty()) return;
  task_choice();
  if (!up_to_date()) return theme::text(tr("Asking for attempts..."), theme::kQuiet);
  if (!desk_.answer().curves.empty()) metric_choice(), curves();
  attempt_table();
}

// The comments at the selected attempt, and two fields to write one.
void LibraryScreen::comment_panel() {
  const LabAttempt* chosen = attempt();
  if (!chosen || std::exchange(escape_, false)) {
    commenting_ = false;
    return;
  }
  const theme::Panel panel("comments", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {620.f, 430.f}}, theme::PanelKind::Front,
                           0.97f);
  theme::headline(task_label(chosen->title, chosen->scene, chosen->level), true);
  theme::text(fmt::format("{}, {}", chosen->person, local_text_of_date(chosen->started)), theme::kQuiet);
  const auto comments = comments_at(chosen->key);
  {
    const theme::Scope list = theme::child("list", {0.f, theme::height_above(190.f, 215.f)}, 0, true);
    for (const LabComment& comment : comments) {
      theme::text(fmt::format("{}, {}", comment.author.empty() ? tr("an erased person") : comment.author,
                              local_text_of_date(comment.written)),
                  theme::kSkyBlue);
      theme::wrapped(comment.text);
    }
    if (comments.empty()) theme::text(tr("No comments yet"), theme::kQuiet);
  }
  theme::label("Your id", 80.f, 240.f);
  ImGui::InputText("##author", &author_);
  theme::note_item("Your id");
  ImGui::InputTextMultiline("##comment", &comment_, {-1.f, theme::px(90.f)});
  theme::note_item("Comment text");
  if (!comment_fault_.empty()) theme::wrapped(comment_fault_, theme::kBad);
  if (theme::button("Add", 110.f, true, !sent_)) {
    try {
      desk_.write(made_comment(chosen->key, author_, comment_));
      sent_ = true;
    } catch (const InputError& error) {
      comment_fault_ = error.what();
    }
  }
  ImGui::SameLine();
  if (theme::button("Close", 110.f)) commenting_ = false;
}

Ask LibraryScreen::panels() {
  if (commenting_) comment_panel();
  return lists();
}

Ask LibraryScreen::lists() {
  const theme::Panel panel("library", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {1120.f, 676.f}}, theme::PanelKind::Used, 0.55f);
  theme::headline(tr("People and attempts"));
  if (!address_.empty()) theme::text(address_, theme::kQuiet);
  if (!desk_.fault().empty() || desk_.answers() == 0) return fault_panel();
  people_list();
  ImGui::SameLine(0.f, theme::px(24.f));
  person_side();
  theme::wrapped(!note_.empty()            ? note_
                 : question_.scene.empty() ? tr("Choose a task to see the learning curve; tick people to compare them.")
                                           : tr("Tick people to compare them."),
                 theme::kQuiet);
  return buttons();
}

ScreenStatus LibraryScreen::status() const {
  ScreenStatus status;
  status.phase = commenting_                     ? "comments"
                 : desk_.asking()                ? desk_.answers() == 0 ? "opening" : "asking"
                 : !desk_.fault().empty()        ? "fault"
                 : desk_.answer().curves.empty() ? "listing"
                                                 : "comparing";
  status.file = report_;
  status.note = !desk_.fault().empty() ? desk_.fault() : comment_fault_.empty() ? note_ : comment_fault_;
  status.frames = up_to_date() ? attempts_.size() : 0;
  return status;
}

}  // namespace trocar

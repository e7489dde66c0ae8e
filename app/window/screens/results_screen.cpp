#include "app/window/screens/results_screen.hpp"
#include "app/window/replay/recorded_pictures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "app/lab/lab_attempt.hpp"
#include "app/report/report.hpp"
#include "app/window/screens/start_screen.hpp"
#include "app/window/widgets/task_panels.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/score/trainee_summary.hpp"
#include "sim/support/process.hpp"

namespace trocar {

void OutcomePanel::set(LabAttempt attempt) {
  attempt_ = std::move(attempt);
  seen_.reset();
}

void OutcomePanel::step() {
  if (!attempt_ || desk_.person() != attempt_->person || !desk_.view() || seen_ == desk_.answers()) return;
  seen_ = desk_.answers();
  outcome_ = step_outcome(desk_.curriculum(), desk_.attempts(), *attempt_, now_in_seconds());
}

std::string OutcomePanel::verdict() const {
  const CourseStep& step = desk_.curriculum().steps[outcome_->step];
  const StepProgress& progress = outcome_->after.progress[outcome_->step];
  if (outcome_->completed) return trf("Step passed: {}.", step_title(step));
  if (outcome_->refreshed) return trf("Refresher passed: {}.", step_title(step));
  if (progress.state == StepState::Locked)
    return trf("{}; the step is locked, and the attempt counts once these are passed: {}.",
               outcome_->missed.empty() ? tr("Pass") : tr("Not a pass"), needs_text(outcome_->after, outcome_->step));
  return fmt::format("{}: {}.", outcome_->missed.empty() ? tr("Pass") : tr("Not a pass"), passes_text(step, progress));
}

void OutcomePanel::draw() const {
  if (!outcome_) return;
  const CourseView& after = outcome_->after;
  theme::heading(trf("Curriculum: {}", step_title(after.curriculum.steps[outcome_->step])));
  theme::wrapped(verdict(), outcome_->missed.empty() ? theme::kGood : theme::kBad);
  for (const std::string& sentence : outcome_->missed) theme::wrapped(sentence);
  for (const std::size_t step : outcome_->unlocked)
    theme::wrapped(trf("Unlocked: {}.", step_title(after.curriculum.steps[step])), theme::kSkyBlue);
  if (outcome_->completed && !after.next)
    theme::wrapped(tr("All steps of the curriculum are passed."), theme::kGood);
  else if (next())
    theme::wrapped(trf("Next: {}.", step_title(after.curriculum.steps[*after.next])), theme::kSkyBlue);
  if (!desk_.why().empty())
    theme::wrapped(tr("The database does not answer: this counts the attempts that this station knows."),
                   theme::kQuiet);
}

std::optional<std::size_t> OutcomePanel::next() const {
  if (!outcome_ || !outcome_->missed.empty()) return {};
  const StepState state = outcome_->after.progress[outcome_->step].state;
  return state == StepState::Passed ? outcome_->after.next : std::nullopt;
}

std::string OutcomePanel::text() const {
  if (!outcome_) return {};
  std::string text = verdict();
  for (const std::string& sentence : outcome_->missed) text += " " + sentence;
  for (const std::size_t step : outcome_->unlocked)
    text += " " + trf("Unlocked: {}.", step_title(outcome_->after.curriculum.steps[step]));
  return text;
}

namespace {

constexpr float kColumn = 500.f, kHeight = 500.f;         // units
constexpr float kBelowScores = 84.f, kButtonLine = 34.f;  // units: notes and buttons
constexpr float kButtonsWide = 1080.f;                    // units: of a single line

glm::vec3 colour_of(double grade) {
  return grade > 0.66 ? theme::kGreen : grade > 0.33 ? theme::kBlue : theme::kVermilion;
}

// Label, value, and `grade` between poor and good. Returns true when a graded row is pressed.
bool metric_row(const Metric& metric, std::optional<double> grade, bool opens) {
  ImGui::TableNextColumn();
  const ImVec2 from = ImGui::GetCursorPos();
  const float height =
      ImGui::CalcTextSize(tr(metric.label.c_str()), nullptr, false, ImGui::GetContentRegionAvail().x).y;
  bool pressed = false;
  if (opens) {
    pressed = ImGui::Selectable(("##" + metric.id).c_str(), false, ImGuiSelectableFlags_SpanAllColumns, {0.f, height});
    theme::note_item("why " + metric.id);
    ImGui::SetCursorPos(from);
  }
  theme::wrapped(tr(metric.label), theme::kQuiet);
  ImGui::TableNextColumn();
  theme::text(value_text(metric));
  ImGui::TableNextColumn();
  if (grade) theme::bar(*grade, colour_of(*grade), fmt::format("{:.0f} %", std::floor(100.0 * *grade)), 14.f);
  return pressed;
}

void metric_columns() {
  ImGui::TableSetupColumn("label", 0, 2.2f);
  ImGui::TableSetupColumn("value", 0, 1.2f);
  ImGui::TableSetupColumn("grade", 0, 1.4f);
}

void metric_table(const char* id, const std::vector<Metric>& metrics) {
  const theme::Scope table = theme::table(id, 3, ImGuiTableFlags_SizingStretchProp);
  if (!table) return;
  metric_columns();
  for (const Metric& metric : metrics) metric_row(metric, mark_of(metric), false);
}

// The measures of a trainee, each with its reference band.
void summary_table(const Attempt& attempt) {
  const theme::Scope table = theme::table("summary", 3, ImGuiTableFlags_SizingStretchProp);
  if (!table) return;
  metric_columns();
  for (const Metric& metric : trainee_metrics(attempt)) {
    ImGui::TableNextColumn();
    theme::wrapped(tr(metric.label), theme::kQuiet);
    ImGui::TableNextColumn();
    theme::text(value_text(metric));
    ImGui::TableNextColumn();
    theme::wrapped(reference_text(metric), theme::kQuiet);
  }
}

// The reason of the grade, and below the full grade an advice, over the whole width.
void why_lines(const Metric& part, const GradeText& text) {
  const theme::Scope indented = theme::indent(theme::px(16.f));
  theme::wrapped(text.why);
  if (mark_of(part).value_or(1.0) < 1.0) theme::wrapped(text.advice, theme::kSkyBlue);
}

// As metric_table(), of the parts with these numbers. A press on a graded row opens its reason, and closes it;
// `opened`: the id of the open row.
void part_table(const TaskResult& task, std::span<const std::size_t> shown, std::string& opened) {
  for (std::size_t k = 0; k < shown.size();) {
    bool open = false;
    {
      const theme::Scope table =
          theme::table(("parts" + task.parts[shown[k]].id).c_str(), 3, ImGuiTableFlags_SizingStretchProp);
      if (!table) return;
      metric_columns();
      for (; k < shown.size() && !open; ++k) {
        const Metric& part = task.parts[shown[k]];
        const auto grade = counted_grade(task, part);
        if (metric_row(part, grade, grade.has_value())) opened = opened == part.id ? "" : part.id;
        open = grade && opened == part.id;
      }
    }
    const Metric& last = task.parts[shown[k - 1]];
    if (open) why_lines(last, grade_text(last, task.kind));
  }
}

}  // namespace

std::string value_text(const Metric& metric) {
  if (!std::isfinite(metric.value)) return "\u2013";
  const double size = std::abs(metric.value);
  const int digits = metric.value == std::round(metric.value) && size < 1e6 ? 0
                     : size < 10.0                                          ? 2
                     : size < 100.0                                         ? 1
                                                                            : 0;
  return fmt::format("{:.{}f}{}{}", metric.value, digits, metric.unit.empty() ? "" : " ", tr(metric.unit));
}

std::string write_report_page(const std::filesystem::path& recording, GlContext* context, std::filesystem::path& page) {
  try {
    std::filesystem::path written = recording;
    written.replace_extension(".html");
    PictureDrawer draw;
    if (context)
      draw = [context](const std::string& file, std::span<const double> times) {
        return event_pictures(file, times, *context);
      };
    write_report({recording.string()}, written, true, {}, draw);
    page = written;
    return trf("Report written to {}", std::filesystem::absolute(page).string());
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

ResultsScreen::ResultsScreen(std::filesystem::path recording, std::string cut_short, const LabStation& station,
                             LabDesk& desk, FilmMaker& films, GlContext* context)
    : station_(station),
      desk_(desk),
      films_(films),
      context_(context),
      outcome_(desk),
      recording_(std::move(recording)),
      cut_short_(std::move(cut_short)) {}

// The attempt is safe at the station before a server is asked, in a thread that reads no recording.
void ResultsScreen::keep(const Recording& recording) {
  if (attempt_->activity != name_of(Activity::Attempt) || attempt_->person.empty()) return;
  try {
    LabAttempt kept = lab_attempt_of(recording, *attempt_);
    station_.keep(kept);
    key_ = kept.key;
    outcome_.set(std::move(kept));
    kept_ = trf("Kept for {}", attempt_->person);
    handing_in_ = Task<HandedIn>([station = station_] { return station.hand_in_kept(); });
  } catch (const std::runtime_error& error) {
    kept_ = error.what();
  }
}

void ResultsScreen::note_handed_in() {
  const auto result = handing_in_.poll();
  if (!result) return;
  if (!result->value)
    kept_ = trf("Kept for {} at this station: {}", attempt_->person, result->fault);
  else if (station_.waits(key_))
    kept_ = trf("Kept for {} at this station, {} waiting: {}", attempt_->person, result->value->waiting,
                result->value->why);
  else
    kept_ = trf("Entered for {}", attempt_->person);
  desk_.refresh();  // other stations may have added attempts of this person
}

void ResultsScreen::measure() {
  try {
    const Recording recording(recording_);
    attempt_ = score_recording(recording, recording_.string());
    keep(recording);
  } catch (const std::runtime_error& error) {
    fault_ = cut_short_.empty() ? error.what() : cut_short_;
  }
}

void ResultsScreen::step(const WindowInput& input, double, bool listens) {
  escape_ = listens && input.went_down(Key::Escape);
  // The first frame shows a message, because scoring takes time.
  if (shown_++ == 1) measure();
  note_handed_in();
  outcome_.step();
}

void ResultsScreen::score_column() {
  if (!attempt_->task) {
    theme::heading(tr("Whole session"));
    all_ ? metric_table("overall", attempt_->overall) : summary_table(*attempt_);
    return;
  }
  const TaskResult& task = *attempt_->task;
  {
    const theme::WithLetters title(theme::Letters::Title);
    theme::text(score_text(task.score), task.finished && task.critical.empty() ? theme::kGood : theme::kYellow);
  }
  ImGui::SameLine();
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + theme::px(22.f));
  theme::text(task.finished ? tr("of 100") : tr("of 100, not finished"), theme::kQuiet);
  if (const std::string cap = cap_text(task); !cap.empty()) theme::wrapped(cap, theme::kBad);
  event_pressed_ = false;
  event_list(true);
  outcome_.draw();
  theme::heading(all_ ? tr("Parts of the score: press one to see why") : tr("What cost points: press one to see why"));
  if (const std::string text = counted_text(task); !text.empty()) theme::wrapped(text, theme::kYellow);
  std::vector<std::size_t> shown(task.parts.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  part_table(task, all_ ? shown : costly_parts(task), opened_);
  if (all_) event_list(false);
}

// The errors come first; the other events are for all measures.
void ResultsScreen::event_list(bool errors) {
  std::vector<TaskEvent> events;
  std::ranges::copy_if(attempt_->task->events, std::back_inserter(events),
                       [&](const TaskEvent& event) { return event.error == errors; });
  if (events.empty()) return;
  theme::heading(errors ? tr("Errors: press one to see it in the replay")
                        : tr("Events: press one to see it in the replay"));
  const auto pressed = draw_events(events, 0.0, {});
  if (!pressed) return;
  event_pressed_ = true;
  event_ = events[*pressed].time;
}

void ResultsScreen::metric_column() const {
  if (!all_) {
    if (attempt_->task)
      summary_table(*attempt_);
    else
      theme::wrapped(no_judgement_text(*attempt_));
    return;
  }
  const theme::Scope tabs = theme::tab_bar("metrics");
  if (!tabs) return;
  for (const InstrumentScore& instrument : attempt_->instruments)
    if (const theme::Scope tab = theme::tab(instrument.name.c_str()))
      metric_table(instrument.name.c_str(), instrument.metrics);
  if (!attempt_->task) return;
  if (const theme::Scope tab = theme::tab("Whole session")) metric_table("overall", attempt_->overall);
}

void ResultsScreen::open_report() {
  const std::string page = std::filesystem::absolute(report_).string();
  const pid_t child = fork();
  if (child == 0) {
    execlp("xdg-open", "xdg-open", page.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  note_ = child > 0 ? trf("Opening {}", page) : trf("Open {} in a browser", page);
}

Ask ResultsScreen::buttons() {
  Ask ask = escape_ ? Ask::Back : Ask::Nothing;
  const bool next = next_step().has_value();
  if (next) {
    if (theme::button("Next step", 130.f, true)) ask = Ask::NextStep;
    theme::beside_or_below(150.f);
  }
  if (theme::button("Restart", 130.f, !next)) ask = Ask::Again;
  theme::beside_or_below(150.f);
  if (event_pressed_) ask = Ask::OpenRecording;
  if (theme::button("Replay", 130.f)) {
    event_.reset();
    ask = Ask::OpenRecording;
  }
  theme::beside_or_below(150.f);
  if (theme::button(all_ ? msgid("Fewer measures") : msgid("All measures"), 150.f, false, attempt_.has_value()))
    all_ = !all_;
  theme::beside_or_below(150.f);
  if (theme::button("Report", 130.f, false, attempt_.has_value()))
    note_ = write_report_page(recording_, context_, report_);
  theme::beside_or_below(150.f);
  if (theme::button("Open in browser", 150.f, false, !report_.empty())) open_report();
  theme::beside_or_below(150.f);
  films_.button(recording_, 110.f);
  theme::beside_or_below(150.f);
  if (theme::button("Start screen", 130.f)) ask = Ask::Back;
  return ask;
}

Ask ResultsScreen::panels() {
  const theme::Panel panel("results", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {1120.f, 676.f}}, theme::PanelKind::Used, 0.55f);
  theme::headline(tr(!attempt_ ? "Results" : attempt_->task ? attempt_->task->title : attempt_->scene_title));
  theme::text(attempt_ ? fmt::format("{}, {}, {}", local_text_of_date(date_of_text(attempt_->date)),
                                     clock_text(attempt_->duration), recording_.string())
                       : recording_.string(),
              theme::kQuiet);
  if (attempt_)
    if (const std::string slow = slow_machine_text(*attempt_); !slow.empty()) theme::wrapped(slow, theme::kBad);
  if (attempt_ && !cut_short_.empty())
    theme::wrapped(trf("These are the results of the first {}: {}", clock_text(attempt_->duration), cut_short_),
                   theme::kBad);
  ImGui::Dummy({0.f, theme::px(4.f)});
  const bool one_line = ImGui::GetContentRegionAvail().x >= theme::px(kButtonsWide);
  const float height = theme::height_above(kHeight, kBelowScores + (one_line ? 0.f : kButtonLine));
  {
    const theme::Scope left = theme::child("score", {theme::px(kColumn), height});
    if (attempt_)
      score_column();
    else
      theme::wrapped(fault_.empty() ? tr("Scoring the recording...") : fault_,
                     fault_.empty() ? theme::kText : theme::kBad);
  }
  ImGui::SameLine(0.f, theme::px(24.f));
  {
    const theme::Scope right = theme::child("metrics", {0.f, height});
    const theme::WithLetters small(theme::Letters::Small);
    if (attempt_) metric_column();
  }
  const std::string note = !note_.empty() ? note_ : kept_;
  theme::wrapped(fmt::format("{}{}{}", note, note.empty() || films_.text().empty() ? " " : ". ", films_.text()),
                 theme::kQuiet);
  return buttons();
}

ScreenStatus ResultsScreen::status() const {
  ScreenStatus status;
  status.phase = attempt_ ? "measured" : fault_.empty() ? "measuring" : "fault";
  status.file = report_.empty() ? recording_ : report_;
  status.disk = cut_short_;
  status.note = !fault_.empty() ? fault_ : !note_.empty() ? note_ : !opened_.empty() ? "why " + opened_ : kept_;
  status.film = films_.text();
  status.step = outcome_.text();
  return status;
}

}  // namespace trocar

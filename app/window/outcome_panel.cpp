#include "app/window/outcome_panel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include "app/lab/lab_attempt.hpp"
#include "app/window/course_panel.hpp"
#include "app/window/theme.hpp"

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
  if (outcome_->completed) return fmt::format("Step passed: {}.", step_title(step));
  if (outcome_->refreshed) return fmt::format("Refresher passed: {}.", step_title(step));
  return fmt::format("{}: {}.", outcome_->missed.empty() ? "Pass" : "Not a pass", passes_text(step, progress));
}

void OutcomePanel::draw() const {
  if (!outcome_) return;
  const CourseView& after = outcome_->after;
  theme::heading(fmt::format("Curriculum: {}", step_title(after.curriculum.steps[outcome_->step])));
  theme::wrapped(verdict(), outcome_->missed.empty() ? theme::kGood : theme::kBad);
  for (const std::string& sentence : outcome_->missed) theme::wrapped(sentence);
  if (after.progress[outcome_->step].state == StepState::Locked)
    theme::wrapped("This step is locked; the attempt counts once it is open.", theme::kYellow);
  for (const std::size_t step : outcome_->unlocked)
    theme::wrapped(fmt::format("Unlocked: {}.", step_title(after.curriculum.steps[step])), theme::kSkyBlue);
  if (outcome_->completed && !after.next)
    theme::wrapped("All steps of the curriculum are passed.", theme::kGood);
  else if (next())
    theme::wrapped(fmt::format("Next: {}.", step_title(after.curriculum.steps[*after.next])), theme::kSkyBlue);
  if (!desk_.why().empty())
    theme::wrapped("The database does not answer: this counts the attempts that this station knows.", theme::kQuiet);
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
    text += fmt::format(" Unlocked: {}.", step_title(outcome_->after.curriculum.steps[step]));
  return text;
}

}  // namespace trocar

#include "app/sweep/sweep_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace trocar {
namespace {

constexpr auto kShortPeriod = std::chrono::milliseconds(200);  // on a terminal
constexpr auto kLongPeriod = std::chrono::seconds(10);

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "unknown time";
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

}  // namespace

SweepProgress::SweepProgress(const Plan& plan, const PlanPart& part, std::size_t slots)
    : plan_(plan), slots_(slots), terminal_(isatty(STDERR_FILENO) != 0), last_shown_(Clock::now()) {
  for (const CaseGroup& group : plan.groups)
    for (std::uint64_t number = group.first; number < group.first + group.count; ++number)
      if (part.has(number)) ++runs_[group.run].cases, ++cases_;
}

SweepProgress::~SweepProgress() {
  if (shown_ && terminal_) fmt::print(stderr, "\r\x1b[K");
}

void SweepProgress::add(const CaseOutcome& outcome) {
  Run& run = runs_[group_of(plan_, outcome.number).run];
  ++run.finished, ++finished_;
  run.seconds += outcome.seconds;
  if (outcome.status != CaseStatus::Done) ++not_done_;
}

double SweepProgress::seconds_left() const {
  if (finished_ == 0) return std::numeric_limits<double>::quiet_NaN();
  double all = 0.0, left = 0.0;
  for (const auto& [row, run] : runs_) all += run.seconds;
  for (const auto& [row, run] : runs_) {
    const double mean =
        run.finished > 0 ? run.seconds / static_cast<double>(run.finished) : all / static_cast<double>(finished_);
    left += mean * static_cast<double>(run.cases - run.finished);
  }
  return left / static_cast<double>(slots_);
}

std::string SweepProgress::left_text() const {
  const bool measured = std::all_of(runs_.begin(), runs_.end(),
                                    [](const auto& run) { return run.second.finished > 0 || run.second.cases == 0; });
  return fmt::format("{} {} left", measured ? "about" : "perhaps", duration_text(seconds_left()));
}

void SweepProgress::show() {
  const auto now = Clock::now();
  if (now - last_shown_ < (terminal_ ? Clock::duration(kShortPeriod) : Clock::duration(kLongPeriod))) return;
  last_shown_ = now;
  shown_ = true;
  fmt::print(stderr, "{}sweep: {} of {} cases, {} not done, {}{}", terminal_ ? "\r\x1b[K" : "", finished_, cases_,
             not_done_, left_text(), terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace trocar

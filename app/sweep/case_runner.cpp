#include "app/sweep/case_runner.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "app/sweep/case_results.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

constexpr int kRefused = 2;  // exit status of wrong input
constexpr const char* kMessages = "stderr";

// Signals that usually come from outside the case: from the system when memory is short, or when the whole sweep is
// stopped. Such a case gets a second try, so that its result does not depend on when the sweep was stopped.
bool from_outside(int signal) { return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP; }

std::string name_of_signal(int number) {
  const char* name = ::sigabbrev_np(number);
  return name ? fmt::format("signal {} (SIG{})", number, name) : fmt::format("signal {}", number);
}

}  // namespace

CaseRunner::CaseRunner(RunnerParams params) : params_(std::move(params)) {}

void CaseRunner::start(SweepCase one) {
  Running running;
  running.outcome.number = one.number;
  running.one = std::move(one);
  running.scratch = scratch_.path() / std::to_string(started_++);
  running.start = Clock::now();
  std::filesystem::create_directory(running.scratch);
  start_command(running);
  running_.push_back(std::move(running));
}

void CaseRunner::start_command(Running& running) {
  std::vector<std::string> words = running.one.commands[running.command];
  for (std::string& word : words)
    if (word.starts_with(kScratchMark)) word = (running.scratch / word.substr(1)).string();
  running.deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(params_.timeout));
  running.process = std::make_unique<CaseProcess>(params_.program, words, params_.folder, running.scratch / kMessages);
}

bool CaseRunner::go_on(Running& running, const ProcessEnd& end) {
  CaseOutcome& outcome = running.outcome;
  outcome.cpu_seconds += end.cpu_seconds;
  outcome.memory_mib = std::max(outcome.memory_mib, end.memory_mib);
  outcome.seconds = std::chrono::duration<double>(Clock::now() - running.start).count();
  if (from_outside(end.signal) && !running.timed_out && !running.second_try) {
    running.second_try = true;
    running.command = 0;
    std::filesystem::remove_all(running.scratch);
    std::filesystem::create_directory(running.scratch);
    start_command(running);
    return false;
  }
  if (end.exit_status == 0 && ++running.command < running.one.commands.size()) {
    start_command(running);
    return false;
  }
  outcome.exit_status = running.timed_out ? -1 : end.exit_status;
  if (running.timed_out) {
    outcome.status = CaseStatus::TimedOut;
    outcome.error = fmt::format("a command took longer than {:g} s", params_.timeout);
    return true;
  }
  if (end.signal != 0) {
    outcome.signal = end.signal;
    outcome.status = CaseStatus::Crashed;
    outcome.error = fmt::format("ended by {}", name_of_signal(end.signal));
    return true;
  }
  if (end.exit_status != 0) {
    outcome.status = end.exit_status == kRefused ? CaseStatus::Refused : CaseStatus::Failed;
    outcome.error = sentence_of(running.scratch / kMessages, running.scratch);
  }
  read_results(running.one.results, running.scratch, outcome);
  return true;
}

std::vector<CaseOutcome> CaseRunner::wait(std::chrono::milliseconds longest) {
  std::vector<pollfd> ends;
  auto until = Clock::now() + longest;
  for (const Running& running : running_) {
    ends.push_back({running.process->descriptor(), POLLIN, 0});
    if (!running.timed_out) until = std::min(until, running.deadline);
  }
  const auto time = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  ::poll(ends.data(), ends.size(), static_cast<int>(std::max<long>(0, time)));
  std::vector<CaseOutcome> finished;
  for (std::size_t i = 0; i < running_.size();) {
    Running& running = running_[i];
    ProcessEnd end;
    const bool ended = running.process->ended(end);
    if (ended && go_on(running, end)) {
      finished.push_back(std::move(running.outcome));
      std::error_code ignored;
      std::filesystem::remove_all(running.scratch, ignored);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    if (!ended && !running.timed_out && Clock::now() >= running.deadline) {
      running.timed_out = true;
      running.process->kill();
    }
    ++i;
  }
  return finished;
}

}  // namespace trocar

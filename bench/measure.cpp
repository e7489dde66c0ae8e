#include "bench/measure.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "cpu_collision/reference.hpp"
#include "sim/support/progress.hpp"

namespace trocar::bench {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// One method during the measurement: its object and the time of every frame so far.
struct Runner {
  const Entry* entry = nullptr;
  std::unique_ptr<Contestant> contestant;
  std::vector<double> update_ms, query_ms, total_ms;
  std::size_t next_frame = 1;
  int frames_a_turn = 2;

  // Returns the frame's total, ms.
  double run_frame(FrameSource& frames) {
    frames.load(next_frame);
    next_frame = next_frame + 1 < frames.frame_count() ? next_frame + 1 : 1;
    const Clock::time_point start = Clock::now();
    contestant->update(frames.positions(0));
    const Clock::time_point updated = Clock::now();
    contestant->query(frames.tools()[0]);
    const Clock::time_point end = Clock::now();
    update_ms.push_back(milliseconds(start, updated));
    query_ms.push_back(milliseconds(updated, end));
    total_ms.push_back(milliseconds(start, end));
    return total_ms.back();
  }

  void forget() {
    update_ms.clear();
    query_ms.clear();
    total_ms.clear();
  }
};

void check_answers(Runner& runner, FrameSource& frames, int count, Measured& measured) {
  for (int i = 0; i < count; ++i) {
    frames.load((i + 1) * frames.frame_count() / (count + 1));
    runner.contestant->update(frames.positions(0));
    runner.contestant->query(frames.tools()[0]);
    const std::vector<FaceId> answer = runner.contestant->answer();
    const ReferenceAnswer truth =
        reference_touched({frames.positions(0), frames.organ(0).faces}, frames.tools()[0], TouchSet::Volume);
    const auto count_apart = [&](const std::vector<FaceId>& from, const std::vector<FaceId>& without) {
      std::vector<FaceId> apart, sure;
      std::set_difference(from.begin(), from.end(), without.begin(), without.end(), std::back_inserter(apart));
      std::set_difference(apart.begin(), apart.end(), truth.borderline.begin(), truth.borderline.end(),
                          std::back_inserter(sure));
      return sure.size();
    };
    measured.touched += answer.size();
    measured.missing += count_apart(truth.touched, answer);
    measured.extra += count_apart(answer, truth.touched);
  }
}

void set_pace(Runner& runner, FrameSource& frames, double seconds_a_turn) {
  runner.run_frame(frames);
  const double fastest = std::min(runner.run_frame(frames), runner.run_frame(frames));
  runner.frames_a_turn = static_cast<int>(std::clamp(seconds_a_turn * 1e3 / fastest, 2.0, 200.0));
  runner.forget();
}

// Google Benchmark's own lines would repeat the table: only counts the turns.
class Turns final : public benchmark::BenchmarkReporter {
 public:
  explicit Turns(std::size_t total) : progress_("bench", total) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    done_ += runs.empty() || runs[0].run_type == Run::RT_Aggregate ? 0 : runs.size();
    progress_.advance_to(done_);
  }

 private:
  Progress progress_;
  std::size_t done_ = 0;
};

void take_turns(std::vector<Runner>& runners, FrameSource& frames, int turns) {
  benchmark::ClearRegisteredBenchmarks();
  for (Runner& runner : runners) {
    benchmark::RegisterBenchmark(runner.entry->name.c_str(),
                                 [&](benchmark::State& state) {
                                   for ([[maybe_unused]] auto _ : state)
                                     state.SetIterationTime(runner.run_frame(frames) * 1e-3);
                                 })
        ->UseManualTime()
        ->Iterations(runner.frames_a_turn)
        ->Repetitions(turns);
  }
  Turns reporter(runners.size() * static_cast<std::size_t>(turns));
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::ClearRegisteredBenchmarks();
}

}  // namespace

std::vector<Measured> measure(std::span<const Entry> entries, FrameSource& frames, const MeasureOptions& options) {
  std::vector<Runner> runners;
  std::vector<Measured> results;
  for (const Entry& entry : entries) {
    try {
      Runner runner;
      runner.entry = &entry;
      runner.contestant = entry.make();
      runner.contestant->rebuild(frames.organ(0));
      Measured measured{entry.name, entry.how, entry.peer};
      check_answers(runner, frames, options.checked_frames, measured);
      set_pace(runner, frames, options.seconds_a_turn);
      runners.push_back(std::move(runner));
      results.push_back(std::move(measured));
    } catch (const std::exception& error) {
      fmt::print(stderr, "left out: {}: {}\n", entry.name, error.what());
    }
  }
  take_turns(runners, frames, options.turns);
  for (std::size_t i = 0; i < runners.size(); ++i) {
    results[i].update = summarise(runners[i].update_ms);
    results[i].query = summarise(runners[i].query_ms);
    results[i].total = summarise(runners[i].total_ms);
    results[i].frames = runners[i].total_ms.size();
  }
  return results;
}

}  // namespace trocar::bench

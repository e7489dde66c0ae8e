#include "app/sweep/sweep.hpp"
#include "app/command_line/command_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <thread>

#include "app/sweep/plan.hpp"
#include "app/sweep/result_table.hpp"
#include "app/sweep/sweep_case.hpp"
#include "geometry/error.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

class SweepProgress {
 public:
  // `slots`: cases that run at a time.
  SweepProgress(const Plan& plan, const PlanPart& part, std::size_t slots);
  ~SweepProgress();
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;

  void add(const CaseOutcome& outcome);
  void show();
  // Returns the estimate: the remaining cases of each run at the mean time of its finished ones. NaN before the first.
  double seconds_left() const;

 private:
  // "about 5 s left"; "perhaps", while a run has no finished case.
  std::string left_text() const;

  using Clock = std::chrono::steady_clock;
  struct Run {
    std::uint64_t cases = 0, finished = 0;
    double seconds = 0.0;
  };

  const Plan& plan_;
  std::size_t slots_;
  std::map<const RunRow*, Run> runs_;
  std::uint64_t cases_ = 0, finished_ = 0, not_done_ = 0;
  bool terminal_, shown_ = false;
  Clock::time_point last_shown_;
};

constexpr auto kShortPeriod = std::chrono::milliseconds(200);  // on a terminal
constexpr auto kLongPeriod = std::chrono::seconds(10);

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "unknown time";
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

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

constexpr auto kLocalWait = std::chrono::milliseconds(100);  // between two looks at interrupted()
constexpr int kMostJobs = 1024;

class LocalWorkers final : public Workers {
 public:
  explicit LocalWorkers(const RunnerParams& params) : slots_(params.jobs), runner_(params) {}
  std::size_t slots() const override { return slots_; }
  std::size_t free() const override { return runner_.free(); }
  void start(SweepCase one) override { runner_.start(std::move(one)); }
  std::vector<CaseOutcome> wait() override { return runner_.wait(kLocalWait); }

 private:
  std::size_t slots_;
  CaseRunner runner_;
};

PlanPart part_of(const SweepOptions& options) {
  PlanPart part;
  if (options.part.empty()) return part;
  const char *at = options.part.data(), *end = at + options.part.size();
  const auto first = std::from_chars(at, end, part.number);
  const bool slash = first.ec == std::errc{} && first.ptr != end && *first.ptr == '/';
  const auto second = slash ? std::from_chars(first.ptr + 1, end, part.of) : first;
  if (!slash || second.ec != std::errc{} || second.ptr != end || part.of > kMostParts || part.number < 1 ||
      part.number > part.of)
    throw InputError(fmt::format("--part '{}' must be a number, a slash and the number of parts, as in 3/16",
                                 printable(options.part)));
  return part;
}

std::string journal_of(const SweepOptions& options) {
  if (options.part.empty()) return options.out + ".journal";
  const PlanPart part = part_of(options);
  return fmt::format("{}.{}-of-{}.journal", options.out, part.number, part.of);
}

// Returns the journals of the parts of this plan, as far as they exist.
std::vector<std::filesystem::path> journals_of_parts(const SweepOptions& options) {
  const std::filesystem::path out(options.out), folder = out.parent_path();
  std::vector<std::filesystem::path> files;
  std::error_code error, none;
  for (std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string(), begin = out.filename().string() + ".";
    if (name.starts_with(begin) && matches("*-of-*.journal", name.substr(begin.size())) && entry->is_regular_file(none))
      files.push_back(folder / name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Checks every output, so that nothing is refused after hours of work. Leaves no file.
void check_outputs(const SweepOptions& options, const Plan& plan) {
  std::vector<NamedFile> inputs{{"the plan", options.plan}};
  for (const auto& file : files_of(plan)) inputs.push_back({"the plan", file});
  refuse_same_files(inputs, {{"--out", options.out},
                             {"--csv", options.csv},
                             {"--times", options.times},
                             {"the journal", journal_of(options)}});
  const OutputFile tried(options.out, OutputKind::Sweep);
  for (const std::string& file : {options.csv, options.times}) {
    if (!file.empty()) {
      const OutputFile table(file, OutputKind::Table);
    }
  }
  refuse_existing({{"--out", options.out}, {"--csv", options.csv}, {"--times", options.times}}, options.force);
}

RunnerParams runner_params(const SweepOptions& options, const Plan& plan) {
  RunnerParams params;
  if (::access(options.program.c_str(), X_OK) != 0)
    throw InputError(fmt::format("{}: is not a program that can be started; check --program", options.program));
  params.program = std::filesystem::absolute(options.program).string();
  params.folder = plan.folder;
  params.timeout = plan.timeout;
  params.jobs = static_cast<std::size_t>(options.jobs);
  if (options.jobs == 0) params.jobs = std::max(1u, std::thread::hardware_concurrency());
  return params;
}

// A sweep in progress.
struct SweepState {
  const Plan& plan;
  const PlanPart part;
  const std::uint64_t cases;  // of the part
  Journal& journal;
  ResultTable& table;
  SweepProgress& progress;

  void add(const CaseOutcome& outcome) {
    if (table.has(outcome.number)) return;
    table.add(outcome);
    progress.add(outcome);
  }
};

void run_cases(SweepState& sweep, Workers& workers) {
  for (std::uint64_t next = 0; sweep.table.rows() < sweep.cases;) {
    while (workers.free() > 0 && next < sweep.plan.cases) {
      if (sweep.part.has(next) && !sweep.table.has(next)) workers.start(case_of(sweep.plan, next));
      ++next;
    }
    for (const CaseOutcome& outcome : workers.wait()) {
      sweep.journal.append(outcome);
      sweep.add(outcome);
    }
    sweep.progress.show();
    if (interrupted() && sweep.table.rows() < sweep.cases)
      throw RunError(fmt::format("stopped after {} of {} cases; the same command goes on with the others",
                                 sweep.table.rows(), sweep.cases));
  }
}

// Returns the journals of the parts, which stay locked. Their cases are added to the sweep.
std::vector<std::unique_ptr<Journal>> take_parts(const SweepOptions& options, SweepState& sweep) {
  std::vector<std::unique_ptr<Journal>> journals;
  if (!options.part.empty()) return journals;
  for (const auto& file : journals_of_parts(options)) {
    journals.push_back(std::make_unique<Journal>(file, checksum_of(sweep.plan), sweep.plan.cases));
    for (const CaseOutcome& outcome : journals.back()->take_finished()) sweep.add(outcome);
  }
  return journals;
}

void write_results(const SweepOptions& options, const ResultTable& table) {
  OutputFile out(options.out, OutputKind::Sweep);
  const std::string bytes = table.hdf5();
  out.stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.commit();
  if (!options.csv.empty()) {
    OutputFile csv(options.csv, OutputKind::Table);
    table.write_csv(csv.stream());
    csv.commit();
  }
  if (!options.times.empty()) {
    OutputFile times(options.times, OutputKind::Table);
    table.write_times(times.stream());
    times.commit();
  }
}

}  // namespace

void add_sweep_options(Command& command, SweepOptions& options) {
  command.option("plan", options.plan, "Plan: .toml").required();
  command.option("-o,--out", options.out, "Results: .h5").required();
  command.option("--csv", options.csv, "The results as a table too");
  command.option("--times", options.times, "Time and memory of each case, a table; differs from run to run");
  command
      .option("--part", options.part,
              "Run only a part of the cases, for instance 3/16, into a journal; without --part all journals become "
              "results")
      .excludes({"--csv", "--times"});
  command.option("--force", options.force, "Write over results that exist, if Trocar wrote them");
  command.option("--jobs", options.jobs, "Cases at a time; 0: as many as this machine has cores")
      .within(0, kMostJobs)
      .shown();
  command.option("--program", options.program, "Program that runs the cases: trocar").shown();
}

std::unique_ptr<Workers> make_local_workers(const RunnerParams& params) {
  return std::make_unique<LocalWorkers>(params);
}

void run_sweep(const SweepOptions& options, const WorkersMaker& make_workers) {
  const Plan plan = load_plan(options.plan);
  const RunnerParams params = runner_params(options, plan);
  const PlanPart part = part_of(options);
  check_outputs(options, plan);
  Journal journal(journal_of(options), checksum_of(plan), plan.cases);
  ResultTable table(plan);
  const std::uint64_t cases = (plan.cases + part.of - part.number) / part.of;
  catch_interrupts();
  std::vector<std::unique_ptr<Journal>> parts;
  {
    const auto workers = make_workers(params);
    SweepProgress progress(plan, part, workers->slots());
    SweepState sweep{plan, part, cases, journal, table, progress};
    for (const CaseOutcome& outcome : journal.take_finished()) sweep.add(outcome);
    parts = take_parts(options, sweep);
    if (table.rows() > 0) fmt::print("{} of {} cases are in the journal\n", table.rows(), cases);
    run_cases(sweep, *workers);
  }
  if (!options.part.empty()) {
    fmt::print("part {}: {} cases; the same command without --part collects all parts\n", options.part, cases);
    return;
  }
  write_results(options, table);
  for (const auto& one : parts) one->remove();
  journal.remove();
  fmt::print("{}{} cases, written to {}\n", table.cost_text(), plan.cases, options.out);
  if (table.not_done() > 0)
    throw RunError(fmt::format("{} of {} cases are not done; the columns status and error of {} say why",
                               table.not_done(), plan.cases, options.out));
}

void add_sweep_command(Command& program) {
  auto options = std::make_shared<SweepOptions>();
  Command& sub =
      program.command("sweep", "Run the cases of a plan, each in a process of its own; results in one table");
  add_sweep_options(sub, *options);
  sub.runs([options] { run_sweep(*options, make_local_workers); });
}

}  // namespace trocar

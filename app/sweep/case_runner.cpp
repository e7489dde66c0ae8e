#include "app/sweep/case_runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScratchName = "trocar-sweep-";
constexpr const char* kScratchLock = "lock";
constexpr const char* kScratchGone = ".gone";  // end of the name of a folder that is being removed

// Returns whether a folder is being removed, or has a lock file that no process holds. A folder of another user cannot
// be locked.
bool is_abandoned(const fs::path& folder) {
  if (folder.extension() == kScratchGone) return true;
  const int lock = ::open((folder / kScratchLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (lock < 0) return false;
  const bool free = ::flock(lock, LOCK_EX | LOCK_NB) == 0;
  ::close(lock);
  return free;
}

// The new name says that the folder can be removed, whatever a kill leaves of it.
void remove_scratch(const fs::path& folder) {
  std::error_code error, none;
  fs::path gone = folder;
  if (folder.extension() != kScratchGone) gone += kScratchGone;
  if (gone != folder) fs::rename(folder, gone, error);
  fs::remove_all(error ? folder : gone, none);
}

void remove_abandoned(const fs::path& where) {
  std::error_code error, none;
  for (fs::directory_iterator entry(where, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with(kScratchName) && entry->is_directory(none) &&
        !entry->is_symlink(none) && is_abandoned(entry->path()))
      remove_scratch(entry->path());
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const fs::path where = fs::temp_directory_path(error);
  remove_abandoned(where);
  std::string name = (where / (std::string(kScratchName) + "XXXXXX")).string();
  if (error || !::mkdtemp(name.data()))
    throw InputError(
        fmt::format("{}: no temporary folder can be created there; set TMPDIR to a folder that can be "
                    "written",
                    where.string()));
  path_ = name;
  // It gets its name when it is locked, so that no other sweep finds it free.
  const fs::path unnamed = path_ / "new";
  lock_ = ::open(unnamed.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) == 0) fs::rename(unnamed, path_ / kScratchLock, error);
}

ScratchFolder::~ScratchFolder() {
  remove_scratch(path_);
  if (lock_ >= 0) ::close(lock_);
}

namespace {

// What the child needs between fork and exec, where it may only make system calls.
struct ChildStart {
  const char* program;
  char* const* words;
  char* const* environment;
  const char* folder;
  const char* messages;
  pid_t parent;
};

constexpr int kNotStarted = 127;  // exit status, as of a shell
constexpr int kFirstOwnDescriptor = 3;

[[noreturn]] void become(const ChildStart& start) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != start.parent) ::_exit(kNotStarted);  // the parent ended before the line above
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDWR),
            messages = ::open(start.messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const bool fine = nothing >= 0 && messages >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
                    ::dup2(nothing, STDOUT_FILENO) >= 0 && ::dup2(messages, STDERR_FILENO) >= 0;
  ::close_range(kFirstOwnDescriptor, ~0u, CLOSE_RANGE_CLOEXEC);
  if (fine && ::chdir(start.folder) == 0) ::execve(start.program, start.words, start.environment);
  ::_exit(kNotStarted);
}

// Cases run side by side, so each has one thread (share_cores()).
std::vector<char*> environment_of_case() {
  static constexpr std::string_view kName = "TROCAR_THREADS=";
  static char one_thread[] = "TROCAR_THREADS=1";
  std::vector<char*> variables;
  for (char** variable = environ; *variable; ++variable)
    if (!std::string_view(*variable).starts_with(kName)) variables.push_back(*variable);
  variables.push_back(one_thread);
  variables.push_back(nullptr);
  return variables;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

CaseProcess::CaseProcess(const std::string& program, const std::vector<std::string>& arguments,
                         const std::filesystem::path& folder, const std::filesystem::path& messages) {
  std::vector<char*> words{const_cast<char*>("trocar")};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  std::vector<char*> environment = environment_of_case();
  const ChildStart start{program.c_str(), words.data(),     environment.data(),
                         folder.c_str(),  messages.c_str(), ::getpid()};
  process_ = ::fork();
  if (process_ == 0) become(start);
  if (process_ > 0) {
    ::setpgid(process_, process_);  // also here, so that kill() finds the group at once
    descriptor_ =
        static_cast<int>(::syscall(SYS_pidfd_open, process_, 0));  // the C library 2.36 has no C++ header of it
  }
  if (descriptor_ < 0) {
    const int error = errno;
    kill();
    throw RunError(fmt::format("a case cannot be started ({}); take fewer --jobs", std::strerror(error)));
  }
}

CaseProcess::CaseProcess(CaseProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)), descriptor_(std::exchange(other.descriptor_, -1)) {}

CaseProcess::~CaseProcess() {
  kill();
  if (process_ > 0)
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool CaseProcess::ended(ProcessEnd& end) {
  siginfo_t info{};
  if (process_ <= 0 || ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != process_)
    return false;
  ::kill(-process_, SIGKILL);  // processes that it left; its number stays taken until wait4()
  int status = 0;
  rusage usage{};
  while (::wait4(process_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  process_ = -1;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  end.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  end.memory_mib = static_cast<double>(usage.ru_maxrss) / 1024.0;
  return true;
}

void CaseProcess::kill() {
  if (process_ > 0) ::kill(-process_, SIGKILL);
}

namespace {

namespace fs = std::filesystem;
using ResultJson = nlohmann::ordered_json;

constexpr FileKind kResultFile{"result", std::uint64_t{64} << 20};
constexpr std::streamoff kTail = 16384;     // bytes of stderr that are searched for the sentence
constexpr std::size_t kLongestError = 300;  // characters
constexpr std::string_view kProgramName = "trocar: ";

// Collects values under unique names.
class Values {
 public:
  explicit Values(CaseOutcome& outcome) : outcome_(outcome) {}

  void add(std::string name, double value) {
    std::replace(name.begin(), name.end(), '/', '_');  // separates groups in HDF5
    for (std::string base = name; !names_.insert(name).second;) name = fmt::format("{}_{}", base, names_.size());
    outcome_.values.emplace_back(std::move(name), value);
  }
  void add(const std::string& name, const ResultJson& value) {
    if (value.is_boolean())
      add(name, value.get<bool>() ? 1.0 : 0.0);
    else
      add(name, value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
  }

 private:
  CaseOutcome& outcome_;
  std::set<std::string> names_;
};

void add_metrics(Values& values, const std::string& of, const ResultJson& metrics) {
  for (const ResultJson& metric : metrics)
    values.add(fmt::format("{}.{}", of, metric.at("id").get<std::string>()), metric.at("value"));
}

void add_score(Values& values, const ResultJson& json) {
  const ResultJson& attempt = json.at("attempts").at(0);
  if (const ResultJson& task = attempt.at("task"); !task.is_null()) {
    values.add("score", task.at("score"));
    values.add("finished", task.at("finished"));
    add_metrics(values, "task", task.at("parts"));
  }
  values.add("duration_s", attempt.at("duration_s"));
  values.add("frames", attempt.at("frames"));
  add_metrics(values, "whole", attempt.at("overall"));
  for (const ResultJson& instrument : attempt.at("instruments"))
    add_metrics(values, instrument.at("name").get<std::string>(), instrument.at("metrics"));
}

void add_comparison(Values& values, const ResultJson& json) {
  for (const char* key : {"faces", "vertices", "frames", "tools"}) values.add(key, json.at(key));
  for (const auto& [name, backend] : json.at("backends").items())
    for (const char* key : {"touched", "borderline", "disagreements"})
      values.add(fmt::format("{}.{}", name, key), backend.at(key));
}

void add_replay(Values& values, const ResultJson& json) {
  for (const char* key : {"frames", "touches", "tip_touches", "surface_changes", "differing_frames"})
    values.add(key, json.at(key));
}

std::vector<std::string> row_cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

double cell_number(const std::string& cell) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size()) throw InputError("a cell is not a number");
  return value;
}

// Every load of a curve is a column, "force_n at 0.1".
void add_curve(Values& values, const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> header = row_cells(line);
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = row_cells(line);
    if (cells.size() != header.size()) throw InputError("a row has another number of cells than the header");
    for (std::size_t i = 1; i < cells.size(); ++i)
      values.add(fmt::format("{} at {}", header[i], cells[0]), cell_number(cells[i]));
  }
}

void add_values(ResultKind kind, const fs::path& scratch, CaseOutcome& outcome) {
  Values values(outcome);
  if (kind == ResultKind::Curve) return add_curve(values, read_whole_file(scratch / "result.csv", kResultFile));
  const ResultJson json = ResultJson::parse(read_whole_file(scratch / "result.json", kResultFile));
  if (kind == ResultKind::Score) return add_score(values, json);
  if (kind == ResultKind::Compare) return add_comparison(values, json);
  add_replay(values, json);
}

std::string without(std::string text, const std::string& part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part)) text.erase(at, part.size());
  return text;
}

// Returns the sentence of an error that a command wrote, without the path of the case's temporary folder.
std::string sentence_of(const fs::path& messages, const fs::path& scratch) {
  std::ifstream in(messages, std::ios::binary | std::ios::ate);
  if (!in) return "the command gave no reason";
  in.seekg(std::max<std::streamoff>(0, in.tellg() - kTail));
  std::string sentence, last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
    if (line.starts_with(kProgramName)) sentence = line.substr(kProgramName.size());
  }
  if (sentence.empty()) sentence = last;
  if (sentence.empty()) return "the command gave no reason";
  return printable(without(sentence, scratch.string() + "/"), kLongestError);
}

// Adds the values to the outcome. Results that are missing or cannot be read make a case fail that was done so far.
void read_results(ResultKind kind, const fs::path& scratch, CaseOutcome& outcome) {
  try {
    add_values(kind, scratch, outcome);
    return;
  } catch (const std::exception&) {  // of JSON, or InputError
    outcome.values.clear();
  }
  if (outcome.status != CaseStatus::Done) return;  // has a sentence of its own
  outcome.status = CaseStatus::Failed;
  outcome.error = "the command ended without results that can be read";
}

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

std::string to_line(const RunnerParams& params) {
  return ResultJson{{"program", text_of_bytes(params.program)},
                    {"folder", text_of_bytes(params.folder.string())},
                    {"timeout", params.timeout},
                    {"jobs", params.jobs}}
      .dump();
}

RunnerParams runner_params_of_line(const std::string& line) {
  const auto json = ResultJson::parse(line);
  return {bytes_of_text(json["program"].get<std::string>()), bytes_of_text(json["folder"].get<std::string>()),
          json["timeout"].get<double>(), json["jobs"].get<std::size_t>()};
}

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

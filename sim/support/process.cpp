#include "sim/support/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "geometry/error.hpp"
#include "geometry/machine.hpp"

namespace trocar {

std::string machine_description() {
  std::ifstream cpu_info("/proc/cpuinfo");
  std::string line, model = "unknown processor";
  while (std::getline(cpu_info, line)) {
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  }
  return fmt::format("{}, {} hardware threads", model, std::thread::hardware_concurrency());
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

namespace {

std::string moment(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32] = {};
  if (gmtime_r(&now, &parts)) std::strftime(text, sizeof text, format, &parts);
  return text;
}

}  // namespace

std::string today() { return moment("%Y-%m-%d"); }

std::string this_second() { return moment("%Y-%m-%d %H:%M:%S"); }

std::string utc_text(const std::string& date) { return date.empty() ? date : date + " UTC"; }

namespace {

volatile std::sig_atomic_t flag = 0;
volatile std::time_t first_at = 0;

// timeout(1) sends its signal twice at once, to the program and to its group.
void note(int signal_number) {
  constexpr std::time_t kSame = 1;  // s
  const std::time_t now = std::time(nullptr);
  if (flag == 0) {
    flag = 1;
    first_at = now;
  } else if (now - first_at > kSame) {
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
  }
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

bool interrupted() { return flag != 0; }

namespace {

using std::chrono::milliseconds;

// A child that writes more than this is killed, so that it cannot take the caller's memory.
constexpr std::size_t kMostOutput = 64u << 20;  // bytes
// Whether the child has ended is looked up this often; its output and the end of its output are noticed at once.
constexpr milliseconds kLook{10};
// A killed process ends at once, unless a driver holds it in the kernel: such a process is left behind.
constexpr milliseconds kAfterKill{2000};

struct Pipe {
  int from = -1, to = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == 0) from = ends[0], to = ends[1];
  }
  ~Pipe() { close_from(), close_to(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_from() { close_end(from); }
  void close_to() { close_end(to); }

 private:
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

// The standard streams of a child, as descriptors of the caller; -1: /dev/null.
struct ChildStreams {
  int input = -1, output = -1, errors = -1;
  bool keeps_input = false;  // reads that of the caller
};

// Between fork and exec the child makes system calls only. It ends with the caller; it and what it starts are one group
// of processes.
[[noreturn]] void become(const char* program, char* const* words, pid_t parent, const ChildStreams& streams,
                         int failure) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDWR);
  const auto takes = [&](int stream, int number) { return dup2(stream >= 0 ? stream : nothing, number) >= 0; };
  if (getppid() == parent && nothing >= 0 && (streams.keeps_input || takes(streams.input, STDIN_FILENO)) &&
      takes(streams.output, STDOUT_FILENO) && takes(streams.errors, STDERR_FILENO))
    execvp(program, words);
  const int error = errno;
  while (write(failure, &error, sizeof error) < 0 && errno == EINTR) {
  }
  _exit(127);
}

// Starts the program. Returns the error, 0 if there was none.
int start(const std::string& program, std::span<const std::string> arguments, const ChildStreams& streams,
          pid_t& child) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  Pipe failure;
  if (failure.from < 0) return errno;
  const pid_t parent = getpid();
  child = fork();
  if (child < 0) return errno;
  if (child == 0) become(program.c_str(), words.data(), parent, streams, failure.to);
  setpgid(child, child);  // also here, so that kill() finds the group at once
  failure.close_to();
  int error = 0;
  while (read(failure.from, &error, sizeof error) < 0 && errno == EINTR) {
  }
  return error;  // the end of the file, without a number, when the program has started
}

// Returns whether the child has ended; it stays a zombie, so that the number of its group stays taken.
bool has_ended(pid_t child) {
  siginfo_t info{};
  const int answer = waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return answer == 0 ? info.si_pid == child : errno == ECHILD;
}

bool ends_within(pid_t child, milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  while (!has_ended(child)) {
    if (Clock::now() >= deadline) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

enum class Wait { Ended, TimeOver, TooMuch };

// Reads until the child ends, even if another process holds the pipe. A child may also close its output and go on.
Wait read_until_end(pid_t child, Pipe& output, Clock::time_point deadline, std::string& text) {
  char buffer[4096];
  for (bool ended = false; text.size() <= kMostOutput;) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return ended ? Wait::Ended : Wait::TimeOver;
    pollfd wait_for{output.from, POLLIN, 0};
    const auto pause = ended ? milliseconds(0) : std::min(kLook, left);
    const int ready = poll(&wait_for, output.from >= 0 ? 1 : 0, static_cast<int>(pause.count()));
    if (ready > 0) {
      const ssize_t count = read(output.from, buffer, sizeof buffer);
      if (count == 0) output.close_from();
      if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
      if (count > 0 && !ended) continue;
    }
    if (ended && (ready == 0 || output.from < 0)) return Wait::Ended;  // everything it wrote has been read
    ended = ended || (output.from < 0 ? ends_within(child, std::min(kLook, left)) : has_ended(child));
  }
  return Wait::TooMuch;
}

std::string failure_of(Wait wait, bool killed, std::chrono::seconds limit) {
  if (wait == Wait::TooMuch) return fmt::format("writes more than {} MiB", kMostOutput >> 20);
  return fmt::format("does not end within {} s{}", limit.count(), killed ? "" : ", not even when it is killed");
}

}  // namespace

ChildResult run_child(const std::string& program, std::span<const std::string> arguments, std::chrono::seconds limit) {
  Pipe output;
  if (output.from < 0) return {"", -1, fmt::format("cannot be started ({})", std::strerror(errno))};
  pid_t child = -1;
  const int error = start(program, arguments, {.output = output.to, .keeps_input = true}, child);
  output.close_to();
  ChildResult result;
  const Wait wait = error == 0 ? read_until_end(child, output, Clock::now() + limit, result.output) : Wait::Ended;
  if (child > 0) kill(-child, SIGKILL);  // also the processes that it left
  const bool killed = child > 0 && ends_within(child, kAfterKill);
  int status = 0;
  const bool known = killed && waitpid(child, &status, WNOHANG) == child;
  if (error != 0) return {"", -1, fmt::format("cannot be started ({})", std::strerror(error))};
  if (wait != Wait::Ended) return {result.output, -1, failure_of(wait, killed, limit)};
  if (!known) return {result.output, -1, "ends, but the system keeps no exit status (is SIGCHLD ignored?)"};
  if (WIFSIGNALED(status)) return {result.output, -1, fmt::format("crashes (signal {})", WTERMSIG(status))};
  result.status = WEXITSTATUS(status);
  return result;
}

namespace {

// A child that is asked to end has this long to remove its unfinished files.
constexpr milliseconds kToEnd{3000};

}  // namespace

ChildProcess::ChildProcess(const std::string& program, std::span<const std::string> arguments, bool fed) {
  // A socket instead of a pipe: writing to one whose reader has ended gives an error, not a signal.
  int ends[2] = {-1, -1};
  Pipe output;
  if (output.from < 0 || (fed && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)) {
    error_ = errno;
    return;
  }
  error_ = start(program, arguments, {.input = ends[1], .output = output.to, .errors = output.to}, child_);
  if (fed) ::close(ends[1]);
  input_ = ends[0];
  from_ = std::exchange(output.from, -1);
  fcntl(from_, F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  close_input();
  if (child_ > 0) {
    kill(-child_, SIGTERM);
    kill(-child_, SIGCONT);
    if (error_ == 0) ends_within(child_, kToEnd);
    kill(-child_, SIGKILL);
    if (ends_within(child_, kAfterKill)) waitpid(child_, nullptr, WNOHANG);
  }
  if (from_ >= 0) ::close(from_);
}

bool ChildProcess::send(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(input_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) return false;
    output();  // a child that cannot write does not read
    pollfd wait_for[] = {{input_, POLLOUT, 0}, {from_, POLLIN, 0}};
    poll(wait_for, from_ >= 0 ? 2 : 1, -1);
  }
  return true;
}

void ChildProcess::close_input() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

const std::string& ChildProcess::output() {
  char buffer[4096];
  while (from_ >= 0) {
    const ssize_t count = read(from_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count > 0 && output_.size() <= kMostOutput) output_.append(buffer, static_cast<std::size_t>(count));
    if (count > 0) continue;
    ::close(from_);
    from_ = -1;
  }
  return output_;
}

bool ChildProcess::ended() { return child_ < 0 || has_ended(child_); }

int ChildProcess::wait() {
  while (!ended()) {
    output();
    pollfd wait_for{from_, POLLIN, 0};
    poll(&wait_for, from_ >= 0 ? 1 : 0, static_cast<int>(kLook.count()));
  }
  output();
  int status = 0;
  const bool known = child_ > 0 && waitpid(child_, &status, WNOHANG) == child_;
  child_ = -1;
  return known && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void ChildProcess::pause(bool paused) {
  if (child_ > 0) kill(child_, paused ? SIGSTOP : SIGCONT);
}

std::string own_program() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    throw RunError(
        fmt::format("/proc/self/exe: cannot be read ({}), so this program cannot start itself again; mount "
                    "/proc in this environment",
                    error.message()));
  return program.string();
}

}  // namespace trocar

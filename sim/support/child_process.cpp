#include "sim/support/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

#include "geometry/error.hpp"

namespace trocar {
namespace {

using Clock = std::chrono::steady_clock;

// Reads until the child closes its end or the time is over. Returns false in the second case.
bool read_all(int from, Clock::time_point deadline, std::string& output) {
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wait_for{from, POLLIN, 0};
    if (left <= 0) return false;
    const int ready = poll(&wait_for, 1, static_cast<int>(left));
    if (ready == 0) return false;
    if (ready < 0) continue;  // interrupted by a signal
    const ssize_t count = read(from, buffer, sizeof buffer);
    if (count == 0) return true;
    if (count > 0) output.append(buffer, static_cast<std::size_t>(count));
  }
}

// Starts the program with its output in a pipe. Returns the error, 0 if there was none.
int start(const std::string& program, std::span<const std::string> arguments, int output, pid_t& child) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

ChildResult run_child(const std::string& program, std::span<const std::string> arguments, std::chrono::seconds limit) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {"", -1, fmt::format("cannot be started ({})", std::strerror(errno))};
  pid_t child = 0;
  const int error = start(program, arguments, ends[1], child);
  close(ends[1]);
  ChildResult result;
  const bool in_time = error == 0 && read_all(ends[0], Clock::now() + limit, result.output);
  close(ends[0]);
  if (error != 0) return {"", -1, fmt::format("cannot be started ({})", std::strerror(error))};
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return {result.output, -1, fmt::format("does not end within {} s", limit.count())};
  if (WIFSIGNALED(status)) return {result.output, -1, fmt::format("crashes (signal {})", WTERMSIG(status))};
  result.status = WEXITSTATUS(status);
  return result;
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

#include "app/sweep/case_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "geometry/error.hpp"

namespace trocar {
namespace {

// What the child needs between fork and exec, where it may only make system calls.
struct ChildStart {
  const char* program;
  char* const* words;
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
  if (fine && ::chdir(start.folder) == 0) ::execv(start.program, start.words);
  ::_exit(kNotStarted);
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
  const ChildStart start{program.c_str(), words.data(), folder.c_str(), messages.c_str(), ::getpid()};
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

}  // namespace trocar

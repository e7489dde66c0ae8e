#include "app/window/background_jobs.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace trocar {
namespace {

constexpr int kNotStarted = 127;  // exit status, as of a shell
constexpr int kLowestPriority = 19;
constexpr int kFirstOwnDescriptor = 3;
// Disk time only when no other program wants some; the C library has no names for this call.
constexpr int kIoWhoProcess = 1, kIoIdle = 3 << 13;

// The child between fork and exec, where it may only make system calls.
[[noreturn]] void become(const char* program, char* const* words, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kNotStarted);  // the parent ended before the line above
  ::setpriority(PRIO_PROCESS, 0, kLowestPriority);
  ::syscall(SYS_ioprio_set, kIoWhoProcess, 0, kIoIdle);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, descriptor);
  ::close_range(kFirstOwnDescriptor, ~0u, CLOSE_RANGE_CLOEXEC);
  ::execv(program, words);
  ::_exit(kNotStarted);
}

pid_t start(const std::string& program, const BackgroundJobs::Job& job) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : job) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) become(program.c_str(), words.data(), parent);
  return child;
}

}  // namespace

BackgroundJobs::~BackgroundJobs() {
  if (process_ <= 0) return;
  ::kill(process_, SIGTERM);
  ::waitpid(process_, nullptr, WNOHANG);
}

void BackgroundJobs::add(Job job) {
  if (std::ranges::find(jobs_, job) == jobs_.end()) jobs_.push_back(std::move(job));
}

void BackgroundJobs::step() {
  if (process_ > 0 && ::waitpid(process_, nullptr, WNOHANG) == 0) return;
  process_ = -1;
  if (jobs_.empty()) return;
  process_ = start(program_, std::exchange(jobs_.front(), {}));
  jobs_.pop_front();
}

}  // namespace trocar

#include "app/lab/silence_watch.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace trocar {

SilenceWatch::~SilenceWatch() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  if (socket_ >= 0) ::close(socket_);
}

void SilenceWatch::watch(int socket, std::chrono::milliseconds longest) {
  socket_ = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
  longest_ = longest;
  if (socket_ >= 0) thread_ = std::thread([this] { run(); });
}

void SilenceWatch::restart() {
  if (socket_ < 0) return;
  {
    const std::lock_guard lock(mutex_);
    deadline_ = std::chrono::steady_clock::now() + longest_;
  }
  changed_.notify_one();
}

void SilenceWatch::disarm() {
  if (socket_ < 0) return;
  const std::lock_guard lock(mutex_);
  deadline_.reset();
}

bool SilenceWatch::fired() const {
  const std::lock_guard lock(mutex_);
  return fired_;
}

void SilenceWatch::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (!deadline_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < *deadline_) {
      changed_.wait_until(lock, std::chrono::steady_clock::time_point(*deadline_));
    } else {
      fired_ = true;
      ::shutdown(socket_, SHUT_RDWR);
      deadline_.reset();
    }
  }
}

}  // namespace trocar

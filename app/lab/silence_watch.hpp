// Ends the connection to a server that is silent for too long: the PostgreSQL library waits without limit for an
// answer, and a server whose process is stopped keeps its connection.   Tested in tests/app/lab_waiting_test.cpp
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace trocar {

class SilenceWatch {
 public:
  // Watches nothing.
  SilenceWatch() = default;
  ~SilenceWatch();
  SilenceWatch(const SilenceWatch&) = delete;
  SilenceWatch& operator=(const SilenceWatch&) = delete;

  // Watches a connected socket from now on, while armed.
  void watch(int socket, std::chrono::milliseconds longest);
  // The server has answered, and is asked again.
  void restart();
  void disarm();
  // Whether the connection was ended.
  bool fired() const;

  // Armed for a scope.
  class Armed {
   public:
    explicit Armed(SilenceWatch& watch) : watch_(watch) { watch_.restart(); }
    ~Armed() { watch_.disarm(); }
    Armed(const Armed&) = delete;
    Armed& operator=(const Armed&) = delete;

   private:
    SilenceWatch& watch_;
  };

 private:
  void run();

  int socket_ = -1;  // a descriptor of our own, so that its number is not reused while we hold it
  std::chrono::milliseconds longest_{0};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool ended_ = false, fired_ = false;
  std::thread thread_;
};

}  // namespace trocar

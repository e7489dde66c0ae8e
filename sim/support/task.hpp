// Runs one piece of work in a thread of its own and never waits for it: the result is asked for without blocking, and
// work whose result is not wanted any longer is abandoned. An exception of the work becomes a sentence.
// The thread is detached, so the work must own what it uses or share it: nothing that it captures may end before it.
// Tested in tests/sim/support/task_test.cpp
#pragma once

#include <chrono>
#include <concepts>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

namespace trocar {

template <typename T>
struct TaskOutcome {
  std::optional<T> value;
  std::string fault;  // one sentence where there is no value
};

class TaskWork {
 public:
  virtual ~TaskWork() = default;
  virtual void run() noexcept = 0;
};

// Runs the work in a detached thread. Throws RunError when the system has no thread for it.
void run_apart(std::shared_ptr<TaskWork> work);
// Runs what a thread is for. An exception ends the work, not the program: a line on stderr names it and its cause.
void run_guarded(const char* name, const std::function<void()>& work) noexcept;
// Returns the sentence of the exception that is being handled.
std::string fault_of_exception();
// Call at the end of main with its status, and return what it returns. Work that was abandoned has 0.2 s to notice it;
// where some still runs then, for instance because a server does not answer, the process ends here, without the
// destructors of static objects that this work may use.
int end_with_tasks(int status);

// A thread of its own for work whose end the caller waits for: one piece at a time, and it sleeps between them.
class SideThread {
 public:
  SideThread();
  ~SideThread();  // waits
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  // Call only while no work runs. `work` does not throw.
  void start(std::function<void()> work);
  // Waits until the work has ended; without work returns at once.
  void wait();

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

template <typename T>
class Task {
 public:
  Task() = default;  // without work
  // Starts at once. `work` returns a T and takes nothing, or a std::stop_token that says when the result is not wanted.
  template <typename Work>
  requires std::invocable<Work&> || std::invocable<Work&, std::stop_token>
  explicit Task(Work work) {
    auto job = std::make_shared<Job<Work>>(std::move(work));
    state_ = job;
    try {
      run_apart(std::move(job));
    } catch (...) {
      state_->end({{}, fault_of_exception()});
    }
  }
  ~Task() { abandon(); }
  Task(Task&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      abandon();
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }

  // Whether there is work whose result was not taken.
  bool busy() const { return state_ != nullptr; }
  // Takes the result if there is one. Never waits.
  std::optional<TaskOutcome<T>> poll() { return wait(std::chrono::seconds(0)); }
  // Takes the result as soon as there is one, and waits for it at most as long as `limit`.
  std::optional<TaskOutcome<T>> wait(std::chrono::milliseconds limit) {
    if (!state_) return {};
    auto result = state_->take(limit);
    if (result) state_ = nullptr;
    return result;
  }
  // Asks the work to stop and forgets it. Never waits.
  void abandon() {
    if (state_) state_->stop.request_stop();
    state_ = nullptr;
  }

 private:
  struct State {
    std::stop_source stop;

    void end(TaskOutcome<T> result) {
      const std::lock_guard lock(mutex);
      ended = std::move(result);
      changed.notify_all();
    }
    std::optional<TaskOutcome<T>> take(std::chrono::milliseconds limit) {
      std::unique_lock lock(mutex);
      if (limit.count() > 0) changed.wait_for(lock, limit, [&] { return ended.has_value(); });
      return std::exchange(ended, std::nullopt);
    }

   private:
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<TaskOutcome<T>> ended;
  };

  template <typename Work>
  struct Job final : TaskWork, State {
    explicit Job(Work given) : work(std::move(given)) {}
    void run() noexcept override {
      TaskOutcome<T> result;
      try {
        if constexpr (std::invocable<Work&, std::stop_token>)
          result.value.emplace((*work)(State::stop.get_token()));
        else
          result.value.emplace((*work)());
      } catch (...) {
        result = {{}, fault_of_exception()};
      }
      work.reset();  // what it owned is free before the result is known
      State::end(std::move(result));
    }
    std::optional<Work> work;
  };

  std::shared_ptr<State> state_;
};

}  // namespace trocar

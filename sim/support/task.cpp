#include "sim/support/task.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>
#include <thread>

#include "geometry/error.hpp"

namespace trocar {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 200ms;

// Work that has not ended. Has no destructor, so that a thread may use it until the process ends.
constinit std::atomic<int> running = 0;

}  // namespace

void run_apart(std::shared_ptr<TaskWork> work) {
  ++running;
  try {
    std::thread([work = std::move(work)]() mutable {
      work->run();
      work.reset();  // destroys a result that was not taken
      --running;
    }).detach();
  } catch (const std::system_error& error) {
    --running;
    throw RunError(std::string("the system has no thread for this work (") + error.what() + "); end other programs");
  }
}

struct SideThread::Content {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> work;  // empty: none runs
  bool stopping = false;
  std::thread thread;

  void run() {
    for (std::unique_lock lock(mutex);;) {
      changed.wait(lock, [this] { return stopping || work; });
      if (stopping) return;
      lock.unlock();
      work();
      lock.lock();
      work = nullptr;
      changed.notify_all();
    }
  }
};

SideThread::SideThread() : content_(std::make_unique<Content>()) {
  try {
    content_->thread = std::thread([content = content_.get()] { content->run(); });
  } catch (const std::system_error&) {
    // The caller does the work.
  }
}

SideThread::~SideThread() {
  wait();
  {
    const std::lock_guard lock(content_->mutex);
    content_->stopping = true;
  }
  content_->changed.notify_all();
  if (content_->thread.joinable()) content_->thread.join();
}

void SideThread::start(std::function<void()> work) {
  if (!content_->thread.joinable()) return work();
  {
    const std::lock_guard lock(content_->mutex);
    content_->work = std::move(work);
  }
  content_->changed.notify_all();
}

void SideThread::wait() {
  std::unique_lock lock(content_->mutex);
  content_->changed.wait(lock, [this] { return !content_->work; });
}

void run_guarded(const char* name, const std::function<void()>& work) noexcept {
  try {
    work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s has ended: %s\n", name, error.what());
  } catch (...) {
    std::fprintf(stderr, "%s has ended: an unknown error\n", name);
  }
}

std::string fault_of_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "not enough memory";
  } catch (const std::exception& error) {
    const std::string sentence = error.what();
    return sentence.empty() ? "an error without a description" : sentence;
  } catch (...) {
    return "an unknown error";
  }
}

int end_with_tasks(int status) {
  for (const auto end = std::chrono::steady_clock::now() + kPatience; running > 0;) {
    if (std::chrono::steady_clock::now() > end) {
      std::fflush(nullptr);
      std::_Exit(status);
    }
    std::this_thread::sleep_for(1ms);
  }
  return status;
}

}  // namespace trocar

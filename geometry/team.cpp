// Hands out jobs by a counter, wakes helpers that sleep, and waits for the last job.
#include "geometry/team.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace trocar {
namespace {

using Clock = std::chrono::steady_clock;
// A thread that waits keeps its core for kKeep: most lists of a step follow each other within that time. Then it looks
// again and again, and between two looks the renderer or another program may use the core. After kLookout, which is
// longer than the pauses of a frame, it sleeps. Waking it costs more than a list of jobs.
constexpr std::chrono::microseconds kKeep{80}, kLookout{3000};
constexpr std::uint64_t kRound = std::uint64_t{1} << 32;  // a ticket: kRound * round + jobs to take

void rest() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Returns whether `is_so` became true while it looked.
template <typename Condition>
bool look_out(const Condition& is_so) {
  constexpr int kBetweenClocks = 32;
  const auto start = Clock::now();
  while (Clock::now() - start < kKeep)
    for (int k = 0; k < kBetweenClocks; ++k, rest())
      if (is_so()) return true;
  for (; Clock::now() - start < kLookout; std::this_thread::yield())
    if (is_so()) return true;
  return false;
}

}  // namespace

struct Team::Shared {
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable begin, done;
  std::atomic<std::uint64_t> ticket{0};
  std::atomic<std::size_t> undone{0};                 // jobs of the round that have not ended
  std::atomic<int> asleep{0};                         // helpers
  std::atomic<bool> stopping{false}, waiting{false};  // waiting: the caller sleeps
  // Of the round; they stay until all its jobs have ended.
  void (*job)(void*, std::size_t) = nullptr;
  void* context = nullptr;
  std::size_t jobs = 0;

  explicit Shared(int helpers) {
    for (int i = 0; i < helpers; ++i) threads.emplace_back([this] { help(); });
  }
  ~Shared() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    begin.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  bool called() const { return ticket.load() % kRound != 0 || stopping.load(); }
  bool ended() const { return undone.load() == 0; }

  void work() {
    for (std::uint64_t now = ticket.load(); now % kRound != 0;) {
      if (!ticket.compare_exchange_weak(now, now - 1)) continue;
      job(context, jobs - now % kRound);
      if (undone.fetch_sub(1) == 1 && waiting.load()) {
        const std::lock_guard lock(mutex);
        done.notify_one();
      }
      now = ticket.load();
    }
  }
  void help() {
    while (!stopping) {
      if (!look_out([this] { return called(); })) {
        std::unique_lock lock(mutex);
        ++asleep;
        begin.wait(lock, [this] { return called(); });
        --asleep;
      }
      work();
    }
  }
  void wait() {
    if (look_out([this] { return ended(); })) return;
    std::unique_lock lock(mutex);
    waiting = true;
    done.wait(lock, [this] { return ended(); });
    waiting = false;
  }
};

Team::Team(int threads) : alone_(threads < 2), shared_(alone_ ? nullptr : std::make_unique<Shared>(threads - 1)) {}
Team::~Team() = default;

void Team::run(std::size_t count, void (*job)(void*, std::size_t), void* context) {
  Shared& s = *shared_;
  s.job = job;
  s.context = context;
  s.jobs = count;
  s.undone = count;
  s.ticket = (s.ticket.load() / kRound + 1) * kRound + count;
  if (s.asleep.load() > 0) {
    { const std::lock_guard lock(s.mutex); }  // a helper that has looked in vain is asleep before it is called
    s.begin.notify_all();
  }
  s.work();
  s.wait();
}

}  // namespace trocar

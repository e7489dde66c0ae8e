// Threads that share lists of equal jobs with their caller. Within a step lists follow each other every few
// microseconds, and most are done before a sleeping thread wakes: helpers look out for the next list for a while before
// they sleep. The caller takes jobs too, and waits only for those that a helper has begun. Jobs of a list share no
// data, so results do not depend on the number of threads.   Tested in tests/geometry/team_test.cpp
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace trocar {

class Team {
 public:
  explicit Team(int threads);  // >= 1, with the caller
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls each(i) for i = 0 .. count - 1, on all threads, in any order; returns when all have returned. For one caller
  // at a time. Does not allocate. `each` does not throw.
  template <class Job>
  void share(std::size_t count, Job&& each) {
    if (alone_ || count < 2) {
      for (std::size_t i = 0; i < count; ++i) each(i);
      return;
    }
    using Type = std::remove_reference_t<Job>;
    run(
        count, [](void* context, std::size_t i) { (*static_cast<Type*>(context))(i); },
        const_cast<void*>(static_cast<const void*>(&each)));
  }

 private:
  struct Shared;
  void run(std::size_t count, void (*job)(void*, std::size_t), void* context);

  bool alone_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace trocar

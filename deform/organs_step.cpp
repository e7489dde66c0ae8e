#include "deform/step.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "deform/body.hpp"

namespace trocar {

// Threads that wait for a list of equal jobs and share it.
struct OrganStepper::Team {
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable begin, done;
  std::uint64_t round = 0;
  std::size_t jobs = 0, busy = 0;
  std::atomic<std::size_t> next{0};
  void (*job)(void*, std::size_t) = nullptr;
  void* context = nullptr;
  bool stopping = false;

  explicit Team(int helpers) {
    for (int i = 0; i < helpers; ++i) threads.emplace_back([this] { help(); });
  }
  ~Team() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    begin.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  void work() {
    for (std::size_t i = next++; i < jobs; i = next++) job(context, i);
  }
  void help() {
    for (std::uint64_t seen = 0;;) {
      {
        std::unique_lock lock(mutex);
        begin.wait(lock, [&] { return stopping || round != seen; });
        if (stopping) return;
        seen = round;
      }
      work();
      const std::lock_guard lock(mutex);
      if (--busy == 0) done.notify_one();
    }
  }

  template <typename Job>
  void share(std::size_t count, Job& each) {
    if (threads.empty() || count < 2) {
      for (std::size_t i = 0; i < count; ++i) each(i);
      return;
    }
    {
      const std::lock_guard lock(mutex);
      job = [](void* context, std::size_t i) { (*static_cast<Job*>(context))(i); };
      context = const_cast<void*>(static_cast<const void*>(&each));
      jobs = count;
      next = 0;
      busy = threads.size();
      ++round;
    }
    begin.notify_all();
    work();
    std::unique_lock lock(mutex);
    done.wait(lock, [this] { return busy == 0; });
  }
};

OrganStepper::OrganStepper(int threads) : team_(std::make_unique<Team>(std::max(threads, 1) - 1)) {}
OrganStepper::~OrganStepper() = default;

void OrganStepper::step(std::span<const SteppedOrgan> organs, OrganContacts& contacts, Bonds& bonds, float dt) {
  if (!(dt > 0.f) || !std::isfinite(dt)) return;
  models_.clear();
  states_.clear();
  for (const SteppedOrgan& organ : organs) models_.push_back(organ.model), states_.push_back(organ.state);
  const auto begin = [&](std::size_t i) { begin_step(*organs[i].model, *organs[i].state, organs[i].loads); };
  team_->share(organs.size(), begin);

  const auto own_count = [&](std::size_t i) {
    return substep_count(*organs[i].model, *organs[i].state, bonds.empty() ? dt : bonds.slowdown[i] * dt);
  };
  // Organs that touch or hang together use a common substep; others use their own.
  sort_organs(contacts, bonds);
  int most = 1;
  for (const std::size_t i : joined_) most = std::max(most, own_count(i));
  const auto first_substep = [&](int count) { return Substep{1, count, dt / static_cast<float>(count)}; };
  const auto advance_alone = [&](std::size_t k) {
    const std::size_t i = alone_[k];
    for (Substep substep = first_substep(own_count(i)); substep.number <= substep.count; ++substep.number)
      advance(*organs[i].model, *organs[i].state, organs[i].loads, substep);
  };
  team_->share(alone_.size(), advance_alone);
  Substep common = first_substep(most);
  for (; !joined_.empty() && common.number <= common.count; ++common.number) {
    const auto advance_one = [&](std::size_t k) {
      const std::size_t i = joined_[k];
      advance(*organs[i].model, *organs[i].state, organs[i].loads, common);
    };
    add_bond_forces(models_, states_, bonds);
    team_->share(joined_.size(), advance_one);
    solve_organ_contacts(models_, states_, common.dt, contacts);
  }
  for (const std::size_t i : alone_) end_step(*organs[i].model, *organs[i].state, first_substep(own_count(i)), dt);
  for (const std::size_t i : joined_) end_step(*organs[i].model, *organs[i].state, first_substep(most), dt);
}

void OrganStepper::sort_organs(const OrganContacts& contacts, const Bonds& bonds) {
  is_joined_.assign(models_.size(), 0);
  for (const PairContact& contact : contacts.contacts) is_joined_[contact.a] = is_joined_[contact.b] = 1;
  for (const std::vector<Fibre>* fibres : {&bonds.fibres, &bonds.struts})
    for (const Fibre& fibre : *fibres)
      for (const std::uint32_t organ : {fibre.a.organ, fibre.b.organ})
        if (organ != kWall) is_joined_[organ] = 1;
  joined_.clear();
  alone_.clear();
  for (std::size_t i = 0; i < models_.size(); ++i) (is_joined_[i] ? joined_ : alone_).push_back(i);
}

}  // namespace trocar

#include "sim/device/haptic_stub.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "geometry/error.hpp"

namespace trocar {

using Clock = std::chrono::steady_clock;

// The thread catches up on late ticks, but on no more than this.
constexpr std::chrono::milliseconds kLongestDelay{100};

struct HapticStub::Shared {
  HapticStubParams params;
  glm::dvec3 pivot;
  Target target;
  mutable std::mutex mutex;
  HapticState state;
  ContactModel contact;
  const Clock::time_point start = Clock::now();
  std::atomic<bool> stopping{false};
  std::thread thread;

  double now() const { return std::chrono::duration<double>(Clock::now() - start).count(); }  // s

  void run() {
    const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1.0 / params.rate));
    for (auto next = start; !stopping; next = std::max(next + period, Clock::now() - kLongestDelay)) {
      std::this_thread::sleep_until(next);
      const glm::dvec3 hand_target = target(now());
      const std::lock_guard lock(mutex);
      const glm::dvec3 force = felt_force(params.contact, contact, state.tip, now());
      state = hand_tick(params, state, hand_target, force, 1.0 / params.rate);
    }
  }
};

HapticStub::HapticStub(const glm::dvec3& pivot, const glm::dvec3& tip, Target target, const HapticStubParams& params)
    : shared_(std::make_unique<Shared>()) {
  if (const std::string fault = hand_fault(params); !fault.empty()) throw InputError(fault);
  shared_->params = params;
  shared_->pivot = pivot;
  shared_->target = std::move(target);
  shared_->state = at_rest(tip);
  shared_->thread = std::thread([shared = shared_.get()] {
    try {
      shared->run();
    } catch (...) {
      // A target that fails leaves the hand where it is.
    }
  });
}

HapticStub::~HapticStub() {
  shared_->stopping = true;
  shared_->thread.join();
}

DevicePose HapticStub::pose(const FrameClock&) {
  const std::lock_guard lock(shared_->mutex);
  return {shared_->pivot, shared_->state.tip, 0.0, 1.0};
}

void HapticStub::feel(const Felt& felt) {
  const std::lock_guard lock(shared_->mutex);
  shared_->contact = updated(shared_->params.contact, shared_->contact, felt, shared_->state.tip, shared_->now());
}

HapticState HapticStub::state() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->state;
}

}  // namespace trocar

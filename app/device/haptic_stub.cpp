#include "app/device/haptic_stub.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

namespace trocar {

using Clock = std::chrono::steady_clock;

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
    for (auto next = start; !stopping; next += period) {
      std::this_thread::sleep_until(next);
      const glm::dvec3 wanted = target(now());
      const std::lock_guard lock(mutex);
      const glm::dvec3 force = felt_force(params.contact, contact, state.tip, now());
      state = hand_tick(params, state, wanted, force, 1.0 / params.rate);
    }
  }
};

HapticState hand_tick(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target,
                      const glm::dvec3& force, double dt) {
  HapticState next = state;
  const double strength = glm::length(force);
  const bool usable = std::isfinite(strength);
  const double scale = strength > params.contact.largest_force ? params.contact.largest_force / strength : 1.0;
  next.felt_force = usable ? scale * force : glm::dvec3(0.0);
  const glm::dvec3 pull = params.stiffness * (target - state.tip) - params.damping * state.velocity;
  next.velocity += dt / params.mass * (pull + next.felt_force);
  next.tip += dt * next.velocity;
  ++next.ticks;
  return next;
}

HapticStub::HapticStub(const glm::dvec3& pivot, const glm::dvec3& tip, Target target, const HapticStubParams& params)
    : shared_(std::make_unique<Shared>()) {
  shared_->params = params;
  shared_->pivot = pivot;
  shared_->target = std::move(target);
  shared_->state.tip = tip;
  shared_->thread = std::thread([shared = shared_.get()] { shared->run(); });
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

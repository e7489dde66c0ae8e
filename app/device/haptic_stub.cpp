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
  glm::dvec3 force{0.0};
  Clock::time_point force_time{};
  std::atomic<bool> stopping{false};
  std::thread thread;

  void run() {
    const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1.0 / params.rate));
    const auto start = Clock::now();
    for (auto next = start; !stopping; next += period) {
      std::this_thread::sleep_until(next);
      const auto now = Clock::now();
      const glm::dvec3 wanted = target(std::chrono::duration<double>(now - start).count());
      const std::lock_guard lock(mutex);
      const double age = std::chrono::duration<double>(now - force_time).count();
      state =
          hand_tick(params, state, wanted, age > params.force_lifetime ? glm::dvec3(0.0) : force, 1.0 / params.rate);
    }
  }
};

HapticState hand_tick(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target,
                      const glm::dvec3& force, double dt) {
  HapticState next = state;
  const double strength = glm::length(force);
  const bool usable = std::isfinite(strength);
  const double scale = strength > params.largest_force ? params.largest_force / strength : 1.0;
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

void HapticStub::feel(const glm::vec3& force, const FrameClock&) {
  const std::lock_guard lock(shared_->mutex);
  shared_->force = glm::dvec3(force);
  shared_->force_time = Clock::now();
}

HapticState HapticStub::state() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->state;
}

}  // namespace trocar

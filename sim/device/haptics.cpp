#include "sim/device/haptics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

#include "geometry/elementary.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

bool finite(const glm::dvec3& p) { return std::isfinite(p.x + p.y + p.z); }

bool in_contact(const ContactModel& model) { return model.normal != glm::dvec3(0.0); }

// Returns the factor of the force at this age: 1 during the hold, 0 after the fade.
double freshness(const ContactModelParams& params, const ContactModel& model, double age) {
  const double end = hold_time(params, model) + params.fade;
  if (!(age < end)) return 0.0;
  return params.fade > 0.0 ? std::min(1.0, (end - age) / params.fade) : 1.0;
}

// Returns T after an interval of `since`. A gap longer than any hold is a stall or the start and leaves T unchanged.
double interval_after(const ContactModelParams& params, const ContactModel& model, double since) {
  if (!(since >= 0.0) || since > params.hold_intervals * params.longest_interval) return model.interval;
  const double remembered = model.interval * elementary::exp(-since / params.interval_memory);
  return std::clamp(std::max(since, remembered), params.shortest_interval, params.longest_interval);
}

glm::dvec3 plane_force(const ContactModelParams& params, const ContactModel& model, const glm::dvec3& tip) {
  const double pressed = model.pressure + model.stiffness * glm::dot(model.tip - tip, model.normal);
  return std::clamp(pressed, 0.0, params.largest_force) * model.normal;
}

glm::dvec3 limited(const glm::dvec3& force, double largest) {
  const double strength = glm::length(force);
  return strength > largest ? largest / strength * force : force;
}

// Adds one pair of frames to the fit of the stiffness.
void fit_stiffness(const ContactModelParams& params, const ContactModel& before, ContactModel& now) {
  if (in_contact(before) && in_contact(now)) {
    const double deeper = glm::dot(before.tip - now.tip, now.normal);
    const double stronger = now.pressure - before.pressure * glm::dot(before.normal, now.normal);
    now.force_depth = params.forgetting * before.force_depth + stronger * deeper;
    now.depth_depth = params.forgetting * before.depth_depth + deeper * deeper;
  }
  const double prior = params.trusted_motion * params.trusted_motion;
  now.stiffness = std::clamp((now.force_depth + prior * params.start_stiffness) / (now.depth_depth + prior),
                             params.least_stiffness, params.greatest_stiffness);
}

}  // namespace

double hold_time(const ContactModelParams& params, const ContactModel& model) {
  return std::max(params.shortest_hold, params.hold_intervals * model.interval);
}

glm::dvec3 felt_force(const ContactModelParams& params, const ContactModel& model, const glm::dvec3& tip, double now) {
  const double age = std::max(now - model.time, 0.0), fresh = freshness(params, model, age);
  if (!finite(tip) || !(fresh > 0.0)) return glm::dvec3(0.0);
  const double unblended = std::max(0.0, 1.0 - age / model.interval);
  glm::dvec3 force = plane_force(params, model, tip) + unblended * model.offset;
  force -= std::min(glm::dot(force, model.normal), 0.0) * model.normal;
  return fresh * limited(force, params.largest_force);
}

ContactModel updated(const ContactModelParams& params, const ContactModel& model, const Felt& felt,
                     const glm::dvec3& tip, double now) {
  ContactModel next = model;
  const glm::dvec3 force(felt.force);
  const double pressure = glm::length(force);
  const bool usable = std::isfinite(pressure) && finite(felt.tip) && pressure > params.weakest_force;
  next.pressure = usable ? pressure : 0.0;
  next.normal = usable ? force / pressure : glm::dvec3(0.0);
  if (usable) next.tip = felt.tip;
  fit_stiffness(params, model, next);
  const glm::dvec3 position = finite(tip) ? tip : next.tip;
  next.offset = felt_force(params, model, position, now) - plane_force(params, next, position);
  next.time = now;
  next.interval = interval_after(params, model, now - model.time);
  return next;
}

namespace {

glm::dvec3 motor_force(const glm::dvec3& force, double largest) {
  const double strength = glm::length(force);
  if (!std::isfinite(strength)) return glm::dvec3(0.0);
  return strength > largest ? largest / strength * force : force;
}

bool positive(double value) { return value > 0.0 && std::isfinite(value); }
bool not_negative(double value) { return value >= 0.0 && std::isfinite(value); }

}  // namespace

HapticState at_rest(const glm::dvec3& tip) {
  HapticState state;
  state.tip = state.hand = tip;
  return state;
}

HapticState hand_tick(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target,
                      const glm::dvec3& force, double dt) {
  HapticState next = state;
  next.felt_force = motor_force(force, params.contact.largest_force);
  const glm::dvec3 muscles = params.stiffness * (target - state.hand) - params.damping * state.hand_velocity;
  const glm::dvec3 grip = params.grip_stiffness * (state.hand - state.tip) +
                          params.grip_damping * (state.hand_velocity - state.velocity);  // force on the handle
  next.hand_velocity += dt / params.hand_mass * (muscles - grip);
  next.velocity += dt / params.handle_mass * (grip + next.felt_force);
  next.hand += dt * next.hand_velocity;
  next.tip += dt * next.velocity;
  ++next.ticks;
  return next;
}

double stable_wall(const HapticStubParams& params, double dt) {
  const double coupling = 2.0 * dt * params.grip_damping + dt * dt * params.grip_stiffness;
  const double hand = 4.0 * params.hand_mass - 2.0 * dt * params.damping - dt * dt * params.stiffness - coupling;
  if (!(hand > 0.0)) return -INFINITY;
  return (4.0 * params.handle_mass - coupling - coupling * coupling / hand) / (dt * dt);
}

std::string hand_fault(const HapticStubParams& params) {
  if (!positive(params.hand_mass) || !positive(params.handle_mass) || !positive(params.stiffness) ||
      !positive(params.grip_stiffness) || !positive(params.rate))
    return "the masses, stiffnesses and rate of the simulated hand must be greater than 0";
  if (!not_negative(params.damping) || !not_negative(params.grip_damping) ||
      params.damping + params.grip_damping == 0.0)
    return "the dampings of the simulated hand must not be negative, and one must be greater than 0";
  const double wall = stable_wall(params, 1.0 / params.rate), needed = params.contact.greatest_stiffness;
  if (wall > needed) return {};
  return fmt::format(
      "at {:.0f} ticks per second the simulated hand is stable up to {:.0f} N/m, but the contact may have {:.0f} N/m; "
      "raise its rate or masses",
      params.rate, std::max(wall, 0.0), needed);
}

double hand_energy(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target) {
  const glm::dvec3 stretch = target - state.hand, grip = state.hand - state.tip;
  return 0.5 * (params.hand_mass * glm::dot(state.hand_velocity, state.hand_velocity) +
                params.handle_mass * glm::dot(state.velocity, state.velocity) +
                params.stiffness * glm::dot(stretch, stretch) + params.grip_stiffness * glm::dot(grip, grip));
}

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

TipForce tip_force(const ToolPose& pose, const glm::vec3& force, const glm::vec3& torque) {
  const glm::dvec3 arm = pose.tip - pose.pivot, f(force), t(torque);
  const double depth = glm::length(arm);
  const glm::dvec3 along = arm / depth;
  return {glm::vec3(glm::dot(f, along) * along + glm::cross(t, along) / depth), static_cast<float>(glm::dot(t, along))};
}

}  // namespace trocar

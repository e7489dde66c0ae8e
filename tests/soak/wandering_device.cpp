#include "tests/soak/wandering_device.hpp"

#include <cmath>
#include <limits>

namespace trocar::soak {

WanderingDevice::WanderingDevice(const DevicePose& start, std::vector<glm::vec3> targets, const WanderParams& params)
    : start_(start), pose_(start), targets_(std::move(targets)), params_(params), random_(params.seed) {
  goals_ = {start.tip};
}

double WanderingDevice::uniform(double low, double high) {
  return low + (high - low) * (static_cast<double>(random_() >> 11) * 0x1p-53);
}

void WanderingDevice::choose_next() {
  constexpr double kLift = 0.05;     // m
  constexpr double kThrough = 0.04;  // 1, of the ways: straight to the next target, often through tissue
  const glm::dvec3 target = targets_[random_() % targets_.size()];
  const glm::dvec3 along = glm::normalize(target - pose_.pivot), now = glm::normalize(pose_.tip - pose_.pivot);
  goals_ = {target + uniform(-0.010, params_.gentle ? 0.006 : 0.012) * along};
  speed_ = params_.gentle ? 0.1 : uniform(0.02, 0.4);
  wait_ = static_cast<int>(uniform(0.0, 20.0));
  if (params_.gentle || uniform(0.0, 1.0) >= kThrough) {
    goals_.push_back(target - kLift * along);
    goals_.push_back(pose_.tip - kLift * now);
  }
  if (params_.gentle) return;
  const double least = ++grips_ <= params_.most_grips ? 0.0 : 0.5;
  pose_.grip = uniform(0.0, 1.0) < 0.5 ? least : uniform(least, 1.0);
  const double pedal = uniform(0.0, 1.0);
  pose_.energy = pedals(pedal < 0.2, pedal < 0.3);
}

void WanderingDevice::withdraw() {
  goals_ = {start_.tip};
  speed_ = 0.2;
  pose_.energy = Diathermy::Off;
  pose_.grip = 1.0;
  failing_ = 0;
  nonsense_ = false;
  health_ = DeviceHealth::Good;
}

void WanderingDevice::fail_or_recover() {
  if (failing_ > 0 && --failing_ == 0) {
    health_ = DeviceHealth::Good;
    nonsense_ = false;
  }
  if (failing_ > 0 || uniform(0.0, 1.0) >= params_.failure_chance) return;
  failing_ = static_cast<int>(uniform(1.0, 40.0));
  const double kind = uniform(0.0, 3.0);
  nonsense_ = kind < 1.0;
  if (!nonsense_) health_ = kind < 2.0 ? DeviceHealth::Stale : DeviceHealth::Lost;
}

DevicePose WanderingDevice::pose(const FrameClock& clock) {
  const double dt = clock.time - last_time_;
  last_time_ = clock.time;
  const bool withdrawing = clock.frame >= params_.withdraw_from;
  if (withdrawing)
    withdraw();
  else
    fail_or_recover();
  const glm::dvec3 offset = goals_.back() - pose_.tip;
  const double distance = glm::length(offset), step = speed_ * dt;
  pose_.tip = distance > step ? pose_.tip + offset * (step / distance) : goals_.back();
  if (distance <= step && goals_.size() > 1)
    goals_.pop_back();
  else if (distance <= step && !withdrawing && wait_-- <= 0)
    choose_next();
  pose_.roll_deg = 60.0 * std::sin(3.0 * clock.time);
  if (!nonsense_) return pose_;
  DevicePose nonsense = pose_;
  nonsense.tip.x = std::numeric_limits<double>::quiet_NaN();
  return nonsense;
}

}  // namespace trocar::soak

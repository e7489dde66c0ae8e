#include "app/window/practice/camera.hpp"

#include <algorithm>
#include <cmath>
#include <glm/gtc/matrix_transform.hpp>

#include "geometry/units.hpp"
#include "sim/scene/scope.hpp"

namespace trocar {
namespace {

// The tremor's sum has a root mean square of 1; the sway's peak is 1.
struct Sine {
  double share, frequency;  // 1, Hz
};
constexpr Sine kTremor[] = {{0.9, 8.3}, {0.8, 9.7}, {0.741, 11.9}};
constexpr Sine kSway[] = {{0.6, 0.061}, {0.4, 0.137}};

double sine_sum(std::span<const Sine> sines, double time, double phase) {
  double sum = 0.0;
  for (const Sine& sine : sines) sum += sine.share * std::sin(kFullTurn * sine.frequency * time + phase);
  return sum;
}

constexpr double kCentred = 0.15;  // of the dead zone: nearer to the middle the scope stops

glm::dvec3 eye_of(const RemoteCentre& centre, const Joints& joints) {
  return centre.pivot + joints.depth * direction_of(centre, joints);
}

ScopeAxes axes_at(const RemoteCentre& centre, const Joints& joints, double angle_deg) {
  return axes_of({centre.pivot, eye_of(centre, joints), joints.spin_deg, angle_deg});
}

// Returns the joints with which the picture's middle is at `aim` and the eye at this distance from it. An oblique view
// turns with the rod, so a few steps of the error's rotation find it.
Joints looking_at(const RemoteCentre& centre, Joints joints, double angle_deg, const glm::dvec3& aim, double distance) {
  for (int k = 0; k < 4; ++k) {
    const glm::dvec3 rod = direction_of(centre, joints), to_aim = aim - eye_of(centre, joints);
    const double length = glm::length(to_aim);
    if (!(length > 1e-4)) return joints;
    const glm::dvec3 forward = axes_at(centre, joints, angle_deg).forward, wanted = to_aim / length;
    const glm::dvec3 axis = glm::cross(forward, wanted);
    const double sine = glm::length(axis);
    if (sine > 1e-9) {
      // Turning the rod about its port also moves the eye, which adds to the turn of the view.
      const double turn = std::atan2(sine, glm::dot(forward, wanted)) * length / (length + joints.depth);
      joints =
          aimed(centre, joints, glm::dvec3(glm::rotate(glm::dmat4(1.0), turn, axis / sine) * glm::dvec4(rod, 0.0)));
    }
    joints.depth += glm::dot(glm::normalize(rod), wanted) * (length - distance);
  }
  return joints;
}

}  // namespace

AssistantParams assistant_params(CameraBy by) {
  AssistantParams params;
  if (by == CameraBy::Learning)
    params = {.delay = 0.5,
              .dead_zone = 0.02,
              .settle = 0.7,
              .speed = 0.08,
              .tremor = 0.0006,
              .horizon_deg = 6.0,
              .drift = 0.0015};
  if (by == CameraBy::Clumsy)
    params = {.delay = 0.9,
              .dead_zone = 0.03,
              .settle = 1.0,
              .speed = 0.06,
              .tremor = 0.0015,
              .horizon_deg = 15.0,
              .drift = 0.004};
  return params;
}

double horizon_at(const AssistantParams& params, double time) {
  return params.horizon_deg * sine_sum(kSway, time, 0.0);
}

glm::dvec2 tremor_at(const AssistantParams& params, double time) {
  return params.tremor * glm::dvec2(sine_sum(kTremor, time, 0.0), sine_sum(kTremor, time, 2.1));
}

// Returns the tip as it was `delay` ago; the oldest that is known where that is later.
glm::dvec3 CameraAssistant::seen_tip(const glm::dvec3& now) {
  newest_ = (newest_ + 1) % seen_.size();
  seen_[newest_] = {time_, now};
  kept_ = std::min(kept_ + 1, seen_.size());
  for (std::size_t k = 0; k < kept_; ++k) {
    const Seen& one = seen_[(newest_ + seen_.size() - k) % seen_.size()];
    if (one.time <= time_ - params_.delay || k + 1 == kept_) return one.tip;
  }
  return now;
}

Joints CameraAssistant::advance(const Sight& sight, double elapsed) {
  if (!(elapsed > 0.0)) return sight.joints;
  time_ += elapsed;
  Joints joints = sight.joints;
  const glm::dvec3 forward = axes_at(sight.centre, joints, sight.angle_deg).forward, eye = eye_of(sight.centre, joints);
  if (!began_) {
    const double ahead = sight.has_tip ? glm::dot(sight.tip - eye, forward) : params_.distance;
    distance_ = params_.distance > 0.0 ? params_.distance : std::max(ahead, 0.02);
    aim_ = eye + std::max(ahead, 0.02) * forward;
    began_ = true, follows_ = false, kept_ = 0;
  }
  if (!sight.has_tip) return joints;
  const glm::dvec3 off = seen_tip(sight.tip) - aim_;
  // Along the view the tip may leave the aim twice as far: depth is hard to see.
  const double aside = glm::length(off - glm::dot(off, forward) * forward), along = std::abs(glm::dot(off, forward));
  const double away = std::max(aside, 0.5 * along);
  follows_ = away > (follows_ ? kCentred : 1.0) * params_.dead_zone;
  if (follows_) {
    const glm::dvec3 step = (1.0 - std::exp(-elapsed / params_.settle)) * off;
    const double length = glm::length(step), most = params_.speed * elapsed;
    aim_ += length > most ? most / length * step : step;
  } else {
    aim_ -= params_.drift * elapsed * axes_at(sight.centre, joints, sight.angle_deg).up;
  }
  // A scope that keeps still keeps its distance too.
  const double distance = follows_ ? distance_ : glm::length(aim_ - eye);
  joints = looking_at(sight.centre, joints, sight.angle_deg, aim_, distance);
  const glm::dvec2 shake = tremor_at(params_, time_);
  const ScopeAxes axes = axes_at(sight.centre, joints, sight.angle_deg);
  const glm::dvec3 rod = joints.depth * direction_of(sight.centre, joints);
  return aimed(sight.centre, joints, rod + shake.x * axes.right + shake.y * axes.up);
}

double fog_after(const FogParams& params, double since_wiped) {
  const double damp = std::max(since_wiped - params.dry, 0.0);
  return params.densest * (1.0 - std::exp(-damp / params.time));
}

void LensCare::wipe() {
  if (!is_wiping()) phase_ = Phase::Leaving;
}

void LensCare::advance(double elapsed, bool fogs, MouseDevice* scope) {
  constexpr double kMoves = 0.5;  // s  a scope that the hands cannot move gets dark in this time
  const bool leaves = phase_ == Phase::Leaving || phase_ == Phase::Wiping;
  if (is_wiping() && scope)
    way_ = scope->way();
  else
    way_ = std::clamp(way_ + (leaves ? elapsed : -elapsed) / kMoves, 0.0, 1.0);
  switch (phase_) {
    case Phase::Used:
      since_wiped_ = fogs ? since_wiped_ + elapsed : 0.0;
      return;
    case Phase::Leaving:
      if (scope) scope->withdraw(0.0);
      since_begun_ = 0.0;
      if (way_ >= 1.0) phase_ = Phase::Wiping;
      return;
    case Phase::Wiping:
      since_begun_ += elapsed;
      if (since_begun_ < params_.wiping) return;
      since_wiped_ = 0.0;
      if (scope) scope->bring_in();
      phase_ = Phase::Coming;
      return;
    case Phase::Coming:
      if (way_ <= 0.0) phase_ = Phase::Used;
      return;
  }
}

}  // namespace trocar

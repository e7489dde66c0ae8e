#include "sim/task/tremor_watch.hpp"

#include <algorithm>
#include <cmath>
#include <glm/gtc/constants.hpp>
#include <limits>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

constexpr double kSmoothing = 0.1;  // s   time constant of the speed

// Quality factors of the two sections of a fourth-order Butterworth filter, 1 / (2 cos(pi / 8)) and 1 / (2 cos(3 pi /
// 8)).
constexpr std::array<double, 2> kQuality = {0.541196100146197, 1.306562964876377};

}  // namespace

void TremorFilter::begin(const glm::dvec3& at) {
  start_ = at;
  sections_ = {};
}

glm::dvec3 TremorFilter::step(const glm::dvec3& at, double dt) {
  const double k = elementary::tan(glm::pi<double>() * kLowest * dt);
  glm::dvec3 value = at - start_;
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    const double scale = 1.0 / (1.0 + k / kQuality[s] + k * k);
    const glm::dvec3 out = scale * value + sections_[s].first;
    sections_[s].first = -2.0 * scale * value - 2.0 * (k * k - 1.0) * scale * out + sections_[s].second;
    sections_[s].second = scale * value - (1.0 - k / kQuality[s] + k * k) * scale * out;
    value = out;
  }
  return value;
}

TremorWatch::TremorWatch(const TaskScene& task, const TaskStage& stage)
    : most_(task.most_tremor),
      worst_((stage.earlier_grades ? 3.0 : 2.0) * task.most_tremor),
      of_scope_(task.kind == TaskKind::NavigateCamera) {
  if (!of_scope_) tools_ = tools_of(task, stage);
  hands_.resize(of_scope_ ? 1 : tools_.size());
}

void TremorWatch::step(const Observation& seen, double dt) {
  if (most_ <= 0.0) return;
  if (of_scope_) follow(hands_[0], seen.scope.eye, dt);
  for (std::size_t k = 0; k < tools_.size(); ++k) follow(hands_[k], seen.tools[tools_[k]].pose.tip, dt);
}

void TremorWatch::follow(Hand& hand, const glm::dvec3& tip, double dt) {
  if (!hand.begun || dt > kLongestStep) {
    hand.filter.begin(tip);
    hand.smooth = tip, hand.slow = 0.0, hand.begun = true;
    return;
  }
  const glm::dvec3 fast = hand.filter.step(tip, dt);
  hand.smooth += (1.0 - elementary::exp(-dt / kSmoothing)) * (tip - hand.smooth);
  const bool slow = glm::distance(tip, hand.smooth) < kSlow * kSmoothing;
  hand.slow = slow ? hand.slow + dt : 0.0;
  if (hand.slow < kSettled) return;
  hand.squares += glm::dot(fast, fast) * dt, hand.measured += dt;
}

double TremorWatch::rms() const {
  double most = std::numeric_limits<double>::quiet_NaN();
  for (const Hand& hand : hands_)
    if (hand.measured >= kEnough) most = std::fmax(most, std::sqrt(hand.squares / hand.measured));
  return most;
}

void TremorWatch::add_metrics(PartList& parts) const {
  if (most_ > 0.0)
    parts.add("task_tremor", "Tremor above 5 Hz while slow", "mm", rms() * 1e3, most_ * 1e3, worst_ * 1e3);
}

}  // namespace trocar

#include "tests/mouse/mouse_attempt.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace trocar::test {
namespace {

PracticePlan plan_in(const std::filesystem::path& folder) {
  PracticePlan plan;
  plan.backend = "scan", plan.folder = folder;
  return plan;
}

// The pixels and notches make the hand unsteady enough.
HandStyle steady() {
  HandStyle style = style_of(Skill::Expert);
  style.tremor = style.sway = 0.0;
  return style;
}

}  // namespace

MouseAttempt::MouseAttempt(const Scene& scene, std::uint32_t seed, const std::filesystem::path& folder)
    : picture_(1.0 / scene.frame_rate),
      practice_(scene, plan_in(folder), nullptr),
      expert_(scene, steady(), seed),
      hand_(scene) {
  for (const InstrumentScene& instrument : scene.instruments) wanted_.push_back(expert_.device_of(instrument.name));
  expert_.begin(stage_of(practice_.session()), practice_.task()->marks());
  practice_.start();
  practice_.advance({}, picture_, {});
}

bool MouseAttempt::step() {
  if (practice_.phase() != Phase::Running) return false;
  expert_.see(observer_.observe(practice_.session(), practice_.time()), practice_.task()->feed());
  std::vector<DevicePose> poses;
  for (const auto& device : wanted_) poses.push_back(device->pose({}));
  const ScopeAxes axes = axes_of(practice_.session().scope().pose);
  if (hand_.in_hand() != practice_.hands().in_hand()) throw std::logic_error("another instrument is in the hand");
  const WindowInput input = hand_.reach(poses, axes);
  hand_.felt(input, axes, picture_);
  if (std::ranges::count(input.pressed, Key::Tab) > 0) practice_.hands().take_next();
  count(input);
  practice_.advance(input, picture_, {});
  return practice_.phase() == Phase::Running;
}

void MouseAttempt::count(const WindowInput& input) {
  ++counts_.pictures;
  counts_.tabs += input.pressed.size();
  counts_.presses += input.left_button && !was_down_;
  counts_.notches += static_cast<std::size_t>(std::abs(input.wheel));
  counts_.pixels += glm::length(input.pointer_motion);
  was_down_ = input.left_button;
}

}  // namespace trocar::test

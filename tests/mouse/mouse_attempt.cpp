#include "tests/mouse/mouse_attempt.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace trocar::test {
namespace {

std::unique_ptr<Practice> practice_in(const std::filesystem::path& folder, const Scene& scene, GlContext* window) {
  PracticePlan plan;
  plan.backend = "scan", plan.folder = folder;
  return std::make_unique<Practice>(scene, plan, window);
}

// The pixels and notches make the hand unsteady enough.
HandStyle steady() {
  HandStyle style = style_of(Skill::Expert);
  style.tremor = style.sway = 0.0;
  return style;
}

}  // namespace

MouseAttempt::MouseAttempt(const Scene& scene, std::uint32_t seed, const std::filesystem::path& folder,
                           GlContext* window)
    : tick_(1.0 / scene.frame_rate),
      screen_(practice_in(folder, scene, window), settings_, ghost_, folder, window),
      expert_(scene, steady(), seed),
      hand_(scene) {
  settings_.quality = Quality::Low;
  hand_.take(practice().hands().in_hand());
  for (const InstrumentScene& instrument : scene.instruments) wanted_.push_back(expert_.device_of(instrument.name));
  expert_.begin(stage_of(practice().session()), practice().task()->marks());
}

WindowInput MouseAttempt::next_input() {
  if (hand_.in_hand() != practice().hands().in_hand()) throw std::logic_error("another instrument is in the hand");
  Session& session = practice().session();
  if (session.frames() > frames_) expert_.see(observer_.observe(session, practice().time()), practice().task()->feed());
  frames_ = session.frames();
  std::vector<DevicePose> poses;
  for (const auto& device : wanted_) poses.push_back(device->pose({}));
  return hand_.reach(poses, axes_of(session.scope().pose));
}

bool MouseAttempt::step(const WindowInput& arrived, double elapsed) {
  const ScopeAxes axes = axes_of(practice().session().scope().pose);
  count(arrived);
  screen_.step(arrived, elapsed, true);
  hand_.felt(arrived, axes, double(practice().session().frames() - frames_) * tick_);
  return practice().phase() == Phase::Running;
}

void MouseAttempt::count(const WindowInput& input) {
  ++counts_.pictures;
  counts_.tabs += static_cast<std::size_t>(std::ranges::count(input.pressed, Key::Tab));
  counts_.presses += input.left_button && !was_down_;
  counts_.notches += static_cast<std::size_t>(std::abs(input.wheel));
  counts_.pixels += glm::length(input.pointer_motion);
  was_down_ = input.left_button;
}

}  // namespace trocar::test

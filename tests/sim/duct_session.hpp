// Provides a session with a duct, a clip applier and scissors, which a test moves.   Units: metres.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>

#include "app/compare/backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/scene_text.hpp"
#include "tests/sim/session_support.hpp"

namespace trocar::test {

// A duct along x, attached at one end and pulled at the other, an applier and scissors above it.
inline constexpr const char* kDuctScene = R"([[organ]]
name = "duct"
[organ.tube]
path_mm = [[0, 0, 0], [20, 0, 0], [50, 0, 0]]
radius_mm = 2
[organ.tissue]
youngs_modulus = 60000
density = 20000
damping_ms = 0.1
node_spacing_mm = 4
friction = 0.8
[[organ.attachment]]
centre_mm = [0, 0, 0]
radius_mm = 5
[[band]]
name = "pull"
organ = "duct"
from_start_mm = [49, -1, 0]
from_end_mm = [49, 1, 0]
to_start_mm = [89, -1, 0]
to_end_mm = [89, 1, 0]
strands = 4
modulus = 100000
section_mm2 = 10
rest_strain = 0.25
break_strain = 2
[[instrument]]
name = "applier"
kind = "clip-applier"
pivot_mm = [15, 0, 150]
tip_mm = [15, 0, 60]
radius_mm = 2.5
[instrument.limits]
widest_grip_deg = 40
[instrument.clip]
length_mm = 8.5
magazine = 20
holds_n = 8
[[instrument]]
name = "scissors"
kind = "scissors"
pivot_mm = [25, 0, 150]
tip_mm = [25, 0, 60]
radius_mm = 2.5
)";

class DuctSession : public SceneText {
 protected:
  DuctSession() : SceneText(kDuctScene) {}

  void start(const std::string& scene) {
    scene_ = load(scene);
    pose_.clear();
    frame_ = 0;
    session_ = std::make_unique<Session>(scene_, backends_, "scan", std::vector<CheckPlan>{},
                                         [this](const InstrumentScene& instrument) {
                                           pose_.push_back({instrument.pivot, instrument.tip, 0.0, 1.0});
                                           return std::make_unique<PosedDevice>(&pose_.back());
                                         });
  }
  void run(int frames) {
    for (int k = 0; k < frames; ++k, ++frame_) {
      session_->step({frame_, double(frame_) * kFrame}, kFrame);
      if (after_frame_) after_frame_(frame_);
    }
  }
  void move(std::size_t tool, double x, double z) {
    DevicePose& pose = pose_[tool];
    pose.pivot.x = pose.tip.x = x;
    for (const double step = 1e-3; std::abs(pose.tip.z - z) > 0.5 * step; run(1))
      pose.tip.z += pose.tip.z < z ? step : -step;
  }
  void grip(std::size_t tool, double aperture) {
    for (double& grip = pose_[tool].grip; std::abs(grip - aperture) > 0.01; run(1))
      grip += std::clamp(aperture - grip, -0.05, 0.05);
  }
  // Moves the open instrument to the duct at `x`, closes it, opens it and withdraws it.
  void use(std::size_t tool, double x, double z, double aperture) {
    move(tool, x, 0.04);
    grip(tool, aperture);
    move(tool, x, z);
    grip(tool, 0.0);
    run(3);
    grip(tool, 1.0);
    move(tool, x, 0.04);
    run(20);
  }
  void clip(double x) { use(0, x, -0.002, 1.0); }
  // Widely open blades would push the duct away.
  void cut(double x) { use(1, x, -0.006, 0.5); }
  const Organ& duct() const { return session_->organs()[0]; }
  // Returns the height of the duct around x, m.
  double thickness(double x) const {
    float low = INFINITY, high = -INFINITY;
    for (const glm::vec3& p : duct().positions)
      if (std::abs(double(p.x) - x) < 2e-3) low = std::min(low, p.y), high = std::max(high, p.y);
    return double(high - low);
  }
  const SessionClips& clips() const { return session_->clips(); }

  Scene scene_;
  std::deque<DevicePose> pose_;                     // [instrument]
  std::function<void(std::uint64_t)> after_frame_;  // called with the number of each frame
  Backends backends_;
  std::uint64_t frame_ = 0;
  std::unique_ptr<Session> session_;
};

}  // namespace trocar::test

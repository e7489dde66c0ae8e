// Provides a session with a duct, a clip applier and scissors, which a test moves.   Units: metres.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/scene/scene_text.hpp"
#include "tests/sim/session/session_support.hpp"

namespace trocar::test {

// A duct along x, attached at one end and pulled along x at the other by a band.
inline constexpr const char* kPulledDuct = R"(schema = 2
[[organ]]
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
)";

// An applier and scissors above the duct.
inline constexpr const char* kApplierAndScissors = R"([[instrument]]
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

inline constexpr const char* kVesselTable = "[organ.vessel]\nrate_ml_min = 40\nhalf_time_s = 20\n";

// Returns the text of a scene with the pulled duct.
inline std::string duct_with(const std::string& instruments) { return kPulledDuct + instruments; }
inline std::string duct_scene() { return duct_with(kApplierAndScissors); }

// Makes the duct of a scene a vessel. `keys`: of its table.
inline std::string with_vessel(std::string scene, const std::string& keys = "") {
  return scene.insert(scene.find("[[band]]"), kVesselTable + keys);
}

// An instrument above the start of the duct. `kind`: also its name.
inline std::string above_start(const std::string& kind) {
  return "[[instrument]]\nname = \"" + kind + "\"\nkind = \"" + kind +
         "\"\npivot_mm = [10, 0, 150]\ntip_mm = [10, 0, 70]\nradius_mm = 2.5\n";
}

// Returns a session with every instrument at `pose`.
inline std::unique_ptr<Session> posed_session(const Scene& scene, CpuBackends& backends, const DevicePose& pose) {
  return std::make_unique<Session>(scene, backends, "scan", std::vector<CheckPlan>{},
                                   [&pose](const InstrumentScene&) { return std::make_unique<PosedDevice>(&pose); });
}

class DuctSession : public SceneText {
 protected:
  struct Saved {
    std::vector<std::byte> block;
    std::deque<DevicePose> pose;  // [instrument]
    std::uint64_t frame;
  };

  DuctSession() : SceneText(duct_scene()) {}

  void start(const std::string& scene) {
    scene_ = load(scene);
    open_session();
  }
  Saved save() const { return {session_->save(), pose_, frame_}; }
  // Continues in a fresh session of the same scene.
  void restore(const Saved& saved) {
    open_session();
    session_->restore(saved.block);
    std::copy(saved.pose.begin(), saved.pose.end(), pose_.begin());
    frame_ = saved.frame;
  }
  void open_session() {
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
  CpuBackends backends_;
  std::uint64_t frame_ = 0;
  std::unique_ptr<Session> session_;
};

}  // namespace trocar::test

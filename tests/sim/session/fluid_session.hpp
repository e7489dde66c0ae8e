// Provides a session with a duct that bleeds when it is cut, and a suction tube, which a test moves.   Units: metres.
#pragma once

#include "tests/sim/session/duct_session.hpp"

namespace trocar::test {

class FluidOnADuct : public DuctSession {
 protected:
  static std::string bleeding(const std::string& keys = "") {
    return with_vessel(duct_scene()) + above_start("suction") + "[instrument.suction]\n" + keys;
  }
  const FluidAmounts& amounts() const { return session_->film().amounts(); }
  double of(FilmFluid fluid) const {
    const auto k = static_cast<std::size_t>(fluid);
    return amounts().on[k] + amounts().dripped[k] + amounts().removed[k];
  }
  void expect_nothing_lost() const {
    const double lost = session_->bleeding().lost()[0].blood;
    EXPECT_NEAR(of(FilmFluid::Blood), lost, 1e-9 * lost + 1e-18);
    EXPECT_NEAR(of(FilmFluid::Water), amounts().rinsed, 1e-9 * amounts().rinsed + 1e-18);
    EXPECT_EQ(of(FilmFluid::Bile), 0.0);
  }
  void pump(Diathermy pedal, int frames, float above = 0.001f) {
    pose_[2].energy = pedal;
    for (int k = 0; k < frames; ++k) {
      const glm::dvec3 at(duct().positions[session_->bleeding().sources()[0].vertex]);
      pose_[2].pivot = at + glm::dvec3(0, 0, 0.12), pose_[2].tip = at + glm::dvec3(0, 0, 0.004 + double(above));
      run(1);
    }
    pose_[2].energy = Diathermy::Off;
  }
};

}  // namespace trocar::test

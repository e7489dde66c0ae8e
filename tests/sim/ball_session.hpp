// Provides a session with a ball and a tool that dips into it.   Units: metres, seconds.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "sim/device/trajectory.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/ball_scene.hpp"
#include "tests/sim/session_support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar::test {

// A ball of 5 cm radius with its far half fixed, and one tool that dips into it from above.
class BallScene : public ::testing::Test {
 protected:
  BallScene() { scene_ = load_scene(write_ball_scene(folder_)); }

  static std::unique_ptr<Device> script(const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, "explore", 0.012, 0.008, 2.0});
  }

  Session make_session(const std::vector<CheckPlan>& checks = {}, const Session::DeviceMaker& maker = script) {
    return Session(scene_, backends_, "scan", checks, maker);
  }

  static void run(Session& session, std::size_t first, std::size_t count) {
    for (std::size_t frame = first; frame < first + count; ++frame) {
      session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
    }
  }

  TemporaryFolder folder_;
  Scene scene_;
  CpuBackends backends_;
};

}  // namespace trocar::test

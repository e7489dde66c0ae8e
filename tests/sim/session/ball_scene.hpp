// Writes the scene that many tests of sessions use: a ball of 5 cm radius whose lower part is fixed, and a scripted
// probe that points down at it. Units: millimetres in the scene.
#pragma once

#include <gtest/gtest.h>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "mesh/mesh_io.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar::test {

struct BallParams {
  int subdivisions = 4;          //     of the icosphere
  int node_spacing = 10;         // mm
  int tip = 48;                  // mm  height of the probe's tip; the ball's top is at 50
  const char* more_organs = "";  //     TOML, between the ball and the probe
  const char* more_tools = "";   //     TOML, after the probe
};

// Writes the mesh and the scene into `folder`. Returns the scene's file.
inline std::filesystem::path write_ball_scene(const TemporaryFolder& folder, const BallParams& params = {}) {
  save_mesh(shapes::icosphere(params.subdivisions, 0.05f), folder.path() / "ball.obj");
  return folder.write("ball.toml", R"(schema = 2
[[organ]]
name = "ball"
mesh = "ball.obj"
[organ.tissue]
node_spacing_mm = )" + std::to_string(params.node_spacing) +
                                       R"(
[[organ.attachment]]
centre_mm = [0, 0, -45]
radius_mm = 30
)" + params.more_organs + R"([[instrument]]
name = "probe"
pivot_mm = [0, 20, 150]
tip_mm = [0, 0, )" + std::to_string(params.tip) +
                                       R"(]
radius_mm = 3
device = "script"
)" + params.more_tools);
}

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

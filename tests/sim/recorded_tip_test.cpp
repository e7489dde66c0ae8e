// Tests that a session reports and records a tip inside tissue.
#include <gtest/gtest.h>

#include "mesh/mesh_io.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/session_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

// An instrument that jumps into an organ between two frames, as a device may cause.
class Leap final : public Device {
 public:
  explicit Leap(const InstrumentScene& scene) : scene_(scene) {}
  DevicePose pose(const FrameClock& clock) override {
    DevicePose pose;
    pose.pivot = scene_.pivot;
    pose.tip = clock.frame < 5 ? scene_.tip : glm::dvec3(0.0);
    return pose;
  }

 private:
  InstrumentScene scene_;
};

TEST(TipWatch, SessionReportsAndRecords) {
  const TemporaryFolder folder;
  save_mesh(shapes::icosphere(3, 0.05f), folder.path() / "ball.obj");
  const Scene scene = load_scene(folder.write(
      "s.toml",
      "[[organ]]\nname = \"ball\"\nmesh = \"ball.obj\"\n[organ.tissue]\nnode_spacing_mm = 10\n[[organ.attachment]]\n"
      "centre_mm = [0, 0, -45]\nradius_mm = 20\n[[instrument]]\nname = \"probe\"\npivot_mm = [0, 10, 150]\n"
      "tip_mm = [0, 0, 70]\nradius_mm = 2\ndevice = \"script\"\nscript = \"explore\"\n"));
  CpuBackends backends;
  Session session(scene, backends, "scan", {},
                  [](const InstrumentScene& instrument) { return std::make_unique<Leap>(instrument); });
  const auto file = folder.path() / "s.h5";
  std::vector<float> told;
  {
    SessionRecorder recorder(recording_file(file), scene, session, "none");
    for (std::size_t frame = 0; frame < 10; ++frame) {
      session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
      recorder.append(session, static_cast<double>(frame) * kFrame);
      told.push_back(session.buried_tips()[0] ? session.buried_tips()[0]->depth : 0.f);
    }
    recorder.close();
  }
  EXPECT_EQ(told[4], 0.f);
  EXPECT_GT(told[5], 0.02f);
  const Recording recording(file);
  for (std::size_t frame = 0; frame < told.size(); ++frame) EXPECT_EQ(recording.tip_depth(frame, 0), told[frame]);
}

}  // namespace
}  // namespace trocar

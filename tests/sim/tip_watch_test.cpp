// Tests tips inside organs: depth and shortest path out of balls, overlapping organs, changing faces, and a session
// that shows and records a tip inside tissue.
#include "sim/session/tip_watch.hpp"

#include <gtest/gtest.h>

#include "app/compare/backends.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/session_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

Organ organ_of(TriangleMesh mesh) {
  Organ organ;
  organ.positions = mesh.positions;
  organ.mesh = std::move(mesh);
  organ.box = {glm::vec3(1e30f), glm::vec3(-1e30f)};
  for (const glm::vec3& p : organ.positions) {
    organ.box.low = glm::min(organ.box.low, p);
    organ.box.high = glm::max(organ.box.high, p);
  }
  return organ;
}

TEST(TipWatch, DepthInABall) {
  std::vector<Organ> organs;
  organs.push_back(organ_of(shapes::icosphere(4, 0.1f)));
  TipWatch watch;
  const glm::dvec3 tips[] = {{0.0, 0.0, 0.07}, {0.0, 0.0, 0.12}, {0.3, 0.0, 0.0}, {0.09, 0.09, 0.0}};
  watch.look(organs, tips);
  ASSERT_EQ(watch.buried().size(), 4u);
  ASSERT_TRUE(watch.buried()[0]);
  EXPECT_NEAR(watch.buried()[0]->depth, 0.03f, 5e-4f);
  EXPECT_GT(watch.buried()[0]->out.z, 0.99f);
  for (int k = 1; k < 4; ++k) EXPECT_FALSE(watch.buried()[k]) << k;  // the last one is in the box, not in the ball
}

TEST(TipWatch, DeepestOfSeveralOrgans) {
  std::vector<Organ> organs;
  organs.push_back(organ_of(shapes::icosphere(3, 0.1f)));
  organs.push_back(organ_of(shapes::icosphere(3, 0.1f, {0.08f, 0.f, 0.f})));
  TipWatch watch;
  const glm::dvec3 tips[] = {{0.06, 0.0, 0.0}};
  watch.look(organs, tips);
  ASSERT_TRUE(watch.buried()[0]);
  EXPECT_EQ(watch.buried()[0]->organ, 1u);
}

// The tree follows positions, and new faces when the organ's topology number changes.
TEST(TipWatch, FollowsTheOrgan) {
  std::vector<Organ> organs;
  organs.push_back(organ_of(shapes::icosphere(3, 0.1f)));
  TipWatch watch;
  const glm::dvec3 tips[] = {{0.0, 0.0, 0.05}};
  watch.look(organs, tips);
  EXPECT_TRUE(watch.buried()[0]);
  for (glm::vec3& p : organs[0].positions) p.z -= 0.06f;
  watch.look(organs, tips);
  EXPECT_FALSE(watch.buried()[0]);
  const std::uint32_t topology = organs[0].topology;
  organs[0] = organ_of(shapes::torus(40, 20, 0.1f, 0.03f));
  organs[0].topology = topology + 1;
  const glm::dvec3 in_the_ring[] = {{0.1, 0.0, 0.0}}, in_the_hole[] = {{0.0, 0.0, 0.0}};
  watch.look(organs, in_the_ring);
  ASSERT_TRUE(watch.buried()[0]);
  EXPECT_NEAR(watch.buried()[0]->depth, 0.03f, 1e-3f);
  watch.look(organs, in_the_hole);
  EXPECT_FALSE(watch.buried()[0]);
}

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
  Backends backends;
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

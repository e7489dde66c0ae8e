// Tests that colliding instruments are reported, shown and recorded.
#include <gtest/gtest.h>

#include "app/window/practice/hud.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/session/instrument_clash.hpp"
#include "tests/sim/encounter_scene.hpp"

namespace trocar {
namespace {

using test::EncounterScene;

TEST_F(EncounterScene, CollidingInstrumentsAreReportedShownAndRecorded) {
  const auto file = folder_.path() / "s.h5";
  std::vector<InstrumentClash> told;
  {
    const Scene made = scene();
    Session session(made, backends_, "scan", {}, script);
    SessionRecorder recorder(recording_file(file), made, session, "none");
    for (std::size_t frame = 0; frame < 60; ++frame) {
      session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
      recorder.append(session, static_cast<double>(frame) * kFrame);
      const auto clashes = session.clashes();
      ASSERT_EQ(clashes.size(), 1u) << "frame " << frame;
      const auto& tools = session.instruments();
      const InstrumentClash again = clash_of(0, tools[0].pose, 2, tools[2].pose);
      EXPECT_EQ(clashes[0].first, 0u);
      EXPECT_EQ(clashes[0].second, 2u);
      EXPECT_EQ(clashes[0].distance, again.distance);
      EXPECT_EQ(clashes[0].point, again.point);
      EXPECT_EQ(deepest_clash(clashes) != nullptr, again.distance < 0.0);
      told.push_back(again);
    }
    recorder.close();
  }
  const Recording recording(file);
  for (std::size_t frame = 0; frame < told.size(); ++frame) {
    const auto clash = recording.clash(frame, 0, 2);
    ASSERT_TRUE(clash);
    EXPECT_EQ(clash->distance, static_cast<float>(told[frame].distance));
    EXPECT_EQ(clash->point, glm::vec3(told[frame].point));
    EXPECT_EQ(recording.clash(frame, 2, 0)->distance, clash->distance);
    EXPECT_FALSE(recording.clash(frame, 0, 1));
    EXPECT_FALSE(recording.clash(frame, 1, 2));
  }
}

TEST(DeepestClash, NullWithoutACollision) {
  EXPECT_EQ(deepest_clash({}), nullptr);
  const InstrumentClash apart{0, 1, 0.001, {}}, touching{0, 2, 0.0, {}}, in{1, 2, -0.001, {}}, deep{0, 3, -0.002, {}};
  const InstrumentClash none[] = {apart, touching}, some[] = {apart, in, deep, touching};
  EXPECT_EQ(deepest_clash(none), nullptr);
  ASSERT_NE(deepest_clash(some), nullptr);
  EXPECT_EQ(deepest_clash(some)->second, 3u);
}

}  // namespace
}  // namespace trocar

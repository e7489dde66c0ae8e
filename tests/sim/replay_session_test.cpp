// Tests a session that replays the recording of another one: the same poses and touched faces at the same frame rate,
// the same motion at another frame rate.
#include <gtest/gtest.h>

#include "app/compare/backends.hpp"
#include "geometry/error.hpp"
#include "sim/device/replay_device.hpp"
#include "sim/device/script_device.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/recorded_frames.hpp"
#include "tests/sim/ball_scene.hpp"
#include "tests/sim/session_support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

constexpr std::size_t kFrames = 90;

// The state of a session in one frame.
struct Shown {
  DevicePose probe, hook;
  glm::dvec3 eye;
  std::vector<Touch> touches;
  glm::vec3 force;
};

class TwoTools : public ::testing::Test {
 protected:
  TwoTools() {
    scene_ = load_scene(test::write_ball_scene(folder_, {.more_tools = R"([[instrument]]
name = "hook"
pivot_mm = [90, 60, 120]
tip_mm = [30, 25, 30]
radius_mm = 2.5
device = "script"
)"}));
  }

  static Shown shown(const Session& session) {
    const auto pose = [&](std::size_t k) {
      const Instrument& i = session.instruments()[k];
      return DevicePose{i.pose.pivot, i.pose.tip, i.roll_deg, i.grip, i.energy};
    };
    const auto touches = session.organs()[0].touches.touches;
    return {
        pose(0), pose(1), session.scope().pose.eye, {touches.begin(), touches.end()}, session.instruments()[0].force};
  }

  std::vector<Shown> run(Session& session, double rate, SessionRecorder* recorder) {
    std::vector<Shown> frames;
    for (std::size_t frame = 0; static_cast<double>(frame) / rate < kFrames * kFrame - 1e-9; ++frame) {
      const double time = static_cast<double>(frame) / rate;
      session.step({frame, time}, 1.0 / rate);
      if (recorder) recorder->append(session, time);
      frames.push_back(shown(session));
    }
    return frames;
  }

  std::vector<Shown> record(const std::filesystem::path& file) {
    Session session(scene_, backends_, "scan", {}, [](const InstrumentScene& instrument) {
      const bool probe = instrument.name == "probe";
      return make_script_device({instrument.pivot, instrument.tip, probe ? "explore" : "pull", 0.012, 0.008, 1.3});
    });
    session.set_scope_device(make_script_device({session.scope().pose.port, session.scope().pose.eye, "explore"}));
    SessionRecorder recorder(recording_file(file), scene_, session, "none");
    const auto frames = run(session, 60.0, &recorder);
    recorder.close();
    return frames;
  }

  std::vector<Shown> replay(const std::filesystem::path& file, double rate) {
    Session session(scene_, backends_, "scan", {}, [&](const InstrumentScene& instrument) {
      return make_replay_device(load_motion(file, "", instrument.name));
    });
    session.set_scope_device(make_replay_device(load_scope_motion(file)));
    return run(session, rate, nullptr);
  }

  TemporaryFolder folder_;
  Scene scene_;
  Backends backends_;
};

void expect_same(const DevicePose& one, const DevicePose& other) {
  EXPECT_EQ(one.pivot, other.pivot);
  EXPECT_EQ(one.tip, other.tip);
  EXPECT_EQ(one.roll_deg, other.roll_deg);
  EXPECT_EQ(one.grip, other.grip);
  EXPECT_EQ(one.energy, other.energy);
}

TEST_F(TwoTools, TheSameFrameRateRepeatsTheFrames) {
  const auto file = folder_.path() / "first.h5";
  const auto first = record(file), again = replay(file, 60.0);
  ASSERT_EQ(first.size(), kFrames);
  ASSERT_EQ(again.size(), kFrames);
  std::size_t touches = 0;
  for (std::size_t frame = 0; frame < kFrames; ++frame) {
    SCOPED_TRACE(frame);
    expect_same(first[frame].probe, again[frame].probe);
    expect_same(first[frame].hook, again[frame].hook);
    EXPECT_EQ(first[frame].eye, again[frame].eye);
    EXPECT_EQ(first[frame].force, again[frame].force);
    ASSERT_EQ(first[frame].touches.size(), again[frame].touches.size());
    for (std::size_t k = 0; k < first[frame].touches.size(); ++k) {
      EXPECT_EQ(first[frame].touches[k].face, again[frame].touches[k].face);
      EXPECT_EQ(first[frame].touches[k].depth, again[frame].touches[k].depth);
    }
    touches += first[frame].touches.size();
  }
  EXPECT_GT(touches, 200u);
}

TEST_F(TwoTools, HalfTheFrameRateTakesEverySecondPose) {
  const auto file = folder_.path() / "first.h5";
  const auto first = record(file), slow = replay(file, 30.0);
  ASSERT_EQ(slow.size(), kFrames / 2);
  for (std::size_t frame = 0; frame < slow.size(); ++frame) {
    expect_same(first[2 * frame].probe, slow[frame].probe);
    EXPECT_EQ(first[2 * frame].eye, slow[frame].eye);
  }
}

TEST_F(TwoTools, AMissingInstrumentIsRefused) {
  const auto file = folder_.path() / "first.h5";
  record(file);
  EXPECT_EQ(load_motion(file, "hook", "probe").rows.front().pivot.x, 0.09);
  try {
    load_motion(file, "", "stapler");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("set source to one of: probe, hook"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace trocar

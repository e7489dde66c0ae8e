// Tests that a recording holds the reference's sample, and that it gives the touched faces again.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "app/compare/backends.hpp"
#include "app/replay/replay.hpp"
#include "app/window/practice/hud.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/link/igtl_device.hpp"
#include "sim/link/igtl_server.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/recorded_frames.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/organ_queries.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/session/ball_scene.hpp"
#include "tests/sim/session/near_pairs_scene.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

using test::BallScene;

TEST_F(BallScene, TheSampleIsRecorded) {
  Session session = make_session({});
  SessionRecorder recorder(recording_file(folder_.path() / "sample.h5"), scene_, session, "none");
  for (std::size_t frame = 0; frame < 60; ++frame) {
    run(session, frame, 1);
    recorder.append(session, static_cast<double>(frame) * kFrame);
  }
  recorder.close();
  const Recording recording(folder_.path() / "sample.h5");
  std::uint64_t faces = 0, of = 0, wrong = 0;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    const auto sample = recording.sample(frame);
    EXPECT_GE(sample[0], 1u);
    faces += sample[0], of += sample[1], wrong += sample[2];
  }
  EXPECT_EQ(faces, session.sample().faces);
  EXPECT_EQ(of, session.sample().of);
  EXPECT_EQ(of, 60u * session.organs()[0].mesh.faces.size()) << "a probe is one volume";
  EXPECT_EQ(wrong, 0u);
}

TEST_F(BallScene, ARecordingReplaysToTheSameTouchedFaces) {
  const auto file = folder_.path() / "s.h5";
  {
    Session session = make_session();
    SessionRecorder recorder(recording_file(file), scene_, session, "none");
    for (std::size_t frame = 0; frame < 120; ++frame) {
      run(session, frame, 1);
      recorder.append(session, static_cast<double>(frame) * kFrame);
    }
    recorder.close();
  }
  const Recording recording(file);
  const auto source = make_recording_source(file);
  const auto query = backends_.make("scan");
  query->rebuild(source->organ(0));
  OrganFrame recorded;
  std::size_t touches = 0;
  for (std::size_t frame = 0; frame < source->frame_count(); ++frame) {
    source->load(frame);
    recording.read_frame(frame, 0, recorded);
    query->update(source->positions(0));
    const TouchList again = query->touched(source->tools(), TouchSet::Exact);
    ASSERT_EQ(again.touches.size(), recorded.touches.size()) << "frame " << frame;
    for (std::size_t k = 0; k < recorded.touches.size(); ++k) {
      EXPECT_EQ(again.touches[k].face, recorded.touches[k].face);
      EXPECT_EQ(again.touches[k].point, recorded.touches[k].point);
      EXPECT_EQ(again.touches[k].depth, recorded.touches[k].depth);
    }
    touches += recorded.touches.size();
  }
  EXPECT_GT(touches, 200u);
}

}  // namespace

// Tests a session that replays the recording of another one: the same poses and touched faces at the same frame rate,
// the same motion at another frame rate.

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

// Tests that colliding instruments are reported, shown and recorded.

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

// Tests that a session reports and records a tip inside tissue.

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
      "schema = 2\n[[organ]]\nname = \"ball\"\nmesh = \"ball.obj\"\n[organ.tissue]\nnode_spacing_mm = "
      "10\n[[organ.attachment]]\n"
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

// Tests what a session publishes over OpenIGTLink.

namespace {

// A tool that follows another session's tool over the network has the same pose.
TEST(PublishedSession, FramesReachADevice) {
  const TemporaryFolder folder;
  const Scene made = load_scene(test::write_ball_scene(folder, {.tip = 56}));
  CpuBackends backends;
  Session session(made, backends, "scan", {}, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, "explore", 0.012, 0.008, 2.0});
  });
  IgtlServerParams params;
  params.port = 0;
  IgtlPublisher publisher(made, params);
  const InstrumentScene& scene = made.instruments[0];
  IgtlDevice device({"127.0.0.1", publisher.server().port(), "probe"},
                    {scene.pivot, scene.tip, scene.axis, scene.limits, 0.0});
  DevicePose pose;
  for (std::uint64_t frame = 0; frame < 2000 && device.health() != DeviceHealth::Good; ++frame) {
    session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
    publisher.publish(session);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pose = device.pose({});
  }
  ASSERT_EQ(device.health(), DeviceHealth::Good);
  // The last frame may not have arrived yet.
  const glm::dvec3 tip = session.instruments()[0].pose.tip;
  for (int wait = 0; wait < 2000 && glm::length(pose.tip - tip) >= 1e-6; ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pose = device.pose({});
  }
  EXPECT_LT(glm::length(pose.tip - tip), 1e-6);
  EXPECT_NEAR(pose.roll_deg, session.instruments()[0].roll_deg, 1e-3);
}

}  // namespace

}  // namespace trocar

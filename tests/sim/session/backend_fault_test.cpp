// Tests a session whose OpenGL driver fails: scan answers the same frame, no frame is without an answer, and the tissue
// moves as if scan had answered from the start; the fault is reported and recorded.
#include "sim/session/answer_check.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>

#include "app/compare/backends.hpp"
#include "app/report/session_summary.hpp"
#include "app/view/view.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/record/session_recorder.hpp"
#include "tests/gpu_collision/gl_hooks.hpp"
#include "tests/sim/session/ball_scene.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

constexpr std::size_t kFaultFrame = 40;  // the probe is in the ball
constexpr const char* kOnGpu[] = {"compute", "occlusion", "select"};

// Two balls, one above the other; the probe enters the first from above.
class FailingDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!backends_.context()) GTEST_SKIP() << "SKIPPED: no OpenGL (" << backends_.why_no_context() << ")";
    save_mesh(shapes::icosphere(3, 0.03f, {0.f, 0.f, -0.12f}), folder_.path() / "lower.obj");
    scene_ = load_scene(test::write_ball_scene(folder_, {.more_organs = R"([[organ]]
name = "lower"
mesh = "lower.obj"
[organ.tissue]
node_spacing_mm = 10
[[organ.attachment]]
centre_mm = [0, 0, -150]
radius_mm = 20
)"}));
  }

  Session make_session(Backends& backends, const std::string& backend, const std::vector<CheckPlan>& checks = {}) {
    return Session(scene_, backends, backend, checks, [](const InstrumentScene& instrument) {
      return make_script_device({instrument.pivot, instrument.tip, "explore", 0.012, 0.008, 2.0});
    });
  }
  static void step(Session& session, std::size_t frame) {
    session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
  }
  static bool has(Backends& backends, const std::string& name) {
    try {
      backends.make(name);
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  TemporaryFolder folder_;
  Scene scene_;
  Backends backends_;
};

bool same_touches(const Organ& a, const Organ& b) {
  const auto same = [](const Touch& x, const Touch& y) { return x.face == y.face && x.depth == y.depth; };
  return a.touched.part_first == b.touched.part_first &&
         std::ranges::equal(a.touched.touches, b.touched.touches, same) && a.positions == b.positions;
}

// Compares both sessions frame by frame; the fault lasts from kFaultFrame to the next frame.
std::uint64_t expect_same_frames(Session& failing, Session& sound, GlFault kind) {
  std::uint64_t touched = 0;
  for (std::size_t frame = 0; frame < 80; ++frame) {
    const auto step = [&](Session& session) { session.step({frame, static_cast<double>(frame) * kFrame}, kFrame); };
    {
      std::unique_ptr<InjectedFault> fault;
      if (frame == kFaultFrame) fault = std::make_unique<InjectedFault>(kind);
      step(failing);
    }
    step(sound);
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_TRUE(same_touches(failing.organs()[k], sound.organs()[k])) << "frame " << frame << ", organ " << k;
    if (frame == kFaultFrame) {
      EXPECT_GT(failing.touched(), 0u);
    }
    touched += failing.touched();
  }
  return touched;
}

TEST_F(FailingDriver, ScanAnswersTheSameFrame) {
  for (const std::string name : kOnGpu) {
    for (const GlFault kind : {GlFault::ContextLost, GlFault::ContextLostError, GlFault::CommandRefused}) {
      SCOPED_TRACE(name + ", fault " + std::to_string(static_cast<int>(kind)));
      Backends failing_backends, sound_backends;
      if (!has(failing_backends, name)) continue;
      Session failing = make_session(failing_backends, name, {{"obb-refit", 1}}),
              sound = make_session(sound_backends, "scan", {{"obb-refit", 1}});
      EXPECT_GT(expect_same_frames(failing, sound, kind), 200u);
      EXPECT_EQ(failing.disagreements(), 0u);
      EXPECT_EQ(failing.backend().name, "scan");
      ASSERT_EQ(failing.backend_faults().size(), 1u);
      const BackendFault& fault = failing.backend_faults()[0];
      EXPECT_EQ(fault.frame, kFaultFrame);
      EXPECT_EQ(fault.backend, name);
      EXPECT_EQ(fault.fault, kind == GlFault::CommandRefused ? TouchFault::DriverError : TouchFault::LostContext);
      EXPECT_FALSE(fault.check);
      for (const Organ& organ : failing.organs()) {
        EXPECT_EQ(organ.query->position_buffer(), 0u);
        EXPECT_EQ(organ.query->name(), "scan");
      }
      EXPECT_EQ(failing.backend_times()[0].name, "scan");
    }
  }
}

TEST_F(FailingDriver, ScanAnswersATooLargeOrganFromTheStart) {
  const InjectedFault small(GlFault::SmallTextureBuffer);
  Session session = make_session(backends_, "compute"), sound = make_session(backends_, "scan");
  for (std::size_t frame = 0; frame < 40; ++frame) {
    step(session, frame), step(sound, frame);
    EXPECT_TRUE(same_touches(session.organs()[0], sound.organs()[0]));
  }
  ASSERT_EQ(session.backend_faults().size(), 1u);
  EXPECT_EQ(session.backend_faults()[0].frame, 0u);
  EXPECT_EQ(session.backend_faults()[0].fault, TouchFault::TooLarge);
}

TEST_F(FailingDriver, AFailedCheckStopsWithoutDisagreements) {
  Session session = make_session(backends_, "scan", {{"compute", 1}});
  for (std::size_t frame = 0; frame < 80; ++frame) {
    std::unique_ptr<InjectedFault> fault;
    if (frame == kFaultFrame) fault = std::make_unique<InjectedFault>(GlFault::ContextLost);
    step(session, frame);
  }
  EXPECT_EQ(session.disagreements(), 0u);
  EXPECT_EQ(session.backend().name, "scan");
  ASSERT_EQ(session.backend_faults().size(), 1u);
  EXPECT_TRUE(session.backend_faults()[0].check);
  EXPECT_EQ(session.backend_faults()[0].frame, kFaultFrame);
}

// Commands without a session cannot continue with another backend, so they end.
TEST_F(FailingDriver, ACommandEndsWithOneSentence) {
  const auto message_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const InputError& error) {
      return std::string("input: ") + error.what();
    } catch (const RunError& error) {
      return std::string("run: ") + error.what();
    }
    return "";
  };
  const TriangleMesh mesh = shapes::icosphere(4);
  const auto sound = backends_.make("compute");
  sound->rebuild(mesh.view());
  EXPECT_EQ(message_of([&] { require_start(*sound), require_answer(*sound); }), "");
  {
    const InjectedFault small(GlFault::SmallTextureBuffer);
    const auto query = backends_.make("compute");
    query->rebuild(mesh.view());
    EXPECT_EQ(message_of([&] { require_start(*query); }),
              "input: backend compute: the organ has more faces, vertices or touches than this OpenGL context allows; "
              "use scan");
  }
  const InjectedFault lost(GlFault::ContextLost);
  sound->update(mesh.positions);
  const ToolVolume tool = static_volume({{0.0, 0.0, 0.2}, {0.0, 0.0, -0.2}, 0.01});
  EXPECT_TRUE(sound->touched({&tool, 1}, TouchSet::Volume).touches.empty());
  EXPECT_EQ(message_of([&] { require_answer(*sound); }),
            "run: backend compute: the graphics driver lost its OpenGL context; use scan");
}

TEST_F(FailingDriver, TheFaultIsReportedOnce) {
  const std::vector<BackendFault> faults = {{120, "compute", TouchFault::LostContext, false},
                                            {130, "occlusion", TouchFault::TimedOut, true}};
  FaultTeller teller;
  testing::internal::CaptureStderr();
  teller.tell({});
  teller.tell({faults[0]});
  teller.tell(faults);
  teller.tell(faults);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "frame 120: backend compute: the graphics driver lost its OpenGL context; scan answers from this frame on\n"
            "frame 130: backend occlusion: the graphics driver did not answer in time; it checks no further frame\n");
}

TEST_F(FailingDriver, TheRecordingStoresWhichBackendAnswered) {
  const auto file = folder_.path() / "session.h5";
  {
    Session session = make_session(backends_, "compute");
    SessionRecorder recorder(recording_file(file), scene_, session, "test");
    for (std::size_t frame = 0; frame < 60; ++frame) {
      std::unique_ptr<InjectedFault> fault;
      if (frame == kFaultFrame) fault = std::make_unique<InjectedFault>(GlFault::ContextLost);
      step(session, frame);
      recorder.append(session, static_cast<double>(frame) * kFrame);
    }
    recorder.close();
  }
  const Recording recording(file);
  ASSERT_EQ(recording.frame_count(), 60u);
  for (std::size_t frame = 0; frame < 60; ++frame) {
    EXPECT_EQ(recording.backend(frame), frame < kFaultFrame ? "compute" : "scan") << frame;
    EXPECT_EQ(recording.backend_fault(frame), frame == kFaultFrame ? TouchFault::LostContext : TouchFault::None);
  }
  EXPECT_EQ(recording.text("backend_why"), "named by the user");
  const auto backends = summarise_backends(recording);
  ASSERT_EQ(backends.size(), 2u);
  EXPECT_EQ(backends[0].name, "compute");
  EXPECT_EQ(backends[1].name, "scan");
  EXPECT_EQ(backends[1].frame, kFaultFrame);
  EXPECT_EQ(backends[1].fault, "compute: the graphics driver lost its OpenGL context");
}

// The picture follows the tissue after the switch to another backend, whose positions are not in the buffer of the
// first backend.
TEST_F(FailingDriver, ThePictureFollowsTheTissueAfterTheSwitch) {
  Session session = make_session(backends_, "compute");
  std::vector<DrawnOrgan> organs;
  drawn_organs(session, organs);
  View view(*backends_.context(), organs);
  const auto picture = [&](View& by) {
    drawn_organs(session, organs);
    PictureTarget target(160, 120);
    target.bind();
    by.draw(organs, {}, {}, session.scope().pose, session.scope().lens, {}, {}, 160, 120);
    auto pixels = target.pixels();
    PictureTarget::unbind();
    return pixels;
  };
  for (std::size_t frame = 0; frame < 20; ++frame) step(session, frame);
  picture(view);
  session.use_backend(backends_, "scan");
  for (std::size_t frame = 20; frame < 60; ++frame) step(session, frame);
  drawn_organs(session, organs);
  View fresh(*backends_.context(), organs);
  EXPECT_EQ(picture(view), picture(fresh));
}

}  // namespace
}  // namespace trocar

// Tests clips in a session: an applier closes them on ducts, they hold the duct closed, count for the part on which
// they sit when scissors divide the duct, and come off when it is forced open; keys and faults of a scene.
#include <gtest/gtest.h>

#include <cstdio>
#include <deque>

#include "app/compare/backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/scene_text.hpp"
#include "tests/sim/session_support.hpp"

namespace trocar {
namespace {

// A duct along x, attached at one end and pulled at the other, an applier and scissors above it.
constexpr const char* kScene = R"([[organ]]
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
[[instrument]]
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

class SessionClipsTest : public test::SceneText {
 protected:
  SessionClipsTest() : SceneText(kScene) {}

  void start(const std::string& scene) {
    session_ = std::make_unique<Session>(load(scene), backends_, "scan", std::vector<CheckPlan>{},
                                         [this](const InstrumentScene& instrument) {
                                           pose_.push_back({instrument.pivot, instrument.tip, 0.0, 1.0});
                                           return std::make_unique<PosedDevice>(&pose_.back());
                                         });
  }
  void run(int frames) {
    for (int k = 0; k < frames; ++k, ++frame_) session_->step({frame_, double(frame_) / 60.0}, 1.0 / 60.0);
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

  std::deque<DevicePose> pose_;
  Backends backends_;
  std::uint64_t frame_ = 0;
  std::unique_ptr<Session> session_;
};

// The clip goes all around, keeps the tissue flat after the jaws have let go, and lies where they were.
TEST_F(SessionClipsTest, AnApplierClosesAClipThatHoldsTheDuctClosed) {
  start(kScene);
  run(10);
  const double before = thickness(0.015);
  clip(0.015);
  ASSERT_EQ(clips().clips().size(), 1u);
  const PlacedClip& placed = clips().clips()[0];
  const ClipPose pose = pose_of(placed.clip, duct().positions);
  std::printf("%u struts, gap %.2f mm, tension %.2f N; the duct was %.2f mm thick, and is %.2f mm\n", placed.clip.count,
              1e3 * double(pose.gap), double(tension_of(placed.clip, duct().positions, placed.stiffness)), 1e3 * before,
              1e3 * thickness(0.015));
  EXPECT_EQ(placed.closed, 1.f);
  EXPECT_LT(glm::distance(glm::dvec3(pose.centre), glm::dvec3(0.015, 0, 0)), 1e-3);
  EXPECT_LT(double(pose.legs.z), -0.95) << "away from the hinge";
  EXPECT_LT(double(pose.gap), 1.2e-3);
  EXPECT_GT(before, 3.5e-3);
  EXPECT_LT(thickness(0.015), 2e-3);
  // The duct is stretched, so the clip sits nearer to its start than its position says.
  EXPECT_NEAR(double(placed.along), 0.014, 1.5e-3);
  EXPECT_EQ(clips().tubes()[0], (TubeState{false, 1, 1, 0.f}));
  EXPECT_EQ(session_->instruments()[0].clips_left, 19);
}

TEST_F(SessionClipsTest, ClipsStayOnTheirPartOfADividedDuct) {
  start(kScene);
  run(10);
  for (const double x : {0.013, 0.019, 0.036}) clip(x);
  EXPECT_EQ(clips().tubes()[0], (TubeState{false, 3, 3, 0.f}));
  cut(0.026);
  const TubeState& tube = clips().tubes()[0];
  EXPECT_TRUE(tube.divided);
  EXPECT_NEAR(double(tube.at), 0.023, 3e-3) << "at rest";
  EXPECT_EQ(tube.clips_at_start, 2u);
  EXPECT_EQ(tube.clips_at_end, 1u);
}

// Jaws that reach the duct only with their tips leave a clip that does not close it; jaws beside it drop theirs.
TEST_F(SessionClipsTest, AClipCountsOnlyWhereItGoesAllAround) {
  start(with("magazine = 20", "magazine = 2"));
  run(10);
  use(0, 0.015, 0.0025, 1.0);
  move(0, 0.015, 0.06);
  grip(0, 0.0);
  grip(0, 1.0);
  ASSERT_EQ(clips().clips().size(), 2u);
  const PlacedClip &half = clips().clips()[0], &dropped = clips().clips()[1];
  std::printf("a clip at the edge: %u struts, %.2f of the circumference\n", half.clip.count, double(half.closed));
  EXPECT_LT(half.closed, kClosesTube);
  EXPECT_EQ(clips().tubes()[0].clips_at_start, 0u);
  EXPECT_FALSE(dropped.on());
  EXPECT_EQ(dropped.clip.organ, kNoOrgan);
  // The magazine is empty now.
  clip(0.025);
  EXPECT_EQ(clips().clips().size(), 2u);
  EXPECT_EQ(session_->instruments()[0].clips_left, 0);
}

// A clip whose tissue is pulled apart comes off; one that holds more stays.
TEST_F(SessionClipsTest, AClipThatIsForcedOpenComesOff) {
  for (const bool weak : {true, false}) {
    start(with("holds_n = 8", weak ? "holds_n = 1" : "holds_n = 8"));
    run(10);
    clip(0.015);
    ASSERT_EQ(clips().clips().size(), 1u);
    EXPECT_EQ(clips().clips()[0].on(), !weak);
    EXPECT_EQ(clips().tubes()[0].clips_at_start, weak ? 0u : 1u);
    EXPECT_EQ(session_->bonds().bonds().struts.size(), weak ? 0u : clips().clips()[0].clip.count);
    pose_.clear();
    frame_ = 0;
  }
}

TEST_F(SessionClipsTest, ClipsPassThroughASavedSession) {
  start(kScene);
  run(10);
  clip(0.013);
  move(0, 0.03, 0.04);
  move(0, 0.03, -0.002);
  pose_[0].grip = 0.3;
  run(2);
  const std::vector<std::byte> block = session_->save();
  const auto finish = [&] {
    grip(0, 0.0);
    grip(0, 1.0);
    run(10);
    return session_->save();
  };
  const std::deque<DevicePose> poses = pose_;
  const std::uint64_t frame = frame_;
  const std::vector<std::byte> uninterrupted = finish();
  ASSERT_EQ(clips().clips().size(), 2u);
  pose_.clear();
  start(kScene);
  session_->restore(block);
  for (std::size_t k = 0; k < poses.size(); ++k) pose_[k] = poses[k];
  frame_ = frame;
  ASSERT_EQ(clips().clips().size(), 1u);
  EXPECT_EQ(clips().tubes()[0].clips_at_start, 1u);
  EXPECT_EQ(finish(), uninterrupted);
}

TEST_F(SessionClipsTest, FaultsAreOneSentence) {
  expect_sentence(with("length_mm = 8.5", "length_mm = 15"), "is more than the jaws, which are 14 mm long");
  expect_sentence(with("length_mm = 8.5", "length_mm = 0"), "length_mm");
  expect_sentence(with("length_mm = 8.5", "closes = 0.4\nloads = 0.3"), "loads: must be more than closes");
  expect_sentence(with("magazine = 20", "magazine = -1"), "magazine");
  expect_sentence(with("magazine = 20", "clips = 20"), "clips");
  expect_sentence(with("kind = \"clip-applier\"", "kind = \"stapler\""), "clip-applier");
}

}  // namespace
}  // namespace trocar

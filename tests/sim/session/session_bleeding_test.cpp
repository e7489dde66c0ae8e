// Tests bleeding in a session: divided vessels bleed from the supplied end unless a clip, heat or jaws stop them, cut
// tissue bleeds by its area, a hollow organ spills its content; saved sessions; faults of a scene.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "mesh/mesh_io.hpp"
#include "tests/sim/session/duct_session.hpp"
#include "tests/sim/session/fluid_session.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

constexpr double kRate = 40.0;  // ml/min

// The duct is a vessel, supplied from the start of its line, and a hook is there too.
class BleedingVessel : public test::DuctSession {
 protected:
  static std::string vessel(const std::string& keys = "", const std::string& scene = test::duct_scene()) {
    return test::with_vessel(scene, keys) + test::above_start("hook");
  }
  const SessionBleeding& bleeding() const { return session_->bleeding(); }
  double lost_ml() const { return bleeding().lost()[0].blood / kMillilitre; }
  // Moves the hot tip of the hook to the only source until this is coagulated, or for `frames`.
  void coagulate(int frames) {
    const glm::dvec3 at(duct().positions[bleeding().sources()[0].vertex]);
    pose_[2].energy = Diathermy::Coagulate;
    for (int k = 0; k < frames && !bleeding().sources()[0].done(); ++k) {
      const glm::dvec3 now(duct().positions[bleeding().sources()[0].vertex]);
      pose_[2].pivot = now + glm::dvec3(0, 0, 0.12), pose_[2].tip = now + glm::dvec3(0, 0, 0.0005);
      run(1);
    }
    pose_[2].energy = Diathermy::Off;
    pose_[2].tip.z = 0.07;
    std::printf("the source lay at %.1f %.1f %.1f mm\n", 1e3 * at.x, 1e3 * at.y, 1e3 * at.z);
  }
};

// The loss since the division is rate tau (1 - exp(-t / tau)), with the pulse in each frame.
TEST_F(BleedingVessel, BleedsFromItsSuppliedEnd) {
  start(vessel());
  run(10);
  EXPECT_TRUE(bleeding().possible());
  EXPECT_EQ(lost_ml(), 0.0);
  int frames = 0;
  double expected = 0.0;  // ml
  const double tau = 20.0 / std::log(2.0);
  after_frame_ = [&](std::uint64_t frame) {
    if (bleeding().sources().empty()) return;
    const double before = frames * kFrame, now = ++frames * kFrame;
    expected += kRate / 60.0 * tau * (std::exp(-before / tau) - std::exp(-now / tau)) *
                mean_beat(double(frame) * kFrame + kFrame, kFrame);
  };
  cut(0.026);
  run(300);
  ASSERT_TRUE(clips().tubes()[0].divided);
  ASSERT_EQ(bleeding().sources().size(), 1u);
  const BleedSource& source = bleeding().sources()[0];
  const double along = double(duct().mesh.positions[source.vertex].x);
  const double t = frames * kFrame;
  std::printf("divided at %.1f mm, the source is at %.1f mm; %.3f ml in %.2f s\n", 1e3 * double(clips().tubes()[0].at),
              1e3 * along, lost_ml(), t);
  EXPECT_EQ(source.kind, BleedKind::Vessel);
  EXPECT_NEAR(along, double(clips().tubes()[0].at), 4e-3);
  EXPECT_NEAR(lost_ml(), expected, 1e-6);
}

// Scissors open the wall without dividing the vessel: it bleeds there, with half of the flow from an end, until a clip
// closes it on the supplied side; one on the other side does not help.
TEST_F(BleedingVessel, BleedsWhereItIsCutInto) {
  const std::string walled = test::replaced(vessel(), "radius_mm = 2\n", "radius_mm = 2\nwall_mm = 1\n");
  start(test::replaced(walled, "node_spacing_mm = 4", "node_spacing_mm = 1.3"));
  run(10);
  // From the side, further each time, until they open the lumen.
  for (double y = 0.006; y > 0.0005 && bleeding().sources().empty(); y -= 0.0005) {
    pose_[1].pivot.y = pose_[1].tip.y = y;
    use(1, 0.030, -0.006, 0.3);
  }
  ASSERT_FALSE(clips().tubes()[0].divided);
  ASSERT_EQ(bleeding().sources().size(), 1u) << "the lumen is open";
  const BleedSource& source = bleeding().sources()[0];
  EXPECT_EQ(source.kind, BleedKind::Vessel);
  EXPECT_NEAR(source.rate, 0.5 * kRate * kMlPerMin, 1e-15);
  EXPECT_EQ(source.state, BleedState::Flows);
  clip(0.040);
  EXPECT_EQ(bleeding().sources()[0].state, BleedState::Flows) << "a clip behind the hole";
  clip(0.012);
  EXPECT_EQ(bleeding().sources()[0].state, BleedState::Closed);
  const double closed = lost_ml();
  run(30);
  EXPECT_EQ(lost_ml(), closed);
}

// A vessel that the scene has injured bleeds from the first frame on, with the flow of an open end, until a clip closes
// it on the supplied side; what it has lost before lies on the organs.
TEST_F(BleedingVessel, BleedsWhereTheSceneHasInjuredIt) {
  start(vessel("opened_mm = [30, 0, 2]\npooled_ml = 4\n"));
  run(1);
  ASSERT_EQ(bleeding().sources().size(), 1u);
  const BleedSource& source = bleeding().sources()[0];
  EXPECT_NEAR(double(duct().mesh.positions[source.vertex].x), 0.030, 3e-3);
  EXPECT_NEAR(source.rate, kRate * kMlPerMin, 1e-15);
  EXPECT_GT(lost_ml(), 4.0);
  EXPECT_LT(lost_ml(), 4.1);
  const FluidAmounts& fluids = session_->film().amounts();
  EXPECT_NEAR((fluids.on[0] + fluids.dripped[0]) / kMillilitre, lost_ml(), 1e-9);
  run(20);
  EXPECT_GT(lost_ml(), 4.1);
  EXPECT_EQ(bleeding().sources().size(), 1u);
  const Saved saved = save();
  restore(saved);
  run(5);
  EXPECT_EQ(bleeding().sources().size(), 1u) << "it is injured only once";
  clip(0.040);
  EXPECT_EQ(bleeding().sources()[0].state, BleedState::Flows) << "a clip behind the hole";
  clip(0.012);
  EXPECT_EQ(bleeding().sources()[0].state, BleedState::Closed);
}

TEST_F(BleedingVessel, DoesNotBleedWithAClipOnTheSuppliedSide) {
  for (const bool from_start : {true, false}) {
    start(vessel(from_start ? "" : "supplied_from = \"end\"\n"));
    run(10);
    clip(0.013);
    cut(0.026);
    run(30);
    ASSERT_TRUE(clips().tubes()[0].divided);
    EXPECT_EQ(clips().tubes()[0].clips_at_start, 1u);
    EXPECT_EQ(bleeding().sources().empty(), from_start);
    EXPECT_EQ(lost_ml() > 0.0, !from_start);
  }
}

TEST_F(BleedingVessel, StopsWhenAClipCloses) {
  start(vessel());
  run(10);
  cut(0.030);
  const double before = lost_ml();
  EXPECT_GT(before, 0.0);
  clip(0.012);
  ASSERT_EQ(clips().tubes()[0].clips_at_start, 1u);
  EXPECT_EQ(bleeding().sources()[0].state, BleedState::Closed);
  const double closed = lost_ml();
  EXPECT_GT(closed, before);
  run(60);
  EXPECT_EQ(lost_ml(), closed);
}

TEST_F(BleedingVessel, StopsWhileJawsHoldIt) {
  start(vessel("", with("magazine = 20", "magazine = 0")));
  run(10);
  cut(0.026);
  ASSERT_EQ(bleeding().sources().size(), 1u);
  const double x = double(duct().positions[bleeding().sources()[0].vertex].x) - 0.001;
  move(0, x, 0.04);
  move(0, x, -0.002);
  grip(0, 0.0);
  run(20);
  EXPECT_EQ(bleeding().sources()[0].state, BleedState::Pressed);
  const double held = lost_ml();
  run(30);
  EXPECT_EQ(lost_ml(), held);
  grip(0, 1.0);
  move(0, x, 0.04);
  run(10);
  EXPECT_EQ(bleeding().sources()[0].state, BleedState::Flows);
  EXPECT_GT(lost_ml(), held);
}

TEST_F(BleedingVessel, StopsForGoodWhenItIsCoagulated) {
  start(vessel());
  run(10);
  cut(0.026);
  run(10);
  ASSERT_EQ(bleeding().sources().size(), 1u);
  coagulate(600);
  EXPECT_EQ(bleeding().sources()[0].state, BleedState::Coagulated);
  const double sealed = lost_ml();
  EXPECT_GT(sealed, 0.0);
  run(60);
  EXPECT_EQ(lost_ml(), sealed);
}

// Hot metal divides and coagulates at once.
TEST_F(BleedingVessel, DoesNotBleedWhenAHookDividesIt) {
  start(vessel());
  run(10);
  pose_[2].energy = Diathermy::Cut;
  pose_[2].pivot = {0.026, 0.0, 0.15}, pose_[2].tip = {0.026, 0.0, 0.004};
  for (int k = 0; k < 400 && !clips().tubes()[0].divided; ++k) {
    pose_[2].tip.z = std::max(pose_[2].tip.z - 5e-5, -0.006);
    pose_[2].pivot.y = pose_[2].tip.y = 0.002 * (k / 20 % 2 ? 1.0 : -1.0);
    run(1);
  }
  run(30);
  ASSERT_TRUE(clips().tubes()[0].divided);
  EXPECT_TRUE(bleeding().sources().empty());
  EXPECT_EQ(lost_ml(), 0.0);
}

TEST_F(BleedingVessel, PassesThroughASavedSession) {
  start(vessel());
  run(10);
  cut(0.026);
  const Saved saved = save();
  const double before = lost_ml();
  const auto finish = [&] {
    clip(0.013);
    run(10);
    return session_->save();
  };
  const std::vector<std::byte> uninterrupted = finish();
  restore(saved);
  EXPECT_EQ(lost_ml(), before);
  ASSERT_EQ(bleeding().sources().size(), 1u);
  EXPECT_EQ(finish(), uninterrupted);
}

TEST_F(BleedingVessel, FaultsAreOneSentence) {
  expect_sentence(vessel("supplied_from = \"middle\"\n"), "supplied_from");
  expect_sentence(test::replaced(vessel(), "rate_ml_min = 40", "rate_ml_min = -4"), "rate_ml_min");
  expect_sentence(test::replaced(vessel(), "half_time_s", "halftime_s"), "halftime_s");
  expect_sentence(test::replaced(vessel(), test::kVesselTable, "[organ.bile]\nvolume_ml = 40\n"),
                  "is for an organ with a mesh");
  expect_sentence(test::replaced(vessel(), test::kVesselTable, "[organ.blood]\n"), "a tube bleeds with [organ.vessel]");
}

// A ball that bleeds and is hollow, and an instrument above it.
class BleedingBall : public test::SceneText {
 protected:
  BleedingBall() : SceneText("") { save_mesh(shapes::icosphere(4, 0.04f), folder_.path() / "ball.obj"); }

  std::string text(const std::string& kind, const std::string& fluids) const {
    return "schema = 2\n[[organ]]\nname = \"ball\"\nmesh = \"ball.obj\"\n[organ.tissue]\nnode_spacing_mm = 8\n"
           "[[organ.attachment]]\ncentre_mm = [0, 0, -38]\nradius_mm = 25\n" +
           fluids + "[[instrument]]\nname = \"tool\"\nkind = \"" + kind +
           "\"\npivot_mm = [0, 0, 150]\ntip_mm = [0, 0, 60]\nradius_mm = 3\n";
  }
  void start(const std::string& kind, const std::string& fluids) {
    scene_ = load(text(kind, fluids));
    pose_ = {scene_.instruments[0].pivot, scene_.instruments[0].tip, 0.0, 1.0};
    session_ = test::posed_session(scene_, backends_, pose_);
    frame_ = 0;
  }
  void run(int frames) {
    for (int k = 0; k < frames; ++k, ++frame_) session_->step({frame_, double(frame_) * kFrame}, kFrame);
  }
  void move(double z) {
    for (; std::abs(pose_.tip.z - z) > 2.5e-4; run(1)) pose_.tip.z += pose_.tip.z < z ? 5e-4 : -5e-4;
  }
  const Organ& ball() const { return session_->organs()[0]; }
  double area() const {
    double sum = 0.0;
    for (const glm::uvec3& face : ball().mesh.faces) {
      const glm::dvec3 a(ball().mesh.positions[face.x]), b(ball().mesh.positions[face.y]),
          c(ball().mesh.positions[face.z]);
      sum += 0.5 * glm::length(glm::cross(b - a, c - a));
    }
    return sum;
  }
  // Returns the depth of the deepest vertex in use below the ball at rest, m.
  double deepest() const {
    double depth = 0.0;
    for (const glm::uvec3& face : ball().mesh.faces)
      depth = std::max(depth, 0.04 - double(glm::length(ball().mesh.positions[face.x])));
    return depth;
  }
  const SessionBleeding& bleeding() const { return session_->bleeding(); }

  CpuBackends backends_;
  Scene scene_;
  DevicePose pose_;
  std::unique_ptr<Session> session_;
  std::uint64_t frame_ = 0;
};

// A slit splits the skin without loss, so the growth of the surface at rest is the area of its walls.
TEST_F(BleedingBall, CutTissueBleedsByItsArea) {
  start("scissors", "[organ.blood]\nrate_ml_min_cm2 = 6\nhalf_time_s = 0\n");
  move(0.036);
  const double before = area();
  for (; pose_.grip > 0.01; run(1)) pose_.grip -= 0.05;
  run(1);
  const double opened = area() - before;
  double rate = 0.0;
  for (const BleedSource& source : bleeding().sources()) rate += source.rate;
  std::printf("%zu sources, %.2f cm^2, %.2f ml/min\n", bleeding().sources().size(), 1e4 * opened, rate / kMlPerMin);
  ASSERT_GT(opened, 1e-5);
  EXPECT_NEAR(rate / kMlPerMin, 6.0 * 1e4 * opened, 0.01 * 6.0 * 1e4 * opened);
  const double lost = bleeding().lost()[0].blood;
  pose_.tip.z = 0.08;
  run(60);
  EXPECT_NEAR(bleeding().lost()[0].blood - lost, rate, 0.02 * rate) << "in a second";
  EXPECT_EQ(bleeding().lost()[0].bile, 0.0);
}

// Torn tissue bleeds too.
TEST_F(BleedingBall, TornTissueBleeds) {
  start("grasper", "[organ.blood]\nrate_ml_min_cm2 = 6\n");
  scene_.instruments[0].grasp.tear_from = 0.3f;
  session_ = test::posed_session(scene_, backends_, pose_);
  move(0.036);
  for (; pose_.grip > 0.01; run(1)) pose_.grip -= 0.05;
  run(10);
  move(0.07);
  EXPECT_GT(ball().topology, 0u) << "nothing was torn";
  ASSERT_FALSE(bleeding().sources().empty());
  EXPECT_EQ(bleeding().sources()[0].kind, BleedKind::Surface);
  EXPECT_GT(bleeding().lost()[0].blood, 0.0);
}

// Legs that close on soft tissue crush it, and it bleeds; tissue that does not come apart stays whole. The instrument
// feels no more than soft tissue can bear.
TEST_F(BleedingBall, SoftTissueComesApartBetweenLegs) {
  const std::string blood = "[organ.blood]\nrate_ml_min_cm2 = 6\n";
  for (const bool soft : {false, true}) {
    start("clip-applier", blood + (soft ? "[organ.cut]\ntears_at = 2.5\n" : ""));
    move(0.034);
    double force = 0.0;
    for (; pose_.grip > 0.01; run(1)) {
      pose_.grip -= 0.05;
      force = std::max(force, double(glm::length(session_->instruments()[0].force)));
    }
    run(10);
    std::printf("%s: %zu sources, %.2f N at most\n", soft ? "soft" : "tough", bleeding().sources().size(), force);
    EXPECT_EQ(ball().topology > 0, soft);
    EXPECT_EQ(bleeding().sources().empty(), !soft);
    if (soft) {
      EXPECT_LT(force, 1.0);
    }
  }
}

// Legs that open in soft tissue spread it.
TEST_F(BleedingBall, SoftTissueComesApartAroundOpeningLegs) {
  for (const bool soft : {false, true}) {
    start("clip-applier", soft ? "[organ.cut]\ntears_at = 2.5\n" : "");
    pose_.grip = 0.5;
    move(0.034);
    const std::uint64_t before = ball().topology;
    double force = 0.0;
    for (; pose_.grip < 0.99; run(1)) {
      pose_.grip += 0.05;
      force = std::max(force, double(glm::length(session_->instruments()[0].force)));
    }
    run(10);
    std::printf("%s: %.2f N at most\n", soft ? "soft" : "tough", force);
    EXPECT_EQ(ball().topology > before, soft);
    if (soft) {
      EXPECT_LT(force, 1.0);
    }
  }
}

// A burn is coagulated. It spills bile once it goes through the wall, until the organ is empty.
TEST_F(BleedingBall, ABurnThroughTheWallSpillsBileAndNoBlood) {
  start("hook", "[organ.blood]\nrate_ml_min_cm2 = 6\n[organ.bile]\nvolume_ml = 3\nrate_ml_min = 60\nwall_mm = 4\n");
  pose_.energy = Diathermy::Cut;
  move(0.0415);
  run(5);
  const double shallow = deepest();
  EXPECT_GT(ball().topology, 0u) << "nothing was burnt";
  EXPECT_TRUE(bleeding().sources().empty()) << "a shallow burn";
  move(0.030);
  run(20);
  std::printf("burnt %.2f mm deep, then %.2f mm\n", 1e3 * shallow, 1e3 * deepest());
  EXPECT_LT(shallow, 4e-3);
  EXPECT_GT(deepest(), 4e-3);
  pose_.energy = Diathermy::Off;
  ASSERT_FALSE(bleeding().sources().empty());
  for (const BleedSource& source : bleeding().sources()) EXPECT_EQ(source.kind, BleedKind::Perforation);
  EXPECT_EQ(bleeding().lost()[0].blood, 0.0);
  move(0.08);
  run(300);
  EXPECT_NEAR(bleeding().lost()[0].bile, 3.0 * kMillilitre, 1e-15);
  EXPECT_EQ(bleeding().sources()[0].state, BleedState::Stopped);
}

TEST_F(BleedingBall, FaultsAreOneSentence) {
  const auto expect = [&](const std::string& fluids, const std::string& part) {
    expect_sentence(text("hook", fluids), part);
  };
  expect("[organ.vessel]\n", "needs an [organ.tube]");
  expect("[organ.blood]\nrate_ml_min_cm2 = 0\n", "rate_ml_min_cm2");
  expect("[organ.blood]\nhalf_time_s = -1\n", "half_time_s");
  expect("[organ.bile]\nvolume_ml = -3\n", "volume_ml");
  expect("[organ.bile]\nwall_mm = 0\n", "wall_mm");
  EXPECT_NO_THROW(load(text("hook", "[organ.blood]\n[organ.bile]\n")));
}

}  // namespace

// Tests fluid in a session: all blood and water is on the organs, has dripped off or was sucked away; suction removes
// what is near its tip and rinsing thins it; saved sessions; faults of a scene.

namespace {

using test::FluidOnADuct;

TEST_F(FluidOnADuct, NoFluidIsLost) {
  start(bleeding());
  run(10);
  EXPECT_TRUE(session_->film().possible());
  EXPECT_EQ(amounts(), FluidAmounts{});
  cut(0.026);
  after_frame_ = [this](std::uint64_t) { expect_nothing_lost(); };
  run(120);
  EXPECT_GT(session_->film().blood_area(), 0.0);
  const double before = amounts().on[0];
  pump(Diathermy::Cut, 60);
  EXPECT_GT(amounts().removed[0], 0.0);
  EXPECT_LT(amounts().on[0], before) << "600 ml/min are sucked, 40 ml/min bleed";
  EXPECT_EQ(amounts().rinsed, 0.0);
  pump(Diathermy::Coagulate, 60);
  EXPECT_NEAR(amounts().rinsed / kMillilitre, 5.0, 1e-9) << "300 ml/min for a second";
  pump(Diathermy::Cut, 60);
  std::printf("blood: %.3f ml on the duct, %.3f ml dripped off, %.3f ml removed; water: %.3f, %.3f, %.3f ml\n",
              amounts().on[0] / kMillilitre, amounts().dripped[0] / kMillilitre, amounts().removed[0] / kMillilitre,
              amounts().on[2] / kMillilitre, amounts().dripped[2] / kMillilitre, amounts().removed[2] / kMillilitre);
  EXPECT_GT(amounts().removed[2], 0.0);
  EXPECT_GT(amounts().dripped[0], 0.0) << "the duct is thin and hangs in air";
}

// Water thins the blood: after rinsing less of the duct is red.
TEST_F(FluidOnADuct, RinsingThinsBlood) {
  start(bleeding());
  run(10);
  cut(0.026);
  clip(0.012);
  run(60);
  const double red = session_->film().blood_area(), blood = amounts().on[0];
  pump(Diathermy::Coagulate, 180);
  std::printf("%.2f cm^2 red, then %.2f cm^2; %.3f ml of blood, then %.3f ml\n", 1e4 * red,
              1e4 * session_->film().blood_area(), blood / kMillilitre, amounts().on[0] / kMillilitre);
  EXPECT_LT(session_->film().blood_area(), 0.8 * red);
  EXPECT_LT(amounts().on[0], blood);
}

TEST_F(FluidOnADuct, SuctionFarAwayAndInAirRemovesNothing) {
  start(bleeding());
  run(10);
  cut(0.026);
  pump(Diathermy::Cut, 30, 0.03f);
  EXPECT_EQ(amounts().removed, FilmVolume{});
  const double dripped = amounts().dripped[2];
  pump(Diathermy::Coagulate, 30, 0.06f);
  EXPECT_NEAR(amounts().dripped[2] - dripped, amounts().rinsed, 1e-15) << "water in air runs off";
}

TEST_F(FluidOnADuct, ASteadyFrameAllocatesNothing) {
  start(bleeding());
  run(10);
  cut(0.026);
  run(300);
  const std::uint64_t before = allocations_so_far();
  run(60);
  EXPECT_EQ(allocations_so_far(), before);
}

TEST_F(FluidOnADuct, PassesThroughASavedSession) {
  start(bleeding());
  run(10);
  cut(0.026);
  run(37);
  const Saved saved = save();
  const FluidAmounts before = amounts();
  const auto finish = [&] {
    pump(Diathermy::Cut, 20);
    run(40);
    return session_->save();
  };
  const std::vector<std::byte> uninterrupted = finish();
  restore(saved);
  EXPECT_EQ(amounts(), before);
  EXPECT_EQ(finish(), uninterrupted);
}

TEST_F(FluidOnADuct, FaultsAreOneSentence) {
  expect_sentence(bleeding("suck_ml_min = -1\n"), "suck_ml_min");
  expect_sentence(bleeding("rinse_ml_min = -1\n"), "rinse_ml_min");
  expect_sentence(bleeding("reach_mm = 0\n"), "reach_mm");
  expect_sentence(bleeding("rate = 1\n"), "rate");
}

}  // namespace

}  // namespace trocar

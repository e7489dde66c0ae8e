// Tests instruments that act on tissue in a session: they cut, burn, pull and press while organs breathe. Faces keep
// their ids, and the same scene gives the same bits with any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/sim/tissue_session.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

using test::FaceBook, test::TissueScene;

// Keeps its pose; the test sets its grip.
class HeldDevice final : public Device {
 public:
  HeldDevice(const InstrumentScene& instrument, const double* grip)
      : pose_{instrument.pivot, instrument.tip}, grip_(grip) {}
  DevicePose pose(const FrameClock&) override {
    pose_.grip = *grip_;
    return pose_;
  }

 private:
  DevicePose pose_;
  const double* grip_;
};

TEST_F(TissueScene, ScissorsCutOnceEachTimeTheyClose) {
  double grip = 1.0;
  Session session(scene(instrument("scissors", "press")), backends_, "scan", {{"obb-refit", 1}},
                  [&](const InstrumentScene& made) { return std::make_unique<HeldDevice>(made, &grip); });
  const Organ& ball = session.organs()[0];
  FaceBook book(ball);
  std::size_t frame = 0;
  const auto run = [&](double opening, std::uint32_t cuts) {
    grip = opening;
    for (int k = 0; k < 5; ++k) {
      step(session, frame++);
      book.check(ball);
    }
    EXPECT_EQ(ball.topology, cuts) << "aperture " << opening;
    EXPECT_EQ(session.disagreements(), 0u);
  };
  run(1.0, 0);
  EXPECT_FALSE(ball.tip_faces.empty());
  run(0.0, 1);
  const std::size_t cut = book.count_removed();
  EXPECT_GT(cut, 0u);
  run(0.25, 1);  // not wide enough to cut again
  run(0.0, 1);
  EXPECT_EQ(book.count_removed(), cut);
  const auto snipped = std::count_if(ball.damage.marks.begin(), ball.damage.marks.end(),
                                     [](std::uint8_t marks) { return (marks & kSnipped) != 0; });
  EXPECT_EQ(static_cast<std::size_t>(snipped), cut);
  EXPECT_EQ(std::count(ball.charred.begin(), ball.charred.end(), 1.f), 0);
}

TEST_F(TissueScene, BladesCutAtTheApertureOfTheScene) {
  double grip = 1.0;
  for (const auto& [blades, early] :
       {std::pair("bite = 0\n", false), std::pair("bite = 0\nmeet = 0.45\nopen = 0.5\n", true),
        std::pair("bite = 0.35\n", false), std::pair("bite = 0.7\n", true)}) {
    Session session(scene(instrument("scissors", "press") + "[instrument.blades]\n" + blades), backends_, "scan", {},
                    [&](const InstrumentScene& made) { return std::make_unique<HeldDevice>(made, &grip); });
    grip = 1.0;
    for (std::size_t frame = 0; frame < 10; ++frame) {
      if (frame == 5) grip = 0.4;
      step(session, frame);
    }
    EXPECT_EQ(session.organs()[0].topology, early ? 1u : 0u) << blades;
  }
}

std::uint64_t hash_of_run(const Scene& scene, CpuBackends& backends, const Session::DeviceMaker& maker) {
  Session session(scene, backends, "scan", {}, maker);
  std::uint64_t hash = 14695981039346656037ull;
  const auto add = [&](const auto& list) { hash = hash_of(hash, std::as_bytes(std::span(list))); };
  for (std::size_t frame = 0; frame < 180; ++frame) {
    session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
    for (const Organ& organ : session.organs()) {
      add(organ.state.x), add(organ.state.v), add(organ.positions), add(organ.mesh.faces), add(organ.face_ids);
      add(organ.damage.peak), add(organ.damage.integral), add(organ.damage.marks);
    }
    for (const Instrument& instrument : session.instruments())
      hash = hash_of(hash, std::as_bytes(std::span(&instrument.force, 1)));
  }
  EXPECT_GT(session.organs()[0].topology, 0u);
  return hash;
}

// Tests that pressing, pulling, burning, breathing and contact between organs give the same bits every time, with any
// number of threads.
TEST_F(TissueScene, GoldenRunWithOneThreadAndTwo) {
  Scene everything = scene(instrument("probe", "press") + instrument("grasper", "pull") + instrument("hook", "burn"), 2,
                           "[breathing]\namplitude_mm = 8\nrate_hz = 1\ndirection = [1, 0, 0]\n");
  const std::uint64_t once = hash_of_run(everything, backends_, script);
  EXPECT_EQ(hash_of_run(everything, backends_, script), once);
  everything.solver.threads = 2;
  EXPECT_EQ(hash_of_run(everything, backends_, script), once);
}

// Holds a hook with diathermy on, in one pose.
class HotHook final : public Device {
 public:
  HotHook(const glm::dvec3& pivot, const glm::dvec3& tip, double roll_deg)
      : pivot_(pivot), tip_(tip), roll_deg_(roll_deg) {}
  DevicePose pose(const FrameClock&) override { return {pivot_, tip_, roll_deg_, 0.0, Diathermy::Cut}; }

 private:
  glm::dvec3 pivot_, tip_;
  double roll_deg_;
};

// The insulated shaft lies on the ball, and the wire is in the air beyond: nothing burns, at any roll. The end of the
// wire on the ball burns. The foot points to one side: at one roll it reaches the ball, at another it does not.
TEST_F(TissueScene, OnlyTheWireOfAHookBurns) {
  const Scene hook = scene(instrument("hook", "burn"));
  const auto burnt = [&](const glm::dvec3& pivot, const glm::dvec3& tip, double roll_deg, std::size_t& touched) {
    Session session(hook, backends_, "scan", {},
                    [&](const InstrumentScene&) { return std::make_unique<HotHook>(pivot, tip, roll_deg); });
    touched = 0;
    for (std::size_t frame = 0; frame < 90; ++frame) {
      step(session, frame);
      touched += session.organs()[0].touches.touches.size();
    }
    return session.organs()[0].topology > 0;
  };
  std::size_t touched = 0;
  for (const double roll : {0.0, 90.0, 180.0}) {
    EXPECT_FALSE(burnt({-0.15, 0.0, 0.042}, {0.05, 0.0, 0.042}, roll, touched)) << "roll " << roll;
    EXPECT_GT(touched, 0u) << "the shaft does not touch the ball";
  }
  EXPECT_TRUE(burnt({0.0, 0.0, 0.15}, {0.0, 0.0, 0.042}, 0.0, touched));
  int reaches = 0;
  for (const double roll : {0.0, 90.0, 180.0, 270.0})
    reaches += burnt({0.0425, 0.0, 0.12}, {0.0425, 0.0, 0.0}, roll, touched);
  EXPECT_GE(reaches, 1);
  EXPECT_LE(reaches, 3);
}

TEST_F(TissueScene, AGrasperPullsAndReleases) {
  Session session(scene(instrument("grasper", "pull")), backends_, "scan", {}, script);
  const Organ& ball = session.organs()[0];
  const Instrument& grasper = session.instruments()[0];
  float strongest = 0.f, farthest = 0.f;
  std::size_t held = 0;
  for (std::size_t frame = 0; frame < 140; ++frame) {
    step(session, frame);
    if (!grasper.grasp.holding()) continue;
    ++held;
    const std::uint32_t vertex = grasper.grasp.points[0].vertex;
    farthest = std::max(farthest, ball.positions[vertex].z - ball.mesh.positions[vertex].z);
    strongest = std::max(strongest, glm::length(grasper.force));
    // While the jaws move away, the tissue's force on the instrument points back to the tissue's original position.
    if (farthest > 0.004f && frame < 86) {
      EXPECT_LT(grasper.grasp.pull.z, 0.f) << "frame " << frame;
    }
  }
  EXPECT_GT(held, 20u);
  EXPECT_GT(farthest, 0.005f);
  EXPECT_GT(strongest, 0.2f);
  EXPECT_LT(strongest, GraspParams{}.tear_from);
  EXPECT_FALSE(grasper.grasp.holding());
  EXPECT_EQ(ball.topology, 0u);
  std::printf("held in %zu frames, pulled %.1f mm, strongest %.2f N\n", held, static_cast<double>(farthest) * 1e3,
              static_cast<double>(strongest));
}

// Tests pulled tissue, breathing, and an organ that leans on another: nothing allocates in frames without a cut.
TEST_F(TissueScene, PullingAndBreathingAllocateNothing) {
  Session session(scene(instrument("grasper", "pull"), 2, "[breathing]\namplitude_mm = 5\nrate_hz = 0.5\n"), backends_,
                  "scan", {{"obb-refit", 1}, {"obb", 10}}, [](const InstrumentScene& instrument) {
                    return std::make_unique<LoopingDevice>(script(instrument));
                  });
  std::size_t frame = 0;
  for (; frame < 1440; ++frame) step(session, frame);
  const std::uint64_t before = allocations_so_far();
  for (; frame < 1920; ++frame) step(session, frame);
  EXPECT_EQ(allocations_so_far() - before, 0u);
  EXPECT_EQ(session.organs()[0].topology, 0u);
}

glm::vec3 mean_displacement(const Organ& organ) {
  glm::dvec3 sum(0.0);
  for (std::size_t v = 0; v < organ.positions.size(); ++v)
    sum += glm::dvec3(organ.positions[v]) - glm::dvec3(organ.mesh.positions[v]);
  return glm::vec3(sum / static_cast<double>(organ.positions.size()));
}

// The tour's liver hangs on the diaphragm: breathing in moves it down by the amplitude, breathing out moves it
// back.
TEST(Breathing, MovesTheLiverByItsAmplitudeWithinHalfABreath) {
  Scene scene = load_scene(repository_file("data/scenes/tour.toml"));
  scene.organs.resize(1);
  scene.organs[0].tissue.node_spacing = 0.014f;
  scene.instruments.resize(1);
  CpuBackends backends;
  Session session(scene, backends, "scan", {}, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.pivot + glm::dvec3(0.0, 0.0, 0.05), "press", 0.001, 0.001});
  });
  const Organ& liver = session.organs()[0];
  const double amplitude = static_cast<double>(scene.breathing.amplitude);
  const auto half = static_cast<std::size_t>(0.5 / static_cast<double>(scene.breathing.rate) / kFrame);
  std::size_t frame = 0;
  for (; frame < half; ++frame) session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
  const double in = -static_cast<double>(mean_displacement(liver).y);
  const std::uint32_t node = liver.tissue.diaphragm.at(0);
  EXPECT_NEAR(liver.tissue.rest[node].y - liver.state.x[node].y, amplitude, 1e-5);
  for (; frame < 2 * half; ++frame) session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
  const double out = -static_cast<double>(mean_displacement(liver).y);
  std::printf("amplitude %.2f mm: mean of the liver %.2f mm at breath in, %.2f mm at breath out\n", amplitude * 1e3,
              in * 1e3, out * 1e3);
  EXPECT_NEAR(in, amplitude, 0.1 * amplitude);
  EXPECT_NEAR(out, 0.0, 0.1 * amplitude);
}

}  // namespace
}  // namespace trocar

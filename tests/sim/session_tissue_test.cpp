// Tests instruments that act on tissue in a session: they burn, pull and press while organs breathe. The backends agree
// throughout, faces keep their ids, the same scene gives the same bits with any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "app/compare/backends.hpp"
#include "app/window/readings.hpp"
#include "cpu_collision/queries.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/solid_check.hpp"
#include "sim/device/script_device.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/session_support.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// A ball on a floor that breathes, beside another ball; instruments of every kind act on it.
class TissueScene : public ::testing::Test {
 protected:
  TissueScene() {
    save_mesh(shapes::icosphere(4, 0.04f), folder_.path() / "left.obj");
    save_mesh(shapes::icosphere(3, 0.03f, {0.072f, 0.f, 0.f}), folder_.path() / "right.obj");
  }

  static std::string instrument(const std::string& kind, const std::string& script) {
    return "[[instrument]]\nname = \"" + script + "\"\nkind = \"" + kind +
           "\"\npivot_mm = [0, 20, 150]\ntip_mm = [0, 0, 39]\nradius_mm = 3\ndevice = \"script\"\nscript = \"" +
           script + "\"\n";
  }

  // Makes a scene with one ball, or with two that nearly touch.
  Scene scene(const std::string& instruments, int balls = 1, const std::string& more = "") {
    std::string text = more;
    for (const std::string name : {"left", "right"}) {
      if (balls-- == 0) break;
      text += "[[organ]]\nname = \"" + name + "\"\nmesh = \"" + name +
              ".obj\"\n[organ.tissue]\nnode_spacing_mm = 8\n[[organ.attachment]]\ncentre_mm = [" +
              (name == "left" ? "0" : "72") + ", 0, -38]\nradius_mm = 25\ndiaphragm = true\n";
    }
    return load_scene(folder_.write("s.toml", text + instruments));
  }

  // Every script repeats after two seconds.
  static std::unique_ptr<Device> script(const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script, 0.012, 0.008, kRound});
  }

  static void step(Session& session, std::size_t frame) {
    session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
  }

  static constexpr double kRound = 2.0;  // s
  TemporaryFolder folder_;
  Backends backends_;
};

// Tracks faces by id: their vertices must not change, and removed faces must not return.
class FaceBook {
 public:
  explicit FaceBook(const Organ& organ) { check(organ); }

  void check(const Organ& organ) {
    std::vector<char> alive(corners_.size(), 0);
    for (std::size_t slot = 0; slot < organ.face_ids.size(); ++slot) {
      const std::size_t id = index(organ.face_ids[slot]);
      if (slot > 0) {
        ASSERT_LT(index(organ.face_ids[slot - 1]), id);
      }
      if (id >= corners_.size()) {
        corners_.resize(id + 1, glm::uvec3(0));
        corners_[id] = organ.mesh.faces[slot];
        alive.resize(id + 1, 0);
      } else {
        ASSERT_FALSE(removed_[id]) << "face " << id << " came back";
        ASSERT_EQ(corners_[id], organ.mesh.faces[slot]) << "face " << id;
      }
      alive[id] = 1;
    }
    removed_.resize(corners_.size(), 0);
    for (std::size_t id = 0; id < removed_.size(); ++id) removed_[id] = !alive[id];
  }

  bool removed(std::size_t id) const { return removed_[id]; }
  std::size_t size() const { return corners_.size(); }
  std::size_t count_removed() const {
    return static_cast<std::size_t>(std::count(removed_.begin(), removed_.end(), 1));
  }

 private:
  std::vector<glm::uvec3> corners_;  // [face id]
  std::vector<char> removed_;        // [face id]
};

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

TEST_F(TissueScene, BackendsAgreeWhileTheHookBurns) {
  Session session(scene(instrument("hook", "burn")), backends_, "scan", {{"obb-refit", 1}, {"obb", 1}}, script);
  const Organ& ball = session.organs()[0];
  FaceBook book(ball);
  const std::vector<glm::vec3> rest = ball.mesh.positions;
  std::uint32_t changes = 0;
  std::uint64_t touched = 0;
  for (std::size_t frame = 0; frame < 120; ++frame) {
    step(session, frame);
    book.check(ball);
    ASSERT_EQ(session.disagreements(), 0u) << "frame " << frame;
    EXPECT_EQ(ball.change.empty(), ball.topology == changes);
    if (session.instruments()[0].energy == Diathermy::Off) {
      EXPECT_TRUE(ball.change.empty());
    }
    changes = ball.topology;
    touched += session.touched();
  }
  EXPECT_GT(changes, 5u);
  EXPECT_GT(touched, 50u);
  EXPECT_GT(book.count_removed(), 20u);
  EXPECT_EQ(book.size(), ball.damage.marks.size());
  for (std::size_t id = 0; id < book.size(); ++id)
    EXPECT_EQ((ball.damage.marks[id] & kBurnt) != 0, book.removed(id)) << id;
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), ball.mesh.positions.begin()));
  const DamageReading reading = reading_of(ball.damage);
  EXPECT_EQ(reading.burnt, book.count_removed());
  EXPECT_EQ(reading.torn, 0u);
  EXPECT_EQ(reading.peak, *std::max_element(ball.damage.peak.begin(), ball.damage.peak.end()));
  EXPECT_NO_THROW(closed_volume(ball.mesh.view()));
  std::printf("%u changes, %zu of %zu faces burnt, %llu touched\n", changes, book.count_removed(), book.size(),
              static_cast<unsigned long long>(touched));
}

// Two hooks burn the same ball and scissors cut it: in some frames faces of the first change are removed by the second.
// The query then answers like a new object.
TEST_F(TissueScene, TheQueryFollowsSeveralChangesInAFrame) {
  std::string second = instrument("hook", "burn");
  second.replace(second.find("\"burn\""), 6, "\"second\"");
  second.replace(second.find("[0, 0, 39]"), 10, "[3, 1, 39]");
  std::vector<CheckPlan> checks{{"obb-refit", 1}};
  if (backends_.context()) checks.push_back({"compute", 1});
  Session session(scene(instrument("hook", "burn") + second + instrument("scissors", "pull")), backends_, "scan",
                  checks, script);
  const Organ& ball = session.organs()[0];
  std::size_t twice = 0, passing = 0;
  for (std::size_t frame = 0; frame < 110; ++frame) {
    step(session, frame);
    ASSERT_EQ(session.disagreements(), 0u) << "frame " << frame;
    twice += ball.topology > ball.topology_before + 1;
    const std::size_t added = ball.change.new_faces.size();
    passing += ball.change.removed.size() > ball.removed_slots.size();
    if (added == 0) continue;
    const ToolStep step{{0.02, 0.02, 0.15}, {0.0, 0.0, 0.03}, {0.005, 0.0, 0.03}, 0.01};
    const ToolVolume volume = swept_volume(step, Cover::Capsule);
    const auto fresh = make_scan_query();
    fresh->rebuild({ball.positions, ball.mesh.faces});
    const TouchList expected = fresh->touched({&volume, 1}, TouchSet::Exact);
    const TouchList answer = ball.query->touched({&volume, 1}, TouchSet::Exact);
    ASSERT_TRUE(std::equal(
        answer.touches.begin(), answer.touches.end(), expected.touches.begin(), expected.touches.end(),
        [](const Touch& a, const Touch& b) { return a.face == b.face && a.point == b.point && a.depth == b.depth; }))
        << "frame " << frame;
  }
  EXPECT_GT(twice, 0u);
  EXPECT_GT(passing, 0u);
  std::printf("%zu frames with two changes, %zu in which faces came and went\n", twice, passing);
}

std::uint64_t hash_of_run(const Scene& scene, Backends& backends, const Session::DeviceMaker& maker) {
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
  Backends backends;
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

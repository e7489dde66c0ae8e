// Tests instruments that act on tissue in a session: they cut, burn, pull and press while organs breathe. Faces keep
// their ids, and the same scene gives the same bits with any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <glm/glm.hpp>

#include "deform/reference/implicit_reference.hpp"
#include "geometry/closest.hpp"
#include "sim/device/tool_shape.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "sim/session/tissue_world.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/sim/session/tissue_session.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/test_data.hpp"

// Provides what tests of jaws on the liver of the demonstration scene share. Units: metres, world frame.
namespace trocar::test {

inline Scene liver_alone() {
  Scene scene = load_scene(repository_file("data/scenes/liver_and_stomach.toml"));
  scene.organs.resize(1);
  scene.instruments.resize(1);
  scene.breathing.amplitude = 0.f;
  return scene;
}

// A vertex of the surface and the mean normal of its faces.
struct Place {
  glm::dvec3 point{0.0}, normal{0.0};
};

inline Place place_near(const Organ& organ, const glm::dvec3& near) {
  std::uint32_t vertex = 0;
  for (std::uint32_t v = 0; v < organ.positions.size(); ++v)
    if (glm::distance(glm::dvec3(organ.positions[v]), near) < glm::distance(glm::dvec3(organ.positions[vertex]), near))
      vertex = v;
  Place place{glm::dvec3(organ.positions[vertex])};
  for (const glm::uvec3& face : organ.mesh.faces) {
    const Triangle t = triangle_of(organ.positions, face);
    if (glm::distance(t.a, place.point) < 0.01) place.normal += glm::cross(t.b - t.a, t.c - t.a);
  }
  place.normal = glm::normalize(place.normal);
  return place;
}

}  // namespace trocar::test

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

// Tests when tips move through tissue without contact: the rules by hand, and a session in which a hook that has burnt
// its way too deep leaves.

namespace {

TEST(TipSlip, BeginsAboveTheForceThatTissueBearsAndEndsOutsideTheOrgan) {
  TipSlip wires(2, 2);
  const auto frame = [&](const glm::vec3& force, bool touches) {
    wires.begin();
    for (int piece = 0; piece < 4; ++piece) wires.add(1, 0, 0.25f * force);
    for (const std::size_t organ : {0u, 1u}) wires.end_frame(1, organ, {touches, false, 2.0, kFrame});
    return wires.slips(1, 0);
  };
  EXPECT_FALSE(frame({0.f, 1.99f, 0.f}, true));
  EXPECT_TRUE(frame({0.f, 1.5f, 1.5f}, true));
  EXPECT_TRUE(frame({0.f, 0.f, 0.f}, true)) << "it is still in the organ";
  EXPECT_FALSE(wires.slips(1, 1)) << "another organ";
  EXPECT_FALSE(wires.slips(0, 0)) << "another tool";
  EXPECT_FALSE(frame({0.f, 0.f, 0.f}, false));
  EXPECT_FALSE(frame({0.f, 1.f, 0.f}, true)) << "a new contact";
}

// Pierced skin ends the contact after a quarter of a second without a break, at any rate.
TEST(TipSlip, BeginsWhenThePartStaysInTheSkin) {
  for (const double rate : {60.0, 30.0, 500.0, 2000.0}) {
    TipSlip slips(1, 1);
    const auto frames = [&](int count, bool pierced) {
      for (int k = 0; k < count; ++k) slips.begin(), slips.end_frame(0, 0, {true, pierced, INFINITY, 1.0 / rate});
      return slips.slips(0, 0);
    };
    const int patience = std::min(int(std::ceil(0.25 * rate)), 255);
    EXPECT_FALSE(frames(patience - 1, true)) << rate;
    EXPECT_FALSE(frames(1, false)) << rate;
    EXPECT_FALSE(frames(patience - 1, true)) << rate << ": it begins again";
    EXPECT_TRUE(frames(1, true)) << rate;
    EXPECT_TRUE(frames(10, false)) << rate << ": until it has left";
    slips.end_frame(0, 0, {});
    EXPECT_FALSE(slips.slips(0, 0)) << rate;
  }
}

// The demonstration's hook burns along a line that leads ever deeper into the liver, and then leaves without energy.
double strongest_force_on_the_hook(double tears_from) {
  Scene scene = load_scene(repository_file("data/scenes/four_instruments.toml"));
  const auto hook = std::find_if(scene.instruments.begin(), scene.instruments.end(),
                                 [](const InstrumentScene& i) { return i.kind == InstrumentKind::Hook; });
  hook->hook.tears_from = tears_from;
  const auto tool = static_cast<std::size_t>(hook - scene.instruments.begin());
  CpuBackends backends;
  Session session(scene, backends, "scan", {}, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script});
  });
  double strongest = 0.0;
  for (std::size_t frame = 0; frame < 240; ++frame) {
    session.step({frame, double(frame) * kFrame}, kFrame);
    strongest = std::max(strongest, double(glm::length(session.instruments()[tool].force)));
  }
  std::printf("tears from %g N: strongest %.2f N\n", tears_from, strongest);
  return strongest;
}

TEST(TipSlip, ADeepWireTearsOutInsteadOfDraggingTheOrganAlong) {
  EXPECT_LT(strongest_force_on_the_hook(HookParams{}.tears_from), 3.0);
  EXPECT_LT(strongest_force_on_the_hook(1000.0), 3.0) << "a wire that no force tears out has pierced the skin";
}

}  // namespace

// Jaws that hold a fold of the liver and pull it: nothing of the organ enters the jaws, and what they hold lies between
// them.

namespace {

using glm::dvec3;
using test::Place;

// Where the jaws grip: near this point, `roll_deg` about the normal; the shaft leans by `lean_deg` from the normal.
struct Grip {
  const char* name;
  dvec3 near;  // m
  double lean_deg, roll_deg;

  friend void PrintTo(const Grip& grip, std::ostream* out) { *out << grip.name; }
};

constexpr Grip kGrips[] = {{"dome", {-0.076, 0.090, 0.176}, 0.0, 0.0},
                           {"leaning", {-0.047, 0.055, 0.166}, 40.0, 60.0},
                           {"lobe", {0.002, 0.082, 0.177}, 20.0, 90.0}};

// Returns how deep a point lies below the surface of a part: the least distance from a plane of its hull; negative
// outside.
double depth_in(const PartShape& shape, std::span<const dvec3> corners, const dvec3& p) {
  double depth = 1.0;
  for (const glm::uvec3& face : shape.faces) {
    const dvec3& a = corners[face.x];
    const dvec3 normal = glm::cross(corners[face.y] - a, corners[face.z] - a);
    const double area = glm::length(normal);
    if (area > 1e-12) depth = std::min(depth, shape.radius - glm::dot(normal, p - a) / area);
  }
  return depth;
}

// Returns the depth of the deepest point of an organ's faces in the part, on a grid of an eighth of each edge.
double deepest_point(const PartShape& shape, const InstrumentMotion& motion, const Organ& organ) {
  constexpr int kSteps = 8;
  const PosedPart part(shape, frame_at(motion, shape, 1.0));
  const dvec3 centre = part.corners()[0];
  double deepest = -1.0;
  for (const glm::uvec3& face : organ.mesh.faces) {
    const Triangle t = triangle_of(organ.positions, face);
    if (glm::distance(t.a, centre) > 0.03) continue;
    for (int u = 0; u <= kSteps; ++u)
      for (int v = 0; u + v <= kSteps; ++v)
        deepest =
            std::max(deepest, depth_in(shape, part.corners(),
                                       t.a + (double(u) * (t.b - t.a) + double(v) * (t.c - t.a)) / double{kSteps}));
  }
  return deepest;
}

class JawHold : public ::testing::TestWithParam<Grip> {
 protected:
  CpuBackends backends_;
  Scene scene_ = test::liver_alone();
  DevicePose pose_{scene_.instruments[0].pivot, scene_.instruments[0].tip};
  Session session_{
      scene_, backends_, "scan", {}, [this](const InstrumentScene&) { return std::make_unique<PosedDevice>(&pose_); }};
};

// The jaws press 2.5 mm into the liver in half a second, close in a quarter of a second and draw back 10 mm. Pinched
// from a taut dome, tissue slides out of the jaws in part, and they hold what remains.
TEST_P(JawHold, NothingOfTheOrganEntersTheJaws) {
  const Organ& liver = session_.organs()[0];
  const Instrument& grasper = session_.instruments()[0];
  const Place place = test::place_near(liver, GetParam().near);
  const double lean = glm::radians(GetParam().lean_deg);
  const dvec3 side = glm::normalize(glm::cross(place.normal, dvec3(1, 0, 0)));
  const dvec3 shaft = std::cos(lean) * place.normal + std::sin(lean) * side;
  InstrumentBody body(InstrumentKind::Grasper, grasper.radius, grasper.limits);
  pose_ = {place.point + 0.16 * shaft, place.point, GetParam().roll_deg, 1.0};
  double open = 0.0, closing = 0.0, pulled = 0.0;  // m, deepest
  float pull = 0.f;
  std::size_t held = 0;
  for (int i = 0; i < 110; ++i) {
    const double down = std::min(i / 30.0, 1.0), back = std::clamp((i - 60) / 40.0, 0.0, 1.0);
    pose_.tip = place.point + (0.010 - 0.0125 * down + 0.010 * back) * shaft;
    pose_.grip = std::clamp(1.0 - (i - 35) / 15.0, 0.0, 1.0);
    session_.step({static_cast<std::uint64_t>(i), i * kFrame}, kFrame);
    body.move(nullptr, {grasper.pose, grasper.roll_deg, grasper.grip}, ToolMode::Swept);
    double& deepest = i <= 35 ? open : i <= 60 ? closing : pulled;
    for (const PartShape& shape : body.shapes())
      deepest = std::max(deepest, deepest_point(shape, body.motion(), liver));
    held += grasper.grasp.holding();
    pull = std::max(pull, glm::length(grasper.grasp.pull));
  }
  std::printf("%s: held in %zu frames, pull %.2f N; deepest %.2f mm open, %.2f mm closing, %.2f mm pulled\n",
              GetParam().name, held, static_cast<double>(pull), open * 1e3, closing * 1e3, pulled * 1e3);
  EXPECT_GT(held, 60u);
  EXPECT_GT(pull, 0.2f);
  EXPECT_LT(open, 6e-4);
  // A fold between the jaws is held and pressed, and its dents mix.
  EXPECT_LT(closing, 8e-4);
  EXPECT_LT(pulled, 8e-4);
}

INSTANTIATE_TEST_SUITE_P(Places, JawHold, ::testing::ValuesIn(kGrips));

}  // namespace

// Presses one open jaw of the drawn grasper 5 mm into the liver of the demonstration scene and holds it there: the
// force in the session equals that of the implicit reference solver, whose contact points do not come from the session.

namespace {

using glm::dvec3;
using test::Place;

constexpr double kDepth = 0.005;   // m
constexpr double kTrocar = 0.16;   // m  from the pressed point to the trocar
constexpr std::uint32_t kJaw = 1;  // the part that presses
constexpr double kPatch = 0.03;    // m  the surface around the pressed point that the jaw may touch

// Returns the barycentric weights of a point of a face.
dvec3 weights_of(const Triangle& t, const dvec3& p) {
  const dvec3 n = glm::cross(t.b - t.a, t.c - t.a);
  const double square = glm::dot(n, n);
  const double b = glm::clamp(glm::dot(glm::cross(p - t.a, t.c - t.a), n) / square, 0.0, 1.0);
  const double c = glm::clamp(glm::dot(glm::cross(t.b - t.a, p - t.a), n) / square, 0.0, 1.0 - b);
  return {1.0 - b - c, b, c};
}

// Where the jaw presses. `elevation`: of the shaft over the surface; `turn`: about the shaft, from the roll at which
// the other jaw and the shaft are farthest from the surface.
struct Press {
  const char* name;
  dvec3 near;  // m
  double elevation_deg, turn_deg, aperture;

  friend void PrintTo(const Press& press, std::ostream* out) { *out << press.name; }
};

// On the dome with the jaws wide open, right of it nearly flat, and on the left lobe with an edge of the jaw.
constexpr Press kPresses[] = {{"dome", {-0.076, 0.090, 0.176}, 10.0, 0.0, 1.0},
                              {"flat", {-0.110, 0.060, 0.150}, 20.0, 0.0, 0.3},
                              {"edge", {0.002, 0.082, 0.177}, 40.0, 40.0, 0.6}};

std::vector<glm::uvec3> faces_near(const Organ& organ, const dvec3& point) {
  std::vector<glm::uvec3> faces;
  for (const glm::uvec3& face : organ.mesh.faces)
    if (glm::distance(dvec3(organ.positions[face.x]), point) < kPatch) faces.push_back(face);
  return faces;
}

// The instrument at a pose, and its end pose in the scene's terms.
struct Pressing {
  const Organ& organ;
  const Press& press;
  Place place;
  std::vector<glm::uvec3> faces;
  InstrumentBody body;
  DevicePose end;

  Pressing(const Organ& o, const Press& p, const Instrument& grasper)
      : organ(o),
        press(p),
        place(test::place_near(o, p.near)),
        faces(faces_near(o, place.point)),
        body(InstrumentKind::Grasper, grasper.radius, grasper.limits) {
    const dvec3 away = std::abs(place.normal.y) < 0.9 ? dvec3(0, -1, 0) : dvec3(1, 0, 0);
    const dvec3 along = glm::normalize(away - glm::dot(away, place.normal) * place.normal);
    const double e = glm::radians(press.elevation_deg);
    const dvec3 shaft = std::cos(e) * along + std::sin(e) * place.normal;
    end = {place.point + kTrocar * shaft, place.point, 0.0, press.aperture};
    double best = -1.0;
    DevicePose turned = end;
    for (turned.roll_deg = 0.0; turned.roll_deg < 360.0; turned.roll_deg += 5.0) {
      move_to(turned);
      const double ahead = std::min(lowest(2), shaft_height()) - lowest(kJaw);
      if (ahead > best) best = ahead, end.roll_deg = turned.roll_deg;
    }
    end.roll_deg += press.turn_deg;
    for (int round = 0; round < 6; ++round) {
      move_to(end);
      end.tip -= (kDepth - lift()) * place.normal;
    }
    move_to(end);
  }

  void move_to(const DevicePose& pose) {
    body.move(nullptr, {{pose.pivot, pose.tip, 0.0025}, pose.roll_deg, pose.grip}, ToolMode::Swept);
  }
  PosedPart posed(std::uint32_t part) const {
    const PartShape& shape = body.shapes()[part - 1];
    return PosedPart(shape, frame_at(body.motion(), shape, 1.0));
  }
  double lowest(std::uint32_t part) const {
    double height = 1.0;
    const PosedPart at = posed(part);
    for (const dvec3& corner : at.corners()) height = std::min(height, glm::dot(corner - place.point, place.normal));
    return height;
  }
  double shaft_height() const { return glm::dot(body.step(kShaftPart).tip_after - place.point, place.normal) - 0.0025; }
  bool touches_when_lifted(double by) const {
    const PosedPart jaw = posed(kJaw);
    const double radius = body.shapes()[kJaw - 1].radius;
    return std::any_of(faces.begin(), faces.end(), [&](const glm::uvec3& face) {
      const Triangle t = triangle_of(organ.mesh.positions, face);
      const dvec3 down = by * place.normal;
      const std::array<dvec3, 3> corners{t.a - down, t.b - down, t.c - down};
      return hull_distance(jaw.corners(), corners).distance < radius;
    });
  }
  // Returns how far the jaw must be lifted along the normal until it just touches the surface from above.
  double lift() const {
    double high = 0.03;
    while (!touches_when_lifted(high) && high > -0.03) high -= 0.001;
    double low = high;
    high += 0.001;
    for (int k = 0; k < 20; ++k) {
      const double middle = 0.5 * (low + high);
      (touches_when_lifted(middle) ? low : high) = middle;
    }
    return high;
  }
};

struct Reference {
  double force = 0.0;    // N
  double deepest = 0.0;  // m  of any point of a face in the jaw
};

// Solves for the liver at rest under the jaw, where its lattice meets it: shifted by the dent. The point of each face
// that is deepest in the jaw joins the contacts, and the solver starts again, until no face is deeper than 0.15 mm:
// contacts leave 0.1 mm.
Reference reference_of(const Pressing& pressing) {
  const Organ& organ = pressing.organ;
  const ToolStep& jaw = pressing.body.step(kJaw);
  ImplicitState state = implicit_rest(organ.tissue);
  for (std::size_t i = 0; i < state.x.size(); ++i) state.x[i] = dvec3(organ.state.x[i]);
  std::vector<TissueContact> contacts = test::part_grid(pressing.posed(kJaw), pressing.faces, organ.positions);
  std::vector<glm::vec3> positions = organ.positions;
  Reference found;
  const auto corners = pressing.posed(kJaw);
  for (int round = 0; round < 8; ++round) {
    const ImplicitResult answer =
        implicit_equilibrium(organ.tissue, state, {{&jaw, 1}, contacts, {}}, {.balance = 1e-5});
    EXPECT_TRUE(answer.balanced) << answer.unbalanced;
    found = {glm::length(answer.tool_force[0]), 0.0};
    const std::vector<glm::vec3> nodes(state.x.begin(), state.x.end());
    embed_surface(organ.tissue, nodes, positions);
    for (const glm::uvec3& face : pressing.faces) {
      const Triangle t = triangle_of(positions, face);
      const HullDistance closest = hull_distance(corners.corners(), std::array{t.a, t.b, t.c});
      const double depth = jaw.part.shape->radius - closest.distance;
      found.deepest = std::max(found.deepest, depth);
      if (depth < 1.5e-4) continue;
      const dvec3 w = weights_of(t, closest.on_second);
      test::add_part_point(corners, face, static_cast<float>(w.y), static_cast<float>(w.z), positions, contacts);
    }
    if (found.deepest < 1.5e-4) break;
  }
  return found;
}

// The reference at rest has no friction.
Scene without_friction() {
  Scene scene = test::liver_alone();
  scene.organs[0].tissue.friction = 0.f;
  return scene;
}

class JawPress : public ::testing::TestWithParam<Press> {
 protected:
  void step(int frames, const std::function<void(int)>& each = {}) {
    for (int i = 0; i < frames; ++i, ++frame_) {
      if (each) each(i);
      session_.step({frame_, static_cast<double>(frame_) * kFrame}, kFrame);
    }
  }

  CpuBackends backends_;
  Scene scene_ = without_friction();
  DevicePose pose_{scene_.instruments[0].pivot, scene_.instruments[0].tip};
  Session session_{
      scene_, backends_, "scan", {}, [this](const InstrumentScene&) { return std::make_unique<PosedDevice>(&pose_); }};
  std::size_t frame_ = 0;
};

// The jaw goes down 9 mm in a second, 5 mm of them in tissue, and waits. The force is the mean of half a second,
// because without friction the end of the jaw slides on the tissue under it.
TEST_P(JawPress, ForceOnALiverAgreesWithTheImplicitReference) {
  const Organ& liver = session_.organs()[0];
  const Instrument& grasper = session_.instruments()[0];
  Pressing pressing(liver, GetParam(), grasper);
  EXPECT_NEAR(pressing.lift(), kDepth, 1e-5);
  pose_ = pressing.end;
  step(60, [&](int i) { pose_.tip = pressing.end.tip + (1.0 - (i + 1) / 60.0) * 0.009 * pressing.place.normal; });
  step(90);
  constexpr int kMean = 30;
  dvec3 force(0.0), torque(0.0);
  for (int i = 0; i < kMean; ++i) {
    step(1);
    force += dvec3(grasper.force) / double{kMean}, torque += dvec3(grasper.torque) / double{kMean};
  }
  const auto touches = [&](std::uint32_t part) {
    return liver.touched.part_first[part + 1] - liver.touched.part_first[part];
  };
  EXPECT_EQ(touches(kShaftPart) + touches(2), 0u) << "only one jaw presses";
  EXPECT_GT(touches(kJaw), 0u);
  const dvec3 dent(liver.state.dents[kJaw].shift);
  pressing.end.pivot += dent, pressing.end.tip += dent;
  pressing.move_to(pressing.end);
  const Reference expected = reference_of(pressing);
  EXPECT_LT(expected.deepest, 1.5e-4);
  std::printf("%s: jaw %.3f N, reference %.3f N, ratio %.3f\n", GetParam().name, glm::length(force), expected.force,
              glm::length(force) / expected.force);
  EXPECT_NEAR(glm::length(force) / expected.force, 1.0, 0.1);
  // A lever: the jaw touches within some millimetres of the pressed point.
  EXPECT_LT(glm::length(torque - glm::cross(pressing.place.point - pose_.pivot, force)), 0.1 * glm::length(torque));
}

// The surface that is seen and queried lies at the jaw, on its way in and at rest, as the lattice does at the jaw that
// its contacts see.
TEST_P(JawPress, TheSurfaceThatIsSeenLiesAtTheJaw) {
  const Organ& liver = session_.organs()[0];
  Pressing pressing(liver, GetParam(), session_.instruments()[0]);
  pose_ = pressing.end;
  double deepest = 0.0, farthest = 0.0, deepest_met = 0.0, dent = 0.0;
  const auto look = [&] {
    pressing.move_to(pose_);
    const PosedPart jaw = pressing.posed(kJaw);
    const double radius = pressing.body.shapes()[kJaw - 1].radius;
    const dvec3 shift(liver.state.dents[kJaw].shift);
    const auto gap = [&](const std::vector<glm::vec3>& positions, const glm::uvec3& face, const dvec3& by) {
      const Triangle t = triangle_of(positions, face);
      return hull_distance(jaw.corners(), std::array{t.a + by, t.b + by, t.c + by}).distance - radius;
    };
    double nearest = 1.0, nearest_met = 1.0;
    for (const glm::uvec3& face : pressing.faces) {
      nearest = std::min(nearest, gap(liver.positions, face, dvec3(0.0)));
      nearest_met = std::min(nearest_met, gap(liver.skin, face, -shift));
    }
    deepest = std::max(deepest, -nearest), deepest_met = std::max(deepest_met, -nearest_met);
    dent = std::max(dent, glm::length(shift));
    if (glm::length(session_.instruments()[0].force) > 0.02f) farthest = std::max(farthest, nearest);
  };
  for (int i = 0; i < 60; ++i) {
    pose_.tip = pressing.end.tip + (1.0 - (i + 1) / 60.0) * 0.009 * pressing.place.normal;
    step(1), look();
  }
  for (int i = 0; i < 30; ++i) {
    step(1), look();
    EXPECT_GT(liver.touched.part_first[kJaw + 1] - liver.touched.part_first[kJaw], 0u) << i;
  }
  std::printf("%s: dent %.3f mm; the jaw is %.3f mm in the surface, %.3f mm in what its contacts see, %.3f mm off\n",
              GetParam().name, 1e3 * dent, 1e3 * deepest, 1e3 * deepest_met, 1e3 * farthest);
  EXPECT_GT(dent, 2e-3);
  EXPECT_LT(deepest, deepest_met + 6e-5);
  EXPECT_LT(farthest, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Places, JawPress, ::testing::ValuesIn(kPresses));

}  // namespace

}  // namespace trocar

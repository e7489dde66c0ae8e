// Tests clips in a session: an applier closes them on ducts, they hold the duct closed, count for the part on which
// they sit when scissors divide the duct, and come off when it is forced open; keys and faults of a scene.
#include <gtest/gtest.h>

#include <cstdio>
#include <numbers>
#include <random>

#include "sim/scene/scene.hpp"
#include "sim/scene/scene_access.hpp"
#include "tests/sim/session/duct_session.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

using ClipsOnADuct = test::DuctSession;

// The clip goes all around, keeps the tissue flat after the jaws have let go, and lies where they were.
TEST_F(ClipsOnADuct, AnApplierClosesAClipThatHoldsTheDuctClosed) {
  start(test::duct_scene());
  run(10);
  const double before = thickness(0.015);
  clip(0.015);
  ASSERT_EQ(clips().clips().size(), 1u);
  const PlacedClip& placed = clips().clips()[0];
  const ClipPose pose = pose_of(placed.clip, duct().positions);
  std::printf("%u struts, gap %.2f mm, tension %.2f N; the duct was %.2f mm thick, and is %.2f mm\n", placed.clip.count,
              1e3 * double(pose.gap), double(tension_of(placed.clip, duct().positions, placed.used)), 1e3 * before,
              1e3 * thickness(0.015));
  EXPECT_EQ(placed.closed, 1.f);
  EXPECT_LT(glm::distance(glm::dvec3(pose.centre), glm::dvec3(0.015, 0, 0)), 1e-3);
  EXPECT_LT(double(pose.legs.z), -0.95) << "away from the hinge";
  EXPECT_LT(double(pose.gap), 1.4e-3);
  EXPECT_GT(before, 3.5e-3);
  EXPECT_LT(thickness(0.015), 2e-3);
  // The duct is stretched, so the clip sits nearer to its start than its position says.
  EXPECT_NEAR(double(placed.along), 0.014, 1.5e-3);
  EXPECT_EQ(clips().tubes()[0], (TubeState{false, 1, 1, 0.f}));
  EXPECT_EQ(session_->instruments()[0].clips_left, 19);
}

// Instruments that close on the duct more or less deep and open more or less wide never get stuck in it.
TEST_F(ClipsOnADuct, EveryCutDividesTheDuct) {
  constexpr std::uint32_t kSeed = 7;
  std::mt19937 random(kSeed);
  const auto uniform = [&](double low, double high) { return low + (high - low) * double(random()) / 4294967296.0; };
  int on_both_sides = 0;
  for (int k = 0; k < 6; ++k) {
    start(test::duct_scene());
    const double x = uniform(0.018, 0.034), depth = uniform(0.003, 0.010), aperture = uniform(0.4, 1.0);
    for (const double at : {x - 0.009, x + 0.009}) use(0, at, -uniform(0.001, 0.0035), 1.0);
    use(1, x, -depth, aperture);
    const TubeState& tube = clips().tubes()[0];
    EXPECT_TRUE(tube.divided) << "seed " << kSeed << ", duct " << k;
    on_both_sides += tube.clips_at_start == 1 && tube.clips_at_end == 1;
    EXPECT_LT(glm::length(session_->instruments()[0].force), 0.1f) << "the duct hangs on the applier";
    EXPECT_LT(glm::length(session_->instruments()[1].force), 0.1f) << "the duct hangs on the scissors";
  }
  std::printf("%d of 6 ducts have a clip on both sides\n", on_both_sides);
  EXPECT_GE(on_both_sides, 4);
}

// Rods move a duct with a wall: clips keep it flat, a cut makes two rods, and a saved session goes on with the same
// bits.
TEST_F(ClipsOnADuct, ADuctWithAWallIsClippedAndDivided) {
  std::string scene = with("radius_mm = 2\n", "radius_mm = 2\nwall_mm = 1\n");
  const std::string spacing = "node_spacing_mm = 4";
  scene.replace(scene.find(spacing), spacing.size(), "node_spacing_mm = 2");
  start(scene);
  run(10);
  for (const double x : {0.013, 0.036}) clip(x);
  ASSERT_EQ(duct().state.tube.rods.size(), 1u);
  for (const PlacedClip& placed : clips().clips()) EXPECT_LT(pose_of(placed.clip, duct().positions).gap, 2.5e-3f);
  EXPECT_EQ(clips().tubes()[0], (TubeState{false, 2, 2, 0.f}));
  cut(0.025);
  EXPECT_TRUE(clips().tubes()[0].divided);
  EXPECT_EQ(clips().tubes()[0].clips_at_start, 1u);
  EXPECT_EQ(clips().tubes()[0].clips_at_end, 1u);
  EXPECT_EQ(duct().state.tube.rods.size(), 2u);
  const Saved saved = save();
  run(20);
  const std::vector<glm::vec3> once = duct().state.x;
  restore(saved);
  run(20);
  EXPECT_EQ(duct().state.x, once);
}

TEST_F(ClipsOnADuct, ClipsStayOnTheirPartOfADividedDuct) {
  start(test::duct_scene());
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
TEST_F(ClipsOnADuct, AClipCountsOnlyWhereItGoesAllAround) {
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
TEST_F(ClipsOnADuct, AClipThatIsForcedOpenComesOff) {
  for (const bool weak : {true, false}) {
    start(with("holds_n = 8", weak ? "holds_n = 1" : "holds_n = 8"));
    run(10);
    clip(0.015);
    ASSERT_EQ(clips().clips().size(), 1u);
    EXPECT_EQ(clips().clips()[0].on(), !weak);
    EXPECT_EQ(clips().tubes()[0].clips_at_start, weak ? 0u : 1u);
    EXPECT_EQ(session_->bonds().bonds().struts.size(), weak ? 0u : clips().clips()[0].clip.count);
  }
}

TEST_F(ClipsOnADuct, ClipsPassThroughASavedSession) {
  start(test::duct_scene());
  run(10);
  clip(0.013);
  cut(0.026);
  ASSERT_TRUE(clips().tubes()[0].divided);
  move(0, 0.008, 0.04);
  move(0, 0.008, -0.002);
  pose_[0].grip = 0.3;
  run(2);
  const Saved saved = save();
  const auto finish = [&] {
    grip(0, 0.0);
    grip(0, 1.0);
    run(10);
    return session_->save();
  };
  const TubeState before = clips().tubes()[0];
  const std::vector<std::byte> uninterrupted = finish();
  ASSERT_EQ(clips().clips().size(), 2u);
  restore(saved);
  ASSERT_EQ(clips().clips().size(), 1u);
  EXPECT_EQ(clips().tubes()[0], before);
  EXPECT_EQ(finish(), uninterrupted);
}

TEST_F(ClipsOnADuct, FaultsAreOneSentence) {
  expect_sentence(with("length_mm = 8.5", "length_mm = 15"), "is more than the jaws, which are 14 mm long");
  expect_sentence(with("length_mm = 8.5", "length_mm = 0"), "length_mm");
  expect_sentence(with("length_mm = 8.5", "closes = 0.4\nloads = 0.3"), "loads: must be more than closes");
  expect_sentence(with("magazine = 20", "magazine = -1"), "magazine");
  expect_sentence(with("magazine = 20", "clips = 20"), "clips");
  expect_sentence(with("kind = \"clip-applier\"", "kind = \"stapler\""), "clip-applier");
}

}  // namespace

// Tests organs that are tubes: keys, writing and faults of a scene, their stiffness in tension, and the gallbladder
// that hangs on its duct and its artery until they are cut.

namespace {

// A duct and an instrument far away from it.
std::string tube_scene() {
  return test::duct_with(
      "[[instrument]]\nname = \"probe\"\npivot_mm = [0, 0, 300]\ntip_mm = [0, 0, 250]\nradius_mm = 2.5\n");
}

class TubeOrgan : public test::SceneText {
 protected:
  TubeOrgan() : SceneText(tube_scene()) {}

  std::unique_ptr<Session> session_of(const Scene& scene) { return test::posed_session(scene, backends_, pose_); }
  void run(Session& session, std::uint64_t frames) {
    for (const std::uint64_t last = frame_ + frames; frame_ < last; ++frame_)
      session.step({frame_, double(frame_) * kFrame}, kFrame);
  }
  // Returns how far the ring of a tube along x that was nearest to `x` at rest has moved along x, m.
  static double moved_at(const Organ& organ, double x) {
    double sum = 0.0, count = 0.0;
    for (std::size_t v = 0; v < organ.positions.size(); ++v) {
      if (std::abs(double(organ.mesh.positions[v].x) - x) > 1e-3) continue;
      sum += double(organ.positions[v].x - organ.mesh.positions[v].x);
      ++count;
    }
    return sum / count;
  }

  // Returns the sum of the forces of all fibres, N.
  static double pull_of_band(const Session& session) {
    double force = 0.0;
    for (std::size_t f = 0; f < session.bonds().bonds().fibres.size(); ++f)
      force += double(glm::length(pull_on_a(session.bonds().bonds().fibres[f], session.bonds().ends(f))));
    return force;
  }

  DevicePose pose_{{0, 0, 0.4}, {0, 0, 0.35}};
  CpuBackends backends_;
  std::uint64_t frame_ = 0;
};

TEST_F(TubeOrgan, IsReadAndWritten) {
  const Scene scene = load(tube_scene()), again = load(scene_text(scene, folder_.path() / "s.toml"));
  ASSERT_TRUE(scene.organs[0].tube && again.organs[0].tube);
  EXPECT_EQ(scene.organs[0].tube->path[2], glm::dvec3(0.05, 0, 0));
  EXPECT_EQ(scene.organs[0].tube->radius, 0.002);
  EXPECT_EQ(again.organs[0].tube->path, scene.organs[0].tube->path);
  EXPECT_EQ(surface_of(again.organs[0]).positions, surface_of(scene.organs[0]).positions);
}

TEST_F(TubeOrgan, FaultsAreOneSentence) {
  expect_sentence(with("radius_mm = 2\n", "radius_mm = 0\n"), "radius_mm");
  expect_sentence(with("[20, 0, 0]", "[20, 0]"), "path_mm: must be a list of points");
  expect_sentence(with("[[0, 0, 0], [20, 0, 0], [50, 0, 0]]", "[[0, 0, 0]]"), "makes no tube: it needs at least two");
  expect_sentence(with("[20, 0, 0]", "[0, 0, 0]"), "two points in a row are the same");
  expect_sentence(with("[50, 0, 0]", "[1, 1, 0]"), "bends tighter than 1.5 radii");
  expect_sentence(with("path_mm = [[0, 0, 0], [20, 0, 0], [50, 0, 0]]\n", ""), "path_mm");
  expect_sentence(with("[organ.tube]", "mesh = \"liver.obj\"\n[organ.tube]"), "is of no use beside [organ.tube]");
  expect_sentence(with("radius_mm = 2\n", "radius_mm = 2\ntaper = 1\n"), "taper");
  expect_sentence(with("[20, 0, 0]", "[1e300, 0, 0]"), "path_mm");
}

// A rod of modulus E and section A that is pulled by F stretches by F l / (E A).
TEST_F(TubeOrgan, StretchesLikeARodOfItsSection) {
  const auto session = session_of(load(tube_scene()));
  run(*session, 240);
  const double force = pull_of_band(*session);
  const Organ& duct = session->organs()[0];
  const double stretch = moved_at(duct, 0.034) - moved_at(duct, 0.012), length = 0.022;
  const double expected = force * length / (6e4 * std::numbers::pi * 4e-6);
  std::printf("force %.4f N, stretch %.3f mm of %.0f mm, a rod %.3f mm\n", force, 1e3 * stretch, 1e3 * length,
              1e3 * expected);
  EXPECT_GT(force, 0.05);
  EXPECT_NEAR(stretch, expected, 0.15 * expected);
}

// With a wall it is a hollow rod.
TEST_F(TubeOrgan, WithAWallStretchesLikeAHollowRod) {
  const auto session = session_of(load(with("radius_mm = 2\n", "radius_mm = 2\nwall_mm = 1\n")));
  run(*session, 240);
  const double force = pull_of_band(*session);
  const Organ& duct = session->organs()[0];
  const double stretch = moved_at(duct, 0.034) - moved_at(duct, 0.012), length = 0.022;
  const double expected = force * length / (6e4 * std::numbers::pi * (4e-6 - 1e-6));
  std::printf("force %.4f N, stretch %.3f mm of %.0f mm, a hollow rod %.3f mm\n", force, 1e3 * stretch, 1e3 * length,
              1e3 * expected);
  EXPECT_GT(force, 0.05);
  EXPECT_NEAR(stretch, expected, 0.05 * expected);
}

// Scissors that close across the tube: the pull of the band ends.
TEST_F(TubeOrgan, ScissorsCutItThrough) {
  const auto session = session_of(load(with("pivot_mm = [0, 0, 300]\ntip_mm = [0, 0, 250]",
                                            "kind = \"scissors\"\npivot_mm = [24, 0, 150]\ntip_mm = [24, 0, 40]")));
  pose_ = {{0.024, 0, 0.15}, {0.024, 0, 0.04}, 0.0, 1.0};
  const auto move_to = [&](double z) {
    for (const double step = 2e-3; std::abs(pose_.tip.z - z) > 0.5 * step;) {
      pose_.tip.z += pose_.tip.z < z ? step : -step;
      run(*session, 1);
    }
  };
  run(*session, 120);
  const double stretched = moved_at(session->organs()[0], 0.012);
  move_to(-0.008);
  pose_.grip = 0.0;
  run(*session, 10);
  pose_.grip = 1.0;
  move_to(0.04);
  run(*session, 120);
  const double force = pull_of_band(*session);
  std::printf("12 mm from the end: moved by %.3f mm before, %.3f mm after; pull %.5f N\n", 1e3 * stretched,
              1e3 * moved_at(session->organs()[0], 0.012), force);
  EXPECT_GT(stretched, 5e-4);
  EXPECT_LT(std::abs(moved_at(session->organs()[0], 0.012)), 1e-4);
  EXPECT_LT(force, 5e-3);
}

// The scene of the product without breathing: with all fibres of the bed broken the gallbladder stays on its duct and
// its artery; with theirs broken too it falls, and the organs beside it stay.
TEST_F(TubeOrgan, TheGallbladderFallsWhenNothingHoldsItAnyMore) {
  Scene scene = load_scene(repository_file("data/scenes/gallbladder_bed.toml"));
  scene.breathing.amplitude = 0.f;
  std::vector<std::size_t> fibres;  // of each layer, in the order of the scene
  {
    Scene part = scene;
    for (const LayerScene& layer : scene.layers) {
      part.layers = {layer};
      part.bands.clear();
      fibres.push_back(session_of(part)->bonds().bonds().fibres.size());
    }
  }
  ASSERT_EQ(scene.layers[0].name, "bed");
  const auto session = session_of(scene);
  const auto falling = [&](std::size_t organ) {
    const std::vector<SculptCell>& cells = session->organs()[organ].sculpture->cells;
    return std::ranges::count(cells, true, &SculptCell::loose);
  };
  Bonds& bonds = const_cast<Bonds&>(session->bonds().bonds());
  const auto break_all = [&](std::size_t from, std::size_t to) {
    for (std::size_t f = from; f < to; ++f) bonds.fibres[f].break_strain = -2.f;
  };
  const std::size_t bed = fibres[0], all = bonds.fibres.size() - scene.bands[0].params.strands;
  break_all(0, bed);
  run(*session, 2);
  ASSERT_EQ(std::ranges::count(bonds.intact, 0), std::ptrdiff_t(bed));
  EXPECT_EQ(falling(1), 0);
  break_all(bed, all);
  run(*session, 2);
  EXPECT_EQ(falling(0), 0) << "liver";
  EXPECT_EQ(falling(1), std::ptrdiff_t(session->organs()[1].sculpture->cells.size())) << "gallbladder";
  EXPECT_EQ(falling(2), 0) << "the common duct is attached";
  EXPECT_GT(falling(3), 0) << "cystic duct";
  const glm::vec3 before = session->organs()[1].positions[0];
  run(*session, 30);
  EXPECT_GT(glm::distance(session->organs()[1].positions[0], before), 5e-3f);
}

}  // namespace

}  // namespace trocar

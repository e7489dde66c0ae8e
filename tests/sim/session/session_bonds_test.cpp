// Tests connective tissue in sessions: the gallbladder moves with the liver that breathes, jaws that pull peel it off,
// a session that is restored continues with the same bits, and scenes with faults are refused in one sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "geometry/error.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/scene/scene_text.hpp"
#include "tests/sim/session/bond_measures.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// The scene of the lift task; in place of the springs to fixed points, the gallbladder hangs on its bed in the liver.
Scene gallbladder_in_its_bed() {
  Scene scene = load_scene(repository_file("data/scenes/tasks/lift_gallbladder.toml"));
  scene.task.reset();
  std::erase_if(scene.organs, [](const OrganScene& organ) { return organ.name == "stomach"; });
  scene.organs[1].attachments.clear();
  scene.breathing.amplitude = 0.01f;
  LayerScene bed;
  bed.name = "bed";
  bed.organ = "gallbladder";
  bed.to = "liver";
  scene.layers.push_back(bed);
  return scene;
}

std::ptrdiff_t intact(const Session& session) {
  const std::vector<std::uint8_t>& fibres = session.bonds().bonds().intact;
  return std::count(fibres.begin(), fibres.end(), std::uint8_t{1});
}

class GallbladderInItsBed : public ::testing::Test {
 protected:
  std::unique_ptr<Session> session_of(const Scene& scene) {
    return std::make_unique<Session>(scene, backends_, "scan", std::vector<CheckPlan>{},
                                     [this](const InstrumentScene&) { return std::make_unique<PosedDevice>(&pose_); });
  }

  Scene scene_ = gallbladder_in_its_bed();
  DevicePose pose_{scene_.instruments[0].pivot, scene_.instruments[0].pivot + glm::dvec3(0.03, 0.03, 0.0)};
  CpuBackends backends_;
};

// Where a layer tears, the organ that has blood oozes, each fibre with its share of the area; what heat parts is
// sealed.
TEST_F(GallbladderInItsBed, OozesWhereItIsTorn) {
  const auto session = session_of(scene_);
  const std::vector<Organ>& organs = session->organs();
  const Bonds& bonds = session->bonds().bonds();
  scene_.organs[0].blood = BloodParams{.rate_ml_min_cm2 = 6.0};
  const SessionBonds& made = session->bonds();
  SessionBleeding bleeding(scene_, organs, {}, made);
  Bonds torn = bonds;
  torn.broken = {0, 1, 2}, torn.broken_how = {FibreBreak::Torn, FibreBreak::Burnt, FibreBreak::Cut};
  bleeding.follow_bonds(organs, torn);
  ASSERT_EQ(bleeding.sources().size(), 2u);
  double area = 0.0;  // m^2
  for (const Fibre& fibre : bonds.fibres)
    area += double(fibre.stiffness * scene_.layers[0].params.thickness / scene_.layers[0].params.modulus);
  std::printf("%zu fibres for %.1f cm^2, %.3f and %.3f ml/min\n", bonds.fibres.size(), 1e4 * area,
              bleeding.sources()[0].rate / kMlPerMin, bleeding.sources()[1].rate / kMlPerMin);
  EXPECT_GT(area, 5e-4);
  EXPECT_LT(area, 40e-4);
  for (const BleedSource& source : bleeding.sources()) {
    EXPECT_EQ(source.organ, 0u);
    EXPECT_EQ(source.kind, BleedKind::Surface);
    EXPECT_GT(source.rate, 0.0);
    const float away = glm::distance(organs[0].mesh.positions[source.vertex], bonds.fibres[0].a.point);
    EXPECT_LT(away, 0.06f);
  }
}

TEST_F(GallbladderInItsBed, BreathesWithTheLiver) {
  const auto session = session_of(scene_);
  const SessionBonds& bonds = session->bonds();
  const auto fibres = static_cast<std::size_t>(intact(*session));
  double widest = 0.0, lowest = 0.0, highest = 0.0;
  for (std::uint64_t frame = 0; frame < 480; ++frame) {
    session->step({frame, double(frame) * kFrame}, kFrame);
    double sum = 0.0;
    for (std::size_t f = 0; f < fibres; ++f) {
      const FibreEnds ends = bonds.ends(f);
      widest = std::max(widest, double(glm::distance(ends.a, ends.b)));
      sum += double(ends.a.y - bonds.bonds().fibres[f].a.point.y) / double(fibres);
    }
    lowest = std::min(lowest, sum);
    highest = std::max(highest, sum);
  }
  std::printf("%zu fibres, the bed moves by %.2f mm, gallbladder and liver part by at most %.3f mm\n", fibres,
              1e3 * (highest - lowest), 1e3 * widest);
  EXPECT_GT(fibres, 100u);
  EXPECT_GT(highest - lowest, 2e-3);
  EXPECT_LT(widest, 2e-4);
  EXPECT_EQ(intact(*session), std::ptrdiff_t(fibres));
}

// A layer that tears while the liver breathes: torn fibres stay torn, are listed once, and pass through a saved
// session.
TEST_F(GallbladderInItsBed, TornFibresPassThroughASavedSession) {
  scene_.layers[0].params.break_strain = 0.012f;
  const auto session = session_of(scene_);
  const auto fibres = static_cast<std::size_t>(intact(*session));
  std::size_t torn = 0;
  std::uint64_t frame = 0;
  const auto step = [&](Session& s) { s.step({frame, double(frame) * kFrame}, kFrame); };
  for (; frame < 60; ++frame) {
    step(*session);
    torn += session->bonds().bonds().broken.size();
  }
  std::printf("%zu of %zu fibres torn\n", torn, fibres);
  EXPECT_GT(torn, 5u);
  EXPECT_LT(torn, fibres);
  EXPECT_EQ(intact(*session), std::ptrdiff_t(fibres - torn));
  const auto again = session_of(scene_);
  again->restore(session->save());
  EXPECT_EQ(intact(*again), std::ptrdiff_t(fibres - torn));
  for (; frame < 90; ++frame) {
    step(*session);
    step(*again);
    ASSERT_EQ(intact(*session), intact(*again)) << frame;
    for (std::size_t k = 0; k < 2; ++k) ASSERT_EQ(session->organs()[k].state.x, again->organs()[k].state.x) << frame;
  }
}

// The scene of the product: a grasper pulls and a hook cuts, here in the bed. A session that is restored after cuts
// needs as many substeps as the one that was saved.
TEST_F(GallbladderInItsBed, CutTissuePassesThroughASavedSession) {
  Scene scene = load_scene(repository_file("data/scenes/gallbladder_bed.toml"));
  // Without the ducts, whose thin ends need the shortest substeps, the bed decides how many there are.
  std::erase_if(scene.organs, [](const OrganScene& organ) { return organ.tube.has_value(); });
  std::erase_if(scene.layers, [](const LayerScene& layer) { return layer.name != "bed"; });
  scene.instruments[1].tip = {-0.055, 0.060, 0.158};  // the hook cuts in the bed
  const auto scripted = [&] {
    return std::make_unique<Session>(
        scene, backends_, "scan", std::vector<CheckPlan>{}, [](const InstrumentScene& instrument) {
          return make_script_device({instrument.pivot, instrument.tip, instrument.script, 0.012, 0.008, 2.0});
        });
  };
  const auto session = scripted();
  std::uint64_t frame = 0;
  const auto step = [&](Session& s) { s.step({frame, double(frame) * kFrame}, kFrame); };
  std::size_t removed = 0;
  for (; frame < 110; ++frame) {
    step(*session);
    for (const Organ& organ : session->organs()) removed += organ.change.removed.size();
  }
  EXPECT_GT(removed, 20u);
  const auto again = scripted();
  again->restore(session->save());
  const std::vector<float>& slower = session->bonds().bonds().slowdown;
  std::printf("%zu faces removed; substeps shorter by %.4f (liver), %.4f (gallbladder)\n", removed, double(slower[0]),
              double(slower[1]));
  EXPECT_EQ(again->bonds().bonds().slowdown, slower);
  EXPECT_NE(scripted()->bonds().bonds().slowdown, slower) << "the cut made nodes lighter";
  for (; frame < 130; ++frame) {
    step(*session);
    step(*again);
    for (std::size_t k = 0; k < 2; ++k) ASSERT_EQ(session->organs()[k].state.x, again->organs()[k].state.x) << frame;
  }
}

TEST_F(GallbladderInItsBed, TissueThatJoinsNothingIsRefused) {
  const auto sentence = [this] {
    try {
      session_of(scene_);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  scene_.layers[0].params.centre = {1.f, 1.f, 1.f};
  scene_.layers[0].params.radius = 0.01f;
  EXPECT_NE(sentence().find("no face of 'gallbladder' is within 2 mm of 'liver'"), std::string::npos) << sentence();
  scene_.layers.clear();
  BandScene band;
  band.name = "far";
  band.organ = "liver";
  band.params.from_start = {1.f, 0.f, 0.f};
  band.params.from_end = {1.f, 0.1f, 0.f};
  scene_.bands.push_back(band);
  EXPECT_NE(sentence().find("an end of the band 'far' is too far from the tissue"), std::string::npos) << sentence();
}

// Without bonds and attachments the gallbladder does not follow the liver; a band to the wall holds it.
TEST_F(GallbladderInItsBed, BandHoldsWhatNothingElseHolds) {
  scene_.layers.clear();
  scene_.organs.erase(scene_.organs.begin());
  scene_.organs[0].tissue.gravity = {0.f, 0.f, -9.81f};
  const auto fall = [this] {
    const auto session = session_of(scene_);
    const float before = session->organs()[0].positions[0].z;
    for (std::uint64_t frame = 0; frame < 60; ++frame) session->step({frame, double(frame) * kFrame}, kFrame);
    return double(before - session->organs()[0].positions[0].z);
  };
  const double free = fall();
  BandScene band;
  band.name = "duct";
  band.organ = "gallbladder";
  band.params.from_start = {-0.044f, 0.077f, 0.127f};
  band.params.from_end = {-0.040f, 0.077f, 0.127f};
  band.params.to_start = {-0.044f, 0.080f, 0.147f};
  band.params.to_end = {-0.040f, 0.080f, 0.147f};
  band.params.section_mm2 = 40.f;
  scene_.bands.push_back(band);
  const double held = fall();
  std::printf("in a second a free gallbladder falls by %.0f mm, one on a band by %.1f mm\n", 1e3 * free, 1e3 * held);
  EXPECT_GT(free, 0.3);
  EXPECT_LT(held, 0.1);
}

}  // namespace

// Tests the connective tissue of the committed scenes without instruments: the gallbladder and the liver move together
// with the breath, and disturbed organs gain no energy. bench/connective_tissue.cpp measures the same for longer.

namespace {

// Two breaths after one breath of settling. The stomach, which nothing joins to the others, is left out to save time.
TEST(SceneTissue, GallbladderAndLiverMoveTogether) {
  Scene scene = load_scene(repository_file("data/scenes/procedures/cholecystectomy.toml"));
  std::erase_if(scene.organs, [](const OrganScene& organ) { return organ.name == "stomach"; });
  ASSERT_EQ(scene.layers[0].name, "bed");
  const test::BreathingMotion motion = test::breathe(scene, 4.0, 2.0);
  const test::LayerMotion& bed = motion.layers[0];
  std::printf("bed: %zu fibres; it moves by %.2f mm, its sides by at most %.3f mm against each other\n", bed.fibres,
              1e3 * motion.moved, 1e3 * bed.change);
  EXPECT_GT(bed.fibres, 100u);
  EXPECT_GT(motion.moved, 3e-3);
  EXPECT_LT(bed.change, 2e-4);
  for (const test::LayerMotion& layer : motion.layers) EXPECT_EQ(layer.torn, 0u);
}

// Without drag, which would hide growth. Contacts between organs are no energy; with them only the bound holds.
TEST(SceneTissue, DisturbedOrgansGainNoEnergy) {
  const Scene scene = load_scene(repository_file("data/scenes/gallbladder_bed.toml"));
  for (const bool touching : {false, true}) {
    test::EnergyParams params;
    params.substeps = 3000, params.drag = 0.0, params.touching = touching;
    const test::EnergyRun run = test::run_disturbed(scene, params, [](std::size_t, const OrgansEnergy&) {});
    std::printf(
        "seed %u, %zu substeps%s: energy %.3g J at first, %.3g J in the end; growth in a frame at most %.2g J\n",
        params.seed, run.substeps, touching ? ", contacts" : "", run.start, run.end, run.growth);
    EXPECT_LE(run.highest, run.start);
    EXPECT_LT(run.end, 0.6 * run.start);
    EXPECT_LE(run.growth, (touching ? 1e-2 : 1e-6) * run.start);
  }
}

}  // namespace

}  // namespace trocar

// Tests the connective tissue of the committed scenes without instruments: the gallbladder and the liver move together
// with the breath, and disturbed organs gain no energy. bench/connective_tissue.cpp measures the same for longer.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/sim/bond_measures.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
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

// Tests the layers and bands of a scene: keys, units, writing, and a sentence for every fault.
#include "sim/scene/bond_scene.hpp"

#include "sim/scene/scene_writer.hpp"
#include "tests/sim/scene_text.hpp"

namespace trocar {
namespace {

constexpr const char* kScene = R"([[organ]]
name = "liver"
mesh = "liver.obj"
[[organ]]
name = "gallbladder"
mesh = "gallbladder.obj"
[[layer]]
name = "bed"
organ = "gallbladder"
to = "liver"
reach_mm = 3
thickness_mm = 2
modulus = 2500
centre_mm = [1, 2, 3]
radius_mm = 40
[[band]]
name = "falciform"
organ = "liver"
from_start_mm = [0, 10, 20]
from_end_mm = [0, 50, 20]
to_start_mm = [0, 10, 60]
to_end_mm = [0, 50, 60]
section_mm2 = 4
rest_strain = -0.1
[[instrument]]
name = "probe"
pivot_mm = [0, 0, 200]
tip_mm = [0, 0, 100]
radius_mm = 2.5
)";

class SceneBonds : public test::SceneText {
 protected:
  SceneBonds() : SceneText(kScene) {}
};

TEST_F(SceneBonds, ReadsLayersAndBands) {
  const Scene scene = load(kScene);
  ASSERT_EQ(scene.layers.size(), 1u);
  EXPECT_EQ(scene.layers[0].organ, "gallbladder");
  EXPECT_FLOAT_EQ(scene.layers[0].params.reach, 3e-3f);
  EXPECT_FLOAT_EQ(scene.layers[0].params.thickness, 2e-3f);
  EXPECT_FLOAT_EQ(scene.layers[0].params.centre.z, 3e-3f);
  EXPECT_FLOAT_EQ(scene.layers[0].params.radius, 0.04f);
  ASSERT_EQ(scene.bands.size(), 1u);
  EXPECT_TRUE(scene.bands[0].to.empty());
  EXPECT_FLOAT_EQ(scene.bands[0].params.to_end.y, 0.05f);
  EXPECT_FLOAT_EQ(scene.bands[0].params.section_mm2, 4.f);
  EXPECT_FLOAT_EQ(scene.bands[0].params.rest_strain, -0.1f);
}

TEST_F(SceneBonds, AreWrittenAsRead) {
  const Scene scene = load(kScene), again = load(scene_text(scene, folder_.path() / "s.toml"));
  ASSERT_EQ(again.layers.size(), 1u);
  EXPECT_EQ(again.layers[0].params.modulus, scene.layers[0].params.modulus);
  EXPECT_EQ(again.layers[0].params.centre, scene.layers[0].params.centre);
  EXPECT_EQ(again.layers[0].to, "liver");
  ASSERT_EQ(again.bands.size(), 1u);
  EXPECT_EQ(again.bands[0].params.from_end, scene.bands[0].params.from_end);
  EXPECT_EQ(again.bands[0].params.section_mm2, scene.bands[0].params.section_mm2);
}

TEST_F(SceneBonds, FaultsAreOneSentence) {
  expect_sentence(with("to = \"liver\"", "to = \"spleen\""),
                  "the scene has no organ 'spleen'; it has liver, gallbladder");
  expect_sentence(with("organ = \"liver\"\nfrom", "organ = \"spleen\"\nfrom"), "the scene has no organ 'spleen'");
  expect_sentence(with("to = \"liver\"", "to = \"gallbladder\""), "a layer joins two organs");
  expect_sentence(with("organ = \"liver\"\nfrom", "organ = \"liver\"\nto = \"liver\"\nfrom"),
                  "a band joins two organs");
  expect_sentence(with("to_start_mm = [0, 10, 60]", "to_start_mm = [0, 10, 20]"), "or strands have no length");
  expect_sentence(with("thickness_mm = 2", "thickness_mm = 0"), "thickness_mm");
  expect_sentence(with("section_mm2 = 4", "section_mm2 = -4"), "section_mm2");
  expect_sentence(with("rest_strain = -0.1", "rest_strain = -1"), "rest_strain");
  expect_sentence(with("name = \"bed\"\n", ""), "name");
  expect_sentence(with("to = \"liver\"\n", ""), "to");
  expect_sentence(with("rest_strain", "rest_stain"), "rest_stain");
  expect_sentence(std::string(kScene) + "[[layer]]\nname = \"bed\"\norgan = \"liver\"\nto = \"gallbladder\"\n",
                  "two have the name 'bed'");
}

}  // namespace
}  // namespace trocar

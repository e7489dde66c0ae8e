// Tests the seeded variations of the anatomy: they load, nothing overlaps that did not before, tissue joins what it
// joins in the scene, they are at rest, their text alone gives the same scene, and faults are one sentence.
#include "sim/scene/scene_variants.hpp"

#include <cstdio>
#include <set>

#include "mesh/exact_sign.hpp"
#include "sim/scene/scene.hpp"
#include "sim/task/duct.hpp"
#include "tests/sim/scene/scene_text.hpp"
#include "tests/sim/session/scene_tissue.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

constexpr const char* kOperation = "data/scenes/procedures/cholecystectomy.toml";

Scene operation() { return load_scene(repository_file(kOperation)); }

const OrganScene& organ_of(const Scene& scene, const std::string& name) {
  return *std::ranges::find(scene.organs, name, &OrganScene::name);
}

// Without the organs that nothing joins to the ducts, and without breath, to save time.
Scene still(Scene scene) {
  std::erase_if(scene.organs, [](const OrganScene& organ) { return organ.name == "stomach"; });
  scene.breathing.amplitude = 0.f;
  return scene;
}

std::size_t fibres_of(const SessionBonds& bonds, const std::string& name) {
  const auto group = std::ranges::find(bonds.names(), name) - bonds.names().begin();
  return static_cast<std::size_t>(std::ranges::count(bonds.groups(), group));
}

// Depth to which the middle of a tube, without its ends, enters another organ at rest, m.
double depth_in(const Scene& scene, const std::string& tube, double from, double to, const RestDistance& field) {
  const std::vector<glm::dvec3> line = centre_line(*organ_of(scene, tube).tube);
  const double length = along_line(line, line.back());
  double deepest = -INFINITY;
  for (const glm::dvec3& p : line)
    if (const double along = along_line(line, p); along >= from && along <= length - to)
      deepest = std::max(deepest, -double(sample(field, glm::vec3(p)).distance));
  return deepest;
}

// Returns the largest distance of points from the line through a tube, m.
double farthest_from(const std::vector<glm::dvec3>& points, const Scene& scene, const std::string& tube) {
  const std::vector<glm::dvec3> line = centre_line(*organ_of(scene, tube).tube);
  double most = 0.0;
  for (const glm::dvec3& p : points) most = std::max(most, glm::distance(p, point_on_line(line, along_line(line, p))));
  return most;
}

// Returns how far the surfaces move within 0.2 s, m.
double moves_by(test::SceneTissue& tissue) {
  for (int frame = 0; frame < 12; ++frame) tissue.step(1.f / 60.f);
  double moved = 0.0;
  for (const Organ& organ : tissue.organs())
    for (std::size_t i = 0; i < organ.skin.size(); ++i)
      if (organ.unused.empty() || !organ.unused[i])
        moved = std::max(moved, double(glm::distance(organ.skin[i], organ.mesh.positions[i])));
  return moved;
}

// Every course of the duct and of the artery occurs among these seeds.
TEST(Anatomy, SeedsLoadAndAreAtRest) {
  const Scene scene = operation();
  std::set<std::string> seen;
  for (const std::uint32_t seed : {1u, 2u, 4u, 6u, 10u, 13u, 15u, 93u}) {
    const VariedScene varied = vary_anatomy(scene, seed);
    const std::string text = text_of(varied, *scene.anatomy);
    seen.insert(text);
    for (const char* tube : {"cystic duct", "cystic artery"}) {
      const TubeShape& shape = *organ_of(varied.scene, tube).tube;
      EXPECT_EQ(tube_fault(shape), "") << seed;
      const SelfCrossings crossings = self_crossings(tube_surface(shape).view());
      EXPECT_EQ(crossings.crossing + crossings.folded, 0u) << seed << tube;
    }
    test::SceneTissue tissue(still(varied.scene));
    const SessionBonds& bonds = tissue.session_bonds();
    for (const LayerScene& layer : scene.layers) EXPECT_GE(fibres_of(bonds, layer.name), 5u) << seed << layer.name;
    for (const BandScene& band : scene.bands)
      EXPECT_EQ(fibres_of(bonds, band.name), static_cast<std::size_t>(band.params.strands)) << seed << band.name;
    EXPECT_GE(fibres_of(bonds, "bed"), 100u) << seed;
    const OrganContacts& contacts = tissue.contacts();
    EXPECT_LT(depth_in(varied.scene, "cystic duct", 0.012, 0.0, contacts.field[0]), 0.0) << seed << " in the liver";
    EXPECT_LT(depth_in(varied.scene, "cystic artery", 0.008, 0.012, contacts.field[0]), 1e-3)
        << seed << " in the liver";
    const double moved = moves_by(tissue);
    std::printf("anatomy %2u: %s; %zu fibres; moves by %.2g mm\n", seed, text.c_str(), bonds.bonds().fibres.size(),
                1e3 * moved);
    EXPECT_LT(moved, 1e-4) << seed;
    EXPECT_EQ(std::ranges::count(bonds.bonds().intact, 0), 0) << seed;
  }
  EXPECT_EQ(seen.size(), 8u);
}

TEST(Anatomy, TheSameSeedGivesTheSameSceneAndItsTextIsEnough) {
  const Scene scene = operation();
  const Scene once = vary_anatomy(scene, 5).scene, again = vary_anatomy(scene, 5).scene;
  EXPECT_EQ(once.text, again.text);
  EXPECT_FALSE(once.anatomy);
  EXPECT_EQ(once.title, "Remove the gallbladder (anatomy 5)");
  EXPECT_NE(once.text.find("# Anatomy 5: "), std::string::npos);
  const Scene read = parse_scene(once.text, scene.file);
  EXPECT_EQ(scene_text(read, scene.file), scene_text(once, scene.file));
  EXPECT_NE(scene_text(read, scene.file), scene_text(vary_anatomy(scene, 6).scene, scene.file));
}

TEST(Anatomy, WithoutASeedNothingChanges) {
  const Scene scene = operation();
  EXPECT_EQ(with_anatomy(scene, std::nullopt).text, scene.text);
  const Scene read = parse_scene(scene_text(scene, scene.file), scene.file);
  ASSERT_TRUE(read.anatomy);
  EXPECT_EQ(read.anatomy->front, scene.anatomy->front);
  EXPECT_EQ(read.anatomy->main_duct, "common bile duct");
}

// Every course occurs, and each about as often as it was published.
TEST(Anatomy, CoursesOccurAsOftenAsPublished) {
  const Scene scene = operation();
  int ducts[4] = {}, arteries[3] = {}, builds[3] = {}, walls[2] = {};
  constexpr int kSeeds = 150;
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Anatomy anatomy = vary_anatomy(scene, seed).anatomy;
    ++ducts[static_cast<int>(anatomy.duct)], ++arteries[static_cast<int>(anatomy.artery)];
    ++builds[static_cast<int>(anatomy.build)], ++walls[static_cast<int>(anatomy.wall)];
  }
  std::printf("duct: lateral %d, high %d, parallel %d, behind %d; artery: usual %d, in front %d, short %d of %d\n",
              ducts[0], ducts[1], ducts[2], ducts[3], arteries[0], arteries[1], arteries[2], kSeeds);
  const double shares[] = {0.570, 0.067, 0.184, 0.179};
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(ducts[k] / double(kSeeds), shares[k], 0.1) << k;
  const double artery_shares[] = {0.726, 0.179, 0.095};
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(arteries[k] / double(kSeeds), artery_shares[k], 0.1) << k;
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(builds[k] / double(kSeeds), k == 1 ? 0.5 : 0.25, 0.1) << k;
  EXPECT_NEAR(walls[1] / double(kSeeds), 0.25, 0.1);
}

// A stout patient has more fat than a thin one, and an inflamed wall is stiffer and thicker than another.
TEST(Anatomy, BuildAndInflammation) {
  const Scene scene = operation();
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    const VariedScene varied = vary_anatomy(scene, seed);
    const double thickness = organ_of(varied.scene, "fat").fat->thickness;
    EXPECT_NEAR(1e3 * thickness, 5.0 + 2.0 * static_cast<int>(varied.anatomy.build), 1e-6);
    const OrganScene& gallbladder = organ_of(varied.scene, "gallbladder");
    const bool inflamed = varied.anatomy.wall == Wall::Inflamed;
    EXPECT_NEAR(gallbladder.tissue.youngs_modulus, inflamed ? 9000.0 : 3000.0, 1e-3) << seed;
    EXPECT_NEAR(1e3 * gallbladder.bile->wall, inflamed ? 7.0 : 5.0, 1e-3) << seed;
    const auto layer = std::ranges::find(varied.scene.layers, "bed", &LayerScene::name);
    EXPECT_NEAR(layer->params.modulus, inflamed ? 6000.0 : 3000.0, 1e-3) << seed;
  }
}

// Adhesions, a stone and a second artery are drawn as often as stated, and do not change the rest of a patient.
TEST(Anatomy, MoreIsDrawnFromNumbersOfItsOwn) {
  const Scene scene = operation();
  Scene without = scene;
  without.anatomy->adhesion_from.clear(), without.anatomy->adhesion_to.clear();
  without.anatomy->second_artery.clear(), without.anatomy->stone_mesh.clear();
  constexpr int kSeeds = 80;
  int adhesions = 0, stones = 0, seconds = 0;
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const VariedScene with = vary_anatomy(scene, seed);
    adhesions += with.anatomy.adhesions, stones += with.anatomy.stone, seconds += with.anatomy.second_artery;
    if (seed > 15) continue;
    const VariedScene plain = vary_anatomy(without, seed);
    const auto path = [](const Scene& in, const char* tube) { return organ_of(in, tube).tube->path; };
    EXPECT_EQ(path(with.scene, "cystic duct"), path(plain.scene, "cystic duct")) << seed;
    EXPECT_EQ(path(with.scene, "cystic artery"), path(plain.scene, "cystic artery")) << seed;
    EXPECT_FALSE(plain.anatomy.adhesions || plain.anatomy.stone || plain.anatomy.second_artery) << seed;
  }
  std::printf("%d adhesions, %d stones, %d second arteries of %d\n", adhesions, stones, seconds, kSeeds);
  EXPECT_NEAR(adhesions / double(kSeeds), 0.25, 0.1);
  EXPECT_NEAR(stones / double(kSeeds), 0.1, 0.07);
  EXPECT_NEAR(seconds / double(kSeeds), 0.089, 0.06);
}

// The first seeds with adhesions, with a stone, and with a second artery: their scenes load and rest.
TEST(Anatomy, AdhesionsStoneAndSecondArteryAreAtRest) {
  const Scene scene = operation();
  bool adhesions = false, stone = false, second = false;
  for (std::uint32_t seed = 0; seed < 100 && !(adhesions && stone && second); ++seed) {
    const VariedScene varied = vary_anatomy(scene, seed);
    const Anatomy& a = varied.anatomy;
    const bool fresh = (a.adhesions && !adhesions) || (a.stone && !stone) || (a.second_artery && !second);
    if (!fresh) continue;
    adhesions |= a.adhesions, stone |= a.stone, second |= a.second_artery;
    std::printf("anatomy %u: %s\n", seed, text_of(varied, *scene.anatomy).c_str());
    const std::vector<TaskStep>& steps = varied.scene.task->steps;
    EXPECT_EQ(steps.size(), scene.task->steps.size() + (a.adhesions ? 1 : 0));
    if (a.adhesions) {
      const auto step = std::ranges::find(steps, "free the gallbladder from the omentum", &TaskStep::title);
      ASSERT_NE(step, steps.end());
      EXPECT_EQ(step->kind, StepKind::Dissect);
      EXPECT_FALSE(step->before_division) << "the critical view does not ask for it";
      EXPECT_NEAR(varied.scene.task->time_good, scene.task->time_good + 40.0, 1e-9);
    }
    EXPECT_EQ(varied.scene.task->locations.size(), a.second_artery ? 3u : 2u);
    if (a.stone) {
      EXPECT_EQ(organ_of(varied.scene, "gallbladder").mesh, scene.anatomy->stone_mesh);
    }
    test::SceneTissue tissue(still(varied.scene));
    for (const LayerScene& layer : varied.scene.layers)
      EXPECT_GE(fibres_of(tissue.session_bonds(), layer.name), 5u) << seed << layer.name;
    const double moved = moves_by(tissue);
    EXPECT_LT(moved, 1e-4) << seed;
  }
  EXPECT_TRUE(adhesions && stone && second);
}

// The lymph node stays beside the artery, and clear of the middle of both ducts.
TEST(Anatomy, TheLymphNodeGoesWithTheArtery) {
  const Scene scene = operation();
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Scene varied = vary_anatomy(scene, seed).scene;
    const glm::dvec3 node = scene.anatomy->node_at + glm::dvec3(organ_of(varied, "lymph node").offset);
    EXPECT_LT(farthest_from({node}, varied, "cystic artery"), 5.5e-3) << seed;
    EXPECT_GT(farthest_from({node}, varied, "cystic duct"), 4e-3) << seed;
    EXPECT_GT(farthest_from({node}, varied, "common bile duct"), 4e-3) << seed;
  }
}

class AnatomyScenes : public test::SceneText {
 protected:
  AnatomyScenes() : SceneText(test::shipped_scene(kOperation)) {}
};

TEST_F(AnatomyScenes, FaultsAreOneSentence) {
  expect_sentence(with("[anatomy]\nduct = \"cystic duct\"", "[anatomy]\nduct = \"liver\""), "has no [organ.tube]");
  expect_sentence(with("[anatomy]\nduct = \"cystic duct\"", "[anatomy]\nduct = \"spleen\""), "'spleen'");
  expect_sentence(with("[anatomy]\nduct = \"cystic duct\"", "[anatomy]\nduct = \"cystic artery\""), "three different");
  expect_sentence(with("[anatomy]\nduct = \"cystic duct\"", "[anatomy]"), "duct");
  expect_sentence(with("bed = \"bed\"", "bed = \"bad\""), "no layer 'bad'");
  expect_sentence(with("short_artery_mm = [-20, 98, 121.5]", "short_artery_mm = [-20, 98]"), "short_artery_mm");
  expect_sentence(with("short_artery_mm", "shortest_artery_mm"), "short");
  expect_sentence(with("node = \"lymph node\"", "node = \"lymph\""), "'lymph'");
  expect_sentence(with("node = \"lymph node\"", "node = \"fat\""), "with a mesh");
  expect_sentence(with("adhesion_to_mm = [[-66, 28, 163], ", "adhesion_to_mm = ["), "adhesion_to_mm");
  expect_sentence(with("opened = true", "opened = true\nmay_stay = true"), "may_stay");
  Scene scene = operation();
  scene.anatomy.reset();
  EXPECT_THROW(vary_anatomy(scene, 1), InputError);
}

// In thin patients every layer holds; in the first one the fat lay out of reach of the peritoneum.
TEST(Anatomy, ThinPatientsLoad) {
  const Scene scene = operation();
  for (const std::uint32_t seed : {286651771u, 113u, 128u}) {
    const VariedScene varied = vary_anatomy(scene, seed);
    EXPECT_EQ(varied.anatomy.build, Build::Thin) << seed;
    const test::SceneTissue tissue(still(varied.scene));
    for (const LayerScene& layer : scene.layers)
      EXPECT_GE(fibres_of(tissue.session_bonds(), layer.name), 5u) << seed << layer.name;
  }
}

// Fat wraps the ducts of every anatomy, and the window that is cleared lies between them.
TEST(Anatomy, FatAndWindowGoWithTheDucts) {
  const Scene scene = load_scene(repository_file("data/scenes/tasks/clear_triangle.toml"));
  // The last two have a high duct and one behind the common duct.
  for (const std::uint32_t seed : {1u, 2u, 4u, 6u, 10u, 13u, 35089093u, 278032844u}) {
    const Scene varied = vary_anatomy(scene, seed).scene;
    const FatShape &before = *organ_of(scene, "fat").fat, &after = *organ_of(varied, "fat").fat;
    EXPECT_EQ(fat_fault(after), "");
    EXPECT_NE(after.from, before.from);
    EXPECT_EQ(after.to, before.to);
    const double duct = farthest_from(after.from, varied, "cystic duct"),
                 artery = farthest_from(after.through, varied, "cystic artery");
    std::printf("anatomy %u: fat follows the duct at %.2f mm, the artery at %.2f mm\n", seed, 1e3 * duct, 1e3 * artery);
    EXPECT_LT(duct, farthest_from(before.from, scene, "cystic duct") + 1e-3);
    EXPECT_LT(artery, farthest_from(before.through, scene, "cystic artery") + 1e-3);
    const auto step = std::ranges::find(varied.task->steps, StepKind::Clear, &TaskStep::kind);
    const auto apart = [&](std::size_t side) {
      return glm::distance(step->sides[side].start, step->sides[side + 1].start);
    };
    std::printf("  the window begins where they are %.1f mm apart\n", 1e3 * double(apart(0)));
    EXPECT_GE(apart(0), 11.5e-3f) << seed << ": room for the hook between duct and artery";
    if (step->sides.size() > 2) {
      EXPECT_GE(apart(1), 5.999e-3f) << seed;
    }
    EXPECT_EQ(step->sides[0].organ, "cystic duct");
    EXPECT_EQ(step->sides[1].organ, "cystic artery");
    for (const StepSide& side : step->sides) {
      if (side.organ == "liver") continue;
      EXPECT_LT(farthest_from({glm::dvec3(side.start), glm::dvec3(side.end)}, varied, side.organ), 2.5e-3) << seed;
    }
  }
}

}  // namespace
}  // namespace trocar

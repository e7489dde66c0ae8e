// Tests the scene editor without a window: rays and pixels, picking compared with a test of every face, undo, saving.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "app/window/editor/editor.hpp"
#include "geometry/error.hpp"
#include "sim/scene/scene_writer.hpp"
#include "sim/support/files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

constexpr glm::dvec2 kSize(1280.0, 720.0);

TEST(EditorCamera, RaysPassThroughTheirPixels) {
  const unsigned seed = 77;
  std::mt19937 random(seed);
  std::printf("seed %u\n", seed);
  std::uniform_real_distribution<> share(-1.0, 1.0);
  ScopeScene scope;
  scope.angle_deg = 30.f;
  scope.lens.barrel = 0.2;
  for (int round = 0; round < 200; ++round) {
    scope.spin_deg = static_cast<float>(180.0 * share(random));
    OrbitCamera orbit;
    orbit.turn(500.0 * share(random), 200.0 * share(random));
    const EditorEye eye = round % 2 == 0 ? eye_of(scope) : orbit.eye();
    const glm::dvec2 pixel(640.0 + 300.0 * share(random), 360.0 + 300.0 * share(random));
    const Ray ray = ray_through(eye, pixel, kSize);
    EXPECT_NEAR(glm::length(ray.direction), 1.0, 1e-12);
    const auto back = pixel_of(eye, ray.origin + 0.17 * ray.direction, kSize);
    ASSERT_TRUE(back);
    EXPECT_LT(glm::distance(*back, pixel), 1e-6);
    EXPECT_FALSE(pixel_of(eye, ray.origin - 0.1 * ray.direction, kSize));
  }
}

TEST(EditorCamera, OrbitsItsTarget) {
  OrbitCamera orbit;
  orbit.target = {0.1, 0.2, 0.3};
  for (const double up : {-1e4, 0.0, 1e4}) {
    orbit.turn(40.0, up);
    const EditorEye eye = orbit.eye();
    EXPECT_NEAR(glm::distance(eye.pose.eye, orbit.target), orbit.distance, 1e-9);
    const auto pixel = pixel_of(eye, orbit.target, kSize);
    ASSERT_TRUE(pixel);
    EXPECT_LT(glm::distance(*pixel, 0.5 * kSize), 1e-4);
  }
  orbit.approach(1000.0);
  EXPECT_GT(orbit.distance, 0.0);
}

TEST(EditorCamera, Planes) {
  const Ray down{{1, 2, 3}, {0, 0, -1}};
  EXPECT_EQ(*meet_plane(down, {0, 0, 1}, {0, 0, 1}), glm::dvec3(1, 2, 1));
  EXPECT_FALSE(meet_plane(down, {0, 0, 5}, {0, 0, 1}));
  EXPECT_FALSE(meet_plane(down, {0, 0, 1}, {1, 0, 0}));
}

class EditedScene : public ::testing::Test {
 protected:
  EditedScene() : editor_(load_scene(data_file("scenes/liver_and_stomach.toml"))) {}

  // Returns a ray from in front of the abdomen to the first vertex of an organ's first face, slightly shifted.
  Ray ray_onto(std::size_t organ) const {
    const MeshView mesh = editor_.meshes()[organ].view();
    const glm::dvec3 point = glm::dvec3(mesh.positions[mesh.faces[0].x] + mesh.positions[mesh.faces[0].y] +
                                        mesh.positions[mesh.faces[0].z]) /
                             3.0;
    const glm::dvec3 origin(0.0, -0.1, 0.6);
    return {origin, glm::normalize(point - origin)};
  }

  Editor editor_;
  TemporaryFolder folder_;
};

// Finds the first hit by brute force over all faces, by the method of Moeller and Trumbore.
std::optional<double> first_of_all(const MeshView& mesh, const Ray& ray) {
  std::optional<double> first;
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    const glm::dvec3 p = glm::cross(ray.direction, t.c - t.a);
    const double det = glm::dot(t.b - t.a, p);
    if (std::abs(det) < 1e-18) continue;
    const glm::dvec3 s = ray.origin - t.a, q = glm::cross(s, t.b - t.a);
    const double u = glm::dot(s, p) / det, v = glm::dot(ray.direction, q) / det, at = glm::dot(t.c - t.a, q) / det;
    if (u < 0.0 || v < 0.0 || u + v > 1.0 || at < 0.0) continue;
    if (!first || at < *first) first = at;
  }
  return first;
}

TEST_F(EditedScene, PicksTheNearestFace) {
  for (std::size_t organ = 0; organ < 2; ++organ) {
    const Ray ray = ray_onto(organ);
    const auto pick = editor_.pick(ray);
    ASSERT_TRUE(pick);
    double nearest = 1e9;
    for (const TriangleMesh& mesh : editor_.meshes())
      nearest = std::min(nearest, first_of_all(mesh.view(), ray).value_or(1e9));
    EXPECT_NEAR(glm::distance(pick->point, ray.origin), nearest, 1e-9);
  }
  EXPECT_FALSE(editor_.pick({{0, 0, 1}, {0, 0, 1}}));
}

TEST_F(EditedScene, TargetsPortsAndZonesAreSavedAndReadBack) {
  editor_.add_target(*editor_.pick(ray_onto(0)));
  editor_.add_target(*editor_.pick(ray_onto(1)));
  editor_.settle(false);
  EXPECT_TRUE(editor_.fault().empty()) << editor_.fault();
  ASSERT_TRUE(editor_.add_port({{0.05, 0.02, 0.6}, {0, 0, -1}}));
  EXPECT_EQ(editor_.scene.instruments.size(), 3u);
  EXPECT_NEAR(editor_.scene.instruments[2].pivot.x, 0.05, 1e-12);
  for (const glm::dvec2 corner : {glm::dvec2(0, 0), {0.3333333, 0}, {0.3, 0.4}}) editor_.add_corner(corner);
  editor_.close_zone();
  use(kMaterials[3], editor_.scene.organs[0].tissue);
  const auto file = folder_.path() / "sub" / "edited.toml";
  editor_.save(file, false);
  EXPECT_FALSE(editor_.changed());
  const Scene read = load_scene(file);
  ASSERT_TRUE(read.task);
  EXPECT_EQ(read.task->locations.size(), 2u);
  EXPECT_EQ(read.task->locations[0].location, editor_.scene.task->locations[0].location);
  EXPECT_EQ(read.task->zones[0].outline, editor_.scene.task->zones[0].outline);
  EXPECT_EQ(read.instruments[2].pivot, editor_.scene.instruments[2].pivot);
  EXPECT_EQ(read.organs[0].tissue.youngs_modulus, kMaterials[3].youngs_modulus);
  editor_.scene.title = "again";
  editor_.save(file, false);
  EXPECT_EQ(load_scene(file).title, "again");
}

TEST_F(EditedScene, NeverOverwritesOtherFilesNorSavesInvalidScenes) {
  const auto file = folder_.write("mine.toml", "mine");
  EXPECT_THROW(editor_.save(file, false), InputError);
  EXPECT_EQ(std::filesystem::file_size(file), 4u);
  editor_.scene.task.emplace();
  editor_.settle(false);
  EXPECT_NE(editor_.fault().find("place"), std::string::npos) << editor_.fault();
  EXPECT_THROW(editor_.save(file, true), InputError);
  EXPECT_EQ(std::filesystem::file_size(file), 4u);
}

TEST_F(EditedScene, UndoRevertsStepByStep) {
  EXPECT_FALSE(editor_.can_undo());
  const glm::dvec3 port = editor_.scene.instruments[0].pivot;
  editor_.chosen = {PartKind::Instrument, 0};
  for (int pixel = 0; pixel < 20; ++pixel) {
    editor_.drag({{0.001 * pixel, 0.0, 0.6}, {0, 0, -1}}, {0, 0, -1});
    editor_.settle(true);
  }
  editor_.settle(false);
  EXPECT_NE(editor_.scene.instruments[0].pivot, port);
  editor_.add_target(*editor_.pick(ray_onto(0)));
  editor_.settle(false);
  EXPECT_TRUE(editor_.changed());
  editor_.undo();
  EXPECT_FALSE(editor_.scene.task);
  EXPECT_NE(editor_.scene.instruments[0].pivot, port);
  editor_.undo();
  EXPECT_EQ(editor_.scene.instruments[0].pivot, port);
  EXPECT_FALSE(editor_.can_undo());
  EXPECT_FALSE(editor_.changed());
  editor_.undo();
}

TEST_F(EditedScene, RemovesTheSelectionButNeverTheLastInstrument) {
  editor_.add_target(*editor_.pick(ray_onto(0)));
  editor_.remove_chosen();
  EXPECT_TRUE(editor_.scene.task->locations.empty());
  for (int k = 0; k < 5; ++k) {
    editor_.chosen = {PartKind::Instrument, 0};
    editor_.remove_chosen();
  }
  EXPECT_EQ(editor_.scene.instruments.size(), 1u);
  editor_.chosen = {PartKind::Organ, 0};
  editor_.remove_chosen();
  EXPECT_EQ(editor_.scene.organs.size(), 2u);
}

TEST_F(EditedScene, RedoBringsBackWhatUndoTookUntilTheNextChange) {
  editor_.redo();
  EXPECT_FALSE(editor_.can_redo());
  editor_.scene.title = "one";
  editor_.settle(false);
  editor_.scene.title = "two";
  editor_.settle(false);
  editor_.undo();
  editor_.undo();
  editor_.redo();
  EXPECT_EQ(editor_.scene.title, "one");
  EXPECT_TRUE(editor_.can_redo());
  editor_.scene.title = "three";
  editor_.settle(false);
  EXPECT_FALSE(editor_.can_redo());
  editor_.undo();
  EXPECT_EQ(editor_.scene.title, "one");
}

// A change that is not settled yet is a step of its own.
TEST_F(EditedScene, UndoFirstTakesBackTheLatestChange) {
  const std::string title = editor_.scene.title;
  editor_.scene.title = "unsettled";
  editor_.undo();
  EXPECT_EQ(editor_.scene.title, title);
  editor_.redo();
  EXPECT_EQ(editor_.scene.title, "unsettled");
}

// Makes one random change of any kind; most of them leave a scene that loads, some do not.
void change_at_random(Editor& editor, std::mt19937& random, const Ray& ray) {
  const auto pick = [&](std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); };
  const double share = std::uniform_real_distribution<>(0.1, 1.0)(random);
  Scene& scene = editor.scene;
  switch (pick(12)) {
    case 0:
      return editor.add_attachment(pick(scene.organs.size()));
    case 1:
      return editor.add_band();
    case 2:
      return editor.add_layer();
    case 3:
      return editor.add_limit();
    case 4:
      return editor.add_target(*editor.pick(ray));
    case 5:
      scene.breathing.amplitude = static_cast<float>(0.01 * share);
      return;
    case 6:
      scene.instruments[pick(scene.instruments.size())].tip.x = -0.05 * share;
      return;
    case 7:
      if (scene.task) scene.task->time_good = 10.0 * share;
      return;
    case 8:
      scene.title = fmt::format("title {}", share);
      return;
    case 9:
      editor.chosen = {PartKind::Attachment, pick(scene.organs.size()), pick(3)};
      return editor.remove_chosen();
    case 10:
      editor.chosen = {PartKind::Band, pick(3), pick(4)};
      return share < 0.5 ? editor.remove_chosen() : editor.drag(ray, {0, 0, -1});
    default:
      scene.organs[pick(scene.organs.size())].tissue.youngs_modulus = static_cast<float>(1e4 * share);
  }
}

TEST_F(EditedScene, UndoAllIsTheOriginalAndRedoAllTheLast) {
  const unsigned seed = 2611;
  std::mt19937 random(seed);
  const auto text = [&] { return scene_text(editor_.scene, editor_.scene.file); };
  const std::string original = text();
  std::vector<std::string> texts{original};
  while (texts.size() < 151) {
    change_at_random(editor_, random, ray_onto(0));
    editor_.settle(false);
    if (text() != texts.back()) texts.push_back(text());
  }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t k = texts.size() - 1; k-- > 0;) {
      ASSERT_TRUE(editor_.can_undo());
      editor_.undo();
      ASSERT_EQ(text(), texts[k]) << k;
    }
    EXPECT_FALSE(editor_.can_undo());
    EXPECT_FALSE(editor_.changed());
    for (std::size_t k = 1; k < texts.size(); ++k) {
      editor_.redo();
      ASSERT_EQ(text(), texts[k]) << k;
    }
    EXPECT_FALSE(editor_.can_redo());
  }
}

TEST_F(EditedScene, WhatHoldsOrgansIsAddedMovedSavedAndRemoved) {
  editor_.chosen = {PartKind::Organ, 1};
  editor_.add_band();
  EXPECT_EQ(editor_.scene.bands[0].organ, editor_.scene.organs[1].name);
  editor_.chosen.corner = 3;
  const glm::vec3 end = editor_.scene.bands[0].params.to_end;
  editor_.drag({{0.01, 0.02, 0.6}, {0, 0, -1}}, {0, 0, -1});
  EXPECT_NE(editor_.scene.bands[0].params.to_end, end);
  EXPECT_EQ(editor_.scene.bands[0].params.to_end.z, end.z);
  const std::size_t before = editor_.scene.organs[0].attachments.size();
  editor_.add_attachment(0);
  editor_.drag({{0.03, 0.04, 0.6}, {0, 0, -1}}, {0, 0, -1});
  EXPECT_NEAR(editor_.scene.organs[0].attachments[before].centre.x, 0.03, 1e-6);
  editor_.add_layer();
  editor_.scene.breathing.rate = 0.5f;
  editor_.settle(false);
  EXPECT_TRUE(editor_.fault().empty()) << editor_.fault();
  const auto file = folder_.path() / "held.toml";
  editor_.save(file, false);
  const Scene read = load_scene(file);
  EXPECT_EQ(read.bands[0].params.to_end, editor_.scene.bands[0].params.to_end);
  EXPECT_EQ(read.layers[0].to, editor_.scene.organs[1].name);
  EXPECT_EQ(read.organs[0].attachments.size(), before + 1);
  EXPECT_EQ(read.breathing.rate, 0.5f);
  for (const Part part : {Part{PartKind::Attachment, 0, before}, Part{PartKind::Band, 0}, Part{PartKind::Layer, 0}}) {
    ASSERT_TRUE(editor_.has(part));
    editor_.chosen = part;
    editor_.remove_chosen();
    EXPECT_FALSE(editor_.has(part));
  }
  for (const PartKind kind : {PartKind::Marks, PartKind::Limit, PartKind::Target, PartKind::Zone})
    EXPECT_FALSE(editor_.has({kind, 0}));
}

TEST(SceneCopies, HaveNamesAndTitlesOfTheirOwn) {
  TemporaryFolder folder;
  Scene scene;
  scene.file = "/scenes/cut_band.toml", scene.title = "Cut";
  const SceneCopy first = copy_of(scene, folder.path());
  EXPECT_EQ(first.file, folder.path() / "cut_band-edited.toml");
  EXPECT_EQ(first.scene.title, "Cut (edited)");
  EXPECT_EQ(first.scene.file, scene.file);
  folder.write("cut_band-edited.toml", "");
  scene = first.scene, scene.file = first.file;
  scene.task.emplace().title = "Stretch (edited 7)";
  const SceneCopy second = copy_of(scene, folder.path());
  EXPECT_EQ(second.file, folder.path() / "cut_band-edited-2.toml");
  EXPECT_EQ(second.scene.title, "Cut (edited 2)");
  EXPECT_EQ(second.scene.task->title, "Stretch (edited 2)");
  Scene plain;
  plain.file = "re-edited-x.toml";
  EXPECT_EQ(copy_of(plain, folder.path()).scene.title, "re-edited-x (edited)");
  plain.title = "(edited) by (edited x)";
  EXPECT_EQ(copy_of(plain, folder.path()).scene.title, "(edited) by (edited x) (edited)");
  plain.title = std::string(199, 'a') + "\u00E9";
  EXPECT_LE(copy_of(plain, folder.path()).scene.title.size(), 200u);
}

}  // namespace
}  // namespace trocar

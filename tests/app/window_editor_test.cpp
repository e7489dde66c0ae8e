// Tests the scene editor without a window: rays and pixels, picking compared with a test of every face, undo, saving.
#include <gtest/gtest.h>

#include <random>

#include "app/window/editor.hpp"
#include "app/window/materials.hpp"
#include "geometry/error.hpp"
#include "sim/support/data_folder.hpp"
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

}  // namespace
}  // namespace trocar

// Scene files: defaults, units, and the sentence that names file, line and key.
#include "app/scene/scene.hpp"

#include <gtest/gtest.h>

#include "geometry/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

constexpr const char* kMinimal = R"(
[[organ]]
name = "liver"
mesh = "liver.obj"

[[instrument]]
name = "grasper"
pivot_mm = [0, 0, 250]
tip_mm = [0, 0.5, 100]
radius_mm = 5
)";

class SceneFile : public ::testing::Test {
 protected:
  Scene load(const std::string& content) { return load_scene(folder_.write("s.toml", content)); }

  void expect_sentence(const std::string& content, const std::string& part) {
    std::string text = "no error";
    try {
      load(content);
    } catch (const InputError& error) {
      text = error.what();
    }
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }

  static std::string with(const std::string& from, const std::string& to) {
    std::string text = kMinimal;
    return text.replace(text.find(from), from.size(), to);
  }

  TemporaryFolder folder_;
};

TEST_F(SceneFile, WholeNumbersAndDefaults) {
  const Scene scene = load(kMinimal);
  EXPECT_DOUBLE_EQ(scene.instruments[0].radius, 0.005);
  EXPECT_DOUBLE_EQ(scene.instruments[0].pivot.z, 0.25);
  EXPECT_FLOAT_EQ(scene.organs[0].tissue.youngs_modulus, TissueParams{}.youngs_modulus);
  EXPECT_EQ(scene.organs[0].mesh, folder_.path() / "liver.obj");
  EXPECT_DOUBLE_EQ(scene.frame_rate, 60.0);
}

TEST_F(SceneFile, ErrorsNameFileLineAndKey) {
  expect_sentence(with("radius_mm = 5\n", ""), "s.toml:6: instrument.radius_mm: is missing");
  expect_sentence(with("radius_mm = 5", "radus_mm = 5"), "instrument.radius_mm: is missing");
  expect_sentence(with("mesh = \"liver.obj\"", "mesh = \"liver.obj\"\ncolor = [1, 0, 0]"),
                  "s.toml:5: organ.color: is not a key of this table; did you mean 'colour'?");
  expect_sentence(with("radius_mm = 5", "radius_mm = \"5\""), "s.toml:10: instrument.radius_mm: must be a number");
  expect_sentence(with("radius_mm = 5", "radius_mm = -1"), "s.toml:10: instrument.radius_mm: -1 is outside its limits");
  expect_sentence(with("radius_mm = 5", "radius_mm = nan"), "finite");
  expect_sentence(with("[0, 0, 250]", "[0, 0]"), "s.toml:8: instrument.pivot_mm: must be three numbers");
  expect_sentence(with("[0, 0.5, 100]", "[0, 0, 250]"), "s.toml:9: instrument.tip_mm: is the same point as pivot_mm");
  expect_sentence("title = \"x\"\n", "organ: is missing");
  expect_sentence("title = \n", "s.toml:1: not valid TOML");
  expect_sentence(std::string("framerate = 60\n") + kMinimal,
                  "s.toml:1: framerate: is not a key of this table; did you mean 'frame_rate'?");
  expect_sentence(std::string(kMinimal) + "[query]\nmode = \"both\"\n",
                  "s.toml:12: query.mode: must be swept or static");
  EXPECT_THROW(load_scene(folder_.path() / "absent.toml"), InputError);
}

TEST_F(SceneFile, CommittedScenesLoad) {
  int scenes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(repository_file("data/scenes"))) {
    if (entry.path().extension() != ".toml") continue;
    const Scene scene = load_scene(entry.path());
    for (const auto& organ : scene.organs) EXPECT_TRUE(std::filesystem::exists(organ.mesh)) << organ.mesh;
    ++scenes;
  }
  EXPECT_GT(scenes, 0);
}

}  // namespace
}  // namespace trocar

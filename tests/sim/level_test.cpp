// Tests the levels of tasks: what a level changes and what it leaves, that its text alone gives the same scene, that
// the scenes of the product have three levels each, and what is refused with which sentence.
#include "sim/scene/level.hpp"

#include <filesystem>

#include "sim/scene/anatomy.hpp"
#include "sim/scene/scene_writer.hpp"
#include "tests/sim/scene_text.hpp"

namespace trocar {
namespace {

const std::string kTouch = test::shipped_scene("data/scenes/tasks/touch_targets.toml");

class Level : public test::SceneText {
 protected:
  Level() : SceneText(kTouch.substr(0, kTouch.find("[[task.level]]"))) {}

  // The scene of the task with these keys as its level 2.
  std::string with_keys(const std::string& keys) const {
    return with("[task]", "[task]") + "[[task.level]]\nname = \"harder\"\n" + keys;
  }
  Scene level_2(const std::string& keys) { return with_level(load(with_keys(keys)), 2); }
};

TEST_F(Level, OneIsTheSceneAsWritten) {
  const Scene scene = load(with_keys("tolerance_mm = 3\n"));
  EXPECT_EQ(levels_of(scene), 2);
  EXPECT_EQ(level_name(scene, 1), "");
  EXPECT_EQ(level_name(scene, 2), "harder");
  EXPECT_EQ(with_level(scene, std::nullopt).text, scene.text);
  EXPECT_EQ(with_level(scene, 1).text, scene.text);
  EXPECT_EQ(with_level(scene, 1).task->at_level, 1);
}

TEST_F(Level, ChangesTheKeysThatItNames) {
  const Scene written = load(with_keys(""));
  const Scene scene = level_2(
      "tolerance_mm = 3\nhold_s = 0\nmost_force_n = 1\nmost_tremor_mm = 0.1\ntime_good_s = 20\ntime_limit_s = 80\n"
      "breathing_mm = 7\nbreathing_hz = 0.5\nscope_eye_mm = [50, -70, 260]\nscope_angle_deg = 30\nscope_spin_deg = "
      "-90\n");
  EXPECT_DOUBLE_EQ(scene.task->tolerance, 0.003);
  EXPECT_EQ(scene.task->hold, 0.0);
  EXPECT_EQ(scene.task->most_force, 1.0);
  EXPECT_DOUBLE_EQ(scene.task->most_tremor, 0.0001);
  EXPECT_EQ(scene.task->time_good, 20.0);
  EXPECT_EQ(scene.task->time_limit, 80.0);
  EXPECT_FLOAT_EQ(scene.breathing.amplitude, 0.007f);
  EXPECT_EQ(scene.breathing.rate, 0.5f);
  EXPECT_EQ(scene.scope.eye, glm::vec3(0.05f, -0.07f, 0.26f));
  EXPECT_EQ(scene.scope.target, written.scope.target);
  EXPECT_EQ(scene.scope.angle_deg, 30.f);
  EXPECT_EQ(scene.scope.spin_deg, -90.f);
  EXPECT_EQ(scene.task->at_level, 2);
  EXPECT_TRUE(scene.task->levels.empty());
  EXPECT_EQ(scene.title, written.title + " (level 2: harder)");
}

TEST_F(Level, LeavesTheOtherKeys) {
  const Scene written = load(with_keys(""));
  Scene scene = level_2("");
  scene.title = written.title;
  scene.task->at_level = 1;
  scene.task->levels = written.task->levels;
  EXPECT_EQ(scene_text(scene, "s.toml"), scene_text(written, "s.toml"));
}

TEST_F(Level, SwapsTheTrocarsOfTheFirstTwoInstruments) {
  const Scene written = load(with_keys("")), scene = level_2("swap_trocars = true\n");
  for (const std::size_t k : {0u, 1u}) {
    EXPECT_EQ(scene.instruments[k].name, written.instruments[k].name);
    EXPECT_EQ(scene.instruments[k].kind, written.instruments[k].kind);
    EXPECT_EQ(scene.instruments[k].pivot, written.instruments[1 - k].pivot);
    EXPECT_EQ(scene.instruments[k].tip, written.instruments[1 - k].tip);
  }
}

TEST_F(Level, TheTextAloneGivesTheSameScene) {
  const Scene scene = level_2("tolerance_mm = 3.3\nbreathing_mm = 6.1\nswap_trocars = true\n");
  const Scene again = parse_scene(scene.text, scene.file);
  EXPECT_EQ(scene_text(again, "s.toml"), scene_text(scene, "s.toml"));
  EXPECT_EQ(again.task->at_level, 2);
  EXPECT_TRUE(scene.text.starts_with("# Level 2: harder.\n"));
}

TEST_F(Level, AppliesToAVariedAnatomy) {
  const Scene scene = load_scene(repository_file("data/scenes/procedures/cholecystectomy.toml"));
  const Scene one = with_level(with_anatomy(scene, 3), 2), other = with_anatomy(with_level(scene, 2), 3);
  const auto body = [](Scene changed) {
    changed.title.clear();
    return scene_text(changed, "s.toml");
  };
  EXPECT_EQ(body(one), body(other));
  EXPECT_EQ(one.task->at_level, 2);
}

TEST_F(Level, RefusesALevelThatTheSceneDoesNotHave) {
  const auto sentence_of = [](const Scene& scene, int number) -> std::string {
    try {
      with_level(scene, number);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  const Scene scene = load(with_keys(""));
  EXPECT_NE(sentence_of(scene, 3).find("s.toml: the scene has no level 3; it has levels 1 to 2"), std::string::npos);
  EXPECT_NE(sentence_of(scene, 0).find("no level 0"), std::string::npos);
  const Scene tour = load_scene(repository_file("data/scenes/tour.toml"));
  EXPECT_EQ(levels_of(tour), 1);
  EXPECT_NE(sentence_of(tour, 2).find("leave --level out"), std::string::npos);
}

TEST_F(Level, RefusesWhatCannotBe) {
  expect_sentence(with("[task]", "[task]") + "[[task.level]]\ntolerance_mm = 3\n", "task.level.name: is missing");
  expect_sentence(with("[task]", "[task]") + "[[task.level]]\nname = \"\"\n", "1 to 60 printable characters");
  expect_sentence(with_keys("tolerence_mm = 3\n"), "tolerance_mm");
  expect_sentence(with_keys("tolerance_mm = 0\n"), "limits 0.1 to 100");
  expect_sentence(with_keys("time_good_s = 90\n"), "task.level.time_good_s: time_limit_s = 90 must be more than");
  expect_sentence(with_keys("time_limit_s = 5\n"), "task.level.time_limit_s: time_limit_s = 5 must be more than");
  expect_sentence(with_keys("lift_mm = 20\n"), "only lift-organ");
  expect_sentence(with_keys("scope_angle_deg = 15\n"), "must be 0 or 30");
  expect_sentence(with_keys("scope_eye_mm = [-30, 70, 160]\n"), "same point as target_mm");
  const std::string zones = test::shipped_scene("data/scenes/tasks/keep_out.toml");
  expect_sentence(test::replaced(zones, "[[task.level]]\n", "[[task.level]]\nscope_eye_mm = [0, 0, 300]\n"),
                  "zones of this task lie in the picture");
}

TEST(Levels, EveryTaskOfTheProductHasThree) {
  int scenes = 0;
  for (const char* folder : {"data/scenes/tasks", "data/scenes/procedures"})
    for (const auto& entry : std::filesystem::directory_iterator(repository_file(folder))) {
      if (entry.path().extension() != ".toml") continue;
      const Scene scene = load_scene(entry.path());
      EXPECT_GE(levels_of(scene), 3) << entry.path();
      for (int number = 2; number <= levels_of(scene); ++number) {
        const Scene harder = with_level(scene, number);
        EXPECT_EQ(harder.task->at_level, number) << entry.path();
        EXPECT_FALSE(level_name(scene, number).empty()) << entry.path();
      }
      ++scenes;
    }
  EXPECT_GE(scenes, 11);
}

}  // namespace
}  // namespace trocar

// Tests that every written scene is read back equal: all scenes of the data folder, and scenes with random numbers; and
// the levels of tasks: what a level changes and what it leaves.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "geometry/error.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/support/files.hpp"
#include "tests/sim/scene/scene_text.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

void expect_equal(const JointLimits& a, const JointLimits& b) {
  EXPECT_EQ(a.pan_deg, b.pan_deg);
  EXPECT_EQ(a.lowest_tilt_deg, b.lowest_tilt_deg);
  EXPECT_EQ(a.highest_tilt_deg, b.highest_tilt_deg);
  EXPECT_EQ(a.shallowest, b.shallowest);
  EXPECT_EQ(a.deepest, b.deepest);
  EXPECT_EQ(a.widest_grip_deg, b.widest_grip_deg);
}

void expect_equal(const OrganScene& a, const OrganScene& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(std::filesystem::weakly_canonical(a.mesh), std::filesystem::weakly_canonical(b.mesh));
  EXPECT_EQ(a.part, b.part);
  EXPECT_EQ(a.mm_per_unit, b.mm_per_unit);
  EXPECT_EQ(a.colour, b.colour);
  EXPECT_EQ(a.look, b.look);
  EXPECT_EQ(a.tissue.youngs_modulus, b.tissue.youngs_modulus);
  EXPECT_EQ(a.tissue.poisson_ratio, b.tissue.poisson_ratio);
  EXPECT_EQ(a.tissue.density, b.tissue.density);
  EXPECT_EQ(a.tissue.damping_time, b.tissue.damping_time);
  EXPECT_EQ(a.tissue.drag, b.tissue.drag);
  EXPECT_EQ(a.tissue.node_spacing, b.tissue.node_spacing);
  EXPECT_EQ(a.tissue.substeps, b.tissue.substeps);
  EXPECT_EQ(a.tissue.gravity, b.tissue.gravity);
  EXPECT_EQ(a.tissue.friction, b.tissue.friction);
  ASSERT_EQ(a.attachments.size(), b.attachments.size());
  for (std::size_t k = 0; k < a.attachments.size(); ++k) {
    EXPECT_EQ(a.attachments[k].centre, b.attachments[k].centre);
    EXPECT_EQ(a.attachments[k].radius, b.attachments[k].radius);
    EXPECT_EQ(a.attachments[k].stiffness, b.attachments[k].stiffness);
    EXPECT_EQ(a.attachments[k].diaphragm, b.attachments[k].diaphragm);
  }
}

void expect_equal(const InstrumentScene& a, const InstrumentScene& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.pivot, b.pivot);
  EXPECT_EQ(a.tip, b.tip);
  EXPECT_EQ(a.radius, b.radius);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.axis, b.axis);
  expect_equal(a.limits, b.limits);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.script, b.script);
  EXPECT_EQ(a.axes, b.axes);
  EXPECT_EQ(a.registration, b.registration);
  EXPECT_EQ(std::filesystem::weakly_canonical(a.trajectory), std::filesystem::weakly_canonical(b.trajectory));
}

void expect_equal(const ScopeScene& a, const ScopeScene& b) {
  EXPECT_EQ(a.eye, b.eye);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.field_of_view_deg, b.field_of_view_deg);
  EXPECT_EQ(a.rod, b.rod);
  EXPECT_EQ(a.angle_deg, b.angle_deg);
  EXPECT_EQ(a.spin_deg, b.spin_deg);
  EXPECT_EQ(a.axes, b.axes);
  EXPECT_EQ(a.registration, b.registration);
  EXPECT_EQ(a.lens.barrel, b.lens.barrel);
  EXPECT_EQ(a.lens.field, b.lens.field);
  expect_equal(a.limits, b.limits);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.source, b.source);
}

void expect_equal(const TaskScene& a, const TaskScene& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.instructions, b.instructions);
  EXPECT_EQ(a.instrument, b.instrument);
  ASSERT_EQ(a.locations.size(), b.locations.size());
  for (std::size_t k = 0; k < a.locations.size(); ++k) {
    EXPECT_EQ(a.locations[k].organ, b.locations[k].organ);
    EXPECT_EQ(a.locations[k].location, b.locations[k].location);
  }
  ASSERT_EQ(a.zones.size(), b.zones.size());
  for (std::size_t k = 0; k < a.zones.size(); ++k) EXPECT_EQ(a.zones[k].outline, b.zones[k].outline);
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (std::size_t k = 0; k < a.steps.size(); ++k) {
    EXPECT_EQ(a.steps[k].kind, b.steps[k].kind);
    EXPECT_EQ(a.steps[k].title, b.steps[k].title);
    EXPECT_EQ(std::filesystem::weakly_canonical(a.steps[k].picture),
              std::filesystem::weakly_canonical(b.steps[k].picture));
  }
  EXPECT_EQ(a.tolerance, b.tolerance);
  EXPECT_EQ(a.hold, b.hold);
  EXPECT_EQ(a.lift, b.lift);
  EXPECT_EQ(a.most_force, b.most_force);
  EXPECT_EQ(a.time_good, b.time_good);
  EXPECT_EQ(a.time_limit, b.time_limit);
}

void expect_equal(const BackdropScene& a, const BackdropScene& b) {
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.colour, b.colour);
  EXPECT_EQ(a.look, b.look);
}

// Compares everything except the path and the text of the file.
void expect_equal(const Scene& a, const Scene& b) {
  ASSERT_EQ(a.backdrops.size(), b.backdrops.size());
  for (std::size_t k = 0; k < a.backdrops.size(); ++k) expect_equal(a.backdrops[k], b.backdrops[k]);
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.frame_rate, b.frame_rate);
  ASSERT_EQ(a.organs.size(), b.organs.size());
  for (std::size_t k = 0; k < a.organs.size(); ++k) expect_equal(a.organs[k], b.organs[k]);
  ASSERT_EQ(a.instruments.size(), b.instruments.size());
  for (std::size_t k = 0; k < a.instruments.size(); ++k) expect_equal(a.instruments[k], b.instruments[k]);
  expect_equal(a.scope, b.scope);
  EXPECT_EQ(a.query.backend, b.query.backend);
  EXPECT_EQ(a.query.mode, b.query.mode);
  EXPECT_EQ(a.query.cover, b.query.cover);
  EXPECT_EQ(a.solver.threads, b.solver.threads);
  EXPECT_EQ(a.breathing.amplitude, b.breathing.amplitude);
  EXPECT_EQ(a.breathing.rate, b.breathing.rate);
  EXPECT_EQ(a.breathing.direction, b.breathing.direction);
  ASSERT_EQ(a.task.has_value(), b.task.has_value());
  if (a.task) expect_equal(*a.task, *b.task);
}

TEST(SceneWriter, EverySceneOfTheDataFolderIsReadBackEqual) {
  TemporaryFolder folder;
  int scenes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data_file("scenes"))) {
    if (entry.path().extension() != ".toml") continue;
    SCOPED_TRACE(entry.path().string());
    const Scene scene = load_scene(entry.path());
    const auto written = folder.path() / entry.path().filename();
    save_scene(scene, written, false);
    expect_equal(scene, load_scene(written));
    ++scenes;
  }
  EXPECT_GE(scenes, 2);
}

TEST(SceneSchema, AnotherSchemaIsRefused) {
  const std::string old =
      "must be 2: scenes of schema 1 are no longer read, but their keys mean the same; write schema "
      "= 2 in the first line";
  for (const auto& [first, what] : std::initializer_list<std::pair<std::string, std::string>>{
           {"title = \"no schema\"", old},
           {"schema = 1", old},
           {"schema = 3", "is 3, but this version reads schema 2; use a later version of Trocar"},
           {"schema = 0", "0 is outside its limits 1 to 1e+06"},
           {"schema = \"2\"", "must be a number"}}) {
    try {
      parse_scene(first + "\n", "s.toml");
      FAIL() << first;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()), "s.toml:1: schema: " + what);
    }
  }
}

// Positions as the editor makes them: on a grid of 0.01 mm.
TEST(SceneWriter, RandomScenesAreReadBackEqual) {
  TemporaryFolder folder;
  const unsigned seed = 20251;
  std::mt19937 random(seed);
  std::printf("seed %u\n", seed);
  const auto number = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(random); };
  const auto position = [&] {
    const auto mm = [&] { return std::round(number(-300, 300) * 100.0) / 100.0; };
    return glm::dvec3(mm(), mm(), mm()) * 1e-3;
  };
  for (int round = 0; round < 200; ++round) {
    Scene scene;
    scene.title = "quotes \" and \\ and \u00e9";
    scene.frame_rate = number(10, 1000);
    OrganScene organ;
    organ.name = "liver";
    organ.mesh = folder.path() / "sub" / ".." / "liver.obj";
    organ.colour = glm::vec3(number(0, 1), number(0, 1), number(0, 1));
    organ.look = kTissueLooks[static_cast<std::size_t>(round) % kTissueLooks.size()];
    organ.tissue.youngs_modulus = static_cast<float>(number(100, 1e5));
    organ.tissue.damping_time = static_cast<float>(number(0, 0.1));
    organ.tissue.gravity = glm::vec3(position());
    organ.tissue.substeps = 3;
    organ.attachments.push_back({glm::vec3(position()), static_cast<float>(number(0.001, 0.1)), 40.f, true});
    scene.organs.push_back(organ);
    scene.backdrops.push_back({kBackdropShapes[static_cast<std::size_t>(round) % kBackdropShapes.size()],
                               0.01f * organ.colour, organ.colour, organ.look});
    InstrumentScene instrument;
    instrument.name = "hook";
    instrument.kind = InstrumentKind::Hook;
    instrument.pivot = position(), instrument.tip = position(), instrument.axis = position();
    instrument.axes = {number(-4, 4), number(-4, 4), 1.0, number(-4, 4)};
    instrument.registration = {position(), position()};
    instrument.limits.deepest = std::round(number(100, 300)) * 1e-3;
    instrument.device = "trajectory";
    instrument.trajectory = folder.path() / "t.csv";
    instrument.grasp.reach = static_cast<float>(number(0.001, 0.02));
    instrument.grasp.slip = number(1e-5, 1e-3);
    instrument.hook.length = number(0.001, 0.01), instrument.blades.reach = number(0.0, 0.01);
    instrument.haptic.trusted_motion = number(1e-5, 1e-4);
    scene.organs.back().contact.reach = number(0.001, 0.005);
    scene.organs.back().cut.floor = static_cast<float>(number(-0.2, 0.2));
    scene.organs.back().cut.out_of_sight = static_cast<float>(number(0.1, 1.0));
    scene.guard.tip_speed = number(0.01, 1.0);
    scene.instruments.push_back(instrument);
    scene.scope.eye = glm::vec3(position()), scene.scope.target = glm::vec3(position());
    scene.scope.angle_deg = 30.f;
    scene.scope.lens.barrel = number(0, 0.3);
    scene.query = {"scan", ToolMode::Static, Cover::Paper};
    scene.solver.threads = 2;
    scene.breathing.rate = static_cast<float>(number(0, 1));
    TaskScene task;
    task.kind = TaskKind::BurnLine, task.instrument = "hook", task.instructions = "Burn \"it\".\nSlowly.";
    task.locations = {{"liver", glm::vec3(position())}, {"liver", glm::vec3(position())}};
    task.zones = {{{{0, 0}, {number(0.1, 1), 0}, {0, number(0.1, 1)}}}};
    task.tolerance = std::round(number(1, 50) * 10) / 10 * 1e-3;
    task.time_good = number(1, 29), task.time_limit = number(30, 300);
    task.rules.slipped = number(0.001, 0.1), task.rules.enough = number(0.1, 1.0);
    scene.task = task;
    const auto file = folder.path() / "s.toml";
    save_scene(scene, file, true);
    expect_equal(scene, load_scene(file));
    EXPECT_EQ(scene_text(scene, file), scene_text(load_scene(file), file));
    if (HasFailure()) FAIL() << scene_text(scene, file);
  }
}

TEST(SceneWriter, ReplacesAFileOnlyWithPermission) {
  TemporaryFolder folder;
  const auto file = folder.write("s.toml", "mine");
  const Scene scene = load_scene(data_file("scenes/liver_and_stomach.toml"));
  EXPECT_THROW(save_scene(scene, file, false), InputError);
  EXPECT_EQ(std::filesystem::file_size(file), 4u);
  save_scene(scene, file, true);
  EXPECT_EQ(load_scene(file).title, scene.title);
  EXPECT_THROW(save_scene(scene, "/proc/no/s.toml", false), InputError);
}

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

// Tests the [task] table of scene files: every key, its limits, and error messages with file, line and key.
#include "sim/scene/task_reader.hpp"

#include <gtest/gtest.h>

#include "tests/sim/scene_text.hpp"

namespace trocar {
namespace {

constexpr const char* kScene = R"([[organ]]
name = "liver"
mesh = "liver.obj"
[[organ]]
name = "stomach"
mesh = "stomach.obj"
[[instrument]]
name = "grasper"
kind = "grasper"
pivot_mm = [0, 0, 250]
tip_mm = [0, 0.5, 100]
radius_mm = 5
[task]
kind = "touch-targets"
[[task.place]]
organ = "liver"
at_mm = [1, 2, 3]
)";  // [task] is line 13

class TaskReader : public test::SceneText {
 protected:
  TaskReader() : SceneText(kScene) {}

  // Adds keys to [task], from line 15 on.
  std::string keys(const std::string& lines) const {
    return with("kind = \"touch-targets\"\n", "kind = \"touch-targets\"\n" + lines);
  }
  std::string kind(const std::string& name) const { return with("touch-targets", name); }
};

TEST_F(TaskReader, ASceneMayHaveNoTask) {
  const std::string text = kScene;
  EXPECT_FALSE(load(text.substr(0, text.find("[task]"))).task);
}

TEST_F(TaskReader, EveryKeyIsRead) {
  const Scene scene = load(keys(R"(title = "One"
instructions = "Touch it."
instrument = "grasper"
tolerance_mm = 5
hold_s = 0.25
lift_mm = 20
most_force_n = 1.5
time_good_s = 12
time_limit_s = 50
)") + "[[task.zone]]\noutline = [[0, 0], [0.5, 0], [0, 0.5]]\n");
  ASSERT_TRUE(scene.task);
  const TaskScene& task = *scene.task;
  EXPECT_EQ(task.kind, TaskKind::TouchTargets);
  EXPECT_EQ(task.title, "One");
  EXPECT_EQ(task.instructions, "Touch it.");
  EXPECT_EQ(task.instrument, "grasper");
  ASSERT_EQ(task.locations.size(), 1u);
  EXPECT_EQ(task.locations[0].organ, "liver");
  EXPECT_FLOAT_EQ(task.locations[0].location.z, 0.003f);
  ASSERT_EQ(task.zones.size(), 1u);
  EXPECT_EQ(task.zones[0].outline[1], glm::dvec2(0.5, 0.0));
  EXPECT_DOUBLE_EQ(task.tolerance, 0.005);
  EXPECT_DOUBLE_EQ(task.hold, 0.25);
  EXPECT_DOUBLE_EQ(task.lift, 0.02);
  EXPECT_DOUBLE_EQ(task.most_force, 1.5);
  EXPECT_DOUBLE_EQ(task.time_good, 12.0);
  EXPECT_DOUBLE_EQ(task.time_limit, 50.0);
}

TEST_F(TaskReader, EveryThresholdOfTheRulesIsRead) {
  const Scene scene = load(std::string(kScene) + R"([task.rules]
readable = 0.2
too_near_mm = 10
deliberate_s = 0.5
off_tissue_after_s = 0.25
removal_lasts_s = 0.1
enough = 0.5
lifted_mm = 5
slipped_mm = 20
many_errors = 3
)");
  ASSERT_TRUE(scene.task);
  const TaskRules& rules = scene.task->rules;
  EXPECT_DOUBLE_EQ(rules.readable, 0.2);
  EXPECT_DOUBLE_EQ(rules.too_near, 0.01);
  EXPECT_DOUBLE_EQ(rules.deliberate, 0.5);
  EXPECT_DOUBLE_EQ(rules.off_tissue_after, 0.25);
  EXPECT_DOUBLE_EQ(rules.removal_lasts, 0.1);
  EXPECT_DOUBLE_EQ(rules.enough, 0.5);
  EXPECT_DOUBLE_EQ(rules.lifted, 0.005);
  EXPECT_DOUBLE_EQ(rules.slipped, 0.02);
  EXPECT_DOUBLE_EQ(rules.many_errors, 3.0);
}

TEST_F(TaskReader, DefaultsEqualThoseOfTheStruct) {
  const TaskScene task = load(kScene).task.value(), plain;
  EXPECT_EQ(task.tolerance, plain.tolerance);
  EXPECT_EQ(task.hold, plain.hold);
  EXPECT_EQ(task.lift, plain.lift);
  EXPECT_EQ(task.most_force, plain.most_force);
  EXPECT_EQ(task.time_good, plain.time_good);
  EXPECT_EQ(task.time_limit, plain.time_limit);
}

TEST_F(TaskReader, KindsAreNames) {
  for (const std::string name : {"touch-targets", "navigate-camera"})
    EXPECT_EQ(name_of(load(kind(name)).task.value().kind), name);
  expect_sentence(kind("sew"), "s.toml:14: task.kind: must be one of touch-targets, navigate-camera, follow-curve");
  expect_sentence(kind("follow-curve"), "task.place: a line needs at least two");
  expect_sentence(kind("keep-out"), "s.toml:13: task.zone: is missing");
  expect_sentence(kind("lift-organ"), "s.toml:13: task.instrument: is missing; name a grasper");
  expect_sentence(kind("burn-line\"\ninstrument = \"grasper"), "s.toml:15: task.instrument: must be a hook to burn");
  expect_sentence(kind("navigate-camera\"\ninstrument = \"grasper"), "s.toml:15: task.instrument: must be absent");
  EXPECT_EQ(load(kind("lift-organ\"\ninstrument = \"grasper")).task.value().kind, TaskKind::LiftOrgan);
}

TEST_F(TaskReader, InvalidValuesNameFileLineAndKey) {
  expect_sentence(keys("instrument = \"hook\"\n"),
                  "s.toml:15: task.instrument: the scene has no instrument 'hook'; it has grasper");
  expect_sentence(keys("tolerance_mm = 0\n"), "s.toml:15: task.tolerance_mm: 0 is outside its limits 0.1 to 100");
  expect_sentence(keys("hold_s = -1\n"), "s.toml:15: task.hold_s: -1 is outside its limits");
  expect_sentence(keys("lift_mm = \"far\"\n"), "s.toml:15: task.lift_mm: must be a number");
  expect_sentence(keys("most_force_n = nan\n"), "s.toml:15: task.most_force_n: must be a finite number");
  expect_sentence(keys("time_limit_s = 20\n"), "s.toml:15: task.time_limit_s: time_limit_s = 20 must be more than");
  expect_sentence(keys("tolerance = 4\n"), "s.toml:15: task.tolerance: is not a key of this table; did you mean");
  expect_sentence(with("organ = \"liver\"", "organ = \"spleen\""),
                  "s.toml:16: task.place.organ: the scene has no organ 'spleen'; it has liver, stomach");
  expect_sentence(with("at_mm = [1, 2, 3]", "at_mm = [1, 2]"), "s.toml:17: task.place.at_mm: must be three numbers");
  expect_sentence(with("[[task.place]]\norgan = \"liver\"\nat_mm = [1, 2, 3]\n", ""),
                  "s.toml:13: task.place: is missing");
  expect_sentence(kind("follow-curve") + "[[task.place]]\norgan = \"stomach\"\nat_mm = [0, 0, 0]\n",
                  "task.place: a line must lie on one organ, but this one lies on liver and stomach");
  const std::string grasping = kind("lift-organ\"\ninstrument = \"grasper");
  expect_sentence(grasping + "[[task.place]]\norgan = \"liver\"\nat_mm = [0, 0, 0]\n", "lift-organ takes one");
}

TEST_F(TaskReader, ZonesMustBeSimplePolygons) {
  const auto zone = [&](const std::string& outline, const std::string& part) {
    expect_sentence(std::string(kScene) + "[[task.zone]]\noutline = " + outline + "\n", "s.toml:19: task.zone." + part);
  };
  zone("[[0, 0], [1, 1], [1, 0], [0, 1]]", "outline: is not a simple polygon: ");
  zone("[[0, 0], [1, 1]]", "outline: is not a simple polygon: ");
  zone("[[0, 0], [1, inf], [1, 0]]", "outline: must be a finite number");
  zone("[0, 1, 2]", "outline: must be a list of pairs of numbers");
  zone("[[0, 0, 0], [1, 0, 0], [0, 1, 0]]", "outline: must be a list of pairs of numbers");
}

}  // namespace
}  // namespace trocar

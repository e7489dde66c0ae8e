// Tests scenes with the task "operation": faults are one sentence.
#include <gtest/gtest.h>

#include "tests/sim/scene_text.hpp"

namespace trocar {
namespace {

class OperationScene : public test::SceneText {
 protected:
  OperationScene() : SceneText(test::shipped_scene("data/scenes/procedures/cholecystectomy.toml")) {}
};

TEST_F(OperationScene, FaultsAreOneSentence) {
  expect_sentence(with("name = \"bed\"\nnear_mm", "name = \"bad\"\nnear_mm"), "no layer or band 'bad'; it has bed, ");
  expect_sentence(with("title = \"retract the fundus\"\norgan = \"gallbladder\"", "title = \"retract\""),
                  "is missing; name the organ that is moved");
  expect_sentence(with("title = \"retract the fundus\"\norgan = \"gallbladder\"", "organ = \"spleen\""), "'spleen'");
  expect_sentence(with("kind = \"hook\"", "kind = \"probe\""), "needs an instrument of the kind hook");
  expect_sentence(
      test::replaced(with("kind = \"grasper\"", "kind = \"probe\""), "kind = \"grasper\"", "kind = \"probe\""),
      "the scene needs a grasper");
  expect_sentence(with("title = \"clip and divide duct and artery\"", "organ = \"liver\""), "must be absent");
  expect_sentence(with("kind = \"retract\"", "kind = \"remove\""), "at most one step of the kind remove");
  expect_sentence(with("deepest_burn_mm = 3", "deepest_burn_mm = -3"), "deepest_burn_mm");
  expect_sentence(with("part = 0.333", "part = 0"), "part");
  expect_sentence(with("no_diathermy = true", "most_blood_ml = 10"), "stomach cannot bleed");
  expect_sentence(with("no_diathermy = true", "most_bile_ml = 10"), "stomach holds no bile");
  expect_sentence(with("deepest_burn_mm = 3", "most_blood_ml = -3"), "most_blood_ml");
  expect_sentence(
      with("[[task.step.pull]]\ninstrument = \"second grasper\"", "[[task.step.pull]]\ninstrument = \"hook\""),
      "must name a grasper");
  expect_sentence(with("kind = \"operation\"", "kind = \"clip-and-cut\""), "only an operation has");
}

TEST_F(OperationScene, APictureOfAStepIsAFileOfTheScene) {
  const auto pictured = [&](const std::string& file) { return with("pictures/retract_fundus.png", file); };
  const Scene own = load(pictured("own.png"));
  EXPECT_EQ(own.task->steps[0].picture, own.file.parent_path() / "own.png");
  expect_sentence(pictured("/etc/passwd"), "the picture of the step retract the fundus is /etc/passwd, outside");
}

}  // namespace
}  // namespace trocar

// Tests that scenes within all limits whose frames take seconds say so before they start, and name the key; and that a
// scene with a task has no more organs than the task can tell apart.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "mesh/mesh_io.hpp"
#include "tests/app/run_program.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

// Keys that replace those of an ordinary scene with one organ of 60 mm.
struct SceneText {
  std::string tissue = "youngs_modulus = 6000\nnode_spacing_mm = 12\n";
  std::string attachment = "";
  std::string organ = "";  // outside [organ.tissue]
};

class SlowScene : public Program {
 protected:
  std::string scene_of(const SceneText& scene) {
    save_mesh(shapes::icosphere(3, 0.03f), folder_.path() / "ball.obj");
    return file("s.toml",
                "title = \"s\"\n[scope]\neye_mm = [0, -75, 290]\ntarget_mm = [0, 0, 0]\n[[organ]]\nname = \"ball\"\n"
                "mesh = \"ball.obj\"\n" +
                    scene.organ + "[organ.tissue]\n" + scene.tissue +
                    "[[organ.attachment]]\ncentre_mm = [0, 0, -30]\nradius_mm = 15\n" + scene.attachment +
                    "[[instrument]]\nname = \"probe\"\npivot_mm = [0, 0, 200]\ntip_mm = [0, 0, 90]\nradius_mm = 2.5\n"
                    "device = \"script\"\nscript = \"press\"\n");
  }

  // Two rows: two frames of `step` seconds.
  Outcome record(const SceneText& scene, double step) {
    const std::string rows = file("t.csv", fmt::format("t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n0,0,0,200,0,0,90\n"
                                                       "{},0,0,200,0,0,89\n",
                                                       step));
    return run("record " + scene_of(scene) + " --trajectory " + rows + " --backend scan --force -o " +
               (folder_.path() / "s.h5").string());
  }

  // Expects one sentence with these words on stderr.
  void expect_said(const Outcome& outcome, const std::string& words) {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("s.toml: a frame takes "), std::string::npos) << words << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << words << "\n" << outcome.err;
    EXPECT_EQ(outcome.err.find("a frame takes"), outcome.err.rfind("a frame takes")) << outcome.err;
  }
};

TEST_F(SlowScene, AnOrdinarySceneSaysNothing) {
  EXPECT_EQ(record({}, 1.0 / 60.0).err.find("a frame takes"), std::string::npos);
  EXPECT_EQ(record({}, 0.1).err.find("a frame takes"), std::string::npos);
}

TEST_F(SlowScene, TheSentenceNamesTheKeyThatIsTheCause) {
  const double tick = 1.0 / 60.0;
  expect_said(record({.tissue = "youngs_modulus = 1e9\nnode_spacing_mm = 12\n"}, tick),
              "because of youngs_modulus = 1e+09; a smaller one computes faster");
  expect_said(record({.tissue = "density = 1\nnode_spacing_mm = 5\n"}, tick),
              "because of density = 1; a larger one computes faster");
  expect_said(record({.tissue = "density = 1\nnode_spacing_mm = 12\n", .attachment = "stiffness = 1e6\n"}, tick),
              "because of density = 1; a larger one computes faster");
  expect_said(record({.tissue = "node_spacing_mm = 1.5\n"}, tick),
              "because of node_spacing_mm = 1.5; a larger one computes faster");
  expect_said(record({.tissue = "substeps = 1000\nnode_spacing_mm = 6\n"}, tick), "because of substeps = 1000");
  expect_said(record({.tissue = "node_spacing_mm = 12\n"}, 1000.0), "because of a frame of 1000 s; give rows");
}

TEST_F(SlowScene, TheDemonstrationSaysItToo) {
  const std::string scene = scene_of({.tissue = "youngs_modulus = 1e9\nnode_spacing_mm = 12\n"});
  expect_said(run("demo --headless --frames 1 --backend scan --scene " + scene + " --out " +
                  (folder_.path() / "demo").string()),
              "because of youngs_modulus");
}

// Each organ has one bit of the numbers that say which organs an instrument burns.
TEST_F(SlowScene, ATaskTellsAtMost31OrgansApart) {
  const auto with_organs = [&](int organs, bool task) {
    std::string text = "[scope]\neye_mm = [0, -75, 290]\ntarget_mm = [0, 0, 0]\n";
    for (int k = 0; k < organs; ++k)
      text += fmt::format(
          "[[organ]]\nname = \"o{0}\"\nmesh = \"ball.obj\"\noffset_mm = [{1}, 0, 0]\n"
          "[organ.tissue]\nnode_spacing_mm = 20\n[[organ.attachment]]\ncentre_mm = [{1}, 0, 0]\nradius_mm = 30\n",
          k, 70 * k);
    text +=
        "[[instrument]]\nname = \"probe\"\npivot_mm = [0, 0, 200]\ntip_mm = [0, 0, 90]\nradius_mm = 2.5\ndevice = "
        "\"script\"\n";
    if (task)
      text +=
          "[task]\nkind = \"touch-targets\"\ntitle = \"t\"\ninstructions = \"i\"\n[[task.place]]\norgan = "
          "\"o0\"\nat_mm = [0, 0, 30]\n";
    return file("many.toml", text);
  };
  save_mesh(shapes::icosphere(2, 0.03f), folder_.path() / "ball.obj");
  expect_refused("perform " + with_organs(33, true) + " -o " + (folder_.path() / "x.h5").string(),
                 ": organ: a scene with a [task] has at most 31 organs, so that the task can tell which one an "
                 "instrument burns; this one has 33: join some into one mesh");
  const std::string rows = file("t.csv", "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n0,0,0,200,0,0,90\n");
  for (const auto& [organs, task] : {std::pair{31, true}, std::pair{33, false}}) {
    const Outcome outcome = run("record " + with_organs(organs, task) + " --trajectory " + rows +
                                " --backend scan --force -o " + (folder_.path() / "x.h5").string());
    EXPECT_EQ(outcome.status, 0) << organs << outcome.err;
  }
}

}  // namespace
}  // namespace trocar

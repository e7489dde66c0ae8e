// Tests scene files: defaults, units, every key of layers, bands and tasks, and error messages with file, line and key.
#include <gtest/gtest.h>

#include "geometry/error.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/task_scene.hpp"
#include "tests/sim/scene/scene_text.hpp"
#include "tests/support/glb.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

constexpr const char* kMinimal = R"(schema = 2
[[organ]]
name = "liver"
mesh = "liver.obj"

[[instrument]]
name = "grasper"
pivot_mm = [0, 0, 250]
tip_mm = [0, 0.5, 100]
radius_mm = 5
)";

class SceneFile : public test::SceneText {
 protected:
  SceneFile() : SceneText(kMinimal) {}
};

TEST_F(SceneFile, WholeNumbersAndDefaults) {
  const Scene scene = load(kMinimal);
  EXPECT_DOUBLE_EQ(scene.instruments[0].radius, 0.005);
  EXPECT_DOUBLE_EQ(scene.instruments[0].pivot.z, 0.25);
  EXPECT_FLOAT_EQ(scene.organs[0].tissue.youngs_modulus, TissueParams{}.youngs_modulus);
  EXPECT_EQ(scene.organs[0].mesh, folder_.path() / "liver.obj");
  EXPECT_DOUBLE_EQ(scene.frame_rate, 60.0);
}

TEST_F(SceneFile, AnOrganNamesItsMaterial) {
  folder_.write("soft.toml", "law = \"rising\"\nyoungs_modulus = 2500\npoisson_ratio = 0.48\nstiffening = -0.5\n");
  const std::string text = with("mesh = \"liver.obj\"", "mesh = \"liver.obj\"\nmaterial = \"soft.toml\"");
  const Scene scene = load(text);
  const TissueParams& tissue = scene.organs[0].tissue;
  EXPECT_EQ(tissue.law, TissueLaw::Rising);
  EXPECT_FLOAT_EQ(tissue.youngs_modulus, 2500.f);
  EXPECT_FLOAT_EQ(tissue.stiffening, -0.5f);
  // A recording keeps the text alone.
  const Scene recorded = parse_scene(scene.text, folder_.path() / "elsewhere.toml");
  EXPECT_EQ(scene.text.find("material"), std::string::npos);
  EXPECT_EQ(recorded.organs[0].tissue.law, TissueLaw::Rising);
  EXPECT_FLOAT_EQ(recorded.organs[0].tissue.poisson_ratio, 0.48f);
  expect_sentence(text + "[organ.tissue]\nlaw = \"rising\"\n", "material: sets law, which [organ.tissue] sets too");
  expect_sentence(with("mesh = \"liver.obj\"", "mesh = \"liver.obj\"\nmaterial = \"none.toml\""), "none.toml");
}

TEST_F(SceneFile, AnOrganIsAPartOfAFile) {
  const TriangleMesh liver = shapes::cube(0.1f), lobe = shapes::cube(0.05f, glm::vec3(0.2f, 0.f, 0.f));
  folder_.write("body.glb", glb_of({{"liver", liver}, {"spleen", shapes::cube(0.04f)}, {"liver", lobe}}));
  const std::string whole = with("liver.obj", "body.glb");
  EXPECT_EQ(surface_of(load(whole).organs[0]).faces.size(), 36u);
  const std::string part = with("mesh = \"liver.obj\"", "mesh = \"body.glb\"\npart = \"liver\"\noffset_mm = [0, 0, 7]");
  const TriangleMesh read = surface_of(load(part).organs[0]), both = shapes::joined(liver, lobe);
  EXPECT_EQ(read.faces, both.faces);
  ASSERT_EQ(read.positions.size(), both.positions.size());
  for (std::size_t k = 0; k < read.positions.size(); ++k)
    EXPECT_LE(glm::distance(read.positions[k], both.positions[k] + glm::vec3(0.f, 0.f, 0.007f)), 1e-8f);
  const Scene wrong = load(with("mesh = \"liver.obj\"", "mesh = \"body.glb\"\npart = \"colon\""));
  try {
    surface_of(wrong.organs[0]);
    ADD_FAILURE() << "a part that is not there was accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no part 'colon'; it has 'liver', 'spleen', 'liver'"), std::string::npos)
        << error.what();
  }
}

TEST_F(SceneFile, ABackdropIsAShapeOfTheProgram) {
  const std::string text = std::string(kMinimal) + "[[backdrop]]\nshape = \"colon\"\noffset_mm = [0, 0, 7]\n" +
                           "[[backdrop]]\nshape = \"omentum\"\nlook = \"fat\"\ncolour = [0.7, 0.4, 0.1]\n";
  const Scene scene = load(text);
  ASSERT_EQ(scene.backdrops.size(), 2u);
  EXPECT_EQ(scene.backdrops[1].look, TissueLook::Fat);
  EXPECT_EQ(scene.backdrops[1].colour, glm::vec3(0.7f, 0.4f, 0.1f));
  const TriangleMesh colon = load_mesh(repository_file("data/organs/colon.obj"));
  const TriangleMesh moved = surface_of(scene.backdrops[0]);
  EXPECT_EQ(moved.faces, colon.faces);
  EXPECT_LE(glm::distance(moved.positions[5], colon.positions[5] + glm::vec3(0.f, 0.f, 0.007f)), 1e-8f);
  // The text of a recording draws the same.
  EXPECT_EQ(surface_of(parse_scene(scene.text, "elsewhere.toml").backdrops[0]).positions, moved.positions);
  for (const BackdropShape shape : kBackdropShapes)
    EXPECT_FALSE(surface_of(BackdropScene{.shape = shape}).faces.empty()) << name_of(shape);

  const std::string head = std::string(kMinimal) + "[[backdrop]]\n";
  expect_sentence(
      head + "shape = \"spleen\"\n",
      "s.toml:12: backdrop.shape: must be one of colon, omentum, lesser-omentum, retroperitoneum, diaphragm");
  expect_sentence(head + "look = \"fat\"\n", "shape");
  expect_sentence(head + "shape = \"colon\"\nmesh = \"colon.obj\"\n", "s.toml:13: backdrop.mesh");
  expect_sentence(head + "shape = \"colon\"\ncolour = [2, 0, 0]\n", "s.toml:13: backdrop.colour");
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
  expect_sentence("schema = 2\ntitle = \"x\"\n", "organ: is missing");
  expect_sentence("title = \n", "s.toml:1: not valid TOML");
  expect_sentence(std::string("framerate = 60\n") + kMinimal,
                  "s.toml:1: framerate: is not a key of this table; did you mean 'frame_rate'?");
  expect_sentence(std::string(kMinimal) + "[query]\nmode = \"both\"\n",
                  "s.toml:12: query.mode: must be swept or static");
  EXPECT_THROW(load_scene(folder_.path() / "absent.toml"), InputError);
}

TEST_F(SceneFile, EveryKeyOfTissueAndInstrumentsIsRead) {
  const Scene scene = load(R"(schema = 2
[breathing]
amplitude_mm = 7
rate_hz = 0.5
direction = [0, 0, -1]
[solver]
threads = 2
[[organ]]
name = "liver"
mesh = "liver.obj"
[organ.tissue]
youngs_modulus = 4500
poisson_ratio = 0.4
density = 1000
damping_ms = 0.5
drag = 3
friction = 0.1
node_spacing_mm = 7
substeps = 3
gravity = [0, -9.81, 0]
[[organ.attachment]]
centre_mm = [1, 2, 3]
radius_mm = 4
stiffness = 250
diaphragm = true
[[instrument]]
name = "hook"
kind = "hook"
pivot_mm = [0, 0, 250]
tip_mm = [0, 0, 100]
radius_mm = 2.5
device = "script"
script = "burn"
[[instrument]]
name = "grasper"
kind = "grasper"
pivot_mm = [0, 0, 250]
tip_mm = [0, 0, 100]
radius_mm = 2.5
)");
  EXPECT_FLOAT_EQ(scene.breathing.amplitude, 0.007f);
  EXPECT_FLOAT_EQ(scene.breathing.rate, 0.5f);
  EXPECT_EQ(scene.breathing.direction, glm::vec3(0.f, 0.f, -1.f));
  EXPECT_EQ(scene.solver.threads, 2);
  const TissueParams& tissue = scene.organs[0].tissue;
  EXPECT_FLOAT_EQ(tissue.youngs_modulus, 4500.f);
  EXPECT_FLOAT_EQ(tissue.poisson_ratio, 0.4f);
  EXPECT_FLOAT_EQ(tissue.density, 1000.f);
  EXPECT_FLOAT_EQ(tissue.damping_time, 5e-4f);
  EXPECT_FLOAT_EQ(tissue.drag, 3.f);
  EXPECT_FLOAT_EQ(tissue.friction, 0.1f);
  EXPECT_FLOAT_EQ(tissue.node_spacing, 0.007f);
  EXPECT_EQ(tissue.substeps, 3);
  EXPECT_EQ(tissue.gravity, glm::vec3(0.f, -9.81f, 0.f));
  const Attachment& attachment = scene.organs[0].attachments.at(0);
  EXPECT_FLOAT_EQ(attachment.centre.z, 0.003f);
  EXPECT_FLOAT_EQ(attachment.radius, 0.004f);
  EXPECT_FLOAT_EQ(attachment.stiffness, 250.f);
  EXPECT_TRUE(attachment.diaphragm);
  EXPECT_EQ(scene.instruments[0].kind, InstrumentKind::Hook);
  EXPECT_EQ(scene.instruments[0].script, "burn");
  EXPECT_EQ(scene.instruments[1].kind, InstrumentKind::Grasper);
  EXPECT_EQ(scene.instruments[1].device, "mouse");
}

TEST_F(SceneFile, EveryParameterOfContactsAndInstrumentsIsRead) {
  const Scene scene = load(R"(
schema = 2
[guard]
tip_speed_mm_s = 50
roll_speed_deg_s = 90
longest_return_s = 3
[[organ]]
name = "liver"
mesh = "liver.obj"
[organ.tissue]
fastest_tool = 1
unfolding = 0.5
crush_damping = 200
[organ.contact]
reach_mm = 1
candidate_reach_mm = 4
least_substeps = 2
most_substeps = 6
smallest_area_m2 = 1e-5
[organ.cut]
voxels_per_cell = 4
smallest_piece = 10
fall = [0, -9, 0]
floor_mm = -40
out_of_sight_mm = 300
[[instrument]]
name = "tool"
pivot_mm = [0, 0, 250]
tip_mm = [0, 0, 100]
radius_mm = 2.5
[instrument.grasp]
reach_mm = 5
close_below = 0.2
open_above = 0.5
squeeze_n = 4
friction = 0.5
damage_from_n = 3
tear_from_n = 6
slip_mm = 0.1
[instrument.hook]
length_mm = 6
reach_mm = 1
[instrument.blades]
length_mm = 12
reach_mm = 1
meet = 0.1
open = 0.4
[instrument.haptic]
start_stiffness = 100
weakest_force_n = 1e-5
shortest_interval_s = 0.002
interval_memory_s = 2
)");
  EXPECT_DOUBLE_EQ(scene.guard.tip_speed, 0.05);
  EXPECT_DOUBLE_EQ(scene.guard.roll_speed_deg, 90.0);
  EXPECT_DOUBLE_EQ(scene.guard.longest_way_back, 3.0);
  const OrganScene& organ = scene.organs[0];
  EXPECT_FLOAT_EQ(organ.tissue.fastest_tool, 1.f);
  EXPECT_FLOAT_EQ(organ.tissue.unfolding, 0.5f);
  EXPECT_FLOAT_EQ(organ.tissue.crush_damping, 200.f);
  EXPECT_DOUBLE_EQ(organ.contact.reach, 0.001);
  EXPECT_DOUBLE_EQ(organ.contact.candidate_reach, 0.004);
  EXPECT_EQ(organ.contact.least_substeps, 2);
  EXPECT_EQ(organ.contact.most_substeps, 6);
  EXPECT_FLOAT_EQ(organ.contact.patch_area, 1e-5f);
  EXPECT_EQ(organ.cut.voxels_per_cell, 4);
  EXPECT_EQ(organ.cut.smallest_piece, 10);
  EXPECT_EQ(organ.cut.fall, glm::vec3(0.f, -9.f, 0.f));
  EXPECT_FLOAT_EQ(organ.cut.floor, -0.04f);
  EXPECT_FLOAT_EQ(organ.cut.out_of_sight, 0.3f);
  const InstrumentScene& tool = scene.instruments[0];
  EXPECT_FLOAT_EQ(tool.grasp.reach, 0.005f);
  EXPECT_FLOAT_EQ(tool.grasp.close_below, 0.2f);
  EXPECT_FLOAT_EQ(tool.grasp.open_above, 0.5f);
  EXPECT_FLOAT_EQ(tool.grasp.squeeze, 4.f);
  EXPECT_FLOAT_EQ(tool.grasp.friction, 0.5f);
  EXPECT_FLOAT_EQ(tool.grasp.damage_from, 3.f);
  EXPECT_FLOAT_EQ(tool.grasp.tear_from, 6.f);
  EXPECT_DOUBLE_EQ(tool.grasp.slip, 1e-4);
  EXPECT_DOUBLE_EQ(tool.hook.length, 0.006);
  EXPECT_DOUBLE_EQ(tool.hook.reach, 0.001);
  EXPECT_DOUBLE_EQ(tool.blades.length, 0.012);
  EXPECT_DOUBLE_EQ(tool.blades.reach, 0.001);
  EXPECT_DOUBLE_EQ(tool.blades.meet, 0.1);
  EXPECT_DOUBLE_EQ(tool.blades.open, 0.4);
  EXPECT_DOUBLE_EQ(tool.haptic.start_stiffness, 100.0);
  EXPECT_DOUBLE_EQ(tool.haptic.weakest_force, 1e-5);
  EXPECT_DOUBLE_EQ(tool.haptic.shortest_interval, 0.002);
  EXPECT_DOUBLE_EQ(tool.haptic.interval_memory, 2.0);
}

TEST_F(SceneFile, ContradictoryParametersNameTheirKey) {
  const auto tool = [&](const std::string& lines, const std::string& part) {
    expect_sentence(std::string(kMinimal) + lines + "\n", part);
  };
  tool("[instrument.grasp]\nopen_above = 0.2", "s.toml:12: instrument.grasp.open_above: must be more than close_below");
  tool("[instrument.blades]\nopen = 0.1", "s.toml:12: instrument.blades.open: must be more than meet");
  tool("[instrument.haptic]\nleast_stiffness = 2000", "instrument.haptic.greatest_stiffness: must be at least");
  tool("[instrument.haptic]\nshortest_interval_s = 0.5", "instrument.haptic.longest_interval_s: must be more than");
  const std::string mesh = "mesh = \"liver.obj\"";
  expect_sentence(with(mesh, mesh + "\n[organ.contact]\nreach_mm = 9"),
                  "organ.contact.candidate_reach_mm: must be at least");
  expect_sentence(with(mesh, mesh + "\n[organ.contact]\nleast_substeps = 9"),
                  "organ.contact.most_substeps: must be at least");
}

// The defaults of a scene equal the defaults of the structs.
TEST_F(SceneFile, DefaultsEqualThoseOfTheStructs) {
  const Scene scene = load(kMinimal);
  const TissueParams tissue;
  EXPECT_EQ(scene.organs[0].tissue.poisson_ratio, tissue.poisson_ratio);
  EXPECT_FLOAT_EQ(scene.organs[0].tissue.damping_time, tissue.damping_time);
  EXPECT_EQ(scene.organs[0].tissue.node_spacing, tissue.node_spacing);
  EXPECT_EQ(scene.breathing.amplitude, Breathing{}.amplitude);
  EXPECT_EQ(scene.breathing.rate, Breathing{}.rate);
  EXPECT_EQ(scene.solver.threads, 0);
  EXPECT_EQ(scene.instruments[0].kind, InstrumentKind::Probe);
}

// The picture of a lens with barrel k ends at 1 / sqrt(k) half heights. A scope more than 1000 m from the origin has a
// wrong unit.
TEST_F(SceneFile, UnusableScopesNameTheirKey) {
  const auto scope = [&](const std::string& lines, const std::string& part) {
    expect_sentence(std::string(kMinimal) + "\n[scope]\n" + lines + "\n", part);
  };
  scope("barrel = 0.3\nfield = 1.9", "scope.field: must be below 1.83");
  scope("eye_mm = [1e300, 0, 0]", "scope.eye_mm: is more than 1000 m from the origin");
  scope("target_mm = [0, 1e9, 0]", "scope.target_mm: is more than 1000 m from the origin");
  EXPECT_NO_THROW(load(std::string(kMinimal) + "\n[scope]\nbarrel = 0.3\nfield = 1.8\n"));
}

TEST_F(SceneFile, WrongTissueKeysNameFileLineAndKey) {
  const auto tissue = [&](const std::string& line, const std::string& part) {
    expect_sentence(with("mesh = \"liver.obj\"", "mesh = \"liver.obj\"\n[organ.tissue]\n" + line),
                    "s.toml:6: organ.tissue." + part);
  };
  tissue("youngs_modulus = 0", "youngs_modulus: 0 is outside its limits");
  tissue("youngs_modulus = -6000", "youngs_modulus: -6000 is outside its limits");
  tissue("poisson_ratio = 0.6", "poisson_ratio: 0.6 is outside its limits 0.25 to 0.49");
  tissue("poisson_ratio = 0.2", "poisson_ratio: 0.2 is outside its limits");
  tissue("damping_ms = -1", "damping_ms: -1 is outside its limits");
  tissue("drag = inf", "drag: must be a finite number");
  tissue("friction = \"wet\"", "friction: must be a number");
  tissue("gravity = 9.81", "gravity: must be three numbers");
  tissue("node_spacing_mm = 0", "node_spacing_mm: 0 is outside its limits");
  tissue("substeps = 1.5", "substeps: must be a whole number");
  tissue("damping = 0.1", "damping: is not a key of this table; did you mean 'damping_ms'?");
}

TEST_F(SceneFile, WrongAttachmentsBreathingAndToolsNameFileLineAndKey) {
  const auto attachment = [&](const std::string& line, const std::string& part) {
    const std::string ball = "mesh = \"liver.obj\"\n[[organ.attachment]]\ncentre_mm = [0, 0, 0]\nradius_mm = 9\n";
    expect_sentence(with("mesh = \"liver.obj\"", ball + line), "s.toml:8: organ.attachment." + part);
  };
  attachment("stiffness = -1", "stiffness: -1 is outside its limits");
  attachment("diaphragm = 1", "diaphragm: must be true or false");
  const auto added = [&](const std::string& line, const std::string& part) {
    expect_sentence(kMinimal + line, "s.toml:" + part);
  };
  added("[breathing]\namplitude_mm = -2\n", "12: breathing.amplitude_mm: -2 is outside its limits");
  added("[breathing]\nrate_hz = 11\n", "12: breathing.rate_hz: 11 is outside its limits");
  added("[breathing]\ndirection = [0, 0, 0]\n", "12: breathing.direction: has length 0");
  added("[breathing]\nrate = 1\n", "12: breathing.rate: is not a key of this table; did you mean 'rate_hz'?");
  added("[solver]\nthreads = -1\n", "12: solver.threads: -1 is outside its limits 0 to 64");
  added("[solver]\nthreads = 65\n", "12: solver.threads: 65 is outside its limits");
  added("kind = \"knife\"\n",
        "11: instrument.kind: must be one of probe, grasper, hook, scissors, clip-applier, suction");
  added("device = \"script\"\nscript = \"cut\"\n", "12: instrument.script: must be explore, press, pull or burn");
}

TEST_F(SceneFile, CommittedScenesLoad) {
  int scenes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(repository_file("data/scenes"))) {
    if (entry.path().extension() != ".toml") continue;
    const Scene scene = load_scene(entry.path());
    for (const auto& organ : scene.organs) EXPECT_FALSE(surface_of(organ).faces.empty()) << organ.name;
    ++scenes;
  }
  EXPECT_GT(scenes, 0);
}

constexpr const char* kBondedScene = R"(schema = 2
[[organ]]
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
  SceneBonds() : SceneText(kBondedScene) {}
};

TEST_F(SceneBonds, ReadsLayersAndBands) {
  const Scene scene = load(kBondedScene);
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
  const Scene scene = load(kBondedScene), again = load(scene_text(scene, folder_.path() / "s.toml"));
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
  expect_sentence(std::string(kBondedScene) + "[[layer]]\nname = \"bed\"\norgan = \"liver\"\nto = \"gallbladder\"\n",
                  "two have the name 'bed'");
}

constexpr const char* kTaskScene = R"(schema = 2
[[organ]]
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
)";  // [task] is line 14

class TaskReader : public test::SceneText {
 protected:
  TaskReader() : SceneText(kTaskScene) {}

  // Adds keys to [task], from line 16 on.
  std::string keys(const std::string& lines) const {
    return with("kind = \"touch-targets\"\n", "kind = \"touch-targets\"\n" + lines);
  }
  std::string kind(const std::string& name) const { return with("touch-targets", name); }
};

TEST_F(TaskReader, ASceneMayHaveNoTask) {
  const std::string text = kTaskScene;
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
  const Scene scene = load(std::string(kTaskScene) + R"([task.rules]
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
  const TaskScene task = load(kTaskScene).task.value(), plain;
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
  expect_sentence(kind("sew"), "s.toml:15: task.kind: must be one of touch-targets, navigate-camera, follow-curve");
  expect_sentence(kind("follow-curve"), "task.place: a line needs at least two");
  expect_sentence(kind("keep-out"), "s.toml:14: task.zone: is missing");
  expect_sentence(kind("lift-organ"), "s.toml:14: task.instrument: is missing; name a grasper");
  expect_sentence(kind("burn-line\"\ninstrument = \"grasper"), "s.toml:16: task.instrument: must be a hook to burn");
  expect_sentence(kind("navigate-camera\"\ninstrument = \"grasper"), "s.toml:16: task.instrument: must be absent");
  EXPECT_EQ(load(kind("lift-organ\"\ninstrument = \"grasper")).task.value().kind, TaskKind::LiftOrgan);
}

TEST_F(TaskReader, InvalidValuesNameFileLineAndKey) {
  expect_sentence(keys("instrument = \"hook\"\n"),
                  "s.toml:16: task.instrument: the scene has no instrument 'hook'; it has grasper");
  expect_sentence(keys("tolerance_mm = 0\n"), "s.toml:16: task.tolerance_mm: 0 is outside its limits 0.1 to 100");
  expect_sentence(keys("hold_s = -1\n"), "s.toml:16: task.hold_s: -1 is outside its limits");
  expect_sentence(keys("lift_mm = \"far\"\n"), "s.toml:16: task.lift_mm: must be a number");
  expect_sentence(keys("most_force_n = nan\n"), "s.toml:16: task.most_force_n: must be a finite number");
  expect_sentence(keys("time_limit_s = 20\n"), "s.toml:16: task.time_limit_s: time_limit_s = 20 must be more than");
  expect_sentence(keys("tolerance = 4\n"), "s.toml:16: task.tolerance: is not a key of this table; did you mean");
  expect_sentence(with("organ = \"liver\"", "organ = \"spleen\""),
                  "s.toml:17: task.place.organ: the scene has no organ 'spleen'; it has liver, stomach");
  expect_sentence(with("at_mm = [1, 2, 3]", "at_mm = [1, 2]"), "s.toml:18: task.place.at_mm: must be three numbers");
  expect_sentence(with("[[task.place]]\norgan = \"liver\"\nat_mm = [1, 2, 3]\n", ""),
                  "s.toml:14: task.place: is missing");
  expect_sentence(kind("follow-curve") + "[[task.place]]\norgan = \"stomach\"\nat_mm = [0, 0, 0]\n",
                  "task.place: a line must lie on one organ, but this one lies on liver and stomach");
  const std::string grasping = kind("lift-organ\"\ninstrument = \"grasper");
  expect_sentence(grasping + "[[task.place]]\norgan = \"liver\"\nat_mm = [0, 0, 0]\n", "lift-organ takes one");
}

TEST_F(TaskReader, ZonesMustBeSimplePolygons) {
  const auto zone = [&](const std::string& outline, const std::string& part) {
    expect_sentence(std::string(kTaskScene) + "[[task.zone]]\noutline = " + outline + "\n",
                    "s.toml:20: task.zone." + part);
  };
  zone("[[0, 0], [1, 1], [1, 0], [0, 1]]", "outline: is not a simple polygon: ");
  zone("[[0, 0], [1, 1]]", "outline: is not a simple polygon: ");
  zone("[[0, 0], [1, inf], [1, 0]]", "outline: must be a finite number");
  zone("[0, 1, 2]", "outline: must be a list of pairs of numbers");
  zone("[[0, 0, 0], [1, 0, 0], [0, 1, 0]]", "outline: must be a list of pairs of numbers");
}

}  // namespace

}  // namespace trocar

// Tests organs from elsewhere through the program: a wrong unit, a surface that is not sound, axes of other programs,
// scenes and meshes that are symbolic links.
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/solid_check.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_writer.hpp"
#include "tests/app/run_program.hpp"
#include "tests/support/glb.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

class ForeignOrgan : public Program {
 protected:
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }

  std::string saved(const std::string& name, const TriangleMesh& mesh, double metres_per_unit = kMillimetre) {
    save_mesh(mesh, at(name), metres_per_unit);
    return at(name);
  }

  // A scene with one organ; `keys` are further keys of the organ.
  static std::string scene_text(const std::string& mesh, const std::string& keys = "") {
    return "[[organ]]\nname = \"cube\"\nmesh = \"" + mesh + "\"\n" + keys +
           "[organ.tissue]\nnode_spacing_mm = 10\n[[organ.attachment]]\ncentre_mm = [0, 0, -30]\nradius_mm = 60\n"
           "[[instrument]]\nname = \"probe\"\npivot_mm = [0, -60, 200]\ntip_mm = [0, 0, 80]\nradius_mm = 2.5\n";
  }

  std::string demo(const std::string& scene) const {
    return "demo --headless --frames 2 --backend scan --out " + at("demo") + " --scene " + scene;
  }

  void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << text << "\n  must contain " << part;
  }

  // The scene is refused with one sentence that contains the parts.
  void expect_sentence(const std::string& scene, const std::vector<std::string>& parts) {
    const Outcome outcome = run(demo(file("s.toml", scene)));
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    expect_parts(outcome.err, parts);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
};

// ---- units ----

TEST_F(ForeignOrgan, AWrongUnitInASceneIsNamedWithTheValueThatFits) {
  const TriangleMesh cube = shapes::cube(0.06f);
  saved("metres.obj", cube, 1.0);
  saved("centimetres.obj", cube, 0.01);
  saved("micrometres.obj", cube, 1e-6);
  saved("odd.obj", cube, 0.04);
  for (const auto& [mesh, keys, size, fits] : {std::tuple("metres.obj", "", "0.06 mm", "mm_per_unit = 1000"),
                                               {"centimetres.obj", "", "6 mm", "mm_per_unit = 10"},
                                               {"micrometres.obj", "", "60000 mm", "mm_per_unit = 0.001"},
                                               {"metres.obj", "mm_per_unit = 1e6\n", "60000 mm", "mm_per_unit = 1000"},
                                               {"odd.obj", "", "1.5 mm", "mm_per_unit between 20 and 467"}}) {
    SCOPED_TRACE(std::string(mesh) + keys);
    expect_sentence(scene_text(mesh, keys), {"organ cube", mesh, size, fits, "30 to 700 mm"});
    expect_parts(run("mesh lattice " + at(mesh) + " --spacing 10" + (*keys ? " --scale 1e6" : "")).err,
                 {size, "--scale"});
  }
  EXPECT_EQ(run(demo(file("s.toml", scene_text("metres.obj", "mm_per_unit = 1000\n")))).status, 0);
  // The unit is right here, and the spacing is the cause.
  saved("right.obj", cube);
  std::string coarse = scene_text("right.obj");
  coarse.replace(coarse.find("mm = 10"), 7, "mm = 90");
  expect_sentence(coarse, {"node spacing 90 mm is larger than the organ"});
}

TEST_F(ForeignOrgan, AGlbInMillimetresHasItsUnitNamed) {
  TriangleMesh cube = shapes::cube(60.f);
  folder_.write("mm.glb", glb_of({{"cube", cube}}));
  const Outcome check = run("mesh check " + at("mm.glb"));
  EXPECT_EQ(check.status, 1);
  expect_parts(check.out, {"unit          millimetres (use --scale 0.001)"});
  expect_parts(run("mesh check --scale 0.001 " + at("mm.glb")).out, {"unit          millimetres\n", "sound: fit"});
  expect_sentence(scene_text("mm.glb"), {"60000 mm", "mm_per_unit = 0.001"});
  // A file in metres, as the standard says, and one in micrometres.
  folder_.write("m.glb", glb_of({{"cube", shapes::cube(0.06f)}}));
  expect_parts(run("mesh check " + at("m.glb")).out, {"unit          metres\n", "sound: fit"});
  saved("micrometres.obj", shapes::cube(0.06f), 1e-6);
  expect_parts(run("mesh check " + at("micrometres.obj")).out, {"unit          micrometres (use --scale 0.001)"});
}

TEST_F(ForeignOrgan, AUnitInACommentOfTheFileIsReported) {
  const std::string cube = read_file(saved("cube.obj", shapes::cube(0.06f), 0.0254));
  for (const char* comment :
       {"# Units: inches\n", "# File units = inches\n", "# unit: inch\n", "# One unit is an inch\n"}) {
    SCOPED_TRACE(comment);
    const Outcome check = run("mesh check " + file("inch.obj", comment + cube));
    expect_parts(check.out, {"unit          inches, as the file says (use --scale 25.4)\n"});
    expect_parts(run("mesh check --scale 25.4 " + at("inch.obj")).out, {"unit          inches, as the file says\n"});
    expect_sentence(scene_text("inch.obj"), {"2.36 mm", "mm_per_unit = 25.4"});
  }
  expect_parts(run("mesh check " + file("mm.obj", "# unit test of a metre-long organ, not unit mm\n" + cube)).out,
               {"unit          "});
  std::string stl = read_file(saved("mm.stl", shapes::cube(0.06f)));
  stl.replace(0, 20, "COLOR= rgb UNITS= mm");
  expect_parts(run("mesh check " + file("unit.stl", stl)).out, {"unit          millimetres, as the file says\n"});
}

TEST_F(ForeignOrgan, ALongerStlIsReadWithANote) {
  const std::string whole = read_file(saved("a.stl", shapes::cube(0.06f)));
  const Outcome check = run("mesh check " + file("long.stl", whole + std::string(10, '\0')));
  EXPECT_EQ(check.status, 0) << check.err;
  expect_parts(check.out, {"note          10 bytes after the last of 12 facets are ignored\n", "sound: fit"});
}

TEST_F(ForeignOrgan, APolygonThatCrossesItselfHasANote) {
  const std::string bow = "v 0 0 0\nv 60 60 0\nv 60 0 0\nv 0 60 0\nf 1 2 3 4\n";
  expect_parts(run("mesh check " + file("bow.obj", bow)).out,
               {"note          1 polygon of the file crosses itself or has no plane"});
}

TEST_F(ForeignOrgan, ASceneWithCarriageReturnsIsNamed) {
  std::string text = scene_text("cube.obj");
  std::replace(text.begin(), text.end(), '\n', '\r');
  expect_sentence(text, {"s.toml: its lines end with carriage returns"});
  expect_sentence("# a comment\r" + text, {"s.toml: its lines end with carriage returns"});
}

// ---- one verdict ----

TEST_F(ForeignOrgan, ASceneRefusesWhatMeshCheckCallsUnsoundWithTheSameWords) {
  const TriangleMesh cube = shapes::cube(0.06f), ball = shapes::icosphere(2, 0.04f);
  TriangleMesh twice = cube, some_twice = ball, needle = ball, open = ball, turned = ball, kissing, inner = cube;
  twice.faces.insert(twice.faces.end(), cube.faces.begin(), cube.faces.end());
  some_twice.faces.insert(some_twice.faces.end(), 2, some_twice.faces[5]);
  std::swap(some_twice.faces.back().x, some_twice.faces.back().y);
  open.faces.pop_back();
  std::swap(turned.faces[3].x, turned.faces[3].y);
  // A corner in the middle of an edge, with a face without area that closes the gap.
  const glm::uvec3 split = needle.faces[0];
  const auto middle = static_cast<std::uint32_t>(needle.positions.size());
  needle.positions.push_back(0.5f * (needle.positions[split.x] + needle.positions[split.y]));
  needle.faces[0] = {split.x, middle, split.z};
  needle.faces.push_back({middle, split.y, split.z});
  needle.faces.push_back({split.x, split.y, middle});
  // Two cubes that share one edge, one vertex, or volume; a cube inside out beside another.
  kissing = shapes::joined(cube, shapes::cube(0.06f, {0.06f, 0.06f, 0.f}));
  const TriangleMesh corner = shapes::joined(cube, shapes::cube(0.06f, {0.06f, 0.06f, 0.06f}));
  const TriangleMesh crossing = shapes::joined(cube, shapes::cube(0.06f, {0.03f, 0.02f, 0.01f}));
  inner = shapes::joined(cube, shapes::turned(shapes::cube(0.03f, {0.1f, 0.f, 0.f})));
  for (const auto& [name, mesh, words] :
       {std::tuple("twice.obj", twice, "12 faces of the organ have the corners of an earlier face"),
        {"some_twice.obj", some_twice, "2 faces of the organ have the corners of an earlier face"},
        {"needle.obj", needle, "1 face of the organ has no area"},
        {"open.obj", open, "the organ's surface has a hole"},
        {"turned.obj", turned, "two faces of the organ disagree about the outside"},
        {"kissing.obj", kissing, "four or more faces of the organ meet at 1 edge"},
        {"corner.obj", corner, "separate parts of the organ meet at 1 point"},
        {"crossing.obj", crossing, "faces of the organ cross"},
        {"inner.obj", inner, "1 piece of the organ is inside out"}}) {
    SCOPED_TRACE(name);
    const Outcome check = run("mesh check " + saved(name, mesh));
    EXPECT_EQ(check.status, 1);
    expect_parts(check.out, {words, "not sound"});
    const auto from = check.out.find("solid         NO, ");
    ASSERT_NE(from, std::string::npos) << check.out;
    const std::string line = check.out.substr(from + 18, check.out.find('\n', from) - from - 18);
    expect_sentence(scene_text(name), {"organ cube", name, line});
  }
  EXPECT_EQ(run(demo(file("s.toml", scene_text(fs::path(saved("cube.obj", cube)).filename())))).status, 0);
}

// ---- axes ----

// The corners of a box with its own number at each: x left 20, y back 30, z head 70 in LPS.
TriangleMesh box(const glm::vec3& low, const glm::vec3& high) {
  TriangleMesh mesh = shapes::cube(1.f);
  for (glm::vec3& p : mesh.positions)
    p = glm::vec3(p.x > 0 ? high.x : low.x, p.y > 0 ? high.y : low.y, p.z > 0 ? high.z : low.z);
  return mesh;
}

class Turned : public ForeignOrgan {
 protected:
  TriangleMesh in_scene(const std::string& keys) {
    return surface_of(load_scene(file("t.toml", scene_text("box.obj", keys))).organs[0]);
  }
  const TriangleMesh box_ = box({0.f, 0.f, 0.f}, {0.02f, 0.03f, 0.07f});
  const std::string mesh_ = saved("box.obj", box_);

  // Every vertex is where `to` puts it, and the volume is still positive: nothing is mirrored.
  template <typename To>
  void expect_turned(const std::string& keys, const std::string& options, To to) {
    SCOPED_TRACE(keys);
    const TriangleMesh scene = in_scene(keys);
    EXPECT_EQ(scene.faces, box_.faces);
    for (std::size_t k = 0; k < box_.positions.size(); ++k)
      EXPECT_LT(glm::distance(glm::dvec3(scene.positions[k]), to(glm::dvec3(box_.positions[k]))), 2e-8) << k;
    EXPECT_GT(closed_volume(scene.view()), 0.0);
    const std::string out = at("turned.obj");
    const Outcome made = run("mesh transform " + mesh_ + " -o " + out + " --force " + options);
    ASSERT_EQ(made.status, 0) << made.err;
    EXPECT_EQ(load_mesh(out).positions, scene.positions) << "the command and the scene differ";
    EXPECT_EQ(load_mesh(out).faces, box_.faces);
  }
};

TEST_F(Turned, AxesOfOtherProgramsStandUpright) {
  // x stays left, back becomes -z, head becomes y.
  expect_turned("axes = \"LPS\"\n", "--axes LPS", [](const glm::dvec3& p) { return glm::dvec3(p.x, p.z, -p.y); });
  // Right becomes -x, front stays front but is z, head becomes y.
  expect_turned("axes = \"RAS\"\n", "--axes RAS", [](const glm::dvec3& p) { return glm::dvec3(-p.x, p.z, p.y); });
  expect_turned("axes = \"trocar\"\n", "--axes trocar", [](const glm::dvec3& p) { return p; });
  EXPECT_EQ(in_scene("axes = \"trocar\"\nrotate_deg = [0, 0, 0]\n").positions, box_.positions);
}

TEST_F(Turned, AnglesTurnAboutXThenYThenZ) {
  const auto about = [](int axis, double degrees) {
    const double angle = glm::radians(degrees), s = std::sin(angle), c = std::cos(angle);
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    return [=](glm::dvec3 p) {
      const double u = c * p[i] - s * p[j], v = s * p[i] + c * p[j];
      p[i] = u, p[j] = v;
      return p;
    };
  };
  expect_turned("rotate_deg = [90, 0, 0]\n", "--rotate-deg 90,0,0",
                [](const glm::dvec3& p) { return glm::dvec3(p.x, -p.z, p.y); });
  expect_turned("rotate_deg = [0, 90, 0]\n", "--rotate-deg 0,90,0",
                [](const glm::dvec3& p) { return glm::dvec3(p.z, p.y, -p.x); });
  expect_turned("rotate_deg = [0, 0, -270]\n", "--rotate-deg 0,0,-270",
                [](const glm::dvec3& p) { return glm::dvec3(-p.y, p.x, p.z); });
  expect_turned("rotate_deg = [20, -35.5, 170]\n", "--rotate-deg 20,-35.5,170",
                [&](const glm::dvec3& p) { return about(2, 170.0)(about(1, -35.5)(about(0, 20.0)(p))); });
  // The unit first, then the axes, the angles and the offset.
  expect_turned("mm_per_unit = 2\naxes = \"LPS\"\nrotate_deg = [0, 0, 90]\noffset_mm = [100, 0, -7]\n",
                "--scale 2 --axes LPS --rotate-deg 0,0,90 --offset-mm 100,0,-7", [&](const glm::dvec3& p) {
                  return about(2, 90.0)(2.0 * glm::dvec3(p.x, p.z, -p.y)) + glm::dvec3(0.1, 0.0, -0.007);
                });
  // A quarter turn is exact.
  for (const glm::vec3& p : in_scene("rotate_deg = [90, 180, -90]\n").positions)
    for (int k = 0; k < 3; ++k) EXPECT_TRUE(p[k] == 0.f || std::abs(p[k]) > 0.01f) << p[k];
}

TEST_F(Turned, TheKeysAreChecked) {
  expect_sentence(scene_text("box.obj", "axes = \"lps\"\n"), {"s.toml:4: organ.axes: must be trocar, LPS or RAS"});
  expect_sentence(scene_text("box.obj", "rotate_deg = [0, 400, 0]\n"), {"organ.rotate_deg"});
  std::string tube = scene_text("box.obj", "axes = \"LPS\"\n");
  tube.replace(tube.find("mesh = \"box.obj\""), 16, "tube = { path_mm = [[0, 0, 0], [0, 60, 0]], radius_mm = 8 }");
  expect_sentence(tube, {"organ.axes: is of no use beside [organ.tube]"});
  const std::string out = " -o " + at("out.obj");
  for (const auto& [options, part] : {std::pair("--axes XYZ", "--axes"),
                                      {"--rotate-deg 1,2", "--rotate-deg"},
                                      {"--rotate-deg 0,0,1e9", "--rotate-deg"},
                                      {"--scale 0", "--scale"},
                                      {"--offset-mm 1,2,x", "--offset-mm"}}) {
    const Outcome refused = run("mesh transform " + mesh_ + out + " " + options);
    EXPECT_EQ(refused.status, 2) << options;
    expect_parts(refused.err, {part});
    EXPECT_FALSE(fs::exists(at("out.obj")));
  }
  const Outcome same = run("mesh transform " + mesh_ + " --axes LPS --force -o " + mesh_);
  EXPECT_EQ(same.status, 2) << same.err;
}

// What the editor saves, and the text that a recording holds, give the same surface bit by bit.
TEST_F(Turned, TheKeysSurviveSavingAndARecording) {
  const std::string keys = "axes = \"LPS\"\nrotate_deg = [20, -35.5, 0.1]\noffset_mm = [1, 2, 3]\n";
  const Scene scene = load_scene(file("t.toml", scene_text("box.obj", keys)));
  save_scene(scene, at("again.toml"), true);
  const Scene again = load_scene(at("again.toml"));
  EXPECT_EQ(surface_of(again.organs[0]).positions, surface_of(scene.organs[0]).positions);
  EXPECT_EQ(trocar::scene_text(again, at("x.toml")), trocar::scene_text(scene, at("x.toml")));
  const std::string recording = at("r.h5");
  const std::string motion =
      file("m.csv",
           "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n0,0,-60,200,1,30,60\n0.02,0,-60,200,1,30,40\n"
           "0.04,0,-60,200,1,30,20\n0.06,0,-60,200,1,30,5\n0.08,0,-60,200,1,30,1\n");
  const Outcome recorded =
      run("record " + at("t.toml") + " --trajectory " + motion + " --backend scan -o " + recording);
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  // The recording is enough: the mesh and the scene are removed.
  fs::remove(at("box.obj"));
  fs::remove(at("t.toml"));
  const Outcome replay = run("replay " + recording);
  EXPECT_EQ(replay.status, 0) << replay.out << replay.err;
  const Outcome score = run("score " + recording);
  EXPECT_EQ(score.status, 0) << score.err;
}

TEST_F(Turned, MeshCheckNamesTheKeyForAFileOfSlicer) {
  const std::string obj = read_file(mesh_);
  std::string stl = read_file(saved("b.stl", box_)), ascii, vtk;
  stl.replace(0, 30, "3D Slicer output. SPACE=LPS   ");
  save_mesh_as(box_, at("c.stl"), MeshEncoding::Ascii);
  save_mesh_as(box_, at("c.vtk"), MeshEncoding::Ascii);
  save_mesh_as(box_, at("c.ply"), MeshEncoding::Ascii);
  save_mesh_as(box_, at("c.vtp"), MeshEncoding::Ascii);
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    EXPECT_NE(text.find(from), text.npos) << from;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string title = "3D Slicer output. SPACE=RAS";
  for (const auto& [name, content, axes] :
       {std::tuple("s.obj", "# 3D Slicer output. SPACE=LPS\n" + obj, "LPS"),
        {"s.stl", stl, "LPS"},
        {"t.stl", with(read_file(at("c.stl")), "Trocar mesh", title), "RAS"},
        {"s.vtk", with(read_file(at("c.vtk")), "Trocar mesh", title), "RAS"},
        {"f.vtk", with(read_file(at("c.vtk")), "POINTS", "FIELD FieldData 1\nSPACE 1 1 string\nLPS\nPOINTS"), "LPS"},
        {"s.ply", with(read_file(at("c.ply")), "comment", "comment SPACE=LPS\ncomment"), "LPS"},
        {"s.vtp", with(read_file(at("c.vtp")), "Trocar mesh", title), "RAS"}}) {
    SCOPED_TRACE(name);
    expect_parts(run("mesh check " + file(name, content)).out,
                 {std::string("axes          ") + axes + ", as the file says", std::string("axes = \"") + axes + "\"",
                  std::string("--axes ") + axes});
  }
  EXPECT_EQ(run("mesh check " + mesh_).out.find("axes "), std::string::npos);
}

// ---- links ----

// A scene that is a link: its files lie beside the link, or beside the file that it names.
TEST_F(ForeignOrgan, ALinkedSceneFindsItsFilesBesideTheLinkOrItsTarget) {
  for (const char* name : {"own", "library/deep", "elsewhere"}) fs::create_directories(folder_.path() / name);
  const TriangleMesh cube = shapes::cube(0.06f);
  folder_.write("library/deep/s.toml", scene_text("cube.obj"));
  fs::create_symlink("../library/deep/s.toml", at("own/s.toml"));
  fs::create_symlink(at("own/s.toml"), at("elsewhere/s.toml"));  // a link to a link
  save_mesh(cube, at("own/cube.obj"));
  EXPECT_EQ(run(demo(at("own/s.toml"))).status, 0) << "the mesh lies beside the link";
  fs::rename(at("own/cube.obj"), at("library/deep/cube.obj"));
  EXPECT_EQ(run(demo(at("own/s.toml"))).status, 0) << "the mesh lies beside the target";
  EXPECT_EQ(run(demo(at("elsewhere/s.toml"))).status, 0) << "the link names a link";
  EXPECT_EQ(run(demo(at("library/deep/s.toml"))).status, 0);
  // Beside the link comes first.
  save_mesh(shapes::joined(cube, shapes::cube(0.03f, {0.1f, 0.f, 0.f})), at("own/cube.obj"));
  EXPECT_EQ(surface_of(load_scene(at("own/s.toml")).organs[0]).faces.size(), 24u);
  EXPECT_EQ(surface_of(load_scene(at("library/deep/s.toml")).organs[0]).faces.size(), 12u);
  fs::remove(at("own/cube.obj"));
  // A saved scene finds them again, from the link and from its target.
  save_scene(load_scene(at("own/s.toml")), at("own/s.toml"), true);
  for (const char* name : {"own/s.toml", "library/deep/s.toml"})
    EXPECT_EQ(surface_of(load_scene(at(name)).organs[0]).faces.size(), 12u) << name << read_file(at(name));
}

TEST_F(ForeignOrgan, ALinkOpensNoOtherFolder) {
  for (const char* name : {"own", "library", "secret"}) fs::create_directories(folder_.path() / name);
  const TriangleMesh cube = shapes::cube(0.06f);
  save_mesh(cube, at("secret/cube.obj"));
  const auto refused = [&](const std::string& mesh) {
    folder_.write("library/s.toml", scene_text(mesh));
    for (const char* name : {"own/s.toml", "library/s.toml"}) {
      const Outcome outcome = run(demo(at(name)));
      EXPECT_EQ(outcome.status, 2) << name << " " << mesh;
      expect_parts(outcome.err, {"outside the folder of the scene"});
      EXPECT_EQ(run(demo(at(name)) + " --allow-outside").status, 0) << name << " " << mesh;
    }
  };
  folder_.write("library/s.toml", "");
  fs::create_symlink(at("library/s.toml"), at("own/s.toml"));
  refused("../secret/cube.obj");
  refused(at("secret/cube.obj"));
  // A mesh that is a link out of the folder, beside the link and beside the target.
  fs::create_symlink(at("secret/cube.obj"), at("own/out.obj"));
  fs::create_symlink(at("secret/cube.obj"), at("library/out.obj"));
  refused("out.obj");
  expect_parts(run(demo(at("own/s.toml"))).err, {"secret/cube.obj"});
  // A mesh that is a link within the folder.
  save_mesh(cube, at("library/real.obj"));
  fs::create_symlink("real.obj", at("library/in.obj"));
  folder_.write("library/s.toml", scene_text("in.obj"));
  EXPECT_EQ(run(demo(at("own/s.toml"))).status, 0);
  EXPECT_EQ(run(demo(at("library/s.toml"))).status, 0);
}

}  // namespace
}  // namespace trocar

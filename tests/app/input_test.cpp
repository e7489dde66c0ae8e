// Tests what the program does with its input: limits, names, rights, and organs of other programs.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_writer.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/text.hpp"
#include "tests/app/run_program.hpp"
#include "tests/support/glb.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

// Tests the validation of all input: names, numbers of options and scenes, files that are not regular, excessive files,
// and the access rights of an untrusted scene. Each fault gives one short sentence.

namespace fs = std::filesystem;

constexpr const char* kScene =
    "schema = 2\n[[organ]]\nname = \"organ\"\nmesh = \"organ.obj\"\n[organ.tissue]\nnode_spacing_mm = 12\n"
    "[[instrument]]\nname = \"probe\"\npivot_mm = [-60, -40, 260]\ntip_mm = [-60, 75, 185]\nradius_mm = 2.5\n";

class Input : public Program {
 protected:
  Input() { fs::copy_file(data("organs/gallbladder.obj"), folder_.path() / "organ.obj"); }

  std::string demo(const std::string& scene) const {
    return "demo --headless --frames 2 --backend scan --out " + at("demo") + " --scene " + scene;
  }

  // Expects a refusal within seconds, in a short printable sentence.
  void expect_short(const std::string& arguments, const std::string& part, int status = 2) {
    const Outcome outcome = run(arguments, "timeout 20");
    EXPECT_EQ(outcome.status, status) << arguments << "\n" << outcome.err.substr(0, 500);
    EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << "\n" << outcome.err.substr(0, 500);
    EXPECT_LT(outcome.err.size(), folder_.path().string().size() + 300) << outcome.err.substr(0, 500);
    for (const char c : outcome.err) EXPECT_TRUE(c == '\n' || (c >= ' ' && c != 0x7f)) << static_cast<int>(c);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err.substr(0, 500);
  }

  std::string query(const std::string& mesh, const std::string& trajectory) const {
    return "query --mesh " + mesh + " --trajectory " + trajectory + " --radius 2.5 --backend scan --out " +
           at("out.csv");
  }
};

TEST(SceneText, MustBeUtf8) {
  try {
    parse_scene("title = 'a'\nname = 'x\xffx'\n", "s.toml");
    ADD_FAILURE() << "was read";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "s.toml:2: is not UTF-8 text; save the file as UTF-8");
  }
}

TEST(Names, AreCheckedByOneRule) {
  for (const char* good : {"liver", "left grasper", "Leber 2", "a.b", "...", "instrument 12"})
    EXPECT_EQ(name_fault(good), "") << good;
  for (const std::string& bad : {std::string(), std::string("."), std::string(".."), std::string("a/b"),
                                 std::string("a\nb"), std::string("a\0b", 3), std::string("\x1b[2J"), std::string(" a"),
                                 std::string("a "), std::string(61, 'x'), std::string("\xff")})
    EXPECT_NE(name_fault(bad), "") << bad;
}

TEST_F(Input, NamesAreCheckedWhenASceneIsWritten) {
  Scene scene = load_scene(file("s.toml", kScene));
  const fs::path out = folder_.path() / "saved.toml";
  save_scene(scene, out, false);
  const std::string before = read_file(out);
  for (const char* name : {"a/b", "..", "", "a\nb"}) {
    scene.organs[0].name = name;
    EXPECT_THROW(save_scene(scene, out, true), InputError) << name;
    scene.organs[0].name = "organ";
    scene.instruments[0].name = name;
    EXPECT_THROW(save_scene(scene, out, true), InputError) << name;
    scene.instruments[0].name = "probe";
  }
  scene.title = "two\nlines";
  EXPECT_THROW(save_scene(scene, out, true), InputError);
  EXPECT_EQ(read_file(out), before);
}

TEST(TomlLimits, IgnoreStringsAndComments) {
  const auto fine = [](const std::string& text) {
    EXPECT_NO_THROW(refuse_excess("s.toml", text)) << text.substr(0, 80);
  };
  const auto refused = [](const std::string& text, const std::string& part) {
    try {
      refuse_excess("s.toml", text);
      ADD_FAILURE() << text.substr(0, 80);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  const std::string brackets(7000, '[');
  std::string dots = "a", keys, values = "a = [";
  for (int k = 0; k < 100000; ++k) dots += ".a", keys += "k" + std::to_string(k) + "=1\n";
  for (int k = 0; k < 200000; ++k) values += "1,\n";
  refused("a = " + brackets, "s.toml:1: the text has brackets nested 17 deep");
  refused("# x\na = " + std::string(7000, '{'), "s.toml:2:");
  refused(dots + " = 1\n", "has a key of more than 16 parts");
  refused("[" + dots + "]\n", "has a key of more than 16 parts");
  refused("a = {" + dots + " = 1}\n", "has a key of more than 16 parts");
  refused(keys, "has more than 20000 keys");
  refused(values, "has more than 100000 values");
  refused("a = \"" + std::string(70000, 'x') + "\"", "has a line of more than");
  refused(std::string((1 << 20) + 1, '\n'), "is longer than");
  refused("a = \"x\\\"\"\nb = " + brackets, "s.toml:2:");
  refused("a = '\\'\nb = " + brackets, "s.toml:2:");
  refused("a = \"\"\"\n\\\"\"\"\"\nb = " + brackets, "s.toml:3:");
  fine("a = \"" + brackets + dots.substr(0, 40000) + "\"\n");
  fine("a = '" + brackets + "'\n");
  fine("a = \"\"\"\n" + brackets + "\n\"quoted\"\n\"\"\"\n");
  fine("# " + brackets + "\n");
  fine("outline = [[0, 0], [0.5, 0.25]]\n[a.b]\n[[a.c]]\n");
  fine("");
}

TEST_F(Input, ExcessiveScenesAreRefusedAtOnce) {
  std::string dots = "a";
  for (int k = 0; k < 100000; ++k) dots += ".a";
  expect_short(demo(file("deep.toml", "a = " + std::string(7000, '['))), "deep.toml:1: the text has brackets");
  expect_short(demo(file("dots.toml", dots + " = 1\n")), "dots.toml:1: the text has");
  expect_short(demo(file("key.toml", "schema = 2\n" + std::string(5000, 'k') + " = 1\n")),
               "is not a key of this table");
  expect_short(demo(file("esc.toml", std::string(kScene) + "\"\\u001b[31m\" = 1\n")), "is not a key of this table");
  expect_short(demo(file("bytes.toml", "title = 'x\xbd'\n")), "bytes.toml:1: is not UTF-8 text");
  expect_short(demo(file("big.toml", "title = " + std::string(3 << 20, ' '))), "larger than the 1 MiB");
}

// Gives a pipe or a device as mesh, trajectory, scene and recording: it neither blocks the program nor fills the
// memory.
TEST_F(Input, OnlyRegularFilesAreRead) {
  for (const char* extension : {"obj", "stl", "ply", "vtk", "vtp", "csv", "toml", "h5"}) {
    ASSERT_EQ(mkfifo(at(std::string("pipe.") + extension).c_str(), 0600), 0);
    fs::create_symlink("/dev/zero", at(std::string("zero.") + extension));
  }
  for (const std::string name : {"pipe.", "zero."}) {
    for (const char* extension : {"obj", "stl", "ply", "vtk", "vtp"})
      expect_short(query(at(name + extension), trajectory_), "must be a regular file");
    expect_short(query(mesh_, at(name + "csv")), "must be a regular file");
    expect_short("mesh check " + at(name + "ply"), "must be a regular file");
    expect_short(demo(at(name + "toml")), "must be a regular file");
    for (const char* command : {"score ", "replay ", "file recover ", "compare "})
      expect_short(command + at(name + "h5"), "cannot be read");
    expect_short("export " + at(name + "h5") + " --csv " + at("x"), "cannot be read");
    expect_short("report " + at(name + "h5") + " -o " + at("r.html"), "cannot be read");
  }
  expect_short(query(folder_.path().string() + "/.obj", trajectory_), ".obj");
}

TEST_F(Input, HugeCellsAndRepeatedColumnsAreRefused) {
  const std::string cell(100000, 'x'), row = "0,20,20,80,20,20,10\n";
  expect_short(query(mesh_, file("cell.csv", kHeader + std::string("0,20,20,80,20,20,") + cell + "\n")),
               "cell.csv:2: the line");
  expect_short(query(mesh_, file("word.csv", kHeader + std::string("0,20,20,80,20,20,") + cell.substr(0, 3000) + "\n")),
               "word.csv:2: 'xxx");
  expect_short(query(mesh_, file("esc.csv", kHeader + std::string("0,20,20,80,20,20,\x1b[31m\n"))), "'?[31m'");
  expect_short(query(mesh_, file("head.csv", cell + "\n" + row)), "head.csv:1: the line");
  expect_short(query(mesh_, file("twice.csv", "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z,tip_x\n0,1,2,3,4,5,6,7\n")),
               "twice.csv:1: column 'tip_x' appears twice");
  expect_short(query(file("word.obj", "v 0 0 " + cell + "\n"), trajectory_), "word.obj:1:");
  expect_short(query(file("esc.obj", "v 0 0 \x1b[31m\n"), trajectory_), "esc.obj:1:");
}

TEST_F(Input, ACurriculumIsCheckedBeforeAWindowOpens) {
  expect_refused("run --curriculum " + file("bad.toml", "title = \"T\"\n"), "bad.toml:1: step: is missing");
  expect_refused("run --curriculum " + (folder_.path() / "none.toml").string(), "none.toml");
}

TEST_F(Input, NothingLastsLongerThanADay) {
  const std::string row = ",20,20,80,20,20,10\n";
  const auto motion = [&](const char* name, const char* last) {
    return file(name, kHeader + std::string("5") + row + last + row);
  };
  EXPECT_EQ(run(query(mesh_, motion("day.csv", "86405"))).status, 0);
  fs::remove(at("out.csv"));
  expect_short(query(mesh_, motion("long.csv", "86405.5")),
               "long.csv:3: the trajectory lasts longer than 86400 s (one day)");
  const std::string scene = file("slow.toml", "frame_rate = 10\n" + std::string(kScene));
  expect_short("demo --headless --frames 1000000 --backend scan --scene " + scene + " --out " + at("demo"),
               "last longer than 86400 s");
  // The longest recording that can be written can also be read.
  const std::string session = at("s.h5");
  ASSERT_EQ(run("record " + file("s.toml", kScene) + " --backend scan -o " + session + " --trajectory " + at("day.csv"))
                .status,
            0);
  EXPECT_EQ(run("replay " + session + " --backend scan").status, 0);
}

TEST_F(Input, OptionNumbersHaveRanges) {
  const std::string scene = file("s.toml", kScene), compare = "compare --mesh " + mesh_ + " --trajectory " +
                                                              trajectory_ + " --radius 2.5 --backends scan ";
  const std::string record = "record " + scene + " --trajectory " + trajectory_ + " -o " + at("s.h5");
  const std::string make = "mesh make superellipsoid -o " + at("made.obj");
  const std::string touch =
      "query touch --mesh " + mesh_ + " --shape " + mesh_ + " --trajectory " + trajectory_ + " --out " + at("t.csv");
  struct Case {
    std::string command, option;
    std::vector<std::string> wrong;
  };
  const std::vector<std::string> kPositive = {"-5", "0", "nan", "inf", "1e99", "abc", "''", "99999999999999999999"};
  const Case cases[] = {
      {"run " + scene, "--width", kPositive},
      {"run " + scene, "--height", kPositive},
      {"run " + scene, "--frames", {"-1", "nan", "1e99", "x"}},
      {"run " + scene, "--igtl-port", {"0", "-1", "65536", "nan"}},
      {compare, "--wobble", {"nan", "-0.1", "0.6", "inf", "x"}},
      {compare, "--every", kPositive},
      {compare, "--scale", kPositive},
      {demo(scene), "--pictures", {"-1", "nan", "1e99"}},
      {"demo --headless --out " + at("demo"), "--frames", kPositive},
      {query(mesh_, trajectory_), "--every", kPositive},
      {query(mesh_, trajectory_), "--scale", kPositive},
      {touch, "--bulge", kPositive},
      {touch, "--pieces", kPositive},
      {touch, "--every", kPositive},
      {touch, "--scale", kPositive},
      {record, "--igtl-port", {"0", "-1", "65536", "nan"}},
      {"perform " + scene + " -o " + at("s.h5"), "--seed", {"-1", "4294967296", "nan"}},
      {"export " + at("s.h5") + " --pvd " + at("p"), "--every", kPositive},
      {"mesh check " + mesh_, "--scale", kPositive},
      {"mesh lattice " + mesh_, "--spacing", kPositive},
      {make, "--faces", {"-5", "0", "3", "1e99", "nan"}},
      {make, "--size", {"nan,1,1", "-1,1,1", "1e99,1,1", "1,1"}},
      {make, "--exponents", {"nan,1", "-1,1", "1e99,1"}},
      {make, "--hole", {"nan", "-1", "inf"}},
      {"mesh decimate " + mesh_ + " -o " + at("less.obj"), "--faces", kPositive},
      {"mesh repair " + mesh_ + " -o " + at("fixed.obj"), "--join", {"-1", "nan", "inf"}},
      {"mesh repair " + mesh_ + " -o " + at("fixed.obj"), "--holes", {"-1", "nan", "inf"}},
  };
  for (const Case& tried : cases)
    for (const std::string& value : tried.wrong) expect_short(tried.command + " " + tried.option + " " + value, "--");
  expect_short("run " + scene + " --state " + at("no/such/state.json"), "state.json: cannot be written");
  expect_short("run " + scene + " --picture " + at("no/such/p.png"), "p.png: cannot be written");
  expect_short("run " + scene + " --folder " + scene, "--folder must name a folder");
}

TEST_F(Input, SceneNumbersHaveRanges) {
  struct Case {
    std::string from, to, part;
  };
  const Case cases[] = {
      {"mesh = \"organ.obj\"", "mesh = \"organ.obj\"\ncolour = [300, 0, 0]",
       "organ.colour: 300 is outside its limits 0 to 1"},
      {"mesh = \"organ.obj\"", "mesh = \"organ.obj\"\ncolour = [0, -1, 0]", "organ.colour: -1 is outside"},
      {"radius_mm = 2.5", "radius_mm = 2.5\naxis = [0, 0, 1e300]", "instrument.axis: 1e+300 is outside"},
      {"radius_mm = 2.5", "radius_mm = 2.5\naxis = [0, 0, 1e-12]", "instrument.axis: is too short"},
      {"-60, 75, 185", "-60, 75, 1e6", "instrument.tip_mm: 1000000 is outside its limits"},
      {"-60, -40, 260", "-60, -1e9, 260", "instrument.pivot_mm: -1000000000 is outside its limits"},
      {"node_spacing_mm = 12", "gravity = [0, 1e30, 0]", "organ.tissue.gravity: 1e+30 is outside"},
      {"[[organ]]", "[breathing]\ndirection = [0, 99, 0]\n[[organ]]", "breathing.direction: 99 is outside"},
      {"radius_mm = 2.5",
       "radius_mm = 2.5\n[task]\nkind = \"touch-targets\"\n[[task.place]]\norgan = \"organ\"\nat_mm = [0, 1e43, 0]",
       "task.place.at_mm: 1e+43 is outside"},
      {"[[organ]]", "title = \"\\u001b[31m\"\n[[organ]]", "title: must be at most 200 printable"},
  };
  for (const Case& tried : cases) {
    std::string text = kScene;
    expect_short(demo(file("s.toml", text.replace(text.find(tried.from), tried.from.size(), tried.to))), tried.part);
  }
}

TEST_F(Input, AFullStandardOutputIsAFailure) {
  for (const std::string& arguments :
       {std::string("--help"), std::string("--version"), "mesh info " + mesh_, query(mesh_, trajectory_)}) {
    const int status =
        std::system((std::string(TROCAR_PROGRAM) + " " + arguments + " >/dev/full 2>" + at("stderr")).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << arguments << read_file(at("stderr"));
    EXPECT_NE(read_file(at("stderr")), "") << arguments;
  }
}

// An untrusted scene reads files in its own folder and in the program's data only; symbolic links are followed.
TEST_F(Input, AnUntrustedSceneReadsOnlyItsFolder) {
  const std::string organ = at("organ.obj");
  fs::create_directories(folder_.path() / "scene" / "meshes");
  fs::copy_file(organ, folder_.path() / "scene" / "meshes" / "own.obj");
  fs::create_symlink(organ, folder_.path() / "scene" / "link.obj");
  fs::create_directory_symlink(folder_.path(), folder_.path() / "scene" / "up");
  const auto scene = [&](const std::string& mesh, const std::string& more = "") {
    std::string text = kScene;
    return file("scene/s.toml", text.replace(text.find("organ.obj"), 9, mesh) + more);
  };
  for (const std::string& mesh : {std::string("meshes/own.obj"), std::string("./meshes/../meshes/own.obj"),
                                  at("scene/meshes/own.obj"), data("organs/gallbladder.obj")})
    EXPECT_EQ(run(demo(scene(mesh))).status, 0) << mesh;
  for (const std::string& mesh :
       {std::string("../organ.obj"), organ, std::string("link.obj"), std::string("up/organ.obj"),
        std::string("/etc/passwd"), std::string("../../../../../../etc/passwd")}) {
    expect_short(demo(scene(mesh)), "outside the folder of the scene and Trocar's data");
    expect_short("record " + scene(mesh) + " --trajectory " + trajectory_ + " -o " + at("r.h5"), "--allow-outside");
    expect_short("perform " + scene(mesh) + " -o " + at("r.h5"), "--allow-outside");
    expect_short("run " + scene(mesh), "--allow-outside");
  }
  EXPECT_EQ(run(demo(scene("../organ.obj")) + " --allow-outside").status, 0);
  expect_short("run " + scene("meshes/own.obj", "device = \"trajectory\"\ntrajectory = \"/etc/passwd\"\n"), "outside");
  expect_short("run " + scene("meshes/own.obj", "[scope]\ndevice = \"trajectory\"\nsource = \"../s.h5\"\n"), "outside");
}

TEST_F(Input, OtherHostsNeedPermission) {
  const auto hosts = [&](const std::string& source, const SceneAccess& access = {}) {
    const std::string text = std::string(kScene) + "device = \"igtl\"\nsource = \"" + source + "\"\n";
    return hosts_to_allow(parse_scene(text, folder_.path() / "s.toml"), access);
  };
  for (const char* here : {"localhost:18944/Probe", "LocalHost", "127.0.0.1:99", "127.3.2.1", "/Probe", ""})
    EXPECT_TRUE(hosts(here).empty()) << here;
  for (const char* host :
       {"example.org", "192.168.1.5", "127.evil.org", "localhost.evil.org", "0.0.0.0", "2130706433"}) {
    EXPECT_EQ(hosts(std::string(host) + ":18944/Probe"), std::vector<std::string>{host});
    EXPECT_TRUE(hosts(std::string(host) + ":18944/Probe", {false, {host}}).empty());
  }
}

// Tests organs from elsewhere through the program: a wrong unit, a surface that is not sound, axes of other programs,
// scenes and meshes that are symbolic links.

class ForeignOrgan : public Program {
 protected:
  std::string saved(const std::string& name, const TriangleMesh& mesh, double metres_per_unit = kMillimetre) {
    save_mesh(mesh, at(name), metres_per_unit);
    return at(name);
  }

  // A scene with one organ; `keys` are further keys of the organ.
  static std::string scene_text(const std::string& mesh, const std::string& keys = "") {
    return "schema = 2\n[[organ]]\nname = \"cube\"\nmesh = \"" + mesh + "\"\n" + keys +
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
  expect_sentence(scene_text("box.obj", "axes = \"lps\"\n"), {"s.toml:5: organ.axes: must be trocar, LPS or RAS"});
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

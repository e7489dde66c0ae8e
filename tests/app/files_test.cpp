// Tests files of the program: what it does with its input, and what it writes.
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/text.hpp"
#include "tests/app/run_program.hpp"
#include "tests/support/glb.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

// Tests what the program does with its input: limits, names, rights, and organs of other programs.

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
    scene.organs[0].name = "organ", scene.instruments[0].name = name;
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

// Tests what the program writes and says before it starts.

// Tests output files: an error at the start destroys nothing, files that Trocar did not write are never replaced, no
// output is also an input, and a file is complete or absent.

namespace fs = std::filesystem;

class Output : public Program {
 protected:
  Output() {
    fs::copy_file(data("organs/gallbladder.obj"), folder_.path() / "organ.obj");
    scene_ = file("s.toml", scene("organ", "probe"));
    motion_ = file("motion.csv", std::string(kHeader) + "0,-60,-40,260,-60,75,185\n0.02,-60,-40,260,-60,75,184\n");
  }

  static std::string scene(const std::string& organ, const std::string& instrument, const std::string& more = "") {
    return "schema = 2\n[[organ]]\nname = \"" + organ +
           "\"\nmesh = \"organ.obj\"\n[organ.tissue]\nnode_spacing_mm = 12\n" + "[[instrument]]\nname = \"" +
           instrument +
           "\"\npivot_mm = [-60, -40, 260]\ntip_mm = [-60, 75, 185]\nradius_mm = 2.5\ndevice = \"script\"\n" + more;
  }

  std::string record(const std::string& scene, const std::string& out, const std::string& motion,
                     const std::string& more = "") const {
    return "record " + scene + " --backend scan -o " + out + " --trajectory " + motion + " " + more;
  }

  // Returns a small recording, made once for all tests.
  std::string recording(const char* name) {
    EXPECT_EQ(run(record(scene_, at(name), motion_)).status, 0);
    return at(name);
  }

  // Expects a refusal; the file `kept` must not change.
  void expect_kept(const std::string& kept, const std::string& arguments, const std::string& part) {
    const std::string before = read_file(kept);
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << "\n" << outcome.out << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << "\n" << outcome.err;
    EXPECT_TRUE(read_file(kept) == before) << "changed by " << arguments;
    expect_no_partial_file();
  }

  std::string scene_, motion_;
};

TEST_F(Output, AnErrorAtTheStartKeepsTheOldRecording) {
  const std::string kept = recording("kept.h5");
  struct Case {
    std::string arguments, part;
  };
  const auto named = [&](const char* organ, const char* tool) {
    return record(file("bad.toml", scene(organ, tool)), kept, motion_, "--force");
  };
  for (const char* name : {"a/b", ".", "..", "", "a\\nb", "a\\tb", "a\\u001bb", " a", "a "}) {
    expect_kept(kept, named(name, "probe"), "organ.name: a name must ");
    expect_kept(kept, named("organ", name), "instrument.name: a name must ");
  }
  const std::string far = file("far.csv", std::string(kHeader) + "0,-60,-40,260,-60,75,185\n0.02,0,0,260,0,0,1e6\n");
  const Case cases[] = {
      {record(scene_, kept, far, "--force"), "far.csv:3: 1000000 in column tip_z"},
      {record(scene_, kept, at("absent.csv"), "--force"), "absent.csv: there is no such file"},
      {record(at("absent.toml"), kept, motion_, "--force"), "absent.toml: there is no such file"},
      {record(scene_, kept, "knife=" + motion_, "--force"), "no instrument 'knife'"},
      {record(scene_, kept, motion_, "--force --validate fast"), "unknown backend 'fast'"},
      {"perform " + scene_ + " --force -o " + kept, "has no [task]"},
      {"demo --headless --frames 2 --backend fast --out " + folder_.path().string() + " --scene " + scene_, "fast"},
  };
  for (const Case& tried : cases) expect_kept(kept, tried.arguments, tried.part);
}

TEST_F(Output, ABusyPortKeepsTheOldRecording) {
  const std::string kept = recording("kept.h5");
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET, address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  socklen_t size = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string port = std::to_string(ntohs(address.sin_port));
  expect_kept(kept, record(scene_, kept, motion_, "--force --igtl-port " + port), "port " + port);
  close(listener);
}

TEST_F(Output, OnlyAFinishedRecordingIsReplaced) {
  const std::string mine = recording("mine.h5");
  expect_kept(mine, record(scene_, mine, motion_), "mine.h5: exists (--out); name another file, or add --force");
  EXPECT_EQ(run(record(scene_, mine, motion_, "--force")).status, 0);
  EXPECT_NE(run("file recover " + mine).out.find("already complete"), std::string::npos);
  const std::string foreign = at("foreign.h5");
  ASSERT_EQ(std::system(("/usr/bin/python3 -c \"import h5py; h5py.File('" + foreign + "', 'w')['x'] = 1\"").c_str()),
            0);
  expect_kept(foreign, record(scene_, foreign, motion_), "is an HDF5 file but not a recording");
  const std::string notes = file("notes.h5", "notes");
  expect_kept(notes, record(scene_, notes, motion_), "is not a recording");
  fs::create_symlink(at("nowhere.h5"), at("link.h5"));
  EXPECT_EQ(run(record(scene_, at("link.h5"), motion_)).status, 2);
  EXPECT_EQ(run(record(scene_, folder_.path().string(), motion_)).status, 2);
}

TEST_F(Output, NoOutputIsAnInputOrAnotherOutput) {
  const std::string session = recording("session.h5");
  ASSERT_EQ(run("mesh make superellipsoid --faces 500 -o " + at("made.obj")).status, 0);
  fs::create_symlink(motion_, at("link.csv"));
  fs::create_hard_link(motion_, at("hard.csv"));
  fs::create_directory(folder_.path() / "deep");
  const std::string round = (folder_.path() / "deep" / ".." / "motion.csv").string();
  const std::string query =
      "query --mesh " + at("organ.obj") + " --trajectory " + motion_ + " --radius 2.5 --backend scan";
  const std::string replayed =
      file("again.toml", scene("organ", "probe") + "[scope]\ndevice = \"trajectory\"\nsource = \"session.h5\"\n");
  struct Case {
    std::string kept, arguments, part;
  };
  const Case cases[] = {
      {motion_, query + " --out " + motion_, "--out is also read (--trajectory)"},
      {motion_, query + " --out " + round, "--out is also read (--trajectory)"},
      {motion_, query + " --out " + at("link.csv"), "--out is also read (--trajectory)"},
      {motion_, query + " --out " + at("hard.csv"), "--out is also read (--trajectory)"},
      {at("organ.obj"), query + " --out " + at("organ.obj"), "--out is also read (--mesh)"},
      {motion_, query + " --out " + at("o.csv") + " --json " + motion_, "--json is also read (--trajectory)"},
      {motion_, query + " --out " + at("o.csv") + " --json " + at("o.csv"), "--out and --json name the same file"},
      {at("made.obj"), "mesh decimate " + at("made.obj") + " --faces 100 -o " + at("made.obj"), "--out is also read"},
      {at("made.obj"), "mesh repair " + at("made.obj") + " -o " + at("made.obj"), "--out is also read"},
      {at("made.obj"), "mesh check " + at("made.obj") + " --json " + at("made.obj"), "--json is also read"},
      {session, "score " + session + " --json " + session, "--json is also read"},
      {session, "score " + session + " --json " + at("a") + " --csv " + at("a"), "--json and --csv name the same file"},
      {session, "report " + session + " -o " + session, "is also read"},
      {session, "compare " + session + " --json " + at("b") + " --plot " + at("b"), "name the same file"},
      {session, "compare " + session + " --csv " + session, "--csv is also read"},
      {session, record(replayed, session, motion_), "--out is also read (the source of the scope)"},
      {scene_, record(scene_, scene_, motion_), "--out is also read (the scene)"},
      {motion_,
       "query touch --mesh " + at("organ.obj") + " --shape " + at("made.obj") + " --trajectory " + motion_ + " --out " +
           at("o.csv") + " --depth " + at("o.csv"),
       "--out and --depth name the same file"},
      {at("made.obj"),
       "query touch --mesh " + at("organ.obj") + " --shape " + at("made.obj") + " --trajectory " + motion_ + " --out " +
           at("made.obj"),
       "--out is also read (--shape)"},
      {scene_, "run " + scene_ + " --state " + scene_, "--state is also read (the scene)"},
  };
  for (const Case& tried : cases) expect_kept(tried.kept, tried.arguments, tried.part);
}

// Every command refuses to overwrite a foreign file, and overwrites its own file in one step.
TEST_F(Output, ForeignFilesStayAndOwnFilesAreReplaced) {
  const std::string session = recording("session.h5"), query = "query --mesh " + at("organ.obj") + " --trajectory " +
                                                               motion_ + " --radius 2.5 --backend scan --out ";
  ASSERT_EQ(run("mesh make superellipsoid --faces 500 -o " + at("shape.ply")).status, 0);
  const std::string touch =
      "query touch --mesh " + at("organ.obj") + " --shape " + at("shape.ply") + " --trajectory " + motion_;
  const std::string meet =
      "query meet " + at("organ.obj") + " " + at("organ.obj") + " " + at("organ.obj") + " " + at("organ.obj");
  const std::string compare = "compare " + session + " --backends scan,obb ";
  struct Case {
    std::string before, name;  // the arguments before the output's name
  };
  const Case cases[] = {
      {query, "a.csv"},
      {query + at("x.csv") + " --json ", "a.json"},
      {touch + " --out ", "b.csv"},
      {touch + " --out " + at("y.csv") + " --depth ", "c.csv"},
      {meet + " -o ", "m.csv"},
      {compare + "--json ", "d.json"},
      {compare + "--csv ", "e.csv"},
      {compare + "--plot ", "f.svg"},
      {"score " + session + " --json ", "g.json"},
      {"score " + session + " --csv ", "h.csv"},
      {"report " + session + " -o ", "i.html"},
      {"mesh check " + at("organ.obj") + " --json ", "j.json"},
      {"mesh make superellipsoid --faces 500 -o ", "k.obj"},
      {"mesh make superellipsoid --faces 500 -o ", "k.stl"},
      {"mesh make superellipsoid --faces 500 -o ", "k.ply"},
      {"mesh make superellipsoid --faces 500 -o ", "k.vtk"},
      {"mesh make superellipsoid --faces 500 -o ", "k.vtp"},
      {"mesh decimate " + at("organ.obj") + " --faces 500 -o ", "l.obj"},
      {"mesh repair " + at("organ.obj") + " -o ", "m.obj"},
  };
  for (const Case& tried : cases) {
    const std::string name = at(tried.name.c_str());
    file(tried.name, "{\"faces\": \"precious\"}\n");
    expect_kept(name, tried.before + name, "not written over");
    fs::resize_file(name, 0);  // as mktemp leaves it
    const Outcome first = run(tried.before + name);
    EXPECT_EQ(first.status, 0) << tried.before << name << "\n" << first.err;
    EXPECT_GT(fs::file_size(name), 10u);
    expect_kept(name, tried.before + name, "or add --force to write over it");
    const Outcome second = run(tried.before + name + " --force");
    EXPECT_EQ(second.status, 0) << tried.before << name << "\n" << second.err;
  }
  for (const char* option : {"--csv ", "--pvd "}) {
    const std::string into = at("into");
    for (int time = 0; time < 2; ++time) EXPECT_EQ(run("export " + session + " " + option + into).status, 0) << option;
  }
  for (const auto& [option, name] : {std::pair{"--csv ", "touches.csv"}, {"--pvd ", "recording.pvd"}}) {
    const std::string kept = file(name, "precious");
    expect_kept(kept, "export " + session + " " + option + folder_.path().string(), "not written over");
  }
}

TEST_F(Output, ADemonstrationReplacesOnlyADemonstration) {
  const std::string out = at("demo"),
                    demo = "demo --headless --frames 3 --backend scan --pictures 2 --scene " + scene_ + " --out " + out;
  for (int time = 0; time < 2; ++time) {
    const Outcome outcome = run(demo);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  }
  for (const char* name : {"compare.json", "compare.svg", "report.html", "picture.png", "frame-00002.png"}) {
    const std::string kept = file(std::string("demo/") + name, "precious");
    const std::string session = read_file(out + "/session.h5");
    expect_kept(kept, demo, "not written over");
    EXPECT_TRUE(read_file(out + "/session.h5") == session) << name;
    fs::remove(kept);
  }
}

TEST_F(Output, APictureOfASceneNeedsNoRecording) {
  const std::string picture = "export picture " + scene_ + " --width 64 --height 36 -o " + at("drawn");
  const Outcome outcome = run(picture);
  if (outcome.err.find("needs OpenGL") != std::string::npos) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(read_file(at("drawn/s.png")).starts_with("\x89PNG"));
  expect_kept(file("drawn/s.png", "precious"), picture, "not written over");
}

TEST_F(Output, OnlyRegularFilesAreWritten) {
  const std::string make = "mesh make superellipsoid --faces 500 -o ";
  ASSERT_EQ(mkfifo(at("pipe.obj").c_str(), 0600), 0);
  EXPECT_EQ(run("mesh make superellipsoid --faces 500 -o " + at("pipe.obj")).status, 2);
  EXPECT_TRUE(fs::is_fifo(at("pipe.obj")));
  const std::string query =
      "query --mesh " + mesh_ + " --trajectory " + trajectory_ + " --radius 2.5 --backend scan --out ";
  // Does not test devices of this machine: a faulty program would overwrite them.
  for (const std::string& name : {at("pipe.obj"), at("."), std::string("''"), at("no/such/out.csv")})
    expect_refused(query + name, name == "''" ? "empty name" : name);
  fs::create_symlink(at("nowhere.csv"), at("broken.csv"));
  expect_refused(query + at("broken.csv"), "leads nowhere");
  // A symbolic link stays a link; its target is replaced.
  fs::create_symlink(at("real.csv"), at("link.csv"));
  file("real.csv", "frame,face\n");
  EXPECT_EQ(run(query + at("link.csv") + " --force").status, 0);
  EXPECT_TRUE(fs::is_symlink(at("link.csv")));
  EXPECT_EQ(read_file(at("real.csv")), "frame,face\n1,0\n");
}

TEST_F(Output, AFullDiskKeepsTheOldFile) {
  const std::string kept = file("out2.csv", "frame,face\n9,9\n");
  const std::string rows = [] {
    std::string text = kHeader;
    for (int k = 0; k < 4000; ++k) text += std::to_string(k) + ",20,20,80,20,20," + (k % 2 ? "-5" : "10") + "\n";
    return text;
  }();
  const std::string line = "ulimit -f 8; " + std::string(TROCAR_PROGRAM) + " query --mesh " + mesh_ + " --trajectory " +
                           file("long.csv", rows) + " --radius 2.5 --backend scan --force --out " + kept +
                           " >/dev/null 2>" + at("stderr");
  const int status = std::system(("trap '' XFSZ; " + line).c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1) << read_file(at("stderr"));
  EXPECT_NE(read_file(at("stderr")).find("is the disk full?"), std::string::npos) << read_file(at("stderr"));
  EXPECT_EQ(read_file(kept), "frame,face\n9,9\n");
  expect_no_partial_file();
}

// Tests trocar tissue: curves, fields and materials that it writes, and what it refuses.

class TissueCommand : public Program {
 protected:
  static constexpr const char* kSmall = "--diameter 20 --height 12 --spacing 4 ";
};

TEST_F(TissueCommand, PressesACylinderAndWritesItsCurve) {
  const Outcome done = run("tissue test " + std::string(kSmall) + "--modulus 10 --to 0.2 --steps 2 --reference -o " +
                           at("curve.csv") + " --plot " + at("p.svg") + " --field " + at("f.csv"));
  ASSERT_EQ(done.status, 0) << done.err;
  std::istringstream rows(read_file(at("curve.csv")));
  std::string header, first, second;
  std::getline(rows, header), std::getline(rows, first), std::getline(rows, second);
  EXPECT_EQ(header, "strain,force_n,reference");
  EXPECT_EQ(first.substr(0, 4), "0.1,");
  EXPECT_EQ(second.substr(0, 4), "0.2,");
  EXPECT_NEAR(std::stod(first.substr(4)), 10e3 * 3.1416e-4 * 0.1 * 1.07, 0.03);
  EXPECT_NE(read_file(at("p.svg")).find("Material test: "), std::string::npos);
  EXPECT_EQ(read_file(at("f.csv")).substr(0, 15), "x_mm,y_mm,z_mm,");
  const Outcome again = run("tissue test " + std::string(kSmall) + "--steps 1 -o " + at("curve.csv"));
  EXPECT_EQ(again.status, 2);
  EXPECT_EQ(read_file(at("curve.csv")).substr(0, 24), "strain,force_n,reference");
}

TEST_F(TissueCommand, FitsAMaterialThatATestReads) {
  const std::string data = folder_.write("data.csv", "strain,force_n\n0.1,0.34\n0.2,0.77\n0.3,1.4\n").string();
  const Outcome fitted = run("tissue fit " + data + " " + kSmall + "-o " + at("m.toml"));
  ASSERT_EQ(fitted.status, 0) << fitted.err;
  EXPECT_NE(read_file(at("m.toml")).find("law = \"rising\"\nyoungs_modulus = "), std::string::npos);
  const Outcome pressed = run("tissue test " + std::string(kSmall) + "--to 0.2 --steps 2 --material " + at("m.toml") +
                              " -o " + at("c.csv"));
  ASSERT_EQ(pressed.status, 0) << pressed.err;
  const std::string curve = read_file(at("c.csv"));
  EXPECT_NEAR(std::stod(curve.substr(curve.find("\n0.2,") + 5)), 0.77, 0.08);
}

// The silicones of abubakardawood/tissue-phantom-material-database, on a coarse lattice: rows that are not fitted lie
// within 10 % or one standard deviation too.
TEST_F(TissueCommand, ReproducesMeasuredSilicones) {
  const auto file = shared_file("tissue/silicone_cylinders.json");
  if (!file) GTEST_SKIP() << "no shared test data";
  const auto data = nlohmann::json::parse(read_file(*file));
  for (const auto& [name, plates] : {std::pair("EF10_100T", "--slip"), {"EF10_50T", "--stick"}}) {
    const auto& material = data["materials"][name];
    std::string curve = "strain,force_n,sd_n\n";
    for (std::size_t i = 0; i < data["compression"].size(); ++i)
      curve += fmt::format("{},{},{}\n", data["compression"][i].get<double>(), material["mean_N"][i].get<double>(),
                           material["sd_N"][i].get<double>());
    const Outcome fitted = run(fmt::format("tissue fit {} --every 2 --spacing 7.5 {} --force -o {}",
                                           folder_.write("s.csv", curve).string(), plates, at("s.toml")));
    ASSERT_EQ(fitted.status, 0) << fitted.err;
    const std::string before = "largest error from 0.05 on ";
    const std::size_t found = fitted.out.find(before);
    ASSERT_NE(found, std::string::npos) << fitted.out;
    EXPECT_LT(std::stod(fitted.out.substr(found + before.size())), 1.0) << fitted.out;
  }
}

TEST_F(TissueCommand, RefusesWrongInputInOneSentence) {
  const std::string out = " -o " + at("out.csv");
  expect_refused("tissue test --shape ball" + out, "ball");
  expect_refused("tissue test --shape mesh" + out, "--mesh");
  expect_refused("tissue test --to 0.9" + out, "0.8");
  expect_refused("tissue test --modulus nan" + out, "nan");
  expect_refused("tissue test --slip --stick" + out, "--slip");
  expect_refused("tissue test --twist 20 --slip" + out, "--twist");
  expect_refused("tissue test --gravity --ball 5" + out, "--gravity");
  expect_refused("tissue test --twist 20 --ball 5" + out, "--ball");
  expect_refused("tissue test --gravity --pull" + out, "--pull");
  expect_refused("tissue test --spacing 900" + out, "spacing");
  const auto fit = [&](const char* text, const char* part, const char* more = "") {
    const std::string data = folder_.write("d.csv", text).string();
    expect_refused("tissue fit " + data + " " + kSmall + more + out, part);
  };
  fit("strain:force_n\n0.1:1\n", "d.csv:1: the header must be strain,force_n");
  fit("strain,force_n\n0.1,x\n", "d.csv:2: 'x' in");
  fit("strain,force_n\n0.1\n", "d.csv:2: the row has 1 value");
  fit("strain,force_n\n0,0\n", "d.csv:2: strain and force must be above 0");
  fit("strain,force_n\n0.2,1\n0.1,2\n", "d.csv:3: the strain is not larger");
  fit("strain,force_n\n0.1,1\n0.9,2\n", "d.csv:3: a strain of 0.9");
  fit("strain,force_n\n", "no rows");
  fit("strain,force_n\n0.1,1\n0.2,2\n", "1 of its rows", "--up-to 0.1 ");
  const std::string material = folder_.write("bad.toml", "law = \"foam\"\n").string();
  expect_refused("tissue test --material " + material + out, "bad.toml:1: law: must be springs or rising");
}

// Tests that scenes within all limits whose frames take seconds say so before they start, and name the key; and that a
// scene with a task has no more organs than the task can distinguish.

// Keys that replace those of an ordinary scene with one organ of 60 mm.
struct SlowText {
  std::string tissue = "youngs_modulus = 6000\nnode_spacing_mm = 12\n";
  std::string attachment = "";
  std::string organ = "";  // outside [organ.tissue]
};

class SlowScene : public Program {
 protected:
  std::string scene_of(const SlowText& scene) {
    save_mesh(shapes::icosphere(3, 0.03f), folder_.path() / "ball.obj");
    return file("s.toml",
                "schema = 2\ntitle = \"s\"\n[scope]\neye_mm = [0, -75, 290]\ntarget_mm = [0, 0, 0]\n[[organ]]\nname = "
                "\"ball\"\n"
                "mesh = \"ball.obj\"\n" +
                    scene.organ + "[organ.tissue]\n" + scene.tissue +
                    "[[organ.attachment]]\ncentre_mm = [0, 0, -30]\nradius_mm = 15\n" + scene.attachment +
                    "[[instrument]]\nname = \"probe\"\npivot_mm = [0, 0, 200]\ntip_mm = [0, 0, 90]\nradius_mm = 2.5\n"
                    "device = \"script\"\nscript = \"press\"\n");
  }

  // Two rows: two frames of `step` seconds.
  Outcome record(const SlowText& scene, double step) {
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
    std::string text = "schema = 2\n[scope]\neye_mm = [0, -75, 290]\ntarget_mm = [0, 0, 0]\n";
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

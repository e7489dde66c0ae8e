// Tests the validation of all input: names, numbers of options and scenes, files that are not regular, excessive files,
// and the access rights of an untrusted scene. Each fault gives one short sentence.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "geometry/error.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_writer.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/text.hpp"
#include "tests/app/run_program.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeader = "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n";

constexpr const char* kScene =
    "[[organ]]\nname = \"organ\"\nmesh = \"organ.obj\"\n[organ.tissue]\nnode_spacing_mm = 12\n"
    "[[instrument]]\nname = \"probe\"\npivot_mm = [-60, -40, 260]\ntip_mm = [-60, 75, 185]\nradius_mm = 2.5\n";

class Input : public Program {
 protected:
  Input() { fs::copy_file(data("organs/gallbladder.obj"), folder_.path() / "organ.obj"); }

  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }

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
  expect_short(demo(file("key.toml", std::string(5000, 'k') + " = 1\n")), "is not a key of this table");
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
    for (const char* command : {"score ", "replay ", "recover ", "compare "})
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
      "touch --mesh " + mesh_ + " --shape " + mesh_ + " --trajectory " + trajectory_ + " --out " + at("t.csv");
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
  // An older recording may contain such a scene.
  EXPECT_NO_THROW(parse_recorded_scene("title = \"a\\nb\"\n" + std::string(kScene) + "axis = [0, 0, 2000]\n", "s.h5"));
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

}  // namespace
}  // namespace trocar

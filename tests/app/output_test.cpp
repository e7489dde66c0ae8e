// Tests what the program writes and says before it starts.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "mesh/mesh_io.hpp"
#include "tests/app/run_program.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

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
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
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

// Tests output files: an error at the start destroys nothing, files that Trocar did not write are never replaced, no
// output is also an input, and a file is complete or absent.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/app/run_program.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeader = "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n";

class Output : public Program {
 protected:
  Output() {
    fs::copy_file(data("organs/gallbladder.obj"), folder_.path() / "organ.obj");
    scene_ = file("s.toml", scene("organ", "probe"));
    motion_ = file("motion.csv", std::string(kHeader) + "0,-60,-40,260,-60,75,185\n0.02,-60,-40,260,-60,75,184\n");
  }

  static std::string scene(const std::string& organ, const std::string& instrument, const std::string& more = "") {
    return "[[organ]]\nname = \"" + organ + "\"\nmesh = \"organ.obj\"\n[organ.tissue]\nnode_spacing_mm = 12\n" +
           "[[instrument]]\nname = \"" + instrument +
           "\"\npivot_mm = [-60, -40, 260]\ntip_mm = [-60, 75, 185]\nradius_mm = 2.5\ndevice = \"script\"\n" + more;
  }

  std::string at(const char* name) const { return (folder_.path() / name).string(); }

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
  EXPECT_NE(run("recover " + mine).out.find("already complete"), std::string::npos);
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
       "touch --mesh " + at("organ.obj") + " --shape " + at("made.obj") + " --trajectory " + motion_ + " --out " +
           at("o.csv") + " --depth " + at("o.csv"),
       "--out and --depth name the same file"},
      {at("made.obj"),
       "touch --mesh " + at("organ.obj") + " --shape " + at("made.obj") + " --trajectory " + motion_ + " --out " +
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
      "touch --mesh " + at("organ.obj") + " --shape " + at("shape.ply") + " --trajectory " + motion_;
  const std::string meet =
      "meet " + at("organ.obj") + " " + at("organ.obj") + " " + at("organ.obj") + " " + at("organ.obj");
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
  const std::string picture = "picture " + scene_ + " --width 64 --height 36 -o " + at("drawn");
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

}  // namespace
}  // namespace trocar

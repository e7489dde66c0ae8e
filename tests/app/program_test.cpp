// Tests the program from outside: commands, manual, faults around it; recordings in Python.
#include <fmt/format.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <regex>
#include <thread>

#include "app/compare/backends.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "mesh/organ_maker.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "tests/app/run_program.hpp"
#include "tests/sim/session/formula_session.hpp"
#include "tests/support/glb.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Tests the program from outside: its commands, its manual, and faults around it.

// Tests the commands of the program: exit status, one sentence on stderr, and no partly written output file.

TEST_F(Program, QueryWritesSortedRows) {
  const Outcome outcome = run(query(mesh_, trajectory_, "2.5"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(read_file(folder_.path() / "out.csv"), "frame,face\n1,0\n");
}

// Two triangles 5 mm apart; the first moves by 10 mm through the second.
TEST_F(Program, MeetFindsTheFirstContactOfTwoMovingMeshes) {
  const std::string faces = "f 1 2 3\n";
  const std::string before = file("a0.obj", "v 0 0 0\nv 10 0 0\nv 0 10 0\n" + faces),
                    after = file("a1.obj", "v 0 0 10\nv 10 0 10\nv 0 10 10\n" + faces),
                    other = file("b.obj", "v 0 0 5\nv 10 0 5\nv 0 10 5\n" + faces),
                    table = (folder_.path() / "pairs.csv").string();
  const Outcome outcome = run("query meet " + before + " " + after + " " + other + " " + other + " -o " + table);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("pairs that meet: 1\nfirst contact at 0.49"), std::string::npos) << outcome.out;
  EXPECT_TRUE(read_file(table).starts_with("first,second,time,apart_mm\n0,0,0.49")) << read_file(table);
  EXPECT_NE(run("query meet " + before + " " + before + " " + other + " " + other).out.find("pairs that meet: 0"),
            std::string::npos);
  const std::string all = " " + other + " " + other;
  expect_refused("query meet " + before + " " + file("c.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 4\n") + all,
                 "its faces are not those of");
  expect_refused("query meet " + before + " absent.obj" + all, "absent.obj");
  expect_refused("query meet " + before + " " + after + all + " -o " + before, "is also read");
  expect_refused("query meet " + before + " " + after + all + " --tolerance 0", "--tolerance");
}

TEST_F(Program, BadMeshes) {
  expect_refused(query("absent.obj", trajectory_, "2.5"), "absent.obj");
  expect_refused(query(file("e.obj", ""), trajectory_, "2.5"), "e.obj");
  expect_refused(query(file("i.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"), trajectory_, "2.5"), "i.obj:4");
  expect_refused(query(file("n.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), trajectory_, "2.5"), "n.obj:1");
  expect_refused(query(file("z.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n"), trajectory_, "2.5"), "z.obj");
  save_mesh(load_mesh(mesh_), folder_.path() / "whole.stl");
  const std::string whole = read_file(folder_.path() / "whole.stl");
  expect_refused(query(file("cut.stl", whole.substr(0, whole.size() - 30)), trajectory_, "2.5"), "cut.stl");
  expect_refused(query(file("m.xyz", "0 0 0"), trajectory_, "2.5"), "m.xyz");
}

TEST_F(Program, BadTrajectories) {
  const std::string header = "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n";
  expect_refused(query(mesh_, "absent.csv", "2.5"), "absent.csv");
  expect_refused(query(mesh_, file("c.csv", "t,pivot_x\n0,1\n"), "2.5"), "c.csv:1: column 'pivot_y' is missing");
  expect_refused(query(mesh_, file("a.csv", header + "0,20,20,80,20,abc,10\n"), "2.5"), "a.csv:2: 'abc'");
  expect_refused(query(mesh_, file("f.csv", header + "0,20,20,80,20,inf,10\n"), "2.5"), "f.csv:2: 'inf'");
  expect_refused(query(mesh_, file("d.csv", header + "1,2,2,8,2,2,1\n0,2,2,8,2,2,1\n"), "2.5"),
                 "d.csv:3: the time decreases");
  expect_refused(query(mesh_, file("h.csv", header), "2.5"), "no row");
  expect_refused(query(mesh_, file("p.csv", header + "0,2,2,8,2,2,8\n"), "2.5"), "p.csv:2");
}

TEST_F(Program, BadRadii) {
  for (const char* radius : {"0", "-1", "nan", "inf", "1000", "abc", "2.5mm"})
    expect_refused(query(mesh_, trajectory_, radius), "radius");
}

TEST_F(Program, BadUsage) {
  expect_refused(query(mesh_, trajectory_, "2.5", "--backend fast"), "unknown backend 'fast'");
  expect_refused(query(mesh_, trajectory_, "2.5", "--colour red"), "--colour");
  expect_refused(query(mesh_, trajectory_, "2.5", "--mode both"), "both");
  expect_refused("query --mesh " + mesh_, "--trajectory");
  expect_refused("operate", "operate");
  expect_refused("compare", "recording");
  expect_refused("query --mesh " + mesh_ + " --trajectory " + trajectory_ + " --radius 2.5 --out /proc/no/out.csv",
                 "/proc/no/out.csv: cannot be written");
}

TEST_F(Program, HelpAndVersionAreNotErrors) {
  EXPECT_EQ(run("--help").status, 0);
  EXPECT_EQ(run("query --help").status, 0);
  EXPECT_EQ(run("--version").status, 0);
}

TEST_F(Program, WindowsLineEndsAndByteOrderMarks) {
  std::string mesh = kTriangle;
  for (std::size_t at = 0; (at = mesh.find('\n', at)) != std::string::npos; at += 2) mesh.insert(at, "\r");
  const std::string bom = "\xEF\xBB\xBF";
  const Outcome outcome = run(query(file("w.obj", bom + mesh), file("w.csv", bom + kTrajectory), "2.5"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

// Hides every OpenGL driver from the program.
constexpr const char* kNoGl =
    "env -u DISPLAY __EGL_VENDOR_LIBRARY_FILENAMES=/nonexistent LIBGL_DRIVERS_PATH=/nonexistent";

TEST_F(Program, WithoutOpenGlItUsesScanAndSaysSo) {
  const Outcome outcome = run(query(mesh_, trajectory_, "2.5", "--backend auto"), kNoGl);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("backend scan: no OpenGL on this machine"), std::string::npos) << outcome.out;
  const Outcome named = run(query(mesh_, trajectory_, "2.5", "--backend compute"), kNoGl);
  EXPECT_EQ(named.status, 2);
  EXPECT_NE(named.err.find("backend compute: no OpenGL on this machine"), std::string::npos) << named.err;
}

TEST_F(Program, DoctorFindsNoFault) {
  const Outcome outcome = run("doctor");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out.find("WRONG"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nscan           works ("), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\ntimes          ms per frame on two organs, "), std::string::npos) << outcome.out;
  const Outcome one = run("doctor --only scan");
  EXPECT_TRUE(one.out.starts_with("works (")) << one.out;
  EXPECT_EQ(run("doctor --only nothing").status, 2);
}

TEST_F(Program, DoctorReportsOnAScene) {
  std::filesystem::copy_file(data("organs/gallbladder.obj"), folder_.path() / "organ.obj");
  const std::string scene = file("scene.toml",
                                 "schema = 2\n[[organ]]\nname = \"bag\"\nmesh = \"organ.obj\"\n[organ.tissue]\n"
                                 "node_spacing_mm = 12\n[[instrument]]\nname = \"probe\"\npivot_mm = [-60, -40, 260]\n"
                                 "tip_mm = [-60, 75, 185]\nradius_mm = 2.5\n");
  const Outcome outcome = run("doctor " + scene, kNoGl);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"\nbackend        scan: ", "\nall  ", "\norgan 'bag'\n", " set by its stiffness and mass",
                           "'probe' (ball of 2.5 mm radius)", "\npress          'probe' into 'bag': ",
                           "\ndeepest        ", "\ntoo heavy?     ", "\nforces?        "})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  const std::string broken = file("broken.toml",
                                  "schema = 2\n[[organ]]\nname = \"bag\"\nmesh = \"none.obj\"\n[[instrument]]\n"
                                  "name = \"probe\"\npivot_mm = [0, 0, 260]\ntip_mm = [0, 0, 185]\nradius_mm = 2.5\n");
  expect_refused("doctor " + broken, "none.obj");
  expect_refused("doctor " + broken + " --only scan", "--only");
}

// A driver that crashes must not end the report.
TEST_F(Program, DoctorSurvivesADriverThatCrashes) {
  const Outcome outcome = run("doctor",
                              "env GALLIUM_DRIVER=zink LIBGL_ALWAYS_SOFTWARE=1 "
                              "VK_ICD_FILENAMES=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json");
  if (outcome.out.find("zink") == std::string::npos) GTEST_SKIP() << "no zink on this machine:\n" << outcome.out;
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("\nauto "), std::string::npos) << outcome.out;
}

// A driver that hangs must not hang the report: here a library of OpenGL that never finishes loading.
TEST_F(Program, DoctorSurvivesADriverThatHangs) {
  const std::string icd =
      file("hangs.json", std::string(R"({"file_format_version": "1.0.0", "ICD": {"library_path": ")") +
                             TROCAR_HANGING_DRIVER + "\"}}");
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome =
      run("doctor --limit 2", "timeout -s KILL 100 env -u DISPLAY __EGL_VENDOR_LIBRARY_FILENAMES=" + icd);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("\nOpenGL         FAILS: its test does not end within 2 s"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("\ncompute        not tested: OpenGL does not answer"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nscan           works ("), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nauto           scan: OpenGL does not answer\n"), std::string::npos) << outcome.out;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(90));
}

TEST_F(Program, CompareChecksEveryBackend) {
  const auto json = folder_.path() / "c.json", plot = folder_.path() / "c.svg";
  const Outcome outcome = run("compare --mesh " + mesh_ + " --trajectory " + trajectory_ + " --radius 2.5 --backends " +
                              "scan,obb,obb-refit --json " + json.string() + " --plot " + plot.string());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.rfind(" 0 disagreements\n"), std::string::npos) << outcome.out;
  EXPECT_NE(read_file(json).find("\"speedup_over_obb\""), std::string::npos);
  EXPECT_NE(read_file(plot).find("</svg>"), std::string::npos);
}

// Checks the files of a short demonstration: other programs can open them.
TEST_F(Program, DemoWritesARecordingAComparisonAndAPicture) {
  const std::string out = (folder_.path() / "demo").string(), session = out + "/session.h5";
  const Outcome outcome = run("demo --headless --frames 40 --backend scan --out " + out);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("0 disagreements\n"), std::string::npos) << outcome.out;
  for (const char* file : {"session.h5", "compare.json", "compare.svg"})
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "demo" / file)) << file;
  EXPECT_EQ(std::system(("h5dump -H " + session + " >/dev/null").c_str()), 0);
  const std::string python =
      "/usr/bin/python3 -c \"import h5py; f = h5py.File('" + session + "'); assert f['session/time'].shape == (40,)\"";
  EXPECT_EQ(std::system(python.c_str()), 0);
  EXPECT_EQ(run("replay " + session).status, 0);
  EXPECT_EQ(run("compare " + session + " --backends scan,obb-refit").status, 0);
  EXPECT_EQ(run("export " + session + " --csv " + out + "/csv").status, 0);
  EXPECT_TRUE(read_file(folder_.path() / "demo" / "csv" / "tools.csv").starts_with("frame,t,tool,"));
  EXPECT_NE(run("file recover " + session).out.find("already complete"), std::string::npos);
  // Every command that shows a date says that it is UTC.
  const Outcome scored = run("score " + session + " --csv " + out + "/score.csv");
  EXPECT_NE(scored.out.substr(0, scored.out.find('\n')).find(" UTC"), std::string::npos) << scored.out;
  EXPECT_TRUE(read_file(folder_.path() / "demo" / "score.csv").starts_with("file,date_utc,of,metric,"));
  EXPECT_NE(run("replay " + session).out.find(" UTC"), std::string::npos);
}

// Interrupts the program when frames are on the disk, however long the start took: a file of 4 MB contains frames,
// because the data before the first frame are smaller.
TEST_F(Program, AnInterruptLeavesACleanRecording) {
  const std::string out = (folder_.path() / "demo").string();
  const std::string script =
      std::string(TROCAR_PROGRAM) + " demo --headless --frames 1000000 --backend scan --out " + out +
      " >/dev/null 2>&1 & pid=$!; waits=0\n" + "until [ \"$(stat -c %s " + out +
      "/session.h5 2>/dev/null || echo 0)\" -gt 4000000 ]; do\n" + "  sleep 0.1; waits=$((waits + 1))\n" +
      "  [ $waits -lt 900 ] || { kill -KILL $pid; exit 1; }\n" + "done\n" + "kill -INT $pid; wait $pid\n";
  EXPECT_EQ(std::system(("sh " + file("interrupt.sh", script)).c_str()), 0);
  const Outcome outcome = run("file recover " + out + "/session.h5");
  EXPECT_NE(outcome.out.find("already complete"), std::string::npos) << outcome.out << outcome.err;
}

// Tests faults of a scene with one organ: each gives one sentence with file and line.
TEST_F(Program, BadTissue) {
  save_mesh(shapes::icosphere(3, 0.04f), folder_.path() / "ball.stl");
  const auto scene = [&](const std::string& mesh, const std::string& more, const std::string& tool = "") {
    return "demo --headless --frames 2 --backend scan --out " + (folder_.path() / "out").string() + " --scene " +
           file("s.toml", "schema = 2\n[[organ]]\nname = \"ball\"\nmesh = \"" + mesh + "\"\n" + more +
                              "[[instrument]]\nname = \"hook\"\npivot_mm = [0, 0, 150]\ntip_mm = [0, 0, 60]\n"
                              "radius_mm = 2.5\n" +
                              tool);
  };
  const auto tissue = [&](const std::string& line) { return scene("ball.stl", "[organ.tissue]\n" + line + "\n"); };
  EXPECT_EQ(run(tissue("youngs_modulus = 6000")).status, 0);
  expect_refused(tissue("youngs_modulus = 0"), "s.toml:6: organ.tissue.youngs_modulus: 0 is outside its limits");
  expect_refused(tissue("youngs_modulus = -6000"), "s.toml:6: organ.tissue.youngs_modulus: -6000 is outside");
  expect_refused(tissue("poisson_ratio = 0.6"), "s.toml:6: organ.tissue.poisson_ratio: 0.6 is outside its limits");
  expect_refused(tissue("node_spacing_mm = 90"), "node spacing 90 mm is larger than the organ");
  expect_refused(scene("ball.stl", "", "kind = \"knife\"\n"),
                 "s.toml:10: instrument.kind: must be one of probe, grasper, hook, scissors, clip-applier, suction");
  expect_refused(scene("ball.stl", "", "device = \"script\"\nscript = \"cut\"\n"),
                 "s.toml:11: instrument.script: must be explore, press, pull or burn");
  expect_refused(scene("ball.stl", "[[organ.attachment]]\ncentre_mm = [0, 0, 200]\nradius_mm = 20\n"),
                 "attachment 0 at (0.0, 0.0, 200.0) mm with radius 20 mm fixes nothing: the nearest");
}

TEST_F(Program, BadOrgans) {
  const auto scene = [&](const std::string& mesh) {
    return "demo --headless --frames 2 --backend scan --out " + (folder_.path() / "out").string() + " --scene " +
           file("s.toml", "schema = 2\n[[organ]]\nname = \"ball\"\nmesh = \"" + mesh +
                              "\"\n[[instrument]]\nname = \"probe\"\npivot_mm = [0, 0, 150]\n"
                              "tip_mm = [0, 0, 60]\nradius_mm = 2.5\n");
  };
  TriangleMesh ball = shapes::icosphere(3, 0.04f);
  save_mesh(shapes::turned(ball), folder_.path() / "turned.obj");
  expect_refused(scene("turned.obj"), "turned.obj): the organ is inside out");
  // The missing face leaves a hole: the sentence names one of its edges and its position.
  const glm::vec3 corner = 1e3f * ball.positions[ball.faces.back().x];
  ball.faces.pop_back();
  save_mesh(ball, folder_.path() / "open.obj");
  expect_refused(scene("open.obj"), "open.obj): the organ's surface has a hole at edge ");
  const std::string sentence = run(scene("open.obj")).err;
  float x = 0.f, y = 0.f, z = 0.f;
  ASSERT_EQ(std::sscanf(sentence.c_str() + std::min(sentence.find("near ("), sentence.size()), "near (%f, %f, %f)", &x,
                        &y, &z),
            3)
      << sentence;
  EXPECT_LT(glm::distance(glm::vec3(x, y, z), corner), 12.f) << sentence;
  EXPECT_NE(sentence.find("(3 open edges in all)"), std::string::npos) << sentence;
  expect_refused(scene("absent.obj"), "absent.obj");
}

// The tour scene presses, pulls and burns the liver; every backend agrees.
TEST_F(Program, TheTourRunsAndReplays) {
  const std::string out = (folder_.path() / "tour").string();
  const Outcome outcome =
      run("demo --headless --frames 90 --backend scan --scene " + data("scenes/tour.toml") + " --out " + out);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" 0 disagreements\n"), std::string::npos) << outcome.out;
  const Outcome replay = run("replay " + out + "/session.h5");
  EXPECT_EQ(replay.status, 0) << replay.out << replay.err;
}

TEST_F(Program, RecordFollowsATrajectoryAndValidates) {
  folder_.write("s.toml", "schema = 2\n[[organ]]\nname = \"liver\"\nmesh = \"" + data("organs/liver.obj") +
                              "\"\n[organ.tissue]\nnode_spacing_mm = 12\n[[instrument]]\nname = \"probe\"\n"
                              "pivot_mm = [-60, -40, 260]\ntip_mm = [-60, 75, 185]\nradius_mm = 2.5\n");
  std::string rows = "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n";
  for (int k = 0; k < 60; ++k)
    rows += std::to_string(k / 60.0) + ",-60,-40,260,-60," + std::to_string(75 + 0.2 * k) + "," +
            std::to_string(185 - 0.3 * k) + "\n";
  const std::string trajectory = file("motion.csv", rows), out = (folder_.path() / "r.h5").string();
  const std::string arguments = "record " + (folder_.path() / "s.toml").string() + " -o " + out + " --backend scan ";
  const Outcome outcome = run(arguments + "--validate obb-refit --trajectory probe=" + trajectory);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("60 frames"), std::string::npos) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("0 disagreements\n")) << outcome.out;
  EXPECT_EQ(run(arguments + "--trajectory knife=" + trajectory).status, 2);
}

TEST_F(Program, MeshTools) {
  const std::string out = (folder_.path() / "small.stl").string();
  EXPECT_EQ(run("mesh make stomach --faces 2000 -o " + out).status, 0);
  const Outcome check = run("mesh check " + out);
  EXPECT_EQ(check.status, 0);
  EXPECT_NE(check.out.find("sound: fit for simulation"), std::string::npos) << check.out;
  EXPECT_EQ(run("mesh decimate " + out + " --faces 1000 -o " + (folder_.path() / "less.ply").string()).status, 0);
  expect_refused("mesh make kidney --force -o " + out, "kidney");
}

// An organ with hundreds of open edges: tissue refuses it, and accepts the repaired one.
TEST_F(Program, MeshRepairMakesAnOrganFitForTissue) {
  const std::string open = (folder_.path() / "open.stl").string(), whole = (folder_.path() / "whole.obj").string();
  TriangleMesh mesh = make_organ("liver", {.faces = 6000});
  for (std::uint32_t v = 7; v < 3000; v += 60)
    std::erase_if(mesh.faces, [v](const glm::uvec3& f) { return f.x == v || f.y == v || f.z == v; });
  save_mesh(mesh, open);
  EXPECT_GT(mesh_report(mesh.view()).welded.boundary_edges, 200u);
  expect_refused("mesh lattice " + open, "has a hole");
  const Outcome repaired = run("mesh repair " + open + " -o " + whole);
  EXPECT_EQ(repaired.status, 0) << repaired.err;
  EXPECT_NE(repaired.out.find("holes, with"), std::string::npos) << repaired.out;
  EXPECT_EQ(run("mesh check " + whole).status, 0);
  EXPECT_EQ(run("mesh lattice " + whole).status, 0);
  expect_refused("mesh repair " + open + " --holes 5 -o " + (folder_.path() / "not.obj").string(), "at most 5 mm");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "not.obj"));
}

// `mesh lattice` refuses a surface with the same words with which `mesh check` reports the fault.
TEST_F(Program, MeshPartsListsAndWritesTheNodesOfAScene) {
  const std::string body =
      file("body.glb", glb_of({{"Liver, left lobe", shapes::cube(0.1f)}, {"Liver, left lobe", shapes::grid(2, 3)}}));
  const Outcome listed = run("mesh parts " + body);
  EXPECT_EQ(listed.status, 0) << listed.err;
  EXPECT_NE(listed.out.find("12         8"), std::string::npos) << listed.out;
  EXPECT_NE(listed.out.find("100.0 x 100.0 x 100.0     yes  Liver, left lobe\n"), std::string::npos) << listed.out;
  EXPECT_NE(listed.out.find("100.0 x 100.0 x 0.0      no  Liver, left lobe\n"), std::string::npos) << listed.out;
  const std::filesystem::path parts = folder_.path() / "parts";
  for (int round = 0; round < 2; ++round) EXPECT_EQ(run("mesh parts " + body + " -o " + parts.string()).status, 0);
  EXPECT_EQ(load_mesh(parts / "Liver__left_lobe.obj").faces, shapes::cube().faces);
  EXPECT_EQ(load_mesh(parts / "Liver__left_lobe_2.obj").faces.size(), 12u);
  std::filesystem::remove(parts / "Liver__left_lobe.obj");
  folder_.write("parts/Liver__left_lobe_2.obj", "mine");
  expect_refused("mesh parts " + body + " -o " + parts.string(), "Liver__left_lobe_2.obj");
  EXPECT_FALSE(std::filesystem::exists(parts / "Liver__left_lobe.obj"));
  expect_refused("mesh parts " + body + " -o " + mesh_, "the folder cannot be made");
  expect_refused("mesh parts " + mesh_ + " -o " + folder_.path().string(), "is also read");
}

TEST_F(Program, MeshCheckAndLatticeReportTheSameFault) {
  const auto saved = [&](const char* name, const TriangleMesh& mesh) {
    save_mesh(mesh, folder_.path() / name);
    return (folder_.path() / name).string();
  };
  const auto expect_part = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\n  must contain " << part;
  };
  const TriangleMesh ball = shapes::icosphere(2, 0.04f);
  TriangleMesh seams = ball, crowded = ball, open = ball;
  for (glm::uvec3& face : seams.faces) {
    seams.positions.push_back(seams.positions[face.x]);
    face.x = static_cast<std::uint32_t>(seams.positions.size() - 1);
  }
  crowded.faces.push_back(crowded.faces[0]);
  open.faces.pop_back();
  const std::string sound = run("mesh check " + saved("seams.obj", seams)).out;
  for (const char* part : {"seams ", "unjoined      closed NO", "closed        yes", "sound: fit for simulation"})
    expect_part(sound, part);
  EXPECT_EQ(run("mesh lattice " + saved("seams.obj", seams)).status, 0);
  for (const auto& [mesh, sentence] :
       {std::pair(saved("crowded.obj", crowded), "three or more faces of the organ meet at edge "),
        std::pair(saved("open.obj", open), "(3 open edges in all)")}) {
    expect_part(run("mesh check " + mesh).out, sentence);
    expect_refused("mesh lattice " + mesh, sentence);
  }
  expect_part(run("mesh check " + saved("crowded.obj", crowded)).out, "closed        yes");
  EXPECT_EQ(run("mesh check " + saved("ball.obj", ball)).status, 0);
  EXPECT_EQ(run("mesh check --scale 0.001 " + saved("ball.obj", ball)).status, 1) << "unsound";
  const std::string small = run("mesh check --scale 0.001 " + saved("ball.obj", ball)).out;
  for (const char* part : {"organ size    NO, the longest side is 0.08 mm", "use --scale 1)", "not sound"})
    expect_part(small, part);
}

TEST_F(Program, MakesSuperquadrics) {
  const std::string out = (folder_.path() / "out.csv").string(), mesh = (folder_.path() / "shape.obj").string();
  for (const char* shape :
       {"superellipsoid --size 60,40,20 --exponents 0.2,3", "supertoroid --exponents 1,0.5 --hole 10"}) {
    const Outcome made = run(std::string("mesh make ") + shape + " --faces 3000 --force -o " + mesh);
    ASSERT_EQ(made.status, 0) << made.err;
    const Outcome check = run("mesh check " + mesh);
    EXPECT_NE(check.out.find("sound: fit for simulation"), std::string::npos) << check.out;
  }
  expect_refused("mesh make superellipsoid --faces 10 -o " + out, "10 faces");
  expect_refused("mesh make superellipsoid --exponents 1,9 -o " + out, "exponent");
  expect_refused("mesh make superellipsoid --exponents 1 -o " + out, "--exponents");
  expect_refused("mesh make superellipsoid --size 1,2 -o " + out, "--size");
  expect_refused("mesh make superellipsoid --size 1,2,x -o " + out, "--size");
  expect_refused("mesh make superellipsoid --size 0,2,3 -o " + out, "half size");
  expect_refused("mesh make supertoroid --hole 60 -o " + out, "hole");
}

TEST_F(Program, TouchUsesTheShapeOfTheInstrument) {
  const std::string organ = (folder_.path() / "organ.obj").string(), shape = (folder_.path() / "finger.obj").string(),
                    out = (folder_.path() / "out.csv").string(), depth = (folder_.path() / "depth.csv").string();
  ASSERT_EQ(run("mesh make superellipsoid --faces 2000 --size 30,30,30 -o " + organ).status, 0);
  ASSERT_EQ(run("mesh make superellipsoid --faces 200 --size 2,2,10 -o " + shape).status, 0);
  const std::string motion =
      file("way.csv", "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n0,0,0,200,0,0,40\n0.1,0,0,200,0,0,25\n");
  const std::string touch = "query touch --mesh " + organ + " --shape " + shape + " --out " + out + " --trajectory ";
  const Outcome outcome = run(touch + motion + " --depth " + depth);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("1 convex pieces"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("tip inside in 1 frames"), std::string::npos) << outcome.out;
  EXPECT_EQ(read_file(out).find("\n0,"), std::string::npos);
  EXPECT_NE(read_file(out).find("\n1,"), std::string::npos);
  EXPECT_NE(read_file(depth).find("\n0,0,-1"), std::string::npos) << read_file(depth);
  EXPECT_NE(read_file(depth).find("\n1,1,4.9"), std::string::npos) << read_file(depth);
  std::filesystem::remove(out);
  expect_refused(touch + file("bad.csv", "t,x\n"), "bad.csv");
  expect_refused("query touch --mesh " + organ + " --shape " + file("none.obj", "v 0 0 0\n") + " --trajectory " +
                     motion + " --out " + out,
                 "none.obj");
  expect_refused(touch + motion + " --pieces 0", "--pieces");
}

// Tests `trocar help COMMAND`, the version, the manual page and the completion of the shell.

class Manual : public Program {};

TEST_F(Manual, HelpOfACommandIsItsOwnHelp) {
  for (const std::string command : {"query", "mesh decimate", "query meet"}) {
    const Outcome help = run("help " + command), own = run(command + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_EQ(help.out, own.out);
    EXPECT_NE(help.out.find("trocar"), std::string::npos);
  }
  EXPECT_EQ(run("help").out, run("--help").out);
  expect_refused("help operate", "unknown command 'operate'");
}

TEST_F(Manual, EveryCommandIsNamedAndHasItsHelp) {
  const std::string said = run("operate").err, mark = "the commands are ";
  std::istringstream names(said.substr(said.find(mark) + mark.size()));
  int count = 0;
  for (std::string name; std::getline(names >> std::ws, name, ','); ++count) {
    name.erase(name.find_last_not_of(" \n") + 1);
    const Outcome help = run("help " + name);
    EXPECT_EQ(help.status, 0) << name;
    EXPECT_NE(help.out.find("trocar " + name), std::string::npos) << help.out;
  }
  EXPECT_EQ(count, 16) << said;
  expect_refused("file operate", "unknown command 'file operate'; the commands are pack, unpack, recover");
}
// The required options of a command are not wanted of the commands below it.
TEST_F(Manual, OptionsOfACommandAreNotThoseOfItsOwnCommands) {
  expect_refused("query --mesh " + mesh_, "is required");
  expect_refused("query touch --mesh " + mesh_, "--shape is required");
  expect_refused("export", "recording is required");
  expect_refused("export picture", "recording is required");
}
TEST_F(Manual, TheVersionNamesTheBackends) {
  const std::string out = run("--version").out;
  for (const std::string& name : backend_names()) EXPECT_NE(out.find(name), std::string::npos) << name;
}

// groff reports what it does not understand on stderr.
TEST_F(Manual, TheManualPageNamesEveryCommandAndIsSoundRoff) {
  const Outcome page = run("--manual");
  ASSERT_EQ(page.status, 0);
  for (const char* text :
       {".TH TROCAR 1", ".SS \"query\"", ".SS \"mesh decimate\"", "\\-\\-trajectory", ".SH EXIT STATUS"})
    EXPECT_NE(page.out.find(text), std::string::npos) << text;
  EXPECT_EQ(page.out.find("\\-\\-only\\fR\n.TP"), std::string::npos);
  const std::string path = file("trocar.1", page.out), said = (folder_.path() / "said").string();
  ASSERT_EQ(
      std::system(("groff -man -Tascii -P-c -P-b -P-o -P-u -ww " + path + " > " + said + ".txt 2> " + said).c_str()),
      0);
  EXPECT_EQ(read_file(said), "");
  EXPECT_NE(read_file(said + ".txt").find("mesh decimate"), std::string::npos);
}

TEST_F(Manual, BashCompletesCommandsAndOptions) {
  const std::string script = file("completion", run("--completion").out);
  const auto completed = [&](const std::string& words, int number) {
    const std::string out = (folder_.path() / "words").string();
    const std::string line = "bash -c '. " + script + "; COMP_WORDS=(trocar " + words +
                             "); COMP_CWORD=" + std::to_string(number) + "; _trocar; echo \"${COMPREPLY[*]}\"' > " +
                             out;
    EXPECT_EQ(std::system(line.c_str()), 0);
    return read_file(out);
  };
  EXPECT_EQ(completed("rep", 1), "replay report\n");
  EXPECT_EQ(completed("query --tra", 2), "--trajectory\n");
  EXPECT_EQ(completed("mesh dec", 2), "decimate\n");
  EXPECT_EQ(completed("file un", 2), "unpack\n");
  EXPECT_EQ(completed("query touch --bu", 3), "--bulge\n");
  EXPECT_EQ(completed("mesh decimate --fa", 3), "--faces\n");
}

// Tests faults from outside the program: it is killed at any time, the disk is full, its recording is deleted or moved,
// two programs write one recording, memory runs out. Every reader gives complete frames or one sentence, within 10 s.

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Expects one sentence: one line, without diagnostics of a library. A slow machine also prints its progress.
void expect_sentence(const Outcome& outcome, const std::string& part) {
  const std::string text = std::regex_replace(outcome.err, std::regex("(record|demo|perform): [^\n]* left\n"), "");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << outcome.err;
  EXPECT_TRUE(text.starts_with("trocar: ")) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

class ProgramFaults : public ::testing::Test {
 protected:
  // Makes a small, fast scene: a probe presses a ball, for more frames than any test needs.
  ProgramFaults() {
    const TriangleMesh ball = shapes::icosphere(2, 30.f);
    std::ofstream mesh(folder_.path() / "ball.obj");
    for (const glm::vec3& p : ball.positions) mesh << fmt::format("v {} {} {}\n", p.x, p.y, p.z);
    for (const glm::uvec3& face : ball.faces) mesh << fmt::format("f {} {} {}\n", face.x + 1, face.y + 1, face.z + 1);
    folder_.write("ball.toml",
                  "schema = 2\n[[organ]]\nname = \"ball\"\nmesh = \"ball.obj\"\n[organ.tissue]\nnode_spacing_mm = 15\n"
                  "[[instrument]]\nname = \"probe\"\npivot_mm = [0, 0, 150]\ntip_mm = [0, 0, 31]\nradius_mm = 2.5\n");
    std::ofstream rows(folder_.path() / "motion.csv");
    rows << "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n";
    for (int k = 0; k < 60000; ++k) rows << fmt::format("{:.4f},0,0,150,0,0,{}\n", k / 60.0, 31 - (k % 60) * 0.1);
  }

  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string recording(const std::string& to) const {
    return "record " + at("ball.toml") + " --trajectory " + at("motion.csv") + " --backend scan -o " + to;
  }

  // Runs the program through the shell, in the folder of this test; no reader may take longer than 10 s.
  Outcome run(const std::string& arguments, const std::string& before = "") const {
    const std::string line = fmt::format("cd {}; {} timeout -s KILL 10 {} {} >stdout 2>stderr </dev/null",
                                         folder_.path().string(), before, TROCAR_PROGRAM, arguments);
    const int status = std::system(("exec sh -c '" + line + "'").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(at("stdout")), read_file(at("stderr"))};
  }

  // Starts the program in the background.
  pid_t start(const std::string& arguments) const {
    const std::string line =
        fmt::format("exec {} {} >{} 2>{} </dev/null", TROCAR_PROGRAM, arguments, at("started.out"), at("started.err"));
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    return child;
  }

  Outcome outcome_of(pid_t child) const {
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(at("started.out")), read_file(at("started.err"))};
  }

  static void wait_until(const std::function<bool()>& condition) {
    const auto last = Clock::now() + std::chrono::seconds(30);
    while (!condition() && Clock::now() < last) std::this_thread::sleep_for(milliseconds(1));
  }

  // Waits until the recording has frames.
  static void wait_for_bytes(const std::string& file, std::uintmax_t bytes) {
    wait_until([&] {
      std::error_code none;
      const auto size = std::filesystem::file_size(file, none);
      return !none && size >= bytes;
    });
  }

  // Expects complete frames or one sentence from every reader.
  void expect_read_or_refused(const std::string& command) const {
    const Outcome outcome = run(command);
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 2) << command << ": " << outcome.status << outcome.err;
    if (outcome.status != 0) expect_sentence(outcome, "killed.h5: ");
  }

  // The same for a copy that is cut short.
  void expect_cuts_read_or_refused() const {
    for (const std::uintmax_t bytes : {1, 3000, 200000}) {
      const auto whole = std::filesystem::file_size(at("killed.h5"));
      if (whole <= bytes) continue;
      std::filesystem::copy_file(at("killed.h5"), at("cut-killed.h5"),
                                 std::filesystem::copy_options::overwrite_existing);
      std::filesystem::resize_file(at("cut-killed.h5"), whole - bytes);
      expect_read_or_refused("score cut-killed.h5");
    }
  }

  TemporaryFolder folder_;
};

constexpr const char* kReaders[] = {"score killed.h5", "export killed.h5 --csv csv",
                                    "report killed.h5 --force -o r.html", "replay killed.h5 --backend scan",
                                    "compare killed.h5 --backends scan,obb-refit"};

TEST_F(ProgramFaults, EveryReaderHandlesARecordingKilledAtAnyTime) {
  const unsigned seed = 20261122;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> early(0, 200), late(200, 600);
  int recovered = 0, without_frames = 0;
  for (int round = 0; round < 50; ++round) {
    std::filesystem::remove(at("killed.h5"));
    const milliseconds life(round % 2 == 0 ? early(random) : late(random));
    SCOPED_TRACE(fmt::format("round {}, killed {} ms after its file was there", round, life.count()));
    const pid_t child = start(recording(at("killed.h5")));
    wait_until([&] { return std::filesystem::exists(at("killed.h5")); });
    std::this_thread::sleep_for(life);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (round % 10 == 3)
      for (const char* reader : kReaders) expect_read_or_refused(reader);
    if (round % 10 == 1) expect_cuts_read_or_refused();
    const Outcome outcome = run("file recover killed.h5");
    if (outcome.status != 0) {
      EXPECT_EQ(outcome.status, 2);
      expect_sentence(outcome, "killed.h5: ");
      ++without_frames;
      continue;
    }
    EXPECT_NE(outcome.out.find("recovered"), std::string::npos) << outcome.out;
    EXPECT_EQ(run("score killed.h5").status, 0);
    EXPECT_NE(run("file recover killed.h5").out.find("already complete"), std::string::npos);
    ++recovered;
  }
  EXPECT_FALSE(std::filesystem::exists(at("killed.h5.partial")));
  EXPECT_GT(recovered, 3);
  std::printf("50 kills: %d recovered, %d before the first frame was written\n", recovered, without_frames);
}

TEST_F(ProgramFaults, RecoverRefusesARecordingInProgress) {
  const pid_t child = start(recording(at("live.h5")));
  wait_for_bytes(at("live.h5"), 1000000);
  const Outcome refused = run("file recover live.h5");
  EXPECT_EQ(refused.status, 2) << refused.out;
  expect_sentence(refused, "live.h5: another program is writing this recording");
  // Readers see the frames so far.
  const Outcome read = run("score live.h5");
  EXPECT_EQ(read.status, 0) << read.err;
  kill(child, SIGINT);
  const Outcome recorded = outcome_of(child);
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_NE(run("file recover live.h5").out.find("already complete"), std::string::npos);
}

TEST_F(ProgramFaults, OnlyOneProgramWritesARecording) {
  const pid_t child = start(recording(at("both.h5")));
  wait_for_bytes(at("both.h5"), 1000000);
  const Outcome second = run(recording(at("both.h5")));
  EXPECT_EQ(second.status, 2) << second.out;
  expect_sentence(second, "both.h5: ");
  kill(child, SIGINT);
  EXPECT_EQ(outcome_of(child).status, 0);
  const Outcome read = run("file recover both.h5");
  EXPECT_NE(read.out.find("already complete"), std::string::npos) << read.out << read.err;
}

// A file size limit of the process simulates a full disk: every write beyond it fails.
TEST_F(ProgramFaults, AFullDiskIsReportedAtOnceAndKeepsTheFrames) {
  for (const char* command : {"record", "demo"}) {
    SCOPED_TRACE(command);
    const bool demo = std::string(command) == "demo";
    std::filesystem::create_directories(at("out"));
    const std::string file = demo ? "out/session.h5" : "full.h5";
    const Outcome outcome =
        run(demo ? "demo --headless --frames 100000 --backend scan --scene ball.toml --out out" : recording(file),
            "ulimit -f 8000;");
    EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
    expect_sentence(outcome,
                    file + ": the file could not be written (File too large); the frames recorded until then are kept");
    EXPECT_LE(std::filesystem::file_size(at(file)), 8000u * 512u);
    EXPECT_EQ(run("score " + file).status, 0) << run("score " + file).err;
    EXPECT_EQ(run("file recover " + file).status, 0);
  }
}

// The window reports the full disk during the attempt, and the exit status reports it again.
TEST_F(ProgramFaults, TheWindowReportsAFullDisk) {
  if (std::system("command -v Xvfb >/dev/null") != 0) GTEST_SKIP() << "Xvfb is missing: no window";
  folder_.write("window.sh", fmt::format("ulimit -f 2000; exec {} run ball.toml --record --frames 200 --folder out "
                                         "--state state.json --no-check --quality low --width 640 --height 480",
                                         TROCAR_PROGRAM));
  const int status =
      std::system(fmt::format("cd {} && timeout -s KILL 120 {} 800x600 sh window.sh >stdout 2>stderr </dev/null",
                              folder_.path().string(), repository_file("tests/support/with_display.sh").string())
                      .c_str());
  const std::string text = read_file(at("stderr"));
  EXPECT_EQ(WEXITSTATUS(status), 1) << text;
  const std::string sentence =
      "out/ball.h5: the file could not be written (File too large); the frames recorded until then";
  EXPECT_NE(text.find("trocar: " + sentence), std::string::npos) << text;
  EXPECT_EQ(text.find("HDF5"), std::string::npos) << text;
  EXPECT_NE(read_file(at("state.json")).find(sentence), std::string::npos) << read_file(at("state.json"));
}

TEST_F(ProgramFaults, RecoverOnAFullDiskFailsAndLeavesNoCopy) {
  const pid_t child = start(recording(at("killed.h5")));
  wait_for_bytes(at("killed.h5"), 3000000);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const std::string before = read_file(at("killed.h5"));
  for (const int limit : {1, 100, 500, 1000, 2000}) {
    const Outcome outcome = run("file recover killed.h5", fmt::format("ulimit -f {};", limit));
    EXPECT_EQ(outcome.status, 1) << limit << outcome.out;
    EXPECT_FALSE(std::filesystem::exists(at("killed.h5.partial"))) << limit;
    expect_sentence(outcome, "could not be written (File too large); the recording is unchanged");
  }
  EXPECT_EQ(read_file(at("killed.h5")), before);
  EXPECT_EQ(run("file recover killed.h5").status, 0);
}

// Fills a real disk; the test needs the right to mount one.
TEST_F(ProgramFaults, ARealFullDisk) {
  const std::string disk = at("disk");
  std::filesystem::create_directories(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=3m") != 0)
    GTEST_SKIP() << "cannot mount a small disk: this needs root";
  const Outcome outcome = run(recording("disk/full.h5"));
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  expect_sentence(outcome,
                  "disk/full.h5: the file could not be written (No space left on device); the frames recorded until");
  EXPECT_EQ(run("score disk/full.h5").status, 0);
  const Outcome recover = run("file recover disk/full.h5");
  EXPECT_EQ(recover.status, 1);
  expect_sentence(recover, "(No space left on device); the recording is unchanged");
  EXPECT_FALSE(std::filesystem::exists(disk + "/full.h5.partial"));
  EXPECT_EQ(run("score disk/full.h5").status, 0);
  EXPECT_EQ(umount(disk.c_str()), 0);
}

TEST_F(ProgramFaults, ADeletedRecordingIsAnError) {
  for (const bool folder : {false, true}) {
    SCOPED_TRACE(folder ? "its folder" : "the file");
    std::filesystem::create_directories(at("out"));
    const pid_t child = start(recording(at("out/gone.h5")));
    wait_for_bytes(at("out/gone.h5"), 1000000);
    std::filesystem::remove_all(at(folder ? "out" : "out/gone.h5"));
    const auto deleted = Clock::now();
    const Outcome outcome = outcome_of(child);
    EXPECT_LT(Clock::now() - deleted, std::chrono::seconds(5));
    EXPECT_EQ(outcome.status, 1) << outcome.out;
    expect_sentence(outcome, "gone.h5: the file was deleted during the recording");
  }
}

TEST_F(ProgramFaults, AMovedRecordingIsCompleteAndItsPathIsReported) {
  const pid_t child = start(recording(at("here.h5")));
  wait_for_bytes(at("here.h5"), 1000000);
  std::filesystem::rename(at("here.h5"), at("there.h5"));
  kill(child, SIGINT);
  const Outcome outcome = outcome_of(child);
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  expect_sentence(outcome, "there.h5");
  EXPECT_NE(run("file recover there.h5").out.find("already complete"), std::string::npos);
}

// A recording that needs more memory than available gives one sentence with every command.
TEST_F(ProgramFaults, TooLittleMemoryGivesOneSentence) {
  const std::string limit = "ulimit -v 2000000;";  // KiB
  if (run("--version", limit).status != 0) GTEST_SKIP() << "a sanitizer needs more memory than any limit";
  ASSERT_EQ(run("demo --headless --frames 20 --backend scan --scene ball.toml --out out").status, 0);
  std::filesystem::rename(at("out/session.h5"), at("killed.h5"));
  const hid_t file = H5Fopen(at("killed.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT),
              create = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY), H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
  const hsize_t rows = hsize_t{1} << 29;  // 4 GiB of rows that occupy no disk space
  const hid_t space = H5Screate_simple(1, &rows, nullptr);
  H5Ldelete(file, "/session/tool_radius", H5P_DEFAULT);
  H5Dclose(H5Dcreate2(file, "/session/tool_radius", H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT));
  H5Sclose(space), H5Pclose(create), H5Fclose(file);
  for (const char* reader : kReaders) {
    const Outcome outcome = run(reader, limit);
    EXPECT_EQ(outcome.status, 1) << reader;
    expect_sentence(outcome, "trocar: out of memory; is the file damaged");
  }
  EXPECT_EQ(run("file recover killed.h5", limit).status, 1);
}

// Tests the evaluation of a recording in Python: pandas opens every table, and the example in the docs runs and is
// correct. Also tests the output of trocar score.

constexpr const char* kAwkward = "left, \"5 mm\"";

// Prints what pandas reads from a table: number of rows, columns that are not numbers, sum of one column.
constexpr const char* kLook =
    "import sys, pandas\n"
    "t = pandas.read_csv(sys.argv[1])\n"
    "print(len(t), list(t.select_dtypes('object').columns), '%.6g' % t[sys.argv[2]].sum())\n";

struct Researcher : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "s.h5";
  test::FormulaSession session;

  Researcher() {
    RecordingHeader header = session.header();
    header.tools[0] = kAwkward;
    Recorder recorder(file, header);
    for (std::size_t frame = 0; frame < session.frames(); ++frame) session.append(recorder, frame);
    recorder.close();
  }

  int run(const std::string& line) const {
    const std::string to = " >" + (folder.path() / "out").string() + " 2>" + (folder.path() / "err").string();
    const int status = std::system((line + to + " </dev/null").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string out() const { return read_file(folder.path() / "out"); }
  std::string err() const { return read_file(folder.path() / "err"); }

  std::string look(const std::string& table, const std::string& column) const {
    const auto script = folder.write("look.py", kLook);
    EXPECT_EQ(run(fmt::format("/usr/bin/python3 {} {}/{} {}", script.string(), folder.path().string(), table, column)),
              0)
        << err();
    return out();
  }
};

TEST_F(Researcher, PandasOpensEveryTable) {
  if (run("/usr/bin/python3 -c 'import pandas'") != 0) GTEST_SKIP() << "pandas is missing: " << err();
  const std::string at = folder.path().string();
  ASSERT_EQ(run(fmt::format("{} export {} --csv {}", TROCAR_PROGRAM, file.string(), at)), 0) << err();
  EXPECT_EQ(look("tools.csv", "force_y"), "482 ['tool'] 180\n");
  EXPECT_EQ(look("touches.csv", "pressure_pa"), "30 ['organ', 'tool'] 5.3e+06\n");
  EXPECT_EQ(look("clashes.csv", "distance_mm"), fmt::format("241 ['first', 'second'] {:.6g}\n", 214 * 4.0 - 27.0));
  EXPECT_EQ(look("stages.csv", "disagreements"), "241 [] 0\n");
  ASSERT_EQ(run(fmt::format("{0} score {1} {1} --csv {2}/scores.csv", TROCAR_PROGRAM, file.string(), at)), 0) << err();
  const Attempt attempt = score_recording(Recording(file), "");
  std::size_t rows = attempt.overall.size();
  for (const InstrumentScore& instrument : attempt.instruments) rows += instrument.metrics.size();
  EXPECT_TRUE(
      look("scores.csv", "value").starts_with(fmt::format("{} ['file', 'date_utc', 'of', 'metric', 'unit']", 2 * rows)))
      << out();
}

TEST_F(Researcher, TheExampleOfTheDocsIsCorrect) {
  if (run("/usr/bin/python3 -c 'import h5py'") != 0) GTEST_SKIP() << "h5py is missing: " << err();
  const std::string page = read_file(std::filesystem::path(TROCAR_SOURCE_DIR) / "docs/python.md");
  const std::size_t begin = page.rfind("```python\n", page.find("import h5py")) + 10, end = page.find("```\n", begin);
  const auto script = folder.write("example.py", page.substr(begin, end - begin));
  ASSERT_EQ(run(fmt::format("/usr/bin/python3 {} {}", script.string(), file.string())), 0) << err();
  EXPECT_EQ(out(), fmt::format("{}: path 100.0 mm, peak 3.000 N, 3.000 N s\n"
                               "right: path 0.0 mm, peak 0.500 N, 2.000 N s\n"
                               "liver: 30 touches, most in frame 61: faces [3]\n",
                               kAwkward));
}

TEST_F(Researcher, ScoresAreWrittenAsTables) {
  const std::string json = (folder.path() / "j.json").string();
  ASSERT_EQ(run(fmt::format("{} score {} --all --json {}", TROCAR_PROGRAM, file.string(), json)), 0) << err();
  for (const char* line : {"Formula, 4.00 s, 241 frames", "Path length                              100.0",
                           "Mean squared jerk", "does not discriminate skill"})
    EXPECT_NE(out().find(line), std::string::npos) << line << "\n" << out();
  EXPECT_NE(read_file(json).find("trocar-scores-1"), std::string::npos);
}

TEST_F(Researcher, ATraineeReadsTwelveLines) {
  ASSERT_EQ(run(fmt::format("{} score {}", TROCAR_PROGRAM, file.string())), 0) << err();
  EXPECT_LE(std::ranges::count(out(), '\n'), 12) << out();
  for (const char* line : {"there is no judgement", "Time                                          4 s",
                           "Number of movements, all instruments          1",
                           "Path of the tips                         100.0", "good up to 2 N, poor from 4 N"})
    EXPECT_NE(out().find(line), std::string::npos) << line << "\n" << out();
  EXPECT_EQ(out().find("jerk"), std::string::npos) << out();
}

TEST_F(Researcher, WrongInputIsRefused) {
  const std::string none = (folder.path() / "none.h5").string(), json = (folder.path() / "j.json").string();
  EXPECT_EQ(run(fmt::format("{} score {} {} --json {}", TROCAR_PROGRAM, file.string(), none, json)), 2);
  EXPECT_NE(err().find("none.h5"), std::string::npos) << err();
  EXPECT_FALSE(std::filesystem::exists(json));
  EXPECT_EQ(run(fmt::format("{} score", TROCAR_PROGRAM)), 2);
  EXPECT_EQ(run(fmt::format("{} export {}", TROCAR_PROGRAM, file.string())), 2);
  EXPECT_NE(err().find("--pvd"), std::string::npos) << err();
  EXPECT_EQ(
      run(fmt::format("{} export {} --pvd {}/p --every 0", TROCAR_PROGRAM, file.string(), folder.path().string())), 2);
  EXPECT_EQ(
      run(fmt::format("{} export {} --pvd {}/p --every 100", TROCAR_PROGRAM, file.string(), folder.path().string())),
      0);
  EXPECT_EQ(out(), fmt::format("3 frames written to 6 files, listed in {}/p/recording.pvd\n", folder.path().string()));
}

}  // namespace
}  // namespace trocar

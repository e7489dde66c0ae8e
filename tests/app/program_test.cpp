// Tests the commands of the program: exit status, one sentence on stderr, and no partly written output file.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "mesh/organ_maker.hpp"
#include "tests/app/run_program.hpp"
#include "tests/support/glb.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

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
  const Outcome outcome = run("meet " + before + " " + after + " " + other + " " + other + " -o " + table);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("pairs that meet: 1\nfirst contact at 0.49"), std::string::npos) << outcome.out;
  EXPECT_TRUE(read_file(table).starts_with("first,second,time,apart_mm\n0,0,0.49")) << read_file(table);
  EXPECT_NE(run("meet " + before + " " + before + " " + other + " " + other).out.find("pairs that meet: 0"),
            std::string::npos);
  const std::string all = " " + other + " " + other;
  expect_refused("meet " + before + " " + file("c.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 4\n") + all,
                 "its faces are not those of");
  expect_refused("meet " + before + " absent.obj" + all, "absent.obj");
  expect_refused("meet " + before + " " + after + all + " -o " + before, "is also read");
  expect_refused("meet " + before + " " + after + all + " --tolerance 0", "--tolerance");
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
  for (const char* radius : {"0", "-1", "nan", "inf", "1000", "abc", "2.5mm"}) {
    expect_refused(query(mesh_, trajectory_, radius), "radius");
  }
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
  for (const char* file : {"session.h5", "compare.json", "compare.svg"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "demo" / file)) << file;
  }
  EXPECT_EQ(std::system(("h5dump -H " + session + " >/dev/null").c_str()), 0);
  const std::string python =
      "/usr/bin/python3 -c \"import h5py; f = h5py.File('" + session + "'); assert f['session/time'].shape == (40,)\"";
  EXPECT_EQ(std::system(python.c_str()), 0);
  EXPECT_EQ(run("replay " + session).status, 0);
  EXPECT_EQ(run("compare " + session + " --backends scan,obb-refit").status, 0);
  EXPECT_EQ(run("export " + session + " --csv " + out + "/csv").status, 0);
  EXPECT_TRUE(read_file(folder_.path() / "demo" / "csv" / "tools.csv").starts_with("frame,t,tool,"));
  EXPECT_NE(run("recover " + session).out.find("already complete"), std::string::npos);
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
  const Outcome outcome = run("recover " + out + "/session.h5");
  EXPECT_NE(outcome.out.find("already complete"), std::string::npos) << outcome.out << outcome.err;
}

// Tests faults of a scene with one organ: each gives one sentence with file and line.
TEST_F(Program, BadTissue) {
  save_mesh(shapes::icosphere(3, 0.04f), folder_.path() / "ball.stl");
  const auto scene = [&](const std::string& mesh, const std::string& more, const std::string& tool = "") {
    return "demo --headless --frames 2 --backend scan --out " + (folder_.path() / "out").string() + " --scene " +
           file("s.toml", "[[organ]]\nname = \"ball\"\nmesh = \"" + mesh + "\"\n" + more +
                              "[[instrument]]\nname = \"hook\"\npivot_mm = [0, 0, 150]\ntip_mm = [0, 0, 60]\n"
                              "radius_mm = 2.5\n" +
                              tool);
  };
  const auto tissue = [&](const std::string& line) { return scene("ball.stl", "[organ.tissue]\n" + line + "\n"); };
  EXPECT_EQ(run(tissue("youngs_modulus = 6000")).status, 0);
  expect_refused(tissue("youngs_modulus = 0"), "s.toml:5: organ.tissue.youngs_modulus: 0 is outside its limits");
  expect_refused(tissue("youngs_modulus = -6000"), "s.toml:5: organ.tissue.youngs_modulus: -6000 is outside");
  expect_refused(tissue("poisson_ratio = 0.6"), "s.toml:5: organ.tissue.poisson_ratio: 0.6 is outside its limits");
  expect_refused(tissue("node_spacing_mm = 90"), "node spacing 90 mm is larger than the organ");
  expect_refused(scene("ball.stl", "", "kind = \"knife\"\n"),
                 "s.toml:9: instrument.kind: must be one of probe, grasper, hook, scissors, clip-applier, suction");
  expect_refused(scene("ball.stl", "", "device = \"script\"\nscript = \"cut\"\n"),
                 "s.toml:10: instrument.script: must be explore, press, pull or burn");
  expect_refused(scene("ball.stl", "[[organ.attachment]]\ncentre_mm = [0, 0, 200]\nradius_mm = 20\n"),
                 "attachment 0 at (0.0, 0.0, 200.0) mm with radius 20 mm fixes nothing: the nearest");
}

TEST_F(Program, BadOrgans) {
  const auto scene = [&](const std::string& mesh) {
    return "demo --headless --frames 2 --backend scan --out " + (folder_.path() / "out").string() + " --scene " +
           file("s.toml", "[[organ]]\nname = \"ball\"\nmesh = \"" + mesh +
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
  folder_.write("s.toml", "[[organ]]\nname = \"liver\"\nmesh = \"" + data("organs/liver.obj") +
                              "\"\n[organ.tissue]\nnode_spacing_mm = 12\n[[instrument]]\nname = \"probe\"\n"
                              "pivot_mm = [-60, -40, 260]\ntip_mm = [-60, 75, 185]\nradius_mm = 2.5\n");
  std::string rows = "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n";
  for (int k = 0; k < 60; ++k) {
    rows += std::to_string(k / 60.0) + ",-60,-40,260,-60," + std::to_string(75 + 0.2 * k) + "," +
            std::to_string(185 - 0.3 * k) + "\n";
  }
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
  const std::string touch = "touch --mesh " + organ + " --shape " + shape + " --out " + out + " --trajectory ";
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
  expect_refused("touch --mesh " + organ + " --shape " + file("none.obj", "v 0 0 0\n") + " --trajectory " + motion +
                     " --out " + out,
                 "none.obj");
  expect_refused(touch + motion + " --pieces 0", "--pieces");
}

}  // namespace
}  // namespace trocar

// Tests faults from outside the program: it is killed at any time, the disk is full, its recording is deleted or moved,
// two programs write one recording, memory runs out. Every reader gives complete frames or one sentence, within 10 s.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <regex>
#include <string>
#include <thread>

#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Outcome {
  int status = -1;
  std::string out, err;
};

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
                  "[[organ]]\nname = \"ball\"\nmesh = \"ball.obj\"\n[organ.tissue]\nnode_spacing_mm = 15\n"
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
    const Outcome outcome = run("recover killed.h5");
    if (outcome.status != 0) {
      EXPECT_EQ(outcome.status, 2);
      expect_sentence(outcome, "killed.h5: ");
      ++without_frames;
      continue;
    }
    EXPECT_NE(outcome.out.find("recovered"), std::string::npos) << outcome.out;
    EXPECT_EQ(run("score killed.h5").status, 0);
    EXPECT_NE(run("recover killed.h5").out.find("already complete"), std::string::npos);
    ++recovered;
  }
  EXPECT_FALSE(std::filesystem::exists(at("killed.h5.partial")));
  EXPECT_GT(recovered, 3);
  std::printf("50 kills: %d recovered, %d before the first frame was written\n", recovered, without_frames);
}

TEST_F(ProgramFaults, RecoverRefusesARecordingInProgress) {
  const pid_t child = start(recording(at("live.h5")));
  wait_for_bytes(at("live.h5"), 1000000);
  const Outcome refused = run("recover live.h5");
  EXPECT_EQ(refused.status, 2) << refused.out;
  expect_sentence(refused, "live.h5: another program is writing this recording");
  // Readers see the frames so far.
  const Outcome read = run("score live.h5");
  EXPECT_EQ(read.status, 0) << read.err;
  kill(child, SIGINT);
  const Outcome recorded = outcome_of(child);
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_NE(run("recover live.h5").out.find("already complete"), std::string::npos);
}

TEST_F(ProgramFaults, OnlyOneProgramWritesARecording) {
  const pid_t child = start(recording(at("both.h5")));
  wait_for_bytes(at("both.h5"), 1000000);
  const Outcome second = run(recording(at("both.h5")));
  EXPECT_EQ(second.status, 2) << second.out;
  expect_sentence(second, "both.h5: ");
  kill(child, SIGINT);
  EXPECT_EQ(outcome_of(child).status, 0);
  const Outcome read = run("recover both.h5");
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
    EXPECT_EQ(run("recover " + file).status, 0);
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
    const Outcome outcome = run("recover killed.h5", fmt::format("ulimit -f {};", limit));
    EXPECT_EQ(outcome.status, 1) << limit << outcome.out;
    EXPECT_FALSE(std::filesystem::exists(at("killed.h5.partial"))) << limit;
    expect_sentence(outcome, "could not be written (File too large); the recording is unchanged");
  }
  EXPECT_EQ(read_file(at("killed.h5")), before);
  EXPECT_EQ(run("recover killed.h5").status, 0);
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
  const Outcome recover = run("recover disk/full.h5");
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
  EXPECT_NE(run("recover there.h5").out.find("already complete"), std::string::npos);
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
  EXPECT_EQ(run("recover killed.h5", limit).status, 1);
}

}  // namespace
}  // namespace trocar

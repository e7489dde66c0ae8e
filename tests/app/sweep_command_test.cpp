// Tests trocar sweep as a user runs it: the same bytes for every number of jobs and after any kill, what it refuses,
// and that it leaves nothing behind. A shell script stands for the program where its cost would count.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <vector>

#include "sim/hdf5/h5_file.hpp"
#include "tests/app/run_program.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

// Writes a curve whose force is the modulus. The modulus decides what else happens.
constexpr const char* kScript =
    "#!/bin/sh\n"
    "while [ $# -gt 0 ]; do case $1 in --modulus) m=$2;; --out) o=$2;; esac; shift; done\n"
    "case $m in 13) kill -SEGV $$;; 17) echo \"trocar: $o: is wrong\" >&2; exit 2;; 99) echo $$ > pid; exec sleep 60;; "
    "esac\n"
    "sleep 0.02\n"
    "printf 'strain,force_n\\n0.1,%s\\n' \"$m\" > \"$o\"\n";

class SweepCommand : public Program {
 protected:
  SweepCommand() : script_(file("script", kScript)) {
    fs::permissions(script_, fs::perms::owner_all);
    fs::create_directory(at("tmp"));
    file("plan.toml", plan_of("1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18"));
  }

  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  static std::string plan_of(const std::string& moduli) {
    return "[[cases]]\nrun = \"tissue\"\nmodulus = [" + moduli + "]\npoisson = [0.3, 0.4]\n";
  }
  std::string arguments(const std::string& name, const std::string& more = "") const {
    return "sweep " + at("plan.toml") + " --program " + script_ + " -o " + at(name + ".h5") + " --csv " +
           at(name + ".csv") + " " + more;
  }
  Outcome sweep(const std::string& name, const std::string& more = "") {
    return run(arguments(name, more), "TMPDIR=" + at("tmp"));
  }
  // Starts a sweep and returns its process.
  pid_t start(const std::string& name, const std::string& more = "") {
    const std::string line = "exec env TMPDIR=" + at("tmp") + " " + TROCAR_PROGRAM + " " + arguments(name, more) +
                             " >" + at("out") + " 2>" + at("err");
    const pid_t process = ::fork();
    if (process == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    return process;
  }
  static int end_of(pid_t process) {
    int status = 0;
    ::waitpid(process, &status, 0);
    return status;
  }
  std::string results(const std::string& name) const {
    return read_file(at(name + ".h5")) + read_file(at(name + ".csv"));
  }
  std::size_t temporary_folders() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(at("tmp")), fs::directory_iterator()));
  }

  std::string script_;
};

TEST_F(SweepCommand, TheTrocarProgramRunsTheCases) {
  file("small.toml",
       "[[cases]]\nrun = \"tissue\"\nshapes = \"block\"\nsize = \"8,8,8\"\nspacing = 4\nsteps = 1\n"
       "modulus = [6, 12]\n[[cases]]\nrun = \"score\"\nrecordings = \"m.obj\"\n");
  const Outcome done = run("sweep " + at("small.toml") + " -o " + at("r.h5") + " --csv " + at("r.csv"));
  EXPECT_EQ(done.status, 1) << done.err;
  EXPECT_EQ(done.err,
            "trocar: 1 of 3 cases are not done; the columns status and error of " + at("r.h5") + " say why\n");
  const H5File results = H5File::open(at("r.h5"));
  EXPECT_EQ(results.text("format"), "trocar-sweep-1");
  const auto force = results.table("table/force_n at 0.2", Cell::F64).read_all<double>();
  ASSERT_EQ(force.size(), 3u);
  EXPECT_NEAR(force[1], 2.0 * force[0], 1e-4 * force[1]);
  EXPECT_GT(force[0], 0.0);
  EXPECT_TRUE(std::isnan(force[2]));
  EXPECT_NE(read_file(at("r.csv")).find("\n2,2,score,refused,2,,m.obj: "), std::string::npos) << read_file(at("r.csv"));
}

TEST_F(SweepCommand, TheSameBytesForEveryNumberOfJobs) {
  const Outcome one = sweep("one", "--jobs 1 --times " + at("times.csv"));
  EXPECT_EQ(one.status, 1) << one.err;
  EXPECT_NE(one.err.find("4 of 36 cases are not done"), std::string::npos) << one.err;
  sweep("two", "--jobs 2"), sweep("four", "--jobs 4");
  EXPECT_EQ(results("one"), results("two"));
  EXPECT_EQ(results("one"), results("four"));
  const std::string csv = read_file(at("one.csv"));
  EXPECT_NE(csv.find("\n24,1,tissue,crashed,,11,ended by signal 11 (SIGSEGV),13,0.3,\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\n32,1,tissue,refused,2,,result.csv: is wrong,17,0.3,\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\n35,1,tissue,done,0,,,18,0.4,18\n"), std::string::npos) << csv;
  EXPECT_EQ(csv.find(folder_.path().string()), std::string::npos);
  EXPECT_EQ(read_file(at("times.csv")).substr(0, 9), "case,run,");
  EXPECT_FALSE(fs::exists(at("one.h5.journal")));
  EXPECT_EQ(temporary_folders(), 0u);
  sweep("one");
  EXPECT_EQ(results("one"), results("two")) << "its own results are written over";
  expect_no_partial_file();
}

TEST_F(SweepCommand, KilledAtRandomItGoesOnToTheSameBytes) {
  sweep("whole");
  std::mt19937 random(11);
  int killed = 0;
  for (int i = 0; i < 8 && !fs::exists(at("killed.h5")); ++i) {  // a fast machine ends before the last kill
    const pid_t process = start("killed", "--jobs 2");
    ::usleep(static_cast<useconds_t>(60000 + random() % 150000));
    ::kill(process, SIGKILL);
    killed += WIFSIGNALED(end_of(process)) ? 1 : 0;
    if (i % 2 == 1 && fs::exists(at("killed.h5.journal")))
      std::ofstream(at("killed.h5.journal"), std::ios::app) << "0123456789abcdef {\"case\":1,\"sta";
  }
  EXPECT_GE(killed, 2);
  const Outcome last = sweep("killed", "--jobs 2 --force");
  EXPECT_EQ(last.status, 1) << last.err;
  EXPECT_EQ(results("killed"), results("whole"));
  EXPECT_EQ(temporary_folders(), 0u);
}

TEST_F(SweepCommand, ChildrenEndWithAKilledSweep) {
  file("plan.toml", plan_of("99"));
  const pid_t process = start("r", "--jobs 1");
  for (int i = 0; i < 200 && read_file(at("pid")).empty(); ++i) ::usleep(20000);
  const std::string child = "/proc/" + std::to_string(std::stoi(read_file(at("pid")))) + "/cmdline";
  ::kill(process, SIGKILL);
  end_of(process);
  for (int i = 0; i < 100 && !read_file(child).empty(); ++i) ::usleep(50000);
  EXPECT_EQ(read_file(child), "");
}

TEST_F(SweepCommand, StoppedItSaysHowToGoOn) {
  sweep("whole");
  const pid_t process = start("r", "--jobs 1");
  for (int i = 0; i < 200 && read_file(at("r.h5.journal")).size() < 500; ++i) ::usleep(10000);
  ::kill(process, SIGTERM);
  const int status = end_of(process);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const std::string said = read_file(at("err"));
  EXPECT_NE(said.find("of 36 cases; the same command goes on"), std::string::npos) << said;
  EXPECT_FALSE(fs::exists(at("r.h5")));
  EXPECT_EQ(temporary_folders(), 0u);
  expect_no_partial_file();
  const Outcome done = sweep("r");
  EXPECT_NE(done.out.find("of 36 cases are in the journal"), std::string::npos) << done.out;
  EXPECT_EQ(results("r"), results("whole"));
}

TEST_F(SweepCommand, PartsTogetherGiveTheSameBytes) {
  sweep("whole");
  const auto part = [&](const std::string& text) {
    return run("sweep " + at("plan.toml") + " --program " + script_ + " -o " + at("r.h5") + " --part " + text);
  };
  for (const char* text : {"1/3", "3/3"}) {
    const Outcome done = part(text);
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_FALSE(fs::exists(at("r.h5")));
  }
  EXPECT_TRUE(fs::exists(at("r.h5.3-of-3.journal")));
  const Outcome all = sweep("r");
  EXPECT_NE(all.out.find("24 of 36 cases are in the journal"), std::string::npos) << all.out;
  EXPECT_EQ(results("r"), results("whole"));
  EXPECT_FALSE(fs::exists(at("r.h5.1-of-3.journal")));
  EXPECT_FALSE(fs::exists(at("r.h5.3-of-3.journal")));
  for (const char* text : {"0/3", "4/3", "1/0", "1/20000", "1", "x/2", "1/2x", "-1/2"}) {
    const Outcome wrong = part(text);
    EXPECT_EQ(wrong.status, 2) << text;
    EXPECT_NE(wrong.err.find("--part"), std::string::npos) << wrong.err;
  }
}

TEST_F(SweepCommand, RefusesWhatItMustNotWrite) {
  const std::string plan = at("plan.toml"), command = "sweep " + plan + " -o ";
  const std::string before = read_file(plan);
  expect_refused("sweep", "plan");
  expect_refused("sweep " + plan, "--out");
  expect_refused("sweep none.toml -o " + at("r.h5"), "there is no such file");
  expect_refused(command + plan, "is also read");
  expect_refused(command + at("r.h5") + " --csv " + at("r.h5"), "name the same file");
  expect_refused(command + at("r.h5") + " --csv " + at("r.h5.journal"), "name the same file");
  expect_refused(command + at("no/r.h5"), "cannot be written");
  expect_refused(command + at("r.h5") + " --program " + mesh_, "is not a program");
  expect_refused(command + at("r.h5") + " --jobs -1", "jobs");
  expect_refused(command + mesh_, "is not a file of this kind");
  expect_refused(command + file("rec.h5", "\x89HDF\r\n\x1a\nmore"), "is a recording");
  expect_refused(command + at("r.h5") + " --csv " + mesh_, "is not a file of this kind");
  file("r.h5.journal", "my notes\n");
  expect_refused(command + at("r.h5"), "is not the journal of a sweep");
  EXPECT_EQ(read_file(at("r.h5.journal")), "my notes\n");
  fs::remove(at("r.h5.journal"));
  file("plan.toml", "[[cases]]\nrun = \"score\"\nrecordings = \"x.h5\"\n");
  expect_refused(command + at("r.h5"), "plan.toml:3: cases.recordings: there is no file 'x.h5'");
  EXPECT_FALSE(fs::exists(at("r.h5")));
  EXPECT_FALSE(fs::exists(at("r.h5.journal")));
  EXPECT_EQ(read_file(mesh_), kTriangle);
}

TEST_F(SweepCommand, AChangedPlanDoesNotGoOnFromTheJournal) {
  const pid_t process = start("r", "--jobs 1");
  for (int i = 0; i < 200 && read_file(at("r.h5.journal")).size() < 500; ++i) ::usleep(10000);
  ::kill(process, SIGKILL);
  end_of(process);
  file("plan.toml", plan_of("1, 2"));
  const std::string journal = read_file(at("r.h5.journal"));
  expect_refused(arguments("r"), "belongs to another plan");
  EXPECT_EQ(read_file(at("r.h5.journal")), journal);
}

}  // namespace
}  // namespace trocar

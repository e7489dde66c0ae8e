// Tests the parts of a sweep: child processes that end, crash or hang, the journal, the table of results.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "app/sweep/case_runner.hpp"
#include "app/sweep/result_table.hpp"
#include "app/sweep/sweep_case.hpp"
#include "geometry/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

class SweepParts : public ::testing::Test {
 protected:
  // Runs one script as a case whose results are a curve in the file $0.
  CaseOutcome run(const std::string& script, double timeout = 60.0) {
    CaseRunner runner({"/bin/sh", folder_.path(), timeout, 1});
    runner.start({7, ResultKind::Curve, {{"-c", script, kScratchMark + std::string("result.csv")}}});
    EXPECT_EQ(runner.free(), 0u);
    for (;;)
      if (auto finished = runner.wait(std::chrono::milliseconds(200)); !finished.empty()) {
        EXPECT_EQ(runner.free(), 1u);
        return finished.front();
      }
  }

  TemporaryFolder folder_;
};

constexpr const char* kCurve = "printf 'strain,force_n\\n0.1,2\\n0.2,nan\\n' > $0";

TEST_F(SweepParts, ACaseHasTheValuesThatItsCommandWrites) {
  const CaseOutcome done = run(kCurve);
  EXPECT_EQ(done.number, 7u);
  EXPECT_EQ(done.status, CaseStatus::Done) << done.error;
  EXPECT_EQ(done.exit_status, 0);
  ASSERT_EQ(done.values.size(), 2u);
  EXPECT_EQ(done.values[0], std::pair(std::string("force_n at 0.1"), 2.0));
  EXPECT_TRUE(std::isnan(done.values[1].second));
  EXPECT_GT(done.memory_mib, 0.0);
  EXPECT_EQ(run("true").error, "the command ended without results that can be read");
  EXPECT_EQ(run("pwd > pwd; " + std::string(kCurve)).status, CaseStatus::Done);
  EXPECT_TRUE(fs::exists(folder_.path() / "pwd")) << "a case runs in the folder of the plan";
}

TEST_F(SweepParts, ACrashIsAnOutcome) {
  const CaseOutcome crashed = run("kill -SEGV $$");
  EXPECT_EQ(crashed.status, CaseStatus::Crashed);
  EXPECT_EQ(crashed.signal, SIGSEGV);
  EXPECT_EQ(crashed.exit_status, -1);
  EXPECT_EQ(crashed.error, "ended by signal 11 (SIGSEGV)");
}

TEST_F(SweepParts, ARefusalHasItsSentenceWithoutTheTemporaryFolder) {
  const CaseOutcome refused = run("echo working >&2; echo \"trocar: $0: is wrong\" >&2; exit 2");
  EXPECT_EQ(refused.status, CaseStatus::Refused);
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_EQ(refused.error, "result.csv: is wrong");
  const CaseOutcome failed = run(std::string(kCurve) + "; exit 1");
  EXPECT_EQ(failed.status, CaseStatus::Failed);
  EXPECT_EQ(failed.error, "the command gave no reason");
  EXPECT_EQ(failed.values.size(), 2u) << "a failed comparison has results";
}

TEST_F(SweepParts, ACaseThatTakesTooLongIsKilledWithItsChildren) {
  const auto start = std::chrono::steady_clock::now();
  const CaseOutcome hung = run("sleep 60 & echo $! > child; sleep 60", 1.0);
  EXPECT_EQ(hung.status, CaseStatus::TimedOut);
  EXPECT_EQ(hung.error, "a command took longer than 1 s");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  const std::string child = "/proc/" + std::to_string(std::stoi(read_file(folder_.path() / "child"))) + "/cmdline";
  for (int i = 0; i < 100 && !read_file(child).empty(); ++i) ::usleep(50000);
  EXPECT_EQ(read_file(child), "");
}

// The system kills processes when memory is short, and mpirun or Slurm kill all of a job.
TEST_F(SweepParts, ACaseThatIsKilledFromOutsideGetsASecondTry) {
  const std::string once = "if [ -e flag ]; then " + std::string(kCurve) + "; else touch flag; kill -KILL $$; fi";
  EXPECT_EQ(run(once).status, CaseStatus::Done);
  EXPECT_EQ(run("kill -TERM $$").signal, SIGTERM);
}

TEST_F(SweepParts, ACaseStopsAtItsFirstCommandThatFails) {
  CaseRunner runner({"/bin/sh", folder_.path(), 60.0, 2});
  runner.start({0, ResultKind::Curve, {{"-c", "exit 2"}, {"-c", "touch second"}}});
  runner.start({1, ResultKind::Curve, {{"-c", "touch first"}, {"-c", kCurve, "\x01result.csv"}}});
  std::size_t finished = 0;
  while (finished < 2)
    for (const CaseOutcome& outcome : runner.wait(std::chrono::milliseconds(200))) {
      EXPECT_EQ(outcome.status, outcome.number == 0 ? CaseStatus::Refused : CaseStatus::Done);
      ++finished;
    }
  EXPECT_FALSE(fs::exists(folder_.path() / "second"));
  EXPECT_TRUE(fs::exists(folder_.path() / "first"));
}

TEST_F(SweepParts, TheTemporaryFolderOfAKilledSweepIsRemoved) {
  const fs::path left = folder_.path() / "trocar-sweep-left", used = folder_.path() / "trocar-sweep-used";
  fs::create_directory(left), fs::create_directory(used);
  folder_.write("trocar-sweep-left/lock", ""), folder_.write("trocar-sweep-used/lock", "");
  const int lock = ::open((used / "lock").c_str(), O_RDWR);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  ::setenv("TMPDIR", folder_.path().c_str(), 1);
  fs::path own;
  {
    const ScratchFolder scratch, other;
    own = scratch.path();
    EXPECT_TRUE(fs::exists(own / "lock"));
  }
  before ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
  EXPECT_FALSE(fs::exists(own));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(used));
  ::close(lock);
}

CaseOutcome outcome(std::uint64_t number, std::vector<std::pair<std::string, double>> values = {}) {
  CaseOutcome made;
  made.number = number;
  made.values = std::move(values);
  return made;
}

class SweepJournal : public SweepParts {
 protected:
  const fs::path file_ = folder_.path() / "r.h5.journal";

  std::vector<std::uint64_t> numbers(std::uint64_t checksum = 5) {
    std::vector<std::uint64_t> found;
    for (const CaseOutcome& one : Journal(file_, checksum, 10).take_finished()) found.push_back(one.number);
    return found;
  }
  void expect_refused(const std::string& part, std::uint64_t checksum = 5) {
    const std::string before = read_file(file_);
    try {
      const Journal opened(file_, checksum, 10);
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    EXPECT_EQ(read_file(file_), before);
  }
};

TEST_F(SweepJournal, KeepsEveryOutcome) {
  CaseOutcome full = outcome(3, {{"a \"b\"", 0.1}, {"c", std::numeric_limits<double>::quiet_NaN()}});
  full.status = CaseStatus::Crashed, full.signal = 11, full.exit_status = -1, full.error = "line\nü",
  full.seconds = 1.5;
  Journal(file_, 5, 10).append(full);
  const auto finished = Journal(file_, 5, 10).take_finished();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(to_line(finished[0]), to_line(full));
  EXPECT_EQ(finished[0].values[0], full.values[0]);
  EXPECT_EQ(finished[0].error, full.error);
  EXPECT_EQ(finished[0].signal, 11);
}

// A killed process may have written a part of its last line, and of the first.
TEST_F(SweepJournal, GoesOnAtAnyByteWhereItWasCut) {
  {
    Journal journal(file_, 5, 10);
    for (const std::uint64_t number : {4, 2, 9}) journal.append(outcome(number, {{"a", 1.0}}));
  }
  const std::string whole = read_file(file_);
  EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{4, 2, 9}));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    folder_.write("r.h5.journal", whole.substr(0, size));
    const std::size_t complete = numbers().size();
    EXPECT_LE(complete, 2u);
    Journal(file_, 5, 10).append(outcome(7));
    EXPECT_EQ(numbers().size(), complete + 1) << size;
  }
}

TEST_F(SweepJournal, ALineThatIsDamagedOrRepeatedDoesNotCount) {
  {
    Journal journal(file_, 5, 10);
    for (const std::uint64_t number : {4, 2, 2, 9}) journal.append(outcome(number));
  }
  std::string text = read_file(file_);
  text[text.find("\"case\":4") + 7] = '5';
  folder_.write("r.h5.journal", text);
  EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{2, 9}));
}

TEST_F(SweepJournal, RefusesAnotherPlanAForeignFileAndASecondWriter) {
  { Journal(file_, 5, 10).append(outcome(1)); }
  expect_refused("belongs to another plan", 6);
  {
    const Journal held(file_, 5, 10);
    expect_refused("another sweep is writing");
  }
  folder_.write("r.h5.journal", "my notes\n");
  expect_refused("is not the journal of a sweep");
  fs::remove(file_);
  fs::create_directory(file_);
  EXPECT_THROW(Journal(file_, 5, 10), InputError);
}

TEST_F(SweepParts, TheTableDoesNotDependOnTheOrderOfTheCases) {
  const Plan plan = load_plan(folder_.write(
      "p.toml", "[[cases]]\nrun = \"tissue\"\nmodulus = [1, 2, 3]\n[[cases]]\nrun = \"tissue\"\nsteps = \"1..5\"\n"));
  std::vector<CaseOutcome> outcomes;
  for (std::uint64_t i = 0; i < plan.cases; ++i) {
    outcomes.push_back(outcome(i, {{"x" + std::to_string(i % 3), 0.1 * static_cast<double>(i)}, {"all", 1.0}}));
    outcomes.back().seconds = static_cast<double>(i);
  }
  outcomes[4].values.clear();
  outcomes[4].status = CaseStatus::Refused, outcomes[4].exit_status = 2, outcomes[4].error = "a, \"b\"";
  std::string csv, hdf5;
  std::mt19937 random(3);
  for (int round = 0; round < 10; ++round) {
    ResultTable table(plan);
    for (CaseOutcome& one : outcomes) one.seconds += 1.0, table.add(one);
    std::ostringstream out;
    table.write_csv(out);
    if (round == 0) csv = out.str(), hdf5 = table.hdf5();
    EXPECT_EQ(out.str(), csv);
    EXPECT_EQ(table.hdf5(), hdf5);
    EXPECT_EQ(table.not_done(), 1u);
    for (std::size_t i = outcomes.size() - 1; i > 0; --i) std::swap(outcomes[i], outcomes[random() % (i + 1)]);
  }
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "case,group,run,status,exit_status,signal,error,modulus_kpa,steps,x0,all,x1,x2");
  EXPECT_NE(csv.find("\n4,2,tissue,refused,2,,\"a, \"\"b\"\"\",,2,,,,\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\n1,1,tissue,done,0,,,2,,,1,0.1,\n"), std::string::npos) << csv;
  EXPECT_EQ(hdf5.substr(0, 15), "Trocar sweep 1\n");
}

}  // namespace
}  // namespace trocar

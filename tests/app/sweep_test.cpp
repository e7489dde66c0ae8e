// Tests sweeps: the plan, the parts that run its cases, and trocar sweep as a user runs it.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "app/sweep/case_runner.hpp"
#include "app/sweep/plan.hpp"
#include "app/sweep/result_table.hpp"
#include "app/sweep/sweep_case.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/h5_file.hpp"
#include "tests/app/run_program.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Tests the plan of a sweep: the order of crossed lists, patterns and ranges, and what is refused with which sentence.

class SweepPlan : public ::testing::Test {
 protected:
  SweepPlan() {
    for (const char* name : {"b.h5", "a.h5", "c.txt", ".hidden.h5"}) folder_.write(name, "x");
    folder_.write("s.toml", "x");
  }

  Plan plan(const std::string& text) { return load_plan(folder_.write("plan.toml", text)); }

  void expect_refused(const std::string& text, const std::string& part) {
    try {
      plan(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const InputError& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find("plan.toml"), std::string::npos) << what;
      EXPECT_NE(what.find(part), std::string::npos) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    }
  }

  std::string line(const Plan& plan, std::uint64_t number) {
    std::string text;
    for (const auto& command : case_of(plan, number).commands) {
      for (const std::string& word : command) text += (word[0] == kScratchMark ? "@" + word.substr(1) : word) + " ";
      text += "; ";
    }
    return text;
  }

  TemporaryFolder folder_;
};

TEST_F(SweepPlan, LevelsOfATaskAreAList) {
  const std::string perform = "[[cases]]\nrun = \"perform\"\nscenes = \"s.toml\"\n";
  const Plan p = plan(perform + "levels = \"1..3\"\nseeds = [4, 5]\n");
  ASSERT_EQ(p.cases, 6u);
  EXPECT_EQ(line(p, 3), "perform s.toml --level 2 --seed 5 --out @s.h5 ; score @s.h5 --json @result.json ; ");
  expect_refused(perform + "levels = [0]\n", "outside its limits 1 to 100");
  expect_refused(perform + "levels = [1.5]\n", "not a whole number");
}

TEST_F(SweepPlan, TheLastListVariesFastest) {
  const Plan p = plan(
      "timeout_s = 5\n[[cases]]\nrun = \"perform\"\nseeds = [\"2..3\", 9]\nas = [\"expert\", \"clumsy\"]\n"
      "scenes = \"s.toml\"\n[[cases]]\nrun = \"replay\"\nrecordings = \"*.h5\"\nbackends = [\"scan\", \"obb\"]\n");
  EXPECT_EQ(p.timeout, 5.0);
  ASSERT_EQ(p.cases, 10u);
  EXPECT_EQ(line(p, 0), "perform s.toml --as expert --seed 2 --out @s.h5 ; score @s.h5 --json @result.json ; ");
  EXPECT_EQ(line(p, 2), "perform s.toml --as expert --seed 9 --out @s.h5 ; score @s.h5 --json @result.json ; ");
  EXPECT_EQ(line(p, 3), "perform s.toml --as clumsy --seed 2 --out @s.h5 ; score @s.h5 --json @result.json ; ");
  EXPECT_EQ(line(p, 6), "replay a.h5 --backend scan --json @result.json ; ");
  EXPECT_EQ(line(p, 7), "replay a.h5 --backend obb --json @result.json ; ");
  EXPECT_EQ(line(p, 9), "replay b.h5 --backend obb --json @result.json ; ");
  EXPECT_EQ(&group_of(p, 5), &p.groups[0]);
  EXPECT_EQ(&group_of(p, 6), &p.groups[1]);
}

TEST_F(SweepPlan, NumbersKeepTheirValueAndFlagsHaveNone) {
  const Plan p =
      plan("[[cases]]\nrun = \"tissue\"\nmodulus = [0.1, 1e3]\nsteps = \"1..2\"\nreference = true\nstick = false\n");
  ASSERT_EQ(p.cases, 4u);
  EXPECT_EQ(line(p, 1), "tissue test --modulus 0.1 --steps 2 --reference --out @result.csv ; ");
  EXPECT_EQ(line(p, 2), "tissue test --modulus 1000 --steps 1 --reference --out @result.csv ; ");
}

TEST_F(SweepPlan, ComparisonsTakeRecordingsOrMeshesWithTrajectories) {
  folder_.write("m.obj", "x"), folder_.write("t.csv", "x");
  const std::string compare = "[[cases]]\nrun = \"compare\"\nbackends = \"scan,obb\"\n";
  const std::string meshes = compare + "meshes = \"m.obj\"\ntrajectories = \"t.csv\"\n";
  const Plan p = plan(meshes + "radii = [2.5, 5]\nsets = [\"exact\", \"volume\"]\nwobble = 0\n");
  ASSERT_EQ(p.cases, 4u);
  EXPECT_EQ(line(p, 1),
            "compare --mesh m.obj --trajectory t.csv --radius 2.5 --set volume --wobble 0 --backends "
            "scan,obb --json @result.json ; ");
  expect_refused(compare, "cases.meshes: is missing; give recordings, or meshes, trajectories and radii");
  expect_refused(meshes, "cases.radii: is missing");
  expect_refused(compare + "recordings = \"a.h5\"\nradii = 5\n", "plan.toml:5: cases.radii: a recording has its own");
}

TEST_F(SweepPlan, AFileNameIsNeverAnOption) {
  folder_.write("-x.h5", "x");
  EXPECT_EQ(line(plan("[[cases]]\nrun = \"score\"\nrecordings = \"-x.h5\"\n"), 0),
            "score ./-x.h5 --json @result.json ; ");
}

TEST_F(SweepPlan, APatternMatchesNamesWithAStar) {
  EXPECT_TRUE(matches("*.h5", "a.h5"));
  EXPECT_TRUE(matches("a*b*c", "a--b-bc"));
  EXPECT_TRUE(matches("*", "a"));
  EXPECT_TRUE(matches("a**", "a"));
  EXPECT_TRUE(matches(".*", ".a"));
  EXPECT_FALSE(matches("*", ".a"));
  EXPECT_FALSE(matches("*.h5", "a.h5x"));
  EXPECT_FALSE(matches("a*b", "a"));
  EXPECT_FALSE(matches("[ab]", "a"));
}

TEST_F(SweepPlan, RefusesWithFileLineAndRemedy) {
  const std::string score = "[[cases]]\nrun = \"score\"\n", tissue = "[[cases]]\nrun = \"tissue\"\n";
  const std::string perform = "[[cases]]\nrun = \"perform\"\nscenes = \"s.toml\"\n";
  expect_refused("", "add [[cases]]");
  expect_refused("cases = 1\n", "plan.toml:1: cases: must be a list of tables");
  expect_refused("[[cases]]\n", "run: is missing");
  expect_refused("[[cases]]\nrun = \"fly\"\n", "plan.toml:2: cases.run: must be one of replay, score");
  expect_refused(score, "recordings: is missing");
  expect_refused(score + "recordings = []\n", "plan.toml:3: cases.recordings: is an empty list");
  expect_refused(score + "recordings = [1]\n", "must be text in quotes");
  expect_refused(score + "recordings = \"none.h5\"\n", "there is no file 'none.h5'");
  expect_refused(score + "recordings = \"x*.h5\"\n", "no file matches 'x*.h5'");
  expect_refused(score + "recordings = \"*/a.h5\"\n", "in the name of a folder");
  expect_refused(score + "recordings = \"a\\u0001.h5\"\n", "control characters");
  expect_refused(score + "recordings = \"a.h5\"\nseeds = 1\n", "plan.toml:4: cases.seeds: is not a key");
  expect_refused(tissue + "modulus = 0\n", "outside its limits");
  expect_refused(tissue + "modulus = nan\n", "finite");
  expect_refused(tissue + "modulus = \"1..3\"\n", "is not a number");
  expect_refused(tissue + "steps = 1.5\n", "is not a whole number");
  expect_refused(tissue + "steps = \"3..1\"\n", "is not a range");
  expect_refused(tissue + "steps = \"1..x\"\n", "is not a range");
  expect_refused(tissue + "shapes = \"ball\"\n", "must be one of cylinder, block, beam, mesh");
  expect_refused(tissue + "stick = 1\n", "must be true or false");
  expect_refused(perform + "seeds = -1\n", "outside its limits 0 to 4294967295");
  expect_refused(perform + "seeds = \"0..4294967295\"\n", "divide the plan");
  expect_refused(perform + "seeds = \"1..1000\"\nanatomy = \"1..1001\"\n", "more than 1000000 cases");
  expect_refused(perform + "backends = \"fast\"\n", "'fast' is not a backend");
  expect_refused(perform + "backends = \"scan,obb\"\n", "only `compare`");
  expect_refused(perform + "faults = \"tremor\"\nas = \"expert\"\n", "leave out `as`");
  expect_refused(perform + "dose = 1\n", "add `faults`");
  expect_refused("timeout_s = 0\n" + score, "plan.toml:1: timeout_s: 0 is outside its limits");
  expect_refused("schema = 2\n" + score, "schema");
  expect_refused("jobs = 2\n" + score, "plan.toml:1: jobs: is not a key");
  expect_refused("a = " + std::string(40, '[') + "\n", "brackets nested");
}

TEST_F(SweepPlan, TheChecksumSeesEveryCaseAndEveryFile) {
  const std::string text = "[[cases]]\nrun = \"replay\"\nrecordings = [\"a.h5\", \"b.h5\"]\nbackends = \"scan\"\n";
  const std::uint64_t sum = checksum_of(plan(text));
  EXPECT_EQ(checksum_of(plan("# a comment\ntimeout_s = 9\n" + text)), sum);
  EXPECT_NE(checksum_of(plan("[[cases]]\nrun = \"replay\"\nrecordings = [\"b.h5\", \"a.h5\"]\nbackends = \"scan\"\n")),
            sum);
  EXPECT_NE(checksum_of(plan("[[cases]]\nrun = \"compare\"\nrecordings = [\"a.h5\", \"b.h5\"]\nbackends = \"scan\"\n")),
            sum);
  folder_.write("a.h5", "longer");
  EXPECT_NE(checksum_of(plan(text)), sum);
}

// Returns the rows of docs/file-formats.md that describe the lists of a plan.
std::string documented_lists() {
  std::string text;
  for (const RunRow& run : run_table())
    for (const ParameterRow& row : run.parameters) {
      std::string values = "files";
      if (row.kind == ParameterKind::Word)
        values = row.words.empty() ? "texts" : fmt::format("`{}`", fmt::join(row.words, " "));
      if (row.kind == ParameterKind::Number || row.kind == ParameterKind::Whole)
        values = fmt::format("{}numbers, {:.10g} to {:.10g}", row.kind == ParameterKind::Whole ? "whole " : "",
                             row.limits.low, row.limits.high);
      if (row.kind == ParameterKind::Backends) values = "backends";
      if (row.kind == ParameterKind::Flag) values = "true or false";
      text += fmt::format("| {} | `{}` | `{}` | {}{} |\n",
                          &row == run.parameters.data() ? fmt::format("`{}`", run.name) : "", row.key, row.column,
                          values, row.required ? ", required" : "");
    }
  return text;
}

TEST_F(SweepPlan, TheDocumentListsEveryKey) {
  const std::string document = read_file(repository_file("docs/file-formats.md"));
  const std::string begin = "<!-- lists of a plan: begin -->\n", end = "<!-- lists of a plan: end -->";
  const std::size_t from = document.find(begin), to = document.find(end);
  ASSERT_NE(from, std::string::npos);
  const std::string shown = document.substr(from + begin.size(), to - from - begin.size());
  EXPECT_EQ(shown, "| run | list | column | values |\n|---|---|---|---|\n" + documented_lists());
}

// Tests the parts of a sweep: child processes that end, crash or hang, the journal, the table of results.

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
  made.number = number, made.values = std::move(values);
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

// Tests trocar sweep as a user runs it: the same bytes for every number of jobs and after any kill, what it refuses,
// and that it leaves nothing behind. A shell script stands for the program where its cost would count.

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

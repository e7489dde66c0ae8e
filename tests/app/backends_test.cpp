// Tests the backends: their table, how `auto` times and chooses, and the verdicts on triangles with a known answer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "app/compare/backends.hpp"
#include "cpu_collision/queries.hpp"
#include "geometry/error.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Tests the table of the backends: the names on which recordings rely, and the documents and help texts that list them.

TEST(BackendTable, NamesAndTheirOrderStay) {
  const std::vector<std::string> names = {
      "compute",      "occlusion", "select",       "scan",        "aabb-refit",   "aabb",         "sphere-refit",
      "sphere",       "obb-refit", "obb",          "kdop6-refit", "kdop6",        "kdop14-refit", "kdop14",
      "kdop18-refit", "kdop18",    "kdop26-refit", "kdop26",      "quospo-refit", "quospo",       "bsp"};
  EXPECT_EQ(backend_names(), names);
}

TEST(BackendTable, EveryNameMakesTheBackendOfThatName) {
  Backends backends;
  std::vector<std::string> names = backend_names();
  for (const char* name : {"aabb:median", "aabb:octree-refit", "sphere:mean-refit", "kdop26:middle"})
    names.emplace_back(name);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    EXPECT_EQ(backends.resolve(name, {}).name, name);
    if (!backends.context() && (name == "compute" || name == "occlusion" || name == "select")) continue;
    EXPECT_EQ(backends.make(name)->name(), name);
  }
  for (const char* name : {"", "all", "obb:median", "bsp-refit", "scan-refit", "SCAN"})
    EXPECT_THROW(backends.make(name), InputError) << name;
}

TEST(BackendTable, HelpListsEveryBackend) {
  const std::string help = backend_help();
  for (const std::string& name : backend_names()) EXPECT_NE(help.find("  " + name + " "), std::string::npos) << name;
}

// The rows of the table in docs/architecture.md.
std::vector<std::string> documented_rows() {
  std::ifstream in(repository_file("docs/architecture.md"));
  std::string line;
  while (std::getline(in, line) && line != "| backend | room | needs | use it for |") {
  }
  std::getline(in, line);
  std::vector<std::string> rows;
  while (std::getline(in, line) && line.starts_with("|")) rows.push_back(line);
  return rows;
}

TEST(BackendTable, TheDocumentHasTheSameRows) {
  std::vector<std::string> rows;
  for (const BackendRow& row : backend_table())
    rows.push_back(fmt::format("| `{}` | `{}` | {} | {} |", row.name, row.room, row.needs, row.use));
  EXPECT_EQ(documented_rows(), rows);
}

// Tests how `auto` times backends and chooses one: with backends that sleep, fail or are missing.

// A scan that takes longer, or reports a fault.
class SlowQuery final : public TouchQuery {
 public:
  SlowQuery(int milliseconds, TouchFault fault, int& calls)
      : delay_(milliseconds), fault_(fault), calls_(calls), scan_(make_scan_query()) {}
  std::string_view name() const override { return "slow"; }
  void rebuild(const MeshView& mesh) override { scan_->rebuild(mesh); }
  void update(std::span<const glm::vec3> positions) override { scan_->update(positions); }
  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override {
    ++calls_;
    std::this_thread::sleep_for(delay_);
    const TouchList list = scan_->touched(tools, set);
    touches += list.touches.size();
    return list;
  }
  TouchFault fault() const override { return fault_; }
  const StageTimes& times() const override { return scan_->times(); }
  std::size_t memory_bytes() const override { return 0; }

  static inline std::size_t touches = 0;

 private:
  std::chrono::milliseconds delay_;
  TouchFault fault_;
  int& calls_;
  std::unique_ptr<TouchQuery> scan_;
};

class SomeBackends final : public BackendMaker {
 public:
  const std::vector<std::string>& names() const override { return names_; }
  std::unique_ptr<TouchQuery> make(std::string_view name) override {
    if (name == "missing") throw InputError("not on this machine");
    if (name == "uncompiled") throw RunError("shader: the driver cannot compile it");
    const int milliseconds = name == "fast" ? 1 : name == "slow" ? 3 : 30;
    return std::make_unique<SlowQuery>(milliseconds, name == "broken" ? TouchFault::DriverError : TouchFault::None,
                                       calls[std::string(name)]);
  }
  BackendChoice resolve(std::string_view name, std::span<const MeshView>) override { return {std::string(name), ""}; }

  std::map<std::string, int> calls;

 private:
  std::vector<std::string> names_{"slow", "fast", "very slow", "broken", "missing", "uncompiled"};
};

TEST(BackendTrials, TheFastestIsChosenWithTheTimesAsReason) {
  const TriangleMesh mesh = shapes::icosphere(3);
  const MeshView organs[] = {mesh.view(), mesh.view()};
  SomeBackends backends;
  SlowQuery::touches = 0;
  const auto trials = time_backends(backends, backends.names(), organs);
  EXPECT_GT(SlowQuery::touches, 100u) << "the instrument must touch the organs";
  ASSERT_EQ(trials.size(), 6u);
  EXPECT_EQ(trials[0].frames, 20);
  EXPECT_EQ(trials[1].frames, 20);
  EXPECT_EQ(trials[2].frames, 3) << "much slower";
  EXPECT_EQ(trials[3].frames, 0) << "reports a fault";
  EXPECT_EQ(trials[4].frames, 0) << "not on this machine";
  EXPECT_EQ(trials[5].frames, 0) << "its shaders do not compile";
  EXPECT_EQ(backends.calls["very slow"], 2 * (3 + 3));
  EXPECT_GE(trials[1].median_ms, 2.0) << "both organs count";
  const BackendChoice choice = fastest(trials);
  EXPECT_EQ(choice.name, "fast");
  EXPECT_NE(choice.why.find("the fastest on these organs (ms per frame: slow "), std::string::npos) << choice.why;
  EXPECT_NE(choice.why.find(", very slow "), std::string::npos) << choice.why;
  EXPECT_EQ(choice.why.find("broken"), std::string::npos) << choice.why;
}

TEST(BackendTrials, WithoutAWorkingBackendThereIsAMessage) {
  const BackendTrial trials[] = {{"compute"}, {"scan"}};
  EXPECT_THROW(fastest(trials), InputError);
}

TEST(BackendTrials, BackendsOfThisProgramWork) {
  const TriangleMesh mesh = shapes::icosphere(4);
  const MeshView organs[] = {mesh.view()};
  Backends backends;
  const std::string names[] = {"scan", "compute", "occlusion", "aabb-refit"};
  for (const BackendTrial& trial : time_backends(backends, names, organs)) {
    std::printf("%s: %.3f ms, %d frames\n", trial.name.c_str(), trial.median_ms, trial.frames);
    const bool gl = trial.name == "compute" || trial.name == "occlusion";
    EXPECT_TRUE(trial.frames > 0 || (gl && !backends.context())) << trial.name;
  }
}

// Without a GPU `scan` is chosen without a trial; a trial needs organs.
TEST(BackendTrials, AutoSaysWhy) {
  const TriangleMesh mesh = shapes::icosphere(3);
  const MeshView organs[] = {mesh.view()};
  Backends backends;
  const BackendChoice choice = backends.resolve("auto", organs);
  EXPECT_FALSE(choice.why.empty());
  if (!backends.context() || backends.context()->info().software) {
    EXPECT_EQ(choice.name, "scan");
  } else {
    EXPECT_NE(choice.why.find("ms per frame"), std::string::npos) << choice.why;
  }
}

// Tests the verdicts on the two known triangles: backends of this program, and backends that answer wrongly or fail.

// A scan that answers nothing, or has a fault.
class BadQuery final : public TouchQuery {
 public:
  explicit BadQuery(TouchFault fault) : fault_(fault), scan_(make_scan_query()) {}
  std::string_view name() const override { return "bad"; }
  void rebuild(const MeshView& mesh) override { scan_->rebuild(mesh); }
  void update(std::span<const glm::vec3> positions) override { scan_->update(positions); }
  TouchList touched(std::span<const ToolVolume>, TouchSet) override { return {}; }
  TouchFault fault() const override { return fault_; }
  const StageTimes& times() const override { return scan_->times(); }
  std::size_t memory_bytes() const override { return 0; }

 private:
  TouchFault fault_;
  std::unique_ptr<TouchQuery> scan_;
};

class BadBackends final : public BackendMaker {
 public:
  const std::vector<std::string>& names() const override { return names_; }
  std::unique_ptr<TouchQuery> make(std::string_view name) override {
    if (name == "missing") throw InputError("not on this machine");
    if (name == "uncompiled") throw RunError("shader: the driver cannot compile it");
    return std::make_unique<BadQuery>(name == "lost" ? TouchFault::LostContext : TouchFault::None);
  }
  BackendChoice resolve(std::string_view name, std::span<const MeshView>) override { return {std::string(name), ""}; }

 private:
  std::vector<std::string> names_{"empty", "lost", "missing", "uncompiled"};
};

TEST(KnownCase, EveryBackendOfThisProgramWorksOrIsNotAvailable) {
  Backends backends;
  for (const BackendRow& row : backend_table()) {
    const std::string verdict = verdict_on_known_case(backends, row.name);
    EXPECT_TRUE(verdict.starts_with("works (") || (row.needs != "CPU" && verdict.starts_with("not available: ")))
        << row.name << ": " << verdict;
  }
}

TEST(KnownCase, TellsWrongFailedAndMissingApart) {
  BadBackends backends;
  EXPECT_EQ(verdict_on_known_case(backends, "empty"), "WRONG: the touched faces differ from the known answer");
  EXPECT_TRUE(verdict_on_known_case(backends, "lost").starts_with("FAILS: "));
  EXPECT_EQ(verdict_on_known_case(backends, "missing"), "not available: not on this machine");
  EXPECT_EQ(verdict_on_known_case(backends, "uncompiled"), "FAILS: shader: the driver cannot compile it");
}

TEST(KnownCase, AnUnknownNameIsRefused) {
  Backends backends;
  EXPECT_THROW(verdict_on_known_case(backends, "nothing"), InputError);
}

}  // namespace
}  // namespace trocar

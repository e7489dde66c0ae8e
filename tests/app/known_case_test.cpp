// Tests the verdicts on the two known triangles: backends of this program, and backends that answer wrongly or fail.
#include "app/compare/backends.hpp"

#include <gtest/gtest.h>

#include "cpu_collision/queries.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

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

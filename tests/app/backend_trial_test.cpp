// Tests how `auto` times backends and chooses one: with backends that sleep, fail or are missing.
#include "app/compare/backends.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "cpu_collision/queries.hpp"
#include "geometry/error.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

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

}  // namespace
}  // namespace trocar

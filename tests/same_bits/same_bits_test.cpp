// The same bits everywhere: one hash of a tissue run, of a query run, of performed tasks and of their scores. The
// constants hold for plain, AVX2 and AVX-512 kernels (tests/same_bits/CMakeLists.txt runs every case with each), for
// one thread and four, for gcc and clang, unoptimised and optimised (tests/same_bits/other_compilers.sh). A change that
// moves results on purpose: run the test, copy the hashes that it prints into golden.hpp, and say so in the commit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "app/compare/frame_source.hpp"
#include "app/compare/random_motion.hpp"
#include "app/record/recording.hpp"
#include "app/score/score_recording.hpp"
#include "app/session/session_recorder.hpp"
#include "app/task/performer.hpp"
#include "app/task/session_observer.hpp"
#include "cpu_collision/queries.hpp"
#include "deform/grasp.hpp"
#include "deform/tissue.hpp"
#include "geometry/instructions.hpp"
#include "tests/app/task_support.hpp"
#include "tests/same_bits/golden.hpp"

namespace trocar {
namespace {

// FNV-1a over the bits of values, never over padding.
class Hash {
 public:
  template <std::integral Whole>
  void add(Whole whole) {
    auto bits = static_cast<std::uint64_t>(whole);
    for (int byte = 0; byte < 8; ++byte, bits >>= 8) value_ = (value_ ^ (bits & 0xff)) * 1099511628211ull;
  }
  void add(double value) {
    add(std::isnan(value) ? std::uint64_t{0x7ff8000000000000} : std::bit_cast<std::uint64_t>(value));
  }
  void add(const glm::vec3& v) { add(double(v.x)), add(double(v.y)), add(double(v.z)); }
  void add(const glm::dvec3& v) { add(v.x), add(v.y), add(v.z); }
  void add(const Touch& touch) {
    add(index(touch.face));
    add(touch.point), add(touch.normal), add(double(touch.depth)), add(double(touch.time));
  }
  template <typename Value>
  void add_all(const Value& values) {
    for (const auto& value : values) add(value);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037ull;
};

void expect_golden(const char* run, const Hash& hash, std::uint64_t golden) {
  std::printf("golden hash of the %s: 0x%016llx\n", run, static_cast<unsigned long long>(hash.value()));
  EXPECT_EQ(hash.value(), golden) << run;
}

class SameBits : public ::testing::Test {
 protected:
  void SetUp() override {
    static constexpr const char* kNames[] = {"plain", "avx2", "avx512"};
    const char* wanted = std::getenv("TROCAR_INSTRUCTIONS");
    const char* used = kNames[static_cast<int>(instructions())];
    if (wanted && std::strcmp(wanted, used) != 0)
      GTEST_SKIP() << "SKIPPED: this processor has no " << wanted << " instructions";
    std::printf("instructions: %s\n", used);
  }
};

// Pressed into collapse, held, pulled and turned by jaws, hung on ligaments, breathing.
TEST_F(SameBits, TissueRun) {
  const TriangleMesh ball = shapes::icosphere(4, 0.05f);
  TissueParams params;
  params.node_spacing = 0.01f;
  const Attachment attachments[] = {{{0.f, -0.05f, 0.f}, 0.02f, 0.f, true}, {{0.05f, 0.f, 0.f}, 0.02f, 60.f, false}};
  const TissueModel model = make_tissue(ball.view(), params, attachments, {0.004f, 0.3f, {0.3f, 1.f, -0.2f}});
  TissueState state = rest_state(model);
  std::vector<glm::vec3> surface = ball.positions;
  GraspParams grasp_params;
  Grasp grasp;
  Hash hash;
  float flattest = 1.f;
  for (int frame = 0; frame < 300; ++frame) {
    const double press = 0.0006 * std::min(frame % 100, 60), pull = 0.0004 * std::max(frame - 100, 0) * (frame < 200);
    const ToolStep probe{{0.0, 0.0, 0.2}, {0.0, 0.0, 0.053 - press}, {0.0, 0.0, 0.053 - press}, 0.006};
    std::vector<TissueContact> contacts;
    for (std::uint32_t v = 0; v < surface.size(); ++v)
      if (std::hypot(surface[v].x, surface[v].y) < 0.008f && surface[v].z > 0.f)
        contacts.push_back({0, v, {0.f, 0.f, 1.f}});
    const ToolStep jaws{{-0.2, 0.1, 0.0}, {-0.05 - pull, 0.0, 0.0}, {-0.05 - pull - 0.0004, 0.0, 0.0}, 0.003};
    move_jaws(grasp_params, {jaws.pivot, jaws.tip_before, 0.003}, frame < 40 || frame > 250 ? 1.0 : 0.0, model, surface,
              grasp);
    std::vector<TissueHold> holds;
    add_holds(grasp_params, jaws, 0.7, grasp, holds);
    hash.add(step(model, state, {{&probe, 1}, contacts, holds}, 1.f / 60.f));
    settle_grasp(grasp_params, state, jaws, 0, grasp);
    embed_surface(model, state.x, surface);
    hash.add_all(state.x), hash.add_all(state.v), hash.add_all(surface), hash.add(grasp.pull);
    flattest = std::min(flattest, state.scratch.flattest);
    if (frame == 100) {
      EXPECT_TRUE(grasp.holding());
      EXPECT_FALSE(contacts.empty());
    }
  }
  EXPECT_LT(flattest, 0.5f) << "nothing was crushed: unfolding is not covered";
  expect_golden("tissue run", hash, golden::kTissue);
}

// Random motions of a tool over a wobbling organ: the scan with this processor's kernels, and a tree.
TEST_F(SameBits, QueryRun) {
  const TriangleMesh ball = shapes::icosphere(4, 0.06f);
  for (const bool scan : {true, false}) {
    const auto query = scan ? make_scan_query() : make_surface_tree(*tree_plan("obb-refit"));
    query->rebuild(ball.view());
    Hash hash;
    std::size_t touched = 0;
    for (const TouchSet set : {TouchSet::Exact, TouchSet::Volume}) {
      const auto source = make_mesh_source(ball, random_motion(11, ball.view(), 400), 0.004,
                                           {ToolMode::Swept, Cover::Capsule, set}, 0.02);
      for (std::size_t frame = 0; frame < source->frame_count(); ++frame) {
        source->load(frame);
        query->update(source->positions(0));
        const TouchList list = query->touched(source->tools(), set);
        touched += list.touches.size();
        for (const Touch& touch : list.touches) set == TouchSet::Exact ? hash.add(touch) : hash.add(index(touch.face));
      }
    }
    EXPECT_GT(touched, 10000u);
    expect_golden(scan ? "query run, scan" : "query run, tree", hash, golden::kQuery);
  }
}

struct Performance {
  Hash state, score;
};

void add_frame(const Session& session, const TaskFeed& feed, Hash& hash) {
  for (const Organ& organ : session.organs()) {
    hash.add_all(organ.state.x), hash.add_all(organ.state.v), hash.add_all(organ.positions);
    hash.add(organ.topology);
    for (const glm::uvec3& face : organ.mesh.faces) hash.add(glm::dvec3(face));
    hash.add_all(organ.touches.touches);
    for (const float damage : organ.damage.peak) hash.add(double(damage));
  }
  for (const Instrument& instrument : session.instruments()) {
    hash.add(instrument.pose.pivot), hash.add(instrument.pose.tip), hash.add(instrument.force);
    hash.add(instrument.roll_deg), hash.add(instrument.grip);
  }
  hash.add(session.scope().pose.eye), hash.add(session.scope().pose.spin_deg);
  hash.add_all(session.marks());
  hash.add(feed.progress), hash.add(feed.score);
}

void add_metrics(const std::vector<Metric>& metrics, Hash& hash) {
  for (const Metric& metric : metrics) hash.add(metric.value);
}

Performance perform(const std::string& name, int threads) {
  const TemporaryFolder folder;
  Scene scene = test::coarse_scene(name, folder);
  scene.task->time_good = 5.0, scene.task->time_limit = 9.0;
  scene.solver.threads = threads;
  Performer performer(scene, Skill::Clumsy, 7);
  Backends backends;
  Session session(scene, backends, "scan", {},
                  [&](const InstrumentScene& instrument) { return performer.device_of(instrument.name); });
  session.set_scope_device(performer.scope_device());
  const TaskStage stage = stage_of(session);
  TaskRun task(*scene.task, stage);
  session.set_marks(task.marks());
  performer.begin(stage, task.marks());
  const auto file = folder.path() / "attempt.h5";
  SessionRecorder recorder(file, scene, session, "none");
  SessionObserver observer;
  Performance performance;
  const double dt = 1.0 / scene.frame_rate;
  for (std::size_t frame = 0; !task.feed().finished; ++frame) {
    const double time = static_cast<double>(frame) * dt;
    session.step({frame, time}, dt);
    recorder.append(session, time);
    const Observation& seen = observer.observe(session, time);
    task.step(seen);
    performer.see(seen, task.feed());
    add_frame(session, task.feed(), performance.state);
  }
  recorder.close();
  const Attempt attempt = score_recording(Recording(file), "attempt");
  add_metrics(attempt.overall, performance.score);
  for (const InstrumentScore& instrument : attempt.instruments) add_metrics(instrument.metrics, performance.score);
  EXPECT_TRUE(attempt.task.has_value());
  if (attempt.task) add_metrics(attempt.task->parts, performance.score), performance.score.add(attempt.task->score);
  return performance;
}

void expect_golden_performance(const std::string& scene, const golden::Performance& expected) {
  for (const int threads : {1, 4}) {
    const Performance made = perform(scene, threads);
    const std::string run = scene + " with " + std::to_string(threads) + " threads";
    expect_golden((run + ", state").c_str(), made.state, expected.state);
    expect_golden((run + ", score").c_str(), made.score, expected.score);
  }
}

TEST_F(SameBits, PerformAndScoreLift) { expect_golden_performance("lift_gallbladder", golden::kLift); }
TEST_F(SameBits, PerformAndScoreBurn) { expect_golden_performance("burn_line", golden::kBurn); }
TEST_F(SameBits, PerformAndScoreCamera) { expect_golden_performance("navigate_camera", golden::kCamera); }

}  // namespace
}  // namespace trocar

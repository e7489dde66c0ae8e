// Tests backends: each against the reference, their table and choice, and the shape of an instrument.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "app/compare/backends.hpp"
#include "app/compare/compare.hpp"
#include "app/compare/frame_source.hpp"
#include "app/compare/shape_touch.hpp"
#include "cpu_collision/queries.hpp"
#include "cpu_collision/reference.hpp"
#include "geometry/error.hpp"
#include "geometry/part.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/device/tool_shape.hpp"
#include "sim/support/progress.hpp"
#include "study/shapes/superquadric.hpp"
#include "tests/cpu_collision/random_parts.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/gpu_collision/query_checks.hpp"
#include "tests/support/broken_meshes.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Compares every backend with the double-precision reference, and tests the texts of a comparison.

// Compares every backend with the double-precision reference: all modes, covers and sets, on random motions over the
// built-in organs and on a scanned liver with a recorded instrument. The long version is bench/agreement.cpp.

// Returns the number of touched faces, summed over all backends.
std::uint64_t expect_agreement(const TriangleMesh& mesh, Trajectory motion, const QueryKind& kind, Backends& backends) {
  const auto source = make_mesh_source(mesh, std::move(motion), 0.0025, kind, 0.02);
  const CompareReport report = compare_backends(*source, backend_list("all", backends), backends, [](std::size_t) {});
  std::uint64_t touched = 0;
  for (const auto& backend : report.backends) {
    EXPECT_EQ(backend.disagreements, 0u) << backend.name << " " << name_of(kind.mode) << " " << name_of(kind.cover)
                                         << " " << name_of(kind.set);
    touched += backend.touched;
  }
  return touched;
}

TEST(Agreement, RandomMotionsOverOurOrgans) {
  Backends backends;
  const TriangleMesh organs[] = {load_mesh(repository_file("data/organs/liver.obj")),
                                 load_mesh(repository_file("data/organs/stomach.obj"))};
  std::uint64_t touched = 0;
  for (std::uint64_t seed = 1000; seed < 1020; ++seed) {
    const TriangleMesh& organ = organs[seed % 2];
    touched += expect_agreement(organ, random_motion(seed, organ.view(), 6), kQueryKinds[seed % std::size(kQueryKinds)],
                                backends);
  }
  std::printf("seeds 1000..1019, %llu touched\n", static_cast<unsigned long long>(touched));
  EXPECT_GT(touched, 1000u);
}

// Tests for every backend that after any order of rebuild, update and touched, the answers equal those of a new object.
TEST(Agreement, AnyOrderOfCallsGivesTheAnswersOfANewObject) {
  Backends backends;
  for (const std::string& name : backend_list("all", backends)) {
    const auto make = [&] { return backends.make(name); };
    checks::check_random_sequences(name, make, make, {.first_seed = 200, .sequences = 6});
  }
}

TEST(Agreement, ScannedLiverAndRecordedInstrument) {
  const auto mesh_file = shared_file("organs/openhelp/Liver.stl"),
             motion_file = shared_file("trajectories/dvrk_classic.csv");
  if (!mesh_file || !motion_file) GTEST_SKIP() << "no shared test data";
  Backends backends;
  const TriangleMesh mesh = load_mesh(*mesh_file);
  const Trajectory motion = load_trajectory(*motion_file);
  for (const QueryKind& kind : kQueryKinds)
    EXPECT_GT(expect_agreement(mesh, thinned(motion, 12), kind, backends), 100u);
}

// Tests every backend and every kind of query on open, folded, self-intersecting and non-manifold meshes. The
// test prints the names of meshes that cannot be loaded.
TEST(Agreement, BrokenMeshes) {
  Backends backends;
  std::uint64_t touched = 0, seed = 2000;
  const auto meshes = test::broken_meshes_that_load();
  if (meshes.empty()) GTEST_SKIP() << "no shared test data";
  for (const auto& [name, mesh] : meshes) {
    SCOPED_TRACE(name);
    for (const QueryKind& kind : kQueryKinds)
      touched += expect_agreement(mesh, random_motion(seed++, mesh.view(), 6), kind, backends);
  }
  std::printf("seeds 2000..%llu, %llu touched\n", static_cast<unsigned long long>(seed - 1),
              static_cast<unsigned long long>(touched));
  EXPECT_GT(touched, 10000u);
}

// Compares every backend with the double-precision reference for the parts of instruments: all kinds of instruments,
// all apertures and rolls, slow and fast motion, at rest, and degenerate parts; both sets, and while faces change.
// Units: metres.

using glm::dvec3;
using test::Dice;

constexpr std::array kKinds = {InstrumentKind::Grasper, InstrumentKind::Hook, InstrumentKind::Scissors,
                               InstrumentKind::ClipApplier};
constexpr double kOrgan = 0.04;  // m, radius

// Parts and their motions, at addresses that do not change, and the volumes that point to them.
struct Tools {
  std::vector<std::unique_ptr<InstrumentBody>> bodies;
  std::vector<std::unique_ptr<PartShape>> shapes;
  std::vector<std::unique_ptr<InstrumentMotion>> motions;
  std::vector<ToolVolume> volumes;
};

InstrumentStance stance_at(Dice& dice, const dvec3& at, double reach) {
  const dvec3 back = dice.direction();
  return {{at + dice.uniform(0.05, 0.25) * back, at + reach * dice.direction(), 0.0025},
          dice.uniform(-180.0, 180.0),
          dice.pick(3) ? dice.uniform(0.0, 1.0) : 0.0};
}

void add_instrument(Dice& dice, const dvec3& at, Tools& tools) {
  const InstrumentKind kind = kKinds[static_cast<std::size_t>(dice.pick(kKinds.size()))];
  tools.bodies.push_back(std::make_unique<InstrumentBody>(kind, 0.0025, JointLimits{}));
  const InstrumentStance before = stance_at(dice, at, 0.008);
  InstrumentStance now = before;
  now.pose.tip += (dice.pick(4) ? dice.log_uniform(1e-5, 0.02) : 0.0) * dice.direction();
  now.roll_deg += dice.pick(2) ? dice.uniform(-20.0, 20.0) : 0.0;
  now.grip = dice.pick(2) ? dice.uniform(0.0, 1.0) : now.grip;
  tools.bodies.back()->move(dice.pick(8) ? &before : nullptr, now, ToolMode::Swept);
  const auto volumes = tools.bodies.back()->volumes();
  tools.volumes.insert(tools.volumes.end(), volumes.begin(), volumes.end());
}

// A part of any kind, also degenerate ones, in any motion.
void add_random_part(Dice& dice, const dvec3& at, Tools& tools) {
  tools.shapes.push_back(std::make_unique<PartShape>(test::random_part(dice)));
  tools.motions.push_back(std::make_unique<InstrumentMotion>(test::usual_motion(dice, at + 0.1 * dice.direction())));
  const PartShape& shape = *tools.shapes.back();
  const InstrumentMotion& motion = *tools.motions.back();
  const int pieces = volume_count(shape, motion);
  for (int piece = 0; piece < pieces; ++piece)
    tools.volumes.push_back(
        part_volume(shape, motion, static_cast<double>(piece) / pieces, static_cast<double>(piece + 1) / pieces));
}

Tools random_tools(Dice& dice, const TriangleMesh& mesh) {
  Tools tools;
  for (int k = 0; k < 4; ++k) {
    const dvec3 at(mesh.positions[static_cast<std::size_t>(dice.pick(static_cast<int>(mesh.positions.size())))]);
    if (k < 3)
      add_instrument(dice, at, tools);
    else
      add_random_part(dice, at, tools);
  }
  return tools;
}

// Removes faces and moves vertices: what burning and breathing do.
void change(Dice& dice, TriangleMesh& mesh, bool faces) {
  for (glm::vec3& p : mesh.positions) p += glm::vec3(dice.in_cube(2e-4));
  if (!faces) return;
  for (int k = 0; k < 40; ++k) mesh.faces.erase(mesh.faces.begin() + dice.pick(static_cast<int>(mesh.faces.size())));
}

struct Tally {
  std::uint64_t touched = 0, borderline = 0, disagreements = 0, volumes = 0;
};

TEST(PartAgreement, EveryBackendForEveryInstrument) {
  constexpr std::uint32_t kSeed = 1350;
  std::printf("seed %u\n", kSeed);
  Dice dice(kSeed);
  Backends backends;
  std::vector<std::unique_ptr<TouchQuery>> queries;
  for (const std::string& name : backend_list("all", backends)) queries.push_back(backends.make(name));
  ASSERT_GE(queries.size(), 18u);
  std::map<std::string, Tally> tallies;
  TriangleMesh mesh = shapes::icosphere(5, static_cast<float>(kOrgan));
  for (int round = 0; round < 12; ++round) {
    const bool faces = round % 3 == 0;
    change(dice, mesh, faces);
    const Tools tools = random_tools(dice, mesh);
    for (const auto& query : queries) {
      if (faces) query->rebuild(mesh.view());
      query->update(mesh.positions);
    }
    for (const TouchSet set : {TouchSet::Exact, TouchSet::Volume}) {
      std::vector<ReferenceAnswer> wanted;
      for (const ToolVolume& volume : tools.volumes) wanted.push_back(reference_touched(mesh.view(), volume, set));
      for (const auto& query : queries) {
        const TouchList list = query->touched(tools.volumes, set);
        Tally& tally = tallies[std::string(query->name())];
        for (std::size_t k = 0; k < tools.volumes.size(); ++k) {
          const Agreement agreement = compare_with_reference(wanted[k], list.of_tool(k));
          ++tally.volumes;
          tally.touched += agreement.in_both;
          tally.borderline += agreement.borderline;
          tally.disagreements += agreement.disagreements;
        }
      }
    }
  }
  for (const auto& [name, tally] : tallies) {
    std::printf("%-22s %llu volumes, %llu touched, %llu borderline, %llu disagreements\n", name.c_str(),
                static_cast<unsigned long long>(tally.volumes), static_cast<unsigned long long>(tally.touched),
                static_cast<unsigned long long>(tally.borderline),
                static_cast<unsigned long long>(tally.disagreements));
    EXPECT_EQ(tally.disagreements, 0u) << name;
    EXPECT_GT(tally.touched, 1000u) << name;
  }
}

// Compares every backend with the double-precision reference over the whole range of scale: organs of 1 mm to 1 km, 0
// to 1 km from the origin, both sets. Vertices are floats, 61 micrometres apart at 1 km. These floats are the input, so
// the answer must be exact for them; the borderline limit is 1 micrometre, as at the origin. Units: metres.

constexpr std::uint32_t kSeed = 4000;
constexpr double kSizes[] = {1e-3, 0.03, 0.3, 10.0, 1000.0};          // m  radius of the organ
constexpr double kDistances[] = {0.0, 0.3, 3.0, 30.0, 300.0, 999.0};  // m  distance of its centre from the origin
constexpr int kTools = 6, kFacesAboutATool = 40;

struct Setting {
  double size, distance;
};

bool within_limits(const ToolStep& step) { return step_fault(step).empty(); }

// Returns a tool near a point of the organ: shafts up to the size of the organ, radii from 10 micrometres.
ToolStep step_about(Dice& dice, const dvec3& at, double size) {
  for (;;) {
    const double arm = dice.log_uniform(std::min(0.05 * size, 0.1), std::min(size, 1.0));
    const double motion = dice.pick(4) ? dice.log_uniform(1e-3, 1.0) * arm : 0.0;
    const dvec3 tip = at + 0.2 * arm * dice.direction(), pivot = tip + arm * dice.direction();
    const ToolStep step{pivot, tip, tip + motion * dice.direction(), dice.log_uniform(1e-5, 0.2 * arm + 2e-5)};
    if (within_limits(step)) return step;
  }
}

// The organ, and faces with a point exactly on the surface of each tool's sweep, which a rounded plane would miss.
struct Case {
  TriangleMesh mesh;
  std::vector<ToolStep> steps;
};

void add_faces_about(TriangleMesh& mesh, Dice& dice, const ToolStep& step, double size) {
  for (int k = 0; k < kFacesAboutATool; ++k) {
    const dvec3 at = test::point_of_sweep(dice, step) + dice.log_uniform(1e-7, 1e-3) * dice.direction();
    const Triangle face = test::random_face(dice, at, dice.log_uniform(1e-3, 1.0) * size);
    const dvec3 move = dice.pick(2) ? at - face.a : dvec3(0.0);
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    for (const dvec3& corner : {face.a, face.b, face.c}) mesh.positions.emplace_back(corner + move);
    mesh.faces.push_back({first, first + 1, first + 2});
  }
}

Case random_case(Dice& dice, const Setting& setting) {
  Case made;
  const dvec3 middle = setting.distance * dice.direction();
  const TriangleMesh unit =
      shapes::joined(shapes::icosphere(2, 1.f), shapes::random_soup(kSeed + dice.pick(1000), 200, 2.f, 0.4f));
  made.mesh.faces = unit.faces;
  for (const glm::vec3& p : unit.positions) made.mesh.positions.emplace_back(middle + setting.size * dvec3(p));
  const int vertices = static_cast<int>(made.mesh.positions.size());
  while (made.steps.size() < kTools) {
    const dvec3 at(made.mesh.positions[dice.pick(vertices)]);
    if (std::max({std::abs(at.x), std::abs(at.y), std::abs(at.z)}) > 0.999 * kLargestCoordinate) continue;
    made.steps.push_back(step_about(dice, at, setting.size));
    add_faces_about(made.mesh, dice, made.steps.back(), std::min(setting.size, 100.0));
  }
  return made;
}

std::vector<ToolVolume> volumes_of(const std::vector<ToolStep>& steps, TouchSet set) {
  std::vector<ToolVolume> volumes;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const ToolStep& step = steps[k];
    if (set == TouchSet::Exact || k % 3 == 0)
      volumes.push_back(swept_volume(step, Cover::Capsule));
    else if (k % 3 == 1)
      volumes.push_back(swept_volume(step, Cover::Paper));
    else
      volumes.push_back(static_volume({step.pivot, step.tip_after, step.radius}));
  }
  return volumes;
}

struct ScaleTally {
  std::uint64_t touched = 0, borderline = 0, disagreements = 0, queries = 0;
};

class Scale : public testing::Test {
 protected:
  Backends backends;
  std::vector<std::unique_ptr<TouchQuery>> queries;
  std::map<std::string, ScaleTally> tallies;

  void make_all() {
    for (const std::string& name : backend_list("all", backends)) queries.push_back(backends.make(name));
  }
  void check(const Case& made, std::uint32_t seed, const Setting& setting) {
    for (const auto& query : queries) query->rebuild(made.mesh.view());
    for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact}) {
      const std::vector<ToolVolume> tools = volumes_of(made.steps, set);
      std::vector<ReferenceAnswer> wanted;
      for (const ToolVolume& tool : tools) wanted.push_back(reference_touched(made.mesh.view(), tool, set));
      for (const auto& query : queries) {
        const TouchList list = query->touched(tools, set);
        ScaleTally& tally = tallies[std::string(query->name())];
        for (std::size_t k = 0; k < tools.size(); ++k) {
          const Agreement agreement = compare_with_reference(wanted[k], list.of_tool(k));
          ++tally.queries;
          tally.touched += agreement.in_both;
          tally.borderline += agreement.borderline;
          tally.disagreements += agreement.disagreements;
          EXPECT_EQ(agreement.disagreements, 0u)
              << query->name() << ", set " << (set == TouchSet::Exact ? "exact" : "volume") << ", size " << setting.size
              << " m, " << setting.distance << " m from the origin, tool " << k << ", seed " << seed;
        }
      }
    }
  }
};

TEST_F(Scale, EveryBackendFromOneMillimetreToOneKilometre) {
  make_all();
  ASSERT_GE(queries.size(), 18u);
  std::uint32_t seed = kSeed;
  for (int round = 0; round < 12; ++round)
    for (const double size : kSizes)
      for (const double distance : kDistances) {
        Dice dice(++seed);
        check(random_case(dice, {size, distance}), seed, {size, distance});
      }
  for (const auto& [name, tally] : tallies) {
    std::printf("%-16s %llu queries, %llu touched, %llu borderline, %llu disagreements\n", name.c_str(),
                static_cast<unsigned long long>(tally.queries), static_cast<unsigned long long>(tally.touched),
                static_cast<unsigned long long>(tally.borderline),
                static_cast<unsigned long long>(tally.disagreements));
    EXPECT_GT(tally.touched, 20u * tally.queries) << name;
  }
  std::printf("seeds %u..%u\n", kSeed + 1, seed);
}

// Tests the texts of a comparison, and the progress lines in a log.

TEST(CompareText, NamesTheFasterOne) {
  EXPECT_EQ(pace(1.0, 5.0), "5.0 times faster");
  EXPECT_EQ(pace(5.0, 1.0), "5.0 times slower");
  EXPECT_EQ(pace(1.0, 1.0), "as fast");
  EXPECT_EQ(pace(1.0, 1.04), "as fast");
  EXPECT_EQ(pace(1.06, 1.0), "1.1 times slower");
  EXPECT_EQ(pace(0.0, 1.0), "");
  EXPECT_EQ(pace(1.0, 0.0), "");
}

TEST(CompareText, TheTableNamesTheFasterOne) {
  CompareReport report;
  for (const auto& [name, ms] : {std::pair("compute", 12.5), {"obb-refit", 0.5}, {"obb", 2.5}}) {
    BackendResult result;
    result.name = name, result.total.median = ms;
    report.backends.push_back(result);
  }
  const std::string table = compare_table(report);
  for (const char* part : {"5.0 times slower", "5.0 times faster", "as fast"})
    EXPECT_NE(table.find(part), std::string::npos) << table;
}

// When standard error is a file, progress writes whole lines, at most one in ten seconds, and none within the first two
// seconds.
TEST(Progress, WritesLinesToALog) {
  testing::internal::CaptureStderr();
  {
    Progress progress("work", 100);
    progress.advance_to(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    for (std::size_t done = 2; done < 50; ++done) progress.advance_to(done);
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(log.starts_with("work: 2 % (2 of 100), about ")) << log;
  EXPECT_TRUE(log.ends_with(" s left\n")) << log;
  EXPECT_EQ(log.find_first_of("\r\x1b"), std::string::npos) << log;
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
}

// Tests the backends: their table, how `auto` times and chooses, and the verdicts on triangles with a known answer.

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

// Tests the shape of an instrument against an organ: compares the answer from the tree's candidate faces with that from
// all faces; tests the pose and the tip's depth.

// Returns two parallel fingers, 20 mm long, tips towards +z.
std::vector<TriangleMesh> jaws() {
  SuperquadricParams finger{.size = {0.002, 0.001, 0.01}, .profile_exponent = 0.5, .faces = 300};
  std::vector<TriangleMesh> both;
  for (const float side : {-1.f, 1.f}) {
    both.push_back(make_superquadric(finger));
    for (glm::vec3& p : both.back().positions) p += glm::vec3(0.f, side * 0.0015f, 0.f);
  }
  return both;
}

TrajectoryRow row_at(const glm::dvec3& tip, const glm::dvec3& from, double roll_deg) {
  TrajectoryRow row;
  row.tip = tip, row.pivot = tip + 0.2 * glm::normalize(from), row.roll_deg = roll_deg;
  return row;
}

TEST(ShapeTouch, ThePosePutsTheShapesTipAtTheRowsTip) {
  const TrajectoryRow row = row_at({0.01, 0.02, 0.03}, {0.3, 0.2, 1.0}, 0.0);
  const RigidFrame pose = shape_pose(row, 0.01);
  EXPECT_LT(glm::distance(pose.to_world({0, 0, 0.01}), row.tip), 1e-12);
  EXPECT_LT(glm::distance(pose.to_world({0, 0, 0.01 - 0.2}), row.pivot), 1e-12);  // the shaft lies on the axis
  EXPECT_NEAR(glm::determinant(pose.axes), 1.0, 1e-12);
  // The roll is a rotation about the axis: a quarter turn moves a point off the axis by 90 degrees, four of them do not
  // move it.
  const glm::dvec3 off(0.001, 0.0, 0.01);
  const auto offset = [&](double roll) {
    return shape_pose(row_at(row.tip, {0.3, 0.2, 1.0}, roll), 0.01).to_world(off) - row.tip;
  };
  EXPECT_NEAR(glm::dot(offset(0.0), offset(90.0)), 0.0, 1e-12);
  EXPECT_LT(glm::distance(offset(0.0), offset(360.0)), 1e-12);
  // The roll is clockwise as seen from the trocar towards the tip.
  EXPECT_LT(glm::dot(glm::cross(offset(0.0), offset(90.0)), row.pivot - row.tip), 0.0);
}

TEST(ShapeTouch, AgreesWithASearchOfAllFaces) {
  constexpr std::uint32_t kSeed = 12;
  test::Dice dice(kSeed);
  const TriangleMesh organ = shapes::torus(60, 30, 0.05f, 0.02f);
  const std::vector<TriangleMesh> shapes = jaws();
  ShapeTouch touch(organ, shapes, {});
  EXPECT_GE(touch.pieces(), 2u);
  EXPECT_LE(touch.deviation(), 3e-4);
  std::vector<solids::ConvexPieces> pieces;
  for (const TriangleMesh& shape : shapes) pieces.push_back(solids::convex_pieces(shape.view()));
  std::size_t found = 0;
  for (int k = 0; k < 60; ++k) {
    const glm::dvec3 at(organ.positions[std::size_t(dice.pick(int(organ.positions.size())))]);
    const TrajectoryRow row = row_at(at + dice.in_cube(0.004), dice.direction(), dice.uniform(-180.0, 180.0));
    std::vector<FaceId> expected;
    for (const solids::ConvexPieces& one : pieces) {
      solids::PieceFaces faces(one);
      const auto all = faces.touched(shape_pose(row, 0.01), organ.view());
      expected.insert(expected.end(), all.begin(), all.end());
    }
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    const auto touched = touch.touched(row);
    ASSERT_TRUE(std::ranges::equal(touched, expected)) << "seed " << kSeed << ", case " << k;
    found += expected.size();
  }
  EXPECT_GT(found, 300u);
}

TEST(ShapeTouch, TipDepth) {
  const TriangleMesh ball = shapes::icosphere(4, 0.05f);
  ShapeTouch touch(ball, jaws(), {});
  const solids::TipDepth in = touch.tip_depth(row_at({0, 0, 0.04}, {0, 0, 1}, 0.0)),
                         out = touch.tip_depth(row_at({0, 0, 0.07}, {0, 0, 1}, 0.0));
  EXPECT_EQ(in.location, solids::PointLocation::Inside);
  EXPECT_NEAR(in.depth, 0.01, 2e-4);
  EXPECT_EQ(out.location, solids::PointLocation::Outside);
  EXPECT_NEAR(out.depth, -0.02, 2e-4);
}

}  // namespace
}  // namespace trocar

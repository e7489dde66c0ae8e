// The measurements of the GPU kit and their page.
#include "bench/gpu_kit/gpu_kit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <optional>

#include "app/compare/compare.hpp"
#include "app/compare/frame_source.hpp"
#include "geometry/machine.hpp"
#include "geometry/units.hpp"
#include "gpu_collision/compute.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/support/files.hpp"

namespace trocar::bench {
namespace {

constexpr int kFrames = 16;                          // 1
constexpr glm::vec3 kHalfSize{0.14f, 0.08f, 0.05f};  // m    of the organ
constexpr float kWobble = 0.006f;                    // m    of each coordinate
constexpr float kWave = 40.f;                        // 1/m
constexpr double kRadius = 0.0025;                   // m    of a tool

ToolVolume tool_at(double phase, int tool) {
  const glm::dvec3 pivot(0.1 * tool, 0.2, 0.1);
  const glm::dvec3 tip(0.1 * std::cos(phase + tool), 0.01 * std::sin(phase), 0.0);
  return swept_volume({pivot, tip, tip + glm::dvec3(0.002, 0.001, 0.0), kRadius}, Cover::Capsule);
}

}  // namespace

TriangleMesh make_ellipsoid(std::size_t faces) {
  const auto rings = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(faces) / 4.0)), around = 2 * rings;
  TriangleMesh mesh;
  for (std::uint32_t ring = 0; ring <= rings; ++ring) {
    const double polar = std::numbers::pi * (ring + 0.5) / (rings + 1);
    for (std::uint32_t i = 0; i < around; ++i) {
      const double turn = kFullTurn * i / around;
      mesh.positions.push_back(
          kHalfSize * glm::vec3(std::sin(polar) * std::cos(turn), std::sin(polar) * std::sin(turn), std::cos(polar)));
    }
  }
  for (std::uint32_t ring = 0; ring < rings; ++ring) {
    for (std::uint32_t i = 0; i < around; ++i) {
      const std::uint32_t a = ring * around + i, b = ring * around + (i + 1) % around;
      mesh.faces.push_back({a, a + around, b});
      mesh.faces.push_back({b, a + around, b + around});
    }
  }
  return mesh;
}

std::vector<WobbleFrame> make_wobble_frames(const TriangleMesh& mesh, int tools) {
  std::vector<WobbleFrame> frames(kFrames);
  for (int f = 0; f < kFrames; ++f) {
    const double phase = kFullTurn * f / kFrames;
    frames[f].positions.reserve(mesh.positions.size());
    for (const glm::vec3& p : mesh.positions)
      frames[f].positions.push_back(p +
                                    kWobble * glm::sin(kWave * glm::vec3(p.y, p.z, p.x) + static_cast<float>(phase)));
    for (int tool = 0; tool < tools; ++tool) frames[f].tools.push_back(tool_at(phase, tool));
  }
  return frames;
}

namespace {

constexpr double kOrganWobble = 0.02;      // 1  of the organ's diagonal
constexpr std::size_t kMotionFrames = 10;  // 1
constexpr std::size_t kLargeFrames = 5;    // 1
constexpr std::size_t kSlowLargest = 1e5;  // faces  of the backends that draw: millions of faces take minutes

class Row {
 public:
  explicit Row(std::string what) : what_(std::move(what)) {}

  void add(const CompareReport& report) {
    const BackendResult& result = report.backends.front();
    queries_ += result.frames;
    touched_ += result.touched;
    borderline_ += result.borderline;
    disagreements_ += result.disagreements;
  }
  Json json() const {
    return {{"what", what_},
            {"queries", queries_},
            {"touched", touched_},
            {"borderline", borderline_},
            {"disagreements", disagreements_}};
  }

 private:
  std::string what_;
  std::uint64_t queries_ = 0, touched_ = 0, borderline_ = 0, disagreements_ = 0;
};

class Agreement {
 public:
  Agreement(const std::string& backend, Backends& backends) : name_{backend}, backends_(backends) {}

  Json random(int motions) {
    const TriangleMesh organs[] = {load_mesh(data_file("organs/liver.obj")),
                                   load_mesh(data_file("organs/stomach.obj"))};
    Row row("random motions over liver and stomach");
    for (int motion = 0; motion < motions; ++motion) {
      const TriangleMesh& mesh = organs[motion % 2];
      const QueryKind& kind = kQueryKinds[static_cast<std::size_t>(motion / 2) % std::size(kQueryKinds)];
      compare(row, mesh, random_motion(static_cast<std::uint64_t>(motion), mesh.view(), kMotionFrames), kind);
    }
    return row.json();
  }

  Json recorded(const std::filesystem::path& mesh_file, const std::filesystem::path& trajectory_file) {
    const TriangleMesh mesh = load_mesh(mesh_file.empty() ? data_file("organs/liver.obj") : mesh_file);
    const Trajectory trajectory = load_trajectory(trajectory_file);
    Row row("recorded motion");
    for (const QueryKind& kind : kQueryKinds) compare(row, mesh, trajectory, kind);
    return row.json();
  }

  Json large(std::size_t faces) {
    const TriangleMesh mesh = make_ellipsoid(faces);
    Row row("an organ of " + std::to_string(mesh.faces.size()) + " faces");
    for (const QueryKind& kind : kSweptCapsules) compare(row, mesh, random_motion(7, mesh.view(), kLargeFrames), kind);
    return row.json();
  }

 private:
  void compare(Row& row, const TriangleMesh& mesh, Trajectory motion, const QueryKind& kind) {
    const auto source = make_mesh_source(mesh, std::move(motion), kRadius, kind, kOrganWobble);
    row.add(compare_backends(*source, name_, backends_, [](std::size_t) {}));
  }

  std::vector<std::string> name_;
  Backends& backends_;
};

}  // namespace

Json agreement_rows(const std::string& backend, Backends& backends, const KitOptions& options) {
  Agreement agreement(backend, backends);
  const bool draws = backend == "occlusion" || backend == "select";
  Json rows = Json::array();
  rows.push_back(agreement.random(options.motions));
  if (!options.trajectory.empty()) rows.push_back(agreement.recorded(options.mesh, options.trajectory));
  rows.push_back(agreement.large(draws ? std::min(kSlowLargest, options.largest_faces) : options.largest_faces));
  for (Json& row : rows) row["backend"] = backend;
  return rows;
}

// Times of one backend against the number of faces and of instruments, for the GPU kit.

namespace {

constexpr std::size_t kSizes[] = {2'000, 8'000, 31'000, 100'000, 300'000, 1'000'000};
constexpr std::size_t kFacesOfTools = 100'000;
constexpr int kToolCounts[] = {1, 2, 4, 8, 16};
constexpr int kWarmFrames = 20;
constexpr double kLongestRow = 4e3;  // ms   a row of a slow backend ends after this time
constexpr int kFewestFrames = 10;    // 1    but not before this number of frames

// The largest organ on which a backend is timed; larger ones take minutes.
std::size_t largest_of(const std::string& backend) {
  if (backend == "select") return 31'000;
  return backend == "occlusion" || backend == "obb" ? 100'000 : 1'000'000;
}

struct Samples {
  std::vector<double> update, submit, gpu, read_back, search, refine, total, same_positions;  // ms, [frame]
  std::uint64_t touched = 0, records = 0;

  void add(const TouchQuery& query, double total_ms, std::size_t touches) {
    const StageTimes& times = query.times();
    update.push_back(times.update_ms);
    submit.push_back(times.submit_ms);
    gpu.push_back(times.gpu_ms);
    read_back.push_back(times.read_back_ms);
    search.push_back(times.search_ms);
    refine.push_back(times.refine_ms);
    total.push_back(total_ms);
    touched += touches;
    records += query.counters().face_tests;
  }
};

Json summary(std::vector<double> samples) {
  const TimeSummary times = summarise(std::move(samples));
  return {{"median", times.median}, {"p99", times.p99}};
}

Json row_of(Samples samples, std::size_t faces, std::size_t tools, TouchSet set) {
  const std::size_t frames = samples.total.size();
  return {{"faces", faces},
          {"tools", tools},
          {"set", name_of(set)},
          {"frames", frames},
          {"update_ms", summary(std::move(samples.update))},
          {"submit_ms", summary(std::move(samples.submit))},
          {"gpu_ms", summary(std::move(samples.gpu))},
          {"read_back_ms", summary(std::move(samples.read_back))},
          {"search_ms", summary(std::move(samples.search))},
          {"refine_ms", summary(std::move(samples.refine))},
          {"total_ms", summary(std::move(samples.total))},
          {"same_positions_ms", summary(std::move(samples.same_positions))},
          {"face_tests", samples.records / frames},
          {"touched", samples.touched / frames}};
}

// Every frame is asked twice: with new positions, and again without an update.
Json measure(TouchQuery& query, const TriangleMesh& mesh, const std::vector<WobbleFrame>& frames, int count,
             TouchSet set) {
  query.rebuild(mesh.view());
  require_start(query);
  Samples samples;
  const auto begin = Clock::now();
  for (int i = -kWarmFrames; i < count; ++i) {
    if (milliseconds_since(begin) > kLongestRow && i >= kFewestFrames) break;
    const WobbleFrame& frame = frames[static_cast<std::size_t>(i + kWarmFrames) % frames.size()];
    const auto start = Clock::now();
    query.update(frame.positions);
    const std::size_t touches = query.touched(frame.tools, set).touches.size();
    const double total_ms = milliseconds_since(start);
    require_answer(query);
    if (i >= 0) samples.add(query, total_ms, touches);
    const auto again = Clock::now();
    query.touched(frame.tools, set);
    if (i >= 0) samples.same_positions.push_back(milliseconds_since(again));
  }
  return row_of(std::move(samples), mesh.faces.size(), frames.front().tools.size(), set);
}

struct Variant {
  std::string name;
  ComputeTuning tuning;
};

// The default for this hardware, then the same with one setting changed.
std::vector<Variant> compute_variants(const GlInfo& info) {
  const ComputeTuning best = best_compute_tuning(info);
  std::vector<Variant> list(3, {"default", best});
  list[1] = {best.cull_blocks ? "all faces" : "culled blocks", {!best.cull_blocks, best.timer_query}};
  list[2] = {"timer query", {best.cull_blocks, true}};
  return list;
}

struct Timed {
  std::string variant;
  std::unique_ptr<TouchQuery> query;
};

std::vector<Timed> queries_of(const std::string& backend, Backends& backends) {
  std::vector<Timed> list;
  list.push_back({"default", backends.make(backend)});
  if (backend != "compute") return list;
  for (const Variant& variant : compute_variants(backends.context()->info()))
    if (variant.name != "default")
      list.push_back({variant.name, make_compute_query(*backends.context(), variant.tuning)});
  return list;
}

}  // namespace

Json size_rows(const std::string& backend, Backends& backends, const KitOptions& options) {
  const std::vector<Timed> queries = queries_of(backend, backends);
  Json rows = Json::array();
  for (const std::size_t faces : kSizes) {
    if (faces > options.largest_faces || faces > largest_of(backend)) break;
    const TriangleMesh mesh = make_ellipsoid(faces);
    const std::vector<WobbleFrame> frames = make_wobble_frames(mesh, 1);
    for (const Timed& timed : queries)
      for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact}) {
        Json row = {{"backend", backend}, {"variant", timed.variant}};
        row.update(measure(*timed.query, mesh, frames, options.frames, set));
        rows.push_back(std::move(row));
      }
  }
  return rows;
}

Json tool_rows(const std::string& backend, Backends& backends, const KitOptions& options) {
  const TriangleMesh mesh = make_ellipsoid(std::min(kFacesOfTools, options.largest_faces));
  const auto query = backends.make(backend);
  Json rows = Json::array();
  for (const int tools : kToolCounts) {
    Json row = {{"backend", backend}, {"variant", "default"}};
    row.update(measure(*query, mesh, make_wobble_frames(mesh, tools), options.frames, TouchSet::Exact));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json context_facts(Backends& backends) {
  const GlContext* context = backends.context();
  if (!context) return {{"none", backends.why_no_context()}};
  const GlInfo& info = context->info();
  return {{"vendor", info.vendor},
          {"renderer", info.renderer},
          {"version", info.version},
          {"profile", info.compatibility_profile ? "compatibility" : "core"},
          {"software", info.software}};
}

namespace {

constexpr double kMicroseconds = 1e3;  // of a millisecond

double median_us(const Json& row, const char* stage) { return row[stage]["median"].get<double>() * kMicroseconds; }
double p99_us(const Json& row, const char* stage) { return row[stage]["p99"].get<double>() * kMicroseconds; }

std::string head(const Json& results) {
  const Json& gl = results["gl"];
  std::string text = fmt::format("# Trocar: touch queries measured on this machine\n\nTrocar {}, {}. {}.\n",
                                 results["version"].get<std::string>(), results["date"].get<std::string>(),
                                 results["machine"].get<std::string>());
  if (gl.contains("none")) return text + fmt::format("OpenGL: not available ({}).\n", gl["none"].get<std::string>());
  text +=
      fmt::format("OpenGL: {} by {}, {} ({} profile).\n", gl["renderer"].get<std::string>(),
                  gl["vendor"].get<std::string>(), gl["version"].get<std::string>(), gl["profile"].get<std::string>());
  if (gl["software"].get<bool>()) text += "**This driver renders in software: no time here is that of a GPU.**\n";
  return text;
}

std::string verdicts(const Json& results) {
  std::string text = "\n## Backends on two triangles with a known answer\n\n| backend | verdict |\n|---|---|\n";
  for (const auto& [name, verdict] : results["doctor"].items())
    text += fmt::format("| `{}` | {} |\n", name, verdict.get<std::string>());
  return text;
}

std::string agreement(const Json& results) {
  std::string text =
      "\n## Agreement with the double-precision reference\n\n"
      "| backend | what | queries | touched faces | borderline | disagreements |\n|---|---|---|---|---|---|\n";
  for (const Json& row : results["agreement"])
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row["backend"].get<std::string>(),
                        row["what"].get<std::string>(), row["queries"].get<std::uint64_t>(),
                        row["touched"].get<std::uint64_t>(), row["borderline"].get<std::uint64_t>(),
                        row["disagreements"].get<std::uint64_t>());
  return text + fmt::format("\nAll together: {} disagreements.\n", disagreements_of(results));
}

// One line of a table of stages, in microseconds.
std::string stage_line(const Json& row, const std::string& first) {
  const double gpu = median_us(row, "gpu_ms");
  return fmt::format("| {} | {:.1f} | {:.1f} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {} |\n", first,
                     median_us(row, "update_ms"), median_us(row, "submit_ms"),
                     gpu > 0.0 ? fmt::format("{:.1f}", gpu) : "-", median_us(row, "read_back_ms"),
                     median_us(row, "search_ms") + median_us(row, "refine_ms"), median_us(row, "total_ms"),
                     p99_us(row, "total_ms"), median_us(row, "same_positions_ms"), row["touched"].get<std::uint64_t>());
}

std::string stage_head(const char* first) {
  return fmt::format(
      "| {} | update | submit | GPU | read-back | CPU | total | p99 | same positions | touched |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      first);
}

bool is(const Json& row, const char* key, std::string_view value) { return row[key].get<std::string>() == value; }

std::string sizes(const Json& results) {
  std::string text =
      "\n## One frame against the number of faces\n\n"
      "Microseconds, medians (p99: 99th percentile). One instrument, set `exact`, new positions in every frame. GPU: "
      "by "
      "the GPU's own clock, part of the read-back. Same positions: a second query without an update, a lower bound for "
      "positions that are already in GPU memory.\n\n";
  text += stage_head("backend, faces");
  for (const Json& row : results["sizes"])
    if (is(row, "variant", "default") && is(row, "set", "exact"))
      text += stage_line(row, fmt::format("`{}` {}", row["backend"].get<std::string>(), row["faces"].get<int>()));
  return text;
}

std::string variants(const Json& results) {
  std::string text = "\n## Variants of `compute`\n\nThe default for this hardware, and one setting changed.\n\n";
  text += stage_head("variant, set, faces");
  for (const Json& row : results["sizes"])
    if (is(row, "backend", "compute"))
      text += stage_line(row, fmt::format("{}, {}, {}", row["variant"].get<std::string>(),
                                          row["set"].get<std::string>(), row["faces"].get<int>()));
  return text;
}

std::string tools(const Json& results) {
  std::string text = "\n## One frame against the number of instruments\n\nAs above.\n\n";
  text += stage_head("backend, instruments");
  for (const Json& row : results["tools"])
    text += stage_line(row, fmt::format("`{}` {}", row["backend"].get<std::string>(), row["tools"].get<int>()));
  return text;
}

const Json* find_compute(const Json& rows, const char* variant, const char* key, std::uint64_t least,
                         std::uint64_t most) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Json& row) {
    const auto value = row[key].get<std::uint64_t>();
    return is(row, "backend", "compute") && is(row, "variant", variant) && is(row, "set", "exact") && value >= least &&
           value <= most;
  });
  return found == rows.end() ? nullptr : &*found;
}

struct Goal {
  const char* what;
  double most;  // microseconds, or a ratio
  std::optional<double> measured;
};

std::optional<double> stage_of(const Json* row, const char* stage, const char* part) {
  return row ? std::optional((*row)[stage][part].get<double>() * kMicroseconds) : std::nullopt;
}

// The goals of docs/gpu-kit.md.
std::string goals(const Json& results) {
  const Json& sizes = results["sizes"];
  const Json* hundred = find_compute(sizes, "default", "faces", 95'000, 105'000);
  const Json *hundred_timed = find_compute(sizes, "timer query", "faces", 95'000, 105'000),
             *million_timed = find_compute(sizes, "timer query", "faces", 950'000, 1'050'000);
  const Json *one = find_compute(results["tools"], "default", "tools", 1, 1),
             *sixteen = find_compute(results["tools"], "default", "tools", 16, 16);
  std::optional<double> ratio;
  if (one && sixteen)
    ratio = *stage_of(sixteen, "total_ms", "median") / std::max(1e-9, *stage_of(one, "total_ms", "median"));
  const Goal list[] = {
      {"GPU time at 100,000 faces, us", 8.0, stage_of(hundred_timed, "gpu_ms", "median")},
      {"GPU time at 1,000,000 faces, us", 40.0, stage_of(million_timed, "gpu_ms", "median")},
      {"total with upload at 100,000 faces, median, us", 60.0, stage_of(hundred, "total_ms", "median")},
      {"total with upload at 100,000 faces, p99, us", 100.0, stage_of(hundred, "total_ms", "p99")},
      {"same positions at 100,000 faces, median, us", 30.0, stage_of(hundred, "same_positions_ms", "median")},
      {"16 instruments against one, ratio", 1.3, ratio}};
  std::string text =
      "\n## Goals of `compute` on a GPU\n\nSet `exact`, default variant; GPU time: variant `timer query`.\n\n| goal | "
      "at most | measured | met "
      "|\n|---|---|---|---|\n";
  for (const Goal& goal : list)
    text += goal.measured ? fmt::format("| {} | {} | {:.1f} | {} |\n", goal.what, goal.most, *goal.measured,
                                        *goal.measured <= goal.most ? "yes" : "no")
                          : fmt::format("| {} | {} | not measured | - |\n", goal.what, goal.most);
  return text;
}

std::string failures(const Json& results) {
  if (results["failures"].empty()) return "";
  std::string text = "\n## Sections that failed\n\n";
  for (const Json& failure : results["failures"]) text += fmt::format("- {}\n", failure.get<std::string>());
  return text;
}

}  // namespace

std::uint64_t disagreements_of(const Json& results) {
  std::uint64_t sum = 0;
  for (const Json& row : results["agreement"]) sum += row["disagreements"].get<std::uint64_t>();
  return sum;
}

std::string kit_page(const Json& results) {
  return head(results) + failures(results) + verdicts(results) + agreement(results) + goals(results) + sizes(results) +
         tools(results) + variants(results);
}

}  // namespace trocar::bench

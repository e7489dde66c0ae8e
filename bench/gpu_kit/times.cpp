// Times of one backend against the number of faces and of instruments, for the GPU kit.
#include <algorithm>

#include "app/compare/compare.hpp"
#include "bench/gpu_kit/sections.hpp"
#include "bench/gpu_kit/wobbling_organ.hpp"
#include "geometry/stopwatch.hpp"
#include "gpu_collision/compute.hpp"

namespace trocar::bench {
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

}  // namespace trocar::bench

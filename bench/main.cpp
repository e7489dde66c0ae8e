// trocar_bench: measures the cost of one frame (new positions in, touched faces out) for our backends and other
// libraries. Prints a table for one organ, then the cost against the number of faces; writes both as JSON and a plot.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "app/compare/backends.hpp"
#include "app/compare/compare.hpp"
#include "bench/contestant.hpp"
#include "bench/plots.hpp"
#include "bench/scene.hpp"
#include "cpu_collision/reference.hpp"
#include "geometry/error.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"
#include "study/trees/study_volumes.hpp"

namespace trocar::bench {
namespace {

// Runs methods on the same frames, in turn and in random order (Google Benchmark's random interleaving), and keeps
// every frame's time. Units: milliseconds.

struct MeasureOptions {
  int turns = 12;               // 1   turns of each method, >= 1
  double seconds_a_turn = 0.1;  // s   measured time per turn, but at least two frames
  int checked_frames = 8;       // 1   frames whose answer is compared with the double reference before measuring
};

struct Measured {
  std::string name, how;
  bool peer = false;
  TimeSummary update{}, query{}, total{};  // ms per frame
  std::size_t frames = 0;                  // timed
  std::uint64_t touched = 0;               // faces, over the checked frames
  std::uint64_t missing = 0, extra = 0;    // faces against the reference, without borderline faces
};

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// One method during the measurement: its object and the time of every frame so far.
struct Runner {
  const Entry* entry = nullptr;
  std::unique_ptr<Contestant> contestant;
  std::vector<double> update_ms, query_ms, total_ms;
  std::size_t next_frame = 1;
  int frames_a_turn = 2;

  // Returns the frame's total, ms.
  double run_frame(FrameSource& frames) {
    frames.load(next_frame);
    next_frame = next_frame + 1 < frames.frame_count() ? next_frame + 1 : 1;
    const Clock::time_point start = Clock::now();
    contestant->update(frames.positions(0));
    const Clock::time_point updated = Clock::now();
    contestant->query(frames.tools()[0]);
    const Clock::time_point end = Clock::now();
    update_ms.push_back(milliseconds(start, updated));
    query_ms.push_back(milliseconds(updated, end));
    total_ms.push_back(milliseconds(start, end));
    return total_ms.back();
  }

  void forget() {
    update_ms.clear();
    query_ms.clear();
    total_ms.clear();
  }
};

void check_answers(Runner& runner, FrameSource& frames, int count, Measured& measured) {
  for (int i = 0; i < count; ++i) {
    frames.load((i + 1) * frames.frame_count() / (count + 1));
    runner.contestant->update(frames.positions(0));
    runner.contestant->query(frames.tools()[0]);
    const std::vector<FaceId> answer = runner.contestant->answer();
    const ReferenceAnswer truth =
        reference_touched({frames.positions(0), frames.organ(0).faces}, frames.tools()[0], TouchSet::Volume);
    const auto count_apart = [&](const std::vector<FaceId>& from, const std::vector<FaceId>& without) {
      std::vector<FaceId> apart, sure;
      std::set_difference(from.begin(), from.end(), without.begin(), without.end(), std::back_inserter(apart));
      std::set_difference(apart.begin(), apart.end(), truth.borderline.begin(), truth.borderline.end(),
                          std::back_inserter(sure));
      return sure.size();
    };
    measured.touched += answer.size();
    measured.missing += count_apart(truth.touched, answer);
    measured.extra += count_apart(answer, truth.touched);
  }
}

void set_pace(Runner& runner, FrameSource& frames, double seconds_a_turn) {
  runner.run_frame(frames);
  const double fastest = std::min(runner.run_frame(frames), runner.run_frame(frames));
  runner.frames_a_turn = static_cast<int>(std::clamp(seconds_a_turn * 1e3 / fastest, 2.0, 200.0));
  runner.forget();
}

// Google Benchmark's own lines would repeat the table: only counts the turns.
class Turns final : public benchmark::BenchmarkReporter {
 public:
  explicit Turns(std::size_t total) : progress_("bench", total) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    done_ += runs.empty() || runs[0].run_type == Run::RT_Aggregate ? 0 : runs.size();
    progress_.advance_to(done_);
  }

 private:
  Progress progress_;
  std::size_t done_ = 0;
};

void take_turns(std::vector<Runner>& runners, FrameSource& frames, int turns) {
  benchmark::ClearRegisteredBenchmarks();
  for (Runner& runner : runners) {
    benchmark::RegisterBenchmark(runner.entry->name.c_str(),
                                 [&](benchmark::State& state) {
                                   for ([[maybe_unused]] auto _ : state)
                                     state.SetIterationTime(runner.run_frame(frames) * 1e-3);
                                 })
        ->UseManualTime()
        ->Iterations(runner.frames_a_turn)
        ->Repetitions(turns);
  }
  Turns reporter(runners.size() * static_cast<std::size_t>(turns));
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::ClearRegisteredBenchmarks();
}

// Measures every method. A method that cannot run is reported on stderr and omitted.
std::vector<Measured> measure(std::span<const Entry> entries, FrameSource& frames, const MeasureOptions& options) {
  std::vector<Runner> runners;
  std::vector<Measured> results;
  for (const Entry& entry : entries) {
    try {
      Runner runner;
      runner.entry = &entry;
      runner.contestant = entry.make();
      runner.contestant->rebuild(frames.organ(0));
      Measured measured{entry.name, entry.how, entry.peer};
      check_answers(runner, frames, options.checked_frames, measured);
      set_pace(runner, frames, options.seconds_a_turn);
      runners.push_back(std::move(runner));
      results.push_back(std::move(measured));
    } catch (const std::exception& error) {
      fmt::print(stderr, "left out: {}: {}\n", entry.name, error.what());
    }
  }
  take_turns(runners, frames, options.turns);
  for (std::size_t i = 0; i < runners.size(); ++i) {
    results[i].update = summarise(runners[i].update_ms);
    results[i].query = summarise(runners[i].query_ms);
    results[i].total = summarise(runners[i].total_ms);
    results[i].frames = runners[i].total_ms.size();
  }
  return results;
}

// Prints the results of the bench as a table and writes them as JSON (the form of compare.json, with "peers" and
// "sizes").

struct Origin {
  std::string version, machine, gl, date;
  int gl_threads = 0;  // of the software renderer
};

struct Table {
  std::string organ, motion;
  std::size_t faces = 0, vertices = 0, checked_frames = 0;
  double radius_mm = 0.0;
  std::vector<Measured> ways;

  const Measured* find(std::string_view name) const;
};

struct Report {
  Origin origin;
  Table main;
  std::vector<Table> sizes;  // ascending faces
};

constexpr double kMicro = 1e3;  // us per ms

struct Claim {
  std::string_view ours;
  std::vector<std::string_view> peers;  // the fastest one counts
  std::string_view words;
  double wanted;
};

const std::vector<Claim>& claims() {
  static const std::vector<Claim> list = {
      {"scan", {"fcl_obbrss_rebuild"}, "FCL's OBBRSS rebuild", 1500.0},
      {"scan",
       {"fcl_aabb_refit", "fcl_aabb_refit_float", "embree_morton", "embree_morton_boxes", "bullet_refit"},
       "the best of FCL AABB refit, Embree Morton rebuild, Bullet refit as documented",
       60.0},
      {"scan", {"bullet_bare_refit"}, "the refit of Bullet's inner tree alone", 60.0},
      {"compute", {"fcl_obbrss_rebuild"}, "FCL's OBBRSS rebuild", 100.0},
      {"obb", {"fcl_obbrss_rebuild"}, "FCL's OBBRSS rebuild", 3.0},
      {"aabb-refit",
       {"fcl_aabb_refit", "fcl_aabb_refit_float", "embree_refit", "embree_refit_boxes", "bullet_refit",
        "bullet_bare_refit"},
       "the best refit of FCL, Embree and Bullet",
       5.0},
  };
  return list;
}

const Measured* fastest(const Table& table, const std::vector<std::string_view>& names) {
  const Measured* best = nullptr;
  for (const std::string_view name : names) {
    const Measured* way = table.find(name);
    if (way && (!best || way->total.median < best->total.median)) best = way;
  }
  return best;
}

std::string claim_lines(const Table& table) {
  std::string text;
  for (const Claim& claim : claims()) {
    const Measured *ours = table.find(claim.ours), *peer = fastest(table, claim.peers);
    if (!ours || !peer) continue;
    text += fmt::format("{} against {} ({}): {} by medians, {} by minimums; target {:.0f} times faster\n", claim.ours,
                        claim.words, peer->name, pace(ours->total.median, peer->total.median),
                        pace(ours->total.minimum, peer->total.minimum), claim.wanted);
  }
  return text;
}

nlohmann::ordered_json way_json(const Measured& way) {
  const auto summary = [](const TimeSummary& times) {
    return nlohmann::ordered_json{{"median", times.median}, {"p99", times.p99}, {"minimum", times.minimum}};
  };
  return {{"how", way.how},
          {"update_ms", summary(way.update)},
          {"query_ms", summary(way.query)},
          {"total_ms", summary(way.total)},
          {"timed_frames", way.frames},
          {"touched", way.touched},
          {"missing", way.missing},
          {"extra", way.extra},
          {"disagreements", way.missing + way.extra}};
}

nlohmann::ordered_json table_json(const Table& table) {
  nlohmann::ordered_json json = {{"organ", table.organ},
                                 {"trajectory", table.motion},
                                 {"faces", table.faces},
                                 {"vertices", table.vertices},
                                 {"frames", table.checked_frames},
                                 {"tools", 1},
                                 {"radius_mm", table.radius_mm},
                                 {"mode", "swept"},
                                 {"cover", "capsule"},
                                 {"set", "volume"}};
  json["backends"] = json["peers"] = nlohmann::ordered_json::object();
  for (const Measured& way : table.ways) json[way.peer ? "peers" : "backends"][way.name] = way_json(way);
  return json;
}

const Measured* Table::find(std::string_view name) const {
  const auto found = std::find_if(ways.begin(), ways.end(), [&](const Measured& way) { return way.name == name; });
  return found == ways.end() ? nullptr : &*found;
}

// Methods sorted by median, and how many times faster ours are than the peers.
std::string table_text(const Origin& origin, const Table& table) {
  std::string text = fmt::format(
      "{}, {} faces, {} vertices, every vertex moved every frame; {}, one swept capsule tool of radius {} mm\n"
      "set `volume`, update included, one core; methods run in turn in random order; microseconds per frame\n"
      "{}; {}\nOpenGL: {}, {} software threads\n\n",
      table.organ, table.faces, table.vertices, table.motion, table.radius_mm, origin.machine, origin.date, origin.gl,
      origin.gl_threads);
  text += fmt::format("{:<24}{:>10}{:>10}{:>11}{:>11}{:>11}{:>8}{:>9}{:>8}{:>7}  {}\n", "method", "update", "query",
                      "median", "minimum", "p99", "frames", "touched", "missing", "extra", "description");
  std::vector<const Measured*> ways;
  for (const Measured& way : table.ways) ways.push_back(&way);
  std::sort(ways.begin(), ways.end(),
            [](const Measured* a, const Measured* b) { return a->total.median < b->total.median; });
  for (const Measured* way : ways)
    text += fmt::format("{:<24}{:>10.1f}{:>10.1f}{:>11.1f}{:>11.1f}{:>11.1f}{:>8}{:>9}{:>8}{:>7}  {}\n", way->name,
                        way->update.median * kMicro, way->query.median * kMicro, way->total.median * kMicro,
                        way->total.minimum * kMicro, way->total.p99 * kMicro, way->frames, way->touched, way->missing,
                        way->extra, way->how);
  return text + "\n" + claim_lines(table);
}

// Returns the median total of every method against faces, and nanoseconds per vertex of `scan`.
std::string sizes_text(const std::vector<Table>& sizes) {
  if (sizes.empty()) return "";
  std::string text = fmt::format("Median microseconds per frame against faces\n{:<24}", "method");
  for (const Table& table : sizes) text += fmt::format("{:>11}", table.faces);
  for (const Measured& way : sizes.front().ways) {
    text += fmt::format("\n{:<24}", way.name);
    for (const Table& table : sizes) {
      const Measured* found = table.find(way.name);
      text += found ? fmt::format("{:>11.1f}", found->total.median * kMicro) : fmt::format("{:>11}", "-");
    }
  }
  text += fmt::format("\n{:<24}", "scan, ns per vertex");
  for (const Table& table : sizes) {
    const Measured* scan = table.find("scan");
    text +=
        scan ? fmt::format("{:>11.2f}", scan->total.median * 1e6 / double(table.vertices)) : fmt::format("{:>11}", "-");
  }
  return text + "\n";
}

std::string report_json(const Report& report) {
  nlohmann::ordered_json json = {{"version", report.origin.version},
                                 {"machine", report.origin.machine},
                                 {"gl", report.origin.gl},
                                 {"gl_threads", report.origin.gl_threads},
                                 {"date", report.origin.date}};
  json.update(table_json(report.main));
  json["sizes"] = nlohmann::ordered_json::array();
  for (const Table& table : report.sizes) json["sizes"].push_back(table_json(table));
  return json.dump(2) + "\n";
}

// Runs our own backends as contestants of the bench.

class OwnBackend final : public Contestant {
 public:
  explicit OwnBackend(std::unique_ptr<TouchQuery> query) : query_(std::move(query)) {}
  void rebuild(const MeshView& mesh) override { query_->rebuild(mesh); }
  void update(std::span<const glm::vec3> positions) override { query_->update(positions); }
  void query(const ToolVolume& tool) override { touches_ = query_->touched({&tool, 1}, TouchSet::Volume).touches; }
  std::vector<FaceId> answer() const override {
    std::vector<FaceId> faces;
    for (const Touch& touch : touches_) faces.push_back(touch.face);
    return faces;
  }

 private:
  std::unique_ptr<TouchQuery> query_;
  std::span<const Touch> touches_;
};

const std::map<std::string, std::string, std::less<>> kHow = {
    {"scan", "outcodes over patches, our clip"},
    {"compute", "the same three steps in compute shaders, read back"},
    {"occlusion", "geometry-shader clip, samples-passed query first"},
    {"select", "GL_SELECT, the 1999 method"},
    {"bsp", "binary space partition rebuilt"},
};

// Describes a backend by the kind of volume and the kind of update, for example "octree of spheres refitted".
std::string how(const std::string& name) {
  static const std::map<std::string_view, std::string> volumes = {
      {"aabb", "axis-aligned boxes"}, {"sphere", "spheres"}, {"obb", "oriented boxes"}, {"kdop6", "6-DOPs"},
      {"kdop14", "14-DOPs"},          {"kdop18", "18-DOPs"}, {"kdop26", "26-DOPs"},     {"quospo", "QuOSPOs"}};
  const auto plan = tree_plan(name, kAllTreeVolumes);
  if (!plan) {
    const auto found = kHow.find(name);
    return found == kHow.end() ? "" : found->second;
  }
  return (plan->split == SplitRule::Octree ? "octree of " : "tree of ") + volumes.at(plan->volume->name) +
         (plan->update == TreeUpdate::Refit ? " refitted" : " rebuilt");
}

// Our backends that this machine can run; the others are reported on stderr. Owns the OpenGL context.
class OwnBackends {
 public:
  std::vector<Entry> entries();
  std::string gl_description() { return trocar::gl_description(backends_); }

 private:
  Backends backends_;
};

std::vector<Entry> OwnBackends::entries() {
  std::vector<Entry> entries;
  for (const std::string& name : backend_list("all", backends_)) {
    entries.push_back(
        {name, false, how(name), [this, name] { return std::make_unique<OwnBackend>(backends_.make(name)); }});
  }
  return entries;
}

}  // namespace

namespace trocar::bench {
namespace {

constexpr double kPatience = 500.0;  // ms per frame
constexpr int kSizeTurns = 6;        // 1

struct Options {
  SceneFiles files;
  std::filesystem::path out;
  std::vector<std::size_t> sizes{2000, 5000, 10000, 30000, 100000, 300000, 1000000};
  std::vector<std::string> ways;  // empty: all
  MeasureOptions measure;
  int gl_threads = 1;
};

void declare(CLI::App& app, Options& options) {
  app.add_option("--mesh", options.files.mesh, "organ of the table, in millimetres (default: our own liver)");
  app.add_option("--trajectory", options.files.trajectory,
                 "CSV of the tool (default: a tool that wanders over the organ)");
  app.add_option("--radius", options.files.radius_mm, "tool radius in millimetres")->capture_default_str();
  app.add_option("--out", options.out, "folder for bench.json, bench.txt, sizes.svg and trees.svg");
  app.add_option("--sizes", options.sizes, "face counts of the second part; 0 for none")->delimiter(',');
  app.add_option("--ways", options.ways, "only these methods")->delimiter(',');
  app.add_option("--turns", options.measure.turns, "turns of each method")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seconds", options.measure.seconds_a_turn, "measured seconds per turn")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--gl-threads", options.gl_threads, "threads of a software OpenGL")->capture_default_str();
}

std::vector<Entry> chosen(std::vector<Entry> entries, const std::vector<std::string>& names) {
  if (!names.empty())
    std::erase_if(entries,
                  [&](const Entry& entry) { return std::find(names.begin(), names.end(), entry.name) == names.end(); });
  return entries;
}

#if !(defined(TROCAR_FCL) && defined(TROCAR_EMBREE) && defined(TROCAR_BULLET))
std::vector<Entry> left_out(const char* library, const char* package) {
  fmt::print(stderr, "left out: {} ({} is not installed)\n", library, package);
  return {};
}
#endif

// Ours, then those of the other libraries.
std::vector<Entry> all_entries(OwnBackends& own) {
  std::vector<Entry> entries = own.entries();
  const auto append = [&entries](std::vector<Entry> peers) {
    entries.insert(entries.end(), std::move_iterator(peers.begin()), std::move_iterator(peers.end()));
  };
#ifdef TROCAR_FCL
  append(fcl_entries());
#else
  append(left_out("FCL", "libfcl-dev"));
#endif
#ifdef TROCAR_EMBREE
  append(embree_entries());
#else
  append(left_out("Embree 3", "libembree-dev"));
#endif
#ifdef TROCAR_BULLET
  append(bullet_entries());
#else
  append(left_out("Bullet", "libbullet-dev"));
#endif
  return entries;
}

Table measured_table(const Scene& scene, std::span<const Entry> entries, const Options& options) {
  const MeshView organ = scene.frames->organ(0);
  Table table{scene.organ, scene.motion, organ.faces.size(), organ.positions.size(), 0, options.files.radius_mm, {}};
  table.checked_frames = static_cast<std::size_t>(options.measure.checked_frames);
  table.ways = measure(entries, *scene.frames, options.measure);
  return table;
}

// One plot shows methods of every kind, the other the trees alone. A plot with more lines would not be readable.
const std::vector<std::string_view> kSorts = {"compute",
                                              "occlusion",
                                              "select",
                                              "scan",
                                              "aabb-refit",
                                              "obb-refit",
                                              "obb",
                                              "embree_refit",
                                              "bullet_refit",
                                              "bullet_bare_refit",
                                              "fcl_aabb_refit_float",
                                              "fcl_obbrss_rebuild",
                                              "embree_morton"};
const std::vector<std::string_view> kTrees = {
    "aabb-refit",        "kdop14-refit", "kdop18-refit", "kdop26-refit", "obb-refit",    "quospo-refit",
    "sphere-refit",      "aabb",         "obb",          "bsp",          "embree_refit", "bullet_bare_refit",
    "fcl_obbrss_rebuild"};

std::vector<PlotLine> plot_lines(const std::vector<Table>& sizes, const std::vector<std::string_view>& names) {
  std::vector<PlotLine> lines;
  for (const Measured& way : sizes.front().ways) {
    if (std::find(names.begin(), names.end(), way.name) == names.end()) continue;
    PlotLine line{way.name, way.peer, {}};
    for (const Table& table : sizes)
      if (const Measured* found = table.find(way.name))
        line.points.emplace_back(double(table.faces), found->total.median * 1e3);
    lines.push_back(std::move(line));
  }
  return lines;
}

void save(const std::filesystem::path& file, const std::string& text) {
  OutputFile output = OutputFile::replacing(file);
  output.stream() << text;
  output.commit();
}

void save_all(const std::filesystem::path& folder, const Report& report) {
  std::filesystem::create_directories(folder);
  save(folder / "bench.json", report_json(report));
  save(folder / "bench.txt", table_text(report.origin, report.main) + "\n" + sizes_text(report.sizes));
  if (report.sizes.empty()) return;
  const PlotText text{"One frame: new positions in, touched faces out",
                      report.origin.machine + "; medians, " + report.origin.date};
  save(folder / "sizes.svg", size_plot(text, plot_lines(report.sizes, kSorts)));
  save(folder / "trees.svg", size_plot(text, plot_lines(report.sizes, kTrees)));
}

// Measures the cost against the number of faces. A method slower than kPatience is not run on larger organs.
void measure_sizes(std::vector<Entry> entries, Options options, Report& report) {
  options.measure.checked_frames = 1;
  options.measure.turns = std::min(options.measure.turns, kSizeTurns);
  for (const std::size_t faces : options.sizes) {
    if (faces == 0) continue;
    fmt::print(stderr, "{} faces\n", faces);
    report.sizes.push_back(measured_table(make_sized_scene(faces, options.files.radius_mm), entries, options));
    std::erase_if(entries, [&](const Entry& entry) {
      const Measured* way = report.sizes.back().find(entry.name);
      return !way || way->total.median > kPatience;
    });
  }
}

void run(const Options& options) {
  OwnBackends own;
  const std::vector<Entry> entries = chosen(all_entries(own), options.ways);
  Report report;
  report.origin = {kVersion, machine_description(), own.gl_description(), today(), options.gl_threads};
  report.main = measured_table(make_scene(options.files), entries, options);
  fmt::print("{}\n", table_text(report.origin, report.main));
  if (!options.out.empty()) save_all(options.out, report);

  measure_sizes(entries, options, report);
  fmt::print("{}", sizes_text(report.sizes));
  if (!options.out.empty()) save_all(options.out, report);
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  CLI::App app("Cost of one frame: our backends and other libraries on the same frames.");
  trocar::bench::Options options;
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  setenv("LP_NUM_THREADS", std::to_string(options.gl_threads).c_str(), 0);
  std::vector<std::string> flags{argv[0], "--benchmark_enable_random_interleaving=true"};
  std::vector<char*> pointers;
  for (std::string& flag : flags) pointers.push_back(flag.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  try {
    trocar::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}

}  // namespace trocar::bench

// trocar_bench: measures the cost of one frame (new positions in, touched faces out) for our backends and other
// libraries. Prints a table for one organ, then the cost against the number of faces; writes both as JSON and a plot.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "app/compare/backends.hpp"
#include "bench/report.hpp"
#include "bench/size_plot.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"

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

std::vector<Entry> all_entries(OwnBackends& own) {
  std::vector<Entry> entries = own.entries();
  for (auto* peers : {fcl_entries, embree_entries, bullet_entries})
    for (Entry& entry : peers()) entries.push_back(std::move(entry));
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

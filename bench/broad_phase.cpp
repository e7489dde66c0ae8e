// trocar_broad_phase: measures the cost of a frame of every broad phase against the number of objects, at constant
// density and coherent motion. Counts the swaps of sweep and prune, and tests whether its time is O(n + m).
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>

#include "bench/broad_phase_report.hpp"
#include "bench/drifting_cubes.hpp"
#include "cpu_collision/broad_phase/sweep_and_prune.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "study/broad_phase/brute_force.hpp"
#include "study/broad_phase/plane_cache.hpp"
#include "study/broad_phase/uniform_grid.hpp"

namespace trocar::bench {
namespace {

using broad::Box, broad::Pair;

struct Options {
  std::vector<std::size_t> objects{10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000};
  std::vector<double> speeds{0.001, 0.01, 0.1, 1.0};  // in box sides per frame
  std::size_t most_brute = 10000;                     // objects
  std::filesystem::path csv, svg;
};

// Returns the overlapping pairs of this frame's boxes.
using Find = std::function<std::span<const Pair>(std::span<const Box>)>;

struct Method {
  std::string name;
  Find find;
  const broad::SweepAndPrune* sweep = nullptr;
  std::vector<double> us = {};
  std::uint64_t swaps = 0, status_swaps = 0;
  std::size_t afresh = 0;
};

std::span<const Pair> update(broad::SweepAndPrune& sweep, std::span<const Box> boxes) {
  for (std::uint32_t k = 0; k < boxes.size(); ++k) sweep.set(broad::ObjectId(k), boxes[k]);
  sweep.update();
  return sweep.pairs();
}

// All methods with the state that they keep from frame to frame.
struct Contestants {
  broad::SweepAndPrune by_status{{.status_limit = 4096}}, by_boxes{{.status_limit = 0}};
  broad::UniformGrid grid;
  broad::PlaneCache planes;
  std::vector<Pair> brute;

  Contestants(std::span<const Box> boxes, double side) : grid(cells(side)) {
    for (const Box& box : boxes) by_status.add(box), by_boxes.add(box);
  }
  static broad::GridAxes cells(double side) {
    broad::GridAxes axes;
    for (broad::GridAxis& axis : axes) axis.cell = side;
    return axes;
  }
  std::vector<Method> methods(std::size_t objects, std::size_t most_brute) {
    std::vector<Method> all;
    all.push_back({"sweep and prune", [this](auto boxes) { return update(by_boxes, boxes); }, &by_boxes});
    if (objects <= 3000)
      all.push_back({"sweep, status table", [this](auto boxes) { return update(by_status, boxes); }, &by_status});
    all.push_back({"uniform grid", [this](auto boxes) { return grid.pairs(boxes); }});
    if (objects > most_brute) return all;
    all.push_back({"cached planes", [this](auto boxes) { return planes.pairs(boxes); }});
    all.push_back({"brute force", [this](auto boxes) {
                     broad::brute_force_pairs(boxes, brute);
                     return std::span<const Pair>(brute);
                   }});
    return all;
  }
};

// Returns a number of frames that gives a steady median; the number is smaller where a frame is slow.
std::size_t frame_count(std::size_t objects) { return std::clamp<std::size_t>(300000 / objects, 8, 400); }

void take_turn(Method& method, std::span<const Box> boxes, std::span<const Pair> expected, bool timed) {
  const auto start = std::chrono::steady_clock::now();
  const std::span<const Pair> pairs = method.find(boxes);
  const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  if (!expected.empty() && !std::ranges::equal(pairs, expected))
    throw std::runtime_error(fmt::format("{} and sweep and prune find different pairs", method.name));
  if (!timed) return;
  method.us.push_back(us);
  if (method.sweep == nullptr) return;
  method.swaps += method.sweep->counters().swaps;
  method.status_swaps += method.sweep->counters().status_swaps;
  method.afresh += method.sweep->counters().swept_afresh;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

std::vector<BroadPhaseRow> measure(std::size_t objects, double speed, const Options& options) {
  constexpr std::size_t kWarm = 3;  // frames
  DriftingCubes moving(objects, speed);
  Contestants contestants(moving.boxes(), DriftingCubes::kSide);
  std::vector<Method> methods = contestants.methods(objects, options.most_brute);
  const std::size_t frames = frame_count(objects);
  std::size_t pairs = 0;
  for (std::size_t frame = 0; frame < kWarm + frames; ++frame) {
    const bool timed = frame >= kWarm;
    take_turn(methods[0], moving.boxes(), {}, timed);
    const auto expected = contestants.by_boxes.pairs();
    for (std::size_t k = 1; k < methods.size(); ++k) take_turn(methods[k], moving.boxes(), expected, timed);
    pairs += timed ? expected.size() : 0;
    moving.frame();
  }
  const auto each = [frames](auto sum) { return static_cast<double>(sum) / static_cast<double>(frames); };
  std::vector<BroadPhaseRow> rows;
  for (Method& method : methods)
    rows.push_back({method.name, objects, speed, each(pairs), median(std::move(method.us)), each(method.swaps),
                    each(method.status_swaps), each(method.afresh)});
  return rows;
}

void save(const std::filesystem::path& file, const std::string& text) {
  OutputFile output = OutputFile::replacing(file);
  output.stream() << text;
  output.commit();
}

void run(const Options& options) {
  fmt::print("Drifting cubes of one size at constant density, {:.2f} of the space filled; {}; {}\n",
             DriftingCubes::kFilled, machine_description(), today());
  fmt::print("One core; microseconds per frame, median; all methods are checked to find the same pairs\n\n");
  std::vector<BroadPhaseRow> rows;
  for (const double speed : options.speeds) {
    fmt::print("{}", broad_phase_heading(speed));
    for (const std::size_t objects : options.objects) {
      const std::vector<BroadPhaseRow> more = measure(objects, speed, options);
      fmt::print("{}", broad_phase_line(more));
      rows.insert(rows.end(), more.begin(), more.end());
    }
    fmt::print("{}\n", broad_phase_growth(rows, speed));
  }
  if (!options.csv.empty()) save(options.csv, broad_phase_csv(rows));
  if (!options.svg.empty()) save(options.svg, broad_phase_plot(rows, machine_description()));
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  CLI::App app("Cost of a frame of every broad phase against the number of objects.");
  trocar::bench::Options options;
  app.add_option("--objects", options.objects, "numbers of objects");
  app.add_option("--speeds", options.speeds, "motion per frame in box sides");
  app.add_option("--most-brute", options.most_brute, "largest number of objects for brute force and cached planes");
  app.add_option("--csv", options.csv, "file for all numbers (CSV)");
  app.add_option("--svg", options.svg, "file for the plot (SVG)");
  CLI11_PARSE(app, argc, argv);
  try {
    trocar::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

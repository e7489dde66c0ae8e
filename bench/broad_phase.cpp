// trocar_broad_phase: measures the cost of a frame of every broad phase against the number of objects, at constant
// density and coherent motion. Counts the swaps of sweep and prune, and tests whether its time is O(n + m).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bench/plots.hpp"
#include "cpu_collision/broad_phase/box.hpp"
#include "cpu_collision/broad_phase/sweep_and_prune.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "study/broad_phase/broad_phase.hpp"

namespace trocar::bench {
namespace {

// Moves cubes of one size that drift through a large cube and bounce off its walls. The density is the same for any
// number of cubes.

class DriftingCubes {
 public:
  static constexpr double kSide = 0.01;    // m  of each
  static constexpr double kFilled = 0.25;  // 1  of the space: about one overlap per object

  // Makes the cubes. `speed`: motion of each cube per frame, in its own random direction, as a share of its side.
  DriftingCubes(std::size_t objects, double speed)
      : length_(kSide * std::cbrt(static_cast<double>(objects) / kFilled)), bodies_(objects), boxes_(objects) {
    std::mt19937 random(static_cast<std::uint32_t>(objects));
    std::uniform_real_distribution<double> coordinate(0.0, length_);
    std::normal_distribution<double> axis;
    for (Body& body : bodies_) {
      body.centre = {coordinate(random), coordinate(random), coordinate(random)};
      const glm::dvec3 direction(axis(random), axis(random), axis(random));
      body.motion = speed * kSide * glm::normalize(direction);
    }
    set_boxes();
  }

  void frame() {
    for (Body& body : bodies_) {
      body.centre += body.motion;
      for (int axis = 0; axis < 3; ++axis)
        if (body.centre[axis] < 0.0 || body.centre[axis] > length_) {
          body.motion[axis] = -body.motion[axis];
          body.centre[axis] += 2.0 * body.motion[axis];
        }
    }
    set_boxes();
  }

  std::span<const broad::Box> boxes() const { return boxes_; }

 private:
  struct Body {
    glm::dvec3 centre, motion;
  };

  void set_boxes() {
    for (std::size_t k = 0; k < bodies_.size(); ++k)
      boxes_[k] = broad::cube(glm::vec3(bodies_[k].centre), static_cast<float>(kSide / 2.0));
  }

  double length_;  // m
  std::vector<Body> bodies_;
  std::vector<broad::Box> boxes_;
};

// Writes the results of the broad-phase bench as text, CSV and a plot.

// One method at one number of objects and one speed; the numbers are means or medians per frame.
struct BroadPhaseRow {
  std::string method;
  std::size_t objects = 0;
  double speed = 0.0;  // box sides per frame
  double pairs = 0.0;
  double us = 0.0;            // median
  double swaps = 0.0;         // of ends in the sorted lists
  double status_swaps = 0.0;  // those of a low end with a high end
  double afresh = 0.0;        // share of frames with a full sort
};

constexpr const char* kMethods[] = {"sweep and prune", "sweep, status table", "uniform grid", "cached planes",
                                    "brute force"};
constexpr std::size_t kLarge = 1000;  // objects from which growth is reported

using Points = std::vector<std::pair<double, double>>;

// Returns the exponent of y over x, by least squares of log y over log x.
double exponent(const Points& points) {
  double sum_x = 0.0, sum_y = 0.0, sum_xx = 0.0, sum_xy = 0.0, count = 0.0;
  for (const auto& [x, y] : points) {
    if (y <= 0.0) continue;
    const double u = std::log(x), v = std::log(y);
    sum_x += u, sum_y += v, sum_xx += u * u, sum_xy += u * v, count += 1.0;
  }
  const double spread = count * sum_xx - sum_x * sum_x;
  return count > 1.0 && spread > 0.0 ? (count * sum_xy - sum_x * sum_y) / spread : 0.0;
}

template <typename Value>
Points points_of(std::span<const BroadPhaseRow> rows, const std::string& method, double speed, std::size_t from,
                 Value value) {
  Points points;
  for (const BroadPhaseRow& row : rows)
    if (row.method == method && row.speed == speed && row.objects >= from)
      points.emplace_back(static_cast<double>(row.objects), value(row));
  return points;
}

double us_of(const BroadPhaseRow& row) { return row.us; }

std::string broad_phase_heading(double speed) {
  std::string text = fmt::format("motion per frame: {:g} box sides\n{:>8} {:>9}", speed, "n", "pairs m");
  for (const char* method : kMethods) text += fmt::format(" {:>19}", method);
  return text + fmt::format(" {:>12} {:>12} {:>7}\n", "swaps", "low-high", "re-sort");
}

// Returns one line with all methods at one number of objects.
std::string broad_phase_line(std::span<const BroadPhaseRow> rows) {
  const BroadPhaseRow& sweep = rows.front();
  std::string text = fmt::format("{:>8} {:>9.0f}", sweep.objects, sweep.pairs);
  for (const char* method : kMethods) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const BroadPhaseRow& r) { return r.method == method; });
    text += row == rows.end() ? fmt::format(" {:>19}", "") : fmt::format(" {:>19.2f}", row->us);
  }
  return text + fmt::format(" {:>12.1f} {:>12.1f} {:>6.0f}%\n", sweep.swaps, sweep.status_swaps, 100.0 * sweep.afresh);
}

// Describes the growth of time and swaps with the number of objects: exponents over the larger numbers, swaps per
// object and pair.
std::string broad_phase_growth(std::span<const BroadPhaseRow> rows, double speed) {
  const std::string sweep = kMethods[0];
  std::string text = fmt::format("growth from n = {} on: time ~ n^p with p =", kLarge);
  for (const char* method : kMethods) {
    const Points points = points_of(rows, method, speed, kLarge, us_of);
    if (points.size() > 2) text += fmt::format(" {:.2f} ({})", exponent(points), method);
  }
  const auto swaps = points_of(rows, sweep, speed, kLarge, [](const BroadPhaseRow& row) { return row.swaps; });
  text += fmt::format("; swaps ~ n^{:.2f}\n", exponent(swaps));
  text += fmt::format("{:>8} {:>16} {:>16} {:>16}\n", "n", "ns/(n + m)", "swaps/(n + m)", "swaps/n^(5/3)");
  for (const BroadPhaseRow& row : rows) {
    if (row.method != sweep || row.speed != speed || row.objects < kLarge) continue;
    const double objects = static_cast<double>(row.objects), size = objects + row.pairs;
    text += fmt::format("{:>8} {:>16.1f} {:>16.3f} {:>16.5f}\n", row.objects, 1e3 * row.us / size, row.swaps / size,
                        row.swaps / std::pow(objects, 5.0 / 3.0));
  }
  return text;
}

std::string broad_phase_csv(std::span<const BroadPhaseRow> rows) {
  std::string csv = "method,objects,speed,pairs,us,swaps,status_swaps,afresh\n";
  for (const BroadPhaseRow& row : rows)
    csv += fmt::format("\"{}\",{},{:g},{:.1f},{:.3f},{:.1f},{:.1f},{:.3f}\n", row.method, row.objects, row.speed,
                       row.pairs, row.us, row.swaps, row.status_swaps, row.afresh);
  return csv;
}

// Plots sweep and prune at every speed, and the other methods at one speed, because the speed hardly affects them.
std::string broad_phase_plot(std::span<const BroadPhaseRow> rows, const std::string& machine) {
  if (rows.empty()) return "";
  std::vector<double> speeds;
  for (const BroadPhaseRow& row : rows)
    if (std::find(speeds.begin(), speeds.end(), row.speed) == speeds.end()) speeds.push_back(row.speed);
  const double middle = speeds[speeds.size() / 2];
  std::vector<PlotLine> lines;
  for (const double speed : speeds)
    lines.push_back({fmt::format("sweep, motion {:g}", speed), false, points_of(rows, kMethods[0], speed, 0, us_of)});
  lines.push_back({kMethods[2], false, points_of(rows, kMethods[2], middle, 0, us_of)});
  for (const char* method : {kMethods[3], kMethods[4]})
    lines.push_back({method, true, points_of(rows, method, middle, 0, us_of)});
  return size_plot(
      {"Broad phase: time per frame against the number of objects",
       fmt::format("drifting cubes at constant density; motion in box sides per frame; {}", machine), "objects"},
      lines);
}

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

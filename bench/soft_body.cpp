// trocar_soft_body: measures the cost of a spring, ours and Bullet's, on the same lattice and one core; the growth of
// the cost up to a million springs; the sag of a column at that cost; and the memory.
#include <fmt/format.h>
#include <pmmintrin.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <numeric>
#include <random>

#include "bench/soft_body_report.hpp"
#include "deform/elastic_forces.hpp"
#include "geometry/stopwatch.hpp"
#include "mesh/organ_maker.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"

namespace trocar::bench {
namespace {

struct Options {
  std::filesystem::path out;
  std::vector<double> spacings_mm{24.0, 17.0, 12.0, 8.0, 5.7, 4.0, 2.86};
  int turns = 40;                // 1   of each method
  double milliseconds = 10.0;    // ms  of a turn
  double memory_spacing = 2.86;  // mm
};

double milliseconds_of(SoftBody& body, int passes) {
  const auto start = Clock::now();
  for (int i = 0; i < passes; ++i) body.pass();
  return milliseconds_since(start) / passes;
}

// Runs all methods in turn, in a new random order each time.
std::vector<SoftBodyTime> take_turns(std::vector<SoftBodyWay>& ways, const Options& options) {
  std::vector<int> passes;
  for (SoftBodyWay& way : ways) {
    milliseconds_of(*way.body, 1);
    passes.push_back(std::max(1, static_cast<int>(options.milliseconds / milliseconds_of(*way.body, 1))));
  }
  std::vector<std::vector<double>> samples(ways.size());
  std::vector<std::size_t> order(ways.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);
  for (int turn = 0; turn < options.turns; ++turn) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) samples[i].push_back(milliseconds_of(*ways[i].body, passes[i]));
  }
  std::vector<SoftBodyTime> times;
  for (std::size_t i = 0; i < ways.size(); ++i)
    times.push_back({ways[i].name, ways[i].how, ways[i].iterations, summarise(std::move(samples[i]))});
  return times;
}

SoftBodyTable measure_spacing(const TriangleMesh& organ, double spacing_mm, const Options& options) {
  TissueParams params;
  params.node_spacing = static_cast<float>(1e-3 * spacing_mm);
  const TissueModel model = make_tissue(organ.view(), params, {});
  std::vector<SoftBodyWay> ways = own_soft_bodies(model);
  for (SoftBodyWay& way : bullet_soft_bodies(model)) ways.push_back(std::move(way));
  return {model.rest.size(), spring_count(model), 1e-3 * spacing_mm, take_turns(ways, options)};
}

std::string sags() {
  // Asked for one substep, ours takes the number that it needs to be stable.
  const std::array<int, 3> substeps{1, 20, 40}, sweeps{1, 10, 40};
  const TissueModel column = hanging_column();
  std::vector<Sag> all = own_sags(column, substeps);
  for (Sag& sag : bullet_sags(column, sweeps)) all.push_back(std::move(sag));
  return sag_text(column, all);
}

void save(const std::filesystem::path& file, const std::string& text) {
  OutputFile output = OutputFile::replacing(file);
  output.stream() << text;
  output.commit();
}

// Flushes denormal numbers to zero. Bodies come to rest while they are timed; denormals would slow down Bullet but not
// us, because our step flushes them anyway.
void flush_denormals() { _mm_setcsr(_mm_getcsr() | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON); }

void run(const Options& options) {
  flush_denormals();
  const TriangleMesh organ = make_liver({});
  TissueParams fine;
  fine.node_spacing = static_cast<float>(1e-3 * options.memory_spacing);
  const std::string memory = memory_text(measure_tissue_memory(organ, fine));

  const std::string origin = fmt::format("{}; {}; ours: {}", machine_description(), today(), force_instructions());
  std::string text = fmt::format(
      "Our liver filled with lattices, without contacts; {}\n"
      "One core; methods run in turn in random order; ns: time of a pass / (springs x iterations)\n\n",
      origin);
  fmt::print("{}", text);
  std::vector<SoftBodyTable> tables;
  for (const double spacing : options.spacings_mm) {
    tables.push_back(measure_spacing(organ, spacing, options));
    const std::string table = soft_body_text(tables.back()) + "\n";
    fmt::print("{}", table);
    text += table;
  }
  const std::string end = soft_body_summary(tables) + "\n" + sags() + "\n" + memory;
  fmt::print("{}", end);
  if (options.out.empty()) return;
  std::filesystem::create_directories(options.out);
  save(options.out / "soft_body.txt", text + end);
  save(options.out / "soft_body.csv", soft_body_csv(tables));
  save(options.out / "soft_body_cost.svg", soft_body_plot(tables, origin));
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  CLI::App app("Cost of a spring: our tissue and Bullet's soft body on the same lattice.");
  trocar::bench::Options options;
  app.add_option("--out", options.out, "folder for soft_body.txt, soft_body.csv and soft_body_cost.svg");
  app.add_option("--spacings", options.spacings_mm, "node spacings in millimetres")->delimiter(',');
  app.add_option("--turns", options.turns, "turns of each method")->check(CLI::PositiveNumber);
  app.add_option("--milliseconds", options.milliseconds, "measured time per turn")->check(CLI::PositiveNumber);
  app.add_option("--memory-spacing", options.memory_spacing, "node spacing of the memory table in millimetres");
  try {
    app.parse(argc, argv);
    trocar::bench::run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}

// trocar_view_bench: measures the cost of a picture of the scope's view, off-screen, at each quality. The organs
// tremble, so that positions and normals are new in every picture; drawing is finished (glFinish) before the clock
// stops.
#include <fmt/format.h>
#include <glad/gl.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "bench/view_shots.hpp"
#include "geometry/error.hpp"
#include "geometry/stopwatch.hpp"
#include "sim/support/process.hpp"

namespace trocar::bench {
namespace {

struct Options {
  int width = 1280, height = 720, pictures = 200, faces = 20000;
  std::string folder;  // for pictures of every shot; empty: measure
};

// Returns the user CPU time of this process, all threads, s.
double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

double load() {
  double one_minute = 0.0;
  return getloadavg(&one_minute, 1) == 1 ? one_minute : -1.0;
}

void measure(View& view, ShotOrgans& organs, const Shot& shot, Quality quality, const Options& options) {
  ViewSettings settings;
  settings.quality = quality;
  std::vector<double> ms;
  double cpu_start = 0.0;
  constexpr int kWarm = 10;
  for (int k = 0; k < options.pictures + kWarm; ++k) {
    if (k == kWarm) cpu_start = cpu_seconds();
    organs.tremble(k);
    settings.time = k / 30.0;
    const auto start = Clock::now();
    view.draw(organs.drawn(), shot.tools, {}, shot.scope, shot.lens, shot.marks, settings, options.width,
              options.height);
    glFinish();
    if (k >= kWarm) ms.push_back(milliseconds_since(start));
  }
  const double cpu = 1e3 * (cpu_seconds() - cpu_start) / options.pictures;
  std::sort(ms.begin(), ms.end());
  const char* names[] = {"low", "medium", "high"};
  fmt::print("{:<8} {:8.1f} {:8.1f} {:8.1f} {:10.1f} {:8.1f}\n", names[static_cast<int>(quality)], ms.front(),
             ms[ms.size() / 2], ms[ms.size() * 95 / 100], cpu, load());
}

void take(View& view, ShotOrgans& organs, const Shot& shot, const Options& options) {
  PictureTarget target(options.width, options.height);
  target.bind();
  ViewSettings settings;
  const int frames = 1 + static_cast<int>(shot.seconds * 30.0);
  for (int k = 0; k < frames; ++k) {
    settings.time = k / 30.0;
    view.draw(organs.drawn(), shot.tools, {}, shot.scope, shot.lens, shot.marks, settings, options.width,
              options.height);
  }
  target.save_png(options.folder + "/" + shot.name + ".png");
}

int run(const Options& options) {
  std::string why;
  const auto context = make_offscreen_context(why);
  if (!context) throw RunError("no OpenGL: " + why);
  ShotOrgans organs(options.faces);
  const std::vector<Shot> shots = make_shots(organs);
  View view(*context, organs.drawn());
  if (!options.folder.empty()) {
    for (const Shot& shot : shots) take(view, organs, shot, options);
    return 0;
  }
  PictureTarget target(options.width, options.height, 1);
  target.bind();
  fmt::print("{}, {}\n{} x {}, {} organ faces, {} instruments, {} pictures each\n", machine_description(),
             context->info().renderer, options.width, options.height, organs.faces(), shots[0].tools.size(),
             options.pictures);
  fmt::print("quality   min ms  median      p95  user CPU ms  load\n");
  for (const Quality quality : {Quality::High, Quality::Medium, Quality::Low})
    measure(view, organs, shots[0], quality, options);
  return 0;
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  trocar::bench::Options options;
  CLI::App program("Cost of a picture of the scope's view");
  program.add_option("--width", options.width)->capture_default_str();
  program.add_option("--height", options.height)->capture_default_str();
  program.add_option("--frames", options.pictures, "Pictures of each quality")->capture_default_str();
  program.add_option("--faces", options.faces, "Faces of the liver")->capture_default_str();
  program.add_option("--pictures", options.folder, "Save every shot in this folder instead of measuring");
  CLI11_PARSE(program, argc, argv);
  try {
    return trocar::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

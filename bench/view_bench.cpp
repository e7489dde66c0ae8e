// trocar_view_bench: measures the cost of a picture of the scope's view, off-screen, at each quality. The organs
// tremble, so that positions and normals are new in every picture; drawing is finished (glFinish) before the clock
// stops.
#include <fmt/format.h>
#include <glad/gl.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "app/view/view.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "mesh/organ_maker.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/support/process.hpp"

namespace trocar::bench {
namespace {

// Makes the pictures on which the view is measured and inspected: our own liver and stomach, instruments, marks.

// Two organs that can tremble, so that every picture has new positions.
class ShotOrgans {
 public:
  explicit ShotOrgans(int liver_faces);
  // Moves every vertex a few micrometres from rest, differently for each `frame`; allocates nothing.
  void tremble(int frame);
  std::span<const DrawnOrgan> drawn() const { return drawn_; }
  std::size_t faces() const;
  // Returns the point where a ray through this position of the pinhole picture (half heights) meets the organs, within
  // an edge.
  glm::vec3 on_surface(const ScopePose& scope, const glm::dvec2& position) const;

 private:
  TriangleMesh meshes_[2];
  std::vector<glm::vec3> moved_[2];
  std::vector<DrawnOrgan> drawn_;
};

struct Shot {
  std::string name;
  ScopePose scope;
  Lens lens;
  std::vector<DrawnTool> tools;
  std::vector<glm::vec3> path;     // [point] m
  std::vector<glm::dvec2> corner;  // half heights
  DrawnMarks marks;                // borrows from the two above
  double seconds = 0.0;            // time that is drawn at 30 Hz before the picture is saved

  Shot() = default;
  Shot(Shot&&) = default;  // vectors keep their storage, so the marks' spans stay valid
};

ScopePose looking(const glm::dvec3& eye, const glm::dvec3& target, double field_of_view_deg, double angle_deg = 0.0,
                  double spin_deg = 0.0) {
  ScopePose pose = scope_looking_at(eye, target, angle_deg, spin_deg, 0.16);
  pose.field_of_view_deg = field_of_view_deg;
  return pose;
}

const ScopePose kUsual = looking({0.0, -0.105, 0.265}, {-0.018, 0.055, 0.150}, 52.0);

DrawnTool tool(InstrumentKind kind, const glm::dvec3& pivot, const glm::dvec3& tip, double grip, double roll_deg,
               bool energy = false) {
  DrawnTool drawn;
  drawn.pose = {pivot, tip, 0.0025};
  drawn.kind = kind;
  drawn.grip = grip;
  drawn.roll_deg = roll_deg;
  drawn.energy = energy ? Diathermy::Cut : Diathermy::Off;
  drawn.heats = energy;
  return drawn;
}

void mark(const ShotOrgans& organs, Shot& shot) {
  const MarkState states[] = {MarkState::Done, MarkState::Next, MarkState::Waiting, MarkState::Error};
  const glm::dvec2 positions[] = {{-0.55, 0.15}, {-0.25, 0.22}, {0.02, 0.33}, {0.30, 0.37}};
  for (int k = 0; k < 4; ++k)
    shot.marks.targets.push_back({organs.on_surface(shot.scope, positions[k]), 0.005f, states[k]});
  for (int k = 0; k <= 24; ++k) {
    const double u = k / 24.0;
    shot.path.push_back(organs.on_surface(shot.scope, {-0.05 + 0.5 * u, -0.42 + 0.15 * std::sin(6.0 * u)}));
  }
  shot.marks.paths.push_back({shot.path, 0.002f, 10, MarkState::Next});
}

Shot named(std::string name, const ScopePose& scope) {
  Shot shot;
  shot.name = std::move(name);
  shot.scope = scope;
  return shot;
}

// Returns a point `off` metres before a surface point, towards the scope.
glm::dvec3 tip_at(const ShotOrgans& organs, const ScopePose& scope, const glm::dvec2& position, double off) {
  const glm::dvec3 p(organs.on_surface(scope, position));
  return p + off * glm::normalize(scope.eye - p);
}

ShotOrgans::ShotOrgans(int liver_faces) : meshes_{make_liver({.faces = liver_faces}), make_stomach()} {
  const glm::vec3 colours[] = {{0.31f, 0.060f, 0.048f}, {0.62f, 0.33f, 0.28f}};
  for (int k = 0; k < 2; ++k) {
    moved_[k] = meshes_[k].positions;
    drawn_.push_back({meshes_[k].view(), colours[k], moved_[k], {}, 0});
  }
}

void ShotOrgans::tremble(int frame) {
  for (int k = 0; k < 2; ++k) {
    for (std::size_t v = 0; v < moved_[k].size(); ++v)
      moved_[k][v].z = meshes_[k].positions[v].z + 5e-6f * std::sin(0.7f * static_cast<float>(frame));
  }
}

std::size_t ShotOrgans::faces() const { return meshes_[0].faces.size() + meshes_[1].faces.size(); }

glm::vec3 ShotOrgans::on_surface(const ScopePose& scope, const glm::dvec2& position) const {
  glm::vec3 best(0.f);
  double best_cost = std::numeric_limits<double>::infinity();
  for (const TriangleMesh& mesh : meshes_) {
    for (const glm::vec3& p : mesh.positions) {
      const SeenPoint seen = seen_point(scope, Lens{.barrel = 0.0}, p);
      const double aside = glm::distance(seen.location, position);
      if (!seen.visible || aside > 0.06) continue;
      const double cost = glm::distance(glm::dvec3(p), scope.eye) + 0.4 * aside;
      if (cost < best_cost) {
        best_cost = cost;
        best = p;
      }
    }
  }
  return best;
}

// [0] is the measured one: two instruments and marks.
std::vector<Shot> make_shots(const ShotOrgans& organs) {
  std::vector<Shot> shots;
  shots.push_back(named("two-tools", kUsual));
  shots.back().tools = {
      tool(InstrumentKind::Grasper, {-0.095, -0.075, 0.265}, tip_at(organs, kUsual, {-0.35, 0.05}, 0.002), 0.5, 30.0),
      tool(InstrumentKind::Hook, {0.105, -0.095, 0.260}, tip_at(organs, kUsual, {0.45, -0.15}, 0.004), 1.0, 160.0)};
  mark(organs, shots.back());

  shots.push_back(named("close-up", looking({-0.03, -0.02, 0.225}, {-0.04, 0.07, 0.165}, 60.0)));

  const ScopePose near = looking({0.0, -0.02, 0.245}, {-0.02, 0.07, 0.165}, 60.0);
  shots.push_back(named("burn", near));
  shots.back().tools = {
      tool(InstrumentKind::Hook, {0.105, -0.05, 0.270}, tip_at(organs, near, {0.1, 0.0}, 0.0), 1.0, 60.0, true)};
  shots.back().tools[0].touching = true;
  shots.back().seconds = 2.5;

  shots.push_back(named("thirty-degrees", looking({0.0, -0.105, 0.245}, {-0.018, 0.055, 0.150}, 60.0, 30.0, 60.0)));
  shots.back().tools = shots.front().tools;

  shots.push_back(named("four-tools", near));
  const InstrumentKind kinds[] = {InstrumentKind::Probe, InstrumentKind::Grasper, InstrumentKind::Hook,
                                  InstrumentKind::Scissors};
  const glm::dvec3 pivots[] = {{-0.15, -0.03, 0.27}, {-0.10, -0.09, 0.25}, {0.11, -0.05, 0.27}, {0.06, -0.11, 0.26}};
  const glm::dvec2 positions[] = {{-0.55, 0.35}, {-0.35, -0.25}, {0.45, 0.2}, {0.2, -0.3}};
  for (int k = 0; k < 4; ++k)
    shots.back().tools.push_back(
        tool(kinds[k], pivots[k], tip_at(organs, near, positions[k], 0.006), 0.6, k == 2 ? 150.0 : 40.0));

  shots.push_back(named("marks", near));
  mark(organs, shots.back());

  shots.push_back(named("zone", kUsual));
  shots.back().tools = shots.front().tools;
  shots.back().corner = {{-0.2, -0.5}, {0.5, -0.55}, {0.75, -0.1}, {0.3, 0.05}, {0.15, -0.2}, {-0.1, -0.05}};
  shots.back().marks.zones.push_back({shots.back().corner, false});
  return shots;
}

struct Options {
  int width = 1280, height = 720, pictures = 200, faces = 20000;
  bool neighbours = false;
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

std::vector<DrawnBackdrop> neighbours() {
  std::vector<BackdropScene> scenes;
  for (const BackdropShape shape : kBackdropShapes) scenes.push_back({.shape = shape, .look = TissueLook::Serosa});
  return drawn_backdrops(scenes);
}

int run(const Options& options) {
  std::string why;
  const auto context = make_offscreen_context(why);
  if (!context) throw RunError("no OpenGL: " + why);
  ShotOrgans organs(options.faces);
  const std::vector<Shot> shots = make_shots(organs);
  View view(*context, organs.drawn(), options.neighbours ? neighbours() : std::vector<DrawnBackdrop>{});
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
  program.add_flag("--neighbours", options.neighbours, "Draw the neighbours of an operation behind them");
  program.add_option("--pictures", options.folder, "Save every shot in this folder instead of measuring");
  CLI11_PARSE(program, argc, argv);
  try {
    return trocar::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

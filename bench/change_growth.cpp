// trocar_change_growth: measures the cost of a change of about 60 faces against the number of faces of the organ, by
// change_faces() and by rebuild(), for each backend. Each change removes the faces around a point that moves over a
// ball and adds them again as new faces. Units: milliseconds of CPU time of this process, medians: other
// programs do not disturb it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <ctime>

#include "app/compare/backends.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/support/process.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::bench {
namespace {

struct Options {
  std::vector<std::string> backends{"scan", "compute", "obb-refit", "aabb-refit", "occlusion"};
  std::vector<std::size_t> faces{5000, 20000, 80000, 320000};
  int changes = 60;
};

constexpr float kBall = 0.1f;  // m, radius

double cpu_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Moves the faces with a corner near the point to the end. Returns the numbers that they had.
std::vector<FaceId> renew_faces(TriangleMesh& mesh, const glm::vec3& at, float radius) {
  std::vector<FaceId> removed;
  std::vector<glm::uvec3> kept, renewed;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    const glm::uvec3& face = mesh.faces[f];
    const bool near = glm::distance(mesh.positions[face.x], at) < radius;
    (near ? renewed : kept).push_back(face);
    if (near) removed.push_back(FaceId{f});
  }
  kept.insert(kept.end(), renewed.begin(), renewed.end());
  mesh.faces = std::move(kept);
  return removed;
}

struct Cost {
  double change, rebuild;  // ms
  std::size_t faces;       // changed, the median
};

Cost measure(const std::string& backend, std::size_t faces, int changes, Backends& backends) {
  TriangleMesh mesh = shapes::sphere_of(faces, kBall);
  // Of the ball's area, so much that 60 faces lie in it.
  const float radius = 2.f * kBall * std::sqrt(60.f / static_cast<float>(faces));
  const auto query = backends.make(backend);
  query->rebuild(mesh.view());
  std::vector<double> change_ms, rebuild_ms, changed;
  for (int k = 0; k < changes; ++k) {
    const float turn = 0.05f * static_cast<float>(k);
    const std::vector<FaceId> removed =
        renew_faces(mesh, kBall * glm::vec3(std::cos(turn), std::sin(turn), 0.f), radius);
    double start = cpu_ms();
    query->change_faces(mesh.view(), removed);
    change_ms.push_back(cpu_ms() - start);
    changed.push_back(static_cast<double>(removed.size()));
    if (k % 8 != 0) continue;
    const auto fresh = backends.make(backend);
    fresh->rebuild(mesh.view());
    start = cpu_ms();
    fresh->rebuild(mesh.view());
    rebuild_ms.push_back(cpu_ms() - start);
  }
  return {median(change_ms), median(rebuild_ms), static_cast<std::size_t>(median(changed))};
}

void run(const Options& options) {
  Backends backends;
  fmt::print("{}; {}; OpenGL {}\n", machine_description(), today(), gl_description(backends));
  fmt::print("{:<12} {:>9} {:>9} {:>12} {:>10}\n", "backend", "faces", "changed", "change_faces", "rebuild");
  for (const std::string& backend : options.backends)
    for (const std::size_t faces : options.faces) {
      const Cost cost = measure(backend, faces, options.changes, backends);
      fmt::print("{:<12} {:>9} {:>9} {:>12.3f} {:>10.3f}\n", backend, faces, cost.faces, cost.change, cost.rebuild);
    }
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  CLI::App app("Cost of a change of a few faces against the number of faces.");
  trocar::bench::Options options;
  app.add_option("--backends", options.backends, "names of backends");
  app.add_option("--faces", options.faces, "numbers of faces");
  app.add_option("--changes", options.changes, "changes of each measurement");
  CLI11_PARSE(app, argc, argv);
  try {
    trocar::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

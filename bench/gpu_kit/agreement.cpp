// Agreement of one backend with the double-precision reference, for the GPU kit.
#include <algorithm>

#include "app/compare/compare.hpp"
#include "app/compare/frame_source.hpp"
#include "bench/gpu_kit/sections.hpp"
#include "bench/gpu_kit/wobbling_organ.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/support/data_folder.hpp"

namespace trocar::bench {
namespace {

constexpr double kRadius = 0.0025;         // m
constexpr double kWobble = 0.02;           // 1  of the organ's diagonal
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
    const auto source = make_mesh_source(mesh, std::move(motion), kRadius, kind, kWobble);
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

}  // namespace trocar::bench
